"""The table of docs/architecture.md: every module is in it, and imports only what is in its row or below."""

from __future__ import annotations

import re

from tests.docs.places import DOCS
from tests.test_import_graph import inner_imports, modules

TABLE = re.findall(r"^\| (`.+?`) \| ", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)
ROWS = {name: row for row, cell in enumerate(TABLE) for name in re.findall("`(.+?)`", cell)}


def place(module: str) -> str:
    """The name under which a module is in the table: its own, or that of a folder around it."""
    path = module.removeprefix("stackmerge.").replace(".", "/")
    folders = [path[: end + 1] for end, letter in enumerate(path) if letter == "/"]
    names = [f"{path}.py", *reversed([*folders, f"{path}/"])]
    return next((name for name in names if name in ROWS), "")


def test_every_module_is_in_the_table_and_every_name_is_a_module() -> None:
    places = {name: place(name) for name in modules() if name != "stackmerge"}
    assert [name for name, found in places.items() if not found] == []
    assert set(ROWS) == set(places.values())


def test_a_module_imports_only_what_is_in_its_row_or_below() -> None:
    upward = [
        f"{name} imports {other}"
        for name in modules()
        for other in inner_imports(name)
        if "stackmerge" not in (name, other) and ROWS[place(other)] < ROWS[place(name)]
    ]
    assert upward == []
