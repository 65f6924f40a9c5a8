"""Why a call failed, and what is left of it, in words for a person. Any thread.

The error of a record is written for the agent: it begins with the name of a tool, and goes on with
what the agent should try next. A person reads what went wrong, what remains in the scene, what was
restored, and what may still change; nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation.text import Translate, english, safe_text
from dcc_bridge.skills.call_history import Record

_MAX_CHARS: Final = 300  # of what went wrong
_FAILED: Final = ("failed", "partly_applied", "no_consent", "unknown_outcome")
"""The states that a person wants a reason for; the others say it by themselves."""
_LEFT: Final = r"Its changes to these remain: .+"
"""It comes last, and the names in it may have full stops."""
_SENTENCE: Final = re.compile(rf"{_LEFT}|\S.*?[.!?](?=\s|$)|\S.*$", re.DOTALL)
_OF_SCENE: Final = re.compile(
    r"\b(?:changes to these remain|also changed|was restored|were (?:undone|redone|restored)"
    r"|step was reverted|undo (?:cannot|did not)|own undo|(?:check|look at) the scene"
    r"|(?:cannot|could not|not every change could) be (?:undone|redone|rolled back)"
    r"|may still change|unsaved changes|copy could be kept)\b",
    re.IGNORECASE,
)
"""The beginnings of sentences about the scene after a call, of the bridge and the hosts."""
_STANDS: Final = re.compile(r"changes to these remain|Not every change could be undone")
_FOR_PROGRAMS: Final = re.compile(
    r"""`|[{\[]\s*["'{\[\]}]|\w\((?!\d+\))|=>|\b(?:arguments?|schema|parameters?|JSON)\b"""
)
"""Code, JSON and the words of a tool's interface, which a person did not write."""
_TOOL: Final = re.compile(r"^\w[\w ]*? failed: |^[a-z][a-z0-9_]*: ")  # "Save scene failed: "
_ERROR_CLASS: Final = re.compile(r"^(?:[A-Z]\w*(?:Error|Exception|Warning)): ")
_NUMBER: Final = re.compile(r"^\[(?:Errno|WinError) -?\d+\] ")  # an error of the system


def reason(record: Record, tr: Translate = english) -> str:
    """Return why a call failed, and what is left of it; "" where its outcome says all.

    Args:
        record: The call.
        tr: Translates the sentences that are not in the error.
    """
    if not record.error:
        return ""
    text = record.error
    for prefix in (_TOOL, _ERROR_CLASS):
        text = prefix.sub("", text)
    why, *others = _SENTENCE.findall(text) or [""]
    of_scene = [sentence for sentence in others if _OF_SCENE.search(sentence)]
    if record.state == "unknown_outcome" and not of_scene:
        of_scene.append(tr("It may have changed the scene."))
    if record.state in _FAILED:
        of_scene.insert(0, _for_person(why, tr))
    return safe_text(" ".join(of_scene))


def leaves_changes(record: Record) -> bool:
    """Return whether changes of a call that was undone remain in the scene."""
    return record.error is not None and _STANDS.search(record.error) is not None


def _for_person(why: str, tr: Translate) -> str:
    """Return what went wrong, unless that is a text for programs."""
    of_system = _NUMBER.sub("", why)
    if of_system == why and not _OF_SCENE.search(why) and _FOR_PROGRAMS.search(why):
        return tr("The agent's request could not be carried out.")
    return safe_text(of_system, _MAX_CHARS)
