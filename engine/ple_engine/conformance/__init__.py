"""Tests to hold any tree with the PLE classes against. Try: python -m ple_engine.conformance --help"""
