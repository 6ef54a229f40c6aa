"""The page says what was reused, what was not run, and what is not proven."""

from __future__ import annotations

from pathlib import Path

from tests.report.test_report import page
from tests.sandbox import Sandbox


def stack(fork: Sandbox, gates: str = "") -> None:
    fork.commit({"a": "1\n"}, "one")
    fork.git("tag", "v1")
    fork.branch("red", "v1", {"red": "red\n"}, "red")
    fork.branch("blue", "v1", {"blue": "blue\n"}, "blue")
    fork.manifest(
        f"stack: deploy\nbase: v1\nsteps:\n- name: red\n  merge: red\n- name: blue\n  merge: blue\n{gates}"
    )


def said(fork: Sandbox, tmp_path: Path) -> str:
    return " ".join(page(fork, tmp_path)[0].text.split())


def test_steps_that_were_reused_and_gates_that_were_known(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, "gates:\n- name: echo\n  run: [echo, hello]\n  on: {steps: [blue]}\n")
    assert fork.stackmerge("rebuild").code == 0
    first = said(fork, tmp_path)
    assert "Reused: an earlier rebuild" not in first
    assert "for 1 gate that ran" in first
    assert fork.stackmerge("rebuild").code == 0
    again = said(fork, tmp_path)
    assert "Reused: an earlier rebuild made this step from the same inputs." in again
    assert "known from before" in again
    assert "and none now." in again
    assert "Of 2 steps, 2 keep the commit of the last rebuild." in again


def test_a_step_that_landed_is_not_new(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, "gates:\n- name: quiet\n  run: ['true']\n  on: {steps: [red]}\n")
    assert fork.stackmerge("rebuild").code == 0
    assert "It printed nothing." in said(fork, tmp_path)
    fork.git("merge", "-q", "--no-ff", "-m", "Take blue", "blue")
    fork.git("tag", "v2")
    fork.branch("green", "v2", {"green": "green\n"}, "green")
    manifest = (fork.path / "stackmerge.yaml").read_text()
    fork.manifest(manifest.replace("gates:", "- name: green\n  merge: green\ngates:"))
    assert fork.stackmerge("rebuild", "--onto", "v2").code == 0
    assert "Of 3 steps, none keeps the commit of the last rebuild, 1 is new, and 1 landed." in said(
        fork, tmp_path
    )


def test_a_pass_on_a_cpu_is_not_one_on_a_gpu(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, "gates:\n- name: kernel\n  run: [echo, hello]\n  requires: {gpu: preferred}\n")
    assert fork.stackmerge("rebuild").code == 0
    text = said(fork, tmp_path)
    if "passed on CPU" in text:  # on a machine without a GPU
        assert "the gate kernel is not proven on a GPU: passed on CPU (2 steps)" in text
        assert "kernel: passed, but not on a GPU" in text


def test_a_gate_that_could_not_run_and_gates_that_are_off(fork: Sandbox, tmp_path: Path) -> None:
    stack(fork, "gates:\n- name: far\n  run: [echo, hello]\n  requires: {env: [NO_SUCH_VARIABLE]}\n")
    assert fork.stackmerge("rebuild").code == 0
    assert "the gate far: not run" in said(fork, tmp_path)
    assert fork.stackmerge("rebuild", "--gates", "off", "--fresh").code == 0
    assert "off for this rebuild" in said(fork, tmp_path)


def test_a_blocked_step_and_what_was_left_out_by_it(generated: Sandbox, tmp_path: Path) -> None:
    text = said(generated, tmp_path)
    assert "6 steps have conflicts that need a person. A hazard blocks step-66." in text
    assert "ple-graph-fence blocks at python/freetoken/models/qwen4_exp/ple_disk.py:48" in text
    assert "self._graph_consumed.record(torch.cuda.current_stream(self._device))" in text
    assert "Hint: Keep the forward_host_ctx that submits the fill" in text
    assert "no-graph-fence not run, though a hazard rule asks for it" in text
    assert "failed (exit status 1), accepted: a flaky download" in text
    assert "2 skipped: no GPU" in text


def test_steps_that_the_rebuild_did_not_come_to(fork: Sandbox, tmp_path: Path) -> None:
    fork.commit({"a": "1\n"}, "one")
    fork.git("tag", "v1")
    for name in ("red", "blue"):
        fork.branch(name, "v1", {"a": f"{name}\n"}, name)
    fork.branch("green", "v1", {"b": "green\n"}, "green")
    names = ("red", "blue", "green")
    steps = "".join(f"- name: {name}\n  merge: {name}\n" for name in names)
    fork.manifest(f"stack: deploy\nbase: v1\nsteps:\n{steps}")
    assert fork.stackmerge("rebuild").code == 3
    text = said(fork, tmp_path)
    assert "A conflict needs a person, at blue." in text
    assert "green: not built: the rebuild did not come this far (1 in all)" in text
    assert "none: there is no earlier rebuild to compare with" in text
