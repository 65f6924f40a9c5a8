"""What Qt prints rather than raises, and modules that are skipped where there is no Qt."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

_NOISE = (
    "This plugin does not support",  # what the offscreen platform says of every window
    "EnableNonClientDpiScaling() failed",  # what Wine 8 lacks, of every window
)


@contextmanager
def nothing_printed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a slot raised or Qt warned in the block: both are only printed."""
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

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
    assert lost == [], lost


class _Skipped(pytest.Module):
    missing = ""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        pytest.skip(self.missing)


def skipped(parent: pytest.Collector, path: Path, missing: str) -> Any:
    """Collect a module as one that is skipped, without importing it.

    Args:
        parent: Where it is collected.
        path: The module.
        missing: Why it cannot run; empty where it can, and then it is collected as usual.
    """
    if not missing:
        return None
    module = _Skipped.from_parent(parent, path=path)
    module.missing = missing
    return module
