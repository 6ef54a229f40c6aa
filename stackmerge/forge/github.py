"""GitHub, github.com and Enterprise Server. Source: its REST API description, version 2022-11-28."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stackmerge.forge.base import CLOSED, MERGED, OPEN, Changes, NewPull, Pull, read_as_pull
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
        """The owner may have forks of the repository as well, and the forge lists those of them too."""
        found = self._http.get(self._pulls, state="open", head=f"{self._owner}:{branch}", per_page=100) or []
        return next((pull for pull in map(_pull, found) if pull.head == branch), None)

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


@read_as_pull
def _pull(found: Any) -> Pull:
    merged = bool(found.get("merged") or found.get("merged_at"))
    head, base = found["head"], found["base"]
    own = head["repo"] and head["repo"]["id"] == base["repo"]["id"]
    return Pull(
        number=int(found["number"]),
        title=found["title"],
        body=found.get("body") or "",
        state=MERGED if merged else OPEN if found["state"] == "open" else CLOSED,
        head=head["ref"] if own else f"fork:{head['ref']}",
        base=base["ref"],
        head_sha=head["sha"],
        base_sha=base["sha"],
        url=found["html_url"],
        stacked=bool(found.get("stack")),
    )
