"""A small scene to edit, and the bundled one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import SCENE, SMALL


@pytest.fixture
def session(tmp_path: Path) -> UsdSession:
    """Three siblings with a value, a relationship, time samples and a connection; a sublayer."""
    (tmp_path / "sub.usda").write_text("#usda 1.0\n")
    (tmp_path / "small.usda").write_text(SMALL)
    return UsdSession(tmp_path / "small.usda")


@pytest.fixture
def shot(tmp_path: Path) -> Iterator[UsdSession]:
    """A copy of the bundled scene, open and current."""
    session = UsdSession(shutil.copy(SCENE, tmp_path))
    uninstall = install(session)
    yield session
    uninstall()


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder in which the runtime and the audit files of a host in this process are."""
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    return tmp_path
