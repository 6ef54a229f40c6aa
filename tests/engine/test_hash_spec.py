"""The hash's constants, against published numbers and arithmetic."""

from __future__ import annotations

import pytest
from ple_engine.hash_spec import HashSpec, splitmix64

GAMMA = 0x9E3779B97F4A7C15


def test_splitmix64_gives_the_published_sequence_of_seed_0() -> None:
    states = [i * GAMMA % 2**64 for i in range(3)]
    assert [splitmix64(s) for s in states] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_head_j_of_layer_l_has_its_own_prime() -> None:
    primes = [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    for layer in range(3):
        spec = HashSpec.derive(
            vocab_size=100, ngram_vocab_size_base=11, ngram_size=3, heads_per_ngram=2, layer=layer
        )
        assert list(spec.vocab_sizes) == primes[4 * layer : 4 * layer + 4]


def test_offsets_are_the_running_sum() -> None:
    spec = HashSpec.derive(vocab_size=100, ngram_vocab_size_base=10, ngram_size=2, heads_per_ngram=4)
    assert spec.offsets == (0, 11, 24, 41)
    assert spec.num_rows == 11 + 13 + 17 + 19


def test_multipliers_are_odd_and_keep_products_below_2_to_63() -> None:
    for layer in range(4):
        spec = HashSpec.derive(vocab_size=151_936, ngram_vocab_size_base=11, ngram_size=4, layer=layer)
        assert all(m % 2 == 1 and 0 < m * 151_935 < 2**63 for m in spec.multipliers)


def test_multipliers_follow_the_formula() -> None:
    spec = HashSpec.derive(vocab_size=1000, ngram_vocab_size_base=11, layer=2, seed=7)
    half = (2**63 - 1) // 1000 // 2
    expected = [2 * (splitmix64((7 + 20014 + GAMMA * (i + 1)) % 2**64) % half) + 1 for i in range(3)]
    assert list(spec.multipliers) == expected


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ngram_size": 1}, "ngram_size"),
        ({"multipliers": (1, 3)}, "multipliers"),
        ({"multipliers": (1, 3, 4)}, "odd"),
        ({"vocab_sizes": (11,)}, "vocab_sizes"),
        ({"offsets": (0, -1)}, "negative"),
    ],
)
def test_a_wrong_spec_is_refused(change: dict[str, object], word: str) -> None:
    fields = {"ngram_size": 3, "heads_per_ngram": 1, "eos_token_id": 0, "multipliers": (1, 3, 5)}
    with pytest.raises(ValueError, match=word):
        HashSpec(**{**fields, "vocab_sizes": (11, 13), "offsets": (0, 11), **change})  # type: ignore[arg-type]
