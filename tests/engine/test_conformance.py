"""The conformance command: on this package, on a FreeToken-like tree, on trees that it cannot run."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
from run_conformance import run_conformance

pytestmark = pytest.mark.timeout(600)  # for a machine that does much else; alone, the file takes a minute
TREE = Path(__file__).parent / "freetoken_tree"
FENCE_ERROR = "TimeoutError: a fill waited on stream position 2, which never completed"


@pytest.mark.parametrize(
    ("suite", "only"),
    [
        ("kernel", "long_prefill or ragged"),
        ("kernel", "not long_prefill and not ragged"),
        ("no-graph-fence", ""),
        ("fill-order", ""),
    ],
)
def test_this_package_passes(suite: str, only: str) -> None:
    result = run_conformance("--suite", suite, "-k", only)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_test_names_its_device(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    result = run_conformance("--suite", "all", "-k", "decode or overlapped", "--junit-xml", str(report))
    devices = {case.get("name"): device_of(case) for case in ET.parse(report).getroot().iter("testcase")}
    kernels = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, Triton interpreter"
    assert devices["test_decode[63-int32]"] == kernels
    assert devices["test_overlapped_graph_fills_never_wait_on_their_own_launch"] == "CPU, fake stream"
    assert f"test_decode[63-int32] PASSED on {kernels}" in result.stdout


def device_of(case: ET.Element) -> str | None:
    return next(p.get("value") for p in case.iter("property") if p.get("name") == "device")


@pytest.mark.parametrize(
    ("suite", "only"),
    [
        ("no-graph-fence", ""),
        ("fill-order", ""),
        ("kernel", "decode and not launch or every_set and 3 or Wrong or one_launch and not row"),
    ],
)
def test_a_freetoken_tree_passes(suite: str, only: str) -> None:
    if suite == "kernel" and torch.cuda.is_available():
        only = only.replace("or one_launch", "or not_there")  # this tree builds an index, in many launches
    result = run_conformance("--target", "freetoken", "--tree", str(TREE), "--suite", suite, "-k", only)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_freetoken_tree_with_the_fence_fails(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    disk = tree / "python/freetoken/models/qwen4_exp/ple_disk.py"
    text = disk.read_text()
    for old, new in [
        ("            pinned = self._graph_pinned\n", "            self._graph_consumed.synchronize()\n"),
        (
            "                self._flag.zero_()\n            raise\n",
            "                self._flag.zero_()\n            raise\n        if use_graph:\n"
            "            self._graph_consumed.record(torch.cuda.current_stream(self._device))\n",
        ),
    ]:
        assert text.count(old) == 1
        text = text.replace(old, new if "record" in new else new + old)
    disk.write_text(text)
    result = run_conformance("--target", "freetoken", "--tree", str(tree), "--suite", "no-graph-fence")
    assert result.returncode == 1, result.stdout
    assert f"E   {FENCE_ERROR}\n" in result.stdout


def test_a_missing_file_is_named_in_one_line(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    missing = tree / "python/freetoken/kernel/triton/ple_hash.py"
    missing.unlink()
    result = run_conformance("--target", "freetoken", "--tree", str(tree))
    assert result.returncode == 2
    assert str(missing) in result.stderr
    assert result.stderr.count("\n") == 1
    assert (
        run_conformance("--target", "freetoken", "--tree", str(tree), "--suite", "no-graph-fence").returncode
        == 0
    )


def test_a_file_that_cannot_be_imported_is_named_in_one_line(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    disk = tree / "python/freetoken/models/qwen4_exp/ple_disk.py"
    disk.write_text("import not_installed_anywhere\n")
    result = run_conformance("--target", "freetoken", "--tree", str(tree), "--suite", "fill-order")
    assert result.returncode == 2
    assert "not_installed_anywhere" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_tree_must_be_named() -> None:
    result = run_conformance("--target", "freetoken", "--suite", "no-graph-fence")
    assert result.returncode == 2
    assert "--tree" in result.stderr


def test_a_machine_without_torch_is_told_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('No module named torch')\n")
    result = run_conformance(first=tmp_path)
    assert result.returncode == 2
    assert "torch is missing" in result.stderr
    assert result.stderr.count("\n") == 1
