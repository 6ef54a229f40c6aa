"""Bad input is one clear sentence, a hint and an exit code, and nothing changes."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox import Ran, Sandbox
from tests.stories.steps import manifest, nine, rebuild
from tests.test_manifest import WRONG
from tests.untouched import untouched

GOOD = manifest("red")


def one_head(fork: Sandbox) -> Sandbox:
    """A stack of one head, and a work tree with staged, unstaged and untracked changes of its owner."""
    fork.commit({"a": nine(), "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    fork.write({"staged": "staged\n"})
    (fork.path / "b").write_text("dirty\n")
    (fork.path / "untracked").write_text("untracked\n")
    fork.manifest(GOOD)
    return fork


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """One repository for every test that must change nothing."""
    return one_head(Sandbox(tmp_path_factory.mktemp("bad")))


def refuses(fork: Sandbox, *args: str, code: int = 2) -> str:
    """Run a command that must be refused and change nothing; its one sentence."""
    with untouched(fork):
        ran = fork.stackmerge(*args)
    return sentence(ran, code)


def sentence(ran: Ran, code: int) -> str:
    assert ran.code == code, ran.err
    lines = ran.err.splitlines()
    assert lines[0].startswith("error: ")
    assert len(lines) <= 2, ran.err
    assert all(line.startswith("hint: ") for line in lines[1:])
    assert ran.out == ""
    return lines[0].removeprefix("error: ")


# -- the manifest

TOLD = ("no stack", "unknown key", "a cycle", "a bomb", "a name that climbs", "a branch that starts with -")
REVISIONS = {
    "unknown head": (
        GOOD.replace("merge: red", "merge: mauve"),
        "stackmerge.yaml:4: 'mauve' is not a commit",
    ),
    "head that is a tree": (
        GOOD.replace("merge: red", "merge: red^{tree}"),
        "stackmerge.yaml:4: 'red^{tree}' is not a commit",
    ),
    "unknown base": (GOOD.replace("v1", "v9"), "stackmerge.yaml: base: 'v9' is not a commit"),
}
MANIFESTS = REVISIONS | {name: WRONG[name] for name in TOLD}


@pytest.mark.parametrize(("text", "expected"), MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_is_wrong(shared: Sandbox, text: str, expected: str) -> None:
    """`test_manifest` has many more; here, that the command line tells them and changes nothing."""
    shared.manifest(text)
    assert refuses(shared, "rebuild").startswith(expected)


def test_a_manifest_that_is_missing(shared: Sandbox) -> None:
    shared.manifest("").unlink()
    assert refuses(shared, "rebuild") == "stackmerge.yaml: no such file"
    (shared.path / "stackmerge.yaml").mkdir()
    assert refuses(shared, "rebuild") == "stackmerge.yaml: cannot be read (Is a directory)"
    (shared.path / "stackmerge.yaml").rmdir()


def test_a_manifest_of_100_megabytes(shared: Sandbox) -> None:
    with shared.manifest("").open("wb") as file:
        file.truncate(100_000_000)
    assert refuses(shared, "rebuild") == "stackmerge.yaml: larger than 4 MB, which no manifest is"


def test_a_manifest_that_is_not_utf8(shared: Sandbox) -> None:
    shared.manifest("").write_bytes(b"stack: caf\xe9\n")
    assert refuses(shared, "rebuild").startswith("stackmerge.yaml:1: is not YAML: ")


@pytest.mark.parametrize("name", ["../x.yaml", "/etc/hosts", "stackmerge.txt", "link.yaml"])
def test_a_manifest_outside_the_repository(shared: Sandbox, name: str) -> None:
    link = shared.path / "link.yaml"
    if not link.is_symlink():
        link.symlink_to("/etc/hosts.yaml")
    assert refuses(shared, "rebuild", "--manifest", name) == (
        f"--manifest: {name!r} is not a YAML file inside the repository"
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"base": 1}', '{"base": "", "tip": "", "steps": {"red": {"head": "../x"}}}']
)
def test_a_lock_that_is_damaged(shared: Sandbox, text: str) -> None:
    shared.manifest(GOOD)
    lock = shared.path / "stackmerge.lock"
    lock.write_text(text)
    assert refuses(shared, "rebuild") == "stackmerge.lock is damaged"
    lock.unlink()


# -- the command line

COMMANDS = {
    "onto nothing": (["rebuild", "--onto", "nope"], "--onto: 'nope' is not a commit that is here"),
    "onto an option": (["rebuild", "--onto=--all"], "--onto: '--all' is not a commit that is here"),
    "onto a blob": (["rebuild", "--onto", "v1:a"], "--onto: 'v1:a' is not a commit that is here"),
    "onto nowhere": (["plan", "--onto", "../../x"], "--onto: '../../x' is not a commit that is here"),
    "onto two lines": (["plan", "--onto", "v1\nv2"], "--onto: 'v1\\nv2' is not a commit that is here"),
    "from nothing": (["rebuild", "--from", "mauve"], "--from: there is no step 'mauve'"),
    "train on nothing": (["train", "v1..nope"], "v1..nope: "),
    "train on an option": (["train", "--", "--output=pwned"], "'--output=pwned' is not a revision range"),
    "adopt nothing": (["adopt", "--base", "v1", "--tip", "nope"], "--tip: 'nope' is not a commit"),
    "adopt under -": (
        ["adopt", "--base", "v1", "--tip", "red", "--name=-x"],
        "--name: '-x' is not a valid ref name",
    ),
    "adopt under ..": (
        ["adopt", "--base", "v1", "--tip", "red", "--name", "../../x"],
        "--name: '../../x' is not a valid ref name",
    ),
    "adopt a tree": (["adopt", "--base", "v1", "--tip", "red^{tree}"], "--tip: 'red^{tree}' is not a commit"),
    "adopt the base": (
        ["adopt", "--base", "v1", "--tip", "v1", "--name", "x"],
        "--base and --tip are the same commit",
    ),
    "update nothing": (["update", "mauve"], "there is no step 'mauve'"),
    "no reason for a failure": (["continue", "--accept-failure", ""], "--accept-failure: give a reason"),
    "a blank reason for a proof": (["accept", "--unproven", " "], "--unproven: give a reason"),
    "verify one": (["verify", "v1"], "verify takes two tips or none"),
    "verify nothing": (["verify", "nope", "v1"], "verify: 'nope' is not a commit that is here"),
    "show nothing": (["rerere", "show", "abc"], "no resolution has an id like 'abc'"),
    "import nothing": (["rerere", "import", "/nonexistent"], "/nonexistent is not a directory"),
}


@pytest.mark.parametrize(("args", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_wrong(shared: Sandbox, args: list[str], expected: str) -> None:
    shared.manifest(GOOD)
    if args[0] == "adopt":
        args = [*args, "--manifest", "new.yaml"]
    assert refuses(shared, *args).startswith(expected)
    assert not (shared.path / "pwned").exists()


@pytest.mark.parametrize("args", [["rebild"], ["rebuild", "--ontoo", "x"], ["undo", "x"], ["rerere", "eat"]])
def test_a_command_that_is_none(shared: Sandbox, args: list[str]) -> None:
    with untouched(shared):
        assert shared.stackmerge(*args).code == 2


def test_json_tells_of_an_error_too(shared: Sandbox) -> None:
    shared.manifest(GOOD)
    ran = shared.stackmerge("rebuild", "--onto", "nope", "--json")
    assert ran.code == 2
    assert ran.json == {
        "status": "error",
        "error": "--onto: 'nope' is not a commit that is here",
        "hint": "fetch it first, or see `git rev-parse`",
    }


# -- the repository


def test_no_repository(shared: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file", tmp_path / "nowhere"):
        assert refuses(shared, "rebuild", "--repo", str(place)) == f"{place} is not in a git repository"


def test_a_partial_clone(fork: Sandbox, tmp_path: Path) -> None:
    fork.commit({"a": "a\n"}, "one")
    fork.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    fork.git("clone", "-q", "--filter=blob:none", f"file://{fork.path}", str(clone))
    partial = Sandbox(tmp_path, "clone")
    partial.manifest(GOOD)
    assert refuses(partial, "rebuild", "--repo", str(clone)) == (
        f"{clone} is a partial clone, where objects are missing"
    )
    partial.git("config", "--unset", "remote.origin.partialCloneFilter")
    partial.git("fetch", "-q", "--refetch", "origin")
    assert partial.stackmerge("plan").err != ""


def test_a_shallow_clone(fork: Sandbox, tmp_path: Path) -> None:
    one_head(fork)
    clone = tmp_path / "clone"
    fork.git("clone", "-q", "--depth=1", f"file://{fork.path}", str(clone))
    shallow = Sandbox(tmp_path, "clone")
    shallow.manifest(GOOD)
    assert refuses(shallow, "rebuild", "--repo", str(clone)) == f"{clone} is a shallow clone"


def test_a_sha256_repository(fork: Sandbox, tmp_path: Path) -> None:
    fork.git("init", "-q", "--object-format=sha256", str(tmp_path / "new"))
    assert refuses(Sandbox(tmp_path, "new"), "rebuild", "--repo", str(tmp_path / "new")) == (
        f"{tmp_path / 'new'}: SHA-256 repositories are not supported"
    )


def test_an_octopus_is_no_step(fork: Sandbox) -> None:
    one_head(fork)
    fork.git("stash", "-q")
    fork.branch("blue", "v1", {"blue": "blue\n"}, "blue")
    fork.branch("eight", "v1", {"eight": "eight\n"}, "eight")
    fork.git("checkout", "-q", "eight")
    fork.git("merge", "-q", "-m", "octopus", "red", "blue")
    octopus = fork.git("rev-parse", "eight")
    assert refuses(fork, "adopt", "--base", "v1", "--tip", "eight", "--manifest", "new.yaml") == (
        f"{octopus[:12]} is an octopus merge, which no step can be"
    )
    trained = fork.stackmerge("train", "v1..eight", "--json")
    assert trained.code == 0
    assert trained.json["skipped"] == [f"{octopus[:12]} has 3 parents"]


def test_a_base_that_is_not_below_the_tip(fork: Sandbox) -> None:
    one_head(fork)
    v2, red = fork.git("rev-parse", "v2"), fork.git("rev-parse", "red")
    assert refuses(fork, "adopt", "--base", "v2", "--tip", "red", "--manifest", "new.yaml") == (
        f"{v2[:12]} is not in the first-parent history of {red[:12]}"
    )


def test_a_head_of_another_history(fork: Sandbox) -> None:
    one_head(fork)
    tree = fork.git("rev-parse", "v1^{tree}")
    fork.git("branch", "alien", fork.git("commit-tree", "-m", "alien", tree))
    fork.manifest(manifest("alien"))
    assert refuses(fork, "rebuild") == ("stackmerge.yaml:4: 'alien' has no history in common with the base")


def test_a_dirty_work_tree_is_left_alone(fork: Sandbox) -> None:
    """It is no bad input at all: a rebuild does not look at it."""
    one_head(fork)
    before = fork.git("status", "--porcelain")
    files = fork.git("diff"), fork.git("diff", "--cached")
    rebuild(fork, "--onto", "v2")
    (fork.path / "stackmerge.lock").unlink()
    assert fork.git("status", "--porcelain") == before
    assert (fork.git("diff"), fork.git("diff", "--cached")) == files


def conflict(fork: Sandbox) -> Path:
    """Stop at a conflict; the private work tree."""
    one_head(fork)
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    return Path(rebuild(fork, code=3)["worktree"])


def test_a_private_work_tree_that_was_deleted_is_made_again(fork: Sandbox) -> None:
    tree = conflict_without_changes(fork)
    subprocess.run(["rm", "-rf", str(tree)], check=True)
    again = fork.stackmerge("continue", "--json")
    assert again.code == 3, again.err
    assert (Path(again.json["worktree"]) / "a").read_text().startswith("<<<<<<< ")
    (tree / "a").write_text(nine(l1="purple"))
    fork.git("add", "a", cwd=tree)
    assert fork.stackmerge("continue").code == 0


def conflict_without_changes(fork: Sandbox) -> Path:
    fork.commit({"a": nine()}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"a": nine(l1="red")}, "red")
    fork.branch("blue", "v1", {"a": nine(l1="blue")}, "blue")
    fork.manifest(manifest("red", "blue"))
    return Path(rebuild(fork, code=3)["worktree"])


def test_a_merge_that_was_given_up_in_the_work_tree_is_no_answer(fork: Sandbox) -> None:
    """After `git merge --abort` nothing is unmerged, but nobody resolved anything either."""
    tree = conflict_without_changes(fork)
    fork.git("merge", "--abort", cwd=tree)
    assert refuses(fork, "continue", code=1) == (f"the merge in {tree} was given up, not resolved")
    assert fork.git("for-each-ref", "refs/stackmerge/rerere") == ""
    assert fork.stackmerge("abort").code == 0


def test_a_merge_that_was_committed_in_the_work_tree_is_an_answer(fork: Sandbox) -> None:
    tree = conflict_without_changes(fork)
    (tree / "a").write_text(nine(l1="purple"))
    fork.git("commit", "-q", "-a", "-m", "resolved", cwd=tree)
    done = fork.stackmerge("continue")
    assert done.code == 0, done.err
    assert fork.show("deploy", "a").startswith("purple\n")


# -- the disk


def limited(fork: Sandbox, bytes_: int, *args: str) -> Ran:
    """Run a command that cannot write a file larger than ``bytes_``: what a full disk does to it."""
    done = subprocess.run(
        [sys.executable, "-m", "stackmerge", *args],
        cwd=fork.path,
        capture_output=True,
        text=True,
        check=False,
        env=fork.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_)),
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("room", [0, 150, 400, 1000])
def test_a_disk_that_is_full(fork: Sandbox, room: int) -> None:
    """Wherever the room ends, no branch moves, and with room the rebuild is made as if nothing had been."""
    one_head(fork)
    noise = "".join(f"{n * 7919 % 10007}\n" for n in range(2000))
    fork.git("stash", "-q", "-u")
    fork.branch("red", "v1", {"a": nine(l1="red"), "noise": noise}, "red")
    fork.branch("blue", "v1", {"a": nine(l9="blue"), "more": noise[::-1]}, "blue")
    fork.manifest(manifest("red", "blue", prefix="d/"))
    branches = fork.git("for-each-ref", "refs/heads")

    ran = limited(fork, room, "rebuild")
    assert "Traceback" not in ran.err, ran.err
    sentence(ran, 1)
    assert fork.git("for-each-ref", "refs/heads") == branches
    assert not (fork.path / "stackmerge.lock").exists()
    rebuild(fork)
    assert fork.git("log", "--format=%s", "--first-parent", "v1..deploy") == "Merge blue\nMerge red"


def test_objects_that_cannot_be_written(fork: Sandbox) -> None:
    """Root may write anywhere, so a file stands where git wants a directory."""
    one_head(fork)
    objects = fork.path / ".git/objects"
    for number in range(256):
        fan = objects / f"{number:02x}"
        if not fan.exists():
            fan.write_text("")
    branches = fork.git("for-each-ref", "refs/heads")
    said = sentence(fork.stackmerge("rebuild"), 1)
    assert said.startswith(("cannot write to the object database: ", "git "))
    assert fork.git("for-each-ref", "refs/heads") == branches


def test_a_lock_that_somebody_left_on_a_branch(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "base")
    fork.git("tag", "v1")
    fork.branch("one", "v1", {"b": "b\n"}, "one")
    fork.manifest("stack: deploy\nbase: v1\nsteps:\n  - {name: one, merge: one}\n")
    held = fork.path / ".git" / "refs" / "heads" / "deploy.lock"
    held.write_text("1" * 40 + "\n")
    ran = fork.stackmerge("rebuild")
    assert ran.code == 1
    assert "deploy.lock': File exists" in ran.err
    assert "hint: if no other git is running here, remove that lock file, then run again" in ran.err
    held.unlink()
    assert fork.stackmerge("continue").code == 0
    assert fork.git("rev-parse", "deploy^2") == fork.git("rev-parse", "one")
