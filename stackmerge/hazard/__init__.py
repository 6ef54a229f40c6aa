"""Hazards: merges whose text is right and whose behaviour is wrong, named by rules.

A rule looks at four trees of a step: the merge base, ours, theirs and the merged tree. `load` reads the
rules, `check` names what they find, `apply_edits` makes the edits that they prescribe.
"""

from stackmerge.hazard.finding import Allow, Finding, Sides, blocks
from stackmerge.hazard.library import Rules, load, shipped

__all__ = ["Allow", "Finding", "Rules", "Sides", "blocks", "load", "shipped"]
