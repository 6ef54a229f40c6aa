"""Where the reader of a page is when it begins."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stackmerge.demo.build import BASES
from tests.docs.reader import Reader
from tests.publish.forge_server import TOKEN, Forge
from tests.sandbox import Sandbox
from tests.serving.stub import Stub

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = DOCS / "tutorial.md"
README = DOCS.parent / "README.md"
COMMANDS = sorted((DOCS / "commands").glob("*.md"))
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
OWN_FORK = (README, DOCS / "how-to" / "adopt-a-fork.md")
CONTRIBUTING = DOCS.parent / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, TUTORIAL, *COMMANDS, *HOW_TO]


def make_demo(root: Path) -> Path:
    """The demo as `stackmerge demo` leaves it."""
    ran = Sandbox(root, "elsewhere").stackmerge("demo", str(root / "demo"))
    assert ran.code == 0, ran.err
    return root / "demo"


@contextmanager
def reader(page: Path, root: Path, demo: Path) -> Iterator[Reader]:
    """Somebody in the fork of a demo of their own, with a forge and a server to talk to.

    For some pages they have a repository of their own instead; the reader of the README begins at home, and that
    of the tutorial after `make demo`, which rebuilds on two bases. A contributor is in this checkout.
    """
    shutil.copytree(demo, root / "demo", symlinks=True)
    sandbox = Sandbox(root, "demo/fork")
    sandbox.git("remote", "set-url", "upstream", str(root / "demo" / "upstream.git"))
    sandbox.environment |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "GH_TOKEN": TOKEN}
    forge, server = Forge(root / "remote", "ada", "fork"), Stub()
    sandbox.git("push", "-q", str(forge.bare), "e0886cc^0:refs/heads/main")
    aliases = {
        ".venv/bin": str(Path(sys.executable).parent),
        "/home/ada": str(sandbox.home if page in OWN_FORK else root),
        "https://git.example.com/ada/fork/pull": "https://github.com/ada/fork/pull",
        "https://git.example.com/api/v3": forge.api,
        "https://git.example.com": f"{forge.address}/git",
        "http://127.0.0.1:8000": server.address,
    }
    for base in BASES if page == TUTORIAL else ():
        assert sandbox.stackmerge("rebuild", "--onto", base).code == 0
    place = sandbox.path
    if page in OWN_FORK:
        shutil.rmtree(root / "demo")
        fork = own_fork(sandbox.home)
        place = sandbox.home if page == README else fork
    if page == CONTRIBUTING:
        place = DOCS.parent
    try:
        yield Reader(place, sandbox.environment, aliases)
    finally:
        forge.close()
        server.close()


def own_fork(home: Path) -> Path:
    """``your-fork``: a deploy branch of two merges by hand, and an upstream that has moved on since they were made."""
    lines = [f"{number}\n" for number in range(1, 10)]
    upstream = Sandbox(home, "upstream")
    upstream.commit({"numbers": "".join(lines)}, "Count to nine")
    upstream.branch("fix", "main", {"numbers": "".join(["ONE\n", *lines[1:]])}, "Shout one")
    fork = Sandbox(home, "your-fork")
    fork.git("remote", "add", "upstream", str(upstream.path))
    fork.git("fetch", "-q", "upstream")
    fork.git("checkout", "-q", "-b", "deploy", "upstream/main")
    fork.branch("feature", "deploy", {"numbers": "".join(["uno\n", *lines[1:]])}, "Count in Italian")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge branch 'feature'", "feature")
    fork.git("merge", "-q", "--no-ff", "upstream/fix", check=False)
    fork.write({"numbers": "".join(["UNO\n", *lines[1:]])})
    fork.git("commit", "-q", "-m", "Merge remote-tracking branch 'upstream/fix'")
    upstream.commit({"numbers": "".join([*lines, "10\n"])}, "Count to ten")
    return fork.path
