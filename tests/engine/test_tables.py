"""Rows dequantised, from memory and, with real files under a fake stream, from disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from ple_engine.conformance.rig import Rig, make_rig
from ple_engine.conformance.targets import EngineTarget
from ple_engine.disk_table import DiskRowTable
from ple_engine.memops import choose_wait_sync
from ple_engine.oracle import row_ids_of_request
from ple_engine.row_store import RowStore
from ple_engine.shards import open_row_source
from ple_engine.tables import GpuTable, UvaTable
from shard_files import HEAD_DIM, SCALE, small_spec, write_table

SPEC = small_spec(eos_token_id=9)


def e4m3(byte: int) -> float:
    """The number of an fp8 e4m3 byte (Micikevicius et al., 2022, table 1)."""
    sign, exponent, mantissa = -1 if byte & 128 else 1, byte >> 3 & 15, byte & 7
    if exponent == 0:
        return float(sign * mantissa * 2**-9)
    return float(sign * (8 + mantissa) * 2.0 ** (exponent - 10))


def test_a_lookup_is_the_fp8_number_times_the_scale() -> None:
    finite = [b for b in range(256) if b & 127 != 127]
    weight = torch.tensor(finite, dtype=torch.uint8).view(torch.float8_e4m3fn).view(-1, 2)
    table = GpuTable(weight, scale=0.5, dtype=torch.float32)
    rows = table.lookup(torch.tensor([[0, 5], [126, 3]]))
    expected = [[e4m3(finite[2 * r + i]) * 0.5 for r in pair for i in (0, 1)] for pair in ([0, 5], [126, 3])]
    assert rows.tolist() == expected


def test_a_lookup_into_out(tmp_path: Path) -> None:
    write_table(tmp_path, SPEC)
    table = GpuTable.load(open_row_source(tmp_path, SPEC), "cpu")
    ids = torch.tensor([[1, 2], [3, 4]])
    out = torch.zeros(2, 2 * HEAD_DIM, dtype=torch.bfloat16)
    assert table.lookup(ids, out) is out
    assert torch.equal(out, table.lookup(ids))


def test_a_uva_table_must_be_pinned() -> None:
    with pytest.raises(ValueError, match="pinned"):
        UvaTable(torch.zeros(4, 4, dtype=torch.float8_e4m3fn), 1.0)


@pytest.mark.parametrize("mode", ["", "always"])
def test_an_unknown_way_to_synchronise(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("FREETOKEN_PLE_SYNC", mode)
    with pytest.raises(ValueError, match="auto, wait or gate"):
        choose_wait_sync(torch.device("cpu"))


def test_launch_gating_needs_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREETOKEN_PLE_SYNC", "gate")
    assert choose_wait_sync(torch.device("cpu")) is False


def with_real_files(rig: Rig, folder: Path) -> torch.Tensor:
    """Give the rig's table the real store, and staging for four tokens; returns the table's bytes."""
    rows = write_table(folder, SPEC)
    table: Any = rig.table
    table._store = RowStore(open_row_source(folder, SPEC), SPEC)
    table._token_bytes = SPEC.num_heads * HEAD_DIM
    table._graph_pinned = torch.zeros(4 * table._token_bytes, dtype=torch.uint8)
    table._eager_pinned = [torch.zeros(4 * table._token_bytes, dtype=torch.uint8) for _ in range(2)]
    table._scale = SCALE
    return rows


def test_overlapped_decode_of_real_files(tmp_path: Path) -> None:
    staged: list[torch.Tensor] = []
    with make_rig(EngineTarget()) as rig:
        rows = with_real_files(rig, tmp_path)
        rig._graph = lambda: (staged.append(rig.table._graph_pinned.clone()), rig._device_ids.add_(1))  # type: ignore[method-assign,assignment]
        rig.decode_overlapped(12)
    tokens = [100 + k for k in range(12)]
    expected = row_ids_of_request(SPEC, [2, 3], tokens)
    got = [step[: SPEC.num_heads * HEAD_DIM].view(-1, HEAD_DIM) for step in staged]
    assert all(torch.equal(g, rows[e]) for g, e in zip(got, expected, strict=True))


def test_an_eager_lookup_of_real_files(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        rows = with_real_files(rig, tmp_path)
        rig.table.dtype = torch.bfloat16
        req = SimpleNamespace(input_ids=torch.tensor([4, 5, 6, 7]), device_len=4, cached_len=1)
        batch = SimpleNamespace(is_decode=False, reqs=[req], padded_reqs=[req], padded_size=1, input_ids=None)
        with rig.table.forward_host_ctx(batch, use_graph=False):
            found = rig.table.lookup(torch.zeros(3, 1))
    expected = rows[torch.tensor(row_ids_of_request(SPEC, [9, 4], [5, 6, 7]))].view(torch.float8_e4m3fn)
    assert torch.equal(found, (expected.to(torch.bfloat16) * SCALE).view(3, -1))


def test_a_read_that_fails_surfaces_at_the_next_step(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        with_real_files(rig, tmp_path)
        rig.decode_overlapped(2)
        for path in tmp_path.iterdir():
            os.truncate(path, 64)
        with pytest.raises(OSError, match=r"model-.\.safetensors.*"):
            rig.decode_overlapped(2)
        assert rig.stream.wait(rig.stream.queued()), "the stream is stuck behind the failed fill"
        with suppress(OSError):  # of a fill that was submitted before the first error was seen
            rig.table.close()


def failing_fill(rig: Rig, folder: Path) -> None:
    """A last step whose fill fails, of which no step after it tells."""
    with_real_files(rig, folder)
    rig.decode_overlapped(2)
    for path in folder.iterdir():
        os.truncate(path, 64)
    rig.decode_step()
    assert rig.stream.wait(rig.stream.queued()), "the stream is stuck behind the failed fill"


def open_files(folder: Path) -> list[str]:
    links = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [link for link in links if link.startswith(str(folder))]


def test_close_raises_the_error_of_the_last_fill_and_closes_the_files(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        failing_fill(rig, tmp_path)
        assert open_files(tmp_path)
        with pytest.raises(OSError, match=r"model-.\.safetensors"):
            rig.table.close()
        assert open_files(tmp_path) == []
        rig.table.close()  # told once


def test_the_error_on_its_way_is_shown_and_not_that_of_the_last_fill(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        failing_fill(rig, tmp_path)
        with pytest.raises(ZeroDivisionError), rig.table:
            raise ZeroDivisionError
        assert open_files(tmp_path) == []


def test_close_before_any_fill_closes_the_files(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        with_real_files(rig, tmp_path)
        assert open_files(tmp_path)
        rig.table.close()
        assert open_files(tmp_path) == []


def test_a_batch_larger_than_the_staging_is_refused(tmp_path: Path) -> None:
    with make_rig(EngineTarget()) as rig:
        with_real_files(rig, tmp_path)
        req = SimpleNamespace(input_ids=torch.arange(9), device_len=9, cached_len=0)
        batch = SimpleNamespace(is_decode=False, reqs=[req], padded_reqs=[req], padded_size=1, input_ids=None)
        with (
            pytest.raises(ValueError, match="9 tokens, staging for 4"),
            rig.table.forward_host_ctx(batch, False),
        ):
            pass


def test_a_hash_of_another_table_is_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    write_table(tmp_path, SPEC)
    source = open_row_source(tmp_path, SPEC)
    with pytest.raises(ValueError, match=r"model-2\.safetensors: .*shard_3"):
        DiskRowTable(source, small_spec(base=600))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="pinned staging needs a GPU")
def test_the_constructor_takes_what_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(tmp_path, SPEC)
    monkeypatch.setenv("FREETOKEN_PLE_SYNC", "gate")
    table = DiskRowTable(open_row_source(tmp_path, SPEC), SPEC)
    assert table._wait_sync is False
    table.close()
