"""Prints the PLE engine's table: what it takes, what its peers take, and the floors, all in one run.

    python bench/ple.py [--only hash|table] [--out FILE]

Needs a GPU. GPU times are medians over replays of a graph of many launches, between CUDA events; eager times
are host time per call; launches are counted by the profiler. Every kernel's result is compared with the torch
reference before it is timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import triton
import triton.language as tl
from ple_engine.conformance.launches import count_launches
from ple_engine.decode import DecodeLoop
from ple_engine.disk_table import DiskRowTable
from ple_engine.hash_spec import HashSpec
from ple_engine.hashing import NGramEmbedding, PLEMetadata
from ple_engine.row_reader import RowReader
from ple_engine.shards import RowSource, open_row_source
from ple_engine.tables import GpuTable, RowTable, UvaTable, load_rows
from safetensors.torch import save_file

VOCAB, EOS = 151_936, 151_643
HEAD_DIM = 160
REAL = HashSpec.derive(vocab_size=VOCAB, ngram_vocab_size_base=20_000_000, eos_token_id=EOS)
Call = Callable[[], object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["hash", "table"])
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("bench/ple.py: no GPU here; these are GPU times", file=sys.stderr)
        return 2
    lines = [f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}", ""]
    if options.only != "table":
        lines += hash_tables()
    if options.only != "hash":
        lines += row_tables()
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 0


# Measuring


def graph_us(call: Call, launches: int = 200, replays: int = 40) -> float:
    """GPU time of one call in microseconds, in a graph of `launches` calls: median over replays."""
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            call()
    times = []
    for _ in range(replays + 3):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / launches)
    return statistics.median(times[3:])


def eager_us(call: Call, calls: int = 500, rounds: int = 15) -> float:
    """Host time of one call in microseconds, queue empty at the start of each round: median over rounds."""
    times = []
    for _ in range(rounds + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) * 1e6 / calls)
    torch.cuda.synchronize()
    return statistics.median(times[2:])


# The peer and the floors


@triton.jit
def _empty_kernel(x_ptr):
    pass


@triton.jit
def _empty_kernel_alike(a, b, c, d, e, n, m, A: tl.constexpr, B: tl.constexpr):
    pass


@triton.jit
def _peer_kernel(
    ids_ptr, ctx_ptr, request_ptr, local_ptr, mult_ptr, vocab_ptr, offset_ptr, out_ptr,
    EOS: tl.constexpr, N: tl.constexpr, PER: tl.constexpr,
):  # fmt: skip
    """One program per token, a 64-bit remainder, and a token index that somebody built before."""
    token = tl.program_id(0).to(tl.int64)
    request = tl.load(request_ptr + token).to(tl.int64)
    local = tl.load(local_ptr + token).to(tl.int64)
    head = tl.arange(0, PER)
    mix = tl.load(ids_ptr + token) * tl.load(mult_ptr)
    open_ = True
    for s in tl.static_range(1, N):
        own = tl.load(ids_ptr + token - s, mask=local >= s, other=EOS)
        before = tl.load(ctx_ptr + request * (N - 1) + N - 1 + local - s, mask=local < s, other=EOS)
        left = tl.where(local >= s, own, before)
        open_ = open_ & (left != EOS)
        mix = mix ^ (tl.where(open_, left, EOS) * tl.load(mult_ptr + s))
        block = (s - 1) * PER + head
        row = mix % tl.load(vocab_ptr + block) + tl.load(offset_ptr + block)
        tl.store(out_ptr + token * (PER * (N - 1)) + block, row)


class HashWork:
    """One batch, and every way to hash it."""

    def __init__(self, lens: list[int], is_decode: bool) -> None:
        self.tokens = sum(lens)
        draw = torch.Generator().manual_seed(1)
        ids = torch.randint(0, VOCAB, (self.tokens,), generator=draw)
        ids[torch.rand(self.tokens, generator=draw) < 0.02] = EOS
        context = torch.randint(0, VOCAB, (len(lens), 2), generator=draw)
        starts = torch.tensor([0, *lens]).cumsum(0)
        request = torch.repeat_interleave(torch.arange(len(lens)), torch.tensor(lens))
        local = torch.arange(self.tokens) - starts[request]
        self.embedding = NGramEmbedding(REAL, "cuda")
        self.meta = PLEMetadata(ids.int().cuda(), starts.int().cuda(), lens, context.cuda(), is_decode)
        self.out = torch.full((self.tokens, REAL.num_heads), -1, device="cuda")
        self._wide = ids.cuda()
        self._request, self._local = request.int().cuda(), local.int().cuda()
        expected = self.reference()
        for way in (self.fused, self.peer):
            self.out.fill_(-1)
            way()
            assert torch.equal(self.out, expected), way.__name__

    def reference(self) -> torch.Tensor:
        return self.embedding.row_ids_reference(self.meta)

    def fused(self) -> None:
        self.embedding.row_ids(self.meta, out=self.out)

    def fused_alloc(self) -> None:
        self.embedding.row_ids(self.meta)

    def peer(self) -> None:
        c = self.embedding.constants
        _peer_kernel[(self.tokens,)](
            self._wide, self.meta.ngram_context, self._request, self._local, c.multipliers, c.vocab_sizes,
            c.offsets, self.out, EOS=EOS, N=3, PER=8, num_warps=1,
        )  # fmt: skip

    def fewest_bytes(self) -> int:
        return self.tokens * (4 + 8 * REAL.num_heads)


# The hash


def hash_tables() -> list[str]:
    work = {f"decode, {b} tokens": HashWork([1] * b, True) for b in (1, 8, 64, 256)}
    work["prefill, 8,192 tokens, 8 requests"] = HashWork([1024] * 8, False)
    work["prefill, 8,192 tokens, 1 request"] = HashWork([8192], False)
    big = HashWork([8192] * 128, False)
    empty = graph_us(lambda: _empty_kernel[(1,)](big.out, num_warps=1))
    fill = fill_rate()
    lines = [
        "| work | reference, wall us | peer, GPU us | fused, GPU us | floor, us |",
        "|---|---|---|---|---|",
    ]
    for name, w in work.items():
        row = eager_us(w.reference, 50, 5), graph_us(w.peer), graph_us(w.fused)
        lines.append(
            f"| {name} | {row[0]:.0f} | {row[1]:.2f} | {row[2]:.2f} | {empty:.2f}: an empty kernel |"
        )
    peer, fused = graph_us(big.peer, 5, 20), graph_us(big.fused, 20, 30)
    floor, rate = big.fewest_bytes() / fill * 1e6, big.fewest_bytes() / fused / 1e6
    lines.append(
        f"| 1,048,576 tokens, 128 requests | {eager_us(big.reference, 5, 3):.0f} | {peer:.1f} | "
        f"{fused:.1f} ({rate:.2f} TB/s; peer {peer / fused:.1f}x) | "
        f"{floor:.1f}: bytes at {fill / 1e12:.2f} TB/s |"
    )
    return [*lines, "", *eager_table(), "", *launch_table(), ""]


def fill_rate() -> float:
    """Bytes a second that fill_ writes, over a buffer as large as a million tokens' rows."""
    buffer = torch.empty(1_048_576 * REAL.num_heads, dtype=torch.int64, device="cuda")
    return buffer.nbytes / graph_us(lambda: buffer.fill_(3), 20, 30) * 1e6


def eager_table() -> list[str]:
    w = HashWork([1] * 8, True)
    small = torch.zeros(8, device="cuda")
    empty = eager_us(lambda: _empty_kernel[(1,)](w.out, num_warps=1))
    alike = eager_us(lambda: _empty_kernel_alike[(1,)](*[w.out] * 5, 8, 8, 1, 2, num_warps=1))
    lines = ["| eager call, decode of 8 | wall us | of an empty Triton launch |", "|---|---|---|"]
    for name, us in {
        "one torch op": eager_us(lambda: small.add_(1)),
        "an empty Triton launch, one argument": empty,
        "an empty Triton launch, the fused kernel's number of arguments": alike,
        "peer kernel, index ready, into out": eager_us(w.peer),
        "fused, into out": eager_us(w.fused),
        "fused, result allocated": eager_us(w.fused_alloc),
    }.items():
        lines.append(f"| {name} | {us:.2f} | {us / empty:.2f} |")
    return lines


def launch_table() -> list[str]:
    lines = ["| launches | reference | fused |", "|---|---|---|"]
    for name, w in {
        "decode, 8": HashWork([1] * 8, True),
        "prefill, 3 x 100": HashWork([100] * 3, False),
    }.items():
        lines.append(
            f"| {name} | {len(count_launches(w.reference))} | {len(count_launches(w.fused_alloc))} |"
        )
    return lines


# The tables


def write_shards(folder: Path, spec: HashSpec, shards: int = 8) -> None:
    rows = -(-spec.num_rows // shards)
    for i in range(shards):
        raw = torch.randint(0, 120, (rows, HEAD_DIM), dtype=torch.uint8)
        tensors = {f"ngram_embedding.shard_{i}": raw.view(torch.float8_e4m3fn)}
        if i == 0:
            tensors["ngram_embedding.weight_scale"] = torch.tensor(0.25)
        save_file(tensors, folder / f"ple-{i}.safetensors")


class Body:
    """Stands in for the model: `layers` pairs of matrix products, all weights read once a step.

    The rows are added behind the first layer, where the real model has its embedding.
    """

    def __init__(self, layers: int, hidden: int = 4096, inner: int = 12288) -> None:
        def weight(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * shape[1] ** -0.5

        self.first = [weight(hidden, inner) for _ in range(layers)]
        self.second = [weight(inner, hidden) for _ in range(layers)]
        self.tokens = weight(1000, hidden)
        self.wide = weight(REAL.num_heads * HEAD_DIM, hidden)

    def __call__(self, ids: torch.Tensor, lookup: Callable[[], torch.Tensor]) -> torch.Tensor:
        x = self.tokens[ids % len(self.tokens)]
        if not self.first:
            x = x + (rows := lookup()) @ self.wide
        for layer, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            x = torch.nn.functional.rms_norm(x + torch.relu(x @ first) @ second, x.shape[-1:])
            if layer == 0:
                x = x + (rows := lookup()) @ self.wide
        bits = rows.view(torch.int16).long().sum(1) + (x.sum(1) > 0)
        return (ids * 31 + bits).remainder(VOCAB)


def step_us(embedding: NGramEmbedding, table: RowTable, body: Body, batch: int, steps: int = 200) -> float:
    """Wall time of one overlapped decode step, median over five runs of `steps`."""
    draw = torch.Generator().manual_seed(batch)
    prompts = [torch.randint(0, VOCAB, (16,), generator=draw).tolist() for _ in range(batch)]
    loop = DecodeLoop(embedding, table, body, prompts)
    loop.prefill()
    loop.decode(20)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        loop.decode(steps)
        times.append((time.perf_counter() - begin) * 1e6 / steps)
    return statistics.median(times)


def row_tables() -> list[str]:
    spec = HashSpec.derive(vocab_size=VOCAB, ngram_vocab_size_base=200_000, eos_token_id=EOS)
    embedding = NGramEmbedding(spec, "cuda")
    lines = [
        "| decode step, us | batch | GPU table | UVA | disk, wait-sync | disk, gated | wait-sync / GPU |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        write_shards(Path(folder), spec)
        source = open_row_source(folder, spec)
        for layers in (48, 12, 0):
            body = Body(layers)
            for batch in (1, 8, 64):
                us = [step_us(embedding, table, body, batch) for table in _tables(source, spec)]
                name = f"{layers} layers, {layers * 0.201:.1f} GB of weights" if layers else "no body"
                row = " | ".join(f"{value:.0f}" for value in us)
                lines.append(f"| {name} | {batch} | {row} | {us[2] / us[0]:.3f} |")
            del body
        return [*lines, "", *reader_table(source), ""]


def reader_table(source: RowSource) -> list[str]:
    """Host time to read scattered rows into staging: files in the page cache, and dropped from it."""
    lines = ["| rows read, us | io_uring, cached | threads, cached | io_uring, cold | threads, cold |"]
    lines.append("|---|---|---|---|---|")
    for rows in (16, 128, 1024, 16384):
        staging = torch.empty(rows * HEAD_DIM, dtype=torch.uint8, pin_memory=True)
        addresses = staging.data_ptr() + np.arange(rows) * HEAD_DIM
        readers = [RowReader(source, io_uring=choice) for choice in (True, False)]
        us = [read_us(reader, source, addresses, cold) for cold in (False, True) for reader in readers]
        lines.append(f"| {rows} | " + " | ".join(f"{value:.0f}" for value in us) + " |")
        for reader in readers:
            reader.close()
    return lines


def read_us(reader: RowReader, source: RowSource, addresses: np.ndarray, cold: bool) -> float:
    """Median over fresh random rows each time."""
    draw = np.random.default_rng(1)
    load_rows(source)  # into the page cache
    times = []
    for _ in range(9):
        rows = draw.integers(0, source.num_rows, len(addresses))
        if cold:
            drop_from_cache(source)
        begin = time.perf_counter()
        reader.read(rows, addresses)
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def drop_from_cache(source: RowSource) -> None:
    for path in source.paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _tables(source, spec):
    """Each table in turn, closed after use."""
    yield GpuTable.load(source, "cuda")
    yield UvaTable.load(source, "cuda")
    for wait_sync in (True, False):
        table = DiskRowTable(source, spec)
        table._wait_sync = wait_sync and table._wait_sync
        yield table
        table.close()


if __name__ == "__main__":
    sys.exit(main())
