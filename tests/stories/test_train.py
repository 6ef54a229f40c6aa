"""Training on a range: every merge in it, or only those that were made on the branch itself."""

from __future__ import annotations

from tests.sandbox import Sandbox


def merge_by_hand(fork: Sandbox, head: str, answer: str) -> None:
    fork.git("merge", "-q", "--no-ff", "--no-commit", head, check=False)
    fork.commit({"a": answer}, f"Merge branch '{head}'")


def test_the_merges_that_a_branch_brought_can_be_left_out(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "base")
    fork.git("tag", "v1")
    for name in ("red", "blue", "green"):
        fork.branch(name, "v1", {"a": f"{name}\n"}, name)
    fork.git("checkout", "-q", "red")
    merge_by_hand(fork, "blue", "red and blue\n")
    fork.git("checkout", "-q", "-b", "deploy", "green")
    merge_by_hand(fork, "red", "all\n")

    own = fork.stackmerge("train", "--first-parent", "v1..deploy", "--json")
    assert (own.json["merges"], own.json["text"]) == (1, 1), own.err
    every = fork.stackmerge("train", "v1..deploy", "--json")
    assert (every.json["merges"], every.json["text"]) == (2, 1), every.err
    assert len(fork.stackmerge("rerere", "list", "--json").json["resolutions"]) == 2


def test_a_tip_that_is_named_by_its_id_gives_its_branch_s_name(fork: Sandbox) -> None:
    fork.commit({"a": "a\n"}, "base")
    fork.git("tag", "v1")
    fork.branch("one", "v1", {"b": "b\n"}, "one")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge branch 'one'", "one")
    tip = fork.git("rev-parse", "deploy")
    adopted = fork.stackmerge("adopt", "--base", "v1", "--tip", tip)
    assert adopted.code == 0, adopted.err
    assert (fork.path / "stackmerge.yaml").read_text().splitlines()[1] == "stack: deploy"
    (fork.path / "stackmerge.yaml").unlink()
    fork.git("branch", "other", "deploy")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", tip).code == 2
