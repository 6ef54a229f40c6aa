"""The example workflow: it is YAML, its commands exist, it gives nothing away, and its scripts do what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from stackmerge.cli import app
from tests.sandbox import Sandbox

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "examples/rebuild.yml").read_text()
WORKFLOW: dict[Any, Any] = yaml.safe_load(TEXT)
SHIM = f'#!/bin/sh\nexec "{sys.executable}" -m stackmerge "$@"\n'


def steps(job: str) -> list[dict[str, Any]]:
    return list(WORKFLOW["jobs"][job]["steps"])


def commands() -> Iterator[list[str]]:
    """Every stackmerge command of the workflow and of the page about it."""
    page = re.findall(r"^    (stackmerge .*?)(?:  +#.*)?$", (DOCS / "ci.md").read_text(), re.MULTILINE)
    scripts = [step["run"] for job in WORKFLOW["jobs"] for step in steps(job) if "run" in step]
    lines = [line.strip() for script in scripts for line in script.splitlines()]
    yield from (shlex.split(line)[1:] for line in [*page, *lines] if line.startswith("stackmerge "))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_each_command_exists_with_its_options(words: list[str]) -> None:
    """Parsed by the command line itself, up to where it would run."""
    group, name, *rest = get_command(app), *words
    command = group.commands[name]  # type: ignore[attr-defined]
    if hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_context(name, list(rest))


def test_there_are_commands() -> None:
    names = {words[0] for words in commands()}
    assert {"rebuild", "rerere", "report", "update", "doctor", "status"} <= names


def test_permissions_are_the_least() -> None:
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()} == {
        "rebuild": {"contents": "read"},
        "share": {"contents": "write"},
    }
    assert steps("rebuild")[0]["with"]["persist-credentials"] is False
    assert "token" not in TEXT.lower()
    assert "secrets." not in TEXT


def test_what_may_write_runs_nothing_of_the_stack() -> None:
    scripts = "\n".join(step.get("run", "") for step in steps("share"))
    assert "stackmerge rebuild" not in scripts
    assert "stackmerge gate" not in scripts
    assert "self-hosted" not in str(WORKFLOW["jobs"]["share"]["runs-on"])


def test_no_expression_in_a_script() -> None:
    """What somebody types into `onto` reaches the shell by the environment, not as part of the script."""
    for job in WORKFLOW["jobs"]:
        for step in steps(job):
            assert "${{" not in step.get("run", ""), step


def test_it_has_a_schedule_and_a_button() -> None:
    on = WORKFLOW[True]  # YAML 1.1 reads the key `on` so
    assert on["schedule"]
    assert on["workflow_dispatch"]["inputs"]["onto"]["default"] == "upstream/main"


def script(job: str, name: str) -> str:
    return next(str(step["run"]) for step in steps(job) if step.get("name") == name)


def world(fork: Sandbox, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A clone of a fork as a runner has it, with the upstream at the address that the workflow names.

    Its second step conflicts with its first; somebody has resolved that on their machine, and pushed the cache.
    """
    fork.commit({"a": "1\n"}, "one")
    for number, name in ((1, "red"), (2, "blue")):
        head = fork.branch(name, "main", {"a": f"{name}\n"}, name)
        fork.git("update-ref", f"refs/pull/{number}/head", head)
    fork.git("checkout", "-q", "-b", "stack")
    fork.commit(
        {
            "stackmerge.yaml": "stack: deploy\nbase: upstream/main\nsteps:\n- name: red\n  pr: 1\n- name: blue\n"
            "  pr: 2\ngates:\n- {name: files, run: [grep, -q, red, a]}\n"
        },
        "the stack",
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/stackmerge").write_text(SHIM)
    (tmp_path / "bin/stackmerge").chmod(0o755)
    with (fork.home / "gitconfig").open("a") as config:
        config.write(f'[url "{fork.path}"]\n\tinsteadOf = {WORKFLOW["env"]["UPSTREAM"]}\n')
    environment = fork.environment | {
        "PATH": f"{tmp_path / 'bin'}:{fork.environment['PATH']}",
        "UPSTREAM": WORKFLOW["env"]["UPSTREAM"],
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "RUNNER_TEMP": str(tmp_path),
        "ONTO": "upstream/main",
    }
    theirs, runners = clone(fork, tmp_path / "theirs"), clone(fork, tmp_path / "runners")
    run("rebuild", "Fetch", theirs, environment, first=True)
    stopped = fork.stackmerge("rebuild", "--json", cwd=theirs)
    assert stopped.code == 3, stopped.err
    (Path(stopped.json["worktree"]) / "a").write_text("red and blue\n")
    fork.git("add", "a", cwd=Path(stopped.json["worktree"]))
    for command in ("continue", "rerere push"):
        ran = fork.stackmerge(*command.split(), cwd=theirs)
        assert ran.code == 0, ran.err
    return runners, environment


def clone(fork: Sandbox, place: Path) -> Path:
    fork.git("clone", "-q", "--branch", "stack", str(fork.path), str(place))
    return place


def run(job: str, name: str, place: Path, environment: dict[str, str], *, first: bool = False) -> None:
    """Run one step's script as a runner does; with ``first``, without the cache, which is not there yet."""
    commands = script(job, name)
    commands = commands.replace("stackmerge rerere pull origin\n", "") if first else commands
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", commands],
        cwd=place, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, f"{name}: {ran.stderr}{ran.stdout}"


def test_the_scripts_of_the_workflow_run(fork: Sandbox, tmp_path: Path) -> None:
    place, environment = world(fork, tmp_path)
    for name in ("Fetch", "Rebuild", "Report", "Pack the cache"):
        run("rebuild", name, place, environment)
    for name in ("report.html", "junit.xml", "events.jsonl"):
        assert (place / name).stat().st_size, name
    assert len(list((place / "logs").iterdir())) == 2
    assert "| 2 | blue | replayed |" in (tmp_path / "summary.md").read_text()
    (tmp_path / "rebuild").mkdir()
    (place / "cache.bundle").rename(tmp_path / "rebuild/cache.bundle")
    run("share", "Push the cache", clone(fork, tmp_path / "another"), environment)
