"""Which forge a remote is on, by the addresses that git takes, and which token goes there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.forge import token
from stackmerge.forge.find import Place, place, tokens_for
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
    assert place(Publishing(forge="gitea"), "ssh://git@[::1]:22/o/r.git").api == "https://[::1]/api/v1"
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


@pytest.mark.parametrize(
    "value", ["ghp_SECRET\nghp_OTHER", "ghp_SECRET OTHER", "ghp_S\xc9CRET", "ghp_\x07SECRET"]
)
def test_what_cannot_be_a_token_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("GH_TOKEN", value)
    with pytest.raises(StackmergeError, match=r"^GH_TOKEN gives no token: it holds a line end, ") as caught:
        token.find("github", "github.com")
    assert "SECRET" not in caught.value.message + caught.value.hint
    assert "OTHER" not in caught.value.message + caught.value.hint
    monkeypatch.delenv("GH_TOKEN")
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    program = tmp_path / "gh"
    program.write_text("#!/bin/sh\nprintf 'one\\ntwo\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(StackmergeError, match=r"^`gh auth token` gives no token: "):
        token.find("github", "github.com")


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


def test_gh_is_not_given_the_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would say it for a host of its own choice, and we look there first anyway."""
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\necho "$GH_TOKEN"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GH_TOKEN", "secret")
    assert token.look("github", "acme.ghe.com") is None


HUB, OWN = "https://github.com/a/b.git", "https://git.example.com/a/b.git"


@pytest.mark.parametrize(
    ("url", "api", "expected"),
    [
        (HUB, "", ("hub", "hub")),
        (HUB, "https://api.github.com", ("hub", "hub")),
        (OWN, "https://git.example.com:8443/api/v3", ("own", "own")),
        (HUB, "https://api.example.com/v3", ("own", "hub")),
        (HUB, "http://127.0.0.1:80/api", ("own", "hub")),
        (OWN, "https://api.github.com", ("hub", "own")),
        ("http://127.0.0.1/a/b", "https://api.github.com", ("hub", "own")),
        (OWN, "https://other.example.com/api/v3", ("own", None)),
        ("/srv/b", "https://git.example.com/api/v3", ("own", None)),
    ],
)
def test_the_api_and_git_get_the_tokens_of_their_own_hosts(
    monkeypatch: pytest.MonkeyPatch, url: str, api: str, expected: tuple[str, str | None]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("GH_TOKEN", "hub")
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "own")
    found = tokens_for(place(Publishing(forge="github", repository="a/b", api=api), url))
    assert (found.api.reveal(), found.git.reveal() if found.git else None) == expected


def test_without_a_token_for_the_apis_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("GH_TOKEN", "hub")
    monkeypatch.delenv("GH_ENTERPRISE_TOKEN", raising=False)
    monkeypatch.delenv("GITHUB_ENTERPRISE_TOKEN", raising=False)
    with pytest.raises(StackmergeError, match=r"there is no token for evil\.example"):
        tokens_for(place(Publishing(api="https://evil.example/api/v3"), HUB))


@pytest.mark.parametrize("url", ["https://[bad/o/r", "https://me:secret@host:port/o/r"])
def test_an_address_that_cannot_be_read(url: str) -> None:
    with pytest.raises(UsageError, match=r"^the address of the remote 'origin' cannot be read$") as caught:
        place(Publishing(forge="github"), url)
    assert "git remote get-url" in caught.value.hint


@pytest.mark.parametrize("api", ["https://[bad/api", "https://host:99999/api", "https:///api"])
def test_an_api_that_is_no_address(api: str) -> None:
    with pytest.raises(UsageError, match="is no address of an API"):
        place(Publishing(forge="github", api=api), HUB)


@pytest.mark.parametrize(
    "url", ["git@github.com:a/b.git", "ssh://git@github.com/a/b", "http://github.com/a/b", "/srv/b"]
)
def test_git_gets_no_token_where_it_takes_none_or_there_is_no_tls(url: str) -> None:
    assert for_git(Token("secret"), "github", url) == {}
    assert for_git(None, "github", "https://github.com/a/b") == {}


def test_git_gets_the_token_for_that_host_alone() -> None:
    found = for_git(Token("secret"), "github", "https://someone@github.com/a/b.git")
    assert found["GIT_CONFIG_KEY_0"] == "http.https://github.com/.extraHeader"
    assert found["GIT_CONFIG_KEY_1"] == "http.https://github.com/.followRedirects"
    assert (found["GIT_CONFIG_VALUE_1"], found["GIT_CONFIG_COUNT"]) == ("false", "2")
