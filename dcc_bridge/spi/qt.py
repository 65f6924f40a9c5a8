"""Qt for plug-ins: the binding that the application has, dialogs, the panel, labels. Main thread.

Every name of QtCore, QtGui and QtWidgets is found here too, in the binding that the application has
loaded; ``delete``, ``getCppPointer``, ``isValid`` and ``wrapInstance`` are shiboken's. `PlugIn`
makes loop, presenter and panel by itself; they are here for an application that parts them.

What a plug-in shows:

===================  ===============================================================================
``Panel``            what agents ask, do and did, as a widget for a dock
``DialogPresenter``  draws questions as dialogs
``QuestionDialog``   a dialog with one question
``KeepBar``          offers to keep or undo what agents did without a question
``HostLoop``         serves the queue to the main thread in the application's event loop
``consent_dialog``   asks for a consent in a process of our own, without a bridge
===================  ===============================================================================

Helpers:

===================  ===============================================================================
``tr``               returns a text in the language of the application
``outlined``         returns a palette whose controls are seen on any ground
``bridge_icon``      returns the icon of the bridge
``sheet``            puts pictures side by side as one JPEG
``tool_tip``         makes a text of others safe to show in a tooltip
===================  ===============================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcc_bridge.elicitation.text import tool_tip
from dcc_bridge.qt import binding
from dcc_bridge.qt.binding import sheet
from dcc_bridge.qt.consent_dialog import bridge_icon, consent_dialog
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.keep_bar import KeepBar
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.outlines import outlined
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog

if TYPE_CHECKING:
    from dcc_bridge.qt.binding import *  # noqa: F403 - Qt's own names

__all__ = [
    "DialogPresenter",
    "HostLoop",
    "KeepBar",
    "Panel",
    "QuestionDialog",
    "bridge_icon",
    "consent_dialog",
    "outlined",
    "sheet",
    "tool_tip",
    "tr",
]


def __getattr__(name: str) -> Any:
    """Return a name of Qt's."""
    return globals().setdefault(name, getattr(binding, name))
