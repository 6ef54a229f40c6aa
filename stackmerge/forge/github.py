"""GitHub, github.com and Enterprise Server. Source: its REST API description, version 2022-11-28."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stackmerge.forge.base import CLOSED, MERGED, OPEN, Changes, NewPull, Pull
from stackmerge.forge.http import Http, Refused
from stackmerge.forge.pace import Pace
from stackmerge.forge.token import Token


class GitHub:
    """One repository on GitHub."""

    name = "GitHub"
    limit = 65_536
    sign = "#"

    def __init__(
        self,
        api: str,
        repository: str,
        token: Token,
        tell: Callable[[str], None] = lambda _: None,
        pace: Pace | None = None,
    ) -> None:
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "Authorization": f"Bearer {token.reveal()}",
            "User-Agent": "stackmerge",
        }
        self._http = Http(api, token, headers, tell, pace)
        self._owner = repository.partition("/")[0]
        self._pulls = f"/repos/{repository}/pulls"

    def close(self) -> None:
        self._http.close()

    def get(self, number: int) -> Pull | None:
        found = self._http.get(f"{self._pulls}/{number}")
        return _pull(found) if found else None

    def find(self, branch: str) -> Pull | None:
        found = self._http.get(self._pulls, state="open", head=f"{self._owner}:{branch}", per_page=2)
        return _pull(found[0]) if found else None

    def create(self, new: NewPull) -> Pull:
        fields: dict[str, object] = {"title": new.title, "body": new.body, "head": new.head, "base": new.base}
        if new.draft:
            fields["draft"] = True
        try:
            return _pull(self._http.send("POST", self._pulls, fields))
        except Refused as error:
            there = self.find(new.head) if "already exists" in error.message else None
            if there is None:
                raise
            return there

    def update(self, number: int, changes: Changes) -> Pull:
        return _pull(self._http.send("PATCH", f"{self._pulls}/{number}", changes.fields))


def _pull(found: Any) -> Pull:
    merged = bool(found.get("merged") or found.get("merged_at"))
    return Pull(
        number=int(found["number"]),
        title=found["title"],
        body=found.get("body") or "",
        state=MERGED if merged else OPEN if found["state"] == "open" else CLOSED,
        head=found["head"]["ref"],
        base=found["base"]["ref"],
        head_sha=found["head"]["sha"],
        base_sha=found["base"]["sha"],
        url=found["html_url"],
        stacked=bool(found.get("stack")),
    )
