"""The wheel, built from this checkout and installed where neither the checkout nor torch can be imported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.sandbox import hermetic_environment

ROOT = Path(__file__).parents[1]
pytest.importorskip("hatchling")


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and a directory to work in."""

    bin: Path
    place: Path

    def run(self, *command: str, place: Path | None = None) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in hermetic_environment(self.place).items() if not k.startswith("PYTHON")}
        path = os.pathsep.join([str(self.bin), "/usr/bin", "/bin"])
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]], cwd=place or self.place, env={**kept, "PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    root = tmp_path_factory.mktemp("wheel")
    run = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root)]
    subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = root.glob("stackmerge-*.whl")
    venv.create(root / "venv", symlinks=True)
    bin_ = root / "venv" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(bin_ / "python")]
    subprocess.run(
        [*pip, "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True, capture_output=True
    )
    link_dependencies(next((root / "venv" / "lib").glob("python*/site-packages")), bin_)
    (root / "place").mkdir()
    return Installed(bin_, root / "place")


def link_dependencies(site: Path, bin_: Path) -> None:
    """Link what the wheel requires, and nothing else, from the environment of this test: no network is needed."""
    (wheel,) = site.glob("stackmerge-*.dist-info")
    for name in required(Distribution.at(wheel)):
        found = distribution(name)
        for file in found.files or ():
            there = Path(str(found.locate_file(file.parts[0])))
            if file.parts[0] == "..":
                there, link = Path(str(found.locate_file(file))).resolve(), bin_ / file.name
            else:
                link = site / file.parts[0]
            if there.exists() and not link.exists() and there.name != "__pycache__":
                link.symlink_to(there)


def required(top: Distribution) -> set[str]:
    """The names of what a distribution requires here, without its extras, and of what that requires."""
    found: set[str] = set()
    waiting = [top]
    while waiting:
        for text in waiting.pop().requires or ():
            one = Requirement(text)
            if (one.marker is None or one.marker.evaluate({"extra": ""})) and one.name not in found:
                found.add(one.name)
                waiting.append(distribution(one.name))
    return found


@pytest.fixture(scope="module")
def demo(installed: Installed) -> tuple[Path, str]:
    """A demo made and rebuilt by the installed command, and what that said."""
    shown = installed.run("stackmerge", "demo", "--run", "demo")
    return installed.place / "demo" / "fork", shown.stderr


def test_nothing_of_the_checkout_and_no_torch_is_there(installed: Installed) -> None:
    code = "import stackmerge, ple_engine; from importlib.util import find_spec as f; "
    code += "print(stackmerge.__file__, ple_engine.__file__, f('torch'), f('triton'), f('tests'))"
    one, other, *absent = installed.run("python", "-c", code).stdout.split()
    assert Path(one).is_relative_to(installed.bin.parent)
    assert Path(other).is_relative_to(installed.bin.parent)
    assert absent == ["None"] * 3


def test_help_and_version(installed: Installed) -> None:
    assert "rebuild" in installed.run("stackmerge", "--help").stdout
    assert re.fullmatch(r"stackmerge \d+\.\d+\.\d+\n", installed.run("stackmerge", "--version").stdout)


def test_the_demo_rebuilds_with_its_gates_off_and_says_why(demo: tuple[Path, str]) -> None:
    _, said = demo
    assert "warning: torch is not installed here, so the gates are off" in said
    assert said.count("accepted: 5080deploy at ") == 2


def test_every_shipped_rule_is_found_and_proved(installed: Installed) -> None:
    shipped = sorted(file.stem for file in (ROOT / "hazards").glob("*.yaml"))
    said = installed.run("stackmerge", "hazards", "test").stderr.splitlines()
    assert said == [f"{rule}: proved" for rule in shipped]


def test_descriptions_and_the_report_find_their_templates(
    installed: Installed, demo: tuple[Path, str]
) -> None:
    fork, _ = demo
    text = installed.run("stackmerge", "describe", "ple-hash-338", place=fork).stdout
    assert "## Conflicts" in text
    installed.run("stackmerge", "report", "--out", "report.html", place=fork)
    assert "ple-hash-338" in (fork / "report.html").read_text()


def test_no_other_command_asks_for_torch(installed: Installed, demo: tuple[Path, str]) -> None:
    fork, _ = demo
    for command in (["doctor"], ["plan"], ["hazards", "check"], ["rerere", "list"], ["verify"], ["status"]):
        installed.run("stackmerge", *command, place=fork)
