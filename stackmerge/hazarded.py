"""The hazard rules of a rebuild: which trees a step has, what the rules say of it, and the edits they prescribe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from stackmerge.ancestry import Ancestry
from stackmerge.errors import StackmergeError
from stackmerge.hazard import languages
from stackmerge.hazard.finding import Allow, Examined, Sides, blocks
from stackmerge.hazard.known import Known
from stackmerge.hazard.library import Rules
from stackmerge.hazard.relevance import relevant
from stackmerge.objects import EMPTY_TREE, Objects
from stackmerge.plan import PlannedStep
from stackmerge.repository import Repository

_ROUNDS = 5


class Hazards:
    """Asks the rules about the steps of one stack. ``allow`` says by step which of them a person has answered."""

    def __init__(
        self,
        repository: Repository,
        rules: Rules,
        allow: Mapping[str, Sequence[Allow]] | None = None,
        ancestry: Ancestry | None = None,
    ) -> None:
        self._repository = repository
        self._objects = repository.objects
        self._rules = rules
        self._allow = allow or {}
        self._ancestry = ancestry

    def inputs(self, step: PlannedStep) -> str:
        """What the answer for a step depends on besides its trees."""
        return f"rules {self._rules.digest} allow {[one._asdict() for one in self._allow.get(step.name, ())]}"

    def examine(
        self, step: PlannedStep, ours: str, merged: str | None, conflicts: Iterable[str] = ()
    ) -> Examined:
        """What the rules say of ``step`` onto commit ``ours`` with tree ``merged`` as its result; None: not yet."""
        if merged is None:
            return self._examine(step, ours, None)
        allow, paths = [one._asdict() for one in self._allow.get(step.name, ())], sorted(conflicts)
        asked = [step.kind, ours, step.head, merged, paths, allow]
        known = self._known.get(asked)
        if known is not None:
            return known
        trees = self._objects.commit(ours).tree, self._objects.commit(step.head).tree
        if not relevant(self._objects, *trees, merged, self._rules, paths):
            return Examined()  # which is found again faster than it is written down
        examined = self._examine(step, ours, merged)
        self._known.put(asked, examined)
        return examined

    def _examine(self, step: PlannedStep, ours: str, merged: str | None) -> Examined:
        from stackmerge.hazard.evaluate import examine

        sides, allow = self.sides(step, ours, merged), self._allow.get(step.name, ())
        return examine(self._objects, sides, self._rules, step=step.name, allow=allow)

    @cached_property
    def _known(self) -> Known:
        return Known(self._repository.private / "hazards", self._rules.digest)

    def sides(self, step: PlannedStep, ours: str, merged: str | None) -> Sides:
        """The trees of a step: for a pick the base is its parent."""
        if step.kind == "pick":
            base = self._objects.parent_tree(step.head)
        else:
            bases = self._ancestry.merge_bases(ours, step.head) if self._ancestry else None
            base = base_tree(self._repository, ours, step.head, bases)
        commit = self._objects.commit
        return Sides(base, commit(ours).tree, commit(step.head).tree, merged)

    def edited(self, step: PlannedStep, ours: str, merged: str) -> str:
        """``merged`` after the prescribed edits of every rule that blocks it; the same where nothing helps.

        Raises StackmergeError where a rule prescribes none, or where one cannot be made.
        """
        from stackmerge.hazard.edits import apply_edits

        for _ in range(_ROUNDS):
            found = blocks(self.examine(step, ours, merged).findings)
            if not found:
                return merged
            before, sides = merged, self.sides(step, ours, merged)
            for name in dict.fromkeys(finding.rule for finding in found):
                merged = apply_edits(
                    self._objects, Sides(sides.base, sides.ours, sides.theirs, merged), self._rules.get(name)
                )
            if merged == before:
                break
        raise StackmergeError(
            f"{step.name}: the prescribed edits do not answer {found[0].rule}",
            found[0].hint or "edit by hand",
        )


def symbols_of(objects: Objects, tree: str, path: str) -> tuple[str, ...]:
    """The functions and classes that the conflict markers of a file are in; none where nobody can tell."""
    entry, language = objects.lookup(tree, path), languages.of(path)
    if entry is None or not entry.is_file or not language:
        return ()
    from stackmerge.hazard import symbols  # which loads a parser
    from stackmerge.hazard.view import Unreadable, readable

    try:
        return tuple(symbols.of_conflict(readable(objects.blob(entry.oid)), language))
    except Unreadable:
        return ()


def base_tree(repository: Repository, ours: str, theirs: str, bases: list[str] | None = None) -> str:
    """The tree that a merge starts from: of the merge base, or of several merged as git itself does it."""
    if bases is None:
        bases = repository.git.run("merge-base", "--all", ours, theirs, ok=(0, 1)).stdout.decode().split()
    if not bases:
        return EMPTY_TREE
    tree, base = repository.objects.commit(bases[0]).tree, bases[0]
    for other in bases[1:]:
        tree = repository.merger.merge(base, other).tree
        # Its ancestry is what the next merge needs, not a commit that anybody sees.
        commit = repository.objects.commit(base)
        base = repository.objects.write_commit(
            type(commit)(tree, (base, other), commit.author, commit.committer, "merge bases\n")
        )
    return tree
