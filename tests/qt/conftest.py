"""A host's window drawn nowhere, and what Qt would rather print than raise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

try:
    import shiboken6
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
    from PySide6.QtWidgets import QApplication
except ImportError as error:
    MISSING = f"PySide6.QtWidgets cannot be imported: {error}"
else:
    from .stage import Stage

    MISSING = ""

_NOISE = "This plugin does not support"  # what the offscreen platform says of every window


class _Skipped(pytest.Module):
    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        pytest.skip(MISSING)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip every module here, with the reason, where there is no Qt."""
    return _Skipped.from_parent(parent, path=module_path) if MISSING else None


@pytest.fixture(scope="session")
def app() -> QApplication:
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    return app


@pytest.fixture(autouse=True)
def _nothing_is_lost(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a slot raised or Qt warned: both are only printed."""
    lost: list[str] = []

    def keep(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        lost.append(f"{kind.__name__}: {error}")

    def hear(kind: QtMsgType, _: QMessageLogContext, text: str | None) -> None:
        if not (text or "").startswith(_NOISE):
            lost.append(f"{kind}: {text}")

    monkeypatch.setattr(sys, "excepthook", keep)
    before = qInstallMessageHandler(hear)
    yield
    qInstallMessageHandler(before)
    assert lost == []


@pytest.fixture
def stage(app: QApplication) -> Iterator[Stage]:
    """A host with its window, its loop, and questions that are drawn in it."""
    stage = Stage()
    yield stage
    stage.close()
    assert not [w for w in app.topLevelWidgets() if shiboken6.isValid(w) and w.isVisible()]
