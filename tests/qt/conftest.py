"""A host's window drawn nowhere, and what Qt would rather print than raise."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.printed import nothing_printed, skipped

try:
    import shiboken6
    from PySide6.QtWidgets import QApplication
except ImportError as error:
    MISSING = f"PySide6.QtWidgets cannot be imported: {error}"
else:
    from .desk import Desk
    from .stage import Stage, delete

    MISSING = ""


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip every module here, with the reason, where there is no Qt."""
    module: pytest.Module | None = skipped(parent, module_path, MISSING)
    return module


@pytest.fixture(scope="session")
def app() -> QApplication:
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    return app


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_left() -> None:
    """End what other tests left: Qt warns of a timer that a collection in another thread ends."""
    gc.collect()


@pytest.fixture(autouse=True)
def _nothing_is_lost(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a slot raised or Qt warned: both are only printed. No window outlives a test."""
    with nothing_printed(monkeypatch):
        yield
        delete(*filter(shiboken6.createdByPython, app.topLevelWidgets()))  # Qt's own go with them


@pytest.fixture
def stage(app: QApplication) -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()
    assert not [w for w in app.topLevelWidgets() if shiboken6.isValid(w) and w.isVisible()]


@pytest.fixture
def desk(app: QApplication) -> Iterator[Desk]:
    desk = Desk()
    desk.panel.resize(340, 760)
    desk.panel.show()
    yield desk
    desk.close()
    assert desk.watching == 0
