"""Which forge a remote is on, by the addresses that git takes, and which token goes there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.forge import token
from stackmerge.forge.find import Place, place
from stackmerge.forge.token import Token, for_git
from stackmerge.publishing import Publishing

NONE = Publishing()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "https://github.com/keeper/fork.git",
            ("github", "github.com", "keeper/fork", "https://api.github.com"),
        ),
        ("https://github.com/keeper/fork", ("github", "github.com", "keeper/fork", "https://api.github.com")),
        ("git@github.com:keeper/fork.git", ("github", "github.com", "keeper/fork", "https://api.github.com")),
        (
            "ssh://git@github.com:22/keeper/fork",
            ("github", "github.com", "keeper/fork", "https://api.github.com"),
        ),
        (
            "https://gitlab.com/g/sub/fork.git",
            ("gitlab", "gitlab.com", "g/sub/fork", "https://gitlab.com/api/v4"),
        ),
        ("git@codeberg.org:a/b.git", ("gitea", "codeberg.org", "a/b", "https://codeberg.org/api/v1")),
    ],
)
def test_known_hosts(url: str, expected: tuple[str, str, str, str]) -> None:
    assert place(NONE, url) == Place(*expected)


def test_an_own_host_must_be_told() -> None:
    url = "https://git.example.com:8443/team/fork.git"
    with pytest.raises(UsageError, match=r"which forge is git\.example\.com\?"):
        place(NONE, url)
    assert place(NONE, url, "github").api == "https://git.example.com:8443/api/v3"
    assert place(Publishing(forge="gitea"), url).api == "https://git.example.com:8443/api/v1"
    assert place(Publishing(forge="gitea", api="https://x.example/v1"), url).api == "https://x.example/v1"
    with pytest.raises(UsageError, match="names no OWNER/NAME"):
        place(Publishing(forge="github"), "/srv/fork")
    assert (
        place(Publishing(forge="github", repository="a/b", api="https://x.example"), "/srv/fork").repository
        == "a/b"
    )


@pytest.mark.parametrize(
    ("kind", "host", "name"),
    [
        ("github", "github.com", "GH_TOKEN"),
        ("github", "github.com", "GITHUB_TOKEN"),
        ("github", "ghe.example.com", "GH_ENTERPRISE_TOKEN"),
        ("gitlab", "gitlab.com", "GITLAB_TOKEN"),
        ("gitea", "codeberg.org", "FORGEJO_TOKEN"),
    ],
)
def test_tokens_of_the_environment(monkeypatch: pytest.MonkeyPatch, kind: str, host: str, name: str) -> None:
    for one in [one for names in token._NAMES.values() for one in names]:
        monkeypatch.delenv(one, raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StackmergeError, match=f"there is no token for {host}"):
        token.find(kind, host)
    monkeypatch.setenv(name, " secret\n")
    assert token.find(kind, host).reveal() == "secret"


def test_the_token_of_github_com_is_not_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "secret")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StackmergeError, match="there is no token"):
        token.find("github", "ghe.example.com")


def test_gh_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname ghe.example.com" ] && echo from-gh\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("GH_ENTERPRISE_TOKEN", raising=False)
    assert token.find("github", "ghe.example.com").reveal() == "from-gh"


@pytest.mark.parametrize(
    "url", ["git@github.com:a/b.git", "ssh://git@github.com/a/b", "http://github.com/a/b", "/srv/b"]
)
def test_git_gets_no_token_where_it_takes_none_or_there_is_no_tls(url: str) -> None:
    assert for_git(Token("secret"), "github", url) == {}


def test_git_gets_the_token_for_that_host_alone() -> None:
    found = for_git(Token("secret"), "github", "https://someone@github.com/a/b.git")
    assert found["GIT_CONFIG_KEY_0"] == "http.https://github.com/.extraHeader"
    assert found["GIT_CONFIG_KEY_1"] == "http.https://github.com/.followRedirects"
    assert (found["GIT_CONFIG_VALUE_1"], found["GIT_CONFIG_COUNT"]) == ("false", "2")
