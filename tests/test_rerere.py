"""Ids, preimages and layout worked out by hand from the rules of git's rerere.c."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from stackmerge.rerere import (
    Entry,
    MalformedConflict,
    format_merge_rr,
    has_markers,
    hunk_ids,
    parse,
    parse_merge_rr,
    read_rr_cache,
    write_rr_cache,
)

ID = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40
PREIMAGE = b"<<<<<<<\na\n=======\nb\n>>>>>>>\n"


def sha1(text: bytes) -> str:
    return hashlib.sha1(text).hexdigest()


def names(directory: Path) -> list[str]:
    return sorted(child.name for child in directory.iterdir())


def preimage_of(text: bytes, *, marker_size: int = 7) -> bytes:
    conflict = parse(text, marker_size=marker_size)
    assert conflict is not None
    return conflict.preimage


def refusal(text: bytes) -> str:
    with pytest.raises(MalformedConflict) as caught:
        parse(text)
    return str(caught.value)


def test_a_hunk_is_hashed_as_its_sorted_sides_and_context_is_not() -> None:
    conflict = parse(b"before\n<<<<<<< HEAD\nzebra\n=======\nant\n>>>>>>> topic\nafter\n")
    assert conflict is not None
    assert conflict.id == sha1(b"ant\n\0zebra\n\0")
    assert conflict.preimage == b"before\n<<<<<<<\nant\n=======\nzebra\n>>>>>>>\nafter\n"
    assert conflict.hunks == 1


def test_hunks_are_hashed_in_file_order() -> None:
    text = b"<<<<<<< x\n2\n=======\n1\n>>>>>>> y\nmid\n<<<<<<< x\n=======\nq\n>>>>>>> y\n"
    conflict = parse(text)
    assert conflict is not None
    assert (conflict.id, conflict.hunks) == (sha1(b"1\n\x002\n\0\0q\n\0"), 2)


def test_a_sha256_repository_hashes_with_sha256() -> None:
    conflict = parse(b"<<<<<<< x\na\n=======\nb\n>>>>>>> y\n", algorithm="sha256")
    assert conflict is not None
    assert conflict.id == hashlib.sha256(b"a\n\0b\n\0").hexdigest()


def test_a_side_that_begins_the_other_sorts_first() -> None:
    text = b"<<<<<<< x\na\nb\n=======\na\n>>>>>>> y\n"
    assert preimage_of(text) == b"<<<<<<<\na\n=======\na\nb\n>>>>>>>\n"


def test_bytes_above_127_sort_after_ascii() -> None:
    text = b"<<<<<<< x\n\xff\n=======\nz\n>>>>>>> y\n"
    assert preimage_of(text) == b"<<<<<<<\nz\n=======\n\xff\n>>>>>>>\n"


def test_the_merge_base_of_diff3_style_is_dropped() -> None:
    for base_marker in (b"||||||| 1234567\n", b"|||||||\n", b"|||||||\r\n"):
        text = b"<<<<<<< x\na\n" + base_marker + b"old\n=======\nb\n>>>>>>> y\n"
        assert preimage_of(text) == PREIMAGE


def test_text_without_an_opening_marker_has_no_conflict() -> None:
    for text in (
        b"",
        b"plain",
        b"=======\n||||||| x\n>>>>>>> y\n",
        b"<<<<<<<\n",
        b"<<<<<<<\tx\n",
        b" <<<<<<< x\n",
    ):
        assert parse(text) is None


def test_runs_of_another_length_are_content() -> None:
    text = b"<<<<<<< x\n======\n========\n<<<<<<<< x\n>>>>>> y\n=======\n>>>>>>>\n>>>>>>> y\n"
    conflict = parse(text)
    assert conflict is not None
    assert conflict.id == sha1(b"======\n========\n<<<<<<<< x\n>>>>>> y\n\0>>>>>>>\n\0")


def test_marker_size_comes_from_the_attribute() -> None:
    text = b"<<< x\nb\n=======\n===\na\n>>> y"
    assert parse(text) is None
    assert preimage_of(text, marker_size=3) == b"<<<\na\n===\nb\n=======\n>>>\n"
    with pytest.raises(ValueError, match="at least one"):
        parse(text, marker_size=0)


def test_white_space_after_a_separator_is_space_tab_return_or_newline() -> None:
    for end in (b"\n", b" \n", b"\tx\n", b"\r\n", b"\rx\n"):
        assert preimage_of(b"<<<<<<< x\na\n=======" + end + b"b\n>>>>>>> y\n") == PREIMAGE
    for end in (b"\v\n", b"\f\n", b"\0\n", b"\xa0\n", b"x\n"):
        assert "line 5: '>>>>>>>'" in refusal(b"1\n<<<<<<< x\na\n=======" + end + b">>>>>>> y\n")


def test_a_separator_at_the_end_of_the_file_is_content() -> None:
    assert refusal(b"1\n<<<<<<< x\n=======") == "line 2: the conflict begun here has no end"


def test_a_lone_return_ends_no_line() -> None:
    assert parse(b"a\r<<<<<<< x\n") is None
    conflict = parse(b"<<<<<<< x\r\na\r=======\r\n=======\r\nb\r\n>>>>>>> y\r\n")
    assert conflict is not None
    assert conflict.preimage == b"<<<<<<<\na\r=======\r\n=======\nb\r\n>>>>>>>\n"


def test_lines_outside_hunks_are_cut_at_a_nul_and_sides_are_not() -> None:
    text = b"x\0y\nz\n<<<<<<< x\na\0a\n=======\nb\n>>>>>>> y\nend\0"
    conflict = parse(text)
    assert conflict is not None
    assert conflict.preimage == b"xz\n<<<<<<<\na\0a\n=======\nb\n>>>>>>>\nend"
    assert conflict.id == sha1(b"a\0a\n\0b\n\0")


def test_a_nested_conflict_is_normalised_into_the_side_that_holds_it() -> None:
    inner = b"<<<<<<< i\nq\n=======\np\n>>>>>>> j\n"
    sorted_inner = b"<<<<<<<\np\n=======\nq\n>>>>>>>\n"
    first = parse(b"<<<<<<< x\n" + inner + b"=======\nb\n>>>>>>> y\n")
    second = parse(b"<<<<<<< x\nb\n=======\n" + inner + b">>>>>>> y\n")
    assert first is not None
    assert first == second
    assert (first.id, first.hunks) == (sha1(sorted_inner + b"\0b\n\0"), 1)


def test_a_nested_conflict_in_the_merge_base_joins_the_second_side() -> None:
    text = b"<<<<<<< x\nb\n||||||| o\nold\n<<<<<<< i\nq\n=======\np\n>>>>>>> j\n=======\nz\n>>>>>>> y\n"
    conflict = parse(text)
    assert conflict is not None
    assert conflict.id == sha1(b"<<<<<<<\np\n=======\nq\n>>>>>>>\nz\n\0b\n\0")


def test_markers_out_of_order_refuse_the_file_and_name_the_line() -> None:
    assert refusal(b"1\n<<<<<<< x\n2\n>>>>>>> y\n") == (
        "line 4: '>>>>>>>' is out of place in the conflict begun on line 2"
    )
    assert "line 3: '======='" in refusal(b"<<<<<<< x\n=======\n=======\n>>>>>>> y\n")
    assert "line 3: '|||||||'" in refusal(b"<<<<<<< x\n=======\n|||||||\n>>>>>>> y\n")
    assert "line 3: '|||||||'" in refusal(b"<<<<<<< x\n|||||||\n||||||| z\n=======\n>>>>>>> y\n")
    assert "line 3: '>>>>>>>'" in refusal(b"<<<<<<< x\n|||||||\n>>>>>>> y\n")
    assert "line 3: the conflict" in refusal(b"<<<<<<< x\n=======\n<<<<<<< z\n")


def test_deep_nesting_is_no_recursion() -> None:
    depth = 3000
    text = b"<<<<<<< x\n" * depth + b"=======\n>>>>>>> y\n" * depth
    conflict = parse(text)
    assert conflict is not None
    assert conflict.hunks == 1


def test_left_over_markers_are_seen() -> None:
    for text in (
        b"<<<<<<< x\n=======\n>>>>>>> y\n",  # whole
        b"a\n=======\nb\n>>>>>>> y\n",  # the first side taken, the rest forgotten
        b"<<<<<<< x\na\n",
        b"a\n>>>>>>> y",
        PREIMAGE,  # rerere's own form
        b"a\n>>>>>>>",
        b"<<<<<<<\r\n",
    ):
        assert has_markers(text), text
    for text in (
        b"",
        b"Heading\n=======\n",
        b" <<<<<<< x\n",
        b">>>>>>>> y\n",
        b">>>>>>\n",
        b"<<<<<<<x\n",
        b"|||||||\n",
    ):
        assert not has_markers(text), text
    assert has_markers(b">>>>>>>>> y\n", marker_size=9)


def test_merge_rr_round_trip_sorted_by_path() -> None:
    entries = [(OTHER, 12, b"dir/z"), (ID, 0, b"a\tb\nc")]
    data = ID.encode() + b"\ta\tb\nc\0" + OTHER.encode() + b".12\tdir/z\0"
    assert format_merge_rr(entries) == data
    assert parse_merge_rr(data) == sorted(entries, key=lambda entry: entry[2])
    assert parse_merge_rr(b"") == []
    assert format_merge_rr([]) == b""


@pytest.mark.parametrize(
    "record", [b"zz\tpath", ID.encode() + b"path", ID.encode() + b".x\tpath", ID.encode() + b"\t", b""]
)
def test_a_corrupt_merge_rr_names_the_entry(record: bytes) -> None:
    with pytest.raises(MalformedConflict, match=r"entry 2: .*corrupt MERGE_RR"):
        parse_merge_rr(ID.encode() + b"\tgood\0" + record + b"\0")


def test_entries_take_the_first_free_slot_and_are_found_again(tmp_path: Path) -> None:
    entries = [
        Entry(ID, 0, PREIMAGE, b"one"),
        Entry(ID, 1, PREIMAGE, b"two"),
        Entry(OTHER, 7, PREIMAGE, None),
    ]
    assert write_rr_cache(tmp_path / "rr-cache", entries) == 3
    home = tmp_path / "rr-cache" / ID
    assert names(home) == ["postimage", "postimage.1", "preimage", "preimage.1"]
    assert (home / "postimage.1").read_bytes() == b"two"
    assert list(read_rr_cache(tmp_path / "rr-cache")) == [*entries[:2], Entry(OTHER, 0, PREIMAGE, None)]
    assert write_rr_cache(tmp_path / "rr-cache", reversed(entries)) == 0


def test_a_slot_with_either_image_is_not_free(tmp_path: Path) -> None:
    home = tmp_path / ID
    home.mkdir()
    (home / "preimage").write_bytes(b"waiting")
    (home / "postimage.1").write_bytes(b"astray")
    (home / "preimage.3").write_bytes(b"later")
    (home / "thisimage").write_bytes(b"git's scratch file")
    assert write_rr_cache(tmp_path, [Entry(ID, 0, PREIMAGE, b"done")]) == 1
    assert [(e.variant, e.preimage, e.postimage) for e in read_rr_cache(tmp_path)] == [
        (0, b"waiting", None),
        (2, PREIMAGE, b"done"),
        (3, b"later", None),
    ]
    assert (home / "preimage").read_bytes() == b"waiting"


def test_variants_are_read_in_numeric_order(tmp_path: Path) -> None:
    write_rr_cache(tmp_path, [Entry(ID, k, PREIMAGE, b"%d" % k) for k in range(12)])
    assert [(e.variant, e.postimage) for e in read_rr_cache(tmp_path)] == [(k, b"%d" % k) for k in range(12)]


def test_foreign_and_corrupt_names_are_skipped_and_reported(tmp_path: Path) -> None:
    cache, outside = tmp_path / "rr-cache", tmp_path / "outside"
    write_rr_cache(cache, [Entry(ID, 0, PREIMAGE, b"good")])
    write_rr_cache(outside, [Entry(OTHER, 0, PREIMAGE, b"secret")])
    home = cache / ID
    (cache / OTHER).symlink_to(outside / OTHER)
    (cache / "README").write_bytes(b"")
    (cache / ("e" * 40)).write_bytes(b"a file")
    (home / "preimage.1").symlink_to(outside / OTHER / "preimage")
    (home / "postimage.2").write_bytes(b"no preimage")
    (home / "preimage.3").write_bytes(b"")
    (home / "preimage.04").write_bytes(PREIMAGE)
    (home / "preimage.-5").write_bytes(PREIMAGE)
    os.mkfifo(home / "preimage.6")
    skipped: dict[str, str] = {}
    found = list(read_rr_cache(cache, lambda path, reason: skipped.update({path.name: reason})))
    assert found == [Entry(ID, 0, PREIMAGE, b"good")]
    assert skipped == {
        OTHER: "not a directory",
        "README": "not the name of a conflict id",
        "e" * 40: "not a directory",
        "preimage.1": "not a regular file",
        "preimage.2": "missing, although there is a postimage",
        "preimage.3": "empty",
        "preimage.04": "neither a preimage nor a postimage",
        "preimage.-5": "neither a preimage nor a postimage",
        "preimage.6": "not a regular file",
    }
    assert list(read_rr_cache(cache)) == found


def test_a_missing_cache_is_empty(tmp_path: Path) -> None:
    assert list(read_rr_cache(tmp_path / "none")) == []


def test_nothing_is_written_outside_the_cache(tmp_path: Path) -> None:
    cache, outside = tmp_path / "rr-cache", tmp_path / "outside"
    outside.mkdir()
    cache.mkdir()
    (cache / ID).symlink_to(outside)
    with pytest.raises(NotADirectoryError, match="is a link"):
        write_rr_cache(cache, [Entry(ID, 0, PREIMAGE, b"")])
    for name in ("../outside", "", ID.upper(), ID + "\n"):
        with pytest.raises(ValueError, match="not a conflict id"):
            write_rr_cache(cache, [Entry(name, 0, PREIMAGE, b"")])
    assert names(outside) == []


def test_a_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "hardlink_to", full)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_rr_cache(tmp_path, [Entry(ID, 0, PREIMAGE, b"x")])
    assert names(tmp_path / ID) == []


def test_each_hunk_has_the_id_that_it_would_have_alone() -> None:
    one = b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    two = b"<<<<<<< ours\nd\n=======\nc\n>>>>>>> theirs\n"
    alone = [parse(b"x\n" + hunk + b"y\n") for hunk in (one, two)]
    assert hunk_ids(b"before\n" + one + b"between\n" + two) == [found.id for found in alone if found]
    assert hunk_ids(b"nothing\n") == []
