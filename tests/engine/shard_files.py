"""Small tables on disk, as checkpoints hold them."""

from __future__ import annotations

from pathlib import Path

import torch
from ple_engine.hash_spec import HashSpec
from safetensors.torch import save_file

HEAD_DIM = 32
SCALE = 0.25


def small_spec(base: int = 500, **overrides: int) -> HashSpec:
    values = {"vocab_size": 1000, "ngram_vocab_size_base": base, "heads_per_ngram": 8, "eos_token_id": 5}
    return HashSpec.derive(**{**values, **overrides})


def write_table(folder: Path, spec: HashSpec, shards: int = 4, head_dim: int = HEAD_DIM) -> torch.Tensor:
    """Write a table of random finite fp8 numbers, two shards a file; returns its bytes [rows, head_dim]."""
    rows = -(-spec.num_rows // shards)
    draw = torch.Generator().manual_seed(3)
    table = torch.randint(0, 120, (shards * rows, head_dim), dtype=torch.uint8, generator=draw)
    for begin in range(0, shards, 2):
        tensors = {
            f"model.ple.ngram_embedding.shard_{i}": table[i * rows : (i + 1) * rows]
            .clone()
            .view(torch.float8_e4m3fn)
            for i in range(begin, min(begin + 2, shards))
        }
        if begin == 0:
            tensors["model.ple.ngram_embedding.weight_scale"] = torch.tensor(SCALE)
        save_file(tensors, folder / f"model-{begin}.safetensors")
    return table
