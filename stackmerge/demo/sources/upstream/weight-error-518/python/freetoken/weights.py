"""Loading a checkpoint: a folder with an index that says which file holds which tensor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

INDEX = "model.index.json"


class WeightLoadError(RuntimeError):
    """A checkpoint that cannot be loaded: which tensor, and which file."""


def read_index(folder: Path) -> dict[str, str]:
    """The file of every tensor."""
    return dict(json.loads((folder / INDEX).read_text())["weight_map"])


def iterate_tensors(
    folder: Path, progress: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, bytes]]:
    """Every tensor with its bytes, file by file; ``progress`` is told each file's name."""
    names_of: dict[str, list[str]] = {}
    for name, file in read_index(folder).items():
        names_of.setdefault(file, []).append(name)
    for file, names in sorted(names_of.items()):
        progress(file)
        yield from read_file(folder / file, names)


def read_file(path: Path, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The named tensors of one file: a line of JSON with their places, then their bytes."""
    with path.open("rb") as file:
        places = json.loads(file.readline())
        start = file.tell()
        for name in names:
            if name not in places:
                raise WeightLoadError(f"{path}: the index says that {name} is here, the file does not")
            first, last = places[name]
            file.seek(start + first)
            yield name, file.read(last - first)
