"""Where the files are that come with stackmerge."""

from __future__ import annotations

from pathlib import Path


def folder(name: str) -> Path:
    """The folder ``name``: in a checkout at its top, in an installed package below ``shipped/``."""
    here = Path(__file__).resolve().parent
    checkout = here.parent
    in_checkout = (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir()
    return checkout / name if in_checkout else here / "shipped" / name
