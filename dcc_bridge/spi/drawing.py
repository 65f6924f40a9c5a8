"""For an application that draws questions and panel itself, because it has no Qt: Blender.

It makes a `Bridge` with a `HostPresenter` of its own and pumps a `MainThread`; what it draws is a
`QuestionView`, so that people read the same words everywhere.
"""

from __future__ import annotations

from dcc_bridge.bridge import Bridge
from dcc_bridge.elicitation.details import DetailsRow, DetailsView, details_view
from dcc_bridge.elicitation.question import (
    Consent,
    Expired,
    HandOver,
    HostPresenter,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.elicitation.question_queue import Click, QuestionQueue, Ticket
from dcc_bridge.elicitation.validation import Field, InvalidAnswer
from dcc_bridge.elicitation.view import (
    ArgumentView,
    FieldView,
    QuestionView,
    argument_views,
    item_counts,
    view_of,
)
from dcc_bridge.headless import serve
from dcc_bridge.panel.rows import Row as PanelRow
from dcc_bridge.panel.state import Port as PanelPort
from dcc_bridge.panel.view import CallView, PanelView
from dcc_bridge.server.failed_start import FailedStart
from dcc_bridge.threads.main_thread import MainThread

__all__ = [
    "ArgumentView",
    "Bridge",
    "CallView",
    "Click",
    "Consent",
    "DetailsRow",
    "DetailsView",
    "Expired",
    "FailedStart",
    "Field",
    "FieldView",
    "HandOver",
    "HostPresenter",
    "InvalidAnswer",
    "MainThread",
    "PanelPort",
    "PanelRow",
    "PanelView",
    "PresenterEvent",
    "Question",
    "QuestionQueue",
    "QuestionView",
    "Reply",
    "Settle",
    "TakeDown",
    "Ticket",
    "Unable",
    "argument_views",
    "details_view",
    "item_counts",
    "serve",
    "view_of",
]
