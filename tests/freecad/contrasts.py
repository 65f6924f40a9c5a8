"""Measures contrasts inside of FreeCAD, which imports this, and closes its window."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path

import FreeCADGui

from dcc_bridge.qt import binding as qt
from tests.qt.contrasts import FREECAD_THEMES, LOOKS, in_fusion, measure

SHEETS = Path("/usr/share/freecad/Gui/Stylesheets")
FILE = Path(os.environ["CONTRASTS"])


def in_theme(name: str) -> Callable[[qt.QApplication], object]:
    """Return what gives FreeCAD one of its own themes, as its preferences do."""
    sheet = (SHEETS / f"{name}.qss").read_text(encoding="utf-8")

    def put_on(app: qt.QApplication) -> None:
        app.setStyleSheet(sheet)

    return put_on


def begin() -> None:
    """Measure once FreeCAD's window is up."""
    window = FreeCADGui.getMainWindow()
    if not window.isVisible():
        qt.QTimer.singleShot(50, begin)
        return
    looks: dict[str, Callable[[qt.QApplication], object]] = {"own": lambda app: None}
    looks |= {name: in_theme(name) for name in FREECAD_THEMES}
    looks |= {look: in_fusion(look) for look in LOOKS}
    try:
        measure(FILE, looks)
    except BaseException:  # noqa: BLE001 - whatever it is, the test is told, and FreeCAD ends
        FILE.write_text(json.dumps({"error": traceback.format_exc()}), encoding="utf-8")
    window.close()


qt.QTimer.singleShot(0, begin)
