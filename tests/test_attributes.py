"""What a checkout writes and `git add` takes, where we spare the process that would say so."""

from __future__ import annotations

import subprocess

import pytest

from stackmerge.repository import Repository
from tests.sandbox import Sandbox

LINES = [
    "",
    "text",
    "-text",
    "text=auto",
    "eol=lf",
    "text eol=lf",
    "eol=crlf",
    "text eol=crlf",
    "ident",
    "filter=up",
]
DATA = {
    "lf": b"a\nb\n",
    "crlf": b"a\r\nb\r\n",
    "mixed": b"a\r\nb\n",
    "cr": b"a\rb",
    "id": b"$Id$\na\n",
    "empty": b"",
}
CONFIGS = [{}, {"core.autocrlf": "true"}, {"core.eol": "crlf"}, {"core.autocrlf": "input"}]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: "-".join(c.values()) or "plain")
def test_contents_are_converted_as_git_converts_them(fork: Sandbox, config: dict[str, str]) -> None:
    for key, value in {"filter.up.clean": "tr a-z A-Z", "filter.up.smudge": "tr A-Z a-z", **config}.items():
        fork.git("config", key, value)
    attributes = "".join(f"{n}-* {line}\n" for n, line in enumerate(LINES) if line)
    fork.commit({".gitattributes": attributes}, "base")
    with Repository(fork.path) as repository:
        repository.attributes.use(fork.git("rev-parse", "HEAD^{tree}"))
        for n, line in enumerate(LINES):
            for name, data in DATA.items():
                path, blob = f"{n}-{name}", repository.objects.write_blob(data)
                found = repository.attributes.of([path])[path]
                smudged = repository.attributes.smudged(path, blob, found)
                assert (line, name, smudged) == (
                    line,
                    name,
                    git_bytes(fork, "cat-file", "--filters", f"--path={path}", blob),
                )
                cleaned = repository.attributes.cleaned(path, data, found)
                by_git = fork.git("hash-object", "--stdin", f"--path={path}", stdin=data)
                assert (line, name, cleaned) == (line, name, by_git)


def git_bytes(fork: Sandbox, *args: str) -> bytes:
    return subprocess.run(
        ["git", *args], cwd=fork.path, env=fork.environment, check=True, capture_output=True
    ).stdout
