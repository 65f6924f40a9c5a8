"""What holds for every test: nothing is written into the user's own folders."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the record of tests' bridges, and of processes they start, among the tests' files."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
