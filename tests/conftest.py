"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox import Sandbox


@pytest.fixture
def fork(tmp_path: Path) -> Sandbox:
    """An empty repository on branch main."""
    return Sandbox(tmp_path)
