"""Tells the events of a call in sentences, from its lines in the audit record. Any thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from dcc_bridge.audit import reader
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.errors import NO_OTHER_WAY

_UNVERIFIED_CLIENT: Final = "unverified client"
# Who answered: words of the record for which `types.outcome` has another word.
_ANSWERED_BY: Final = {_UNVERIFIED_CLIENT: "client", "unattended": "policy"}
_OUTCOMES: Final = {"granted": types.AGREED, "answered": types.ANSWERED}
_ANSWERS: Final = (*_OUTCOMES, "unasked", "declined", "cancelled", "timed_out", "unanswered")
_INDENT: Final = "  "
Call = list[Mapping[str, Any]]
"""The lines of one call in the record, in order."""


def sentences(call: Call) -> Iterator[str]:
    """Yield the lines of a call's account.

    The first line is the `heading`. An indented line follows for each event: who asked for what,
    who answered, and how the call ended.
    """
    yield heading(call[0])
    was_asked = any("question" in fields for fields in call)
    has_ended = False
    for fields in call:
        if fields["event"] == "begin":  # a call begins again to write the scene at its end
            has_ended = False
        elif fields["event"] in reader.ENDINGS:
            has_ended = True
        if was_asked and fields["event"] == types.UNASKED:
            continue  # the call asked later
        when = datetime.fromisoformat(str(fields["utc"]))
        if fields["event"] in _ANSWERS and "message" in fields:
            yield f"{_INDENT}{when:%H:%M:%S}  {_question(fields, 'not shown in this call')}"
        yield f"{_INDENT}{when:%H:%M:%S}  {_sentence(fields)}"
    if call[0].get("client") and not has_ended:
        yield f"{_INDENT}no end was recorded"


def heading(first: Mapping[str, Any]) -> str:
    """Return the time, the skill, the client and the id of a call.

    Args:
        first: The first line of the call.
    """
    client = first.get("client")
    who = "for the application itself"
    if client:
        who = f"for {safe_line(str(client))}{_claim(first)}"
    when = str(first.get("utc", "")).replace("T", " ")[:19]
    return f"{when}  {safe_line(str(first.get('skill')))} {who}  call {first.get('call')}"


def _claim(first: Mapping[str, Any]) -> str:
    """Return the name and version by which a client identified itself."""
    names = [str(first[key]) for key in ("client_name", "client_version") if first.get(key)]
    if not names:
        return ""
    return f" (calls itself {safe_line(' '.join(names))})"


def for_person(error: str) -> str:
    """Return an agent's error without the sentence that is only for agents."""
    return error.replace(NO_OTHER_WAY, "").strip()


def _sentence(fields: Mapping[str, Any]) -> str:
    event = str(fields["event"])
    match event:
        case "asked":
            return _question(fields)
        case "undone" | "redone":
            return _undone(event, fields)
        case "begin" if fields.get("writes"):
            return f"began to write {safe_line(str(fields['writes']), 400)}"
        case "begin":
            return f"began in {safe_line(str(fields.get('scene')))}{_arguments(fields)}"
        case "code":
            return _code(fields)
        case "task":
            return "went on as a task"
        case _ if event in _ANSWERS:
            return _answer(event, fields)
        case _:
            return _ending(event, fields)


def _question(fields: Mapping[str, Any], text: str = "asked") -> str:
    inner = fields.get("inner_skill")
    if inner:
        text += f" by {safe_line(str(inner))}, which it called"
    message = _quoted(str(fields.get("message")))
    return f"{text}: {message}{_objects(fields)}{_arguments(fields, 'shown')}"


def _undone(event: str, fields: Mapping[str, Any]) -> str:
    text = f"{event} in the client"
    if fields.get("by") == "host":
        text = f"{event} in the app"
    if fields.get("by_call"):
        text += f", in call {safe_line(str(fields['by_call']))}"
    return text


def _code(fields: Mapping[str, Any]) -> str:
    facts = [f"{fields.get('bytes')} bytes"]
    if fields.get("findings"):
        facts.append(f"{fields['findings']} marked")
    for change in ("created", "changed", "deleted"):
        if fields.get(change):
            facts.append(f"{fields[change]} {change}")
    text = f"code {str(fields.get('digest'))[:12]} ({', '.join(facts)})"
    return safe_line(f"{text}: {fields.get('outcome')}", 400)


def _answer(event: str, fields: Mapping[str, Any]) -> str:
    text = _outcome(event, fields)
    if fields.get("reason"):
        text += f" because {_quoted(str(fields['reason']))}"
    if fields.get("late") and fields.get("by") != "nobody":
        text += ", late: the call that asked first had ended"
    left_out = _listed(fields.get("left_out"))
    if left_out:
        text += f", without {left_out}"
    content = fields.get("answer") or fields.get("typed")
    if content:
        text += f": {safe_line(json.dumps(content, ensure_ascii=False), 2000)}"
    return text


def _outcome(event: str, fields: Mapping[str, Any]) -> str:
    """Return how a question ended, who answered, and how long it was shown."""
    how = str(fields.get("why") or "")
    if how in ("", types.FALLBACK_USED):
        how = _OUTCOMES.get(event, event)
    by = str(fields.get("by"))
    text = types.outcome(how, _ANSWERED_BY.get(by, by))
    if fields.get("allow_list"):
        text += f" ({safe_line(str(fields['allow_list']))})"
    shown_ms = fields.get("ms_shown")
    if isinstance(shown_ms, int):
        text += f" (shown for {shown_ms / 1000:.1f} s)"
    if by == _UNVERIFIED_CLIENT:
        text += ", not verified in the application"
    return text


def _ending(event: str, fields: Mapping[str, Any]) -> str:
    why = ""
    error = for_person(str(fields.get("error") or ""))
    if error:
        why = f": {_quoted(error)}"
    if event != "end":
        return f"{event.replace('_', ' ')}{why}"
    text = f"{safe_line(str(fields.get('status')))}, {_changes(fields)}"
    undo = _listed(fields.get("undo"))
    if undo:
        text += f"; undo: {undo}"
    copy = fields.get("checkpoint")
    if copy:
        text += f"; the previous version is in {safe_line(str(copy), 400)}"
    return f"{text}{why}"


def _changes(fields: Mapping[str, Any]) -> str:
    changes = []
    if fields.get("changed"):
        changes.append("changed")
    lost = _listed(fields.get("lost"))
    if lost:
        changes.append(f"cannot be undone: {lost}")
    if not changes:
        return "nothing was changed"
    return ", ".join(changes)


def _listed(entries: Any) -> str:
    return ", ".join(safe_line(str(entry)) for entry in entries or [])


def _objects(fields: Mapping[str, Any]) -> str:
    count = fields.get("objects")
    if not count:
        return ""
    names = [safe_line(str(name)) for name in fields.get("names", [])[:5]]
    noun = "objects"
    if count == 1:
        noun = "object"
    text = f" {count:,} {noun}: {', '.join(names)}"
    if count > len(names):
        text += ", …"
    return text


def _arguments(fields: Mapping[str, Any], key: str = "arguments") -> str:
    arguments = fields.get(key)
    if not arguments:
        return ""
    return f" with {safe_line(json.dumps(arguments, ensure_ascii=False), 400)}"


def _quoted(text: str) -> str:
    return '"' + safe_text(text, 400).replace("\n", f"\n{_INDENT}{'':10}") + '"'
