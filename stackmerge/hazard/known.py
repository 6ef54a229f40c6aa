"""What the rules said of merges that they were asked about before: it cannot change, so it is kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cached_property
from pathlib import Path

from stackmerge.hazard.finding import NOT_CHECKED, Examined, Finding


class Known:
    """Answers by the commits and the tree, the rules and the code of the checks that they depend on.

    A file that cannot be read counts as no answer; one that cannot be written is no loss.
    """

    def __init__(self, directory: Path, rules: str) -> None:
        self._directory = directory
        self._rules = rules
        self._empty = not directory.is_dir()

    @cached_property
    def _state(self) -> str:
        return f"{_code()} {self._rules}"

    def _path(self, asked: object) -> Path:
        return self._directory / hashlib.sha256(json.dumps([self._state, asked]).encode()).hexdigest()[:40]

    def get(self, asked: object) -> Examined | None:
        """The answer to a question: values, as JSON has them, that the answer depends on besides the rules."""
        if self._empty:
            return None
        try:
            found = json.loads(self._path(asked).read_bytes())
            findings = tuple(Finding.from_json(one) for one in found["findings"])
            return Examined(findings, tuple(found["matched"]), tuple(found["gates"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, asked: object, examined: Examined) -> None:
        """Keep an answer, unless something could not be checked: that may be mended by installing a program."""
        if any(finding.disposition == NOT_CHECKED for finding in examined.findings):
            return
        text = json.dumps({**examined._asdict(), "findings": [one._asdict() for one in examined.findings]})
        path = self._path(asked)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)


def _code() -> list[tuple[str, int, int]]:
    """What tells one state of the checks' code from another: a change of it makes every answer void."""
    here = Path(__file__).parent
    files = [(file.name, file.stat()) for file in (*here.glob("*.py"), *here.glob("checks/*.py"))]
    return sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in files)
