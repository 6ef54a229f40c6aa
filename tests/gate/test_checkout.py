"""A gate's checkout is the tree of its step, whatever the gate before it left there and whatever git's settings say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gate.test_gating import outcomes, shell, stack, write_manifest
from tests.sandbox import Sandbox

PASSED = "passed on CPU"


def words(fork: Sandbox) -> list[str]:
    return [said for _, said, _ in outcomes(fork.stackmerge("rebuild", "--json").json)]


def on_base(fork: Sandbox, gate: dict[str, Any], *names: str) -> None:
    """A stack of clean merges on what is committed, with one gate."""
    fork.git("tag", "v1")
    for name in names:
        fork.git("checkout", "-q", "-B", name, "v1")
        fork.commit({f"{name}.txt": name}, name)
    fork.git("checkout", "-q", "main")
    write_manifest(fork, [gate], names)


@pytest.mark.parametrize("left", ["touch sub/lib.so", "rmdir sub; ln -s /etc sub", "rmdir sub; echo x > sub"])
def test_the_folder_of_a_submodule_is_empty(fork: Sandbox, left: str) -> None:
    commit = fork.commit({"base.txt": "base\n"}, "base")
    fork.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    fork.git("commit", "-q", "-m", "submodule")
    empty = 'test -d sub && test ! -L sub && test -z "$(ls -A sub)"'
    on_base(fork, {"name": "build", "run": shell(f"{empty} && {{ {left}; }}")}, "one", "two")
    assert words(fork) == [PASSED, PASSED]


def test_the_name_of_a_file_makes_no_folder_a_submodule(fork: Sandbox) -> None:
    fork.commit({"160000 abc 0\tsub": "odd\n", "sub/test": "test\n"}, "base")
    on_base(fork, {"name": "there", "run": shell("test -f sub/test")}, "one")
    assert words(fork) == [PASSED]


def test_a_link_on_the_way_to_a_submodule_is_not_followed(fork: Sandbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "sub" / "kept").touch()
    commit = fork.commit({"base.txt": "base\n"}, "base")
    fork.git("update-index", "--add", "--cacheinfo", f"160000,{commit},lib/sub")
    fork.git("commit", "-q", "-m", "submodule")
    script = f'test -d lib/sub -a ! -L lib && rm -rf lib && ln -s "{outside}" lib'
    on_base(fork, {"name": "link", "run": shell(script)}, "one", "two")
    assert words(fork) == [PASSED, PASSED]
    assert (outside / "sub" / "kept").exists()


def test_modes_are_those_of_the_tree(fork: Sandbox) -> None:
    fork.commit({"run.sh": "#!/bin/sh\n"}, "base")
    fork.git("update-index", "--chmod=+x", "run.sh")
    fork.git("commit", "-q", "-m", "executable")
    on_base(fork, {"name": "mode", "run": shell("test -x run.sh && chmod 644 run.sh")}, "one", "two")
    fork.git("config", "core.fileMode", "false")
    assert words(fork) == [PASSED, PASSED]


@pytest.mark.parametrize("setting", ["core.autocrlf=true", "core.eol=crlf", "core.sparseCheckout=true"])
def test_bytes_are_those_of_the_tree(fork: Sandbox, setting: str) -> None:
    """Twelve bytes as `git cat-file` counts them."""
    fork.commit({"a.txt": "one\ntwo\nsix\n", ".gitattributes": "*.txt text\n"}, "base")
    script = 'test $(wc -c < a.txt) = 12 && test -z "$(git status --porcelain)"'
    on_base(fork, {"name": "bytes", "run": shell(script)}, "one")
    fork.git("config", *setting.split("="))
    (fork.path / ".git" / "info" / "sparse-checkout").write_text("/nothing\n")
    assert words(fork) == [PASSED]


WITHOUT_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"),
    reason="modes do not bind root, and there is no setpriv",
)
@pytest.mark.parametrize("mode", ["000", "300", "500"])
def test_a_folder_that_may_not_be_read_does_not_stop_the_next_gate(fork: Sandbox, mode: str) -> None:
    stack(
        fork,
        [{"name": "lock", "run": shell(f"mkdir -p a/b && touch a/b/c && chmod {mode} a/b")}],
        ("one", "two"),
    )
    before = WITHOUT_OVERRIDE if os.geteuid() == 0 else []
    done = subprocess.run(
        [*before, sys.executable, "-m", "stackmerge", "rebuild"],
        cwd=fork.path, env=fork.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"gate lock: {PASSED}: 2 steps" in done.stderr
