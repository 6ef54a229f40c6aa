"""The token: in the header of a request and in git's environment, and in nothing that is seen or kept."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.publish.forge_server import TOKEN, Refusal
from tests.publish.world import World

PAIR = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
SPY = """#!/bin/sh
printf '%s\\n' "$*" >> "{log}.argv"
env >> "{log}.env"
exec "{git}" "$@"
"""
GATE = "gates:\n- name: env\n  run: env\n"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def spy(world: World) -> Path:
    """A git in front of git that writes down what it was given."""
    git = next(Path(d, "git") for d in os.environ["PATH"].split(":") if Path(d, "git").is_file())
    folder = world.root / "bin"
    folder.mkdir()
    (folder / "git").write_text(SPY.format(log=world.root / "seen", git=git))
    (folder / "git").chmod(0o755)
    world.fork.environment["PATH"] = f"{folder}:{world.fork.environment['PATH']}"
    return world.root / "seen"


def kept(world: World) -> Iterator[tuple[Path, bytes]]:
    """Every file that the repository and the remote hold, objects unpacked."""
    for place in (world.fork.path, world.forge.bare):
        for path in place.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes()
    yield (
        Path("objects"),
        world.fork.git("cat-file", "--batch-all-objects", "--batch").encode(errors="replace"),
    )


def test_it_is_in_no_argument_no_output_and_no_file(world: World) -> None:
    seen = spy(world)
    world.rebuild()
    world.forge.refusals = [Refusal(403, {"Retry-After": "1"}, f"token {TOKEN} is too fast")]
    outputs = [world.run("publish"), world.run("publish", "--json"), world.run("publish", "--dry-run")]
    assert [ran.code for ran in outputs] == [0, 0, 0]
    pushes = [line for line in Path(f"{seen}.argv").read_text().splitlines() if " push " in f" {line} "]
    assert pushes
    for secret in (TOKEN, PAIR):
        assert all(secret not in ran.out + ran.err for ran in outputs)
        assert secret not in Path(f"{seen}.argv").read_text()
        assert [path for path, data in kept(world) if secret.encode() in data] == []
    assert PAIR in Path(f"{seen}.env").read_text()  # where it is: the environment of git, for fetch and push


def test_it_is_in_no_error(world: World) -> None:
    world.rebuild()
    world.forge.refusals = [Refusal(403, {}, f"token {TOKEN} may not do this")]
    refused = world.run("publish")
    assert refused.code == 1
    assert "token *** may not do this" in refused.err
    assert TOKEN not in refused.err + refused.out
    world.forge.close()
    gone = world.run("publish")
    assert gone.code == 1
    assert TOKEN not in gone.err + gone.out
    assert PAIR not in gone.err + gone.out


def test_gates_do_not_get_it(world: World) -> None:
    world.manifest(("red",), more=GATE)
    done = world.rebuild()
    logs = [Path(gate["log"]).read_text(errors="replace") for gate in done["gates"]]
    assert logs
    assert "PATH=" in logs[0]
    assert all(TOKEN not in log and "GH_TOKEN" not in log for log in logs)


@pytest.mark.parametrize("value", ["ghp_SECRET\nghp_OTHER", "ghp_S\xc9CRET"])
def test_a_token_with_a_line_end_or_another_letter_is_refused(world: World, value: str) -> None:
    world.rebuild()
    world.fork.environment["GH_TOKEN"] = value
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith("error: GH_TOKEN gives no token: it holds a line end, ")
    assert "ghp_" not in refused.err
    assert world.forge.log == []


def test_where_the_api_is_at_another_host_git_uses_its_own_login(world: World) -> None:
    world.rebuild()
    world.fork.git("remote", "set-url", "origin", world.forge.git_url.replace("127.0.0.1", "localhost"))
    world.fork.environment["NO_PROXY"] = world.fork.environment["no_proxy"] = "127.0.0.1,localhost"
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith("error: there is no token for 127.0.0.1\nhint: set GH_ENTERPRISE_TOKEN")
    assert world.forge.log == []

    world.fork.environment |= {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_TOKEN": "", "GIT_TERMINAL_PROMPT": "0"}
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith(
        "error: reach origin: the remote asks for a login that is not there\nhint: "
    )
    helper = f"!f() {{ echo username=x-access-token; echo password={TOKEN}; }}; f"
    world.fork.git("config", "credential.helper", helper)
    world.publish()
    world.check()


def test_it_does_not_follow_a_redirect_to_another_host(world: World) -> None:
    world.rebuild()
    heard = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization"))
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.2", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    world.forge.moved_to = f"http://127.0.0.2:{server.server_address[1]}"
    refused = world.run("publish")
    server.shutdown()
    server.server_close()
    assert heard == []
    assert refused.code == 1
    message, hint = refused.err.splitlines()
    assert message == "error: reach origin: the remote's address redirects elsewhere"
    assert hint == "hint: has the repository moved? set its new address: `git remote set-url origin URL`"
