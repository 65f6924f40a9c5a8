"""Whether there is a screen for a window. Main thread."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_LIMIT: Final = 20.0
_UNSEEN: Final = ("offscreen", "minimal")
"""Qt's platforms that nobody looks at."""


def find() -> tuple[bool, str]:
    """Look for a screen.

    Returns:
        Whether there is one; and if one was announced but cannot be used, a sentence that says why.
    """
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_UNSEEN):
        return False, ""
    announced = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not announced and sys.platform not in ("win32", "darwin"):
        return False, ""
    if find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    why_not = _try()
    return not why_not, why_not


def _try() -> str:
    """Make an application in another process: Qt aborts the one that has no screen or library."""
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _TRY],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "The screen does not answer, so the host runs without a window."
    if tried.returncode == 0:
        return ""
    return f"Qt cannot show a window here, so the host runs without one: {_reason(tried)}"


def _reason(tried: subprocess.CompletedProcess[str]) -> str:
    """Give the line that says most: Qt's own first one, or the end of a traceback."""
    said = [line.strip() for line in tried.stderr.splitlines() if line.strip()]
    of_qt = [line.partition(": ")[2] for line in said if line.startswith("qt.qpa")]
    return (of_qt or said[-1:] or [f"it ended with {tried.returncode}."])[0]
