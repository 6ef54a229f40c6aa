"""GitLab and Gitea: the requests and fields that their API documentation describes, and what is read from answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from stackmerge.errors import StackmergeError
from stackmerge.forge.base import Changes, NewPull, Pull
from stackmerge.forge.gitea import Gitea
from stackmerge.forge.github import GitHub
from stackmerge.forge.gitlab import GitLab
from stackmerge.forge.token import Token

SHA = "a" * 40
NEW = NewPull("Title", "Body", "d/red", "main")
MERGE_REQUEST = {
    "iid": 5, "title": "Title", "description": "Body", "state": "opened", "source_branch": "d/red",
    "target_branch": "main", "source_project_id": 1, "target_project_id": 1, "sha": SHA, "web_url": "https://gitlab.com/g/fork/-/merge_requests/5",
}  # fmt: skip
GITEA_PULL = {
    "number": 5, "title": "Title", "body": "Body", "state": "open", "merged": False,
    "head": {"ref": "d/red", "sha": SHA, "repo": {"full_name": "keeper/fork"}},
    "base": {"ref": "main", "sha": "b" * 40, "repo": {"full_name": "keeper/fork"}}, "html_url": "https://codeberg.org/keeper/fork/pulls/5",
}  # fmt: skip


class Wire:
    """Answers from a list, and what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, Any]) -> None:
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.headers: httpx.Headers | None = None
        left = list(answers)
        real: Callable[..., httpx.Client] = httpx.Client

        def answer(request: httpx.Request) -> httpx.Response:
            self.headers = request.headers
            body = json.loads(request.content) if request.content else None
            path = request.url.raw_path.decode().partition("?")[0]
            self.asked.append((request.method, path, dict(request.url.params), body))
            status, found = left.pop(0)
            return httpx.Response(status, json=found)

        monkeypatch.setattr(
            httpx, "Client", lambda **options: real(**options, transport=httpx.MockTransport(answer))
        )


def test_gitlab(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = {**MERGE_REQUEST, "state": "closed"}
    wire = Wire(
        monkeypatch,
        (200, [MERGE_REQUEST]),
        (404, {}),
        (201, MERGE_REQUEST),
        (200, closed),
        (200, MERGE_REQUEST),
    )
    lab = GitLab("https://gitlab.com/api/v4", "g/sub/fork", Token("secret"))
    expected = Pull(5, "Title", "Body", "open", "d/red", "main", SHA, "", MERGE_REQUEST["web_url"])  # type: ignore[arg-type]
    assert lab.find("d/red") == expected
    assert lab.get(6) is None
    assert lab.create(NEW) == expected
    assert lab.update(5, Changes(state="closed")).state == "closed"
    assert lab.update(5, Changes(title="T", body="B", base="d/x")) == expected
    root = "/api/v4/projects/g%2Fsub%2Ffork/merge_requests"
    assert wire.asked == [
        ("GET", root, {"state": "opened", "source_branch": "d/red", "per_page": "100", "page": "1"}, None),
        ("GET", f"{root}/6", {}, None),
        (
            "POST",
            root,
            {},
            {"title": "Title", "description": "Body", "source_branch": "d/red", "target_branch": "main"},
        ),
        ("PUT", f"{root}/5", {}, {"state_event": "close"}),
        ("PUT", f"{root}/5", {}, {"title": "T", "description": "B", "target_branch": "d/x"}),
    ]
    assert wire.headers is not None
    assert wire.headers["PRIVATE-TOKEN"] == "secret"
    assert (lab.sign, lab.limit) == ("!", 1_048_576)


def test_gitlab_merge_requests_of_forks_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = {**MERGE_REQUEST, "iid": 4, "source_project_id": 2}
    wire = Wire(
        monkeypatch, (200, [foreign] * 100), (200, [foreign, MERGE_REQUEST]), (200, [foreign]), (200, foreign)
    )
    lab = GitLab("https://gitlab.com/api/v4", "g/fork", Token("secret"))
    found = lab.find("d/red")
    assert found is not None
    assert found.number == 5
    assert [asked[2]["page"] for asked in wire.asked] == ["1", "2"]
    assert lab.find("d/red") is None
    theirs = lab.get(4)
    assert theirs is not None
    assert theirs.head != "d/red"


def test_gitlab_one_that_is_there_already(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = {"message": ["Another open merge request already exists for this source branch: !5"]}
    Wire(monkeypatch, (409, taken), (200, [MERGE_REQUEST]))
    assert GitLab("https://gitlab.com/api/v4", "g/fork", Token("secret")).create(NEW).number == 5


def test_gitea(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = {**GITEA_PULL, "number": 4, "head": {**GITEA_PULL["head"], "repo": {"full_name": "other/fork"}}}  # type: ignore[dict-item]
    merged = {**GITEA_PULL, "state": "closed", "merged": True}
    wire = Wire(
        monkeypatch, (200, [foreign, GITEA_PULL]), (200, []), (200, merged), (201, GITEA_PULL), (201, GITEA_PULL)
    )  # fmt: skip
    tea = Gitea("https://codeberg.org/api/v1", "keeper/fork", Token("secret"))
    found = tea.find("d/red")
    assert found == Pull(5, "Title", "Body", "open", "d/red", "main", SHA, "b" * 40, GITEA_PULL["html_url"])  # type: ignore[arg-type]
    assert tea.find("d/blue") is None
    gone = tea.get(5)
    assert gone is not None
    assert gone.state == "merged"
    tea.create(NEW)
    tea.update(5, Changes(base="d/x", state="open"))
    root = "/api/v1/repos/keeper/fork/pulls"
    assert wire.asked == [
        ("GET", root, {"state": "open", "limit": "50", "page": "1"}, None),
        ("GET", root, {"state": "open", "limit": "50", "page": "2"}, None),
        ("GET", f"{root}/5", {}, None),
        ("POST", root, {}, {"title": "Title", "body": "Body", "head": "d/red", "base": "main"}),
        ("PATCH", f"{root}/5", {}, {"base": "d/x", "state": "open"}),
    ]
    assert wire.headers is not None
    assert wire.headers["Authorization"] == "token secret"


@pytest.mark.parametrize("mark", ["WIP: ", "[WIP] ", "wip:", ""])
def test_gitea_the_mark_of_a_draft_is_no_part_of_the_title(
    monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    Wire(monkeypatch, (200, {**GITEA_PULL, "title": f"{mark}Title"}))
    found = Gitea("https://codeberg.org/api/v1", "keeper/fork", Token("secret")).get(5)
    assert found is not None
    assert (found.mark, found.title) == (mark, "Title")


@pytest.mark.parametrize(
    "answer", [{}, [], "text", {"number": "x"}, {"number": 5, "title": "Title", "head": None}]
)
@pytest.mark.parametrize("kind", [GitHub, GitLab, Gitea])
def test_an_answer_that_is_no_pull_request_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, kind: type[GitHub | GitLab | Gitea], answer: object
) -> None:
    Wire(monkeypatch, (201, answer))
    with pytest.raises(StackmergeError, match="the forge's answer is no pull request"):
        kind("https://forge.example/api", "keeper/fork", Token("secret")).create(NEW)
