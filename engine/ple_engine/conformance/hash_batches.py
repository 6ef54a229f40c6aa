"""Batches for the hash tests, and what the plain-integer oracle says of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ple_engine.conformance.device import hash_device
from ple_engine.hash_spec import HashSpec
from ple_engine.hashing import PLEMetadata
from ple_engine.oracle import row_ids_of_batch

EOS = 5
VOCAB = 1000
PRIMES_FROM = {"small": 30, "real": 20_000_011, "beyond 32 bits": (1 << 33) + 1}


def make_spec(ngram_size: int, heads_per_ngram: int, primes: str = "real") -> HashSpec:
    return HashSpec.derive(
        vocab_size=VOCAB,
        ngram_vocab_size_base=PRIMES_FROM[primes],
        ngram_size=ngram_size,
        heads_per_ngram=heads_per_ngram,
        eos_token_id=EOS,
    )


@dataclass(frozen=True)
class HashBatch:
    """Requests and their contexts, as plain numbers."""

    contexts: Sequence[Sequence[int]]
    requests: Sequence[Sequence[int]]

    @classmethod
    def random(cls, spec: HashSpec, lens: Sequence[int], seed: int = 0) -> HashBatch:
        """Every fourth token or so is a boundary."""
        draw = random.Random(seed)

        def tokens(count: int) -> list[int]:
            return [EOS if draw.random() < 0.25 else draw.randrange(VOCAB) for _ in range(count)]

        return cls([tokens(spec.context_len) for _ in lens], [tokens(n) for n in lens])

    @property
    def lens(self) -> list[int]:
        return [len(request) for request in self.requests]

    def metadata(
        self, spec: HashSpec, dtype: torch.dtype = torch.int64, is_decode: bool = False
    ) -> PLEMetadata:
        device = hash_device()
        flat = [token for request in self.requests for token in request]
        context = torch.tensor(self.contexts, dtype=torch.int64).reshape(len(self.requests), spec.context_len)
        return PLEMetadata(
            input_ids=torch.tensor(flat, dtype=dtype, device=device),
            cu_seqlens=torch.tensor([0, *self.lens]).cumsum(0).to(torch.int32).to(device),
            seq_lens=self.lens,
            ngram_context=context.to(device),
            is_decode=is_decode,
        )

    def expected(self, spec: HashSpec) -> torch.Tensor:
        rows = row_ids_of_batch(spec, self.contexts, self.requests)
        return torch.tensor(rows, dtype=torch.int64, device=hash_device()).reshape(-1, spec.num_heads)


def split(tokens: int) -> list[int]:
    """A ragged batch of `tokens` tokens: empty and one-token requests among longer ones."""
    lens = [0, min(tokens, 1), min(max(tokens - 1, 0), 1), 0, max(tokens - 2, 0) // 3]
    return [*lens, tokens - sum(lens), 0]


def poisoned(tokens: int, spec: HashSpec) -> torch.Tensor:
    return torch.full((tokens, spec.num_heads), -(2**62), dtype=torch.int64, device=hash_device())
