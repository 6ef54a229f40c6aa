"""The generic checks: one file a kind, each a function from a step's view to what it saw."""
