"""For an application that draws questions and panel itself, because it has no Qt: Blender.

It makes a `Bridge` with a `HostPresenter` of its own and pumps a `MainThread`; what it draws is a
`QuestionView`, so that people read the same words everywhere. Main thread, unless a docstring says
"any thread".

The bridge:

==================  ================================================================================
``MainThread``      the queue to the main thread: the application wakes and drains it
``Bridge``          a bridge that runs in this application; starts, pauses, cancels, undoes
``FailedStart``     lists an application whose bridge did not start, with the reason
``PanelPort``       a bridge, as a panel reads and steers it
``unwatched``       a block for a turn of the event loop while a job rests
``PanelView``       all that a panel shows
``PanelRow``        a row of it, with its actions
``CallView``        one call, as a panel shows it
==================  ================================================================================

Questions:

==================  ================================================================================
``HostPresenter``   the port: what draws questions where the person sits
``QuestionQueue``   shows one question at a time, whatever draws it
``Ticket``          a question that is drawn, or waits for its turn
``Question``        a question, with all that is needed to draw it
``Consent``         what a person agrees to, or not
``Draft``           what a person entered and did not send, for the same question asked again
``Field``           a field of a form; checks what is filled in
``InvalidAnswer``   the error of `Field.check`: what was filled in does not fit
``Click``           type: a function without arguments, behind a button
==================  ================================================================================

What came of one:

==================  ================================================================================
``Settle``          type: a function that takes a `PresenterEvent`, once
``TakeDown``        type: a function that takes a question away, given the reason
``PresenterEvent``  type: one of the classes below, or what an unknown client sent
``Reply``           a person's reply; not trusted yet
``HandOver``        the person would rather answer in the client
``Expired``         nobody answered in time
``Unable``          it cannot be shown
==================  ================================================================================

What is drawn:

==================  ================================================================================
``QuestionView``    a question: its texts, safe to show
``FieldView``       a field of its form
``ArgumentView``    an argument of the call: a row
``DetailsView``     a text that is agreed to: code, say
``DetailsRow``      a line of it
``view_of``         makes the view of a question
``details_view``    makes the view of a text
``item_counts``     returns how many items there are of which kind
``fewer``           returns the caption that agrees to some of the items
``word_to_type``    returns the word that stands for items that undo does not bring back
``safe_line``       makes a text of others safe to show, on one line
==================  ================================================================================
"""

from __future__ import annotations

from dcc_bridge.bridge import Bridge
from dcc_bridge.consent.audit_hook import unwatched
from dcc_bridge.elicitation.caller_view import ArgumentView
from dcc_bridge.elicitation.consent_view import item_counts
from dcc_bridge.elicitation.details import DetailsRow, DetailsView, details_view
from dcc_bridge.elicitation.field_view import FieldView
from dcc_bridge.elicitation.question import (
    Consent,
    Draft,
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
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.validation import Field, InvalidAnswer
from dcc_bridge.elicitation.view import QuestionView, fewer, view_of, word_to_type
from dcc_bridge.panel.row import Row as PanelRow
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
    "Draft",
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
    "details_view",
    "fewer",
    "item_counts",
    "safe_line",
    "unwatched",
    "view_of",
    "word_to_type",
]
