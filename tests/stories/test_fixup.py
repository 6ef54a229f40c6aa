"""An evil merge: git merges cleanly, and the author changed one more thing by hand. It stays on a new base."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox import Sandbox
from tests.stories.steps import go_on, manifest, outcomes, rebuild, resolve, used


def adopted_with_an_evil_merge(fork: Sandbox) -> None:
    """red renames a function; the merge of blue, which still calls the old name, fixes the call."""
    fork.commit({"lib": "def old\n", "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"lib": "def new\n"}, "red")
    fork.branch("blue", "v1", {"use": "1\n2\n3\n4\ncall old\n6\n7\n8\n9\n"}, "blue")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge branch 'red'", "red")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "blue")
    fork.commit({"use": "1\n2\n3\n4\ncall new\n6\n7\n8\n9\n"}, "Merge branch 'blue'")
    fork.git("checkout", "-q", "main")
    adopted = fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy", "--json")
    assert adopted.code == 0, adopted.err
    assert adopted.json["trained"] == {
        "merges": 2, "conflicted": 0, "text": 0, "exact": 0, "fixup": 1, "skipped": [],
    }  # fmt: skip


def test_it_is_made_again_on_a_new_base(fork: Sandbox) -> None:
    adopted_with_an_evil_merge(fork)
    before = fork.git("rev-parse", "deploy")
    same = rebuild(fork, "--fresh")
    assert outcomes(same) == {"red": "clean", "blue": "fixup"}
    assert same["tip"] == before
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "fixup"}
    assert used(moved, "blue") == [("fixup", "use")]
    assert fork.show("deploy", "use").splitlines()[4] == "call new"
    assert fork.graph("deploy", "v2") == (
        "* Merge branch 'red' <- red\n    M lib\n* Merge branch 'blue' <- blue\n    A use\n"
    )


def test_it_is_merged_into_a_head_that_changed_elsewhere(fork: Sandbox) -> None:
    adopted_with_an_evil_merge(fork)
    new = fork.branch("blue", "v1", {"use": "ONE\n2\n3\n4\ncall old\n6\n7\n8\n9\n"}, "blue again")
    text = (fork.path / "stackmerge.yaml").read_text()
    old = fork.git("rev-parse", "deploy^2")
    (fork.path / "stackmerge.yaml").write_text(text.replace(old, new))

    moved = rebuild(fork)
    assert outcomes(moved) == {"red": "clean", "blue": "fixup"}
    assert fork.show("deploy", "use") == "ONE\n2\n3\n4\ncall new\n6\n7\n8\n9"
    assert fork.graph("deploy", "v1") == (
        "* Merge branch 'red' <- red\n    M lib\n* Merge branch 'blue' <- blue again\n    A use\n"
    )


def test_one_that_is_learned_later_is_not_missed_by_results_made_before(fork: Sandbox) -> None:
    """blue renames what red's own file calls. red was below then; here it comes second."""
    fork.commit({"lib": "def old\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"use": "call old\n"}, "red")
    fork.branch("blue", "v1", {"lib": "def new\n"}, "blue")
    fork.manifest(manifest("blue", "red").replace("stack: deploy", "stack: other"))
    assert outcomes(rebuild(fork)) == {"blue": "clean", "red": "clean"}
    assert all(step["reused"] for step in rebuild(fork)["steps"])

    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "-m", "Merge branch 'red'", "red")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "blue")
    fork.commit({"use": "call new\n"}, "Merge branch 'blue'")
    assert fork.stackmerge("train", "v1..deploy").code == 0
    stopped = rebuild(fork, code=3)
    assert "they meet the other way round" in stopped["steps"][-1]["conflicts"][0]["reason"]


def test_a_mode_that_upstream_changes_stays_changed(fork: Sandbox) -> None:
    """The fixup changed lines and no mode, so the mode is upstream's."""
    before = "".join(f"{n}\n" for n in range(1, 40))
    fork.commit({"tool": before}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "red")
    fork.commit({"tool": before.replace("30\n", "fixed\n")}, "Merge branch 'red'")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    fork.write({"tool": before.replace("5\n", "five\n", 1)})
    fork.git("update-index", "--chmod=+x", "tool")
    fork.git("commit", "-q", "-m", "two")
    fork.git("tag", "v2")

    assert outcomes(rebuild(fork, "--onto", "v2")) == {"red": "fixup"}
    assert fork.git("ls-tree", "deploy", "tool").startswith("100755 ")
    assert "\nfixed\n" in fork.show("deploy", "tool")
    assert "\nfive\n" in fork.show("deploy", "tool")


def test_it_is_laid_out_where_another_file_of_the_step_conflicts(fork: Sandbox) -> None:
    """And is not taken for something that the person has removed."""
    lines = "".join(f"{n}\n" for n in range(1, 31))
    fork.commit({"f": lines, "g": lines}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"f": lines.replace("10\n", "10 red\n", 1)}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "red")
    fork.commit({"g": lines + "evil\n"}, "Merge branch 'red'")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    fork.commit({"f": lines.replace("10\n", "10 up\n", 1)}, "two")
    fork.git("tag", "v2")

    stopped = rebuild(fork, "--onto", "v2", code=3)
    assert (Path(stopped["worktree"]) / "g").read_text() == lines + "evil\n"
    resolve(fork, stopped, {"f": lines.replace("10\n", "10 both\n", 1)})
    done = go_on(fork)
    assert sorted(used(done, "red")) == [("fixup", "g"), ("text", "f")]
    again = rebuild(fork, "--fresh")
    assert again["tip"] == done["tip"]
    assert fork.show("deploy", "g") == (lines + "evil").rstrip("\n")


def test_one_of_a_file_that_conflicts_is_asked_for(fork: Sandbox) -> None:
    lines = "".join(f"{n}\n" for n in range(1, 31))
    fork.commit({"f": lines}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"f": lines.replace("10\n", "10 red\n", 1)}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "red")
    fork.commit({"f": lines.replace("10\n", "10 red\n", 1) + "evil\n"}, "Merge branch 'red'")
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    fork.commit({"f": lines.replace("10\n", "10 up\n", 1)}, "two")
    fork.git("tag", "v2")

    stopped = rebuild(fork, "--onto", "v2", code=3)
    [conflict] = stopped["steps"][0]["conflicts"]
    assert conflict["reason"].endswith(" is known, and its recorded fixup must be made again")
    resolve(fork, stopped, {"f": lines.replace("10\n", "10 both\n", 1) + "evil\n"})
    assert go_on(fork)["status"] == "complete"
    assert fork.show("deploy", "f").endswith("\nevil")
    assert rebuild(fork, "--fresh")["status"] == "complete"
    assert fork.show("deploy", "f").endswith("\nevil")


def test_one_that_a_person_made_otherwise_is_asked_about_once(fork: Sandbox) -> None:
    lines = "".join(f"{n}\n" for n in range(1, 31))
    fork.commit({"f": lines, "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"f": lines.replace("10\n", "10 red\n", 1)}, "red")
    fork.git("checkout", "-q", "-b", "deploy", "v1")
    fork.git("merge", "-q", "--no-ff", "--no-commit", "red")
    fork.commit(
        {"f": lines.replace("10\n", "10 red\n", 1).replace("20\n", "20 fixed\n")}, "Merge branch 'red'"
    )
    fork.git("checkout", "-q", "main")
    assert fork.stackmerge("adopt", "--base", "v1", "--tip", "deploy").code == 0
    fork.commit({"f": lines.replace("10\n", "10 up\n", 1)}, "two")
    fork.git("tag", "v2")
    answer = lines.replace("10\n", "10 both\n", 1).replace("20\n", "20 another way\n")
    resolve(fork, rebuild(fork, "--onto", "v2", code=3), {"f": answer})
    assert go_on(fork)["status"] == "complete"
    for number in (3, 4):
        fork.commit({"b": f"{number}\n"}, str(number))
        stopped = fork.stackmerge("rebuild", "--onto", "main", "--json")
        assert stopped.code == 0, stopped.err
        assert fork.show("deploy", "f") == answer.rstrip("\n")
