"""Rate limits, by GitHub's documentation of them: what is waited for, and how long, on a clock of our own."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from stackmerge.errors import StackmergeError
from stackmerge.forge.github import GitHub
from stackmerge.forge.pace import Pace
from stackmerge.forge.token import Token
from tests.publish import contract

SECRET = "ghp_veryverysecret"
Answer = Callable[[httpx.Request], httpx.Response]


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.at = 1_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds
        self.slept.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def github(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, answer: Answer, told: list[str] | None = None
) -> GitHub:
    """GitHub whose answers come from ``answer``."""
    real = httpx.Client

    def client(**options: object) -> httpx.Client:
        return real(**options, transport=httpx.MockTransport(answer))  # type: ignore[arg-type]

    monkeypatch.setattr(httpx, "Client", client)
    tell = told.append if told is not None else lambda _: None
    pace = Pace(tell, clock.now, clock.sleep)
    return GitHub("https://api.github.com", "keeper/fork", Token(SECRET), tell, pace)


def pull() -> httpx.Response:
    return httpx.Response(200, json=contract.sample("pull-request"))


def refused(status: int, message: str = "nope", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"message": message}, headers=named)


@pytest.mark.parametrize(
    ("refusal", "waits"),
    [
        (refused(429, retry_after="30"), [30.0]),
        (refused(403, retry_after="7"), [7.0]),
        (refused(403, x_ratelimit_remaining="0", x_ratelimit_reset="1000120"), [121.0]),
        (refused(429), [60.0]),
        (refused(403, "You have exceeded a secondary rate limit"), [60.0]),
    ],
)
def test_it_waits_as_long_as_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, refusal: httpx.Response, waits: list[float]
) -> None:
    answers = [refusal, pull()]
    told: list[str] = []
    assert github(monkeypatch, clock, lambda _: answers.pop(0), told).get(1) is not None
    assert clock.slept == waits
    assert told == [f"api.github.com limits the rate of requests: waiting {waits[0]:.0f} s"]


def test_it_waits_longer_each_time_and_gives_up(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(StackmergeError, match=r"refused GET /repos/keeper/fork/pulls/1: nope"):
        github(monkeypatch, clock, lambda _: refused(429)).get(1)
    assert clock.slept == [60.0, 120.0, 240.0]


def test_it_does_not_wait_for_hours(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(StackmergeError, match="allows nothing for 120 minutes"):
        github(monkeypatch, clock, lambda _: refused(403, retry_after="7200")).get(1)
    assert clock.slept == []


def test_a_plain_403_is_no_rate_limit(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(StackmergeError, match="Resource not accessible by personal access token"):
        github(
            monkeypatch, clock, lambda _: refused(403, "Resource not accessible by personal access token")
        ).get(1)
    assert clock.slept == []


def test_no_more_than_80_writes_a_minute_and_500_an_hour(clock: Clock) -> None:
    """Source: GitHub's documentation of secondary rate limits."""
    pace = Pace(lambda _: None, clock.now, clock.sleep)
    written = []
    for _ in range(600):
        pace.before_write()
        written.append(clock.at)
        clock.at += 0.1
    for window, most in ((60.0, 80), (3600.0, 500)):
        busiest = max(sum(start <= at < start + window for at in written) for start in written)
        assert busiest == most


def test_a_failing_server_is_tried_again_but_nothing_is_opened_twice(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        return httpx.Response(502) if len(asked) < 3 else pull()

    hub = github(monkeypatch, clock, answer)
    assert hub.get(1) is not None
    assert asked == ["GET"] * 3
    asked.clear()
    with pytest.raises(StackmergeError, match=r"refused POST .*: status 502"):
        hub._http.send("POST", "/x", {})
    assert asked == ["POST"]


def test_a_lost_connection(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        raise httpx.ConnectError(f"no route to {SECRET}")

    hub = github(monkeypatch, clock, answer)
    for call, count in ((lambda: hub.get(1), 4), (lambda: hub._http.send("POST", "/x", {}), 1)):
        asked.clear()
        with pytest.raises(StackmergeError, match=r"api\.github\.com cannot be reached") as caught:
            call()
        assert len(asked) == count
        assert SECRET not in caught.value.message + caught.value.hint


def test_a_request_that_cannot_be_made_is_not_quoted(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError(f"Illegal header value b'Bearer {SECRET[:4]}\\n'")

    with pytest.raises(StackmergeError) as caught:
        github(monkeypatch, clock, answer)._http.send("POST", "/x", {})
    assert caught.value.message == "api.github.com cannot be reached (LocalProtocolError)"


def test_the_token_is_in_the_header_and_nowhere_else(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(422, json={"message": f"bad {SECRET}", "errors": [{"message": SECRET}, SECRET]})

    hub = github(monkeypatch, clock, answer)
    with pytest.raises(StackmergeError) as caught:
        hub.get(1)
    assert seen[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in str(seen[0].url) + seen[0].content.decode()
    assert SECRET not in caught.value.message + caught.value.hint + repr(caught.value)
    assert "***" in caught.value.message
    assert SECRET not in repr(Token(SECRET)) + str(Token(SECRET)) + json.dumps(repr(vars(hub)), default=repr)


def test_a_token_is_not_sent_without_tls() -> None:
    with pytest.raises(StackmergeError, match="has no TLS"):
        GitHub("http://ghe.example.com/api/v3", "keeper/fork", Token(SECRET))
