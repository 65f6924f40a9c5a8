"""What holds for every test: nothing is drawn, and the user's own folders stay as they are."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import fork_server, homes, tiers

pytest.register_assert_rewrite("tests.verbs.operations_contract")  # before any test imports it

fork_server.share_trust()
# How long an example takes is the machine's; that none hangs is pytest-timeout's.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything imports Qt


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Have the garbage collector look neither at what comes now nor, in any test, at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what README's command would only read to deselect it: half of the files."""
    return tiers.is_beyond_core(collection_path, config.option.markexpr) or None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test with its leaf, or as part of the core."""
    tiers.mark(item)


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the record of tests' bridges, and of processes they start, among the tests' files."""
    with pytest.MonkeyPatch.context() as patch:
        homes.set_all(patch, homes.state(tmp_path_factory.mktemp("state")))
        patch.setenv("DCC_BRIDGE_FREEZE", "0")  # else a test would find garbage of others for ever
        # What tests start is as a user's is: its modules stay compiled, and its output is buffered.
        for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _forked_commands(_own_state: None) -> Iterator[None]:
    """Start Python commands from a warm interpreter, one for each of pytest's processes.

    Windows has no fork: there a command starts as a user's does.
    """
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform != "win32":
            patch.setattr(subprocess, "Popen", fork_server.Popen)
        yield
    fork_server.close()


@pytest.fixture
def new_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start Python commands as a user does, for a test that is about the start itself."""
    monkeypatch.setattr(subprocess, "Popen", fork_server.Popen.__base__)


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder in which the runtime and the audit files of a host in this process are."""
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    return tmp_path
