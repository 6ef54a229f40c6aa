"""The whole engine on a GPU: real graphs, real flags, real files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from mutants import FENCE, mutate
from ple_engine.decode import DecodeLoop
from ple_engine.disk_table import DiskRowTable
from ple_engine.hash_spec import HashSpec
from ple_engine.hashing import NGramEmbedding
from ple_engine.memops import SYNC_ENV
from ple_engine.shards import open_row_source
from ple_engine.tables import GpuTable, RowTable, UvaTable
from shard_files import small_spec, write_table

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="real graphs and flags need a GPU")
STEPS = 1000


def sample(ids: torch.Tensor, lookup: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Next tokens that depend on every bit of the rows: one wrong row, and all that follows differs."""
    rows = lookup()
    bits = rows.view(torch.int16).long()
    weights = torch.arange(1, bits.shape[1] + 1, device=rows.device)
    return (ids * 31 + (bits * weights).sum(1)).remainder(1000)


def decode_rows(
    table: RowTable, spec: HashSpec, batch: int, steps: int = STEPS
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows [steps, B, width] as the graphs read them, and the tokens [B, ...] that came of it."""
    draw = torch.Generator().manual_seed(batch)
    prompts = [torch.randint(0, 1000, (1 + i % 7,), generator=draw).tolist() for i in range(batch)]
    loop = DecodeLoop(NGramEmbedding(spec, "cuda"), table, sample, prompts)
    loop.prefill()
    log = torch.empty((steps, *loop.rows.shape), dtype=loop.rows.dtype, device="cuda")
    loop.decode(steps, lambda step: log[step].copy_(loop.rows))
    tokens = torch.nn.utils.rnn.pad_sequence([req.input_ids for req in loop.requests], batch_first=True)
    return log, tokens


@pytest.mark.parametrize("mode", ["wait", "gate"])
@pytest.mark.parametrize("batch", [1, 8, 64])
def test_overlapped_decode_reads_what_the_gpu_table_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, mode: str
) -> None:
    spec = small_spec(base=5000)
    write_table(tmp_path, spec)
    source = open_row_source(tmp_path, spec)
    expected, expected_tokens = decode_rows(GpuTable.load(source, "cuda"), spec, batch)
    monkeypatch.setenv(SYNC_ENV, mode)
    table = DiskRowTable(source, spec)
    rows, tokens = decode_rows(table, spec, batch)
    table.close()
    assert torch.equal(rows.view(torch.int16), expected.view(torch.int16))
    assert torch.equal(tokens, expected_tokens)
    assert len(tokens[0].unique()) > 100, "the tokens hardly vary, so the test shows little"


def test_the_uva_table_reads_the_same(tmp_path: Path) -> None:
    spec = small_spec(base=5000)
    write_table(tmp_path, spec)
    source = open_row_source(tmp_path, spec)
    expected = decode_rows(GpuTable.load(source, "cuda"), spec, 8, 100)
    rows = decode_rows(UvaTable.load(source, "cuda"), spec, 8, 100)
    assert torch.equal(rows[0], expected[0])


def test_a_read_that_fails_surfaces_and_frees_the_stream(tmp_path: Path) -> None:
    spec = small_spec(base=5000)
    write_table(tmp_path, spec)
    table = DiskRowTable(open_row_source(tmp_path, spec), spec)
    loop = DecodeLoop(NGramEmbedding(spec, "cuda"), table, sample, [[1, 2, 3]])
    loop.prefill()
    loop.decode(5)
    for path in tmp_path.iterdir():
        os.truncate(path, 64)
    with pytest.raises(OSError, match=r"model-.\.safetensors"):
        loop.decode(5)
    torch.cuda.synchronize()
    with suppress(OSError):  # of a fill that was submitted before the first error was seen
        table.close()


def test_a_failed_launch_is_left_behind(tmp_path: Path) -> None:
    """The step after a launch that failed reads its own rows, as if there had been no such launch."""
    spec = small_spec(base=5000)
    write_table(tmp_path, spec)
    source = open_row_source(tmp_path, spec)
    runs = []
    for fail in (False, True):
        table = DiskRowTable(source, spec)
        loop = DecodeLoop(NGramEmbedding(spec, "cuda"), table, sample, [[1, 2, 3]])
        loop.prefill()
        loop.decode(5)
        if fail:
            with pytest.raises(ZeroDivisionError), table.forward_host_ctx(loop.batch(), use_graph=True):
                raise ZeroDivisionError
        loop.decode(5)
        table.close()
        runs.append(loop.requests[0].input_ids)
    assert torch.equal(runs[0], runs[1])


def test_the_fence_hangs_a_real_gpu(tmp_path: Path) -> None:
    """A copy with the fence restored: caught by a time limit, in a process of its own."""
    tree = mutate(FENCE, tmp_path / "tree")
    (tmp_path / "shards").mkdir()
    write_table(tmp_path / "shards", small_spec(base=5000))
    script = Path(__file__).parent / "decode_or_hang.py"
    for package, code in ((tree, 3), (Path(__file__).parents[2] / "engine", 0)):
        result = subprocess.run(
            [sys.executable, str(script), str(tmp_path / "shards")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(script.parent)])},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert result.returncode == code, result.stdout + result.stderr
        assert ("hung at step" in result.stdout) == (code == 3)
