"""Does a file parse in its language? A replayed resolution must, where both of its sides did."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from pathlib import PurePosixPath

import yaml


def _python(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<replayed>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)


def _toml(data: bytes) -> None:
    import tomllib

    tomllib.loads(data.decode())


def _yaml(data: bytes) -> None:
    for _ in yaml.parse(data, Loader=yaml.SafeLoader):
        pass


_PARSERS: dict[str, tuple[str, Callable[[bytes], object]]] = {
    ".py": ("Python", _python),
    ".pyi": ("Python", _python),
    ".json": ("JSON", json.loads),
    ".toml": ("TOML", _toml),
    ".yaml": ("YAML", _yaml),
    ".yml": ("YAML", _yaml),
}


def problem(path: str, data: bytes) -> str | None:
    """Why ``data`` does not parse as what the name ``path`` says it is; None when it does or nobody knows."""
    language, parse = _PARSERS.get(PurePosixPath(path).suffix.lower(), ("", None))
    if parse is None:
        return None
    try:
        parse(data)
    except (ValueError, SyntaxError, yaml.YAMLError, RecursionError, MemoryError) as error:
        return f"it does not parse as {language}: {str(error).splitlines()[0] if str(error) else 'too deep'}"
    return None
