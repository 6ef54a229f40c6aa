"""Measure a server: several runs of streamed requests, every prompt new to it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

import httpx

from stackmerge.errors import UsageError
from stackmerge.forge.address import on_the_web
from stackmerge.forge.token import checked, safe_for
from stackmerge.serving.record import ServedRun
from stackmerge.serving.stream import Streamed, request, streamed

_PROMPT = "Ignore the number {salt}. Tell a long story about a lighthouse, a storm and the people on a ship."


@dataclass(frozen=True)
class Workload:
    """What to ask for: ``tokens`` a request, ``requests`` a run, so many at a time, and how many runs."""

    url: str
    model: str
    tokens: int = 256
    concurrency: int = 1
    requests: int = 4
    runs: int = 3


@dataclass(frozen=True)
class Measured:
    """The runs, and what a person should know of them."""

    runs: tuple[ServedRun, ...]
    notes: tuple[str, ...] = ()


def measure(load: Workload, tell: Callable[[str], None] = lambda _: None) -> Measured:
    """Warm the server up with one request, then run the workload. Raises UsageError for one that makes no sense."""
    if min(load.tokens, load.concurrency, load.requests, load.runs) < 1 or load.tokens < 2:
        raise UsageError("a benchmark has at least one run of one request, of two tokens or more", "")
    if not on_the_web(load.url):
        raise UsageError(f"--url: {load.url!r} is no address", "like http://127.0.0.1:8000/v1")
    with httpx.Client(timeout=httpx.Timeout(600.0, connect=20.0), headers=_headers(load.url)) as client:
        tell("warming up")
        _one(client, load)
        found = []
        for number in range(load.runs):
            tell(f"run {number + 1} of {load.runs}")
            found.append(_run(client, load))
    return Measured(tuple(run for run, _ in found), _notes(load, [one for _, all_ in found for one in all_]))


def _headers(url: str) -> dict[str, str]:
    """The key of the server, from the environment, where it may travel."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    return {"Authorization": f"Bearer {checked(key, 'OPENAI_API_KEY')}"} if key and safe_for(url) else {}


def _one(client: httpx.Client, load: Workload) -> Streamed:
    """One request. Its salt comes first, so that no cache of prefixes helps."""
    salt = secrets.token_hex(8)
    return streamed(
        client, load.url, request(load.model, f"{salt}: {_PROMPT.format(salt=salt)}", load.tokens)
    )


def _run(client: httpx.Client, load: Workload) -> tuple[ServedRun, list[Streamed]]:
    started = time.perf_counter()
    with ThreadPoolExecutor(load.concurrency) as pool:
        waiting = [pool.submit(_one, client, load) for _ in range(load.requests)]
        found = [one.result() for one in waiting]
    seconds = time.perf_counter() - started
    run = ServedRun(
        tokens=sum(one.tokens for one in found),
        seconds=round(seconds, 6),
        first_token_s=tuple(round(one.first_s, 6) for one in found),
        decode_per_s=round(median(one.decode_per_s for one in found), 6),
    )
    return run, found


def _notes(load: Workload, found: list[Streamed]) -> tuple[str, ...]:
    short = sum(one.tokens != load.tokens for one in found)
    if not short:
        return ()
    return (
        f"{short} of {len(found)} answers had not {load.tokens} tokens: the server does not heed `ignore_eos`",
    )
