"""The dialog of a consent for our own commands, which have no scene and no bridge. Main thread.

A command shows the dialog to ask a person for consent, and records the answer itself.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final, NamedTuple, cast

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.ask import yes_or_no
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import (
    Consent,
    Expired,
    HandOver,
    Offers,
    Question,
    Reply,
)
from dcc_bridge.elicitation.types import Action
from dcc_bridge.errors import own_version
from dcc_bridge.host import Host
from dcc_bridge.known_clients import ICON
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.question_dialog import QuestionDialog

_ICON_BASE64: Final = str(ICON["src"]).partition(",")[2]  # behind "data:image/png;base64,"


class _Application(NamedTuple):
    """The facts about a command that the header of its question shows, as a `Host` has them."""

    name: str
    version: str
    place: str

    def scene(self) -> str:
        """Return the place that the question is about, as a command has no scene."""
        return self.place


def consent_dialog(
    message: str,
    answered: Callable[[Action], None],
    *,
    title: str,
    verb: str,
    skill: str,
    asked_by: str,
    application: str,
    place: str,
    details: Details | None = None,
    timeout: float,
) -> QuestionDialog:
    """Make a dialog that asks for consent, in a process without a bridge. Main thread.

    Only the button agrees: Esc, the window's frame and the end of the time cancel.

    Args:
        message: The question, plain text.
        answered: Called once with "accept", "decline" or "cancel".
        title: A heading.
        verb: The text of the button that agrees.
        skill: The skill that the question is about.
        asked_by: The name of whoever asks, for the header.
        application: The name of the program that shows the dialog.
        place: The place that the question is about, such as a folder. The header shows it where a
            scene's name stands otherwise.
        details: A text that is agreed to, shown whole, or None.
        timeout: Seconds for an answer.

    Returns:
        The dialog; ``show`` makes it appear.

    Raises:
        RuntimeError: There is no QApplication.
    """
    if qt.QApplication.instance() is None:
        raise RuntimeError("A dialog needs a QApplication.")
    question = Question(
        message=message,
        call=Call(skill, skill, "destructive", Client(asked_by)),
        form=yes_or_no(verb),
        title=title,
        consent=Consent(),
        details=details,
        offers=Offers(timeout, timeout),
    )
    # Without items the dialog reads the facts for its header from the host, and nothing else.
    host = cast("Host", _Application(application, own_version(), place))

    def on_outcome(outcome: Reply | Expired | HandOver) -> None:
        if isinstance(outcome, Reply):
            answered(outcome.action)
        else:
            answered("cancel")

    return QuestionDialog(question, host, None, on_outcome)


def bridge_icon() -> qt.QIcon:
    """Return the icon of the bridge itself, for the windows of a process of our own. Main thread.

    Returns:
        The picture that MCP clients show beside our name.

    Raises:
        RuntimeError: There is no QApplication.
    """
    if qt.QApplication.instance() is None:
        raise RuntimeError("A picture needs a QApplication.")
    picture = qt.QPixmap()
    picture.loadFromData(base64.b64decode(_ICON_BASE64))
    return qt.QIcon(picture)
