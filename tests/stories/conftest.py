"""The demo fork, made once by the real command and copied for each story."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.sandbox import Ran, Sandbox

DISK = "python/freetoken/models/qwen4_exp/ple_disk.py"

needs_engine = pytest.mark.skipif(
    not all(find_spec(name) for name in ("torch", "triton")), reason="the gates need torch and triton"
)


class DemoFork(Sandbox):
    """The fork of a demo, as a newcomer has it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "demo/fork")
        self.resolutions = root / "demo" / "resolutions"

    def worktree(self, stack: str = "5080deploy") -> Path:
        """Where a rebuild of a stack waits for a person."""
        return self.path / ".git" / "stackmerge" / stack / "worktree"

    def resolve(self, answer: str, stack: str = "5080deploy") -> None:
        """Put one of the shipped answers into the private work tree, as the tutorial does."""
        shutil.copytree(self.resolutions / answer, self.worktree(stack), dirs_exist_ok=True)
        self.git("add", "--update", cwd=self.worktree(stack))

    def allow(self, step: str, rule: str) -> None:
        """Say in the manifest that a rule does not apply to a step."""
        manifest = self.path / "stackmerge.yaml"
        line = f"- name: {step}\n"
        assert manifest.read_text().count(line) == 1
        allowed = f"{line}  allow: [{{rule: {rule}, reason: our fill waits already}}]\n"
        manifest.write_text(manifest.read_text().replace(line, allowed))

    def changed(self, old: str, new: str) -> set[str]:
        return set(self.git("diff", "--name-only", "--no-renames", old, new).splitlines())


def outcomes(ran: Ran) -> dict[str, str]:
    return {step["name"]: step["outcome"] for step in ran.json["steps"]}


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    ran = Sandbox(root, "elsewhere").stackmerge("demo", str(root / "demo"))
    assert ran.code == 0, ran.err
    return root


@pytest.fixture
def demo(made_once: Path, tmp_path: Path) -> DemoFork:
    shutil.copytree(made_once / "demo", tmp_path / "demo", symlinks=True)
    return DemoFork(tmp_path)
