"""A window on a copy of the bundled shot, drawn nowhere."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
ROOT = Path(__file__).parents[2]
PLUGIN = str(ROOT / "plugins" / "standalone")
if PLUGIN not in sys.path:
    sys.path.insert(0, PLUGIN)

import shiboken6  # noqa: E402  # these need the path and the platform from above
from PySide6.QtWidgets import QApplication  # noqa: E402

from dcc_bridge.hosts.standalone import UsdSession  # noqa: E402
from dcc_standalone import theme  # noqa: E402
from dcc_standalone.window import MainWindow  # noqa: E402


@pytest.fixture(scope="session")
def app() -> QApplication:
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    theme.dress(app)
    return app


@pytest.fixture(autouse=True)
def no_slot_raises(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PySide prints what a slot raises, and goes on."""
    raised: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda _type, error, _trace: raised.append(error))
    yield
    if raised:
        raise raised[0]


@pytest.fixture
def session(tmp_path: Path) -> UsdSession:
    scene = ROOT / "resources" / "scenes" / "shot_010_layout.usda"
    return UsdSession(shutil.copy(scene, tmp_path), has_ui=True)


@pytest.fixture
def window(app: QApplication, session: UsdSession) -> Iterator[MainWindow]:
    window = MainWindow(session)
    window.show()
    app.processEvents()
    yield window
    if shiboken6.isValid(window):
        window.feed.close()
        shiboken6.delete(window)
