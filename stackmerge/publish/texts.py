"""Titles and bodies of pull requests: what is to be written where nothing or something is there."""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.describe import escape, limit, sections
from stackmerge.describe.gather import Gatherer
from stackmerge.describe.render import Renderer
from stackmerge.describe.sections import Merged
from stackmerge.forge.base import CLOSED, OPEN, Changes, Pull
from stackmerge.publish.targets import Target

MAX_TITLE = 240  # GitLab and Gitea take 255 characters, with the mark of a draft


@dataclass(frozen=True)
class Edit:
    """The changes to send to a pull request, and what of it was kept because a person had edited it."""

    changes: Changes
    kept: tuple[str, ...] = ()


class Texts:
    """Writes the texts of one rebuild; ``numbers`` are looked up anew each time."""

    def __init__(self, gatherer: Gatherer, renderer: Renderer, size: int) -> None:
        self._gatherer = gatherer
        self._renderer = renderer
        self._size = size

    def title(self, step: str) -> str:
        """One line of plain text. No number in it: a title is quoted in commits, where a number is a mention."""
        merged = self._gatherer.step(step).merged
        verb = "Merge" if merged.kind == "merge" else "Pick"
        pull = f" upstream PR {merged.upstream.number}" if merged.upstream else ""
        return escape.visible(" ".join(f"{verb}{pull}: {merged.title}".split()))[:MAX_TITLE]

    def first(self, step: str) -> str:
        """The body that a pull request is opened with."""
        title = self.title(step)
        return self._fitted(step, sections.Body((), {}), title).text

    def edit(self, target: Target, pull: Pull) -> Edit:
        """What to change of the pull request that is there."""
        there = sections.parse(pull.body, f"pull request {pull.number}")
        title = self.title(target.step)
        written = there.state.get("title") == sections.digest(pull.title)
        own_title = pull.title != title and not written
        merged = self._fitted(target.step, there, "" if own_title else title)
        changes = Changes(
            title=pull.mark + title if written and pull.title != title else None,
            body=merged.text if _differs(merged.text, pull.body) else None,
            base=target.base if pull.base != target.base else None,
        )
        return Edit(changes, (*merged.kept, *(("title",) if own_title and there.state else ())))

    def farewell(self, pull: Pull, why: str) -> Edit:
        """Close a pull request whose step has left the stack, with the reason at its top."""
        there = sections.parse(pull.body, f"pull request {pull.number}")
        merged = sections.merge(there, self._renderer.notice(why))
        body = merged.text if _differs(merged.text, pull.body) and len(merged.text) <= self._size else None
        return Edit(Changes(body=body, state=CLOSED if pull.state == OPEN else None), merged.kept)

    def _fitted(self, step: str, there: sections.Body, title: str) -> Merged:
        return limit.fitted(
            self._gatherer.step(step),
            self._size,
            self._renderer.body,
            lambda rendered: sections.merge(there, rendered, title),
        )


def closed_by_us(pull: Pull) -> bool:
    """Was a pull request closed with a farewell of ours, and not by a person?"""
    return bool(sections.parse(pull.body, f"pull request {pull.number}").sections.get("notice"))


def _differs(one: str, other: str) -> bool:
    return sections.normal(one).strip() != sections.normal(other).strip()
