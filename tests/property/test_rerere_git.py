"""The same ids, preimages, slots and replays as the real git rerere, on thousands of random files.

STACKMERGE_GIT names the git program, STACKMERGE_EXAMPLES multiplies the number of examples.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackmerge.rerere import (
    Conflict,
    Entry,
    MalformedConflict,
    format_merge_rr,
    has_markers,
    parse,
    parse_merge_rr,
    read_rr_cache,
    write_rr_cache,
)

GIT = os.environ.get("STACKMERGE_GIT", "git")
FACTOR = int(os.environ.get("STACKMERGE_EXAMPLES", "1"))
# The plain run is the same every time, so that it never fails by surprise; a multiplied one explores.
COMMON = settings(
    deadline=None, derandomize=FACTOR == 1, database=None, suppress_health_check=list(HealthCheck)
)
EMPTY_BLOB = {
    "sha1": b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "sha256": b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


@dataclass(frozen=True)
class Repository:
    root: Path
    config: tuple[str, ...]

    def git(self, *arguments: str, stdin: bytes = b"", allowed: tuple[int, ...] = (0,)) -> tuple[int, bytes]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_NAME": "T" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "t@example.com" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")},
        }
        command = [GIT, *(part for setting in self.config for part in ("-c", setting)), *arguments]
        done = subprocess.run(command, cwd=self.root, env=environment, input=stdin, capture_output=True)
        assert done.returncode in allowed, (command, done.returncode, done.stderr[-2000:])
        return done.returncode, done.stdout

    @property
    def cache(self) -> Path:
        return self.root / ".git/rr-cache"

    def merge_rr(self) -> bytes:
        path = self.root / ".git/MERGE_RR"
        return path.read_bytes() if path.exists() else b""

    def file(self, path: bytes) -> Path:
        return self.root / os.fsdecode(path)

    def read(self, paths: list[bytes]) -> dict[bytes, bytes]:
        return {path: self.file(path).read_bytes() for path in paths}


@contextmanager
def repository(*config: str, object_format: str = "sha1") -> Iterator[Repository]:
    pinned = ("rerere.enabled=true", "gc.auto=0", "maintenance.auto=false", "advice.mergeConflict=false")
    with TemporaryDirectory() as root:
        made = Repository(Path(root), (*pinned, *config))
        made.git("init", "-q", "--template=", f"--object-format={object_format}")
        yield made


Replay = Callable[[bytes, bytes, bytes, int], bytes | None]


@dataclass
class Model:
    """What one run of git rerere does, told with stackmerge.rerere (do_plain_rerere in git's rerere.c)."""

    size_of: Callable[[bytes], int]
    replay: Replay
    algorithm: str = "sha1"
    cache: dict[str, dict[int, Entry]] = field(default_factory=dict)
    merge_rr: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    replayed: int = 0
    recorded: int = 0
    refused: int = 0

    def scan(self, path: bytes, content: bytes) -> Conflict | None:
        size = self.size_of(path)
        try:
            conflict = parse(content, marker_size=size, algorithm=self.algorithm)
        except MalformedConflict:
            assert has_markers(content, marker_size=size)
            raise
        assert conflict is None or has_markers(content, marker_size=size)
        return conflict

    def run(self, worktree: dict[bytes, bytes]) -> None:
        """Process the unmerged paths of a work tree; replays change it."""
        pending: dict[bytes, Conflict] = {}
        for path in sorted(worktree):
            try:
                conflict = self.scan(path, worktree[path])
            except MalformedConflict:
                self.forget(path)
                self.refused += 1
                continue
            if conflict is not None:
                self.forget(path)
                pending[path] = conflict
        for path in sorted({*self.merge_rr, *pending}):
            if path in pending:
                self.handle(path, pending[path], worktree)
            else:
                self.record_postimage(path, worktree[path])

    def forget(self, path: bytes) -> None:
        if path in self.merge_rr:
            conflict_id, slot = self.merge_rr.pop(path)
            del self.cache[conflict_id][slot]

    def record_postimage(self, path: bytes, content: bytes) -> None:
        conflict_id, slot = self.merge_rr.pop(path)
        variants = self.cache[conflict_id]
        variants[slot] = Entry(conflict_id, slot, variants[slot].preimage, content)

    def handle(self, path: bytes, conflict: Conflict, worktree: dict[bytes, bytes]) -> None:
        variants = self.cache.setdefault(conflict.id, {})
        for _, known in sorted(variants.items()):
            if known.postimage is None:
                continue
            result = self.replay(conflict.preimage, known.preimage, known.postimage, self.size_of(path))
            if result is not None:
                worktree[path] = result
                self.replayed += 1
                return
        slot = next(k for k in range(len(variants) + 1) if k not in variants)
        variants[slot] = Entry(conflict.id, slot, conflict.preimage, None)
        self.merge_rr[path] = (conflict.id, slot)
        self.recorded += 1

    def check(self, repo: Repository, worktree: dict[bytes, bytes]) -> None:
        """git left the same work tree, the same cache and the same MERGE_RR."""
        assert repo.read(list(worktree)) == worktree
        expected = [
            entry for _, variants in sorted(self.cache.items()) for _, entry in sorted(variants.items())
        ]
        skipped: list[Path] = []
        assert list(read_rr_cache(repo.cache, lambda path, _: skipped.append(path))) == expected
        assert skipped == []
        entries = [(conflict_id, slot, path) for path, (conflict_id, slot) in self.merge_rr.items()]
        assert repo.merge_rr() == format_merge_rr(entries)
        assert parse_merge_rr(repo.merge_rr()) == sorted(entries, key=lambda entry: entry[2])


def git_merge_file(repo: Repository) -> Replay:
    scratch = repo.root / ".git"

    def replay(this: bytes, preimage: bytes, postimage: bytes, size: int) -> bytes | None:
        names = ("this", "pre", "post")
        for name, content in zip(names, (this, preimage, postimage), strict=True):
            (scratch / name).write_bytes(content)
        arguments = [f"--marker-size={size}", *(f".git/{name}" for name in names)]
        code, result = repo.git("merge-file", "-p", "-q", *arguments, allowed=tuple(range(256)))
        return result if code == 0 else None

    return replay


CONTENT = (
    *(b"a\n", b"b\n", b"c\n", b"\n", b"a\r\n", b"lone\rreturn\n", b"\r\n", b"nul\0tail\n"),
    *(
        b"\0\n",
        b"\xff\xfe\n",
        b" <<<<<<< x\n",
        b"end\0",
        b"joined",
        b"=======x\n",
        b"<<<<<<<\n",
        b">>>>>>>\n",
    ),
)
ENDINGS = (b" x\n", b" \n", b" x\r\n", b" x\0y\n", b"\n", b"\r\n", b"\tx\n", b"\rx\n")
ODD_ENDINGS = (b"\v\n", b"\f\n", b"\0\n", b"", b"x\n", b"\xa0\n", b"\n", b"\t\n")


def conflicted_texts(program: bytes, size: int) -> list[bytes]:
    """Files made from a program of one byte a line: mostly ordered markers, and every kind of mistake."""
    texts: list[bytes] = []
    lines: list[bytes] = []
    opened: list[bytes] = []

    def mark(char: bytes, argument: int) -> None:
        lines.append(char * size + ENDINGS[argument % (4 if char in b"<>" else 8)])

    def advance(argument: int) -> None:
        char = b"<" if not opened else b">" if opened[-1] == b"=" else b"|" if argument == 7 else b"="
        if opened and opened[-1] == b"|":
            char = b"="
        mark(char, argument)
        if char == b"<":
            opened.append(char)
        elif char == b">":
            opened.pop()
        else:
            opened[-1] = char

    for kind, argument in (divmod(byte, 16) for byte in program):
        if kind < 7:
            lines.append(CONTENT[argument])
        elif kind < 11:
            advance(argument)
        elif kind == 11:
            mark(b"<", argument)
            opened.append(b"<")
        elif kind == 12:
            lines.append(b"<|=>"[argument % 4 :][:1] * (size + (-1, 1, 2, size)[argument // 4]) + b" x\n")
        elif kind == 13:
            lines.append(b"<|=>"[argument % 4 :][:1] * size + ODD_ENDINGS[argument // 2])
        elif kind == 14 and argument == 0:
            mark(b"<|=>"[len(lines) % 4 :][:1], argument)
        elif kind == 15:
            while opened and argument < 14:
                advance(argument)
            texts.append(b"".join(lines).removesuffix(b"\n" if argument % 2 else b""))
            lines, opened = [], []
    return texts


@settings(COMMON, max_examples=20 * FACTOR)
@given(
    program=st.binary(min_size=3000, max_size=5000),
    size=st.sampled_from([7, 7, 7, 1, 3, 9, 32]),
    object_format=st.sampled_from(["sha1", "sha1", "sha1", "sha256"]),
)
def test_any_text_is_recorded_as_git_records_it(program: bytes, size: int, object_format: str) -> None:
    with repository(object_format=object_format) as repo:
        (repo.root / ".gitattributes").write_text(f"* conflict-marker-size={size}\n")
        texts = conflicted_texts(program, size)
        worktree = {b"f%d%s" % (k, (b"", b"\t", b"\n", b" \xc3\xa9")[k % 4]): t for k, t in enumerate(texts)}
        stages = [(path, stage) for path in worktree for stage in (2, 3)]
        index = b"".join(b"100644 %s %d\t%s\0" % (EMPTY_BLOB[object_format], s, p) for p, s in stages)
        for path, content in worktree.items():
            repo.file(path).write_bytes(content)
        repo.git("update-index", "-z", "--index-info", stdin=index)
        repo.git("rerere")
        model = Model(lambda _: size, git_merge_file(repo), object_format)
        model.run(worktree)
        model.check(repo, worktree)


SIZES = {b"plain": 7, b"raw": 7, b"crlf": 7, b"size9": 9, b"size3": 3}
ATTRIBUTES = (
    b"crlf/* text eol=crlf\nraw/* -text\nsize9/* conflict-marker-size=9\nsize3/* conflict-marker-size=3\n"
)
SMALL: tuple[list[bytes], ...] = ([b"x\n"], [b"y\n"], [b"z\n", b"x\n"], [])


@dataclass(frozen=True)
class Case:
    """One file as base, ours and theirs have it (None: absent), twice: the second time in another context."""

    path: bytes
    renamed: bytes
    rounds: tuple[tuple[bytes | None, bytes, bytes], tuple[bytes | None, bytes, bytes]]


def make_case(number: int, seed: int) -> Case:
    random = Random(seed)
    folder = random.choice(list(SIZES))
    size = SIZES[folder]
    trouble = random.random() < 0.3

    def line() -> bytes:
        if trouble and random.random() < 0.2:
            run = random.choice(b"<|=>=").to_bytes(1, "big") * random.choice(
                (size, size, size - 1, size + 1, 7)
            )
            return run + random.choice((b"\n", b" x\n", b"\r\n"))
        if trouble and random.random() < 0.05:
            marks = (b"<" * size + b" in", b"p", b"=" * size, b"q", b">" * size + b" out")
            return b"\n".join(marks) + b"\n"
        return b"%d %s%s" % (
            random.randrange(40),
            random.choice((b"", b"\r", b"a\rb", b"words")),
            random.choice((b"\n", b"\n", b"\r\n")),
        )

    def some(low: int, high: int) -> list[bytes]:
        return [line() for _ in range(random.randint(low, high))]

    def side() -> list[bytes]:
        return random.choice(SMALL) if random.random() < 0.6 else some(0, 3)

    head = [b"%d.%d\n" % (seed, k) for k in range(random.choice((0, 14)))]
    if folder == b"raw" and random.random() < 0.3:  # text for git, which looks for a NUL in 8000 bytes only
        head = [b"padding %d\n" % k for k in range(700)] + [b"nul\0here\n"]
    changed_head = [head[0], b"another\n", *head[2:]] if head and random.random() < 0.7 else head
    body: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
    for _ in range(random.randint(1, 3)):
        common = some(0, 6)
        kind = random.random()
        base = side()
        ours, theirs = (side() if kind < 0.8 else base), (side() if kind < 0.7 or kind > 0.9 else base)
        for version, middle in zip(body, (base, ours, theirs), strict=True):
            version += common + middle
    tail = some(0, 5)
    end = random.choice((b"", b"", b"", b"no newline"))
    added = random.random() < 0.15

    def versions(first: list[bytes]) -> tuple[bytes | None, bytes, bytes]:
        texts = [b"".join([*first, *version, *tail]) + end for version in body]
        return (None if added else texts[0], texts[1], texts[2])

    path = b"%s/f%03d" % (folder, number)
    renamed = path + b"-renamed" if head and not added and random.random() < 0.3 else path
    return Case(path, renamed, (versions(head), versions(changed_head)))


def import_rounds(repo: Repository, cases: list[Case]) -> None:
    """Branches base0, ours0, theirs0, base1, ours1 and theirs1, made by one fast-import."""
    stream: list[bytes] = []

    def data(content: bytes) -> bytes:
        return b"data %d\n%s\n" % (len(content), content)

    def commit(branch: str, parent: str, files: list[tuple[bytes, bytes | None]]) -> None:
        stream.append(
            b"commit refs/heads/%s\ncommitter T <t@example.com> 1700000000 +0000\n" % branch.encode()
        )
        stream.append(data(b"m") + (b"from refs/heads/%s\n" % parent.encode() if parent else b""))
        for path, content in files:
            stream.append(
                b"D %s\n" % path if content is None else b"M 100644 inline %s\n%s" % (path, data(content))
            )

    for k in (0, 1):
        versions = [(case, case.rounds[k]) for case in cases]
        base = [(case.path, v[0]) for case, v in versions if v[0] is not None]
        moved = [(case.path, None) for case, _ in versions if case.renamed != case.path]
        commit(f"base{k}", "", [(b".gitattributes", ATTRIBUTES), *base])
        commit(f"ours{k}", f"base{k}", [*moved, *((case.renamed, v[1]) for case, v in versions)])
        commit(f"theirs{k}", f"base{k}", [(case.path, v[2]) for case, v in versions])
    repo.git("fast-import", "--quiet", stdin=b"".join(stream))


def merge(repo: Repository, k: int, *, rerere: bool) -> list[bytes]:
    """Merge theirs into ours; the paths that rerere handles."""
    repo.git("checkout", "-q", "-f", "--detach", f"ours{k}")
    index = repo.root / ".git/index"
    os.utime(index, (index.stat().st_atime, index.stat().st_mtime + 10))  # so that no entry is "racily clean"
    repo.git("-c", f"rerere.enabled={rerere}", "merge", "-q", f"theirs{k}", allowed=(0, 1))
    stages: dict[bytes, set[bytes]] = {}
    for entry in repo.git("ls-files", "-u", "-z")[1].split(b"\0")[:-1]:
        info, path = entry.split(b"\t", 1)
        stages.setdefault(path, set()).add(info[-1:])
    return [path for path, found in stages.items() if found >= {b"2", b"3"}]


def resolve(content: bytes, size: int, random: Random) -> bytes:
    """What a person may leave: one side or both, changed elsewhere too; or half of the conflict, or all."""
    kept: list[bytes] = []
    one_side, second = random.random() < 0.6, False
    for line in content.splitlines(keepends=True):
        mark = line[:1] if line[:size] == line[:1] * size and line[:1] in b"<|=>" else b""
        second = mark in (b"|", b"=") if mark else second
        if not mark and not (second and one_side):
            kept.append(line)
    whim = random.random()
    if whim < 0.3:
        kept.append(b"appended\n")
    elif whim < 0.4:
        return content.replace(b">" * size + b" ", b"")
    elif whim < 0.5:
        return content
    return b"".join(kept)


def move_cache(repo: Repository, model: Model) -> None:
    """Replace the cache by one that write_rr_cache made of it: no gaps, no preimage that waits in vain."""
    old = repo.cache.rename(repo.root / ".git/old-cache")
    entries = list(read_rr_cache(old))
    kept: dict[str, list[Entry]] = {}
    for entry in entries:
        before = kept.setdefault(entry.id, [])
        same = [other for other in before if other.preimage == entry.preimage]
        if not any(entry.postimage in (None, other.postimage) for other in same):
            before.append(replace(entry, variant=len(before)))
    assert write_rr_cache(repo.cache, entries) == sum(map(len, kept.values()))
    assert write_rr_cache(repo.cache, entries) == 0
    model.cache = {conflict_id: dict(enumerate(variants)) for conflict_id, variants in kept.items()}


@settings(COMMON, max_examples=10 * FACTOR)
@given(
    seeds=st.lists(st.integers(0, 2**40), min_size=80, max_size=120),
    autocrlf=st.booleans(),
    exported=st.booleans(),
    style=st.sampled_from(["merge", "merge", "merge", "diff3", "zdiff3"]),
)
def test_a_merge_is_recorded_and_replayed_as_git_does_it(
    seeds: list[int], autocrlf: bool, exported: bool, style: str
) -> None:
    config = (f"merge.conflictStyle={style}", f"core.autocrlf={autocrlf}", "diff.algorithm=histogram")
    with repository(*config) as repo:
        import_rounds(repo, [make_case(number, seed) for number, seed in enumerate(seeds)])
        model = Model(lambda path: SIZES[path.split(b"/")[0]], git_merge_file(repo))

        worktree = repo.read(merge(repo, 0, rerere=True))
        model.run(worktree)
        model.check(repo, worktree)
        assert model.recorded > 20

        random = Random(seeds[0])
        for path, content in worktree.items():
            worktree[path] = resolve(content, model.size_of(path), random)
            repo.file(path).write_bytes(worktree[path])
        repo.git("rerere")
        model.run(worktree)
        model.check(repo, worktree)

        (repo.root / ".git/MERGE_RR").unlink()
        model.merge_rr.clear()
        if exported:
            move_cache(repo, model)
        worktree = repo.read(merge(repo, 1, rerere=False))
        repo.git("rerere")
        model.run(worktree)
        model.check(repo, worktree)
        assert model.replayed > 10
