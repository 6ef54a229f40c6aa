"""Trees read, edited and compared in process against git itself, on random trees with names and ids that mislead."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from stackmerge.objects import EMPTY_TREE
from stackmerge.rawtree import Entry
from stackmerge.repository import Repository
from tests.sandbox import Sandbox

NAMES = ["a", "a.b", "a-b", "a0", "b", "40000", "40000 a", ".gitattributes", "é"]
# What an entry of a tree looks like, so that a part of an id can be taken for one.
PIECES = [b" a\0", b"40000 a\0", b"100644 b\0", b"\0", b" ", b"\xff\n", b"40000 40000\0"]
Files = dict[str, tuple[int, str]]


@st.composite
def ids(draw: st.DrawFn) -> str:
    text = b"".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8)))
    return (text + bytes(range(1, 21)))[:20].hex()


@st.composite
def trees(draw: st.DrawFn) -> Files:
    """Files by path: mode and id. No path is below another."""
    found: Files = {}
    for _ in range(draw(st.integers(0, 8))):
        path = "/".join(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)))
        clash = [p for p in found if p.startswith(path + "/") or path.startswith(p + "/")]
        if not clash:
            mode = draw(st.sampled_from([0o100644, 0o100755, 0o120000, 0o160000]))
            found[path] = (mode, draw(ids()))
    return found


def made_by_git(fork: Sandbox, files: Files) -> str:
    fork.git("read-tree", "--empty")
    lines = b"".join(b"%06o %s\t%s\0" % (mode, oid.encode(), p.encode()) for p, (mode, oid) in files.items())
    fork.git("update-index", "-z", "--index-info", stdin=lines)
    return fork.git("write-tree", "--missing-ok")


def compared_by_git(fork: Sandbox, old: str, new: str) -> dict[str, tuple[Entry | None, Entry | None]]:
    words = fork.git("diff-tree", "-r", "-z", "--no-renames", old, new).split("\0")
    found: dict[str, tuple[Entry | None, Entry | None]] = {}
    for said, path in zip(words[::2], words[1::2], strict=False):
        before, after, was, now, _ = said.lstrip(":").split(" ")
        sides = [Entry(int(mode, 8), oid) for mode, oid in ((before, was), (after, now))]
        first, second = (side if side.mode else None for side in sides)
        found[path] = (first, second)
    return found


def listed(fork: Sandbox, tree: str) -> dict[str, Entry]:
    """Every file and folder of a tree, by path."""
    found: dict[str, Entry] = {}
    for line in fork.git("ls-tree", "-r", "-t", "-z", tree).split("\0"):
        if line:
            info, _, path = line.partition("\t")
            mode, _, oid = info.split(" ")
            found[path] = Entry(int(mode, 8), oid)
    return found


def attributes_in(files: Mapping[str, tuple[int, str]]) -> set[tuple[str, str]]:
    return {
        (path, oid)
        for path, (mode, oid) in files.items()
        if path.rpartition("/")[2] == ".gitattributes" and mode in (0o100644, 0o100755)
    }


FILE = (0o100644, "1" * 40)


@settings(max_examples=40, deadline=None)
@given(old=trees(), new=trees())
@example(old={"a": FILE, "a-b": FILE}, new={"a-b": FILE, "a/b": FILE})  # a folder comes later than a file
@example(old={"a-b": FILE, "a/b": FILE}, new={"a": FILE, "a-b": FILE})
def test_trees_are_read_edited_and_compared_as_git_does_it(old: Files, new: Files) -> None:
    with tempfile.TemporaryDirectory() as root:
        fork = Sandbox(Path(root))
        first, second = made_by_git(fork, old), made_by_git(fork, new)
        with Repository(fork.path) as repository:
            objects = repository.objects
            paths = old.keys() | new.keys()
            changes = {path: Entry(*new[path]) if path in new else None for path in paths}
            assert objects.edit(first, changes) == second
            assert objects.edit(EMPTY_TREE, {path: Entry(*new[path]) for path in new}) == second
            assert objects.diff(first, second) == compared_by_git(fork, first, second)
            everything = listed(fork, first) | listed(fork, second)
            for tree in (first, second):
                there = listed(fork, tree)
                assert {path: objects.lookup(tree, path) for path in everything} == {
                    path: there.get(path) for path in everything
                }
                assert [(n.decode(), oid) for n, oid in objects.folders(tree)] == [
                    (p, e.oid) for p, e in there.items() if e.mode == 0o040000 and "/" not in p
                ]


@settings(max_examples=40, deadline=None)
@given(old=trees(), new=trees())
def test_other_attributes_are_noticed_and_nothing_else_is(old: Files, new: Files) -> None:
    with tempfile.TemporaryDirectory() as root:
        fork = Sandbox(Path(root))
        blob = fork.git("hash-object", "-w", "--stdin", stdin=b"* text\n")
        old = {p: (m, blob if p.endswith(".gitattributes") else oid) for p, (m, oid) in old.items()}
        first, second = made_by_git(fork, old), made_by_git(fork, new)
        with Repository(fork.path) as repository:
            repository.attributes.use(first)
            assert repository.attributes.differ(second) == (attributes_in(old) != attributes_in(new))


def test_odd_entries_are_found_by_their_names_and_kept_in_order(fork: Sandbox) -> None:
    """Of trees that an old or hostile tool wrote: modes with other digits, and what only looks like another entry."""
    oid, empty = "1" * 40, fork.git("mktree", stdin=b"")
    entries = [
        (b"100644", b"foo-bar"),
        (b"0100644", b"foo.txt"),
        (b"040000", b"foo"),
        (b"1", b"000 b"),
        (b"100644", b""),
    ]
    data = b"".join(
        b"%s %s\0%s" % (mode, name, bytes.fromhex(empty if name == b"foo" else oid)) for mode, name in entries
    )
    tree = fork.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
    with Repository(fork.path) as repository:
        objects = repository.objects
        assert objects.lookup(tree, "foo.txt") == Entry(0o100644, oid)
        assert objects.lookup(tree, "foo") == Entry(0o040000, empty)
        assert objects.lookup(tree, "b") is None
        assert objects.lookup(tree, "") is None
        old = objects.edit(tree, {"000 b": None, "": None})
        names = list(objects.tree(objects.edit(old, {"zzz": Entry(0o100644, oid)})))
    assert names == [b"foo-bar", b"foo.txt", b"foo", b"zzz"]
