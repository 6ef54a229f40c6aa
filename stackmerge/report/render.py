"""The page itself, from its template. Everything that a stranger wrote is escaped by Jinja2."""

from __future__ import annotations

from importlib.metadata import version

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stackmerge import shipped
from stackmerge.describe.escape import visible
from stackmerge.report.model import ReportView


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
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(visible(line, keep="\t") for line in value.split("\n"))
