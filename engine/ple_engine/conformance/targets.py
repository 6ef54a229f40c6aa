"""The trees that the suites run on: where the classes are, and how each tree spells a call."""

from __future__ import annotations

import ctypes
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ple_engine.hash_spec import HashSpec


class TargetError(Exception):
    """The tree cannot be tested; one line says why."""


@dataclass(frozen=True)
class HashCase:
    """One hash on one device, as a target offers it.

    kernel     (ids, context, cu_seqlens or None, out or None) to a call of the Triton kernel, ready to run:
               what a tree builds beforehand and keeps is built by then
    row_ids    (metadata, out or None): the call the model makes
    reference  (metadata): torch operations
    """

    spec: HashSpec
    kernel: Callable[..., Callable[[], torch.Tensor]]
    row_ids: Callable[..., torch.Tensor]
    reference: Callable[..., torch.Tensor]


class Target:
    """A tree under test."""

    name = ""
    big_in_interpreter = True  # whether 8,192 tokens take seconds, not minutes, in Triton's interpreter

    def check(self, suites: list[str]) -> None:
        """Import what the suites need. Raises TargetError in one line."""

    def hash_case(self, spec: HashSpec, device: torch.device) -> HashCase:
        raise NotImplementedError

    def disk_row_table(self) -> type:
        raise NotImplementedError


class EngineTarget(Target):
    """This package."""

    name = "ple_engine"

    def hash_case(self, spec: HashSpec, device: torch.device) -> HashCase:
        from ple_engine.hashing import NGramEmbedding
        from ple_engine.ple_hash import ple_row_ids

        embedding = NGramEmbedding(spec, device)

        def kernel(ids: Any, context: Any, cu_seqlens: Any, out: Any = None) -> Callable[[], torch.Tensor]:
            return lambda: ple_row_ids(ids, context, cu_seqlens, embedding.constants, out=out)

        return HashCase(spec, kernel, embedding.row_ids, embedding.row_ids_reference)

    def disk_row_table(self) -> type:
        from ple_engine.disk_table import DiskRowTable

        return DiskRowTable


class FreeTokenTarget(Target):
    """A FreeToken tree, or one laid out like it, at `tree`."""

    name = "freetoken"
    big_in_interpreter = False
    _KERNEL = "freetoken.kernel.triton.ple_hash"
    _EMBEDDING = "freetoken.models.qwen4_exp.ple"
    _DISK = "freetoken.models.qwen4_exp.ple_disk"

    def __init__(self, tree: Path) -> None:
        self._root = tree / "python"

    def check(self, suites: list[str]) -> None:
        modules = [self._KERNEL, self._EMBEDDING] if "kernel" in suites else []
        if set(suites) - {"kernel"}:
            modules.append(self._DISK)
        for module in modules:
            path = self._root.joinpath(*module.split(".")).with_suffix(".py")
            if not path.is_file():
                raise TargetError(
                    f"{path}: missing; the freetoken target needs it (is --tree a FreeToken tree?)"
                )
        sys.path.insert(0, str(self._root))
        for module in modules:
            try:
                importlib.import_module(module)
            except Exception as error:
                raise TargetError(
                    f"{self._root}: cannot import {module}: {type(error).__name__}: {error}"
                ) from error

    def hash_case(self, spec: HashSpec, device: torch.device) -> HashCase:
        embedding = self._embedding(spec, device)
        ple_row_ids = importlib.import_module(self._KERNEL).ple_row_ids
        names = list(inspect.signature(ple_row_ids).parameters)

        def kernel(ids: Any, context: Any, cu_seqlens: Any, out: Any = None) -> Callable[[], torch.Tensor]:
            known = {
                "input_ids": ids,
                "ngram_context": context,
                "multipliers": embedding.layer_multipliers,
                "vocab_sizes": embedding.ngram_heads_vocab_sizes,
                "offsets": embedding.ngram_heads_offsets,
                "eos_token_id": spec.eos_token_id,
                "heads_per_ngram": spec.heads_per_ngram,
                "out": out,
                **_token_index(ids, context, cu_seqlens),
            }
            unknown = [name for name in names if name not in known]
            if unknown:
                raise TargetError(
                    f"{self._KERNEL}: ple_row_ids takes {unknown[0]}, which the suite does not know"
                )
            return lambda: ple_row_ids(**{name: known[name] for name in names})

        return HashCase(spec, kernel, embedding.row_ids, embedding.row_ids_reference)

    def _embedding(self, spec: HashSpec, device: torch.device) -> Any:
        """An NGramEmbedding without its constructor, which takes the whole model's configuration."""
        cls = importlib.import_module(self._EMBEDDING).NGramEmbedding
        embedding = cls.__new__(cls)
        embedding.ngram_size = spec.ngram_size
        embedding.heads_per_ngram = spec.heads_per_ngram
        embedding.num_heads = spec.num_heads
        embedding.eos_token_id = spec.eos_token_id
        embedding.layer_multipliers = torch.tensor(spec.multipliers, device=device)
        embedding.ngram_heads_vocab_sizes = torch.tensor(spec.vocab_sizes, device=device)
        embedding.ngram_heads_offsets = torch.tensor(spec.offsets, device=device)
        embedding._token_index_cache = {}
        embedding._table = None
        return embedding

    def disk_row_table(self) -> type:
        table: type = importlib.import_module(self._DISK).DiskRowTable
        _provide_signal("freetoken.kernel")
        return table


def _token_index(ids: Any, context: Any, cu_seqlens: Any) -> dict[str, Any]:
    """How a kernel may ask which request a token is in: by starts, or by an index built beforehand."""
    token = torch.arange(ids.numel(), device=ids.device)
    starts = torch.arange(context.shape[0] + 1, device=ids.device) if cu_seqlens is None else cu_seqlens
    request = torch.searchsorted(starts[1:].contiguous(), token.to(starts.dtype), right=True)
    local = token - starts[request.clamp(max=max(context.shape[0] - 1, 0))]
    return {
        "cu_seqlens": cu_seqlens,
        "req_index": request.to(torch.int32),
        "local_index": local.to(torch.int32),
    }


def _provide_signal(package: str) -> None:
    """A failed fill raises the flag through a compiled helper; stand in where the tree has none built."""
    try:
        parent = importlib.import_module(package)
    except ImportError:
        parent = types.ModuleType(package)
        sys.modules[package] = parent
    for name, function in {"_ple_store": "signal_flag", "row_store": "signal"}.items():
        try:
            importlib.import_module(f"{package}.{name}")
        except ImportError:
            module: Any = types.ModuleType(f"{package}.{name}")
            setattr(module, function, _raise_flag)
            sys.modules[f"{package}.{name}"] = module
            setattr(parent, name, module)


def _raise_flag(flag: torch.Tensor | int) -> None:
    address = flag if isinstance(flag, int) else flag.data_ptr()
    ctypes.c_int64.from_address(address).value = 1


def make_target(name: str, tree: Path | None) -> Target:
    """The target called `name`. Raises TargetError."""
    if name == "ple_engine":
        return EngineTarget()
    if tree is None:
        raise TargetError(f"target {name} needs --tree, the folder of the tree to test")
    return FreeTokenTarget(tree)
