"""A window that asks a person for their consent to a plan. A process of its own, main thread.

`ask` starts it and reads the answer: a Qt that cannot reach its screen ends the process it is in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal

from . import report, summary
from .plan import Plan

if TYPE_CHECKING:
    from dcc_bridge.spi.qt import QuestionDialog

Answer = Literal["accept", "decline", "cancel"]
LIMIT: Final = 1800.0  # seconds for an answer: nobody agrees in a window that was forgotten
_NAME: Final = "dcc-bridge batch"
_NO_SCREEN: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")  # platforms of Qt


def has_screen() -> bool:
    """Return whether a window can be shown to whoever started this process."""
    if find_spec("PySide6") is None or os.environ.get("SSH_CONNECTION"):
        return False
    if os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0] in _NO_SCREEN:
        return False
    is_unix = sys.platform not in ("win32", "darwin")
    return not is_unix or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def ask(plan: Plan) -> Answer | None:
    """Show the window and wait for the answer; None where it cannot be shown."""
    command = [sys.executable, "-m", "dcc_bridge", "batch", "window", str(plan.folder)]
    shown = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    try:
        answer = json.loads(shown.stdout)
    except ValueError:
        return None
    is_same = isinstance(answer, dict) and answer.get("plan") == plan.digest
    action: Any = answer.get("action") if is_same else None
    return action if action in ("accept", "decline", "cancel") else None


def draw(plan: Plan, answered: Callable[[Answer], None]) -> QuestionDialog:
    """Make the dialog; `answered` is called with what the person did."""
    from dcc_bridge.spi.qt import consent_dialog

    return consent_dialog(
        summary.message(plan),
        answered,
        title="Approve a plan",
        verb=summary.verb(plan),
        skill=str(plan.header["skill"]["name"]),
        asked_by=f"the plan of {report.made(plan)}",
        application=_NAME,
        place=str(plan.root),
        details=summary.details(plan),
        timeout=LIMIT,
    )


def main(plan: Plan) -> None:
    """Show the dialog and print the answer, as `ask` reads it."""
    from dcc_bridge.spi import qt

    application = qt.QApplication([_NAME])  # a display name would stand in the title once more
    application.setWindowIcon(qt.bridge_icon())
    heard: list[Answer] = []

    def answered(action: Answer) -> None:
        heard.append(action)
        application.quit()

    dialog = draw(plan, answered)
    dialog.show()  # it leaves the keyboard where it is
    application.alert(dialog)
    application.exec()
    action = heard[0] if heard else "cancel"
    print(json.dumps({"plan": plan.digest, "action": action}), flush=True)
