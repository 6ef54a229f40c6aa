"""A table that cannot be right is refused, with file and key, from its headers alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from ple_engine.shards import RowSource, open_row_source
from ple_engine.tables import load_rows
from safetensors.torch import load_file, save_file
from shard_files import SCALE, small_spec, write_table

SPEC = small_spec()
KEY = "model.ple.ngram_embedding.shard_"


def rewrite(path: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


def drop(key: str) -> Callable[[dict[str, torch.Tensor]], None]:
    return lambda tensors: tensors.__delitem__(key)


def open_changed(folder: Path, change: Callable[[dict[str, torch.Tensor]], None], file: int = 2) -> RowSource:
    write_table(folder, SPEC)
    rewrite(folder / f"model-{file}.safetensors", change)
    return open_row_source(folder, SPEC)


def test_a_good_table(tmp_path: Path) -> None:
    table = write_table(tmp_path, SPEC)
    source = open_row_source(tmp_path, SPEC)
    assert (source.num_rows, source.head_dim, source.scale) == (*table.shape, SCALE)
    assert torch.equal(load_rows(source).view(torch.uint8), table)


def test_other_tensors_in_the_files_do_not_matter(tmp_path: Path) -> None:
    source = open_changed(
        tmp_path, lambda t: t.update({"mlp.weight": torch.ones(3), "mlp.weight_scale": torch.ones(3)})
    )
    assert source.scale == SCALE


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_a_scale_of_any_float_type(tmp_path: Path, dtype: torch.dtype) -> None:
    key = "model.ple.ngram_embedding.weight_scale"
    source = open_changed(tmp_path, lambda t: t.update({key: torch.tensor([0.375], dtype=dtype)}), file=0)
    assert source.scale == 0.375


def test_two_tables_are_told_apart_by_prefix(tmp_path: Path) -> None:
    table = write_table(tmp_path, SPEC)
    rewrite(
        tmp_path / "model-0.safetensors",
        lambda t: t.update({k.replace("model.ple", "other"): v.clone() for k, v in t.items()}),
    )
    with pytest.raises(ValueError, match=r"model-0.*shard_0.*prefix"):
        open_row_source(tmp_path, SPEC)
    assert open_row_source(tmp_path, SPEC, prefix="model.").num_rows == len(table)


class TestRefusals:
    def test_a_gap(self, tmp_path: Path) -> None:
        with pytest.raises(
            ValueError, match=r"shard_2: missing, a gap before .*model-2\.safetensors: .*shard_3"
        ):
            open_changed(tmp_path, drop(f"{KEY}2"))

    def test_another_dtype(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"model-2\.safetensors: .*shard_3: dtype BF16"):
            open_changed(tmp_path, lambda t: t.update({f"{KEY}3": t[f"{KEY}3"].to(torch.bfloat16)}))

    def test_another_shape(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"model-2\.safetensors: .*shard_3: shape"):
            open_changed(tmp_path, lambda t: t.update({f"{KEY}3": t[f"{KEY}3"][:-1].clone()}))

    def test_one_dimension(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"model-2\.safetensors: .*shard_3: shape"):
            open_changed(tmp_path, lambda t: t.update({f"{KEY}3": t[f"{KEY}3"].view(-1)}))

    def test_a_table_smaller_than_the_hash_addresses(self, tmp_path: Path) -> None:
        write_table(tmp_path, SPEC)
        larger = small_spec(base=600)
        with pytest.raises(ValueError, match=rf"model-2\.safetensors: .*shard_3: .* {larger.num_rows}"):
            open_row_source(tmp_path, larger)

    def test_the_last_file_missing(self, tmp_path: Path) -> None:
        write_table(tmp_path, SPEC)
        (tmp_path / "model-2.safetensors").unlink()
        with pytest.raises(ValueError, match=r"model-0\.safetensors: .*shard_1: the table ends here"):
            open_row_source(tmp_path, SPEC)

    def test_a_file_that_the_index_names_but_nobody_has(self, tmp_path: Path) -> None:
        write_table(tmp_path, SPEC)
        weight_map = {f"{KEY}{i}": f"model-{i // 2 * 2}.safetensors" for i in range(6)}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
        with pytest.raises(ValueError, match=r"model-4\.safetensors: .*shard_4: .*missing"):
            open_row_source(tmp_path, SPEC)

    def test_a_corrupt_index(self, tmp_path: Path) -> None:
        write_table(tmp_path, SPEC)
        (tmp_path / "model.safetensors.index.json").write_text("{")
        with pytest.raises(ValueError, match=r"index\.json"):
            open_row_source(tmp_path, SPEC)

    @pytest.mark.parametrize("size", [0, 5, 60, 2000])
    def test_a_file_cut_short(self, tmp_path: Path, size: int) -> None:
        write_table(tmp_path, SPEC)
        os.truncate(tmp_path / "model-2.safetensors", size)
        with pytest.raises(ValueError, match=r"model-2\.safetensors: (header|model\.ple)"):
            open_row_source(tmp_path, SPEC)

    @pytest.mark.parametrize(
        "header", [b"not json", b"[1, 2]", b'{"a": {"dtype": "U8"}}', b'{"a": 3}', b"\xff"]
    )
    def test_a_corrupt_header(self, tmp_path: Path, header: bytes) -> None:
        write_table(tmp_path, SPEC)
        path = tmp_path / "model-2.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        with pytest.raises(ValueError, match=r"model-2\.safetensors: header: corrupt"):
            open_row_source(tmp_path, SPEC)

    def test_no_scale(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"weight_scale: found 0"):
            open_changed(tmp_path, drop("model.ple.ngram_embedding.weight_scale"), file=0)

    @pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
    def test_a_scale_that_is_no_scale(self, tmp_path: Path, value: float) -> None:
        key = "model.ple.ngram_embedding.weight_scale"
        with pytest.raises(ValueError, match=r"model-0\.safetensors: .*weight_scale: scale"):
            open_changed(tmp_path, lambda t: t.update({key: torch.tensor(value)}), file=0)

    def test_an_empty_folder_and_none(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"no \*.safetensors file"):
            open_row_source(tmp_path, SPEC)
        with pytest.raises(ValueError, match="no such folder"):
            open_row_source(tmp_path / "none", SPEC)

    def test_a_checkpoint_without_a_table(self, tmp_path: Path) -> None:
        save_file({"mlp.weight": torch.ones(2)}, tmp_path / "model.safetensors")
        with pytest.raises(ValueError, match="shard_0: not in any file"):
            open_row_source(tmp_path, SPEC)
