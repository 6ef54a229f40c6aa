"""Choosing the next token: one row of logits per request."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SamplingParams:
    """How one request wants its tokens chosen. Temperature 0 is greedy."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    max_tokens: int = 256


def sample(
    rows: Sequence[Sequence[float]], params: Sequence[SamplingParams], rng: random.Random
) -> list[int]:
    """The next token of every request."""
    if all(p.temperature == 0 for p in params):
        return [greedy(row) for row in rows]
    return [sample_row(row, p, rng) for row, p in zip(rows, params, strict=True)]


def greedy(row: Sequence[float]) -> int:
    """The likeliest token."""
    return max(range(len(row)), key=row.__getitem__)


def sample_row(row: Sequence[float], params: SamplingParams, rng: random.Random) -> int:
    """One token, drawn from what the filters leave."""
    if params.seed is not None:
        rng = random.Random(params.seed)
    probs = softmax([logit / params.temperature for logit in row])
    probs = keep_top_k(probs, params.top_k)
    probs = keep_top_p(probs, params.top_p)
    return rng.choices(range(len(probs)), weights=probs)[0]


def softmax(row: Sequence[float]) -> list[float]:
    """Probabilities of a row of logits."""
    top = max(row)
    powers = [math.exp(logit - top) for logit in row]
    return [power / sum(powers) for power in powers]


def keep_top_k(probs: Sequence[float], top_k: int) -> list[float]:
    """Zero all but the ``top_k`` likeliest tokens; 0 keeps all."""
    likeliest = sorted(range(len(probs)), key=probs.__getitem__, reverse=True)
    kept = set(likeliest[:top_k] if top_k else likeliest)
    return [p if token in kept else 0.0 for token, p in enumerate(probs)]


def keep_top_p(probs: Sequence[float], top_p: float) -> list[float]:
    """Zero all but the likeliest tokens that together reach ``top_p``."""
    kept, total = [0.0] * len(probs), 0.0
    for token in sorted(range(len(probs)), key=probs.__getitem__, reverse=True):
        if total >= top_p:
            break
        kept[token] = probs[token]
        total += probs[token]
    return kept
