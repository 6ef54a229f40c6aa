"""Addresses of the web: taken apart, or known to be none."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

import httpx


def parts(url: str) -> SplitResult | None:
    """The parts of an address; None where it is none."""
    try:
        found = urlsplit(url)
        found.port, found.hostname  # noqa: B018  # these are read, and found to be wrong, only when asked for
    except ValueError:
        return None
    return found


def on_the_web(url: str) -> bool:
    """Is it an address that can be asked over HTTP?"""
    found = parts(url)
    if found is None or found.scheme not in ("http", "https") or not found.hostname:
        return False
    try:
        httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return not any(c.isspace() for c in url)
