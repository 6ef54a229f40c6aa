"""What a gate sees of the caller's environment."""

from __future__ import annotations

import os

import pytest

from stackmerge.gate.environment import environment

SECRETS = {
    "MYSQL_PWD": "word",
    "OPENAI_KEY": "word",
    "SIGNING_KEY": "word",
    "DB_PASS": "word",
    "ADO_PAT": "word",
    "SLACK_WEBHOOK_URL": "https://hooks.slack.example/services/T/B/word",
    "SENTRY_DSN": "https://word@sentry.example/1",
    "DATABASE_URL": "postgres://user:word@db.example/name",
    "REDIS_URL": "redis://:word@cache.example:6379/0",
    "PIP_INDEX_URL": "https://user:word@pypi.example/simple",
    "AWS_SESSION_TOKEN": "word",
}
PLAIN = {
    "PWD": "/home/ada/fork",
    "OLDPWD": "/home/ada",
    "KEYBOARD": "us",
    "DATABASE_URL": "postgres://db.example:5432/name",
    "PIP_INDEX_URL": "https://pypi.example:8443/@scope/simple",
    "PATTERN": "a:b@c",
    "PATH": "/bin",
    "PYTHONPATH": "/src",
}


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_seen_by_no_gate_that_does_not_ask_for_it(empty: pytest.MonkeyPatch, name: str) -> None:
    empty.setenv(name, SECRETS[name])
    assert name not in environment()
    assert environment([name])[name] == SECRETS[name]


def test_what_is_no_secret_stays(empty: pytest.MonkeyPatch) -> None:
    for name, value in PLAIN.items():
        empty.setenv(name, value)
    seen = {name: value for name, value in environment().items() if name != "PYTEST_CURRENT_TEST"}
    assert seen == {**PLAIN, "COLUMNS": "100"}


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("http://user:word@proxy.example:3128", "http://proxy.example:3128"),
        ("socks5h://user:wo@rd@proxy.example", "socks5h://proxy.example"),
        ("user:word@proxy.example:3128", "proxy.example:3128"),
        ("http://proxy.example:3128/", "http://proxy.example:3128/"),
        ("localhost,.example.com", "localhost,.example.com"),
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_stays_without_its_user(empty: pytest.MonkeyPatch, name: str, given: str, seen: str) -> None:
    empty.setenv(name, given)
    assert environment()[name] == seen
