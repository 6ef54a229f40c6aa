"""The token of a forge: where it comes from, and that it never shows."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from urllib.parse import urlsplit

from stackmerge.errors import StackmergeError

_NAMES = {
    "github": ("GH_TOKEN", "GITHUB_TOKEN"),
    "enterprise": ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    "gitlab": ("GITLAB_TOKEN",),
    "gitea": ("GITEA_TOKEN", "FORGEJO_TOKEN"),
}
_USERS = {"github": "x-access-token", "gitlab": "oauth2", "gitea": "oauth2"}
_LOCAL = ("127.0.0.1", "::1", "localhost")


class Token:
    """A secret: it shows as stars wherever it is printed."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def hidden(self, text: str) -> str:
        """``text`` without the secret."""
        return text.replace(self._value, "***") if self._value else text

    def __repr__(self) -> str:
        return "Token(***)"


def find(forge: str, host: str, whole: bool = True) -> Token:
    """The token for a host, as ``look`` does. Raises StackmergeError without one."""
    found = look(forge, host, whole)
    if found is None:
        hint = f"set {_names(forge, host, whole)[0]}"
        hint += ", or log in with `gh auth login`" if forge == "github" else ""
        raise StackmergeError(f"there is no token for {host}", hint)
    return found


def look(forge: str, host: str, whole: bool = True) -> Token | None:
    """The token for a host: from the environment, for GitHub also from `gh`.

    ``whole``: the API and the remote are both there. Raises StackmergeError for a token that cannot be one.
    """
    for name in _names(forge, host, whole):
        value = os.environ.get(name, "").strip()
        if value:
            return Token(checked(value, name))
    found = _from_gh(host) if forge == "github" else ""
    return Token(checked(found, "`gh auth token`")) if found else None


def checked(value: str, source: str) -> str:
    """A secret that can be sent in a header. Raises StackmergeError, without it, naming its source."""
    if not re.fullmatch(r"[!-~]+", value):
        raise StackmergeError(
            f"{source} gives no token: it holds a line end, a space or a character that is not ASCII",
            "give the token alone, on one line",
        )
    return value


def _names(forge: str, host: str, whole: bool) -> tuple[str, ...]:
    """The variables that may hold a host's token. That of github.com is for a forge on this machine too, as a whole."""
    own = host == "github.com" or (whole and host in _LOCAL)
    return _NAMES["enterprise" if forge == "github" and not own else forge]


def _from_gh(host: str) -> str:
    """The token that `gh` keeps for a host; not one of the environment, which it would give for other hosts too."""
    tokens = {name for names in _NAMES.values() for name in names}
    environment = {name: value for name, value in os.environ.items() if name not in tokens}
    try:
        done = subprocess.run(
            ["gh", "auth", "token", "--hostname", host],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def safe_for(url: str) -> bool:
    """May a secret be sent to this address: over TLS, or to this machine?"""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)


def for_git(token: Token | None, forge: str, url: str) -> dict[str, str]:
    """Settings, by environment, that make git send the token to the host of ``url``, and there alone; none for SSH.

    git sends an extra header on to wherever it is redirected, so it may follow no redirect.
    """
    parts = urlsplit(url)
    if token is None or parts.scheme not in ("http", "https") or not safe_for(url):
        return {}
    pair = base64.b64encode(f"{_USERS[forge]}:{token.reveal()}".encode()).decode()
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdigit() else 0  # ours come after the user's own
    return {
        "GIT_CONFIG_COUNT": str(first + 2),
        f"GIT_CONFIG_KEY_{first}": f"http.{place}.extraHeader",
        f"GIT_CONFIG_VALUE_{first}": f"Authorization: Basic {pair}",
        f"GIT_CONFIG_KEY_{first + 1}": f"http.{place}.followRedirects",
        f"GIT_CONFIG_VALUE_{first + 1}": "false",
        "GIT_TERMINAL_PROMPT": "0",
    }
