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
