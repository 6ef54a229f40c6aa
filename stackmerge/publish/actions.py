"""What publishing does, as a list of actions in their order: planned first, shown by --dry-run, then run."""

from __future__ import annotations

from dataclasses import asdict, dataclass

_SHORT = 12


@dataclass(frozen=True)
class RefUpdate:
    """One ref of a push. ``new`` empty deletes it; ``lease`` is what must be there, empty for nothing."""

    ref: str
    new: str
    lease: str

    @property
    def branch(self) -> str:
        return self.ref.removeprefix("refs/heads/")


@dataclass(frozen=True)
class Retarget:
    """Base a pull request on the trunk while branches move: one whose head gets into its base counts as merged."""

    step: str
    number: int
    base: str

    @property
    def words(self) -> str:
        return f"base #{self.number} ({self.step}) on {self.base} while branches move"


@dataclass(frozen=True)
class Push:
    """Push every branch that moves, all or none."""

    updates: tuple[RefUpdate, ...]

    @property
    def words(self) -> str:
        moves = [f"{u.branch} {u.lease[:_SHORT] or 'new'}..{u.new[:_SHORT]}" for u in self.updates]
        return f"push {len(moves)} branches at once, with leases: {', '.join(moves)}"


@dataclass(frozen=True)
class Create:
    """Open a step's pull request."""

    step: str
    branch: str
    base: str

    @property
    def words(self) -> str:
        return f"open a pull request for {self.step}: {self.branch} into {self.base}"


@dataclass(frozen=True)
class Update:
    """Bring a pull request up to date. ``fields`` are those that will be sent."""

    step: str
    branch: str
    fields: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"update the pull request of {self.step}: {', '.join(self.fields)}"


@dataclass(frozen=True)
class Check:
    """See that the forge shows what was pushed."""

    steps: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"check head and base of {len(self.steps)} pull requests"


@dataclass(frozen=True)
class Close:
    """Close the pull request of a step that is no longer in the stack, and say why in its description."""

    step: str
    branch: str
    number: int
    why: str

    @property
    def words(self) -> str:
        return f"close #{self.number} ({self.step}): {self.why}"


@dataclass(frozen=True)
class Delete:
    """Delete the branches of steps that are no longer in the stack."""

    updates: tuple[RefUpdate, ...]

    @property
    def words(self) -> str:
        return f"delete {', '.join(u.branch for u in self.updates)}"


Action = Retarget | Push | Create | Update | Check | Close | Delete


def as_json(action: Action) -> dict[str, object]:
    """An action as JSON; its ``action`` is the name of its kind."""
    return {"action": type(action).__name__.lower(), "words": action.words, **asdict(action)}
