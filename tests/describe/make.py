"""Facts for tests that need no repository."""

from __future__ import annotations

from stackmerge.describe.facts import (
    BenchFact,
    Benchmarks,
    CommitFact,
    ConflictFact,
    FileFact,
    HazardFact,
    MergedFact,
    RebaseNote,
    StackEntry,
    StepFacts,
    Upstream,
)
from stackmerge.gate.outcome import GateResult


def rebase(number: int, subject: str = "upstream work") -> RebaseNote:
    return RebaseNote(
        date=f"2023-11-{number:02d}",
        base=f"{number:040x}",
        old_base=f"{number - 1:040x}",
        old_tip="a" * 40,
        tip="b" * 40,
        commits=1,
        subjects=(subject,),
        unchanged=2,
        new=1,
        base_files=3,
        missing=0,
        more=0,
        explained=(),
        proof="holds",
        head="c" * 40,
    )


def facts(text: str = "plain") -> StepFacts:
    """Every section has data, and every text in it is ``text``."""
    merged = MergedFact(
        kind="merge",
        head="d" * 40,
        title=text,
        upstream=Upstream("338", "up/stream"),
        authors=(text,),
        commits=(CommitFact("e" * 40, text, text),),
        commit_count=1,
        files=(FileFact(text, 1, 2),),
        file_count=1,
        added=1,
        removed=2,
    )
    gate = GateResult("unit", "red", "f" * 40, "failed", reason=text, accepted=text, command=("pytest", text))
    return StepFacts(
        stack="deploy",
        step="red",
        position=2,
        count=2,
        base="1" * 40,
        trunk="main",
        upstream_branch="main",
        below="green",
        below_number=11,
        merged=merged,
        notes=text,
        conflicts=(ConflictFact(text, "content", 2, "replayed text", "0" * 12, text, text),),
        hazards=(HazardFact("rule", "block", text, text, ((3, text),), "allowed", text, text),),
        gates=(
            gate._replace(skips={text: 3}, counts={"tests": 5, "skipped": 3, "failures": 1, "errors": 0}),
        ),
        logs=(("unit", text),),
        benchmarks=Benchmarks((BenchFact("decode", 100.0, 110.0, 0.1, 3, 0.01, "tokens/s"),), "streamed"),
        environment=(("gpu", text), ("server", text)),
        entries=(
            StackEntry("green", text, 11, "clean"),
            StackEntry("red", text, 12, "replayed", current=True),
        ),
        how_to_test=text,
        rebases=(rebase(2, text), rebase(1, text)),
        version="0.1.0",
    )
