"""A window that asks a person for their consent to a plan. A process of its own, main thread.

`ask` starts it and reads the answer: a Qt that cannot reach its screen ends the process it is in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from dcc_bridge.cli import exits, load
from dcc_bridge.consent.call import Call, Client
from dcc_bridge.elicitation.ask import yes_or_no
from dcc_bridge.elicitation.question import Consent, Offers, Question, Reply
from dcc_bridge.errors import own_version
from dcc_bridge_batch import report, summary
from dcc_bridge_batch.plan import Plan

if TYPE_CHECKING:
    from dcc_bridge.host import Host
    from dcc_bridge.qt.question_dialog import QuestionDialog

Answer = Literal["accept", "decline", "cancel"]
LIMIT: Final = 1800.0  # seconds for an answer: nobody agrees in a window that was forgotten
_NAME: Final = "dcc-bridge batch"
_NO_SCREEN: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")  # platforms of Qt


class _Asker(NamedTuple):
    """What the header of a question says of the application: this one has no scene open."""

    name: str
    version: str
    folder: str

    def scene(self) -> str:
        """Give the folder of the plan's scenes."""
        return self.folder


def has_screen() -> bool:
    """Whether a window can be shown to whoever started this process."""
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


def question(plan: Plan) -> Question:
    """Make the question that the window shows."""
    skill = str(plan.header["skill"]["name"])
    asker = Client(f"the plan of {report.made(plan)}")
    return Question(
        message=summary.message(plan),
        call=Call(skill, skill, "destructive", asker),
        form=yes_or_no(summary.verb(plan)),
        title="Approve a plan",
        consent=Consent(),
        details=summary.details(plan),
        offers=Offers(LIMIT, LIMIT),
    )


def draw(plan: Plan, answered: Any) -> QuestionDialog:
    """Make the dialog; `answered` is called with what the person did."""
    from dcc_bridge.qt.question_dialog import QuestionDialog

    # without items the dialog reads what the header needs of the host, and nothing else
    host = cast("Host", _Asker(_NAME, own_version(), str(plan.root)))
    return QuestionDialog(question(plan), host, None, answered)


def dress(application: Any) -> None:
    """Give the windows the icon of our own application, whose plug-in draws it."""
    with suppress(exits.Failure):  # it is not installed
        application.setWindowIcon(load("standalone/dcc_standalone.icons").application())


def main(plan: Plan) -> None:
    """Show the dialog and print the answer, as `ask` reads it."""
    from dcc_bridge.qt import binding as qt

    application = qt.QApplication([_NAME])  # a display name would stand in the title once more
    dress(application)
    heard: list[object] = []

    def answered(reply: object) -> None:
        heard.append(reply)
        application.quit()

    dialog = draw(plan, answered)
    dialog.show()  # it leaves the keyboard where it is
    application.alert(dialog)
    application.exec()
    reply = heard[0] if heard else None
    action = reply.action if isinstance(reply, Reply) else "cancel"
    print(json.dumps({"plan": plan.digest, "action": action}), flush=True)
