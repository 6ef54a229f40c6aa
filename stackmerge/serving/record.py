"""One serving benchmark of one side of a step, and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SIDES = ("before", "after")


@dataclass(frozen=True)
class ServedRun:
    """One run: ``tokens`` received over ``seconds`` by all its requests, and the first token's wait of each."""

    tokens: int
    seconds: float
    first_token_s: tuple[float, ...]
    decode_per_s: float

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Bench:
    """A serving benchmark. ``side`` says whether the server ran the tree below the step or the step's own.

    ``tokens`` per request and ``concurrency`` requests at a time were asked for; ``at`` is in seconds since 1970.
    """

    step: str
    side: str
    commit: str
    tree: str
    model: str
    tokens: int
    concurrency: int
    requests: int
    runs: tuple[ServedRun, ...]
    server: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    at: float = 0.0

    def as_json(self) -> dict[str, object]:
        runs = [{**vars(run), "first_token_s": list(run.first_token_s)} for run in self.runs]
        return {**vars(self), "runs": runs, "environment": dict(self.environment)}

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> Bench:
        known = {key: value for key, value in found.items() if key in cls.__dataclass_fields__}
        runs: list[Mapping[str, object]] = list(known.get("runs", ()))  # type: ignore[call-overload]
        known["runs"] = tuple(
            ServedRun(**{**run, "first_token_s": tuple(run["first_token_s"])})  # type: ignore[arg-type]
            for run in runs
        )
        return cls(**known)  # type: ignore[arg-type]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Each metric over the runs."""
        return figures(self.runs, self.concurrency)


@dataclass(frozen=True)
class Figure:
    """One metric: a value for each run."""

    metric: str
    unit: str
    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return _median(self.values)

    @property
    def spread(self) -> float:
        """The distance between the largest and the smallest value, as a share of the median."""
        return (max(self.values) - min(self.values)) / self.middle if self.middle else 0.0


def figures(runs: Sequence[ServedRun], concurrency: int) -> tuple[Figure, ...]:
    """Each metric of a workload over its runs."""
    found = [Figure("decode, each request", "tokens/s", tuple(run.decode_per_s for run in runs))]
    if concurrency > 1:
        found.append(Figure("all requests together", "tokens/s", tuple(run.tokens_per_s for run in runs)))
    waits = tuple(_median(run.first_token_s) * 1000 for run in runs)
    return (*found, Figure("time to first token", "ms", waits))


def _median(values: Sequence[float]) -> float:
    """The middle value. Not that of `statistics`, which every command would load together with the journal."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
