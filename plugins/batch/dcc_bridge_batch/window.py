"""A window that asks a person for consent to a plan. A process of its own, main thread.

`ask` starts the process and reads the answer. The window has its own process, because Qt ends the
process if it cannot reach the screen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from . import report, summary
from .plan import Plan

if TYPE_CHECKING:
    from dcc_bridge.spi.qt import QuestionDialog

Answer = Literal["accept", "decline", "cancel"]
LIMIT: Final = 1800.0  # seconds for an answer: nobody agrees in a window that was forgotten
_NAME: Final = "dcc-bridge batch"
_NO_SCREEN: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")  # platforms of Qt


def has_screen() -> bool:
    """Return whether a window can be shown to the person who started this process."""
    if find_spec("PySide6") is None or os.environ.get("SSH_CONNECTION"):
        return False
    if os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0] in _NO_SCREEN:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def ask(plan: Plan) -> Answer | None:
    """Show the window and wait for the answer.

    Returns:
        The answer; None if the window cannot be shown.
    """
    command = [sys.executable, "-m", "dcc_bridge", "batch", "window", str(plan.folder)]
    process = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    try:
        answer = json.loads(process.stdout)
    except ValueError:
        return None
    if not isinstance(answer, dict) or answer.get("plan") != plan.digest:
        return None
    action: Any = answer.get("action")
    if action not in ("accept", "decline", "cancel"):
        return None
    return cast("Answer", action)


def draw(plan: Plan, answered: Callable[[Answer], None]) -> QuestionDialog:
    """Make the dialog.

    Args:
        plan: The plan that it asks about.
        answered: Called with the person's answer.
    """
    from dcc_bridge.spi.qt import consent_dialog

    return consent_dialog(
        summary.message(plan),
        answered,
        title="Approve a plan",
        verb=summary.verb(plan),
        skill=str(plan.header["skill"]["name"]),
        asked_by=f"the plan of {report.origin(plan)}",
        application=_NAME,
        place=str(plan.root),
        details=summary.details(plan),
        timeout=LIMIT,
    )


def main(plan: Plan) -> None:
    """Show the dialog and print the answer, as `ask` reads it."""
    from dcc_bridge.spi import qt

    application = qt.QApplication([_NAME])  # Qt would repeat a display name in the window's title
    application.setWindowIcon(qt.bridge_icon())
    answers: list[Answer] = []

    def answered(action: Answer) -> None:
        answers.append(action)
        application.quit()

    dialog = draw(plan, answered)
    dialog.show()  # the keyboard stays with the window that has it
    application.alert(dialog)
    application.exec()
    action = answers[0] if answers else "cancel"
    print(json.dumps({"plan": plan.digest, "action": action}), flush=True)
