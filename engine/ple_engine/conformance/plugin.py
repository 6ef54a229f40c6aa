"""The pytest plugin of the suites: the target fixture, and which device each test ran on."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from ple_engine.conformance.device import describe_hash_device
from ple_engine.conformance.targets import Target, make_target


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ple", "PLE conformance")
    group.addoption("--ple-target", default="ple_engine")
    group.addoption("--ple-tree", default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ple_device(name): what the test runs on; default: the hash device")
    # A tree is tested from inside it: seen from there, the path of a test is long and says nothing.
    config.cwd_relative_nodeid = lambda nodeid: nodeid  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Target:
    tree = request.config.getoption("--ple-tree")
    return make_target(request.config.getoption("--ple-target"), Path(tree) if tree else None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marker = item.get_closest_marker("ple_device")
    device = marker.args[0] if marker else describe_hash_device()
    if report.when == "setup":
        report.user_properties.append(("device", device))
        item.user_properties.append(("device", device))
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """The verbose word of a test's result, with its device."""
    if report.when != "call" and not report.skipped:
        return None
    device = dict(report.user_properties).get("device", "?")
    letter = {"passed": ".", "failed": "F", "skipped": "s"}[report.outcome]
    return report.outcome, letter, f"{report.outcome.upper()} on {device}"
