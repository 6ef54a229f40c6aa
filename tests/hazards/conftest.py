"""Fixtures of the tests of hazard rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hazards.trees import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)
