"""Hazards: merges whose text is right and whose behaviour is wrong, named by rules.

A rule looks at four trees of a step: the merge base, ours, theirs and the merged tree. `library.load` reads the
rules, `evaluate.check` names what they find, `edits.apply_edits` makes the edits that they prescribe.
"""
