"""Serving benchmarks as evidence for a step: measured by hand, kept in the journal, shown in its description."""
