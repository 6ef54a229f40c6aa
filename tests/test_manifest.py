"""The manifest: what a person may write, and the sentence for what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackmerge import manifest
from stackmerge.errors import UsageError
from stackmerge.manifest import Step

BOMB = 'a: &a ["lol","lol"]\n' + "".join(
    f"{after}: &{after} [{','.join(['*' + before] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
STEP = "stack: deploy\nbase: v1\nsteps:\n- "

WRONG = {
    "no stack": ("base: v1\nsteps: []\n", "stackmerge.yaml:1: the key `stack` is missing"),
    "no base": ("stack: deploy\nsteps: []\n", "stackmerge.yaml:1: the key `base` is missing"),
    "no steps": ("stack: deploy\nbase: v1\n", "stackmerge.yaml:1: the key `steps` is missing"),
    "no name": (STEP + "merge: red\n", "stackmerge.yaml:4: steps[0]: the key `name` is missing"),
    "no head": (STEP + "name: red\n", "stackmerge.yaml:4: steps[0]: the key `merge` (or `pick`) is missing"),
    "empty": ("", "stackmerge.yaml:1: the key `stack` is missing"),
    "a list": ("- stack\n", "stackmerge.yaml:1: must be a mapping"),
    "a word": ("stack\n", "stackmerge.yaml:1: must be a mapping"),
    "no list of steps": ("stack: deploy\nbase: v1\nsteps: red\n", "stackmerge.yaml:3: steps: must be a list"),
    "empty list": ("stack: deploy\nbase: v1\nsteps: []\n", "stackmerge.yaml:3: steps: is empty"),
    "a step of a word": (STEP + "red\n", "stackmerge.yaml:4: steps[0]: must be a mapping"),
    "unknown key": ("stacks: deploy\n", "stackmerge.yaml:1: stacks: is not a known key"),
    "unknown step key": (
        STEP + "name: red\n  merge: red\n  onto: x\n",
        "stackmerge.yaml:6: steps[0].onto: is not a known key",
    ),
    "a list for a key": ("stack: d\n? [a]\n: b\n", "stackmerge.yaml:2: has a key that is no text"),
    "a mapping for a key": (
        "stack: d\nbase: main\nsteps: [{name: a, merge: main, ? {x: y} : z}]\n",
        "stackmerge.yaml:3: steps[0]: has a key that is no text",
    ),
    "given twice": ("stack: deploy\nstack: other\n", "stackmerge.yaml:2: stack: is given twice"),
    "both kinds": (STEP + "name: red\n  merge: red\n  pick: red\n", "stackmerge.yaml:4: steps[0]: has both"),
    "a gate for no step": (
        STEP + "{name: red, merge: red}\ngates:\n- {name: g, run: x, on: {steps: [reed]}}\n",
        "stackmerge.yaml:6: gates[0]: the gate 'g' is for a step 'reed', which there is not",
    ),
    "a gate with a hole": (
        STEP + "{name: red, merge: red}\ngates:\n- {name: g, run: '{pyton} -c pass'}\n",
        "stackmerge.yaml:6: gates[0].run: nothing is known to put in for {pyton}",
    ),
    "twins": (
        STEP + "{name: red, merge: red}\n- {name: red, merge: red}\n",
        "stackmerge.yaml:5: the step name 'red' is given twice",
    ),
    "branch of another": (
        STEP + "{name: red, merge: red, branch: x}\n- {name: blue, merge: red, branch: x}\n",
        "stackmerge.yaml:5: the branch 'x' is given twice",
    ),
    "branch of the stack": (
        STEP + "{name: red, merge: red, branch: deploy}\n",
        "stackmerge.yaml:4: the branch 'deploy' is given twice",
    ),
    "branch below the stack's": (
        "branch_prefix: deploy/\n" + STEP + "{name: red, merge: red}\n",
        "stackmerge.yaml:5: the branch 'deploy/01-red' cannot be beside the branch 'deploy'",
    ),
    "stack that starts with -": ("stack: -x\nbase: v1\nsteps: []\n", "stackmerge.yaml:1: stack: '-x' is not"),
    "stack that climbs": (
        "stack: ../../config\nbase: v1\nsteps: []\n",
        "stackmerge.yaml:1: stack: '../../config' is not a valid branch name",
    ),
    "stack named as our own ref": (
        "stack: rerere\nbase: v1\nsteps: [{name: red, merge: red}]\n",
        "stackmerge.yaml:1: stack: 'rerere' is a name that stackmerge keeps for itself",
    ),
    "a name that climbs": (
        STEP + "{name: a/../b, merge: red}\n",
        "stackmerge.yaml:4: steps[0].name: 'a/../b'",
    ),
    "name of a newline": (
        STEP + '{name: "a\\nb", merge: red}\n',
        "stackmerge.yaml:4: steps[0].name: must be one line of text",
    ),
    "name of a NUL": (
        STEP + '{name: "a\\0b", merge: red}\n',
        "stackmerge.yaml:4: steps[0].name: must be one line of text",
    ),
    "a branch that starts with -": (
        STEP + "{name: red, merge: red, branch: --force}\n",
        "stackmerge.yaml:4: steps[0].branch: '--force' is not a valid branch name",
    ),
    "head that starts with -": (
        STEP + "{name: red, merge: --output=pwned}\n",
        "stackmerge.yaml:4: steps[0].merge: '--output=pwned' is not a revision",
    ),
    "base that starts with -": (
        "stack: deploy\nbase: --all\nsteps: [{name: red, merge: red}]\n",
        "stackmerge.yaml:2: base: '--all' is not a revision",
    ),
    "remote that starts with -": (
        "upstream: {remote: --upload-pack=x}\n" + STEP + "{name: red, merge: red}\n",
        "stackmerge.yaml:1: upstream.remote: '--upload-pack=x' is not the name of a remote",
    ),
    "pull request": (
        STEP + "{name: red, pr: 1;reboot}\n",
        "stackmerge.yaml:4: steps[0].pr: '1;reboot' is not a pull request",
    ),
    "policy": (
        STEP + "{name: red, merge: red}\npolicies: {paths: x, on: anything, take: ours}\n",
        "stackmerge.yaml:5: policies.on: must be one of content, ",
    ),
    "a bomb": (BOMB, "stackmerge.yaml:2: aliases (`*a`) are not allowed"),
    "a cycle": ("stack: &a\n  stack: *a\n", "stackmerge.yaml:2: aliases (`*a`) are not allowed"),
    "too deep": ("[" * 50, "stackmerge.yaml:1: is not YAML: nested more than 30 deep"),
    "no YAML": ("stack: [\n", "stackmerge.yaml:2: is not YAML: "),
    "object": ("!!python/object/apply:os.system ['touch pwned']\n", "stackmerge.yaml:1: must be a mapping"),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_by_file_line_and_key(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "stackmerge.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        manifest.load(path)
    assert caught.value.message.startswith(expected)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 2
    assert path.read_text() == text
    assert [child.name for child in tmp_path.iterdir()] == ["stackmerge.yaml"]


def test_every_key(tmp_path: Path) -> None:
    path = tmp_path / "stackmerge.yaml"
    path.write_text("""\
stack: ours/deploy
upstream: {remote: upstream, branch: master}
base: v1.0
branch_prefix: stack/
steps:
- name: red
  merge: upstream/red
  pr: 338
  title: "Paint: it red"
  notes: |
    Because.
    It is prettier.
- name: tweak
  pick: 1a2b3c
  branch: tweaks/one
- {name: pulled, pr: "#67"}
- {name: elsewhere, merge: x, pr: other/project#5}
policies:
- {paths: [docs/**, "*.lock"], on: [modify/delete, content], take: ours}
""")
    found = manifest.load(path)
    assert (found.stack, found.base, found.remote, found.upstream_branch) == (
        "ours/deploy", "v1.0", "upstream", "master",
    )  # fmt: skip
    assert found.steps == (
        Step(
            "red", "merge", "upstream/red", "stack/01-red", "338", "Paint: it red",
            "Because.\nIt is prettier.\n", "stackmerge.yaml:6",
        ),
        Step("tweak", "pick", "1a2b3c", "tweaks/one", where="stackmerge.yaml:13"),
        Step("pulled", "merge", "refs/pull/67/head", "stack/03-pulled", "67", where="stackmerge.yaml:16"),
        Step("elsewhere", "merge", "x", "stack/04-elsewhere", "other/project#5", where="stackmerge.yaml:17"),
    )  # fmt: skip
    [policy] = found.policies
    assert policy.covers("docs/a/b", "content")
    assert policy.covers("uv.lock", "modify/delete")
    assert not policy.covers("uv.lock", "binary")
    assert not policy.covers("src/uv.lock", "content")
    assert found.lock_path == tmp_path / "stackmerge.lock"


def test_what_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "stackmerge.yaml"
    path.write_text("{stack: deploy, base: main, steps: [{name: red, merge: red}]}\n")
    found = manifest.load(path)
    assert (found.remote, found.upstream_branch, found.policies) == ("origin", "main", ())
    assert [step.branch for step in found.steps] == [""]


def test_values_that_look_like_numbers_are_text(tmp_path: Path) -> None:
    """YAML would make 1e10 and 0123456 of these hashes numbers; a person wrote revisions."""
    path = tmp_path / "stackmerge.yaml"
    path.write_text("{stack: deploy, base: 0123456, steps: [{name: 7, merge: 1e10}]}\n")
    found = manifest.load(path)
    assert (found.base, found.steps[0].name, found.steps[0].source) == ("0123456", "7", "1e10")
