"""Some desktops press a focused button with Enter, whatever Qt's own default is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
ENTER = """
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QPushButton
    app = QApplication([])
    from tests.qt.stage import armed, consent, delete, drawn
    heard = []
    stock = QPushButton("Delete")
    stock.setAutoDefault(False)
    stock.clicked.connect(lambda: heard.append("stock"))
    stock.show()
    QTest.keyClick(stock, Qt.Key.Key_Return)
    dialog, replies = drawn(consent())
    for button in (armed(dialog), dialog.exits.decline, dialog.exits.cancel):
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_Return)
    print(heard, [reply.action for reply in replies])
    delete(dialog, stock)
"""


@pytest.mark.real
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="xvfb-run is not installed")
@pytest.mark.parametrize("desktop", ["GNOME", "XFCE"])
def test_where_enter_presses_every_button_it_does_not_press_the_verb(desktop: str) -> None:
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", dedent(ENTER)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "xcb", "XDG_CURRENT_DESKTOP": desktop},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    if not done.stdout:
        pytest.skip(f"no window can be opened here: {done.stderr[-200:]}")

    assert done.stdout.strip() == "['stock'] ['decline']"
