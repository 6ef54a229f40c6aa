"""What the model calls: contexts that roll forward, and checks of what goes in."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ple_engine.hash_spec import HashSpec
from ple_engine.hashing import NGramEmbedding, PLEMetadata, fused_hash_enabled, roll_context
from ple_engine.oracle import row_ids_of_request
from ple_engine.ple_hash import HashConstants, ple_row_ids
from shard_files import small_spec

CPU = torch.device("cpu")


def metadata(contexts: list[list[int]], requests: list[list[int]], is_decode: bool = False) -> PLEMetadata:
    lens = [len(r) for r in requests]
    ids = torch.tensor([t for r in requests for t in r], dtype=torch.int64)
    return PLEMetadata(ids, torch.tensor([0, *lens]).cumsum(0), lens, torch.tensor(contexts), is_decode)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), width=st.integers(1, 3))
def test_the_rolled_context_is_the_last_tokens(data: st.DataObject, width: int) -> None:
    token = st.integers(0, 99)
    contexts = data.draw(
        st.lists(st.lists(token, min_size=width, max_size=width), min_size=1, max_size=4), label="contexts"
    )
    requests = [data.draw(st.lists(token, max_size=5)) for _ in contexts]
    rolled = roll_context(metadata(contexts, requests))
    assert rolled.tolist() == [[*c, *r][-width:] for c, r in zip(contexts, requests, strict=True)]


def test_the_context_rolls_in_place() -> None:
    meta = metadata([[1, 2], [3, 4]], [[5], [6]], is_decode=True)
    assert roll_context(meta, out=meta.ngram_context) is meta.ngram_context
    assert meta.ngram_context.tolist() == [[2, 5], [4, 6]]


def test_decoding_token_by_token_hashes_as_one_prefill() -> None:
    spec = small_spec()
    tokens = [3, 5, 8, 8, 5, 1, 2, 9]
    embedding = NGramEmbedding(spec, CPU)
    context = torch.full((1, 2), spec.eos_token_id)
    rows = []
    for token in tokens:
        meta = PLEMetadata(torch.tensor([token]), torch.tensor([0, 1]), [1], context, True)
        rows += embedding.row_ids(meta).tolist()
        roll_context(meta, out=context)
    assert rows == row_ids_of_request(spec, [spec.eos_token_id] * 2, tokens)


def test_row_ids_on_the_cpu_checks_out() -> None:
    embedding = NGramEmbedding(small_spec(), CPU)
    meta = metadata([[1, 2]], [[3]], is_decode=True)
    with pytest.raises(ValueError, match="shape"):
        embedding.row_ids(meta, out=torch.zeros(2, 16, dtype=torch.int64))


@pytest.mark.parametrize(("value", "fused"), [("0", False), ("false", False), ("False", False), ("1", True)])
def test_the_switch(monkeypatch: pytest.MonkeyPatch, value: str, fused: bool) -> None:
    monkeypatch.setenv("FREETOKEN_PLE_FUSED_HASH", value)
    assert fused_hash_enabled() is fused


def refuse(spec: HashSpec, match: str, **changes: torch.Tensor | None) -> None:
    fitting = {
        "input_ids": torch.tensor([1, 2, 3]),
        "ngram_context": torch.tensor([[1, 2], [3, 4]]),
        "cu_seqlens": torch.tensor([0, 1, 3]),
    }
    with pytest.raises(ValueError, match=match):
        ple_row_ids(**{**fitting, **changes}, constants=HashConstants.on(spec, CPU))  # type: ignore[arg-type]


def test_inputs_that_do_not_fit_are_refused_with_their_name() -> None:
    spec = small_spec()
    refuse(spec, "input_ids is torch.float32", input_ids=torch.tensor([1.0, 2, 3]))
    refuse(spec, "input_ids has shape", input_ids=torch.tensor([[1, 2, 3]]))
    refuse(spec, "input_ids has strides", input_ids=torch.arange(6)[::2])
    refuse(spec, "input_ids is on meta", input_ids=torch.zeros(3, dtype=torch.int64, device="meta"))
    refuse(spec, "ngram_context has 3 columns", ngram_context=torch.zeros(2, 3, dtype=torch.int64))
    refuse(spec, "cu_seqlens has 2 entries", cu_seqlens=torch.tensor([0, 3]))
    refuse(spec, "decode is one token a request", cu_seqlens=None)
    refuse(
        spec,
        "no request",
        ngram_context=torch.zeros(0, 2, dtype=torch.int64),
        cu_seqlens=torch.tensor([0]),
    )
