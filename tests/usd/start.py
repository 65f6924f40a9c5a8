"""Our own application in its window, with somebody who sits at it and does what a file says."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog

from dcc_bridge.cli import hosts, leaves, local_host
from tests.hosts.heart import Heart
from tests.hosts.person import WindowPerson

if TYPE_CHECKING:
    from dcc_bridge.cli.local_host import Running


def sit_down(running: Running) -> None:
    """Let somebody come once it takes requests."""
    from dcc_bridge_usd.plugin import Windowed

    assert isinstance(running, Windowed)
    heart = Heart()

    def modal() -> None:
        dialog = QDialog(running.window)
        QTimer.singleShot(1500, dialog.accept)
        dialog.exec()

    def sit() -> bool:
        """Go to a field of the window that is empty then."""
        field = running.window.outliner.filter
        running.window.activateWindow()
        field.setFocus()
        field.clear()
        return field.hasFocus()

    words: dict[str, Callable[[], object]] = {
        "beat": heart.begin,
        "note": heart.note,
        "modal": modal,
        "sit": sit,
        "close": running.stop,
    }
    globals()["there"] = heart, WindowPerson(lambda: running.presenter, words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    local_host.fill(parser)
    options = parser.parse_args(["--window"])
    program = leaves.local()
    opening = local_host.opening(program, options, hosts.settings())
    local_host.run(program, opening, sit_down)
