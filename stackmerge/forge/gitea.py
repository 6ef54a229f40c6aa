"""Gitea and Forgejo. Source: their API description (swagger), version 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stackmerge.forge.base import CLOSED, MERGED, OPEN, Changes, NewPull, Pull, parted, read_as_pull
from stackmerge.forge.http import Http, Refused
from stackmerge.forge.pace import Pace
from stackmerge.forge.token import Token

_PAGE = 50


class Gitea:
    """One repository on Gitea. Its list has no filter by branch, so it is read once and remembered."""

    name = "Gitea"
    limit = 1_000_000
    sign = "#"

    def __init__(
        self,
        api: str,
        repository: str,
        token: Token,
        tell: Callable[[str], None] = lambda _: None,
        pace: Pace | None = None,
    ) -> None:
        headers = {"Authorization": f"token {token.reveal()}", "User-Agent": "stackmerge"}
        self._http = Http(api, token, headers, tell, pace)
        self._pulls = f"/repos/{repository}/pulls"
        self._open: dict[str, Pull] | None = None

    def close(self) -> None:
        self._http.close()

    def get(self, number: int) -> Pull | None:
        found = self._http.get(f"{self._pulls}/{number}")
        return _pull(found) if found else None

    def find(self, branch: str) -> Pull | None:
        if self._open is None:
            self._open = {pull.head: pull for pull in self._all_open()}
        return self._open.get(branch)

    def _all_open(self) -> list[Pull]:
        found: list[Pull] = []
        page = 1
        while True:
            part = self._http.get(self._pulls, state="open", limit=_PAGE, page=page) or []
            found += [_pull(one) for one in part]
            if not part:
                return found
            page += 1

    def create(self, new: NewPull) -> Pull:
        title = f"WIP: {new.title}" if new.draft else new.title
        fields = {"title": title, "body": new.body, "head": new.head, "base": new.base}
        self._open = None
        try:
            return _pull(self._http.send("POST", self._pulls, fields))
        except Refused as error:
            there = self.find(new.head) if error.status == 409 else None
            if there is None:
                raise
            return there

    def update(self, number: int, changes: Changes) -> Pull:
        self._open = None
        return _pull(self._http.send("PATCH", f"{self._pulls}/{number}", changes.fields))


@read_as_pull
def _pull(found: Any) -> Pull:
    head, base = found["head"], found["base"]
    mark, title = parted(found["title"])
    own = bool(head.get("repo")) and head["repo"]["full_name"] == base["repo"]["full_name"]
    return Pull(
        number=int(found["number"]),
        title=title,
        body=found.get("body") or "",
        state=MERGED if found.get("merged") else OPEN if found["state"] == "open" else CLOSED,
        head=head["ref"] if own else f"fork:{head['ref']}",
        base=base["ref"],
        head_sha=head["sha"],
        base_sha=base["sha"],
        url=found["html_url"],
        mark=mark,
    )
