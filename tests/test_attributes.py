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


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: "-".join(c.values()) or "plain")
@pytest.mark.parametrize(
    "line", ["", "text=auto", "text", "-text", "eol=crlf", "text=auto eol=crlf", "text=auto ident"]
)
def test_line_ends_that_are_there_decide_as_git_lets_them(
    fork: Sandbox, config: dict[str, str], line: str
) -> None:
    """`git add` leaves the line ends of a file alone that has those of Windows, where it is to find out itself."""
    for key, value in config.items():
        fork.git("config", key, value)
    fork.commit({".gitattributes": f"* {line}\n" if line else "# none\n"}, "base")
    with Repository(fork.path) as repository:
        repository.attributes.use(fork.git("rev-parse", "HEAD^{tree}"))
        for there in DATA:
            for now in DATA:
                path, ours = f"{there}-{now}", repository.objects.write_blob(DATA[there])
                fork.git("update-index", "--add", "--cacheinfo", f"100644,{ours},{path}")
                (fork.path / path).write_bytes(DATA[now])
                fork.git("add", "--", path)
                found = repository.attributes.of([path])[path]
                if line == "text=auto ident" and b"\r" in DATA[there]:
                    continue  # an id and line ends at once: converted as a new file would be
                cleaned = repository.attributes.cleaned(path, DATA[now], found, DATA[there])
                assert (line, there, now, cleaned) == (
                    line, there, now, fork.git("rev-parse", f":{path}"),
                )  # fmt: skip


def git_bytes(fork: Sandbox, *args: str) -> bytes:
    return subprocess.run(
        ["git", *args], cwd=fork.path, env=fork.environment, check=True, capture_output=True
    ).stdout
