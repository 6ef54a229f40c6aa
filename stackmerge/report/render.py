"""The page itself, from its template. Everything that a stranger wrote is escaped by Jinja2."""

from __future__ import annotations

from importlib.metadata import version

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stackmerge import shipped
from stackmerge.report.model import ReportView


def visible(text: object) -> str:
    """Control and bidirectional characters made visible, for text that strangers wrote."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in str(text))


def render(report: ReportView) -> str:
    """One self-contained HTML page."""
    environment = Environment(
        loader=FileSystemLoader(shipped.folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.finalize = _finalize
    return environment.get_template("report.html.j2").render(report=report, version=version("stackmerge"))


def _finalize(value: object) -> object:
    """Every plain text that the template puts in; markup of its own macros passes as it is."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
