"""The one error class, and the exit codes that the command line promises."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command (DESIGN.md, decision 9)."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    CONFLICT = 3
    HAZARD = 4
    GATE = 5
    PROOF = 6


class StackmergeError(Exception):
    """Something the user must know: one sentence, and a hint of what to do next."""

    exit_code = Exit.ERROR

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(StackmergeError):
    """The input is wrong: a manifest, a revision, an option."""

    exit_code = Exit.USAGE
