"""Rows hashed and read on the host: the right bytes at the right place, whatever reads them."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ple_engine import row_reader
from ple_engine.hash_spec import HashSpec
from ple_engine.oracle import row_ids_of_batch
from ple_engine.row_reader import RowReader
from ple_engine.row_store import RowStore, hash_windows
from ple_engine.shards import open_row_source
from shard_files import HEAD_DIM, small_spec, write_table

BACKENDS = [pytest.param(True, id="io_uring"), pytest.param(False, id="threads")]


def make_store(folder: Path, spec: HashSpec, io_uring: bool = False) -> tuple[RowStore, torch.Tensor]:
    table = write_table(folder, spec)
    source = open_row_source(folder, spec)
    store = RowStore(source, spec, RowReader(source, io_uring=io_uring))
    if io_uring and store.backend != "io_uring":
        pytest.skip("this kernel forbids io_uring")
    return store, table


class Work:
    """Random requests, their memory, and what the oracle says of them."""

    def __init__(self, spec: HashSpec, lens: list[int]) -> None:
        draw = random.Random(len(lens))
        self.spec, self.lens = spec, lens
        contexts = [[draw.randrange(20) for _ in range(spec.context_len)] for _ in lens]
        requests = [[draw.randrange(20) for _ in range(n)] for n in lens]
        self.rows = [r for row in row_ids_of_batch(spec, contexts, requests) for r in row]
        pairs = zip(contexts, requests, strict=True)
        self.tokens = np.array([t for c, r in pairs for t in [*c, *r]], dtype=np.int64)
        self.staging = torch.full((len(self.rows), HEAD_DIM), 255, dtype=torch.uint8)

    def stage(self, store: RowStore) -> None:
        tokens, staging = self.tokens.ctypes.data, self.staging.data_ptr()
        for count in self.lens:
            store.stage(tokens, count, staging)
            tokens += 8 * (self.spec.context_len + count)
            staging += count * self.spec.num_heads * HEAD_DIM


@pytest.mark.parametrize("io_uring", BACKENDS)
@pytest.mark.parametrize(
    "lens", [[1], [1] * 64, [1, 5, 0, 2], [700]], ids=["one", "decode", "ragged", "prefill"]
)
@pytest.mark.parametrize("ngram_size", [2, 3, 4])
def test_rows_are_those_of_the_oracle(
    tmp_path: Path, ngram_size: int, lens: list[int], io_uring: bool
) -> None:
    spec = small_spec(ngram_size=ngram_size)
    store, table = make_store(tmp_path, spec, io_uring)
    for _ in range(3):  # the ring wraps, the queue is empty again
        work = Work(spec, lens)
        work.stage(store)
        store.flush(0)
        assert torch.equal(work.staging, table[work.rows])
    store.close()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_windows_hash_as_the_oracle_says(data: st.DataObject) -> None:
    spec = small_spec(ngram_size=data.draw(st.integers(2, 4)), heads_per_ngram=data.draw(st.integers(1, 3)))
    token = st.one_of(st.just(spec.eos_token_id), st.integers(0, spec.max_token_id))
    tokens = data.draw(st.lists(token, min_size=spec.context_len + 1, max_size=8))
    context, new = tokens[: spec.context_len], tokens[spec.context_len :]
    positions = np.arange(spec.context_len, len(tokens))
    rows = hash_windows(spec, np.array(tokens, dtype=np.int64), positions)
    assert rows.tolist() == row_ids_of_batch(spec, [context], [new])


def test_the_signal_comes_after_the_rows(tmp_path: Path) -> None:
    spec = small_spec()
    store, table = make_store(tmp_path, spec)
    flag = torch.zeros(1, dtype=torch.int64)
    work = Work(spec, [1])
    work.stage(store)
    store.flush(flag.data_ptr())
    assert int(flag) == 1
    assert torch.equal(work.staging, table[work.rows])


@pytest.mark.parametrize("io_uring", BACKENDS)
def test_a_read_that_fails_names_the_file_and_signals_nothing(tmp_path: Path, io_uring: bool) -> None:
    spec = small_spec()
    store, table = make_store(tmp_path, spec, io_uring)
    whole = (tmp_path / "model-2.safetensors").read_bytes()
    os.truncate(tmp_path / "model-2.safetensors", 500)
    flag = torch.zeros(1, dtype=torch.int64)
    work = Work(spec, [1])
    work.stage(store)
    with pytest.raises(OSError, match=r"model-2\.safetensors") as caught:
        store.flush(flag.data_ptr())
    assert caught.value.errno == errno.EIO
    assert int(flag) == 0
    (tmp_path / "model-2.safetensors").write_bytes(whole)
    work.stage(store)
    store.flush(flag.data_ptr())
    assert torch.equal(work.staging, table[work.rows])


def test_where_the_kernel_has_no_io_uring_threads_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(length: int) -> None:
        raise PermissionError(errno.EPERM, f"no ring for {length} bytes")

    monkeypatch.setattr(row_reader, "Ring", forbidden)
    write_table(tmp_path, small_spec())
    assert RowReader(open_row_source(tmp_path, small_spec())).backend == "threads"


def test_the_switch_turns_io_uring_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FREETOKEN_PLE_IO_URING", "0")
    write_table(tmp_path, small_spec())
    assert RowReader(open_row_source(tmp_path, small_spec())).backend == "threads"
