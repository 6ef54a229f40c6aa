"""Loading a checkpoint: a folder with an index that says which file holds which tensor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

INDEX = "model.index.json"


def read_index(folder: Path) -> dict[str, str]:
    """The file of every tensor."""
    return dict(json.loads((folder / INDEX).read_text())["weight_map"])


def iterate_tensors(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every tensor with its bytes, file by file."""
    names_of: dict[str, list[str]] = {}
    for name, file in read_index(folder).items():
        names_of.setdefault(file, []).append(name)
    for file, names in sorted(names_of.items()):
        yield from read_file(folder / file, names)


def read_file(path: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The named tensors of one file: a line of JSON with their places, then their bytes."""
    with path.open("rb") as file:
        places = json.loads(file.readline())
        start = file.tell()
        for name in names:
            first, last = places[name]
            file.seek(start + first)
            yield name, file.read(last - first)
