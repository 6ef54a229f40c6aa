"""One streamed chat completion from an OpenAI-compatible server, and when its tokens came."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from stackmerge.errors import StackmergeError
from stackmerge.forge.http import in_words

_HINT = "is it an OpenAI-compatible server?"


@dataclass(frozen=True)
class Streamed:
    """What came: ``tokens`` as the server counts them (else pieces), seconds to the first piece, and to the last."""

    tokens: int
    pieces: int
    first_s: float
    last_s: float

    @property
    def decode_per_s(self) -> float:
        """Tokens after the first, by the time after the first."""
        return (self.tokens - 1) / (self.last_s - self.first_s) if self.last_s > self.first_s else 0.0


def request(model: str, prompt: str, tokens: int) -> dict[str, object]:
    """The body of a request for exactly ``tokens`` tokens."""
    return {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": tokens,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def endpoint(url: str) -> str:
    """Where chat completions are, for an address with or without its ``/v1``."""
    bare = url.rstrip("/")
    return bare + ("/chat/completions" if bare.rpartition("/")[2].startswith("v") else "/v1/chat/completions")


def streamed(client: httpx.Client, url: str, body: dict[str, object]) -> Streamed:
    """Ask for one completion and time its stream. Raises StackmergeError where there is none."""
    started = time.perf_counter()
    first = last = 0.0
    pieces = counted = 0
    try:
        with client.stream("POST", endpoint(url), json=body) as answer:
            if not answer.is_success:
                answer.read()
                raise StackmergeError(f"the server refused: status {answer.status_code}: {_said(answer)}", "")
            for event in _events(answer.iter_lines()):
                counted = _counted(event) or counted
                if _text(event):
                    last = time.perf_counter() - started
                    first = first or last
                    pieces += 1
    except httpx.HTTPError as error:
        raise StackmergeError(
            f"{url} cannot be reached ({in_words(error)})", "is the server running?"
        ) from None
    if not pieces:
        raise StackmergeError(f"{url} streamed no text", "is it a chat model, and does the server stream?")
    return Streamed(counted or pieces, pieces, first, last)


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The JSON of each `data:` line, until `[DONE]`. Raises StackmergeError for an error in the stream."""
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise StackmergeError("the stream holds a line that is no JSON", _HINT) from None
        if not isinstance(event, dict):
            raise _strange(data)
        if event.get("error"):
            raise StackmergeError(f"the server gave up: {str(event['error'])[:200]}", "")
        yield event


def _counted(event: dict[str, Any]) -> int:
    """The tokens that the server says it has made; 0 where it does not say."""
    usage = event.get("usage") or {}
    count = (usage.get("completion_tokens") or 0) if isinstance(usage, dict) else None
    if not isinstance(count, int):
        raise _strange(json.dumps(event))
    return count


def _text(event: dict[str, Any]) -> bool:
    """Does an event bring text: an answer, or a model's reasoning before it?"""
    choices = event.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise _strange(json.dumps(event))
    deltas = [choice.get("delta") or {} for choice in choices]
    if not all(isinstance(delta, dict) for delta in deltas):
        raise _strange(json.dumps(event))
    return any(delta.get(name) for delta in deltas for name in ("content", "reasoning_content", "reasoning"))


def _strange(data: str) -> StackmergeError:
    return StackmergeError(f"the stream holds what is no chunk of a chat completion: {data[:80]}", _HINT)


def _said(answer: httpx.Response) -> str:
    try:
        found = answer.json()
        error = found.get("error", found)
        return str(error.get("message", error) if isinstance(error, dict) else error)[:200]
    except (ValueError, AttributeError):
        return answer.text[:200]
