"""Publish a stack: every branch in one leased push, and a pull request for every step."""
