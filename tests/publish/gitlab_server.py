"""GitLab's API before the same forge: merge requests, by its documentation, where a draft is known by its title."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.publish.forge_server import TOKEN, Forge, Invalid, PullRequest

_NAMES = {"title": "title", "description": "body", "source_branch": "head", "target_branch": "base"}


class GitLab(Forge):
    """What is asked of GitLab, said in GitHub's words to the forge that keeps it."""

    kind, variable, user = "gitlab", "GITLAB_TOKEN", "oauth2"

    def handle_api(
        self, method: str, target: str, headers: Any, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if headers.get("PRIVATE-TOKEN") != TOKEN:
            return 401, {}, b'{"message": "401 Unauthorized"}'
        parts = urlsplit(target)
        root = f"/api/projects/{self.owner}/{self.name}/merge_requests"
        number = unquote(parts.path).removeprefix(root).strip("/")
        with self._lock:
            try:
                found = self._asked(method, number, dict(parse_qsl(parts.query)), json.loads(body or b"{}"))
            except Invalid as error:
                return 409, {}, json.dumps({"message": [error.error.get("message", "")]}).encode()
        return (200 if found is not None else 404), {}, json.dumps(found).encode()

    def _asked(self, method: str, number: str, query: dict[str, str], fields: dict[str, Any]) -> Any:
        named = {_NAMES[name]: value for name, value in fields.items() if name in _NAMES}
        if fields.get("state_event"):
            named["state"] = {"close": "closed", "reopen": "open"}[fields["state_event"]]
        if method == "POST":
            return self._merge_request(self.pulls[self._created(named)["number"]])
        if not number:
            found = [pull for pull in self.open().values() if pull.head == query["source_branch"]]
            return [self._merge_request(pull) for pull in found]
        pull = self.pulls.get(int(number))
        if pull and method == "PUT":
            self._change(pull, named)
        return self._merge_request(pull) if pull else None

    def _merge_request(self, pull: PullRequest) -> dict[str, Any]:
        state = "merged" if pull.merged else {"open": "opened"}.get(pull.state, pull.state)
        return {
            "iid": pull.number,
            "title": pull.title,
            "description": pull.body,
            "state": state,
            "draft": pull.title.lower().startswith(("draft:", "[draft]", "(draft)")),
            "source_branch": pull.head,
            "target_branch": pull.base,
            "source_project_id": 1,
            "target_project_id": 1,
            "sha": self.tip(pull.head) or pull.last_head,
            "web_url": f"https://gitlab.com/{self.owner}/{self.name}/-/merge_requests/{pull.number}",
        }
