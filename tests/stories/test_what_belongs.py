"""What was recorded is replayed where it belongs: hunk by hunk, and not where it was an oversight or is not due."""

from __future__ import annotations

from tests.sandbox import Sandbox
from tests.stories.steps import NINE, go_on, manifest, nine, outcomes, reason, rebuild, resolve, used


def trained(fork: Sandbox, below: str, head: str, files: dict[str, str | bytes | None]) -> str:
    """Merge ``head`` onto ``below`` beside the stack, resolved or fixed to ``files``, and train on it."""
    fork.git("checkout", "-q", "--detach", below)
    fork.git("merge", "-q", "--no-ff", "--no-commit", head, check=False)
    made = fork.commit(files, f"Merge branch '{head}'")
    fork.git("checkout", "-q", "main")
    ran = fork.stackmerge("train", f"{made}^..{made}", "--json")
    assert ran.code == 0, ran.err
    return made


def test_hunks_that_were_each_answered_alone_are_answered_together(fork: Sandbox) -> None:
    fork.commit({"a": NINE}, "one")
    for name, lines in (
        ("red", {"l1": "red"}),
        ("blue", {"l9": "blue"}),
        ("both", {"l1": "red", "l9": "blue"}),
    ):
        fork.branch(name, "main", {"a": nine(**lines)}, name)
    fork.commit({"a": nine(l1="one", l9="nine")}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("both"))
    trained(fork, "v1", "red", {"a": nine(l1="one red", l9="nine")})

    stopped = rebuild(fork, code=3)
    assert "no resolution with id" in reason(stopped, "both")
    assert fork.stackmerge("abort").code == 0

    trained(fork, "v1", "blue", {"a": nine(l1="one", l9="blue nine")})
    done = rebuild(fork)
    assert used(done, "both") == [("text", "a"), ("text", "a")]
    assert fork.show("deploy", "a") + "\n" == nine(l1="one red", l9="blue nine")


def test_hunks_that_were_answered_in_another_file_are_not(fork: Sandbox) -> None:
    fork.commit({"a": NINE, "b": NINE}, "one")
    for name, lines in (("red", {"l1": "red"}), ("blue", {"l9": "blue"})):
        fork.branch(name, "main", {"b": nine(**lines)}, name)
    fork.branch("both", "main", {"a": nine(l1="red", l9="blue")}, "both")
    fork.commit({"a": nine(l1="one", l9="nine"), "b": nine(l1="one", l9="nine")}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("both"))
    trained(fork, "v1", "red", {"b": nine(l1="one red", l9="nine")})
    trained(fork, "v1", "blue", {"b": nine(l1="one", l9="blue nine")})

    stopped = rebuild(fork, code=3)
    assert outcomes(stopped) == {"both": "conflict"}


USES = "get a\n2\n3\n4\nget a\n6\n7\n8\n9\n"
SWEPT = "get --exact a\n2\n3\n4\nget --exact a\n6\n7\n8\n9 ours\n"
ADDED = "get a\n2\n3\n4\nget a\n6\n7\n8\n9 red\nget a\n"
OVERSIGHT = "get --exact a\n2\n3\n4\nget --exact a\n6\n7\n8\n9 ours red\nget a\n"


def swept(fork: Sandbox) -> None:
    """Upstream replaces a line everywhere; red adds one more use of the old line, in a conflict that was answered."""
    fork.commit({"a": USES, "b": "b\n"}, "one")
    fork.branch("red", "main", {"a": ADDED}, "red")
    fork.commit({"a": SWEPT}, "two")
    trained(fork, "main", "red", {"a": OVERSIGHT})
    fork.commit({"b": "bb\n"}, "three")
    fork.git("tag", "v1")
    fork.commit({"b": "bbb\n"}, "four")
    fork.git("tag", "v2")
    fork.manifest(manifest("red"))


def test_an_answer_that_brings_back_what_was_replaced_everywhere_is_asked_about(fork: Sandbox) -> None:
    swept(fork)
    stopped = rebuild(fork, code=3)
    assert (
        reason(stopped, "red")
        == "the recorded answer brings back 'get a', which one side replaced everywhere"
    )
    resolve(fork, stopped, {"a": OVERSIGHT.replace("get a\n", "get --exact a\n")})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "replayed"}
    assert fork.show("deploy", "a").splitlines()[-1] == "get --exact a"


def test_it_is_asked_about_once(fork: Sandbox) -> None:
    swept(fork)
    resolve(fork, rebuild(fork, code=3), {"a": OVERSIGHT})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "replayed"}
    assert fork.show("deploy", "a") + "\n" == OVERSIGHT


def test_it_is_not_asked_about_where_the_merge_itself_is_made_again(fork: Sandbox) -> None:
    swept(fork)
    text = manifest("red").replace("v1", "main~2")
    fork.manifest(text)
    assert outcomes(rebuild(fork)) == {"red": "replayed"}


def renamed(fork: Sandbox) -> None:
    """red renames a function that upstream has; blue brings a file with the old name."""
    fork.commit({"lib": "def old\n", "b": "b\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"lib": "def new\n"}, "red")
    fork.branch("blue", "v1", {"use": "call old\n", "more": "blue\n"}, "blue")


def test_a_fixup_of_a_file_that_came_with_others_waits_for_them(fork: Sandbox) -> None:
    """Recorded when red was merged onto blue; on the base alone there is nothing to fix."""
    renamed(fork)
    trained(fork, "blue", "red", {"use": "call new\n", "lib": "def new, used\n"})
    fork.manifest(manifest("red"))
    alone = rebuild(fork)
    assert outcomes(alone) == {"red": "clean"}
    assert fork.show("deploy", "lib") == "def new"

    fork.manifest(manifest("blue", "red").replace("deploy", "other"))
    assert outcomes(rebuild(fork)) == {"blue": "clean", "red": "fixup"}
    assert fork.show("other", "use") == "call new"
    assert fork.show("other", "lib") == "def new, used"


def test_a_fixup_of_a_file_that_went_away_is_asked_about(fork: Sandbox) -> None:
    fork.commit({"lib": "def old\n", "use": "call old\n"}, "one")
    fork.branch("red", "main", {"lib": "def new\n"}, "red")
    trained(fork, "main", "red", {"use": "call new\n"})
    fork.commit({"use": None, "moved": "quite another file\n"}, "two")
    fork.git("tag", "v1")
    fork.manifest(manifest("red"))
    stopped = rebuild(fork, code=3)
    assert reason(stopped, "red") == "the recorded fixup does not apply to what is there now"


def test_what_an_earlier_head_needed_is_not_made_again_once_that_head_is_below(fork: Sandbox) -> None:
    fork.commit({"lib": "def old\n", "use": "call old\n"}, "one")
    fork.branch("red", "main", {"lib": "def new\n"}, "red")
    fork.git("reset", "-q", "--hard", trained(fork, "main", "red", {"use": "call new\n"}))
    fork.commit({"use": None}, "two")
    fork.git("tag", "v1")
    fork.branch("red", "red", {"more": "red\n"}, "more red")
    fork.manifest(manifest("red"))
    assert outcomes(rebuild(fork)) == {"red": "clean"}


def test_heads_that_meet_the_other_way_round_are_asked_about(fork: Sandbox) -> None:
    """Fixed when red was merged onto blue. Here blue is merged onto red: its file still has the old name."""
    renamed(fork)
    made = trained(fork, "blue", "red", {"use": "call new\n"})
    fork.manifest(manifest("red", "blue"))
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    stopped = rebuild(fork, code=3)
    assert outcomes(stopped) == {"red": "clean", "blue": "conflict"}
    assert reason(stopped, "blue") == (
        f"merge {made[:12]} of red onto this head was fixed by hand; "
        "here they meet the other way round: is the fix needed?"
    )
    resolve(fork, stopped, {"use": "call new\n"})
    assert outcomes(go_on(fork)) == {"red": "clean", "blue": "fixup"}

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "fixup"}
    assert fork.show("deploy", "use") == "call new"


def test_that_nothing_is_needed_there_is_an_answer_too(fork: Sandbox) -> None:
    renamed(fork)
    trained(fork, "blue", "red", {"use": "call new\n"})
    fork.manifest(manifest("red", "blue"))
    fork.commit({"b": "bb\n"}, "two")
    fork.git("tag", "v2")
    stopped = rebuild(fork, code=3)
    resolve(fork, stopped, {"use": "call old\n"})
    go_on(fork)

    moved = rebuild(fork, "--onto", "v2")
    assert outcomes(moved) == {"red": "clean", "blue": "clean"}
    assert fork.show("deploy", "use") == "call old"
