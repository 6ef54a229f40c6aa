from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.places import make_demo


@pytest.fixture(scope="session")
def demo_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo(tmp_path_factory.mktemp("demo"))
