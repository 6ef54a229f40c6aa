"""A fork with a small stack, its remote, and the forge that the remote is on."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.publish import spawn
from tests.publish.forge_server import TOKEN, Forge
from tests.sandbox import Ran, Sandbox

STEPS = ("red", "green", "blue")


class World:
    """``fork`` has base v1, v2 and v3 and a head for each step, and pushes to ``forge``."""

    def __init__(self, root: Path, steps: Sequence[str] = STEPS, forge: type[Forge] = Forge) -> None:
        self.root = root
        self.fork = Sandbox(root)
        self.forge = forge(root / "remote")
        self.fork.environment |= {
            self.forge.variable: TOKEN,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        self.fork.commit({"README": "one\n"}, "one")
        self.fork.git("tag", "v1")
        for step in steps:
            self.fork.branch(f"topic-{step}", "v1", {step: f"{step}\n"}, f"Paint it {step}")
        for number in (2, 3):
            self.fork.commit({"README": f"{number}\n", f"new{number}": "new\n"}, f"upstream {number}")
            self.fork.git("tag", f"v{number}")
        self.fork.git("remote", "add", "origin", self.forge.git_url)
        subprocess.run(
            ["git", "-C", str(self.fork.path), "push", "-q", str(self.forge.bare), "v1:refs/heads/main"],
            check=True,
        )
        self.manifest(steps)

    def close(self) -> None:
        self.forge.close()

    def manifest(self, steps: Sequence[str], more: str = "") -> None:
        text = "stack: deploy\nbase: v1\nupstream: {repository: up/stream}\n"
        where = f"forge: {self.forge.kind}, api: '{self.forge.api}', repository: keeper/fork"
        text += f"publish: {{{where}}}\n{more}steps:\n"
        for number, step in enumerate(steps, 1):
            text += f"- name: {step}\n  merge: topic-{step}\n  branch: d/{step}\n  pr: {300 + number}\n"
        self.fork.manifest(text)

    def rebuild(self, *options: str) -> Any:
        ran = self.run("rebuild", *options, "--json")
        assert ran.code == 0, ran.err
        return ran.json

    def publish(self, *options: str, code: int = 0) -> Any:
        ran = self.run("publish", *options, "--json")
        assert ran.code == code, ran.err
        return ran.json

    def run(self, *args: str) -> Ran:
        return spawn.run(args, self.fork.path, self.fork.environment)

    def check(self) -> None:
        """What must be true after every complete publication."""
        refs = self.forge.refs()
        local = self.fork.git(
            "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/d", "refs/heads/deploy"
        )
        assert {name: oid for name, oid in refs.items() if name != "refs/heads/main"} == dict(
            line.split() for line in local.splitlines()
        )
        assert not self.forge.violations, self.forge.violations
        assert not any(pull.merged for pull in self.forge.pulls.values())
        base = "main"
        for line in self.fork.git(
            "log", "--first-parent", "--reverse", "--format=%H", f"{self.forge.tip('main')}..deploy"
        ).splitlines():
            branch = next(name for name, oid in refs.items() if oid == line and name != "refs/heads/deploy")
            pull = self.forge.open()[branch.removeprefix("refs/heads/")]
            assert pull.base == base
            base = pull.head
        assert len(self.forge.open()) == len(refs) - 2
