"""What publishing needs of a forge."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from stackmerge.errors import StackmergeError

_MARK = re.compile(r"(?:(?:\[(?:draft|wip)\]|\(draft\)|(?:draft|wip):)\s*)*", re.IGNORECASE)
OPEN, CLOSED, MERGED = "open", "closed", "merged"


@dataclass(frozen=True)
class Pull:
    """A pull request as the forge shows it. ``head`` and ``base`` are branches; ids are empty where it shows none.

    The ``head`` of one from another repository is no branch of ours: a colon, which no branch has, is in it.
    ``stacked``: it is in one of the forge's own stacks, where its base cannot be changed. ``mark``: what makes it
    a draft, where that stands in the title; ``title`` is without it, and is written with it.
    """

    number: int
    title: str
    body: str
    state: str
    head: str
    base: str
    head_sha: str
    base_sha: str = ""
    url: str = ""
    stacked: bool = False
    mark: str = ""


@dataclass(frozen=True)
class NewPull:
    """A pull request to be opened."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = False


@dataclass(frozen=True)
class Changes:
    """What to change of a pull request; None leaves a field as it is, and is not sent. ``state``: open or closed."""

    title: str | None = None
    body: str | None = None
    base: str | None = None
    state: str | None = None

    @property
    def fields(self) -> dict[str, str]:
        return {name: value for name, value in vars(self).items() if value is not None}


def parted(title: str) -> tuple[str, str]:
    """The mark of a draft at the start of a title, empty for none, and the title without it."""
    found = _MARK.match(title)
    at = found.end() if found else 0
    return title[:at], title[at:]


def read_as_pull(read: Callable[[Any], Pull]) -> Callable[[Any], Pull]:
    """Make a function that reads a forge's answer raise StackmergeError for one that is no pull request."""

    @wraps(read)
    def checked(found: Any) -> Pull:
        try:
            return read(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StackmergeError(
                f"the forge's answer is no pull request ({type(error).__name__}: {error})",
                "is `publish.api` the address of its API, and `publish.forge` its kind?",
            ) from None

    return checked


class Forge(Protocol):
    """One repository on a forge. Every method raises StackmergeError in the forge's own words, without the token.

    ``limit`` is how many characters a body may have, ``sign`` what comes before a number: ``#12`` or ``!12``.
    """

    name: str
    limit: int
    sign: str

    def get(self, number: int) -> Pull | None:
        """The pull request of a number; None when there is none."""

    def find(self, branch: str) -> Pull | None:
        """The open pull request from a branch of this repository; None when there is none."""

    def create(self, new: NewPull) -> Pull:
        """Open a pull request; where one from this branch is open already, that one."""

    def update(self, number: int, changes: Changes) -> Pull:
        """Change a pull request in one request."""

    def close(self) -> None:
        """Close the connection."""
