"""Runs the conformance command as a user would, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine"


def run_conformance(*arguments: str, first: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`first` is searched for modules before the package of this checkout."""
    path = [str(first)] if first else []
    return subprocess.run(
        [sys.executable, "-m", "ple_engine.conformance", *arguments],
        env={**os.environ, "COLUMNS": "300", "PYTHONPATH": os.pathsep.join([*path, str(ENGINE)])},
        capture_output=True,
        text=True,
        timeout=550,
    )
