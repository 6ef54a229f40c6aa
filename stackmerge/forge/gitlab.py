"""GitLab: merge requests. Source: its REST API documentation, version 4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from stackmerge.forge.base import CLOSED, MERGED, OPEN, Changes, NewPull, Pull, parted, read_as_pull
from stackmerge.forge.http import Http, Refused
from stackmerge.forge.pace import Pace
from stackmerge.forge.token import Token

_PAGE = 100
_STATES = {"opened": OPEN, "locked": OPEN, "merged": MERGED}
_NAMES = {"title": "title", "body": "description", "base": "target_branch"}


class GitLab:
    """One project on GitLab. It shows no tip of the target branch, so there is no base id to check."""

    name = "GitLab"
    limit = 1_048_576
    sign = "!"

    def __init__(
        self,
        api: str,
        repository: str,
        token: Token,
        tell: Callable[[str], None] = lambda _: None,
        pace: Pace | None = None,
    ) -> None:
        headers = {"PRIVATE-TOKEN": token.reveal(), "User-Agent": "stackmerge"}
        self._http = Http(api, token, headers, tell, pace)
        self._requests = f"/projects/{quote(repository, safe='')}/merge_requests"

    def close(self) -> None:
        self._http.close()

    def get(self, number: int) -> Pull | None:
        found = self._http.get(f"{self._requests}/{number}")
        return _pull(found) if found else None

    def find(self, branch: str) -> Pull | None:
        """Merge requests of every fork that has a branch of this name are listed too."""
        page = 1
        while found := self._http.get(
            self._requests, state="opened", source_branch=branch, per_page=_PAGE, page=page
        ):
            own = next((pull for pull in map(_pull, found) if pull.head == branch), None)
            if own or len(found) < _PAGE:
                return own
            page += 1
        return None

    def create(self, new: NewPull) -> Pull:
        title = f"Draft: {new.title}" if new.draft else new.title
        fields = {
            "title": title,
            "description": new.body,
            "source_branch": new.head,
            "target_branch": new.base,
        }
        try:
            return _pull(self._http.send("POST", self._requests, fields))
        except Refused as error:
            there = self.find(new.head) if error.status == 409 else None
            if there is None:
                raise
            return there

    def update(self, number: int, changes: Changes) -> Pull:
        fields = {_NAMES[name]: value for name, value in changes.fields.items() if name in _NAMES}
        if changes.state:
            fields["state_event"] = "close" if changes.state == CLOSED else "reopen"
        return _pull(self._http.send("PUT", f"{self._requests}/{number}", fields))


@read_as_pull
def _pull(found: Any) -> Pull:
    mark, title = parted(found["title"])
    own = found["source_project_id"] == found["target_project_id"]
    return Pull(
        number=int(found["iid"]),
        title=title,
        body=found.get("description") or "",
        state=_STATES.get(found["state"], CLOSED),
        head=found["source_branch"] if own else f"fork:{found['source_branch']}",
        base=found["target_branch"],
        head_sha=found.get("sha") or "",
        url=found["web_url"],
        mark=mark,
    )
