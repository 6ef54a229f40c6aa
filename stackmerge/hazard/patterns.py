"""ast-grep rules as data: read from YAML, and the literals without which they cannot match.

A rule is matched only in files that hold its literals, so most files are never parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from stackmerge.document import Node

_METAVARIABLE = re.compile(r"(?<!\$)\$([A-Z][A-Z0-9_]*)")
_WORD = re.compile(r"(?<![$\w])[A-Za-z_]\w{2,}")
_INTEGER_KEYS = ("nthChild",)
_RULE_KEYS = (
    "pattern", "kind", "regex", "nthChild", "range", "inside", "has", "precedes", "follows", "all", "any",
    "not", "matches", "stopBy", "field", "context", "selector", "strictness",
)  # fmt: skip


def plain(node: Node) -> Mapping[str, object]:
    """An ast-grep rule as the library takes it. Raises UsageError for a key that it does not know."""
    found = _plain(node)
    if not isinstance(found, dict) or not found:
        raise node.error("must be an ast-grep rule", "like `{pattern: self.$X.close()}`")
    return found


def _plain(node: Node) -> object:
    if isinstance(node.value, dict):
        for key, inner in node.value.items():
            if key not in _RULE_KEYS:
                raise inner.error("is not a key of an ast-grep rule", f"known here: {', '.join(_RULE_KEYS)}")
        return {key: _scalar(key, inner) for key, inner in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(inner) for inner in node.value]
    return node.text()


def _scalar(key: str, node: Node) -> object:
    if key in _INTEGER_KEYS and isinstance(node.value, str) and node.value.isdigit():
        return int(node.value)
    return _plain(node)


def literals(rule: object) -> frozenset[str] | None:
    """Words of which a file must hold at least one for ``rule`` to match; None where nothing is certain."""
    if not isinstance(rule, Mapping):
        return None
    found = [_of_pattern(rule.get("pattern")), *map(literals, _list(rule.get("all")))]
    found.append(literals(rule.get("has")))
    if "any" in rule:
        found.append(union(map(literals, _list(rule["any"]))))
    certain = [one for one in found if one]
    return min(certain, key=lambda words: (len(words), -min(map(len, words)))) if certain else None


def union(each: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """One of these must match: any of their words, and none for certain where one has none."""
    words = list(each)
    if not words or any(one is None for one in words):
        return None
    return frozenset().union(*(one for one in words if one))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _of_pattern(pattern: object) -> frozenset[str] | None:
    if isinstance(pattern, Mapping):
        pattern = pattern.get("context")
    if not isinstance(pattern, str):
        return None
    words = _WORD.findall(pattern)
    return frozenset([max(words, key=len)]) if words else None


def holds(data: bytes, words: frozenset[str] | None) -> bool:
    """Can a rule with these literals match in ``data``?"""
    return words is None or any(word.encode() in data for word in words)


def fill_in(text: str, env: Mapping[str, str]) -> str:
    """``text`` with each ``$NAME`` that is bound replaced by what it is bound to."""
    return re.sub(r"\$([A-Z_][A-Z0-9_]*)", lambda m: env.get(m[1], m[0]), text)


def metavariables(rule: object) -> Iterator[str]:
    """The single metavariables of an ast-grep rule, ``$NAME``."""
    if isinstance(rule, str):
        yield from _METAVARIABLE.findall(rule)
    elif isinstance(rule, Mapping):
        for inner in rule.values():
            yield from metavariables(inner)
    elif isinstance(rule, list):
        for inner in rule:
            yield from metavariables(inner)
