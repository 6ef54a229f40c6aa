"""What every story needs: a manifest of some steps, a rebuild and its outcomes, and a conflict resolved by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sandbox import Sandbox

NINE = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def nine(**changed: str) -> str:
    """Nine numbered lines; ``nine(l1="RED")`` has another first line."""
    return "".join(changed.get(f"l{n}", str(n)) + "\n" for n in range(1, 10))


def manifest(*heads: str, prefix: str = "", policies: str = "") -> str:
    """A manifest of the stack ``deploy`` on v1 that merges ``heads``, each the name of its step."""
    text = "stack: deploy\nbase: v1\n"
    text += f"branch_prefix: {prefix}\n" if prefix else ""
    text += "steps:\n" + "".join(f"- name: {head}\n  merge: {head}\n" for head in heads)
    return text + (f"policies:\n{policies}" if policies else "")


def two_bases(fork: Sandbox, *heads: str) -> None:
    """Upstream's tags v1 and v2, and heads on v1 that each add a file of their name."""
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    for head in heads:
        fork.branch(head, "v1", {head: f"{head}\n"}, head)
    fork.commit({"a": "aa\n"}, "two")
    fork.git("tag", "v2")


def rebuild(fork: Sandbox, *options: str, code: int = 0) -> Any:
    """Rebuild, expect an exit code, and return what --json says."""
    ran = fork.stackmerge("rebuild", *options, "--json")
    assert ran.code == code, ran.err
    return ran.json


def go_on(fork: Sandbox, code: int = 0) -> Any:
    ran = fork.stackmerge("continue", "--json")
    assert ran.code == code, ran.err
    return ran.json


def outcomes(found: Any) -> dict[str, str]:
    """The outcome of each step by name."""
    return {step["name"]: step["outcome"] for step in found["steps"]}


def used(found: Any, step: str) -> list[tuple[str, str]]:
    """What was applied in a step: kind and path of each resolution."""
    return [
        (one["kind"], one["path"])
        for made in found["steps"]
        if made["name"] == step
        for one in made["resolutions"]
    ]


def reason(found: Any, step: str) -> str:
    """Why the first conflict of a step did not replay."""
    return next(str(made["conflicts"][0]["reason"]) for made in found["steps"] if made["name"] == step)


def resolve(fork: Sandbox, stopped: Any, files: dict[str, str | bytes | None]) -> None:
    """Resolve a stopped step as a person would: edit in its work tree and `git add` (or `git rm`, for None)."""
    tree = Path(stopped["worktree"])
    for name, content in files.items():
        if content is None:
            fork.git("rm", "-q", "--", name, cwd=tree)
            continue
        (tree / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        fork.git("add", "--", name, cwd=tree)


def branches(fork: Sandbox) -> str:
    """Every branch with its commit."""
    return fork.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")


def merged_by_git(fork: Sandbox, ours: str, theirs: str) -> str:
    """The tree that `git merge` itself makes of two commits, in a work tree of its own."""
    place = fork.path.parent / "by-git"
    fork.git("worktree", "add", "-q", "--detach", str(place), ours)
    fork.git("merge", "-q", "--no-edit", theirs, cwd=place)
    tree = fork.git("rev-parse", "HEAD^{tree}", cwd=place)
    fork.git("worktree", "remove", "--force", str(place))
    return tree
