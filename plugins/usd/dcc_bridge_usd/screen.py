"""Whether there is a screen, found without Qt in this process. Main thread."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Final

_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_UNSEEN: Final = ("offscreen", "minimal")  # Qt's platforms that nobody looks at


def find_screen() -> tuple[bool, str]:
    """Return whether there is a screen, and why one that was announced cannot be used, or ""."""
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_UNSEEN):
        return False, ""
    announced = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not announced and sys.platform not in ("win32", "darwin"):
        return False, ""
    if importlib.util.find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    command = [sys.executable, "-c", _TRY]  # another process: Qt aborts one that has no screen
    try:
        tried = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20.0, check=False
        )
    except subprocess.TimeoutExpired:
        return False, "The screen does not respond, so the host runs without a window."
    if tried.returncode == 0:
        return True, ""
    # What says most is Qt's own first line, or the end of a traceback.
    lines = [line.strip() for line in tried.stderr.splitlines() if line.strip()]
    of_qt = [line.partition(": ")[2] for line in lines if line.startswith("qt.qpa")]
    reason = (of_qt or lines[-1:] or [f"it ended with {tried.returncode}."])[0]
    return False, f"Qt cannot show a window here, so the host runs without one: {reason}"
