"""The n-gram hash as plain numbers: which constants it has and how they are derived."""

from __future__ import annotations

import math
from dataclasses import dataclass

_MASK64 = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_LAYER_STRIDE = 10007
_MAX_PRODUCT = (1 << 63) - 1


@dataclass(frozen=True)
class HashSpec:
    """Constants of one PLE layer's hash.

    ngram_size       n; orders 2..n are hashed
    heads_per_ngram  heads of each order; heads are laid out order by order
    eos_token_id     the boundary token, which no n-gram crosses
    multipliers      n odd positive integers; token id times multiplier stays below 2^63
    vocab_sizes      rows of each head's table
    offsets          first row of each head in the joint table
    """

    ngram_size: int
    heads_per_ngram: int
    eos_token_id: int
    multipliers: tuple[int, ...]
    vocab_sizes: tuple[int, ...]
    offsets: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.ngram_size < 2 or self.heads_per_ngram < 1:
            raise ValueError(
                f"hash spec: ngram_size {self.ngram_size} and heads_per_ngram {self.heads_per_ngram}; "
                "need at least 2 and 1"
            )
        if len(self.multipliers) != self.ngram_size:
            raise ValueError(
                f"hash spec: {len(self.multipliers)} multipliers, ngram_size {self.ngram_size}; need as many"
            )
        if len(self.vocab_sizes) != self.num_heads or len(self.offsets) != self.num_heads:
            raise ValueError(
                f"hash spec: {len(self.vocab_sizes)} vocab_sizes and {len(self.offsets)} offsets; "
                f"heads_per_ngram {self.heads_per_ngram} times {self.ngram_size - 1} orders needs "
                f"{self.num_heads} of each"
            )
        if any(m <= 0 or m % 2 == 0 for m in self.multipliers):
            raise ValueError(f"hash spec: multipliers {self.multipliers} must be odd and positive")
        if any(v < 2 for v in self.vocab_sizes) or any(o < 0 for o in self.offsets):
            raise ValueError("hash spec: vocab_sizes must be at least 2 and offsets must not be negative")

    @property
    def num_heads(self) -> int:
        return self.heads_per_ngram * (self.ngram_size - 1)

    @property
    def context_len(self) -> int:
        """Tokens to the left of a request's first token that the hash can see."""
        return self.ngram_size - 1

    @property
    def num_rows(self) -> int:
        """Rows that the joint table must have: one past the highest row the hash addresses."""
        return max(o + v for o, v in zip(self.offsets, self.vocab_sizes, strict=True))

    @property
    def max_token_id(self) -> int:
        """Largest token id whose product with every multiplier stays below 2^63."""
        return _MAX_PRODUCT // max(self.multipliers)

    @classmethod
    def derive(
        cls,
        *,
        vocab_size: int,
        ngram_vocab_size_base: int,
        ngram_size: int = 3,
        heads_per_ngram: int = 8,
        eos_token_id: int = 0,
        layer: int = 0,
        seed: int = 1234,
    ) -> HashSpec:
        """The constants of PLE layer `layer` for a checkpoint that does not ship them.

        Head j of layer l gets the (l * num_heads + j + 1)-th prime from `ngram_vocab_size_base` on.
        """
        num_heads = heads_per_ngram * (ngram_size - 1)
        primes = _primes_from(ngram_vocab_size_base, (layer + 1) * num_heads)[layer * num_heads :]
        half = max(1, _MAX_PRODUCT // vocab_size // 2)
        base = seed + _LAYER_STRIDE * layer
        multipliers = tuple(2 * (splitmix64(base + _GAMMA * (i + 1)) % half) + 1 for i in range(ngram_size))
        offsets = tuple(sum(primes[:j]) for j in range(num_heads))
        return cls(ngram_size, heads_per_ngram, eos_token_id, multipliers, tuple(primes), offsets)


def splitmix64(value: int) -> int:
    """One output of the splitmix64 generator (Steele, Lea and Flood, 2014) from state `value`."""
    value = (value + _GAMMA) & _MASK64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK64
    return value ^ (value >> 31)


def _primes_from(start: int, count: int) -> list[int]:
    primes: list[int] = []
    candidate = max(start, 2)
    while len(primes) < count:
        if _is_prime(candidate):
            primes.append(candidate)
        candidate += 1
    return primes


def _is_prime(value: int) -> bool:
    if value % 2 == 0:
        return value == 2
    return value > 2 and all(value % d for d in range(3, math.isqrt(value) + 1, 2))
