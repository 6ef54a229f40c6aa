"""Publish a stack to a real bare repository over HTTP, and to a forge that GitHub's own contract judges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.describe.page import Page
from tests.publish.forge_server import TOKEN, Refusal
from tests.publish.world import World

POSTED, PATCHED = "POST", "PATCH"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def kinds(found: Any) -> list[str]:
    return [action["action"] for action in found["actions"]]


def numbers(world: World) -> dict[str, int]:
    return {branch: pull.number for branch, pull in world.forge.open().items()}


def test_the_first_publication(world: World) -> None:
    world.rebuild()
    planned = world.publish("--dry-run")
    assert world.forge.writes == []
    assert planned["status"] == "planned"

    done = world.publish()
    world.check()
    assert done["actions"] == planned["actions"]
    assert kinds(done) == ["push", *["create"] * 3, *["update"] * 3, "check"]
    assert len([one for one in world.forge.log if one[1].endswith("git-receive-pack")]) == 1
    assert numbers(world) == {"d/red": 11, "d/green": 12, "d/blue": 13}
    pull = world.forge.pulls[12]
    assert pull.title == "Merge upstream PR 302: Paint it green"
    head = world.fork.git("rev-parse", "topic-green")[:12]
    link = "https://redirect.github.com/up/stream/pull/302"
    assert f"({link}) (Paint it green, head `{head}`). Stacked on #11.\n" in pull.body
    assert "\n- #11\n- #12 ← this pull request\n- #13\n" in pull.body


def test_a_second_run_sends_nothing(world: World) -> None:
    world.rebuild()
    world.publish()
    world.forge.forget()

    again = world.publish()
    assert again["actions"] == []
    assert again["written"] == 0
    assert world.forge.writes == []
    assert len(world.forge.log) == 2 + 3  # the remote's branches, and one look at each pull request


def test_a_rebuild_moves_every_branch_and_keeps_what_a_person_wrote(world: World) -> None:
    world.rebuild()
    world.publish()
    before = world.forge.refs()
    world.forge.edit(11, lambda body: "Reviewed by hand.\n\n" + body + "\nSigned off.\n")
    world.forge.edit(12, lambda body: body.replace("By Ada.", "By Ada and Grace."))
    world.rebuild("--onto", "v2")

    done = world.publish()
    world.check()
    after = world.forge.refs()
    assert all(after[ref] != before[ref] for ref in before if ref != "refs/heads/main")
    assert kinds(done) == ["push", *["update"] * 3, "check"]
    assert done["notes"] == ["pull request 12: merged was edited by a person and is kept"]
    body = world.forge.pulls[11].body
    assert body.startswith("Reviewed by hand.\n\n<!-- stackmerge:begin notice -->\n")
    assert body.endswith("\nSigned off.\n")
    v2 = world.fork.git("rev-parse", "v2")[:12]
    head = world.fork.git("rev-parse", "d/red")[:12]
    assert f"onto upstream main `{v2}` (1 commit past" in body
    assert f"This pull request's head is now `{head}`." in body
    assert "By Ada and Grace." in world.forge.pulls[12].body
    assert "onto upstream main" in world.forge.pulls[12].body
    world.forge.forget()
    assert world.publish()["actions"] == []
    assert world.forge.writes == []


def test_a_web_edit_that_changes_only_line_ends_is_not_patched(world: World) -> None:
    world.rebuild()
    world.publish()
    world.forge.edit(12, lambda body: body)
    assert "\r\n" in world.forge.pulls[12].body
    world.forge.forget()
    assert world.publish()["written"] == 0


def test_a_title_that_a_person_wrote_stays(world: World) -> None:
    world.rebuild()
    world.publish()
    world.forge.pulls[11].title = "Red, please"
    world.manifest(("red", "green", "blue"), more="")
    world.rebuild("--onto", "v2")
    done = world.publish()
    assert world.forge.pulls[11].title == "Red, please"
    assert "pull request 11: title was edited by a person and is kept" in done["notes"]


def test_a_title_of_ours_follows_the_manifest(world: World) -> None:
    world.fork.path.joinpath("stackmerge.yaml").write_text(
        (world.fork.path / "stackmerge.yaml")
        .read_text()
        .replace("repository: keeper/fork", "draft: true, repository: keeper/fork")
        + "  title: 'Blue: the @best #1 colour'\n"
    )
    world.rebuild()
    world.publish()
    assert [pull.draft for pull in world.forge.pulls.values()] == [True] * 3
    assert world.forge.open()["d/blue"].title == "Merge upstream PR 303: Blue: the @best #1 colour"
    manifest = world.fork.path / "stackmerge.yaml"
    manifest.write_text(manifest.read_text().replace("the @best #1 colour", "a colour"))
    world.rebuild()
    done = world.publish()
    world.check()
    assert world.forge.open()["d/blue"].title == "Merge upstream PR 303: Blue: a colour"
    assert done["notes"] == []


def test_hostile_texts_are_published_as_text(world: World) -> None:
    world.fork.branch(
        "topic-blue", "v1", {"a|`b`<i>": "x\n"}, "<script>x</script> --> @everyone \u202e | #12"
    )
    path = world.fork.path / "stackmerge.yaml"
    path.write_text(path.read_text() + '  title: "<b>--> @everyone</b> `x` \\u202e\\e[31m #12"\n')
    refused = world.run("rebuild")
    assert refused.code == 2  # no control characters in a title
    path.write_text(path.read_text().replace("\\e[31m", ""))
    world.rebuild()
    world.publish()
    world.check()
    pull = world.forge.open()["d/blue"]
    assert pull.title == "Merge upstream PR 303: <b>--> @everyone</b> `x` \\u{202e} #12"
    page = Page(pull.body)
    assert page.balanced
    assert not {"script", "b", "i"} & set(page.tags)
    assert "<b>--> @\u200beveryone</b> `x` \\u{202e} #\u200b12" in page.plain
    assert "a|`b`<i>" in page.code
    assert "\u202e" not in pull.title + pull.body


def test_back_to_an_earlier_state(world: World) -> None:
    world.rebuild()
    world.publish()
    first = {number: pull.body for number, pull in world.forge.pulls.items()}
    refs = world.forge.refs()
    world.rebuild("--onto", "v2")
    world.publish()
    assert world.run("undo").code == 0
    world.publish()
    world.check()
    assert {number: pull.body for number, pull in world.forge.pulls.items()} == first
    assert world.forge.refs() == refs | {"refs/heads/main": world.fork.git("rev-parse", "v2")}


def test_reordering_merges_nothing_by_accident(world: World) -> None:
    world.rebuild()
    world.publish()
    before = numbers(world)
    world.manifest(("blue", "green", "red"))
    world.rebuild()

    done = world.publish()
    world.check()
    assert numbers(world) == before
    assert kinds(done)[:4] == ["retarget", "retarget", "push", "update"]
    log = [one for one in world.forge.log if one[0] in (POSTED, PATCHED)]
    pushes = [i for i, one in enumerate(log) if one[1].endswith("git-receive-pack")]
    retargeted = [
        (PATCHED, f"/api/repos/keeper/fork/pulls/{before[branch]}") for branch in ("d/blue", "d/green")
    ]
    assert log[pushes[-1] - 2 : pushes[-1]] == retargeted


def test_reordering_without_retargeting_would_have_merged(world: World) -> None:
    """The forge is as unforgiving as GitHub: this is what the retargeting is for."""
    world.rebuild()
    world.publish()
    world.manifest(("blue", "green", "red"))
    world.rebuild()
    world.fork.git("push", "-q", "--force", str(world.forge.bare), "d/red", "d/green", "d/blue")
    world.forge.branches_moved()
    assert [pull.number for pull in world.forge.pulls.values() if pull.merged] == [12, 13]


def test_a_landed_step_is_closed_with_the_reason_and_its_branch_goes_last(world: World) -> None:
    world.rebuild()
    world.publish()
    world.fork.git("checkout", "-q", "--detach", "v2")
    world.fork.commit({"green": "green\n"}, "Paint it green (#302)")
    world.fork.git("tag", "v4")
    assert [s["outcome"] for s in world.rebuild("--onto", "v4")["steps"]] == ["clean", "landed", "clean"]

    done = world.publish()
    world.check()
    assert kinds(done)[-2:] == ["close", "delete"]
    pull = world.forge.pulls[12]
    assert pull.state == "closed"
    assert "> This step landed upstream (squashed as " in pull.body
    assert world.forge.open()["d/blue"].base == "d/red"
    assert "refs/heads/d/green" not in world.forge.refs()
    assert "- `green`: landed upstream" in world.forge.open()["d/blue"].body


def test_a_dropped_step_is_closed(world: World) -> None:
    world.rebuild()
    world.publish()
    world.manifest(("green", "blue"))
    world.rebuild()
    world.publish()
    world.check()
    assert world.forge.pulls[11].state == "closed"
    assert "> This step was dropped from the stack." in world.forge.pulls[11].body
    assert world.forge.open()["d/green"].base == "main"

    world.manifest(("red", "green", "blue"))
    world.rebuild()
    world.publish()
    world.check()
    assert numbers(world)["d/red"] == 14


def test_a_branch_that_somebody_else_moved_is_refused_and_nothing_is_sent(world: World) -> None:
    world.rebuild()
    world.publish()
    theirs = world.fork.git("commit-tree", "-p", "d/green", "-m", "theirs", "d/green^{tree}")
    world.fork.git("push", "-q", str(world.forge.bare), f"{theirs}:refs/heads/d/green")
    before = world.forge.refs()
    world.rebuild("--onto", "v2")
    world.forge.forget()

    refused = world.run("publish")
    assert refused.code == 1
    was = before["refs/heads/d/red"]
    assert refused.err.startswith(f"error: nothing was pushed: d/green is at {theirs[:12]}, where ")
    assert world.forge.refs() == before
    assert was == world.forge.tip("d/red")
    assert world.forge.writes == []


def test_a_branch_moved_between_looking_and_pushing_rejects_the_whole_push(world: World) -> None:
    world.rebuild()
    world.publish()
    theirs = world.fork.git("commit-tree", "-p", "d/green", "-m", "theirs", "d/green^{tree}")
    world.fork.git("push", "-q", str(world.forge.bare), f"{theirs}:refs/heads/topic")
    world.rebuild("--onto", "v2")

    def sneak(_: int, method: str, path: str) -> None:
        if method == POSTED and path.endswith("git-receive-pack"):
            world.forge.git("update-ref", "refs/heads/d/green", theirs)

    world.forge.before = sneak
    before = world.forge.refs()
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith("error: push origin: ")
    after = world.forge.refs()
    assert after == before | {"refs/heads/d/green": theirs}


def test_a_branch_of_the_same_name_that_was_never_published_is_not_touched(world: World) -> None:
    world.rebuild()
    world.fork.git("push", "-q", str(world.forge.bare), "topic-red:refs/heads/d/red")
    refused = world.run("publish")
    assert refused.code == 1
    assert "which was never published from here" in refused.err
    assert set(world.forge.refs()) == {"refs/heads/main", "refs/heads/d/red"}


def test_a_trunk_that_is_behind_is_forwarded_and_one_that_went_another_way_is_not(world: World) -> None:
    world.rebuild("--onto", "v2")
    world.publish()
    world.check()
    assert world.forge.tip("main") == world.fork.git("rev-parse", "v2")

    other = world.fork.git("commit-tree", "-p", "v2", "-m", "other", "v2^{tree}")
    world.fork.git("push", "-q", str(world.forge.bare), f"{other}:refs/heads/main")
    world.rebuild("--onto", "v3")
    refused = world.run("publish")
    assert refused.code == 1
    assert "main on the remote is at" in refused.err
    assert world.forge.tip("main") == other


def test_a_pull_request_that_a_person_closed_stays_closed(world: World) -> None:
    world.rebuild()
    world.publish()
    world.forge.pulls[12].state = "closed"
    world.forge.forget()
    again = world.publish()
    assert "pull request 12 (green) was closed by a person and is left alone" in again["notes"]
    assert world.forge.pulls[12].state == "closed"
    assert len(world.forge.pulls) == 3


def test_a_pull_request_that_a_person_merged_is_not_opened_again(world: World) -> None:
    """ "Merge them in order": the lowest is in the trunk now."""
    world.rebuild()
    world.publish()
    world.forge.git("update-ref", "refs/heads/main", world.forge.tip("d/red"))
    world.forge.branches_moved()
    assert world.forge.pulls[11].merged
    world.forge.forget()
    again = world.publish()
    assert again["notes"] == ["pull request 11 (red) was merged by a person and is left alone"]
    assert world.forge.writes == []


def test_too_long_a_text_is_an_error_before_anything_is_sent(world: World) -> None:
    world.manifest(("red", "green"))
    path = world.fork.path / "stackmerge.yaml"
    path.write_text(path.read_text() + f"  notes: {'x' * 70_000}\n")
    world.rebuild()
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith("error: the description of green has ")
    assert world.forge.writes == []


def test_a_pull_request_opened_by_hand_is_taken_over_below_its_text(world: World) -> None:
    world.rebuild()
    world.fork.git("push", "-q", str(world.forge.bare), "d/red")
    world.forge.answer(
        "POST",
        "/repos/keeper/fork/pulls",
        {},
        {"title": "Mine", "body": "My words.", "head": "d/red", "base": "main"},
    )
    done = world.publish()
    world.check()
    assert kinds(done).count("create") == 2
    pull = world.forge.open()["d/red"]
    assert (pull.number, pull.title) == (11, "Mine")
    assert pull.body.startswith("My words.\n\n<!-- stackmerge:begin notice -->")


def test_a_double_fence_is_an_error_before_anything_is_sent(world: World) -> None:
    world.rebuild()
    world.publish()
    world.forge.edit(12, lambda body: body + "\n<!-- stackmerge:begin merged -->\n")
    world.rebuild("--onto", "v2")
    world.forge.forget()
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith(
        "error: pull request 12: the comment `stackmerge:begin merged` is there twice"
    )
    assert world.forge.writes == []


def test_in_a_stack_of_the_forges_own_a_base_is_not_sent_and_cannot_change(world: World) -> None:
    world.rebuild()
    world.publish()
    for pull in world.forge.pulls.values():
        pull.stacked = True
    world.rebuild("--onto", "v2")
    world.publish()
    world.check()

    world.manifest(("green", "red", "blue"))
    world.rebuild()
    world.forge.forget()
    refused = world.run("publish")
    assert refused.code == 1
    assert "is in a stack of the forge's own" in refused.err
    assert world.forge.writes == []


def test_a_forge_that_lags(world: World) -> None:
    world.rebuild()
    old = world.fork.git("rev-parse", "v1")
    world.forge.shows = {"base d/red": old}
    done = world.publish()
    red = world.fork.git("rev-parse", "d/red")
    late = f"pull request 12 (green) shows the base commit {old} where it should be {red}: its diff may be too long yet"
    assert done["notes"] == [late]

    world.rebuild("--onto", "v2")
    world.forge.shows = {"head d/blue": old}
    refused = world.run("publish")
    assert refused.code == 1
    assert refused.err.startswith(f"error: pull request 13 (blue) shows the head {old} where it should be ")
    world.forge.shows = {}
    world.publish()
    world.check()


def test_rate_limits_are_waited_for(world: World) -> None:
    world.rebuild()
    world.forge.refusals = [
        Refusal(403, {"Retry-After": "1"}),
        Refusal(429, {"Retry-After": "1"}),
        Refusal(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}),
    ]
    world.publish()
    world.check()


@pytest.mark.parametrize("command", [("publish",), ("publish", "--dry-run"), ("publish", "--json")])
def test_a_refused_token_is_an_error_that_does_not_show_it(world: World, command: tuple[str, ...]) -> None:
    world.rebuild()
    wrong = "ghp_wrongwrongwrong"
    world.fork.environment["GH_TOKEN"] = wrong
    world.fork.environment["GIT_TRACE_CURL"] = "1"
    refused = world.run(*command)
    assert refused.code == 1
    assert wrong not in refused.err + refused.out
    assert TOKEN not in refused.err + refused.out


def test_without_a_token_nothing_is_asked(world: World) -> None:
    world.rebuild()
    del world.fork.environment["GH_TOKEN"]
    world.fork.environment["PATH"] = "/usr/bin:/bin"
    refused = world.run("publish")
    assert refused.code == 1
    assert (
        refused.err
        == "error: there is no token for 127.0.0.1\nhint: set GH_TOKEN, or log in with `gh auth login`\n"
    )
    assert world.forge.log == []
