"""Every key that a manifest or a rule may have is on a page, in code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.docs.places import DOCS
from tests.test_import_graph import modules

MANIFEST = ("manifest.md", "publish.md", "hazards.md")
PAGES = {
    "stackmerge.manifest": MANIFEST,
    "stackmerge.publishing": MANIFEST,
    "stackmerge.gate.spec": MANIFEST,
    "stackmerge.hazard.allow": MANIFEST,
    "stackmerge.hazard.reading": ("hazards.md",),
}


def keys(module: str) -> Iterator[str]:
    """The words of every tuple that names the keys of a mapping: `node.map((...))`, `_KEYS`, `_STEP_KEYS`."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "map":
            yield from _words(node.args[0])
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_KEYS"):
            yield from _words(node.value)


def _words(node: ast.AST) -> Iterator[str]:
    for one in node.elts if isinstance(node, ast.Tuple) else ():
        if isinstance(one, ast.Constant):
            yield str(one.value)


@pytest.mark.parametrize("module", PAGES)
def test_every_key_is_on_a_page(module: str) -> None:
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in PAGES[module])
    code = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", pages, re.MULTILINE | re.DOTALL))
    found = set(keys(module))
    assert found
    assert {key for key in found if not re.search(rf"\b{key}\b", code)} == set()
