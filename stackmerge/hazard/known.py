"""What the rules said of trees that they were asked about before: it cannot change, so it is kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from stackmerge.hazard.evaluate import Examined
from stackmerge.hazard.finding import NOT_CHECKED, Allow, Finding, Sides


class Known:
    """Answers by the trees, the rules and the version of stackmerge that they depend on.

    A file that cannot be read counts as no answer; one that cannot be written is no loss.
    """

    def __init__(self, directory: Path, rules: str) -> None:
        self._directory = directory
        self._rules = f"{version('stackmerge')} {rules}"

    def path(self, sides: Sides, allow: Iterable[Allow]) -> Path:
        asked = json.dumps([self._rules, vars(sides), [vars(one) for one in allow]])
        return self._directory / hashlib.sha256(asked.encode()).hexdigest()[:40]

    def get(self, sides: Sides, allow: Iterable[Allow]) -> Examined | None:
        try:
            found = json.loads(self.path(sides, allow).read_bytes())
            findings = tuple(Finding.from_json(one) for one in found["findings"])
            return Examined(findings, tuple(found["matched"]), tuple(found["gates"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, sides: Sides, allow: Iterable[Allow], examined: Examined) -> None:
        """Keep an answer, unless something could not be checked: that may be mended by installing a program."""
        if any(finding.disposition == NOT_CHECKED for finding in examined.findings):
            return
        text = json.dumps({**vars(examined), "findings": [vars(one) for one in examined.findings]})
        path = self.path(sides, allow)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
