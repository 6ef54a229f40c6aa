"""The manifest ``stackmerge.yaml``: what a person says about a stack. The tool never rewrites it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stackmerge import document, globs, publishing
from stackmerge.document import Node
from stackmerge.errors import UsageError
from stackmerge.gate import spec
from stackmerge.gate.spec import Gate
from stackmerge.hazard import allow
from stackmerge.hazard.finding import Allow
from stackmerge.publishing import Publishing
from stackmerge.refs import checked_name

NAME = "stackmerge.yaml"
CONFLICT_KINDS = (
    "content", "add/add", "modify/delete", "rename/delete", "rename/rename", "binary",
    "symlink", "submodule", "file/directory", "distinct modes", "directory rename suggested",
)  # fmt: skip
_RESERVED = ("rerere", "remote-rerere")  # refs/stackmerge/<name> of our own
_STEP_KEYS = ("merge", "pick", "name", "pr", "title", "notes", "branch", "allow")
_KEYS = (
    "stack", "upstream", "base", "branch_prefix", "steps", "policies", "gates", "publish", "how_to_test", "templates",
)  # fmt: skip


class Policy(NamedTuple):
    """What to take where a conflict of some kind is left in some paths."""

    paths: tuple[str, ...]
    on: tuple[str, ...]
    take: str

    def covers(self, path: str, kind: str) -> bool:
        return kind in self.on and globs.matches(path, self.paths)


class Step(NamedTuple):
    """One entry of the stack. ``source`` is a revision as written; ``branch`` is empty for none."""

    name: str
    kind: str
    source: str
    branch: str = ""
    pr: str = ""
    title: str = ""
    notes: str = ""
    where: str = ""
    allow: tuple[Allow, ...] = ()


class Manifest(NamedTuple):
    """One stack. ``path`` is the file it came from."""

    path: Path
    stack: str
    base: str
    steps: tuple[Step, ...]
    remote: str = "origin"
    upstream_branch: str = "main"
    policies: tuple[Policy, ...] = ()
    gates: tuple[Gate, ...] = ()
    publishing: Publishing = Publishing()

    @property
    def lock_path(self) -> Path:
        return self.path.with_suffix(".lock")


def load(path: Path) -> Manifest:
    """Read and check a manifest. Raises UsageError with file, line and key path."""
    top = document.read(path, path.name)
    keys = top.map(_KEYS, required=("stack", "base", "steps"))
    stack = keys["stack"].line_of_text()
    _check_ref(keys["stack"], stack)
    if stack.partition("/")[0] in _RESERVED:
        raise keys["stack"].error(f"{stack!r} is a name that stackmerge keeps for itself", "choose another")
    upstream = keys["upstream"].map(("remote", "branch", "repository")) if "upstream" in keys else {}
    if not isinstance(keys["steps"].value, list):
        raise keys["steps"].error("must be a list of steps")
    prefix = keys["branch_prefix"].line_of_text() if "branch_prefix" in keys else ""
    steps = _with_comments(
        path, tuple(_step(node, i, prefix) for i, node in enumerate(keys["steps"].value, 1))
    )
    _refuse_twins(steps, keys["steps"], stack)
    return Manifest(
        path=path,
        stack=stack,
        base=_revision(keys["base"]),
        steps=steps,
        remote=_remote(upstream["remote"]) if "remote" in upstream else "origin",
        upstream_branch=_branch(upstream["branch"]) if "branch" in upstream else "main",
        policies=keys["policies"].list(_policy) if "policies" in keys else (),
        gates=_gates(keys["gates"], [step.name for step in steps]) if "gates" in keys else (),
        publishing=publishing.read(keys, upstream),
    )


def _step(node: Node, number: int, prefix: str) -> Step:
    keys = node.map(_STEP_KEYS, required=("name",))
    kinds = [kind for kind in ("merge", "pick") if kind in keys]
    pr = _pull_request(keys["pr"]) if "pr" in keys else ""
    if len(kinds) > 1:
        raise node.error("has both `merge` and `pick`", "a step is one or the other")
    if not kinds and not pr.isdigit():
        raise node.error(
            "the key `merge` (or `pick`) is missing", "name the head to merge, or give `pr: NUMBER`"
        )
    kind = kinds[0] if kinds else "merge"
    name = keys["name"].line_of_text()
    _check_ref(keys["name"], name)
    branch = _branch(keys["branch"]) if "branch" in keys else f"{prefix}{number:02d}-{name}" if prefix else ""
    if branch:
        _check_ref(keys.get("branch", keys["name"]), branch)
    return Step(
        name=name,
        kind=kind,
        source=_revision(keys[kind]) if kinds else f"refs/pull/{pr}/head",
        branch=branch,
        pr=pr,
        title=keys["title"].line_of_text() if "title" in keys else "",
        notes=keys["notes"].text() if "notes" in keys else "",
        where=f"{node.file}:{node.line}",
        allow=keys["allow"].list(allow.read) if "allow" in keys else (),
    )


def _with_comments(path: Path, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with what comments among their lines allow."""
    starts = [(step.name, int(step.where.rpartition(":")[2])) for step in steps]
    said = allow.in_comments(path, starts)
    return tuple(step._replace(allow=(*step.allow, *said.get(step.name, ()))) for step in steps)


def _refuse_twins(steps: tuple[Step, ...], node: Node, stack: str) -> None:
    names: set[str] = set()
    branches = {stack}
    for step in steps:
        if step.name in names:
            raise UsageError(
                f"{step.where}: the step name {step.name!r} is given twice", "names identify steps"
            )
        if step.branch and step.branch in branches:
            raise UsageError(
                f"{step.where}: the branch {step.branch!r} is given twice", "give one of them `branch:`"
            )
        clash = next((b for b in sorted(branches) if step.branch and _clash(step.branch, b)), "")
        if clash:
            raise UsageError(
                f"{step.where}: the branch {step.branch!r} cannot be beside the branch {clash!r}",
                "git keeps branches as files in folders: no branch can lie below another",
            )
        names.add(step.name)
        branches |= {step.branch} - {""}
    if not steps:
        raise node.error("is empty", "a stack has at least one step")


def _clash(one: str, other: str) -> bool:
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _policy(node: Node) -> Policy:
    keys = node.map(("paths", "on", "take"), required=("paths", "on", "take"))
    return Policy(
        paths=keys["paths"].list(Node.line_of_text),
        on=keys["on"].list(lambda item: item.one_of(CONFLICT_KINDS)),
        take=keys["take"].one_of(("ours", "theirs", "delete")),
    )


def _gates(node: Node, steps: Sequence[str]) -> tuple[Gate, ...]:
    gates = node.list(spec.read)
    names = [gate.name for gate in gates]
    for name in names:
        if names.count(name) > 1:
            raise node.error(f"the gate {name!r} is given twice", "give each gate a name of its own")
    items: list[Node] = node.value  # type: ignore[assignment]
    for gate, item in zip(gates, items, strict=True):
        for name in gate.on.steps:
            if name not in steps:
                raise item.error(
                    f"the gate {gate.name!r} is for a step {name!r}, which there is not", _like(name, steps)
                )
    return gates


def _like(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else "see `steps`"


def _check_ref(node: Node, name: str) -> None:
    try:
        checked_name(f"refs/heads/{name}", node.key)
    except UsageError as error:
        raise node.error(f"{name!r} is not a valid branch name", error.hint) from error


def _branch(node: Node) -> str:
    name = node.line_of_text()
    _check_ref(node, name)
    return name


def _remote(node: Node) -> str:
    name = node.line_of_text()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", name) or ".." in name:
        raise node.error(f"{name!r} is not the name of a remote", "see `git remote`")
    return name


def _revision(node: Node) -> str:
    text = node.line_of_text()
    if text.startswith("-"):
        raise node.error(f"{text!r} is not a revision: it starts with `-`")
    return text


def _pull_request(node: Node) -> str:
    text = node.line_of_text()
    if not re.fullmatch(r"([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+#|#)?\d+", text):
        raise node.error(f"{text!r} is not a pull request", "write 338, or OWNER/REPO#338")
    return text.removeprefix("#")
