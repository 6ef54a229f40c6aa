"""Read a rule from its YAML file; every error names file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from stackmerge import document
from stackmerge.document import Node
from stackmerge.hazard import languages
from stackmerge.hazard.finding import SEVERITIES
from stackmerge.hazard.patterns import plain
from stackmerge.hazard.rule import KINDS, Assertion, Clash, Condition, Excuse, Fact, Prescription, Rule

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SIDES = ("ours", "theirs", "one", "other")
_KEYS = (
    "id", "severity", "title", "why", "match", "language", "scope", "facts", "hazard", "assert", "prescribe",
    "retire_when", "check",
)  # fmt: skip


def read(path: Path) -> Rule:
    """Read one rule. Raises UsageError with file, line and key."""
    name = f"{path.parent.name}/{path.name}"
    top = document.read(path, name)
    keys = top.map(_KEYS, required=("id", "severity", "title"))
    if ("check" in keys) == ("hazard" in keys):
        raise top.error(
            "needs either `check` or `hazard`", "a rule names a generic check or describes a clash"
        )
    match = keys["match"].map(("paths", "symbols", *SIDES)) if "match" in keys else {}
    facts = _facts(keys)
    rule = Rule(
        id=_id(keys["id"]),
        severity=keys["severity"].one_of(SEVERITIES),
        title=keys["title"].line_of_text(),
        file=path,
        why=keys["why"].text() if "why" in keys else "",
        paths=match["paths"].list(Node.line_of_text) if "paths" in match else ("**",),
        symbols=_symbols(match["symbols"]) if "symbols" in match else (),
        sides={side: _condition(match[side], facts) for side in SIDES if side in match},
        language=_language(keys["language"]) if "language" in keys else "",
        scope=keys["scope"].line_of_text() if "scope" in keys else "",
        facts=facts,
        clash=_clash(keys["hazard"], facts) if "hazard" in keys else None,
        asserts=keys["assert"].list(_assertion) if "assert" in keys else (),
        prescribe=_prescription(keys["prescribe"], match) if "prescribe" in keys else Prescription(),
        retire_when=_retire(keys["retire_when"], facts) if "retire_when" in keys else (),
        check=keys["check"].one_of(KINDS) if "check" in keys else "",
    )
    _check_whole(rule, top, match)
    return rule


def _check_whole(rule: Rule, top: Node, match: Mapping[str, Node]) -> None:
    if rule.facts and not rule.language:
        raise top.error("the key `language` is missing", "facts are matched in a language, like `python`")
    if any(fact.follow for fact in rule.facts.values()) and rule.language not in languages.CALLS:
        raise top.error(
            f"`follow` is not known for {rule.language}", f"only for {', '.join(languages.CALLS)}"
        )
    for excuse in rule.clash.none if rule.clash else ():
        if excuse.before and rule.facts[excuse.fact].within != rule.facts[excuse.before].within:
            raise top.error("`before` compares two facts of one function", "give both the same `in`")
    if rule.prescribe.delete and rule.language != "python":
        raise top.error("`delete_symbol` is known for python only", "say in the hint what to delete")
    if rule.check and rule.facts:
        raise top.error("`facts` do nothing beside `check`", "a generic check brings its own")
    if ("one" in match) != ("other" in match):
        raise match["one" if "one" in match else "other"].error("`one` and `other` go together")
    if "one" in match and {"ours", "theirs"} & match.keys():
        raise match["one"].error("`one` and `other` cannot be mixed with `ours` and `theirs`")


def _id(node: Node) -> str:
    text = node.line_of_text()
    if not ID.fullmatch(text):
        raise node.error(f"{text!r} is not an id", "write small letters, digits and hyphens")
    return text


def _language(node: Node) -> str:
    text = node.line_of_text().lower()
    if text not in languages.AST_GREP:
        raise node.error(f"{text!r} is not a language of ast-grep", f"one of {', '.join(languages.AST_GREP)}")
    return text


def _symbols(node: Node) -> tuple[str, ...]:
    if isinstance(node.value, dict):
        node = node.map(("any",), required=("any",))["any"]
    return node.list(Node.line_of_text)


def _facts(keys: Mapping[str, Node]) -> dict[str, Fact]:
    if "facts" not in keys:
        return {}
    node = keys["facts"]
    if not isinstance(node.value, dict) or not node.value:
        raise node.error("must be a mapping of names to facts")
    return {name: _fact(name, inner) for name, inner in node.value.items()}


def _fact(name: str, node: Node) -> Fact:
    keys = node.map(("in", "follow", "rule", "after", "unless_inside"), required=("rule",))
    for key in ("follow", "after"):
        if key in keys and "in" not in keys:
            raise keys[key].error("needs `in`", "it says where in a function")
    return Fact(
        name,
        rule=plain(keys["rule"]),
        within=keys["in"].line_of_text() if "in" in keys else "",
        follow="follow" in keys and keys["follow"].one_of(("calls",)) == "calls",
        after=plain(keys["after"]) if "after" in keys else None,
        unless_inside=keys["unless_inside"].list(plain) if "unless_inside" in keys else (),
    )


def _fact_name(node: Node, facts: Mapping[str, Fact]) -> str:
    name = node.line_of_text()
    if name not in facts:
        raise node.error(f"there is no fact {name!r}", f"known here: {', '.join(facts)}")
    return name


def _condition(node: Node, facts: Mapping[str, Fact]) -> Condition:
    keys = node.map(("adds", "removes", "has", "lacks", "any", "pr"))

    def names(key: str) -> tuple[str, ...]:
        return keys[key].list(lambda n: _fact_name(n, facts)) if key in keys else ()

    return Condition(
        adds=names("adds"),
        removes=names("removes"),
        has=names("has"),
        lacks=names("lacks"),
        any=keys["any"].list(lambda n: _condition(n, facts)) if "any" in keys else (),
        pr=keys["pr"].line_of_text() if "pr" in keys else "",
    )


def _clash(node: Node, facts: Mapping[str, Fact]) -> Clash:
    keys = node.map(("all", "none", "delta"), required=("all",))
    return Clash(
        all=keys["all"].list(lambda n: _fact_name(n, facts)),
        none=keys["none"].list(lambda n: _excuse(n, facts)) if "none" in keys else (),
        delta=keys["delta"].one_of(("introduced", "present")) if "delta" in keys else "introduced",
    )


def _excuse(node: Node, facts: Mapping[str, Fact]) -> Excuse:
    if not isinstance(node.value, dict):
        return Excuse(_fact_name(node, facts))
    keys = node.map(("fact", "before"), required=("fact",))
    return Excuse(
        _fact_name(keys["fact"], facts), _fact_name(keys["before"], facts) if "before" in keys else ""
    )


def _assertion(node: Node) -> Assertion:
    kinds = ("must_not_exist", "must_exist", "must_keep")
    outer = node.map((*kinds, "severity"))
    given = [kind for kind in kinds if kind in outer]
    if len(given) != 1:
        raise node.error(f"must be one of {', '.join(kinds)}")
    keys = outer[given[0]].map(("regex", "pattern", "paths"))
    if ("regex" in keys) == ("pattern" in keys):
        raise outer[given[0]].error("needs either `regex` or `pattern`")
    return Assertion(
        given[0],
        paths=keys["paths"].list(Node.line_of_text) if "paths" in keys else (),
        regex=_regex(keys["regex"]) if "regex" in keys else "",
        pattern=keys["pattern"].line_of_text() if "pattern" in keys else "",
        severity=outer["severity"].one_of(SEVERITIES) if "severity" in outer else "",
    )


def _regex(node: Node) -> str:
    text = node.text()
    try:
        re.compile(text)
    except re.error as error:
        raise node.error(f"is not a regular expression: {error}") from error
    return text


def _prescription(node: Node, match: Mapping[str, Node]) -> Prescription:
    keys = node.map(("hint", "resolve", "edits", "gates"))

    def resolve(inner: Node) -> tuple[str, str]:
        found = inner.map(("symbol", "take"), required=("symbol", "take"))
        sides = ("ours", "theirs", *(side for side in ("one", "other") if side in match))
        return found["symbol"].line_of_text(), found["take"].one_of(sides)

    def delete(inner: Node) -> str:
        return inner.map(("delete_symbol",), required=("delete_symbol",))["delete_symbol"].line_of_text()

    return Prescription(
        hint=" ".join(keys["hint"].text().split()) if "hint" in keys else "",
        resolve=keys["resolve"].list(resolve) if "resolve" in keys else (),
        delete=keys["edits"].list(delete) if "edits" in keys else (),
        gates=keys["gates"].list(Node.line_of_text) if "gates" in keys else (),
    )


def _retire(node: Node, facts: Mapping[str, Fact]) -> tuple[tuple[str, str], ...]:
    keys = node.map(("ours_lacks", "theirs_lacks", "both_lack"))
    return tuple((key, _fact_name(inner, facts)) for key, inner in keys.items())
