"""The host port on the C++ application: the shape of an adapter of Maya. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qt_host  # type: ignore[import-not-found]  # the application's own, inside of it only

from dcc_bridge.host import Host, Undo, UndoMark, digest


class QtHost(Host):
    """The application that `main.cpp` is."""

    name, version, item_noun, suffix = "Qt host", "1.0", "node", ".txt"

    def __init__(self) -> None:
        self.has_ui = not qt_host.is_batch()

    def file(self) -> Path | None:
        return None

    def save_copy(self, path: Path) -> None:
        path.write_text(repr(qt_host.nodes()), encoding="utf-8")

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        qt_host.open_chunk(label)
        try:
            yield
        finally:
            qt_host.close_chunk()

    def undo_mark(self) -> UndoMark:
        """Mark the entry on top; this host's stack is never trimmed."""
        label: str | None = qt_host.undo_label()
        return UndoMark(qt_host.undo_depth(), label)

    def undo(self) -> None:
        qt_host.undo()

    def redo(self) -> None:
        qt_host.redo()

    @property
    def selection(self) -> list[str]:
        return list(qt_host.selected())

    def select(self, items: Sequence[str]) -> None:
        qt_host.select(list(items))

    def describe(self, item: str) -> dict[str, Any]:
        types = dict(qt_host.nodes())
        if item not in types:
            raise LookupError(f"There is no node {item!r}.")
        return {"type": types[item]}

    def fingerprint(self, items: Sequence[str]) -> str:
        types = dict(qt_host.nodes())
        return digest([[item, types.get(item)] for item in sorted(set(items))])

    def scene_digest(self) -> str:
        return digest(qt_host.nodes())

    def main_window(self) -> Any:
        """Wrap the number that stands for the window."""
        if not self.has_ui:
            return None
        from PySide6.QtWidgets import QMainWindow  # only where there is a window
        from shiboken6 import wrapInstance

        return wrapInstance(qt_host.main_window(), QMainWindow)

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Start once it is idle; in batch what is deferred never runs."""
        if not self.has_ui:
            start()
        else:
            qt_host.defer(start)
        return lambda: None
