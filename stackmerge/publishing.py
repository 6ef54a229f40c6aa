"""What the manifest says about describing and publishing: where to, and what a reader must be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from stackmerge.document import Node

FORGES = ("github", "gitlab", "gitea")
_KEYS = ("remote", "repository", "forge", "api", "trunk", "draft")


class Publishing(NamedTuple):
    """Where a stack is published; what is empty is found out from the remote's URL.

    ``remote`` is what branches are pushed to, ``repository`` is OWNER/NAME there, ``trunk`` the branch that the
    lowest pull request is based on, ``upstream`` the OWNER/NAME whose numbers the steps' `pr` mean, and
    ``upstream_branch`` what bases come from.
    """

    remote: str = "origin"
    repository: str = ""
    forge: str = ""
    api: str = ""
    trunk: str = "main"
    draft: bool = False
    upstream: str = ""
    upstream_branch: str = "main"
    how_to_test: str = ""
    templates: str = ""


def read(top: Mapping[str, Node], upstream: Mapping[str, Node]) -> Publishing:
    """Read the manifest's `publish`, `how_to_test`, `templates` and `upstream.repository`. Raises UsageError."""
    keys = top["publish"].map(_KEYS) if "publish" in top else {}
    return Publishing(
        remote=_matching(keys.get("remote"), r"[A-Za-z0-9][A-Za-z0-9._-]*", "the name of a remote")
        or "origin",
        repository=_repository(keys.get("repository")),
        forge=keys["forge"].one_of(FORGES) if "forge" in keys else "",
        api=_matching(keys.get("api"), r"https?://[^\s@?#]+", "an address").rstrip("/"),
        trunk=_matching(keys.get("trunk"), r"[A-Za-z0-9][A-Za-z0-9._/-]*", "a branch") or "main",
        draft="draft" in keys and keys["draft"].one_of(("true", "false")) == "true",
        upstream_branch=upstream["branch"].line_of_text() if "branch" in upstream else "main",
        upstream=_repository(upstream.get("repository")),
        how_to_test=top["how_to_test"].text() if "how_to_test" in top else "",
        templates=top["templates"].line_of_text() if "templates" in top else "",
    )


def _repository(node: Node | None) -> str:
    return _matching(node, r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+", "a repository: write OWNER/NAME")


def _matching(node: Node | None, pattern: str, what: str) -> str:
    if node is None:
        return ""
    text = node.line_of_text()
    if not re.fullmatch(pattern, text) or ".." in text:
        raise node.error(f"{text!r} is not {what}")
    return text
