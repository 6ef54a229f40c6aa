"""The fused hash equals the torch reference, and that equals plain Python integers."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ple_engine.conformance.device import hash_device
from ple_engine.conformance.hash_batches import EOS, HashBatch, make_spec, poisoned, split
from ple_engine.conformance.launches import count_launches
from ple_engine.conformance.targets import HashCase, Target
from ple_engine.hash_spec import HashSpec
from ple_engine.hashing import PLEMetadata

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need a GPU")


def run_kernel(case: HashCase, meta: PLEMetadata, out: torch.Tensor | None = None) -> torch.Tensor:
    cu_seqlens = None if meta.is_decode else meta.cu_seqlens
    return case.kernel(meta.input_ids, meta.ngram_context, cu_seqlens, out)()


def assert_all_agree(target: Target, spec: HashSpec, batch: HashBatch, meta: PLEMetadata) -> None:
    assert_case_agrees(target.hash_case(spec, hash_device()), spec, batch, meta)


def assert_case_agrees(case: HashCase, spec: HashSpec, batch: HashBatch, meta: PLEMetadata) -> None:
    expected = batch.expected(spec)
    assert torch.equal(case.reference(meta), expected)
    out = poisoned(len(expected), spec)
    assert run_kernel(case, meta, out) is out
    assert torch.equal(out, expected)
    assert torch.equal(case.row_ids(meta), expected)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("tokens", [0, 1, 2, 63, 512])
def test_ragged_prefill(target: Target, tokens: int, dtype: torch.dtype) -> None:
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, split(tokens))
    assert_all_agree(target, spec, batch, batch.metadata(spec, dtype))


@pytest.mark.parametrize("tokens", [1000, 8192])
def test_long_prefill(target: Target, tokens: int) -> None:
    if tokens > 1000 and not (target.big_in_interpreter or torch.cuda.is_available()):
        pytest.skip("this kernel's 8,192 programs take minutes in Triton's interpreter; run it on a GPU")
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, split(tokens))
    assert_all_agree(target, spec, batch, batch.metadata(spec, torch.int32))


@pytest.mark.parametrize("requests", [33, 200, 5000, 40_000])
def test_many_short_requests(target: Target, requests: int) -> None:
    if requests > 200 and not torch.cuda.is_available():
        pytest.skip("so many tokens take minutes in Triton's interpreter; run it on a GPU")
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, [(7 * i) % 4 % 3 for i in range(requests)])
    assert_all_agree(target, spec, batch, batch.metadata(spec))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("requests", [1, 2, 63])
def test_decode(target: Target, requests: int, dtype: torch.dtype) -> None:
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, [1] * requests)
    assert_all_agree(target, spec, batch, batch.metadata(spec, dtype, is_decode=True))


GEOMETRIES = [*((3, heads) for heads in range(1, 17)), *product([2, 4], [1, 3, 16])]


@pytest.mark.parametrize("primes", ["small", "beyond 32 bits"])
@pytest.mark.parametrize(("ngram_size", "heads"), GEOMETRIES)
def test_geometries(target: Target, ngram_size: int, heads: int, primes: str) -> None:
    spec = make_spec(ngram_size, heads, primes)
    batch = HashBatch.random(spec, [4, 0, 1, 3])
    assert_all_agree(target, spec, batch, batch.metadata(spec, torch.int32))


@pytest.mark.parametrize("ngram_size", [2, 3, 4])
def test_a_boundary_in_every_set_of_positions(target: Target, ngram_size: int) -> None:
    """One request for each way to set boundaries in its context and its three tokens."""
    spec = make_spec(ngram_size, 2)
    ways = list(product([True, False], repeat=spec.context_len + 3))
    rows = [[EOS if here else 10 + i for i, here in enumerate(way)] for way in ways]
    batch = HashBatch([row[: spec.context_len] for row in rows], [row[spec.context_len :] for row in rows])
    assert_all_agree(target, spec, batch, batch.metadata(spec))


@st.composite
def hash_problems(draw: st.DrawFn) -> tuple[HashSpec, HashBatch, torch.dtype]:
    spec = make_spec(draw(st.integers(2, 4)), draw(st.sampled_from([1, 3, 8])))
    token = st.one_of(st.just(EOS), st.integers(0, spec.max_token_id if draw(st.booleans()) else 3 * EOS))
    lens = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    contexts = [draw(st.lists(token, min_size=spec.context_len, max_size=spec.context_len)) for _ in lens]
    requests = [draw(st.lists(token, min_size=n, max_size=n)) for n in lens]
    return spec, HashBatch(contexts, requests), draw(st.sampled_from([torch.int32, torch.int64]))


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(problem=hash_problems())
def test_any_small_batch(target: Target, problem: tuple[HashSpec, HashBatch, torch.dtype]) -> None:
    spec, batch, dtype = problem
    assert_all_agree(target, spec, batch, batch.metadata(spec, dtype))


def test_other_starts_in_a_batch_of_the_same_shape(target: Target) -> None:
    """Nothing about a batch may be remembered by its shape."""
    spec = make_spec(3, 8)
    case = target.hash_case(spec, hash_device())
    for lens in ([5, 2, 1], [1, 2, 5], [0, 8, 0]):
        batch = HashBatch.random(spec, lens)
        assert_case_agrees(case, spec, batch, batch.metadata(spec))


@pytest.mark.parametrize("is_decode", [True, False], ids=["decode", "prefill"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=["int32", "int64"])
def test_exactly_one_launch(target: Target, is_decode: bool, dtype: torch.dtype) -> None:
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, [1, 1, 1] if is_decode else [3, 1, 4])
    meta = batch.metadata(spec, dtype, is_decode=is_decode)
    case = target.hash_case(spec, hash_device())
    cu_seqlens = None if is_decode else meta.cu_seqlens
    launches = count_launches(case.kernel(meta.input_ids, meta.ngram_context, cu_seqlens))
    assert len(launches) == 1, launches
    if torch.cuda.is_available():
        launches = count_launches(lambda: case.row_ids(meta))
        assert len(launches) == 1, launches


class TestWrongTensors:
    """A ValueError, and nothing written."""

    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, [3, 1, 4])

    def refuse(self, target: Target, out: torch.Tensor | None = None, **changes: torch.Tensor) -> None:
        meta = self.batch.metadata(self.spec)
        case = target.hash_case(self.spec, hash_device())
        inputs = {
            "ids": meta.input_ids,
            "context": meta.ngram_context,
            "cu_seqlens": meta.cu_seqlens,
            **changes,
        }
        before = None if out is None or out.is_meta else out.clone()
        with pytest.raises(ValueError, match=r"\w"):
            case.kernel(**inputs, out=out)()
        if before is not None and out is not None:
            assert torch.equal(out, before)

    def test_out_of_another_shape(self, target: Target) -> None:
        self.refuse(target, poisoned(9, self.spec))
        self.refuse(target, poisoned(7, self.spec))
        self.refuse(target, poisoned(8, self.spec).view(16, 8))
        self.refuse(target, poisoned(8, self.spec).view(-1))

    def test_out_of_another_dtype(self, target: Target) -> None:
        self.refuse(target, poisoned(8, self.spec).to(torch.int32))
        self.refuse(target, poisoned(8, self.spec).to(torch.float64))

    def test_out_with_gaps(self, target: Target) -> None:
        self.refuse(target, poisoned(16, self.spec)[::2])
        self.refuse(target, poisoned(8, self.spec).repeat(1, 2)[:, :16])
        self.refuse(target, poisoned(16, make_spec(2, 8)).t())

    def test_out_on_another_device(self, target: Target) -> None:
        self.refuse(target, poisoned(8, self.spec).to("meta"))
        if torch.cuda.is_available():
            self.refuse(target, poisoned(8, self.spec).cpu())

    def test_context_of_another_width(self, target: Target) -> None:
        context = self.batch.metadata(self.spec).ngram_context
        self.refuse(target, context=torch.cat([context, context[:, :1]], dim=1))
        self.refuse(target, context=context[:, :1].contiguous())


@on_gpu
@pytest.mark.parametrize("with_out", [True, False], ids=["out", "no out"])
@pytest.mark.parametrize("is_decode", [True, False], ids=["decode", "prefill"])
def test_graph_replays_with_changed_inputs(target: Target, is_decode: bool, with_out: bool) -> None:
    """Captured after an eager call of the same shape; between replays, calls of many other shapes."""
    spec = make_spec(3, 8)
    case = target.hash_case(spec, hash_device())
    lens = [1] * 9 if is_decode else [3, 1, 5]
    meta = HashBatch.random(spec, lens).metadata(spec, torch.int32, is_decode)
    case.row_ids(meta)
    out = poisoned(9, spec) if with_out else None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = case.row_ids(meta, out)
    for replay in range(3):
        reuse_memory_of_dropped_tensors(case, spec)
        batch = HashBatch.random(spec, lens[::-1] if replay else lens, seed=replay + 1)
        changed = batch.metadata(spec, torch.int32, is_decode)
        meta.input_ids.copy_(changed.input_ids)
        meta.ngram_context.copy_(changed.ngram_context)
        meta.cu_seqlens.copy_(changed.cu_seqlens)
        result.fill_(-(2**62))
        graph.replay()
        assert torch.equal(result, batch.expected(spec))


def reuse_memory_of_dropped_tensors(case: HashCase, spec: HashSpec) -> None:
    """Push whatever is remembered by shape out of any cache, then write over memory that was freed."""
    for tokens in range(100, 180):
        case.row_ids(HashBatch.random(spec, [tokens]).metadata(spec))
    torch.cuda.synchronize()
    keep = [torch.full((n,), 77, dtype=torch.int32, device="cuda") for n in range(1, 600)]
    torch.cuda.synchronize()
    del keep


@on_gpu
@pytest.mark.parametrize("value", ["0", "false"])
def test_the_switch_goes_back_to_the_reference(
    target: Target, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec(3, 8)
    batch = HashBatch.random(spec, [3, 1, 4])
    meta = batch.metadata(spec)
    case = target.hash_case(spec, hash_device())
    monkeypatch.setenv("FREETOKEN_PLE_FUSED_HASH", value)
    assert len(count_launches(lambda: case.row_ids(meta))) > 1
    assert torch.equal(case.row_ids(meta), batch.expected(spec))
