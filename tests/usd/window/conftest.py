"""A window on a copy of the bundled shot, and what Qt would rather print than raise."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.printed import nothing_printed, skipped

ROOT = Path(__file__).parents[3]

try:
    import shiboken6
    from PySide6.QtWidgets import QApplication

    from dcc_bridge_usd.host import UsdSession
    from dcc_bridge_usd.window import theme
    from dcc_bridge_usd.window.main_window import MainWindow
except ImportError as error:
    MISSING = f"The window needs PySide6.QtWidgets and pxr: {error}"
else:
    MISSING = ""


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip every module here, with the reason, where there is no Qt."""
    module: pytest.Module | None = skipped(parent, module_path, MISSING)
    return module


@pytest.fixture(scope="module")
def app() -> Iterator[QApplication]:
    """The application in its own colours, which other tests do not see."""
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    style = app.style().name()
    palette = app.palette()
    sheet = app.styleSheet()
    theme.dress(app)
    yield app
    app.setStyleSheet(sheet)
    app.setPalette(palette)
    app.setStyle(style)


@pytest.fixture(autouse=True)
def _nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a slot raised or Qt warned: both are only printed."""
    with nothing_printed(monkeypatch):
        yield


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
    window.feed.close()
    shiboken6.delete(window)
