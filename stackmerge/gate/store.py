"""Results of gates that may be used again, one file each, named by what they depend on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from stackmerge.errors import StackmergeError
from stackmerge.gate.outcome import FAILED, PASSED, GateResult


class Store:
    """The kept results and logs of one repository."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def log_path(self, key: str) -> Path:
        return self._directory / f"{key}.log"

    def junit_path(self, key: str) -> Path:
        return self._directory / f"{key}.xml"

    def get(self, key: str, *, failures: bool = False) -> GateResult | None:
        """The kept result for a key: a pass, or with ``failures`` a failure too.

        One that ran out of time never counts: the limit is not part of the key.
        """
        try:
            result = GateResult.from_json(json.loads((self._directory / f"{key}.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        wanted = (PASSED, FAILED) if failures else (PASSED,)
        return result._replace(cached=True) if result.outcome in wanted else None

    def salt(self) -> bytes:
        """Random bytes of this repository's own, for digests of what nobody should guess. Made when first asked for."""
        path = self._directory / "salt"
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                temporary = path.with_suffix(f".{os.getpid()}")
                temporary.touch(0o600)
                temporary.write_bytes(os.urandom(32))
                temporary.replace(path)
            return path.read_bytes()
        except OSError as error:
            raise StackmergeError(
                f"cannot keep a gate's result: {error.strerror}", "is the disk full?"
            ) from error

    def put(self, result: GateResult) -> None:
        """Keep a result; whoever reads sees all of it or nothing."""
        path = self._directory / f"{result.key}.json"
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(result.as_json(), indent=1, sort_keys=True) + "\n")
            temporary.replace(path)
        except OSError as error:
            raise StackmergeError(
                f"cannot keep a gate's result: {error.strerror}", "is the disk full?"
            ) from error
