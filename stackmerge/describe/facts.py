"""What a description says, section by section; what is empty has no data. Texts are as found: templates escape."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.gate.outcome import GateResult


@dataclass(frozen=True)
class Upstream:
    """An upstream pull request. ``repository`` is empty where the manifest does not name it."""

    number: str
    repository: str = ""

    @property
    def name(self) -> str:
        return f"{self.repository}#{self.number}"

    @property
    def link(self) -> str:
        """An address that does not leave a mention on the pull request it leads to."""
        return f"https://redirect.github.com/{self.repository}/pull/{self.number}" if self.repository else ""


@dataclass(frozen=True)
class CommitFact:
    """One commit that a step brings."""

    oid: str
    subject: str
    author: str


@dataclass(frozen=True)
class FileFact:
    """One file that a step changes; both counts are None for a binary one."""

    path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True)
class MergedFact:
    """What a step brings: ``commits`` and ``files`` may be the first of many, ``commit_count`` counts all."""

    kind: str
    head: str
    title: str
    upstream: Upstream | None
    authors: tuple[str, ...]
    commits: tuple[CommitFact, ...]
    commit_count: int
    files: tuple[FileFact, ...]
    file_count: int
    added: int
    removed: int


@dataclass(frozen=True)
class ConflictFact:
    """One conflicted path and its answer. ``hunks`` is None where that is not a number."""

    path: str
    kind: str
    hunks: int | None
    how: str
    id: str = ""
    reason: str = ""
    recorded: str = ""


@dataclass(frozen=True)
class HazardFact:
    """One finding of one rule."""

    rule: str
    severity: str
    title: str
    path: str
    lines: tuple[tuple[int, str], ...]
    disposition: str
    reason: str
    hint: str


@dataclass(frozen=True)
class BenchFact:
    """One row of the benchmark table; ``change`` and ``noise`` are shares of one, None where unknown."""

    metric: str
    before: float | None
    after: float | None
    change: float | None
    runs: int
    noise: float | None
    unit: str


@dataclass(frozen=True)
class Benchmarks:
    """The serving benchmark of a step. ``how`` says how it was measured, ``stale`` names an older commit it was on."""

    rows: tuple[BenchFact, ...]
    how: str
    stale: str = ""


@dataclass(frozen=True)
class StackEntry:
    """One step in the list of the stack; ``number`` is None where it has no pull request."""

    name: str
    title: str
    number: int | None
    outcome: str
    landed: str = ""
    current: bool = False


@dataclass(frozen=True)
class RebaseNote:
    """One earlier rebuild onto another base, as seen from this step.

    ``unchanged`` resolutions were known before, ``new`` ones recorded in that rebuild.
    The base changed ``base_files``; ``missing`` of them are in both tips alike, ``more`` files differ besides.
    """

    date: str
    base: str
    old_base: str
    old_tip: str
    tip: str
    commits: int
    subjects: tuple[str, ...]
    unchanged: int
    new: int
    base_files: int
    missing: int
    more: int
    explained: tuple[str, ...]
    proof: str
    accepted: bool = True
    head: str = ""


@dataclass(frozen=True)
class StepFacts:
    """Everything that the description of one step may say."""

    stack: str
    step: str
    position: int
    count: int
    base: str
    trunk: str
    upstream_branch: str
    below: str
    below_number: int | None
    merged: MergedFact
    notes: str = ""
    landed: str = ""
    conflicts: tuple[ConflictFact, ...] = ()
    hazards: tuple[HazardFact, ...] = ()
    gates: tuple[GateResult, ...] = ()
    logs: tuple[tuple[str, str], ...] = ()
    benchmarks: Benchmarks | None = None
    environment: tuple[tuple[str, str], ...] = ()
    entries: tuple[StackEntry, ...] = ()
    how_to_test: str = ""
    rebases: tuple[RebaseNote, ...] = ()
    version: str = ""
