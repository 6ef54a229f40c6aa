"""Variants of the canonical case, made of the rule's own fixtures by replacing text.

What is right for each comes from the no-graph-fence suite of the engine, run on the merged file as its target,
and from ENGINE.md, section 4: a fill that was submitted before its launch, and that nobody joined, must not wait
for an event recorded behind the launch.
"""

from __future__ import annotations

from dataclasses import dataclass

from stackmerge.hazard.library import shipped

DISK = "python/freetoken/models/qwen4_exp/ple_disk.py"
BLOCK, WARN, SILENT, NOT_CHECKED = "block", "warn", "silent", "not checked"
TREES = ("base", "ours", "theirs", "bad", "good")
FIXTURE = {name: (shipped() / "ple-graph-fence" / name / DISK).read_text() for name in TREES}

RECORD = "        self._graph_consumed.record(torch.cuda.current_stream(self._device))\n"
WAIT = "        if graph:\n            self._graph_consumed.synchronize()\n"
CREATE = "        self._graph_consumed = torch.cuda.Event()\n"
RAISE = "            pending.cancel()\n            raise\n"
SUBMIT = "        return self._filler.submit(job)\n"
FILL = "    def fill("
YIELD = "        try:\n            yield\n        except"


@dataclass(frozen=True)
class Variant:
    """One way in which the merge may look. ``edits`` change every side that holds their text, the result at least.

    ``runs``: the suite can run the merged file, and passes where the answer is silent.
    """

    name: str
    answer: str
    edits: tuple[tuple[str, str], ...] = ()
    runs: bool = True

    def texts(self) -> dict[str, str]:
        return {
            "base": self._edited(FIXTURE["base"]),
            "ours": self._edited(FIXTURE["ours"]),
            "theirs": self._edited(FIXTURE["theirs"]),
            "merged": self._edited(FIXTURE["bad"], must=True),
            "good": self._edited(FIXTURE["good"]),
        }

    def _edited(self, text: str, *, must: bool = False) -> str:
        for old, new in self.edits:
            assert not must or text.count(old) >= 1, (self.name, old)
            text = text.replace(old, new)
        return text


_JOIN = "        if use_graph:\n            pending.result()\n"
VARIANTS = (
    Variant("the natural answer", BLOCK),
    Variant(
        "a thread of its own for each fill",
        BLOCK,
        (
            (
                SUBMIT,
                "        thread = threading.Thread(target=job)\n        thread.start()\n        return thread\n",
            ),
            ("            pending.cancel()\n", "            pending.join()\n"),
            ("import contextlib\n", "import contextlib\nimport threading\n"),
        ),
    ),
    Variant(
        "a queue that a thread reads", BLOCK, ((SUBMIT, "        return self._jobs.put(job)\n"),), runs=False
    ),
    Variant(
        "an event loop's executor",
        BLOCK,
        ((SUBMIT, "        return loop.run_in_executor(None, job)\n"),),
        runs=False,
    ),
    Variant(
        "a helper of another name",
        BLOCK,
        ((SUBMIT, "        return self._worker().later(job)\n"),),
        runs=False,
    ),
    Variant("another name for the event", BLOCK, (("_graph_consumed", "_staging_free"),), runs=False),
    Variant(
        "two events",
        BLOCK,
        (
            (CREATE, CREATE + CREATE.replace("consumed", "read")),
            (RECORD, RECORD + RECORD.replace("consumed", "read")),
            (WAIT, WAIT + "            self._graph_read.synchronize()\n"),
        ),
        runs=False,
    ),
    Variant(
        "the wait in a helper",
        BLOCK,
        (
            (WAIT, "        if graph:\n            self._await_staging()\n"),
            (FILL, "    def _await_staging(self):\n        self._graph_consumed.synchronize()\n\n" + FILL),
        ),
    ),
    Variant(
        "the record in a helper",
        BLOCK,
        ((RECORD, "        self._mark()\n"), (FILL, f"    def _mark(self):\n{RECORD}\n{FILL}")),
    ),
    Variant("a wait for every fill", BLOCK, ((WAIT, "        self._graph_consumed.synchronize()\n"),)),
    Variant("a join behind the record", BLOCK, ((RAISE + RECORD, RAISE + RECORD + _JOIN),)),
    Variant("a join of a failed launch only", BLOCK, ((RAISE, RAISE.replace("cancel", "result")),)),
    Variant(
        "a join of eager fills only",
        BLOCK,
        ((RAISE + RECORD, f"{RAISE}{_JOIN.replace('use', 'not use')}{RECORD}"),),
    ),
    Variant("a join before the record", SILENT, ((RAISE + RECORD, RAISE + _JOIN + RECORD),)),
    Variant(
        "a join in a helper, before the record",
        SILENT,
        (
            (RAISE + RECORD, RAISE + "        self._finish(pending)\n" + RECORD),
            (FILL, f"    def _finish(self, pending):\n        pending.result()\n\n{FILL}"),
        ),
    ),
    Variant(
        "a join before the launch",
        SILENT,
        ((YIELD, "        pending.result()\n" + YIELD),),
    ),
    Variant("the record before the launch", WARN, ((RAISE + RECORD, RAISE), (YIELD, RECORD + YIELD))),
    Variant("a fence of eager fills", SILENT, ((WAIT, WAIT.replace("if graph", "if not graph")),)),
    Variant("a function of another name", NOT_CHECKED, (("forward_host_ctx", "host_ctx"),), runs=False),
    Variant("a context manager without a yield", NOT_CHECKED, (("yield", "self.launch()"),), runs=False),
)
