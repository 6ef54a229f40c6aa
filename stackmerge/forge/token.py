"""The token of a forge: where it comes from, and that it never shows."""

from __future__ import annotations

import base64
import os
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


def find(forge: str, host: str) -> Token:
    """The token for a host: from the environment, for GitHub also from `gh`. Raises StackmergeError without one."""
    kind = "enterprise" if forge == "github" and host not in ("github.com", *_LOCAL) else forge
    for name in _NAMES[kind]:
        if os.environ.get(name):
            return Token(os.environ[name].strip())
    found = _from_gh(host) if forge == "github" else ""
    if not found:
        hint = f"set {_NAMES[kind][0]}" + (", or log in with `gh auth login`" if forge == "github" else "")
        raise StackmergeError(f"there is no token for {host}", hint)
    return Token(found)


def _from_gh(host: str) -> str:
    try:
        command = ["gh", "auth", "token", "--hostname", host]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def safe_for(url: str) -> bool:
    """May a secret be sent to this address: over TLS, or to this machine?"""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)


def for_git(token: Token, forge: str, url: str) -> dict[str, str]:
    """Settings, by environment, that make git send the token to the host of ``url``, and there alone; none for SSH.

    git sends an extra header on to wherever it is redirected, so it may follow no redirect.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not safe_for(url):
        return {}
    pair = base64.b64encode(f"{_USERS[forge]}:{token.reveal()}".encode()).decode()
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"http.{place}.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {pair}",
        "GIT_CONFIG_KEY_1": f"http.{place}.followRedirects",
        "GIT_CONFIG_VALUE_1": "false",
        "GIT_TERMINAL_PROMPT": "0",
    }
