"""Decode overlapped steps under a time limit: exit 0 when done, 3 when hung, and say at which step."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import torch
from ple_engine.decode import DecodeLoop
from ple_engine.disk_table import DiskRowTable
from ple_engine.hashing import NGramEmbedding
from ple_engine.shards import open_row_source
from shard_files import small_spec

STEPS, PATIENCE = 50, 10.0


def main(folder: str) -> None:
    spec = small_spec(base=5000)
    table = DiskRowTable(open_row_source(folder, spec), spec)

    def model(ids: torch.Tensor, lookup: Callable[[], torch.Tensor]) -> torch.Tensor:
        lookup()
        return (ids * 31 + 7) % 1000

    loop = DecodeLoop(NGramEmbedding(spec, "cuda"), table, model, [[1, 2, 3]])
    loop.prefill()
    launched = [0]
    finished = threading.Event()

    def watch() -> None:
        if finished.wait(PATIENCE):
            return
        print(f"hung at step {launched[0]}: no progress in {PATIENCE:.0f} s", flush=True)
        table._flag.fill_(1)  # let the GPU go before the process ends
        os._exit(3)

    loop.capture()
    torch.cuda.synchronize()
    threading.Thread(target=watch, daemon=True).start()
    loop.decode(STEPS, lambda step: launched.__setitem__(0, step + 1))
    finished.set()
    table.close()
    print(f"{STEPS} steps done")


if __name__ == "__main__":
    main(sys.argv[1])
