"""What the remote and its pull requests should look like: a pure function of the accepted rebuild."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.record import LEFT_OUT, Run


@dataclass(frozen=True)
class Target:
    """One step's pull request: from its branch at ``commit`` into ``base``; an empty ``base_sha`` may be anything."""

    step: str
    branch: str
    commit: str
    base: str
    base_sha: str = ""


def targets(run: Run, trunk: str) -> tuple[Target, ...]:
    """The pull requests of a rebuild, lowest first: each on the branch below it, the lowest on the trunk."""
    found: list[Target] = []
    base, base_sha = trunk, ""
    for record in run.steps:
        branch = run.planned(record.name).branch
        if not branch or record.outcome in LEFT_OUT:
            continue
        found.append(Target(record.name, branch, record.commit, base, base_sha))
        base, base_sha = branch, record.commit
    return tuple(found)


def why_gone(run: Run, step: str, branch: str) -> str:
    """Why a step has no pull request from ``branch`` any more, in words."""
    record = run.by_name.get(step)
    if record is None:
        return "This step was dropped from the stack."
    if record.outcome == "landed":
        return f"This step landed upstream ({record.landed}), so it left the stack."
    if record.outcome in LEFT_OUT:
        return f"This step is left out of the stack: {record.outcome}."
    now = run.planned(step).branch
    return (
        f"This step goes on from another branch, {now}." if now != branch else "This step has left the stack."
    )
