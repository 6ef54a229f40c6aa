"""Adopt: a manifest and a lock from a history that somebody made by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from stackmerge import accept, lock, manifest
from stackmerge.errors import UsageError
from stackmerge.manifest import Step
from stackmerge.objects import Commit
from stackmerge.plan import Plan, PlannedStep
from stackmerge.record import StepRecord
from stackmerge.refs import checked_name
from stackmerge.repository import Repository
from stackmerge.stack import Stack
from stackmerge.stopped import replace_stopped
from stackmerge.train import Trained, topic, train


@dataclass(frozen=True)
class Adopted:
    """What was adopted, and what training on it learned."""

    stack: Stack
    steps: int
    trained: Trained


def adopt(
    repository: Repository,
    path: Path,
    base: str,
    tip: str,
    name: str,
    watch: Callable[[str], None] = lambda _: None,
) -> Adopted:
    """Write the manifest ``path`` and its lock from ``base..tip`` and train on it.

    Raises UsageError where the history is no stack: an octopus merge, or a base that is not below the tip;
    StackmergeError while a rebuild of a stack of that name is stopped at a step.
    """
    if path.exists():
        raise UsageError(f"{path.name} is there already", "edit it, or name another one with --manifest")
    base_id, tip_id = repository.commit_id(base, "--base"), repository.commit_id(tip, "--tip")
    stack_name = name or _branch_name(repository, tip, tip_id)
    checked_name(f"refs/heads/{stack_name}", "--name")
    commits = _first_parents(repository, base_id, tip_id)
    repository.keep_commit_graph()
    steps = _steps(repository, commits)
    merges = [oid for oid in commits if len(repository.objects.commit(oid).parents) == 2]
    upstream = _upstream(repository)
    stack = Stack(
        repository,
        manifest.Manifest(path, stack_name, base_id, steps, *upstream),
        lock.Lock(),
    )
    with stack.exclusive():
        replace_stopped(stack)
        names = {oid: step.name for step, oid in zip(steps, commits, strict=True)}
        trained = train(repository, merges, watch, names)
        _record(stack, base_id, commits)
        path.write_text(_text(stack.manifest, base))
    return Adopted(stack, len(steps), trained)


def _branch_name(repository: Repository, tip: str, tip_id: str) -> str:
    for prefix in ("refs/heads/", "refs/remotes/origin/"):
        if repository.refs.get(prefix + tip.removeprefix("refs/heads/").removeprefix("origin/")):
            return tip.removeprefix("refs/heads/").removeprefix("origin/")
    there = [ref for ref, oid in repository.refs.below("refs/heads/") if oid == tip_id]
    if len(there) == 1:
        return there[0].removeprefix("refs/heads/")
    raise UsageError(f"--tip: {tip!r} is no branch, so the stack has no name", "give one with --name")


def _first_parents(repository: Repository, base: str, tip: str) -> list[str]:
    """The commits of the stack, lowest first."""
    found: list[str] = []
    at = tip
    while at != base:
        parents = repository.objects.commit(at).parents
        if len(parents) > 2:
            raise UsageError(
                f"{at[:12]} is an octopus merge, which no step can be", "merge its heads one by one"
            )
        if not parents or not repository.is_ancestor(base, parents[0]):
            hint = "name as --base a commit that the tip's first-parent history passes through"
            raise UsageError(f"{base[:12]} is not in the first-parent history of {tip[:12]}", hint)
        found.append(at)
        at = parents[0]
    if not found:
        raise UsageError("--base and --tip are the same commit", "there is no stack to adopt")
    return found[::-1]


def _steps(repository: Repository, commits: list[str]) -> tuple[Step, ...]:
    steps: list[Step] = []
    names: set[str] = set()
    for oid in commits:
        commit = repository.objects.commit(oid)
        merge = len(commit.parents) == 2
        name = _unique(_step_name(commit, oid), names)
        names.add(name)
        steps.append(Step(name, "merge" if merge else "pick", commit.parents[1] if merge else oid, title=""))
    return tuple(steps)


def _step_name(commit: Commit, oid: str) -> str:
    """The topic that a merge names, else its subject, made into a ref name."""
    words = topic(commit.message) if len(commit.parents) == 2 else ""
    words = words.replace("#", "pr-") or commit.subject
    slug = re.sub(r"[^A-Za-z0-9._/-]+", "-", words)[:60]
    slug = re.sub(r"/[./]*|\.{2,}|\.lock\b", lambda m: "/" if m[0].startswith("/") else "-", slug).strip(
        "-./"
    )
    return slug or f"step-{oid[:12]}"


def _unique(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(f"{name}-{n}" for n in range(2, len(taken) + 3) if f"{name}-{n}" not in taken)


def _upstream(repository: Repository) -> tuple[str, str]:
    names = [remote.name for remote in repository.raw.remotes if remote.name]
    remote = next((n for n in ("upstream", "origin") if n in names), names[0] if names else "origin")
    branch = next(
        (b for b in ("main", "master") if repository.refs.get(f"refs/remotes/{remote}/{b}")), "main"
    )
    return remote, branch


def _record(stack: Stack, base: str, commits: list[str]) -> None:
    """Journal the history as an accepted state, so that it can be proven against and gone back to."""
    objects = stack.repository.objects
    planned = [
        PlannedStep(step.name, step.kind, step.source, step.source, earlier=oid)
        for step, oid in zip(stack.manifest.steps, commits, strict=True)
    ]
    stack.keep_heads({step.name: step.head for step in planned})
    stack.journal.start(Plan(stack.name, base, "", "", tuple(planned)), {"adopted": True})
    below = base
    for step, oid in zip(planned, commits, strict=True):
        tree = objects.commit(oid).tree
        stack.journal.step(StepRecord(step.name, step.kind, step.head, below, oid, tree, "clean"))
        below = oid
    stack.journal.end("complete", 0.0, None)
    run = stack.last_run()
    assert run is not None
    accept.accept(stack.repository, stack.journal, run, stack.manifest.lock_path, force=True)


def _text(made: manifest.Manifest, base: str) -> str:
    """The manifest as a person would write it."""
    top = {
        "stack": made.stack,
        "upstream": {"remote": made.remote, "branch": made.upstream_branch},
        "base": base if not base.startswith("-") else made.base,
    }
    steps = [{"name": step.name, step.kind: step.source} for step in made.steps]
    head = "# A stack of merges, kept by stackmerge. Yours to edit: the tool only reads it.\n"
    return head + yaml.safe_dump(top, sort_keys=False) + yaml.safe_dump({"steps": steps}, sort_keys=False)
