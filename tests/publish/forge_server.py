"""A forge on 127.0.0.1: git over HTTP from a real bare repository, and a stateful GitHub API beside it.

Head and base ids are read live from the bare repository. Every exchange is judged by GitHub's own OpenAPI
description. What GitHub does by itself happens here too: a pull request whose head gets into its base is merged
for good, one whose base or head branch is deleted is closed.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pygit2

from tests.publish import contract

LIMIT = 65_536
TOKEN = "ghp_0123456789abcdefSECRET"


@dataclass
class PullRequest:
    """One pull request as the server keeps it."""

    number: int
    title: str
    body: str
    head: str
    base: str
    state: str = "open"
    merged: bool = False
    stacked: bool = False
    draft: bool = False
    fork: bool = False  # from another repository of the same owner
    last_head: str = ""
    last_base: str = ""


@dataclass(frozen=True)
class Refusal:
    """An answer to give instead of the real one."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "You have exceeded a secondary rate limit."


class Invalid(Exception):
    """A request that GitHub answers with 422."""

    def __init__(self, message: str = "", **error: str) -> None:
        super().__init__(message)
        self.error = {
            "resource": "PullRequest",
            "code": "custom",
            **({"message": message} if message else {}),
            **error,
        }


class Forge:
    """The state of one repository on the forge, and the server that shows it."""

    kind, variable, user = "github", "GH_TOKEN", "x-access-token"

    def __init__(self, root: Path, owner: str = "keeper", name: str = "fork") -> None:
        self.owner, self.name = owner, name
        self.git_root = root / "git"
        self.bare = self.git_root / owner / f"{name}.git"
        self.bare.parent.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
        self._environment = environment
        subprocess.run(
            ["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True, env=environment
        )
        for setting in ("http.receivepack=true", "receive.autogc=false"):
            key, value = setting.split("=")
            subprocess.run(["git", "-C", str(self.bare), "config", key, value], check=True, env=environment)
        self.pulls: dict[int, PullRequest] = {}
        self.first_number = 11
        self.log: list[tuple[str, str]] = []
        self.statuses: list[int] = []
        self.violations: list[str] = []
        self.refusals: list[Refusal] = []
        self.before: Callable[[int, str, str], None] | None = None
        self.after: Callable[[int], None] | None = None
        self.dead = False
        self.moved_to = ""  # where git is sent instead
        self.shows: dict[str, str] = {}  # a branch that is shown at another commit, as a forge that lags does
        self._lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # -- for tests

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def api(self) -> str:
        return f"{self.address}/api"

    @property
    def git_url(self) -> str:
        return f"{self.address}/git/{self.owner}/{self.name}.git"

    @property
    def writes(self) -> list[tuple[str, str]]:
        """What changed something: writes of the API, and pushes."""
        return [one for one in self.log if one[0] in ("POST", "PATCH") and not one[1].endswith("upload-pack")]

    def refs(self) -> dict[str, str]:
        """Every branch of the bare repository."""
        repository = pygit2.Repository(str(self.bare))
        found = {r.name: str(r.target) for r in repository.references.iterator()}
        return {name: oid for name, oid in found.items() if name.startswith("refs/heads/")}

    def git(self, *args: str) -> str:
        command = ["git", "-C", str(self.bare), *args]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=self._environment)
        return done.stdout.strip()

    def open(self) -> dict[str, PullRequest]:
        """The open pull requests by their branch."""
        return {pull.head: pull for pull in self.pulls.values() if pull.state == "open" and not pull.fork}

    def edit(self, number: int, change: Callable[[str], str]) -> None:
        """A person edits a body on the web, which sends CRLF."""
        pull = self.pulls[number]
        pull.body = change(pull.body.replace("\r\n", "\n")).replace("\n", "\r\n")

    def forget(self) -> None:
        """Forget what was asked so far."""
        self.log.clear()
        self.statuses.clear()

    # -- what GitHub does

    def tip(self, branch: str) -> str:
        reference = pygit2.Repository(str(self.bare)).references.get(f"refs/heads/{branch}")
        return str(reference.target) if reference else ""

    def _contains(self, base: str, head: str) -> bool:
        """Is everything of ``head`` in ``base``?"""
        repository = pygit2.Repository(str(self.bare))
        return base == head or bool(repository.descendant_of(base, head))

    def branches_moved(self) -> None:
        """What a push does to pull requests."""
        for pull in self.pulls.values():
            if pull.state != "open" or pull.fork:
                continue
            head, base = self.tip(pull.head), self.tip(pull.base)
            if not head or not base:
                pull.state = "closed"
                continue
            pull.last_head, pull.last_base = head, base
            if self._contains(base, head):
                pull.state, pull.merged = "closed", True

    def shown(self, pull: PullRequest, schema: str) -> dict[str, Any]:
        """A pull request as GitHub shows it."""
        found = contract.sample(schema)
        live = (
            pull.state == "open" and not pull.fork
        )  # one that is closed goes on to show the head that it had
        head = (self.tip(pull.head) if live else "") or pull.last_head
        base = self.tip(pull.base) or pull.last_base
        head, base = self.shows.get(f"head {pull.head}", head), self.shows.get(f"base {pull.base}", base)
        found["head"] |= {"ref": pull.head, "sha": head, "label": f"{self.owner}:{pull.head}"}
        found["base"] |= {"ref": pull.base, "sha": base, "label": f"{self.owner}:{pull.base}"}
        found["head"]["repo"] = {
            **found["head"]["repo"],
            "id": 2 if pull.fork else found["base"]["repo"]["id"],
        }
        found |= {"number": pull.number, "title": pull.title, "body": pull.body or None, "state": pull.state}
        found["html_url"] = f"https://github.com/{self.owner}/{self.name}/pull/{pull.number}"
        found["merged_at"] = "2023-11-14T22:13:20Z" if pull.merged else None
        if schema == "pull-request":
            found["merged"] = pull.merged
            if pull.stacked:
                found["stack"] = contract.sample("pull-request-stack")
        return found

    def answer(
        self, method: str, path: str, query: dict[str, str], fields: dict[str, Any]
    ) -> tuple[int, Any]:
        """The answer to one request of the API."""
        prefix = f"/repos/{self.owner}/{self.name}/pulls"
        if not path.startswith(prefix):
            return 404, _message("Not Found")
        rest = path.removeprefix(prefix).strip("/")
        if not rest:
            return (200, self._listed(query)) if method == "GET" else (201, self._created(fields))
        pull = self.pulls.get(int(rest))
        if pull is None:
            return 404, _message("Not Found")
        if method == "PATCH":
            self._change(pull, fields)
        return 200, self.shown(pull, "pull-request")

    def _listed(self, query: dict[str, str]) -> list[Any]:
        wanted = query.get("state", "open")
        owner, _, head = query.get("head", "").partition(":")
        found = [p for p in self.pulls.values() if wanted in ("all", p.state)]
        found = [p for p in found if not head or (owner == self.owner and p.head == head)]
        found.sort(key=lambda pull: -pull.number)
        return [self.shown(p, "pull-request-simple") for p in found[: int(query.get("per_page", 30))]]

    def _created(self, fields: dict[str, Any]) -> Any:
        head, base = str(fields["head"]).removeprefix(f"{self.owner}:"), str(fields["base"])
        _check_texts(fields)
        if not self.tip(head):
            raise Invalid(field="head", code="invalid")
        if not self.tip(base):
            raise Invalid(field="base", code="invalid")
        if head in self.open():
            raise Invalid(f"A pull request already exists for {self.owner}:{head}.")
        if self._contains(self.tip(base), self.tip(head)):
            raise Invalid(f"No commits between {base} and {head}")
        number = max([self.first_number - 1, *self.pulls]) + 1
        body = fields.get("body") or ""
        pull = PullRequest(number, fields["title"], body, head, base, draft=bool(fields.get("draft")))
        self.pulls[number] = pull
        self.branches_moved()
        return self.shown(pull, "pull-request")

    def _change(self, pull: PullRequest, fields: dict[str, Any]) -> None:
        _check_texts(fields)
        if "base" in fields:
            self._rebase(pull, str(fields["base"]))
        if fields.get("state") == "open" and pull.state == "closed":
            if pull.merged or not self.tip(pull.head) or not self.tip(pull.base):
                raise Invalid("state cannot be changed. The pull request cannot be reopened.")
            pull.state = "open"
        if fields.get("state") == "closed":
            pull.state = "closed"
        pull.title = fields.get("title", pull.title)
        pull.body = fields.get("body", pull.body)

    def _rebase(self, pull: PullRequest, base: str) -> None:
        if pull.stacked:
            raise Invalid("Cannot change the base branch because the pull request is part of a stack.")
        if pull.state != "open":
            raise Invalid("Cannot change the base branch of a closed pull request.")
        if not self.tip(base):
            raise Invalid(field="base", code="invalid")
        if self._contains(self.tip(base), self.tip(pull.head)):
            raise Invalid(
                f"There are no new commits between base branch '{base}' and head branch '{pull.head}'"
            )
        pull.base = base

    # -- one request

    def handle_api(
        self, method: str, target: str, headers: Any, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(target)
        path, query = parts.path.removeprefix("/api"), parse_qsl(parts.query, keep_blank_values=True)
        with self._lock:
            if headers.get("Authorization") != f"Bearer {TOKEN}":
                return 401, {}, json.dumps(_message("Bad credentials")).encode()
            if self.refusals:
                refusal = self.refusals.pop(0)
                return refusal.status, refusal.headers, json.dumps(_message(refusal.message)).encode()
            try:
                status, found = self.answer(method, path, dict(query), json.loads(body or b"{}"))
            except Invalid as error:
                status, found = 422, {**_message("Validation Failed"), "errors": [error.error]}
            answer = json.dumps(found).encode()
            if status != 404:
                self.violations += contract.judge(method, path, query, body, status, answer)
        return status, {}, answer

    def handle_git(
        self, method: str, target: str, headers: Any, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Hand a request to git's own CGI program."""
        if self.moved_to:
            return 301, {"Location": self.moved_to + target}, b""
        parts = urlsplit(target)
        pair = f"{self.user}:{TOKEN}".encode()
        known = headers.get("Authorization") == f"Basic {base64.b64encode(pair).decode()}"
        if not known:
            return 401, {"WWW-Authenticate": 'Basic realm="forge"'}, b""
        environment = self._environment | {
            "GIT_PROJECT_ROOT": str(self.git_root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": method,
            "PATH_INFO": parts.path.removeprefix("/git"),
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
            "REMOTE_USER": "keeper",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env=environment, check=False
        )
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        if parts.path.endswith("git-receive-pack"):
            with self._lock:
                self.branches_moved()
        status = int(fields.pop("Status", "200 OK").split()[0])
        return status, fields, answer


def _message(text: str) -> dict[str, str]:
    return {"message": text, "documentation_url": "https://docs.github.com/rest"}


def _check_texts(fields: dict[str, Any]) -> None:
    if len(fields.get("body") or "") > LIMIT:
        raise Invalid(f"body is too long (maximum is {LIMIT} characters)")
    if len(fields.get("title", "x")) > 256:
        raise Invalid("title is too long (maximum is 256 characters)")
    if not fields.get("title", "x").strip():
        raise Invalid(field="title", code="missing_field")


def _handler(forge: Forge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self._body()
            if forge.dead:
                self._hang_up()
                return
            method, path = self.command, urlsplit(self.path).path
            forge.log.append((method, path))
            number = len(forge.log)
            if forge.before:
                forge.before(number, method, path)
            serve = forge.handle_git if path.startswith("/git/") else forge.handle_api
            status, headers, answer = serve(method, self.path, self.headers, body)
            forge.statuses.append(status)
            if forge.after:
                forge.after(number)
            if forge.dead:
                self._hang_up()
                return
            self.send_response(status)
            for name, value in ({"Content-Type": "application/json"} | headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_PUT = _serve

        def _hang_up(self) -> None:
            self.close_connection = True

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        def log_message(self, *_: object) -> None:
            return

    return Handler
