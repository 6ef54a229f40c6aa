"""YAML that a person wrote, read so that each error names file, line and key path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import yaml

from stackmerge.errors import UsageError

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_BYTES = 4_000_000
_MAX_DEPTH = 30
T = TypeVar("T")


class Node(NamedTuple):
    """One value of the document and where it stands. ``value`` is a str, list or dict of Nodes, or None."""

    file: str
    line: int
    key: str
    value: object

    def error(self, what: str, hint: str = "") -> UsageError:
        where = f"{self.file}:{self.line}" + (f": {self.key}" if self.key else "")
        return UsageError(f"{where}: {what}", hint)

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.error("must be text")
        return self.value

    def line_of_text(self) -> str:
        """Text on one line: no control characters."""
        text = self.text()
        if not text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise self.error("must be one line of text, without control characters")
        return text

    def one_of(self, choices: Sequence[str]) -> str:
        if self.value not in choices:
            raise self.error(f"must be one of {', '.join(choices)}, not {self._shown()}")
        return str(self.value)

    def list(self, read: Callable[[Node], T]) -> tuple[T, ...]:
        """Each item of a list; a single value counts as a list of one."""
        items = self.value if isinstance(self.value, list) else [self]
        return tuple(read(item) for item in items)

    def map(self, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, Node]:
        """A mapping with no other keys than ``known``."""
        if not isinstance(self.value, dict):
            raise self.error("must be a mapping")
        for key, node in self.value.items():
            if key not in known:
                raise node.error("is not a known key", f"known here: {', '.join(known)}")
        for key in required:
            if key not in self.value:
                raise self.error(f"the key `{key}` is missing", f"add `{key}:` here")
        return dict(self.value)

    def _shown(self) -> str:
        return repr(self.value) if isinstance(self.value, str) else "this"


def read(path: Path, name: str) -> Node:
    """Read a YAML file; ``name`` is what errors call it. Raises UsageError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"{name}: no such file", "`stackmerge adopt` writes one from a history") from error
    except OSError as error:
        raise UsageError(f"{name}: cannot be read ({error.strerror})") from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{name}: larger than {_MAX_BYTES // 1_000_000} MB, which no manifest is")
    try:
        _refuse_aliases(data, name)
        node = yaml.compose(data, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"{mark.line + 1}" if mark else "1"
        raise UsageError(f"{name}:{line}: is not YAML: {getattr(error, 'problem', None) or error}") from error
    return _convert(node, name, "", 0)


def _refuse_aliases(data: bytes, name: str) -> None:
    for event in _events(data):
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise UsageError(
                f"{name}:{line}: aliases (`*{event.anchor}`) are not allowed", "write the value out"
            )


def _events(data: bytes) -> Iterator[yaml.Event]:
    depth = 0
    for event in yaml.parse(data, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError(f"nested more than {_MAX_DEPTH} deep")
        yield event


def _convert(node: yaml.Node | None, file: str, key: str, line: int) -> Node:
    if node is None:
        return Node(file, 1, key, {})
    line = line or node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        empty = node.tag == "tag:yaml.org,2002:null"
        return Node(file, line, key, None if empty else node.value)
    if isinstance(node, yaml.SequenceNode):
        return Node(file, line, key, [_convert(v, file, f"{key}[{i}]", 0) for i, v in enumerate(node.value)])
    found: dict[str, Node] = {}
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise Node(file, name.start_mark.line + 1, key, None).error(
                "has a key that is no text", "write a word, and no list or mapping, before the colon"
            )
        inner = f"{key}.{name.value}" if key else str(name.value)
        item = _convert(value, file, inner, name.start_mark.line + 1)
        if name.value in found:
            raise item.error("is given twice")
        found[str(name.value)] = item
    return Node(file, line, key, found)
