"""Where the rows lie: safetensors shards, checked before anything is allocated."""

from __future__ import annotations

import json
import math
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ple_engine.hash_spec import HashSpec

_SHARD = re.compile(r"(?:^|\.)ngram_embedding\.shard_(\d+)$")
_SCALE = re.compile(r"(?:^|\.)weight_scale$")
_INDEX = "model.safetensors.index.json"
_SCALE_FORMATS = {"F32": "<f", "F64": "<d", "F16": "<e", "BF16": None}


@dataclass(frozen=True)
class Shard:
    """One tensor of rows: `path` from byte `base` on."""

    path: Path
    key: str
    base: int
    rows: int
    head_dim: int


@dataclass(frozen=True)
class RowSource:
    """A whole table on disk: equal shards in order, fp8 e4m3 rows of `head_dim` bytes, one scale."""

    shards: tuple[Shard, ...]
    scale: float

    @property
    def rows_per_shard(self) -> int:
        return self.shards[0].rows

    @property
    def head_dim(self) -> int:
        return self.shards[0].head_dim

    @property
    def num_rows(self) -> int:
        return len(self.shards) * self.rows_per_shard

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(shard.path for shard in self.shards))

    def check_covers(self, spec: HashSpec) -> None:
        """Raise ValueError, with the last file and key, if `spec` addresses rows that are not there."""
        if self.num_rows < spec.num_rows:
            last = self.shards[-1]
            raise ValueError(
                f"{last.path}: {last.key}: the table ends here with {self.num_rows} rows, but the hash "
                f"addresses {spec.num_rows}; is a shard missing, or is it another layer's hash?"
            )


@dataclass(frozen=True)
class _Tensor:
    path: Path
    key: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.path}: {self.key}"


def open_row_source(folder: Path | str, spec: HashSpec, prefix: str = "") -> RowSource:
    """The table in `folder`'s *.safetensors files, from keys that start with `prefix`.

    Raises ValueError with file and key for a corrupt or missing file, a gap in the shard indices, a wrong
    dtype or shape, a missing scale, or a table smaller than `spec` addresses. Reads headers only.
    """
    folder = Path(folder)
    tensors = [t for path in _files(folder) for t in _header(path) if t.key.startswith(prefix)]
    shards = _ordered_shards(folder, tensors)
    source = RowSource(shards, _scale(folder, tensors))
    source.check_covers(spec)
    return source


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder; pass the checkpoint's folder")
    files = sorted(folder.glob("*.safetensors"))
    index = folder / _INDEX
    if index.is_file():
        files = sorted({*files, *_indexed_files(index)})
    if not files:
        raise ValueError(f"{folder}: no *.safetensors file in it; pass the checkpoint's folder")
    return files


def _indexed_files(index: Path) -> set[Path]:
    """The files that the checkpoint's index names for this table; a missing one is an error with its key."""
    try:
        weight_map = dict(json.loads(index.read_bytes())["weight_map"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{index}: not a safetensors index ({error}); fetch it again") from error
    wanted = {key: index.parent / str(name) for key, name in weight_map.items() if _SHARD.search(key)}
    for key, path in wanted.items():
        if not path.is_file():
            raise ValueError(f"{path}: {key}: the index names this file, but it is missing; fetch it again")
    return set(wanted.values())


def _header(path: Path) -> list[_Tensor]:
    size = path.stat().st_size
    with path.open("rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else size
        if length + 8 > size:
            raise ValueError(f"{path}: header: corrupt, its length {length} passes the end; fetch it again")
        text = file.read(length)
    try:
        entries: dict[str, Any] = json.loads(text)
        entries.pop("__metadata__", None)
        tensors = [_tensor(path, key, entry, 8 + length) for key, entry in entries.items()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: header: corrupt, {error!r}; fetch the file again") from error
    for tensor in tensors:
        if not 8 + length <= tensor.begin <= tensor.end <= size:
            raise ValueError(f"{tensor}: data {tensor.begin}..{tensor.end} outside the file's {size} bytes")
    return tensors


def _tensor(path: Path, key: str, entry: dict[str, Any], data: int) -> _Tensor:
    begin, end = (int(offset) for offset in entry["data_offsets"])
    shape = tuple(int(n) for n in entry["shape"])
    return _Tensor(path, key, str(entry["dtype"]), shape, data + begin, data + end)


def _ordered_shards(folder: Path, tensors: list[_Tensor]) -> tuple[Shard, ...]:
    found: dict[int, _Tensor] = {}
    for tensor in tensors:
        match = _SHARD.search(tensor.key)
        if match is None:
            continue
        index = int(match.group(1))
        if index in found:
            raise ValueError(
                f"{tensor}: shard {index} is also {found[index]}; choose one table with a prefix"
            )
        found[index] = tensor
    if not found:
        raise ValueError(f"{folder}: ngram_embedding.shard_0: not in any file; is this a PLE checkpoint?")
    for index in range(max(found) + 1):
        if index not in found:
            above = found[min(i for i in found if i > index)]
            name = f"ngram_embedding.shard_{index}"
            raise ValueError(f"{folder}: {name}: missing, a gap before {above}; fetch the checkpoint again")
    return tuple(_shard(found[i], found[0]) for i in range(len(found)))


def _shard(tensor: _Tensor, first: _Tensor) -> Shard:
    if tensor.dtype != "F8_E4M3":
        raise ValueError(f"{tensor}: dtype {tensor.dtype}; rows must be F8_E4M3")
    if len(tensor.shape) != 2 or 0 in tensor.shape:
        raise ValueError(f"{tensor}: shape {list(tensor.shape)}; need [rows, head_dim]")
    if tensor.shape != first.shape:
        raise ValueError(
            f"{tensor}: shape {list(tensor.shape)}, but {first} has {list(first.shape)}; need one shape"
        )
    rows, head_dim = tensor.shape
    if tensor.end - tensor.begin != rows * head_dim:
        raise ValueError(
            f"{tensor}: {tensor.end - tensor.begin} bytes for {rows} rows of {head_dim}; corrupt"
        )
    return Shard(tensor.path, tensor.key, tensor.begin, rows, head_dim)


def _scale(folder: Path, tensors: list[_Tensor]) -> float:
    """The table's one scale: `...ngram_embedding.weight_scale`, or a plain `weight_scale`."""
    candidates = [t for t in tensors if _SCALE.search(t.key)]
    own = [t for t in candidates if "ngram_embedding" in t.key] or [
        t for t in candidates if t.key == "weight_scale"
    ]
    if len(own) != 1:
        names = ", ".join(str(t) for t in own) or str(folder)
        raise ValueError(f"{names}: weight_scale: found {len(own)}, need one scalar for the table")
    tensor = own[0]
    if tensor.dtype not in _SCALE_FORMATS or math.prod(tensor.shape) != 1:
        raise ValueError(f"{tensor}: {tensor.dtype} {list(tensor.shape)}; need one floating-point scalar")
    with tensor.path.open("rb") as file:
        file.seek(tensor.begin)
        raw = file.read(tensor.end - tensor.begin)
    layout = _SCALE_FORMATS[tensor.dtype] or "<f"
    raw = raw if tensor.dtype != "BF16" else b"\0\0" + raw
    if len(raw) != struct.calcsize(layout):
        raise ValueError(f"{tensor}: {len(raw)} bytes for one {tensor.dtype} scalar; corrupt")
    value = float(struct.unpack(layout, raw)[0])
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{tensor}: scale {value}; need a positive number")
    return value
