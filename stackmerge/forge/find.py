"""Which forge a remote is on, and where its API is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from stackmerge.errors import UsageError
from stackmerge.forge import token as tokens
from stackmerge.forge.base import Forge
from stackmerge.forge.gitea import Gitea
from stackmerge.forge.github import GitHub
from stackmerge.forge.gitlab import GitLab
from stackmerge.forge.token import Token
from stackmerge.publishing import FORGES, Publishing

_Connect = Callable[[str, str, Token, Callable[[str], None]], Forge]
_KINDS: dict[str, _Connect] = {"github": GitHub, "gitlab": GitLab, "gitea": Gitea}
_PATHS = {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}
_KNOWN = {"github.com": "github", "gitlab.com": "gitlab", "codeberg.org": "gitea", "gitea.com": "gitea"}
_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")


@dataclass(frozen=True)
class Place:
    """A repository on a forge: which kind, its host, its name there and the address of the API."""

    kind: str
    host: str
    repository: str
    api: str


def place(settings: Publishing, url: str, wanted: str = "") -> Place:
    """Where the remote at ``url`` is. ``wanted`` wins over the manifest. Raises UsageError where it cannot be told."""
    host, path = _parts(url)
    netloc = urlsplit(url).netloc.rpartition("@")[2] if "://" in url and not url.startswith("ssh") else host
    kind = wanted or settings.forge or _KNOWN.get(host, "")
    if kind not in FORGES:
        raise UsageError(
            f"which forge is {host or 'the remote'}?",
            f"say it with --forge or `publish.forge`: {', '.join(FORGES)}",
        )
    repository = settings.repository or re.sub(r"\.git$", "", path.strip("/"))
    if "/" not in repository or not (host or (settings.repository and settings.api)):
        hint = "say where it is with `publish.repository`, and `publish.api` where the address does not tell"
        raise UsageError(f"the remote's address names no OWNER/NAME on {host or 'a forge'}", hint)
    default = "https://api.github.com" if host == "github.com" else f"https://{netloc}{_PATHS[kind]}"
    return Place(kind, host, repository, settings.api or default)


def _parts(url: str) -> tuple[str, str]:
    """Host and path of any address that git takes."""
    if "://" in url:
        parts = urlsplit(url)
        return parts.hostname or "", parts.path
    found = _SCP.fullmatch(url)
    return (found[1].lower(), found[2]) if found else ("", url)


def connect(where: Place, token: Token, tell: Callable[[str], None]) -> Forge:
    """Speak to the forge."""
    return _KINDS[where.kind](where.api, where.repository, token, tell)


def token_for(where: Place) -> Token:
    """The token for a place. Raises StackmergeError without one."""
    return tokens.find(where.kind, where.host)
