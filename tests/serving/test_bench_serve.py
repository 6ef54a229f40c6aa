"""`bench serve` against llama.cpp's own server with a tiny model, over real streams that are counted by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from urllib.parse import urlsplit

import pytest

from tests.publish import spawn
from tests.sandbox import Sandbox
from tests.serving import tiny_model
from tests.serving.relay import Relay
from tests.stories.steps import manifest, rebuild

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")
TOKENS = 48


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    tiny_model.write(path)
    command = [sys.executable, tiny_model.__file__, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()


@pytest.fixture
def relay(server: str) -> Iterator[Relay]:
    parts = urlsplit(server)
    made = Relay(parts.hostname or "", parts.port or 0)
    yield made
    made.close()


def bench(fork: Sandbox, relay: Relay, *options: str) -> spawn.Ran:
    environment = fork.environment | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    args = ("bench", "serve", "--url", relay.address, "--model", "tiny", "--tokens", str(TOKENS), *options)
    return spawn.run(args, fork.path, environment)


def test_its_numbers_are_those_of_a_hand_count(fork: Sandbox, relay: Relay) -> None:
    relay.apart = 0.01
    ran = bench(fork, relay, "--requests", "2", "--runs", "3", "--json")
    assert ran.code == 0, ran.err
    runs = ran.json["runs"]
    warm_up, *counted = relay.exchanges
    assert warm_up.pieces == TOKENS
    assert [one.pieces for one in counted] == [TOKENS] * 6
    assert [b'"completion_tokens":%d,' % TOKENS in one.answer for one in counted] == [True] * 6
    for number, run in enumerate(runs):
        pair = counted[2 * number : 2 * number + 2]
        assert run["tokens"] == sum(one.pieces for one in pair)
        for shown, one in zip(run["first_token_s"], pair, strict=True):
            by_hand = one.time_of(1) - one.asked
            assert by_hand <= shown <= by_hand + 1.0
        by_hand = median((TOKENS - 1) / (one.time_of(TOKENS) - one.time_of(1)) for one in pair)
        assert run["decode_per_s"] == pytest.approx(by_hand, rel=0.3)
    figures = {one["metric"]: one["median"] for one in ran.json["figures"]}
    assert figures["decode, each request"] == median(run["decode_per_s"] for run in runs)
    assert figures["time to first token"] == median(median(run["first_token_s"]) * 1000 for run in runs)


def test_every_prompt_is_new_to_the_server(fork: Sandbox, relay: Relay) -> None:
    assert bench(fork, relay, "--requests", "4", "--runs", "1").code == 0
    bodies = [json.loads(one.request.partition(b"\r\n\r\n")[2]) for one in relay.exchanges]
    prompts = [body["messages"][0]["content"] for body in bodies]
    assert len({prompt[:16] for prompt in prompts}) == len(prompts) == 5
    assert all(body["ignore_eos"] is True and body["stream"] is True for body in bodies)
    cached = [int(one.answer.split(b'"cached_tokens":')[1].split(b"}")[0]) for one in relay.exchanges]
    # What the chat template puts before the prompt, 9 tokens, and what two salts may begin with alike by chance.
    assert max(cached) < 13


def test_at_a_given_concurrency(fork: Sandbox, relay: Relay) -> None:
    ran = bench(fork, relay, "--requests", "4", "--runs", "1", "--concurrency", "2", "--json")
    spans = [(one.asked, one.time_of(TOKENS)) for one in relay.exchanges[1:]]
    at_once = max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)
    assert at_once == 2
    [run] = ran.json["runs"]
    seconds = max(end for _, end in spans) - min(begin for begin, _ in spans)
    assert run["tokens_per_s"] == pytest.approx(4 * TOKENS / seconds, rel=0.3)


def test_before_and_after_of_a_step_are_kept_and_shown(fork: Sandbox, relay: Relay) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.commit({"a": "aa\n"}, "two")
    fork.git("tag", "v2")
    fork.manifest(manifest("red", prefix="d/"))
    rebuild(fork)
    for side in ("before", "after"):
        kept = bench(
            fork, relay, "--requests", "2", "--step", "red", "--side", side, "--server", "serve --fast"
        )
        assert kept.code == 0, kept.err

    text = fork.stackmerge("describe", "red").out
    rows = [line for line in text.splitlines() if line.startswith("| decode, each request")]
    cells = [cell.strip() for cell in rows[0].strip("|").split("|")]
    assert cells[1].endswith("tokens/s")
    assert cells[2].endswith("tokens/s")
    before, after = (float(cell.split()[0]) for cell in cells[1:3])
    rounding = 0.1 + 100 * 0.05 * (1 + after / before) / before
    assert float(cells[3].split()[0]) == pytest.approx((after / before - 1) * 100, abs=rounding)
    assert cells[4] == "3"
    assert f"Streamed chat completions, {TOKENS} tokens, `ignore_eos`, one request at a time" in text
    assert "- server: `serve --fast`" in text

    rebuild(fork, "--onto", "v2")
    head = fork.git("rev-parse", "v1")
    moved = fork.stackmerge("describe", "red").out
    assert "| decode, each request" in moved
    assert "before this rebuild changed the step" in moved
    assert head[:12] in moved
    nowhere = bench(fork, relay, "--step", "blue")
    assert nowhere.code == 2
    assert nowhere.err.startswith("error: there is no built step 'blue'\n")


def test_a_server_that_is_not_there(fork: Sandbox) -> None:
    ran = spawn.run(
        ("bench", "serve", "--url", "http://127.0.0.1:9", "--model", "x"),
        fork.path,
        fork.environment | {"NO_PROXY": "127.0.0.1"},
    )
    assert ran.code == 1
    assert ran.err.startswith("error: http://127.0.0.1:9 cannot be reached (")
