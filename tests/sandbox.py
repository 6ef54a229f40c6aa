"""Real repositories for tests: hermetic, with fixed dates, driven by the real git and the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START = 1_700_000_000
GIT = os.environ.get("STACKMERGE_GIT", "git")


def hermetic_environment(home: Path) -> dict[str, str]:
    """No configuration but ours, no inherited GIT_* variable, one identity."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "LC_ALL": "C",
        "TZ": "UTC",
        "COLUMNS": "100",
    }


@dataclass(frozen=True)
class Ran:
    """One run of the command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Sandbox:
    """One repository in a directory of its own; every commit is a minute after the one before."""

    def __init__(self, root: Path, name: str = "fork") -> None:
        self.home = root / "home"
        self.home.mkdir(exist_ok=True)
        self.path = root / name
        self.clock = START
        self.environment = hermetic_environment(self.home)
        config = self.home / "gitconfig"
        if not config.exists():
            config.write_text(
                "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"
            )
        subprocess.run([GIT, "init", "-q", str(self.path)], check=True, env=self.environment)

    def git(self, *args: str, stdin: bytes | None = None, check: bool = True, cwd: Path | None = None) -> str:
        """Run git in the repository; its standard output without the last line end."""
        dates = {f"GIT_{who}_DATE": f"{self.clock} +0000" for who in ("AUTHOR", "COMMITTER")}
        done = subprocess.run(
            [GIT, *args],
            cwd=cwd or self.path,
            input=stdin,
            capture_output=True,
            env=self.environment | dates,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr.decode()}{done.stdout.decode()}")
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, str | bytes | None]) -> None:
        """Write files into the work tree and stage them; None removes one."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                self.git("rm", "-q", "-f", "--", name)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            self.git("add", "-f", "--", name)

    def commit(self, files: dict[str, str | bytes | None], message: str) -> str:
        """Commit files on the current branch; the commit id."""
        self.clock += 60
        self.write(files)
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str, files: dict[str, str | bytes | None], message: str) -> str:
        """Make a branch of one commit on ``start``, and go back to where we were."""
        here = self.git("rev-parse", "--abbrev-ref", "HEAD")
        self.git("checkout", "-q", "-B", name, start)
        made = self.commit(files, message)
        self.git("checkout", "-q", here)
        return made

    def manifest(self, text: str) -> Path:
        """Write the manifest, untracked, into the work tree."""
        path = self.path / "stackmerge.yaml"
        path.write_text(text)
        return path

    def stackmerge(self, *args: str, stdin: str | None = None, cwd: Path | None = None) -> Ran:
        """Run the command line in the repository, as a user would."""
        done = subprocess.run(
            [sys.executable, "-m", "stackmerge", *args],
            cwd=cwd or self.path, input=stdin, capture_output=True, env=self.environment, check=False, text=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def graph(self, tip: str, base: str) -> str:
        """A golden dump of the first-parent history ``base..tip``: subject, parents' subjects, changed files."""
        lines = []
        for oid in self.git("rev-list", "--first-parent", "--reverse", f"{base}..{tip}").split():
            subject = self.git("log", "-1", "--format=%s", oid)
            parents = self.git("log", "-1", "--format=%P", oid).split()[1:]
            merged = "".join(f" <- {self.git('log', '-1', '--format=%s', p)}" for p in parents)
            files = (
                self.git("diff", "--name-status", "--no-renames", f"{oid}^1", oid)
                .replace("\t", " ")
                .splitlines()
            )
            lines += [f"* {subject}{merged}", *(f"    {line}" for line in files)]
        return "\n".join(lines) + "\n"

    def show(self, revision: str, path: str) -> str:
        return self.git("show", f"{revision}:{path}")
