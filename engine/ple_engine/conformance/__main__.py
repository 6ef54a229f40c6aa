"""Run the conformance suites on a tree.

Exit status: 0 all passed, 1 a test failed, 2 the suites could not run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

SUITES = {
    "kernel": "test_kernel.py",
    "no-graph-fence": "test_no_graph_fence.py",
    "fill-order": "test_fill_order.py",
}


def main(arguments: list[str] | None = None) -> int:
    options, pytest_options = _parser().parse_known_args(arguments)
    suites = list(SUITES) if options.suite == "all" else [options.suite]
    try:
        where = _prepare(options, suites)
    except _CannotRunError as error:
        print(f"ple_engine.conformance: {error}", file=sys.stderr)
        return 2
    print(f"target {options.target}; kernels run on {where}", flush=True)
    return _run(options, suites, pytest_options)


class _CannotRunError(Exception):
    pass


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ple_engine.conformance",
        description="Hold a tree's PLE classes against the engine's tests. Further options go to pytest.",
    )
    parser.add_argument("--target", choices=["ple_engine", "freetoken"], default="ple_engine")
    parser.add_argument("--tree", type=Path, help="folder of the tree, for the freetoken target")
    parser.add_argument("--suite", choices=[*SUITES, "all"], default="all")
    parser.add_argument("--junit-xml", type=Path, help="write a JUnit report, with each test's device")
    return parser


def _prepare(options: argparse.Namespace, suites: list[str]) -> str:
    """Check that everything can be imported; where kernels run. Raises _CannotRunError in one line."""
    try:
        import torch
    except ImportError as error:
        raise _CannotRunError(f"torch is missing ({error}); install stackmerge[engine]") from error
    if not torch.cuda.is_available():
        # before triton is imported: it reads this at each @jit
        os.environ.setdefault("TRITON_INTERPRET", "1")
    try:
        import hypothesis  # noqa: F401
        import numpy  # noqa: F401
        import pytest  # noqa: F401
        import triton  # noqa: F401
    except ImportError as error:
        raise _CannotRunError(f"{error.name} is missing; install stackmerge[engine]") from error
    from ple_engine.conformance.device import describe_hash_device
    from ple_engine.conformance.targets import TargetError, make_target

    try:
        make_target(options.target, options.tree).check(suites)
    except TargetError as error:
        raise _CannotRunError(" ".join(str(error).split())) from error
    return describe_hash_device()


def _run(options: argparse.Namespace, suites: list[str], pytest_options: list[str]) -> int:
    import pytest

    os.environ.setdefault("COLUMNS", "300")  # so that the summary keeps the reason of a failure
    folder = Path(__file__).parent
    command = [str(folder / SUITES[suite]) for suite in suites]
    command += ["-p", "ple_engine.conformance.plugin", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    command += ["-c", os.devnull, "--import-mode=importlib", "-v", "--tb=short", "--strict-markers"]
    command += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins that were imported before
    command += ["--ple-target", options.target]
    command += ["--ple-tree", str(options.tree)] if options.tree else []
    command += [f"--junit-xml={options.junit_xml.absolute()}"] if options.junit_xml else []
    status = pytest.main([*command, *pytest_options])
    return int(status) if status in (0, 1) else 2


if __name__ == "__main__":
    sys.exit(main())
