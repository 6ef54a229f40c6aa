"""Versions of the package with one fault each, made from its source text."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import ple_engine

PACKAGE = Path(ple_engine.__file__).parent


@dataclass(frozen=True)
class Mutant:
    """`changes` replace text of `file`; each text must be there exactly once."""

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]


def mutate(mutant: Mutant, folder: Path) -> Path:
    """Write a copy of the package with the fault into `folder`, a place for PYTHONPATH."""
    shutil.copytree(PACKAGE, folder / "ple_engine", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "ple_engine" / mutant.file
    text = path.read_text()
    for old, new in mutant.changes:
        if text.count(old) != 1:
            raise ValueError(
                f"mutant {mutant.name}: {old!r} is {text.count(old)} times in {mutant.file}; need once"
            )
        text = text.replace(old, new)
    path.write_text(text)
    return folder


_AFTER_YIELD = """        try:
            yield
        except BaseException:
            if pending is not None:
                pending.cancel()
            raise
"""
_STAGING = "        staging = self._graph_pinned if graph else self._next_eager_buffer()\n"
_SLOT = "        self._eager_slot = 0\n"

FENCE = Mutant(
    "the graph fence",
    "disk_table.py",
    (
        (_SLOT, _SLOT + "        self._graph_consumed = torch.cuda.Event()\n"),
        (
            _AFTER_YIELD,
            _AFTER_YIELD
            + "        if use_graph:\n"
            + "            self._graph_consumed.record(torch.cuda.current_stream(self._device))\n",
        ),
        (_STAGING, "        if graph:\n            self._graph_consumed.synchronize()\n" + _STAGING),
    ),
)
SHARED_READBACK = Mutant(
    "one readback event for all fills",
    "disk_table.py",
    (
        ("        readback = torch.cuda.Event()", "        readback = self._readback_event"),
        (_SLOT, _SLOT + "        self._readback_event = torch.cuda.Event()\n"),
    ),
)
ONE_EAGER_BUFFER = Mutant(
    "one eager buffer",
    "disk_table.py",
    (
        (
            """        self._eager_slot ^= 1
        self._eager_read[self._eager_slot].synchronize()
""",
            "",
        ),
    ),
)
ONE_FENCED_EAGER_BUFFER = Mutant(
    "one eager buffer, waited for", "disk_table.py", (("        self._eager_slot ^= 1\n", ""),)
)
FLAG_LEFT_SET = Mutant(
    "the flag left set after a failed launch",
    "disk_table.py",
    (("            self._flag.zero_()  # no graph will, and the next one would pass on stale rows\n", ""),),
)
LATE_CONTEXT = Mutant(
    "the context taken when the job runs",
    "disk_table.py",
    (
        (
            "self.fill(_decode_runs(contexts, self._token_readback[:size].tolist()), graph=True)",
            "self.fill(_decode_runs([self._context(r, r.device_len - 1) for r in batch.reqs], "
            "self._token_readback[:size].tolist()), graph=True)",
        ),
    ),
)
STUCK_AFTER_FAILED_FILL = Mutant(
    "a failed fill that does not raise the flag",
    "disk_table.py",
    (
        (
            "                self._flag.fill_(1)  # free the stream first; the step's output is lost\n",
            "",
        ),
    ),
)
LOST_ERROR = Mutant(
    "only the newest fill's error seen",
    "disk_table.py",
    (("        self._submitted.append(future)\n", "        self._submitted = deque([future])\n"),),
)
CANCEL_WITHOUT_WAITING = Mutant(
    "a cancel that does not wait for the fill", "filler.py", (("        self._future.exception()\n", ""),)
)
OUT_UNCHECKED = Mutant(
    "out not checked",
    "ple_hash.py",
    (("        constants.checked_out(out, input_ids)\n", "        pass\n"),),
)
EXTRA_CAST = Mutant(
    "the extra cast",
    "ple_hash.py",
    (("        _launch(input_ids, ", "        _launch(input_ids.long(), "),),
)
REMEMBERED_STARTS = Mutant(
    "token positions remembered by shape",
    "ple_hash.py",
    (
        (
            "    tokens = input_ids.shape[0]\n    if out is None:\n",
            """    if cu_seqlens is not None:
        key = ("starts", cu_seqlens.shape[0], input_ids.shape[0])
        if len(constants.launchers) > 64:
            constants.launchers.pop(next(iter(constants.launchers)))
        cu_seqlens = constants.launchers.setdefault(key, cu_seqlens.clone())
    tokens = input_ids.shape[0]
    if out is None:
""",
        ),
    ),
)
EVICTED_STARTS = Mutant(
    "starts remembered, captured and evicted",
    "hashing.py",
    (
        (
            "            cu_seqlens = None if meta.is_decode else meta.cu_seqlens\n            return ple_row_ids(",
            """            known = self.__dict__.setdefault("_known_starts", {})
            if tuple(meta.seq_lens) not in known and len(known) >= 64:
                known.pop(next(iter(known)))
            cu_seqlens = known.setdefault(tuple(meta.seq_lens), meta.cu_seqlens.clone())
            return ple_row_ids(""",
        ),
    ),
)
