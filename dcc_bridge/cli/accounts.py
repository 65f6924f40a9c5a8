"""The record in sentences: one account of each call. Any thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from dcc_bridge.audit.log import CLOSED
from dcc_bridge.audit.reader import ENDINGS, RECOVERED, AuditFile
from dcc_bridge.elicitation.plain import line
from dcc_bridge.errors import NO_OTHER_WAY

ENDED: Final = {
    CLOSED: "closed",
    RECOVERED: "its process died, and a later one wrote the end mark",
    None: "without an end mark: it is still written, its process died, or its tail was cut off",
}
"""What an end mark says."""
_BY: Final = {
    "host": "the person at the host",
    "client": "the client",
    "unverified client": "the client (nobody at the host saw it)",
    "grant": "what was granted for the session",
    "policy": "the settings, unasked",
    "unattended": "a declared fallback, which the settings let stand for consent",
    "fallback": "a declared fallback",
    "nobody": "nobody",
}
_ANSWERS: Final = ("granted", "answered", "declined", "cancelled", "timed_out")
_INDENT: Final = "  "


@dataclass
class Account:
    """What the record tells of one call.

    Attributes:
        id: The call's own.
        lines: What was written of it, in order.
    """

    id: str
    lines: list[Mapping[str, Any]] = field(default_factory=list)


def calls(book: AuditFile) -> list[Account]:
    """Sort the lines of a book by call."""
    found: dict[str, Account] = {}
    for one in book.lines():
        call = one.fields.get("call")
        if call is not None:
            found.setdefault(call, Account(call)).lines.append(one.fields)
    return list(found.values())


def sentences(call: Account) -> Iterator[str]:
    """Tell a call: when, who asked, what, who answered and what became of it."""
    yield heading(call.lines[0])
    for each in call.lines:
        yield f"{_INDENT}{_time(each)}  {_sentence(each)}"
    if not any(each["event"] in ENDINGS for each in call.lines) and call.lines[0].get("client"):
        yield f"{_INDENT}no end is on record"


def heading(first: Mapping[str, Any]) -> str:
    """Name a call: when it was, for whom, and its id."""
    client = first.get("client")
    itself = [str(first[name]) for name in ("client_name", "client_version") if first.get(name)]
    said = f" (says it is {line(' '.join(itself))})" if itself else ""
    who = f"for {line(str(client))}{said}" if client else "for the host itself"
    when = str(first.get("utc", "")).replace("T", " ")[:19]
    return f"{when}  {line(str(first.get('skill')))} {who}  call {first.get('call')}"


def for_person(error: str) -> str:
    """Give what a person has to know of what an agent was told."""
    return error.replace(NO_OTHER_WAY, "").strip()


def _sentence(each: Mapping[str, Any]) -> str:
    event = str(each["event"])
    if event == "asked":
        inner = each.get("inner_skill")
        within = f" by {line(str(inner))}, which it called" if inner else ""
        return f"asked{within}: {_quoted(each, 'message')}{_objects(each)}"
    if event == "undone":
        with_ = f", in call {line(str(each['by_call']))}" if each.get("by_call") else ""
        return f"undone by {_by(each)}{with_}"
    if event in _ANSWERS:
        return _answer(event, each)
    if event == "begin":
        return f"began in {line(str(each.get('scene')))}{_arguments(each)}"
    return _ending(event, each)


def _answer(event: str, each: Mapping[str, Any]) -> str:
    by = _by(each)
    shown = each.get("ms_shown")
    after = f" after {shown / 1000:.1f} s" if isinstance(shown, int) else ""
    data = each.get("answer") or each.get("typed")
    said = f": {line(json.dumps(data, ensure_ascii=False), 2000)}" if data else ""
    reason = f" because {_quoted(each, 'reason')}" if each.get("reason") else ""
    return f"{event.replace('_', ' ')} by {by}{after}{reason}{said}"


def _by(each: Mapping[str, Any]) -> str:
    if each.get("allow_list"):
        return f"the list {line(str(each['allow_list']))}, unasked"
    return _BY.get(str(each.get("by")), line(str(each.get("by"))))


def _ending(event: str, each: Mapping[str, Any]) -> str:
    undo = each.get("undo") or []
    label = ", ".join(line(str(one)) for one in undo)
    left = f"; undo: {label}" if label and event == "end" else ""
    error = for_person(str(each.get("error") or ""))
    why = f': "{line(error, 400)}"' if error else ""
    if event == "end":
        done = "changed" if each.get("changed") else "nothing was changed"
        return f"{line(str(each.get('status')))}, {done}{left}{why}"
    return f"{event.replace('_', ' ')}{why}"


def _objects(each: Mapping[str, Any]) -> str:
    count = each.get("objects")
    if not count:
        return ""
    names = [line(str(name)) for name in each.get("names", [])[:5]]
    more = ", …" if count > len(names) else ""
    noun = "object" if count == 1 else "objects"
    return f" {count:,} {noun}: {', '.join(names)}{more}"


def _arguments(each: Mapping[str, Any]) -> str:
    arguments = each.get("arguments")
    return f" with {line(json.dumps(arguments, ensure_ascii=False), 400)}" if arguments else ""


def _quoted(each: Mapping[str, Any], name: str) -> str:
    return f'"{line(str(each.get(name)), 400)}"'


def _time(each: Mapping[str, Any]) -> str:
    return datetime.fromisoformat(str(each["utc"])).strftime("%H:%M:%S")
