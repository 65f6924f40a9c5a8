"""For the batch of many scenes, which has no application of its own. Any thread.

Half of it runs in the commands and on a farm, half in an application's batch interpreter. So
nothing here brings the server, a client or Qt.

What was agreed to:

===================  ===============================================================================
``Question``         a question, with all that is needed to judge it
``Details``          a text that is agreed to, shown whole
``calling_client``   returns the label of the client for whose call the code runs
``current_context``  returns the bridge of this process, as skills reach it
``record_events``    writes a decision that was made without a bridge into the record
``NotRecorded``      the error: the record could not be written, so nothing may be changed
===================  ===============================================================================

Where it runs:

===================  ===============================================================================
``Settings``         how a bridge behaves
``Unreachable``      the error: a host cannot be reached
``file_locks``       a module: locks by which a process shows that it is alive
``held_files``       a module: replaces, moves and deletes files that another program may have open
``private_files``    a module: files and folders that other users cannot read or change
===================  ===============================================================================

Texts for a person to read:

===================  ===============================================================================
``safe_line``        one line of a text by others, made safe to show
``safe_text``        several lines of it
``shell``            a module: command lines that can be copied into the shell of this system
===================  ===============================================================================
"""

from __future__ import annotations

from dcc_bridge import file_locks, held_files, private_files, shell
from dcc_bridge.audit.log import record_events
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import calling_client
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.errors import NotRecorded, Unreachable

__all__ = [
    "Details",
    "NotRecorded",
    "Question",
    "Settings",
    "Unreachable",
    "calling_client",
    "current_context",
    "file_locks",
    "held_files",
    "private_files",
    "record_events",
    "safe_line",
    "safe_text",
    "shell",
]
