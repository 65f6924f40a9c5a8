"""Whether there is a screen for a window. Main thread."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_LIMIT: Final = 20.0


def find() -> tuple[bool, str]:
    """Look for a screen.

    Returns:
        Whether there is one; and if one was announced but cannot be used, a sentence that says why.
    """
    if sys.platform not in ("win32", "darwin"):
        if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            return False, ""
    if find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    why_not = _try()
    return not why_not, why_not


def _try() -> str:
    """Make an application in another process: Qt aborts the one that has no screen or library."""
    environment = {name: v for name, v in os.environ.items() if name != "QT_QPA_PLATFORM"}
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _TRY],
            env=environment,
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
    said = [line for line in tried.stderr.splitlines() if line.strip()]
    reason = said[-1].strip() if said else f"exit code {tried.returncode}"
    return f"Qt cannot show a window here, so the host runs without one: {reason}"
