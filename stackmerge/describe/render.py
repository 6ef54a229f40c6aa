"""From facts to Markdown, through Jinja2 templates: sandboxed, and strict about names that are not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from stackmerge import shipped
from stackmerge.describe import escape, sections
from stackmerge.describe.facts import StepFacts
from stackmerge.describe.sections import Body
from stackmerge.errors import UsageError
from stackmerge.gate.outcome import counted
from stackmerge.record import LEFT_OUT

TEMPLATE = "pull_request.md.j2"


class Renderer:
    """Renders descriptions. ``own`` is a folder of the user's templates, which win over those that are shipped.

    ``sign`` is what the forge writes before the number of a pull request.
    """

    def __init__(self, own: Path | None = None, sign: str = "#") -> None:
        here = FileSystemLoader(shipped.folder("templates"))
        loaders: list[BaseLoader] = [FileSystemLoader(own)] if own else []
        self._environment = ImmutableSandboxedEnvironment(
            loader=ChoiceLoader([*loaders, here, PrefixLoader({"stackmerge": here})]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            autoescape=False,
        )
        self._environment.filters |= _FILTERS
        fences = {"begin": _alone(sections.begin), "end": _alone(sections.end)}
        self._environment.globals |= {**fences, "left_out": LEFT_OUT, "sign": sign}

    def body(self, facts: StepFacts, older_rebases: int = 0) -> Body:
        """The sections of a step's description. Raises UsageError, naming file and line, for a bad template."""
        try:
            template = self._environment.get_template(TEMPLATE)
            text = template.render(facts=facts, older_rebases=older_rebases)
        except TemplateSyntaxError as error:
            raise UsageError(f"{error.filename or TEMPLATE}:{error.lineno}: {error.message}") from error
        except (TemplateError, SecurityError, TypeError, ValueError, AttributeError) as error:
            hint = "see templates/pull_request.md.j2 for what a template may use"
            raise UsageError(f"{_where(error)}: {error}", hint) from error
        return _tidy(sections.parse(text, TEMPLATE))

    def notice(self, text: str) -> Body:
        """The section that tells what became of a step that has left the stack."""
        parts = self._environment.get_template("stackmerge/parts.md.j2").make_module({"facts": None})
        shown = str(parts.notice(text)).strip()  # type: ignore[attr-defined]
        return Body(((sections.SECTION, "notice"),), {"notice": shown})


def _alone(fence: Callable[[str], str]) -> Callable[[str], str]:
    """The fence on a line of its own, whatever a template puts beside it."""
    return lambda name: f"\n{fence(name)}\n"


def _tidy(body: Body) -> Body:
    """Without the blank lines that loops and conditions leave behind."""
    found = {name: _squeezed(text) for name, text in body.sections.items()}
    parts = tuple((kind, _squeezed(value) if kind == sections.TEXT else value) for kind, value in body.parts)
    return Body(parts, found)


def _squeezed(text: str) -> str:
    """At most one blank line in a row, but for code."""
    lines: list[str] = []
    fence = ""
    for line in text.strip().split("\n"):
        bare = line.strip()
        if fence:
            fence = "" if bare == fence else fence
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        elif not bare and lines and not lines[-1].strip():
            continue
        lines.append(line.rstrip() if not fence else line)
    return "\n".join(lines)


def _where(error: BaseException) -> str:
    """The template and line that an error comes from."""
    found = TEMPLATE
    at = error.__traceback__
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        found = f"{Path(name).name}:{at.tb_lineno}" if name.endswith(".j2") else found
        at = at.tb_next
    return found


def _counted_as(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _figure(value: float | None, unit: str) -> str:
    return f"{value:.1f} {unit}" if value is not None else ""


def _change(value: float | None) -> str:
    return f"{value * 100:+.1f} %" if value is not None else ""


def _share(value: float | None) -> str:
    return f"{value * 100:.1f} %" if value is not None else ""


_FILTERS = {
    "inline": escape.inline,
    "code": escape.code,
    "block": escape.block,
    "prose": escape.prose,
    "counted": counted,
    "counted_as": _counted_as,
    "figure": _figure,
    "change": _change,
    "share": _share,
}
