"""Keys that one mapping holds twice, in JSON, YAML and TOML."""

from __future__ import annotations

import json
import tomllib
from pathlib import PurePosixPath

from stackmerge.hazard.view import refuse_deep

_SUFFIXES = (".json", ".yaml", ".yml", ".toml")


def is_known(path: str) -> bool:
    return PurePosixPath(path).suffix in _SUFFIXES


def twice(text: str, suffix: str) -> dict[str, int]:
    """Each key that is given twice, with its line (0 where it is not known). Raises ValueError, Unreadable."""
    refuse_deep(text)
    if suffix == ".json":
        return _json(text)
    return _toml(text) if suffix == ".toml" else _yaml(text)


def _json(text: str) -> dict[str, int]:
    found: dict[str, int] = {}

    def see(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        found.update(
            {name: 0 for name in names if names.count(name) > 1} if len(set(names)) < len(names) else {}
        )
        return dict(pairs)

    json.loads(text, object_pairs_hook=see)
    return found


def _toml(text: str) -> dict[str, int]:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        if "overwrite" in message or "declare" in message or "twice" in message or "mutate" in message:
            line = message.rpartition("line ")[2].partition(",")[0]
            number = int(line) if line.isdigit() else 0
            return {text.split("\n")[number - 1].strip() if number else "?": number}
        raise
    return {}


def _yaml(text: str) -> dict[str, int]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    found: dict[str, int] = {}
    stack: list[tuple[str, object]] = [("", root)]
    seen: set[int] = set()
    while stack:
        path, node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            stack += [(f"{path}[]", inner) for inner in node.value]
        elif isinstance(node, yaml.MappingNode):
            names: set[tuple[str, str]] = set()
            for key, value in node.value:
                name = f"{path}.{key.value}".lstrip(".") if isinstance(key, yaml.ScalarNode) else ""
                if name and (key.tag, key.value) in names and key.value != "<<":
                    found[name] = key.start_mark.line + 1
                if name:
                    names.add((key.tag, key.value))  # the number 1 and the text "1" are two keys
                stack.append((name, value))
    return found
