"""The shape of the package: no import cycle, and who may start git, print, exit or move a ref (DESIGN.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import stackmerge

PACKAGE = Path(stackmerge.__file__).parent
ROOT = PACKAGE.parent


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of stackmerge by its dotted name. Example code of the demo is data, not a module."""
    found: dict[str, ast.Module] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = path.parent
        parts = list(path.relative_to(ROOT).with_suffix("").parts)
        while folder != PACKAGE and (folder / "__init__.py").exists():
            folder = folder.parent
        if folder == PACKAGE:
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(name: str) -> Iterator[str]:
    """Every dotted name that a module imports anywhere in it: lazily and under TYPE_CHECKING too."""
    is_package = any(other.startswith(name + ".") for other in modules())
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: -node.level + 1 or None] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def inner_imports(name: str) -> set[str]:
    """The modules of stackmerge that a module imports; the bare package around them does not count."""
    found = {other for other in imports(name) if other in modules() and other != name}
    return {other for other in found if not name.startswith(other + ".")}


def calls(tree: ast.AST) -> Iterator[str]:
    """The dotted name of everything that is called or raised."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
            yield node.exc.id


def test_no_import_cycle() -> None:
    graph = {name: inner_imports(name) for name in modules()}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_test_sees_a_cycle() -> None:
    with pytest.raises(CycleError):
        list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())


def test_errors_imports_nothing_and_nobody_imports_the_command_line() -> None:
    assert inner_imports("stackmerge.errors") == set()
    for name in modules():
        if name not in ("stackmerge.__main__", "stackmerge.cli"):
            found = inner_imports(name)
            assert "stackmerge.cli" not in found, name
            assert name.startswith("stackmerge.commands.") or not any(
                other.startswith("stackmerge.commands") for other in found
            ), name


@pytest.mark.parametrize("stranger", ["torch", "triton", "ple_engine", "engine", "tests"])
def test_the_tool_never_imports_the_engine(stranger: str) -> None:
    for name in modules():
        assert stranger not in {found.partition(".")[0] for found in imports(name)}, name


def only(*names: str) -> set[str]:
    return {f"stackmerge.{name}" for name in names}


# These start other programs: the commands of gates, a linter, and the forge's own client.
OTHER_PROGRAMS = ("stackmerge.gate", "stackmerge.hazard.checks.lint_delta", "stackmerge.forge.token")


def test_only_git_and_remote_start_git() -> None:
    for name, tree in modules().items():
        found = {one.partition(".")[0] for one in imports(name)}
        if name not in only("remote"):
            assert "git" not in found, name
        if name.startswith(OTHER_PROGRAMS):
            words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert "git" not in words, name
            continue
        if name not in only("git", "merge"):
            assert "subprocess" not in found, name
        started = {
            c for c in calls(tree) if c in ("os.system", "os.popen", "os.execv", "os.execvp", "os.fork")
        }
        assert not started, name
    spawned = [c for c in calls(modules()["stackmerge.merge"]) if c.startswith("subprocess.")]
    assert spawned == [], "merge may name the type of a child, not start one"


def is_command_line(name: str) -> bool:
    """cli and screen, the folder of the commands, and that of what they show."""
    part = name.removeprefix("stackmerge.").partition(".")[0]
    return part in ("cli", "commands", "screen", "screen_terminal", "show", "__main__")


def test_only_the_command_line_prints_and_exits() -> None:
    own_process = only("gate.runner")  # a program of its own, which answers on its standard output
    for name, tree in modules().items():
        if name in own_process or is_command_line(name):
            continue
        found = set(calls(tree))
        assert not found & {"print", "input", "exit", "sys.exit", "SystemExit", "os._exit", "typer.echo"}, (
            name
        )
        written = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys"
        }
        assert not written & {"stdout", "stderr", "__stdout__"}, name


REF_CALLS = ("references.create", "references.delete", "set_target", "create_branch", "create_reference")
REF_COMMANDS = ("update-ref", "branch", "symbolic-ref", "tag")


def test_only_refs_moves_refs() -> None:
    """Fetching into refs/stackmerge is the one other way in which a ref of ours changes."""
    for name, tree in modules().items():
        if name in only("refs") or name.startswith("stackmerge.demo"):
            continue
        for call in calls(tree):
            assert not call.endswith(REF_CALLS), f"{name}: {call}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                starts_git = ast.unparse(node.func).endswith((".run", ".text", ".child"))
                assert not (starts_git and node.args[0].value in REF_COMMANDS), f"{name}: {ast.unparse(node)}"
