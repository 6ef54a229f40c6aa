"""Streams and addresses that are not as they should be: one clear sentence, and never the key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from stackmerge.errors import StackmergeError, UsageError
from stackmerge.serving.measure import Workload, measure

GOOD = b'data: {"error": null, "usage": null, "choices": [{"delta": {"content": "x"}}]}\n\n'


class Server(ThreadingHTTPServer):
    """Answers every request with ``body``, and keeps the key that came with the last."""

    body = b""
    key: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.key = self.headers.get("Authorization")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def run(url: str) -> None:
    measure(Workload(url, "m", tokens=2, requests=1, runs=1))


@pytest.mark.parametrize(
    "data",
    [
        b"null",
        b"[1]",
        b'"x"',
        b'{"choices": [{"delta": "x"}]}',
        b'{"choices": "x"}',
        b'{"choices": [null]}',
        b'{"usage": 7, "choices": []}',
        b'{"usage": {"completion_tokens": "x"}, "choices": []}',
    ],
)
def test_a_chunk_that_is_none_is_an_error(server: Server, data: bytes) -> None:
    server.body = GOOD + b"data: " + data + b"\n\n"
    with pytest.raises(StackmergeError, match=r"^the stream holds what is no chunk of a chat completion: "):
        run(server.url)


def test_an_error_that_is_null_is_none(server: Server) -> None:
    server.body = GOOD + b"data: [DONE]\n\n"
    run(server.url)
    server.body = GOOD + b'data: {"error": {"message": "out of memory"}}\n\n'
    with pytest.raises(StackmergeError, match=r"^the server gave up: .*out of memory"):
        run(server.url)


@pytest.mark.parametrize(
    "url", ["http://[x/v1", "http://127.0.0.1:99999/v1", "https://exa mple/v1", "http://", "x"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        run(url)


def test_a_key_that_cannot_be_one_is_refused_without_showing_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = GOOD
    for value in ("sk-SECRET\nx", "sk-S\xc9CRET", "sk-SECRET x"):
        monkeypatch.setenv("OPENAI_API_KEY", value)
        with pytest.raises(StackmergeError, match=r"^OPENAI_API_KEY gives no token: ") as caught:
            run(server.url)
        assert "sk-" not in caught.value.message + caught.value.hint
    assert server.key is None
    monkeypatch.setenv("OPENAI_API_KEY", "sk-SECRET\n")
    run(server.url)
    assert server.key == "Bearer sk-SECRET"
