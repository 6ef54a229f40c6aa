"""A generated stack whose rebuild ends in every outcome, with results of gates and benchmarks in its journal.

Steps come in rounds of eleven. The rebuild is on v2, where some heads have landed and some meet a conflict that
nobody has answered; it goes on past what stops a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stackmerge.gate.outcome import FAILED, NOT_RUN, PASSED, GateResult
from stackmerge.hazard.library import shipped
from stackmerge.repository import Repository
from stackmerge.serving.record import Bench, ServedRun
from stackmerge.stack import open_stack
from tests.sandbox import START, Sandbox

KINDS = (
    "clean", "pair", "replayed", "fixup", "landed", "modifies", "deleted", "pick", "unanswered", "empty", "clean",
)  # fmt: skip
DISK = "python/freetoken/models/qwen4_exp/ple_disk.py"
Files = dict[str, str | None]


def generate(fork: Sandbox, steps: int) -> None:
    """The repository: tags v1 and v2, a head for each step, and ``deploy``, adopted and accepted on v1."""
    fork.git("fast-import", "--quiet", "--done", stdin="".join(_stream(steps)).encode())
    fork.git("checkout", "-q", "--force", "main")
    fork.git("tag", "v1", "main")
    fork.git("tag", "v2", "new")
    adopted = fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy")
    assert adopted.code == 0, adopted.err


def rebuilt(fork: Sandbox, steps: int) -> None:
    """Rebuild the generated stack on v2; the last two steps are a filler and the fence that a rule blocks."""
    generate(fork, steps)
    ran = fork.stackmerge("rebuild", "--onto", "v2", "--keep-going", "--json")
    assert ran.code in (3, 4), ran.err
    with_results(fork)


def with_results(fork: Sandbox) -> None:
    """Write results of gates and a benchmark into the journal, as later commands would."""
    log = fork.path.parent / "gate.log"
    log.write_text("".join(f"line {n} of a log\n" for n in range(200)) + "1 failed\n")
    with Repository(fork.path) as repository:
        stack = open_stack(repository, fork.path / "stackmerge.yaml")
        run = stack.last_run()
        assert run is not None
        built = [record for record in run.steps if record.outcome in ("clean", "replayed", "fixup")]
        for number, record in enumerate(built):
            stack.journal.gate(_result(record.name, record.tree, number, log))
        for side, speed in (("before", 100.0), ("after", 112.0)):
            stack.journal.bench(_bench(built[0].name, side, built[0].commit, built[0].tree, speed))


def _result(step: str, tree: str, number: int, log: Path) -> GateResult:
    kinds = (
        {"outcome": PASSED, "device": "CPU", "counts": {"tests": 12, "skipped": 2}, "skips": {"no GPU": 2}},
        {"outcome": PASSED, "device": "CPU, Triton interpreter", "wants_gpu": True},
        {"outcome": NOT_RUN, "reason": "no GPU here", "wants_gpu": True},
        {"outcome": PASSED, "device": "NVIDIA GeForce RTX 5080", "wants_gpu": True, "on_gpu": True},
        {"outcome": FAILED, "reason": "exit status 1", "accepted": "a flaky download"},
        {"outcome": FAILED, "reason": "exit status 1"},
    )
    found = kinds[number % 5 if number != 7 else 5]
    common = {"elapsed_s": 1.5, "key": f"{number}", "log": str(log), "command": ("make", "test")}
    return GateResult("tests", step, tree, **common, **found)  # type: ignore[arg-type]


def _bench(step: str, side: str, commit: str, tree: str, speed: float) -> Bench:
    runs = tuple(ServedRun(1024, 1024 / (speed + n), (0.05, 0.06), speed + n) for n in range(3))
    return Bench(step, side, commit, tree, "tiny", 256, 1, 4, runs, "a server", {"machine": "x86_64"})


def _text(changed: dict[int, str]) -> str:
    return "".join(changed.get(n, f"line {n}") + "\n" for n in range(20))


def _base_files(steps: int) -> Files:
    files: Files = {f"shared/{n}.txt": _text({}) for n in range(1, steps + 1)}
    return files | {DISK: _fence("base")}


def _fence(tree: str) -> str:
    """The fixture of the rule that blocks the last step."""
    return (shipped() / "ple-graph-fence" / tree / DISK).read_text()


def _changes(n: int, steps: int) -> tuple[str, Files, Files]:
    """The kind of step n, what its head changes, and what its merge makes of that where it is something else."""
    if n >= steps - 1:
        side, merged = ("ours", "ours") if n < steps else ("theirs", "bad")
        return side, {DISK: _fence(side)}, {DISK: _fence(merged)}
    kind = KINDS[(n - 1) % len(KINDS)]
    own, mine, below = f"own/{n}.txt", f"shared/{n}.txt", f"shared/{n - 1}.txt"
    one = {own: f"step {n}\n"}
    return {
        "clean": (kind, one, {}),
        "pair": (kind, {mine: _text({5: f"step {n}"})}, {}),
        "replayed": (
            kind,
            {below: _text({5: f"step {n}", 6: "and more"})},
            {below: _text({5: f"step {n - 1} and step {n}", 6: "and more"})},
        ),
        "fixup": (kind, one, {**one, mine: _text({9: f"mended by step {n}"})}),
        "landed": (kind, one, {}),
        "modifies": (kind, {mine: _text({3: f"step {n}"})}, {}),
        "deleted": (kind, {below: None}, {below: None}),
        "pick": (kind, one, {}),
        "unanswered": (kind, {mine: _text({7: f"step {n}"})}, {}),
        "empty": (kind, {below.replace(f"{n - 1}", f"{n}"): _text({2: "the new base's"})}, {}),
    }[kind]  # type: ignore[return-value]


def _stream(steps: int) -> Iterator[str]:
    """What git fast-import reads."""
    yield _commit("main", 1, 0, "base", [], _base_files(steps))
    new: Files = {"base.txt": "new\n"}
    landed: list[int] = []
    tip, mark = 1, 10
    for n in range(1, steps + 1):
        kind, own, merged = _changes(n, steps)
        if kind == "pick":
            yield _commit("deploy", mark, n, f"Pick {n}", [tip], own)
            tip, mark = mark, mark + 2
            continue
        yield _commit(f"heads/step-{n}", mark, n, f"Step {n}", [1], own)
        if kind == "unanswered":
            new[f"shared/{n}.txt"] = _text({7: "the new base's"})
        elif kind == "empty":
            new[f"shared/{n}.txt"] = _text({2: "the new base's"})
        elif kind == "landed":
            landed.append(mark)
            new |= own
        yield _commit("deploy", mark + 1, n, f"Merge branch 'step-{n}'", [tip, mark], merged or own)
        tip, mark = mark + 1, mark + 2
    yield _commit("new", 2, steps + 1, "new base", [1, *landed], new)
    yield "done\n"


def _commit(ref: str, mark: int, minute: int, message: str, parents: list[int], files: Files) -> str:
    lines = [f"commit refs/heads/{ref}\nmark :{mark}\n"]
    lines += [f"committer Ada <ada@example.com> {START + 60 * minute} +0000\n"]
    lines += [f"data {len(message)}\n{message}\n"]
    lines += [f"{'merge' if at else 'from'} :{parent}\n" for at, parent in enumerate(parents)]
    for path, text in files.items():
        change = f"D {path}\n" if text is None else f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"
        lines.append(change)
    return "".join([*lines, "\n"])
