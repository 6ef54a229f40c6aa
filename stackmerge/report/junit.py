"""A rebuild as JUnit XML: what CI servers show as tests.

One suite for the stack; a case for each step, for each gate on a step, and for the proof. Nothing is in it but
what Jenkins' own schema (junit-10.xsd of its xUnit plugin) allows: there, a case has no properties, so what a gate
proved and on which device is its output.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from stackmerge.describe.escape import visible
from stackmerge.gate.outcome import PASSED, GateResult, tail, unproven_on_gpu
from stackmerge.proof import BAD
from stackmerge.record import LEFT_OUT, STOPPED, Run, StepRecord
from stackmerge.report.words import conflict_words, hazard_words, stop_words

_LOG_LINES = 50
_NO_CHARACTERS = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}  # XML 1.0, section 2.2


@dataclass(frozen=True)
class Case:
    """One case. ``result`` is failure, skipped or empty for a pass; ``detail`` its text, ``output`` what it printed."""

    group: str
    name: str
    elapsed_s: float = 0.0
    result: str = ""
    message: str = ""
    detail: str = ""
    output: str = ""


def junit(run: Run) -> str:
    """The report of a run, as one XML document."""
    cases = list(_cases(run))
    numbers = {
        "tests": str(len(cases)),
        "failures": str(sum(case.result == "failure" for case in cases)),
        "errors": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "stackmerge", **numbers})
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": _text(run.plan.stack),
            **numbers,
            "skipped": str(sum(case.result == "skipped" for case in cases)),
            "time": f"{sum(case.elapsed_s for case in cases):.3f}",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(run.started)),
        },
    )
    _properties(suite, {"status": run.status, "state": run.state, "base": run.plan.base, "tip": run.tip})
    for case in cases:
        suite.append(_element(case))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _properties(suite: ElementTree.Element, found: dict[str, str]) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in found.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _text(value)})


def _element(case: Case) -> ElementTree.Element:
    attributes = {"classname": _text(case.group), "name": _text(case.name), "time": f"{case.elapsed_s:.3f}"}
    element = ElementTree.Element("testcase", attributes)
    if case.result:
        found = ElementTree.SubElement(element, case.result, {"message": _text(case.message)})
        found.text = _text(case.detail) or None
    if case.output:
        ElementTree.SubElement(element, "system-out").text = _text(case.output)
    return element


def _text(text: str) -> str:
    """Without the characters that XML cannot hold, and without those that nobody can see."""
    return visible(text, keep="\n\t").translate(_NO_CHARACTERS)


def _cases(run: Run) -> Iterator[Case]:
    records = run.by_name
    unproven = unproven_on_gpu(run.gates) if run.options.get("require_gpu") else []
    for number, step in enumerate(run.plan.steps, 1):
        yield _step(Case(f"{run.plan.stack}.steps", f"{number:02} {step.name}"), records.get(step.name))
        for result in run.gates:
            if result.step == step.name:
                yield _gate(run.plan.stack, result, must_be_on_gpu=result in unproven)
    if run.proof:
        yield _proof(Case(run.plan.stack, "proof"), run.proof)
    if run.status == "running":
        yield Case(run.plan.stack, "end", result="failure", message=stop_words(run))


def _step(case: Case, record: StepRecord | None) -> Case:
    if record is None:
        return replace(case, result="skipped", message="not built")
    case = replace(case, elapsed_s=record.elapsed_s)
    if record.outcome in STOPPED:
        words = conflict_words(record) if record.outcome == "conflict" else hazard_words(record)
        message = f"{record.outcome}: {words[0] if words else 'no detail'}"
        return replace(case, result="failure", message=message, detail="\n".join(words))
    if record.outcome in LEFT_OUT:
        message = f"{record.outcome}: {record.landed}" if record.landed else record.outcome
        return replace(case, result="skipped", message=message)
    return replace(case, output=f"{record.outcome} at {record.commit}")


def _gate(stack: str, result: GateResult, *, must_be_on_gpu: bool) -> Case:
    """A failure that a person accepted is no failure, and no pass: it is skipped, with the reason."""
    said = [result.words + (" (known)" if result.cached else ""), *_counts(result)]
    elapsed = 0.0 if result.cached else result.elapsed_s
    case = Case(f"{stack}.gates.{result.step}", result.gate, elapsed, output="\n".join(said))
    if result.bad:
        log = "\n".join(tail(result.log, _LOG_LINES))
        return replace(case, result="failure", message=result.words, detail=log)
    if must_be_on_gpu:
        message = f"{result.words}: not proven on a GPU, which --require-gpu asks for"
        return replace(case, result="failure", message=message)
    if result.outcome != PASSED:
        return replace(case, result="skipped", message=result.words)
    return case


def _counts(result: GateResult) -> Iterator[str]:
    counts = [f"{count} {word}" for word, count in result.counts.items() if count]
    if counts:
        yield ", ".join(counts)


def _proof(case: Case, proof: Mapping[str, Any]) -> Case:
    bad = [f"{path['path']}: {path['verdict']}" for path in proof["paths"] if path["verdict"] in BAD]
    if proof["holds"]:
        return case
    message = f"{len(bad)} paths are not as they must be"
    return replace(case, result="failure", message=message, detail="\n".join(bad))
