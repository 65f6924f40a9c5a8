"""Why a call failed, in words for a person. Any thread.

The error of a record is written for the agent: it begins with the name of a tool, and goes on with
what the agent should try next. A person reads what went wrong, and nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation.text import Translate, english, safe_text
from dcc_bridge.skills.call_history import Record

_MAX_CHARS: Final = 300
_FAILED: Final = ("failed", "partly_applied")  # the states that a person wants a reason for
_SENTENCE: Final = re.compile(r"(.+?[.!?])(?=\s|$)", re.DOTALL)
_FOR_PROGRAMS: Final = re.compile(r"`|[{}\[\]]|\w\(|=>|\b(?:arguments?|schema|parameters?|JSON)\b")
"""Code, JSON and the words of a tool's interface, which a person did not write."""
_TOOL: Final = re.compile(r"^\w[\w ]*? failed: |^[a-z][a-z0-9_]*: ")  # "Save scene failed: "
_ERROR_CLASS: Final = re.compile(r"^(?:[A-Z]\w*(?:Error|Exception|Warning)): ")


def reason(record: Record, tr: Translate = english) -> str:
    """Return why a call failed, in a sentence; "" where its outcome says all.

    Args:
        record: The call.
        tr: Translates the sentence that stands for a text for programs.
    """
    if not record.error or record.state not in _FAILED:
        return ""
    text = record.error
    for prefix in (_TOOL, _ERROR_CLASS):
        text = prefix.sub("", text)
    found = _SENTENCE.match(text)
    sentence = text
    if found is not None:
        sentence = found[1]
    if _FOR_PROGRAMS.search(sentence):
        return tr("The agent's request could not be carried out.")
    return safe_text(sentence[:_MAX_CHARS])
