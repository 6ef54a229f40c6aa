"""Run the gates of a step: choose them, reuse what is known, guard the GPU, run, and say what was proved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackmerge import globs
from stackmerge.errors import StackmergeError
from stackmerge.gate import gpu, inputs, junit
from stackmerge.gate.checkout import Checkout
from stackmerge.gate.environment import environment
from stackmerge.gate.execute import Ended, execute
from stackmerge.gate.facts import facts, filled, shown
from stackmerge.gate.gpu import Device, GpuBusy
from stackmerge.gate.outcome import FAILED, NOT_RUN, GateResult
from stackmerge.gate.spec import Gate
from stackmerge.gate.store import Store
from stackmerge.gate.telling import GateEnd, GateStart, Note, Tell, Tick
from stackmerge.gate.verdict import judge
from stackmerge.repository import Repository

_NO_INPUT = "no file of the tree is among its `inputs`, so the whole tree counts"


@dataclass(frozen=True)
class Subject:
    """The step that gates run on: its commit and tree, the tree below it, and the gates that hazards ask for."""

    name: str
    commit: str
    tree: str
    below: str
    wanted: tuple[str, ...] = ()


class Gating:
    """Runs gates on the steps of one stack."""

    def __init__(
        self, repository: Repository, directory: Path, gates: Sequence[Gate], tell: Tell = lambda _: None
    ) -> None:
        self._repository = repository
        self._gates = gates
        self._tell = tell
        self._checkout = Checkout(repository, directory)
        self._store = Store(repository.private / "gates")
        self._inputs = inputs.Inputs(repository.objects)

    @property
    def checkout(self) -> Path:
        return self._checkout.path

    def check_defined(self, subject: Subject) -> None:
        """Raise StackmergeError when a hazard asks for a gate on this step that is not defined."""
        missing = set(subject.wanted) - {gate.name for gate in self._gates}
        if missing:
            raise StackmergeError(
                f"a hazard rule asks for the gate {sorted(missing)[0]!r} on {subject.name}, which is not defined",
                "add it to `gates` in the manifest; `--gates off` runs none",
            )

    def chosen(self, subject: Subject) -> list[Gate]:
        """The gates that are for this step. Raises StackmergeError when a hazard asks for one that is not defined."""
        self.check_defined(subject)
        return [gate for gate in self._gates if gate.name in subject.wanted or self._is_for(gate, subject)]

    def _is_for(self, gate: Gate, subject: Subject) -> bool:
        if gate.on.everything or subject.name in gate.on.steps:
            return True
        if not gate.on.paths:
            return False
        changed = self._repository.objects.diff(subject.below, subject.tree)
        return any(globs.matches(path, gate.on.paths) for path in changed)

    def run_one(
        self, gate: Gate, subject: Subject, *, again: bool = False, failures: bool = False
    ) -> GateResult:
        """The result of one gate on a step, run now unless a known one may be used."""
        result = self._result(gate, subject, again=again, failures=failures)
        self._tell(GateEnd(result))
        return result

    def _result(self, gate: Gate, subject: Subject, *, again: bool, failures: bool) -> GateResult:
        present = gpu.devices() if gate.requires.gpu else []
        kinds = _one_of_each(present) if present else [None]
        blanks = [self._blank(gate, subject, device) for device in kinds]
        for blank in () if again else blanks:
            known = self._store.get(blank.key, failures=failures)
            if known:
                return known._replace(step=subject.name, tree=subject.tree)
        reason = _missing(gate, bool(present))
        if reason:
            return blanks[0]._replace(reason=reason, key="", log="")
        if blanks[0].note:
            self._tell(Note(subject.name, gate.name, blanks[0].note))
        result = self._guarded(gate, subject, blanks[0])
        if result.outcome != NOT_RUN:
            self._store.put(result)
        return result

    def _blank(self, gate: Gate, subject: Subject, device: Device | None) -> GateResult:
        """What is known of a gate on a step and a device before it runs: above all under which key it is kept."""
        environment_now = facts(device)
        settings = [self._checkout.settings]
        if gate.requires.env:
            settings += inputs.values(gate, self._store.salt())
        key = inputs.key(gate, self._inputs.digest(gate, subject.tree), environment_now, settings)
        return GateResult(
            gate.name,
            subject.name,
            subject.tree,
            NOT_RUN,
            wants_gpu=bool(gate.requires.gpu),
            key=key,
            environment=environment_now,
            log=str(self._store.log_path(key)),
            note=_NO_INPUT if gate.inputs and not self._inputs.match(gate, subject.tree) else "",
        )

    def _guarded(self, gate: Gate, subject: Subject, blank: GateResult) -> GateResult:
        """Run `before`, wait for the GPU, run the gate, and run `after` whatever happened."""
        self._checkout.move_to(subject.commit)
        env = environment(gate.requires.env)
        try:
            for command in gate.before:
                ended = self._command(command, env, blank, "before")
                if ended.error or ended.status:
                    why = f"`before` failed: {ended.error or f'exit status {ended.status}'}"
                    return blank._replace(outcome=FAILED, reason=why, log=str(self._log_of(blank, "before")))
            device = self._device(gate, lambda text: self._tell(Note(blank.step, blank.gate, text)))
            if device:  # of several kinds it is this one that the result holds for
                blank = self._blank(gate, subject, device)
            return self._run(gate, subject, blank, env, device)
        except GpuBusy as error:
            return blank._replace(reason=error.message)
        finally:
            for command in gate.after:
                self._command(command, env, blank, "after")

    def _command(self, command: tuple[str, ...], env: dict[str, str], blank: GateResult, what: str) -> Ended:
        self._tell(Note(blank.step, blank.gate, f"{what}: {command[0]}"))
        log = self._log_of(blank, what)
        return execute(filled(command, ""), self._checkout.path, env, timeout=600.0, log=log, keep=True)

    def _log_of(self, blank: GateResult, what: str) -> Path:
        return self._store.log_path(f"{blank.key}.{what}")

    @staticmethod
    def _device(gate: Gate, tell: Callable[[str], None]) -> Device | None:
        if not gate.requires.gpu:
            return None
        return gpu.wait_for(gate.requires.vram_free, gate.requires.vram_wait, tell)

    def _run(
        self, gate: Gate, subject: Subject, blank: GateResult, env: dict[str, str], device: Device | None
    ) -> GateResult:
        env = env | {"CUDA_VISIBLE_DEVICES": device.uuid if device else ""} if gate.requires.gpu else env
        report_path = self._store.junit_path(blank.key)
        report_path.unlink(missing_ok=True)
        command = filled(gate.run, str(report_path))
        self._tell(
            GateStart(subject.name, gate.name, shown(gate.run), device.name if device else "", blank.log)
        )
        ended = execute(
            command,
            self._checkout.path,
            env,
            timeout=gate.timeout,
            log=Path(blank.log),
            tick=lambda: self._tell(Tick()),
        )
        if ended.error:  # a program that may be missing is named in `requires.programs`; this one may not
            return blank._replace(outcome=FAILED, reason=ended.error, log="", command=shown(gate.run))
        report = junit.read(report_path)
        found = judge(ended, gate.timeout, report)
        ran_on = _ran_on(report.devices, device)
        return blank._replace(
            outcome=found.outcome,
            reason=found.reason,
            device=ran_on,
            on_gpu=bool(device) and not ran_on.startswith("CPU") and found.outcome != NOT_RUN,
            counts=report.counts,
            skips=report.skips,
            elapsed_s=round(ended.elapsed_s, 3),
            command=shown(gate.run),
        )


def _one_of_each(devices: Sequence[Device]) -> Sequence[Device | None]:
    """The first device of each name."""
    return [*{device.name: device for device in reversed(devices)}.values()][::-1]


def _missing(gate: Gate, gpu_there: bool) -> str:
    """Why a gate cannot run here; empty when it can."""
    if gate.requires.gpu == "required" and not gpu_there:
        return "it requires a GPU, and there is none"
    for name in gate.requires.env:
        if name not in os.environ:
            return f"the environment variable {name} is not set"
    for program in gate.requires.programs:
        if shutil.which(program) is None:
            return f"the program {program} is not installed"
    return ""


def _ran_on(reported: Sequence[str], device: Device | None) -> str:
    """The device in words: what the report says, else what the gate was given."""
    return ", ".join(reported) or (device.name if device else "CPU")
