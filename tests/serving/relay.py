"""A relay between client and server that writes down every byte of the answers and when it came."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

_EVENT = re.compile(rb".+?(?:\n\n|\Z)", re.DOTALL)
_PIECE = re.compile(rb'"delta":\{"content":"(?:[^"\\]|\\.)+"')


@dataclass
class Exchange:
    """One request and the parts of its answer, each with its time."""

    asked: float
    request: bytes = b""
    parts: list[tuple[float, bytes]] = field(default_factory=list)

    @property
    def answer(self) -> bytes:
        return b"".join(data for _, data in self.parts)

    @property
    def pieces(self) -> int:
        """Pieces of text, counted in the raw bytes of the stream."""
        return len(_PIECE.findall(self.answer))

    def time_of(self, number: int) -> float:
        """When the piece of that number (from 1) had arrived."""
        seen = b""
        for at, data in self.parts:
            seen += data
            if len(_PIECE.findall(seen)) >= number:
                return at
        raise AssertionError(f"there is no piece {number}")


class Relay:
    """Listens on 127.0.0.1; every connection is one exchange, for it answers no second request on one.

    Events go on ``apart`` seconds from each other, so that a busy machine is no reason for them to come together.
    """

    def __init__(self, host: str, port: int, apart: float = 0.0) -> None:
        self._target = (host, port)
        self.apart = apart
        self.exchanges: list[Exchange] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):  # the client has what it wanted, and is gone
            self._relay(client)

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            request = self._request(client)
            exchange = Exchange(time.perf_counter(), request)
            self.exchanges.append(exchange)
            server.sendall(request)
            while data := server.recv(65536):
                for event in _EVENT.findall(data):
                    time.sleep(self.apart)
                    exchange.parts.append((time.perf_counter(), event))
                    client.sendall(event)

    def _request(self, client: socket.socket) -> bytes:
        """One whole request, with `Connection: close` in it."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += client.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        while length and len(body) < int(length[1]):
            body += client.recv(65536)
        head = re.sub(rb"\r\nconnection: [^\r]*", b"", head, flags=re.IGNORECASE)
        return head + b"\r\nConnection: close\r\n\r\n" + body
