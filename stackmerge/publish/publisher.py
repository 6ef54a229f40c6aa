"""Run a plan, action by action, keeping the record so that a second run goes on where this one was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatchmethod

from stackmerge.errors import StackmergeError
from stackmerge.forge.base import Changes, Forge, NewPull, Pull
from stackmerge.publish import state
from stackmerge.publish.actions import Action, Check, Close, Create, Delete, Push, Retarget, Update
from stackmerge.publish.situation import Situation
from stackmerge.publish.state import Numbered, Published
from stackmerge.publish.targets import Target
from stackmerge.publish.texts import Texts
from stackmerge.remote import Remote
from stackmerge.repository import Repository

_LOOKS = 5
_LATE = "the base commit"


@dataclass(frozen=True)
class Tools:
    """What a publication acts with."""

    repository: Repository
    remote: Remote
    forge: Forge
    texts: Texts
    draft: bool = False


class Publisher:
    """Runs the actions of one plan. ``numbers`` gains each new pull request, so that later texts name it."""

    def __init__(
        self,
        tools: Tools,
        found: Situation,
        numbers: dict[str, int],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._tools = tools
        self._found = found
        self._record = found.record
        self._numbers = numbers
        self._tell = tell
        self._targets = {target.step: target for target in found.targets}
        self._pulls = dict(found.pulls)
        self.written = 0
        self.notes: list[str] = []

    def run(self, actions: tuple[Action, ...]) -> dict[str, Pull]:
        """Run them all; the pull requests by step. Raises StackmergeError where one fails: run it again then."""
        self._keep(self._with_numbers(self._record))
        for action in actions:
            self._tell(action.words)
            self._act(action)
        self._keep(self._finished())
        return {t.step: self._pulls[t.branch] for t in self._found.targets if t.branch in self._pulls}

    def _keep(self, record: Published) -> None:
        self._record = record
        state.write(self._tools.repository, self._found.run.plan.stack, record)

    def _with_numbers(self, record: Published) -> Published:
        """The record with every pull request that is known, found ones too."""
        found = {
            t.branch: Numbered(t.step, self._pulls[t.branch].number)
            for t in self._found.targets
            if t.branch in self._pulls
        }
        return replace(record, pulls={**record.pulls, **found})

    def _finished(self) -> Published:
        """Everything is as wanted: nothing else is ours any more."""
        own = self._found.run.branches()
        live = {target.branch for target in self._found.targets}
        pulls = {branch: one for branch, one in self._record.pulls.items() if branch in live}
        return Published(own, {}, pulls, self._record.place)

    @singledispatchmethod
    def _act(self, action: Action) -> None:
        raise NotImplementedError(action)

    @_act.register
    def _(self, action: Retarget) -> None:
        branch = self._targets[action.step].branch
        self._pulls[branch] = self._update(action.number, Changes(base=action.base))

    @_act.register
    def _(self, action: Push) -> None:
        own = (
            self._found.run.branches()
        )  # the trunk is not ours: no record of it, or it would be deleted one day
        pending = {u.ref: u.new for u in action.updates if u.ref in own}
        self._keep(replace(self._record, pending={**self._record.pending, **pending}))
        self._tools.remote.push(
            [f"+{u.new}:{u.ref}" for u in action.updates], [f"{u.ref}:{u.lease}" for u in action.updates]
        )
        self._keep(replace(self._record, branches={**self._record.branches, **pending}, pending={}))

    @_act.register
    def _(self, action: Create) -> None:
        texts = self._tools.texts
        new = NewPull(
            texts.title(action.step), texts.first(action.step), action.branch, action.base, self._tools.draft
        )
        made = self._tools.forge.create(new)
        self.written += 1
        self._pulls[action.branch] = made
        self._numbers[action.step] = made.number
        self._keep(self._with_numbers(self._record))

    @_act.register
    def _(self, action: Update) -> None:
        """Bring it up to date from what it says at this moment, so that no edit made meanwhile is lost."""
        number = self._pulls[action.branch].number
        now = self._tools.forge.get(number)
        if now is None:
            raise StackmergeError(f"pull request {number} is gone", "publish again")
        changes = self._tools.texts.edit(self._targets[action.step], now).changes
        self._pulls[action.branch] = self._update(number, changes) if changes.fields else now

    @_act.register
    def _(self, action: Check) -> None:
        """Look until the forge shows what was pushed. A base commit that it shows late is told, and no error."""
        wrong = [self._targets[step] for step in action.steps]
        for look in range(_LOOKS):
            wrong = [target for target in wrong if _wrong(target, self._pulls[target.branch])]
            if not wrong:
                return
            if look:
                time.sleep(0.1 * 2**look)
            for target in wrong:
                pull = self._pulls[target.branch]
                self._pulls[target.branch] = self._tools.forge.get(pull.number) or pull
        for target in wrong:
            self._still_wrong(target, self._pulls[target.branch])

    @_act.register
    def _(self, action: Close) -> None:
        pull = self._tools.forge.get(action.number)
        changes = self._tools.texts.farewell(pull, action.why).changes if pull else Changes()
        if changes.state:
            self._update(action.number, changes)

    @_act.register
    def _(self, action: Delete) -> None:
        self._tools.remote.push(
            [f":{u.ref}" for u in action.updates], [f"{u.ref}:{u.lease}" for u in action.updates]
        )

    def _update(self, number: int, changes: Changes) -> Pull:
        self.written += 1
        return self._tools.forge.update(number, changes)

    def _still_wrong(self, target: Target, pull: Pull) -> None:
        words = _wrong(target, pull)
        if words and words.startswith(_LATE):
            self.notes.append(
                f"pull request {pull.number} ({target.step}) shows {words}: its diff may be too long yet"
            )
        elif words:
            hint = "publish again; look at the pull request if it stays so"
            raise StackmergeError(f"pull request {pull.number} ({target.step}) shows {words}", hint)


def _wrong(target: Target, pull: Pull) -> str:
    """What a pull request shows otherwise than it should; a forge that shows no id is not asked for it."""
    for what, shown, expected in (
        ("the head", pull.head_sha, target.commit),
        ("the base", pull.base, target.base),
        (_LATE, pull.base_sha, target.base_sha),
    ):
        if shown and expected and shown != expected:
            return f"{what} {shown[:40]} where it should be {expected[:40]}"
    return ""
