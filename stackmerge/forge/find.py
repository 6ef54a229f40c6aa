"""Which forge a remote is on, and where its API is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from stackmerge.errors import UsageError
from stackmerge.forge import address
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

    @property
    def name(self) -> str:
        """The repository among all: forges take no notice of case in names."""
        return f"{urlsplit(self.api).netloc}/{self.repository}".lower()

    @property
    def api_host(self) -> str:
        """The host that the API's token is for."""
        host = urlsplit(self.api).hostname or ""
        return "github.com" if host == "api.github.com" else host


@dataclass(frozen=True)
class Tokens:
    """What the API and git are given, each by its own host; ``git`` is None where there is none for the remote's."""

    api: Token
    git: Token | None


def place(settings: Publishing, url: str, wanted: str = "") -> Place:
    """Where the remote at ``url`` is. ``wanted`` wins over the manifest. Raises UsageError where it cannot be told."""
    host, netloc, path = _parts(url, settings.remote)
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
    api = settings.api or default
    if not address.on_the_web(api):
        raise UsageError(f"{api!r} is no address of an API", "see `publish.api`")
    return Place(kind, host, repository, api)


def _parts(url: str, remote: str) -> tuple[str, str, str]:
    """Host, host with the port of its API, and path of any address that git takes."""
    if "://" not in url:
        found = _SCP.fullmatch(url)
        return (found[1].lower(), found[1].lower(), found[2]) if found else ("", "", url)
    parts = address.parts(url)
    if parts is None:  # it may hold a password, so it is not shown
        hint = f"see `git remote get-url --push {remote}`"
        raise UsageError(f"the address of the remote {remote!r} cannot be read", hint)
    host = parts.hostname or ""
    bare = f"[{host}]" if ":" in host else host
    netloc = parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") else bare
    return host, netloc, parts.path


def connect(where: Place, token: Token, tell: Callable[[str], None]) -> Forge:
    """Speak to the forge."""
    return _KINDS[where.kind](where.api, where.repository, token, tell)


def tokens_for(where: Place) -> Tokens:
    """The tokens for a place. Raises StackmergeError without one for the API.

    Where the API is at another host than the remote, git gets what is found for the remote's host, unless that is
    the API's token: a variable such as GITLAB_TOKEN says of no host that it is for it, and none is given to two.
    """
    if where.api_host == where.host:
        found = tokens.find(where.kind, where.host)
        return Tokens(found, found)
    api = tokens.find(where.kind, where.api_host, whole=False)
    git = tokens.look(where.kind, where.host, whole=False) if where.host else None
    return Tokens(api, git if git and git.reveal() != api.reveal() else None)
