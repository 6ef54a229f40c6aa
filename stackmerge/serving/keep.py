"""Keep a benchmark in the journal, as the before or the after of a step."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from stackmerge import accept
from stackmerge.errors import StackmergeError, UsageError
from stackmerge.gate import gpu
from stackmerge.gate.facts import facts
from stackmerge.journal import stack_ref
from stackmerge.record import LEFT_OUT, StepRecord
from stackmerge.serving.measure import Measured, Workload
from stackmerge.serving.record import SIDES, Bench
from stackmerge.stack import Stack


def check(stack: Stack, step: str, side: str) -> StepRecord:
    """The step to measure, before it is measured. Raises UsageError where there is none, or no such side."""
    if side not in SIDES:
        raise UsageError(f"--side: {side!r} is not one of {', '.join(SIDES)}", "")
    run = stack.last_run()
    if run is None or run.state not in ("accepted", "candidate"):
        raise StackmergeError(f"{stack.name!r} has not been rebuilt yet", "start with `stackmerge rebuild`")
    record = run.by_name.get(step)
    if record is None or record.outcome in LEFT_OUT:
        raise UsageError(f"there is no built step {step!r}", "see `stackmerge status`")
    return record


def keep(stack: Stack, step: str, side: str, load: Workload, found: Measured, server: str = "") -> Bench:
    """Write the benchmark into the journal of the last rebuild."""
    with stack.exclusive():
        record = check(stack, step, side)
        commit = record.commit if side == "after" else record.below
        bench = Bench(
            step=step,
            side=side,
            commit=commit,
            tree=stack.repository.objects.commit(commit).tree,
            model=load.model,
            tokens=load.tokens,
            concurrency=load.concurrency,
            requests=load.requests,
            runs=found.runs,
            server=server,
            environment=_environment(load.url),
            at=time.time(),
        )
        run = stack.last_run()
        stack.journal.bench(bench)
        states = accept.accepted_states(stack.repository, stack.name)
        last = stack.journal.read(states[-1][1]) if states else None
        if run and last and run.started == last.started and run.state == "accepted":
            _keep_with_state(stack, states[-1][0])
    return bench


def _keep_with_state(stack: Stack, number: int) -> None:
    """Let the accepted state name the journal with the benchmark in it, so that later rebuilds can tell of it."""
    assert stack.journal.last is not None
    stack.repository.refs.set_own(stack_ref(stack.name, f"accepted/{number}"), stack.journal.last)


def _environment(url: str) -> dict[str, str]:
    """The hardware, where the server is on this machine."""
    if urlsplit(url).hostname not in ("127.0.0.1", "::1", "localhost"):
        return {}
    devices = gpu.devices()
    found = facts(devices[0] if devices else None)
    return {name: value for name, value in found.items() if name in ("gpu", "driver", "system", "machine")}
