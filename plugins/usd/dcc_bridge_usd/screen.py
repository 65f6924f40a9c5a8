"""The search for a screen, without Qt in this process. Main thread."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Final

_SHOW_QT: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_UNSEEN_PLATFORMS: Final = ("offscreen", "minimal")  # Qt's platforms that nobody looks at


def find_screen() -> tuple[bool, str]:
    """Return whether there is a screen, and why an announced screen cannot be used, or ""."""
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_UNSEEN_PLATFORMS):
        return False, ""
    announced = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not announced and sys.platform not in ("win32", "darwin"):
        return False, ""
    if importlib.util.find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    command = [sys.executable, "-c", _SHOW_QT]  # another process: Qt aborts one that has no screen
    try:
        tried = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20.0, check=False
        )
    except subprocess.TimeoutExpired:
        return False, "The screen does not respond, so the host runs without a window."
    if tried.returncode == 0:
        return True, ""
    reason = _reason(tried.stderr) or f"it ended with {tried.returncode}."
    return False, f"Qt cannot show a window here, so the host runs without one: {reason}"


def _reason(output: str) -> str:
    """Return the line that says most: Qt's own first line, or the end of a traceback."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("qt.qpa"):
            return line.partition(": ")[2]
    return lines[-1] if lines else ""
