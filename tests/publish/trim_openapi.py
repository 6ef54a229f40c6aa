"""Trim GitHub's OpenAPI description to the endpoints that we use.

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python tests/publish/trim_openapi.py package/generated/api.github.com.json package/LICENSE

Examples are left out: some of them break the schemas that they illustrate.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATHS = ("/repos/{owner}/{repo}/pulls", "/repos/{owner}/{repo}/pulls/{pull_number}")
METHODS = ("get", "post", "patch")
DROPPED = ("example", "examples", "externalDocs", "x-github", "x-octokit", "callbacks", "links")
DATA = Path(__file__).with_name("data")


def stripped(found: Any, *, names: bool = False) -> Any:
    """Without examples and documentation; ``names``: the keys are names of properties, not words of the format."""
    if isinstance(found, dict):
        return {
            key: stripped(value, names=key in ("properties", "patternProperties") and not names)
            for key, value in found.items()
            if names or key not in DROPPED
        }
    return [stripped(item) for item in found] if isinstance(found, list) else found


def references(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        if isinstance(found.get("$ref"), str):
            yield found["$ref"]
        for value in found.values():
            yield from references(value)
    elif isinstance(found, list):
        for item in found:
            yield from references(item)


def trim(whole: dict[str, Any]) -> dict[str, Any]:
    """The paths that we use and every component that they need."""
    paths = {p: {m: stripped(whole["paths"][p][m]) for m in METHODS if m in whole["paths"][p]} for p in PATHS}
    components: dict[str, dict[str, Any]] = {}
    waiting = list(references(paths))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name in components.get(kind, {}):
            continue
        found = stripped(whole["components"][kind][name])
        components.setdefault(kind, {})[name] = found
        waiting += references(found)
    ordered = {kind: dict(sorted(found.items())) for kind, found in sorted(components.items())}
    head = {key: whole[key] for key in ("openapi", "info")}
    return {**head, "servers": [{"url": "https://api.github.com"}], "paths": paths, "components": ordered}


def main() -> None:
    source, licence = map(Path, sys.argv[1:])
    DATA.mkdir(exist_ok=True)
    made = trim(json.loads(source.read_text()))
    (DATA / "github-openapi.json").write_text(json.dumps(made, indent=None, separators=(",", ":")) + "\n")
    (DATA / "LICENSE").write_text(licence.read_text())


if __name__ == "__main__":
    main()
