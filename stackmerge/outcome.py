"""How to rebuild, and how a rebuild ended."""

from __future__ import annotations

from typing import NamedTuple

from stackmerge.errors import Exit
from stackmerge.progress.event import End
from stackmerge.record import Run


class Options(NamedTuple):
    """How to rebuild. ``first`` is the step to begin with; those before it are taken as they are.

    ``gates`` is the order of gating: step, tip or off; ``require_gpu``: a gate that asks for a GPU must pass on one.
    ``apply_hazard_edits``: make the edits that a rule prescribes where it blocks, and go on.
    """

    first: str = ""
    keep_going: bool = False
    fresh: bool = False
    gates: str = "step"
    require_gpu: bool = False
    apply_hazard_edits: bool = False


class Outcome(NamedTuple):
    """How a rebuild ended. ``note`` says why a good result was not accepted; ``worktree`` where a person must edit."""

    run: Run
    note: str = ""
    hint: str = ""
    worktree: str = ""

    @property
    def exit_code(self) -> Exit:
        """What the command line exits with."""
        by_status = {
            "complete": Exit.DONE,
            "conflict": Exit.CONFLICT,
            "hazard": Exit.HAZARD,
            "gate": Exit.GATE,
            "proof": Exit.PROOF,
        }
        return by_status.get(self.run.status, Exit.ERROR)

    @property
    def end(self) -> End:
        """The last event of a rebuild."""
        return End(self.run, self.exit_code, self.note, self.hint, self.worktree)
