"""The measured part of a description: the benchmark table and the environment it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stackmerge.describe.facts import BenchFact, Benchmarks
from stackmerge.gate.outcome import NOT_RUN, GateResult
from stackmerge.record import Run, StepRecord
from stackmerge.serving.record import Bench

_ORDER = ("gpu", "driver", "cuda", "python", "torch", "triton", "system", "machine", "model", "server")


def benches(chain: Sequence[Run], step: str) -> dict[str, Bench]:
    """The newest benchmark of each side of a step, both of the same workload."""
    newest: dict[str, Bench] = {}
    for run in chain:
        for bench in reversed(run.benches):
            if bench.step == step:
                newest.setdefault(bench.side, bench)
    after = newest.get("after") or newest.get("before")
    return {side: bench for side, bench in newest.items() if after and _workload(bench) == _workload(after)}


def _workload(bench: Bench) -> tuple[object, ...]:
    return bench.model, bench.tokens, bench.concurrency


def table(found: Mapping[str, Bench], record: StepRecord) -> Benchmarks | None:
    """The rows of a step's benchmark; None where nothing was measured."""
    before, after = found.get("before"), found.get("after")
    either = after or before
    if either is None:
        return None
    rows = []
    for at, figure in enumerate(either.figures):
        old = before.figures[at] if before else None
        new = after.figures[at] if after else None
        rows.append(
            BenchFact(
                metric=figure.metric,
                before=old.middle if old else None,
                after=new.middle if new else None,
                change=new.middle / old.middle - 1 if old and new and old.middle else None,
                runs=min(len(side.values) for side in (old, new) if side),
                noise=max(side.spread for side in (old, new) if side),
                unit=figure.unit,
            )
        )
    stale = after.commit if after and after.tree != record.tree else ""
    return Benchmarks(tuple(rows), _how(either), stale)


def _how(bench: Bench) -> str:
    at_a_time = (
        "one request at a time" if bench.concurrency == 1 else f"{bench.concurrency} requests at a time"
    )
    return (
        f"Streamed chat completions, {bench.tokens} tokens, `ignore_eos`, {at_a_time}, {bench.requests} a run, "
        "salted prompts so that no prefix cache hits"
    )


def environment(gates: Iterable[GateResult], found: Mapping[str, Bench]) -> tuple[tuple[str, str], ...]:
    """What gates and benchmarks ran on; several values of one name stand side by side."""
    values: dict[str, dict[str, None]] = {}
    sources = [gate.environment for gate in gates if gate.outcome != NOT_RUN]
    for bench in found.values():
        sources.append({**bench.environment, "model": bench.model, "server": bench.server})
    for source in sources:
        for name, value in source.items():
            if value:
                values.setdefault(name, {})[value] = None
    order = sorted(values, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    return tuple((name, ", ".join(values[name])) for name in order)
