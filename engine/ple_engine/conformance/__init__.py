"""Tests that any tree with the PLE classes can be held against. Run: python -m ple_engine.conformance --help."""
