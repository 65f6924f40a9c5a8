"""``dcc-bridge audit``: the record of who agreed to what, read, checked and told in sentences."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from dcc_bridge.audit import log, reader
from dcc_bridge.cli import exits, hosts
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.errors import NO_OTHER_WAY

_OPENED: Final = ("user", "machine", "pid", "host", "version")
_COLUMNS: Final = (
    *("utc", "event", "call", "skill", "title", "client", "client_name", "client_version"),
    *("by", "status", "message", "answer", "objects", "undo", *_OPENED),
    *("scene", "question", "ms_shown", "arguments", "n", "hash"),
)
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
ENDED: Final = {  # what an end mark says
    log.CLOSED: "closed",
    reader.RECOVERED: "its process died, or its tail was cut off; a later one wrote the end mark",
    None: "WITHOUT AN END MARK: its process died, or its tail was cut off",
}
_BY: Final = {"unverified client": "client", "unattended": "policy"}
_HOW: Final = {"granted": types.AGREED, "answered": types.ANSWERED}
_ANSWERS: Final = (*_HOW, "unasked", "declined", "cancelled", "timed_out", "unanswered")
_INDENT: Final = "  "
Call = list[Mapping[str, Any]]  # what was written of one call, in order
PART: Final = 4 * 2**20  # bytes at the end of a record in which the last calls are looked for


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _add(commands, "show", _show, "show who asked what, who agreed and what happened")
    show.add_argument("--call", metavar="ID", help="one call, by its ID or the first part of it")
    show.add_argument("--last", metavar="N", type=int, default=20, help="how many calls (20)")
    _add(commands, "verify", _verify, "check that no line was changed and every call has an end")
    export = _add(commands, "export", _export, "print every line, for another program")
    kinds = export.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="a list of objects (default)")
    kinds.add_argument("--csv", action="store_true", help="a table")


def _add(commands: Any, name: str, run: Callable[..., int], summary: str) -> Any:
    parser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    which = "one record; default: all of yours"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=which)
    parser.set_defaults(run=run)
    return parser


def _show(options: argparse.Namespace) -> int:
    is_there = not options.call
    for call in _chosen(options):
        print("\n".join(sentences(call)))
        is_there = True
    if not is_there:
        raise exits.Failure(f"The record has no call {options.call}.", exits.TOOL_ERROR)
    return exits.SUCCESS


def _chosen(options: argparse.Namespace) -> Iterator[Call]:
    last, most = list[Call](), 0 if options.call else max(0, options.last)
    for book in reversed(books(options.file)) if most else books(options.file):
        if not most:
            yield from calls(book.lines(), options.call or "")
        elif len(last) < most:
            last[:0] = _last(book, most - len(last))
    yield from last


def _last(book: reader.AuditFile, most: int) -> list[Call]:
    """Give the last calls of a record, and read no more than its last part if they are all in it.

    Only what began in the part is whole; all that began before it is older.
    """
    size, part = book.file.stat().st_size, PART
    while part < size:
        with suppress(reader.BrokenChain):
            last = calls(book.lines(size - part), most=most, start=size - part)
            if len(last) == most:
                return last
        part *= 16
    return calls(book.lines(), most=most)


def _verify(options: argparse.Namespace) -> int:
    are_unbroken = [_verified(reader.read(book.file)) for book in books(options.file)]
    many = f"{len(are_unbroken)} record" + "s" * (len(are_unbroken) != 1)
    if all(are_unbroken):
        print(f"In order: {many}, with no line changed and no end missing.")
        return exits.SUCCESS
    print(f"NOT in order: {are_unbroken.count(False)} of {many}, as said above.")
    return exits.TOOL_ERROR


def _verified(book: reader.AuditFile) -> bool:
    file = safe_line(str(book.file), 1000)
    trouble = book.trouble
    is_written = book.ending is None and reader.is_written(book.file)
    end = "still being written" if is_written else ENDED[book.ending]
    if trouble is not None:
        print(f"{file}: BROKEN at line {trouble.number}: {safe_line(trouble.why)}")
    elif book.last is not None:
        print(f"{file}: {book.count} lines, unbroken, {end}")
        print(f"  the last line is {book.last.hash}")
    for entry in book.unfinished:
        print(f"  no end: {heading(entry.fields)}")
    return trouble is None and (is_written or (book.ending is not None and not book.unfinished))


def _export(options: argparse.Namespace) -> int:
    rows = (row for book in books(options.file) for row in _rows(book))
    if options.csv:
        table = csv.DictWriter(sys.stdout, _COLUMNS, extrasaction="ignore")
        table.writeheader()
        table.writerows({name: _cell(row.get(name)) for name in _COLUMNS} for row in rows)
        return exits.SUCCESS
    print("[", end="")
    for number, row in enumerate(rows):  # a record may be larger than the memory
        print(",\n" if number else "\n", indent(json.dumps(row, indent=1), " "), sep="", end="")
    print("\n]")
    return exits.SUCCESS


def _rows(book: reader.AuditFile) -> Iterator[dict[str, Any]]:
    header: dict[str, Any] = {}
    for entry in book.lines():
        header = header or {name: entry.fields.get(name) for name in _OPENED}
        yield {**header, "hash": entry.hash, **entry.fields}


def _cell(value: Any) -> Any:
    """Make a cell that a spreadsheet takes for a text of one line, whatever an agent wrote."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    text = safe_line(text, len(text))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def books(file: Path | None = None) -> list[reader.AuditFile]:
    """Give a record, or all of the user's, yet to be read; a failure where there is none."""
    folder = log.log_folder(hosts.settings().audit) if file is None else None
    files = reader.logs(folder) if folder is not None else [file or Path()]
    if not files:
        raise exits.Failure(f"There is no record in {folder} yet: no skill has asked or edited.")
    for entry in files:
        try:
            entry.open("rb").close()
        except OSError as error:
            raise exits.Failure(f"{entry} cannot be read: {error.strerror}.") from None
    return list(map(reader.AuditFile, files))


def calls(
    lines: Iterable[reader.AuditLine], prefix: str = "", most: int | None = None, start: int = 0
) -> list[Call]:
    """Sort lines by call: those whose ID has a prefix, and the last ones if `most` is given.

    Behind the `start` of a record, a call whose first line is not among them is left out.
    """
    accounts, seen = dict[str, Call](), set[str]()
    for fields in (entry.fields for entry in lines):
        call = fields.get("call")
        if call is None or not call.startswith(prefix):
            continue
        if call not in seen:
            seen.add(call)
            if start and not fields.get("first"):
                continue
            accounts[call] = []
            if len(accounts) - 1 == most:
                del accounts[next(iter(accounts))]
        if call in accounts:
            accounts[call].append(fields)
    return list(accounts.values())


def sentences(call: Call) -> Iterator[str]:
    """Tell a call: when, who asked, what, who answered and what became of it."""
    yield heading(call[0])
    was_asked = any("question" in fields for fields in call)
    for fields in call:
        if was_asked and fields["event"] == types.UNASKED:
            continue  # that it began so is no news where it asked later
        when = datetime.fromisoformat(str(fields["utc"]))
        yield f"{_INDENT}{when:%H:%M:%S}  {_sentence(fields)}"
    if call[0].get("client") and not any(it["event"] in reader.ENDINGS for it in call):
        yield f"{_INDENT}no end is on record"


def heading(first: Mapping[str, Any]) -> str:
    """Name a call: when it was, for whom, and its id."""
    client = first.get("client")
    itself = [str(first[name]) for name in ("client_name", "client_version") if first.get(name)]
    claim = f" (says it is {safe_line(' '.join(itself))})" if itself else ""
    who = f"for {safe_line(str(client))}{claim}" if client else "for the host itself"
    when = str(first.get("utc", "")).replace("T", " ")[:19]
    return f"{when}  {safe_line(str(first.get('skill')))} {who}  call {first.get('call')}"


def for_person(error: str) -> str:
    """Give what a person has to know of what an agent was told."""
    return error.replace(NO_OTHER_WAY, "").strip()


def _sentence(fields: Mapping[str, Any]) -> str:
    event = str(fields["event"])
    if event == "asked":
        inner = fields.get("inner_skill")
        within = f" by {safe_line(str(inner))}, which it called" if inner else ""
        shown = _objects(fields) + _arguments(fields, "shown")
        return f"asked{within}: {_quoted(str(fields.get('message')))}{shown}"
    if event == "undone":
        with_ = f", in call {safe_line(str(fields['by_call']))}" if fields.get("by_call") else ""
        return f"undone {'at the host' if fields.get('by') == 'host' else 'in the client'}{with_}"
    if event in _ANSWERS:
        return _answer(event, fields)
    if event == "begin":
        return f"began in {safe_line(str(fields.get('scene')))}{_arguments(fields)}"
    if event == "code":
        return _code(fields)
    return "went on as a task" if event == "task" else _ending(event, fields)


def _code(fields: Mapping[str, Any]) -> str:
    counts = [f"{fields[it]} {it}" for it in ("created", "changed", "deleted") if fields.get(it)]
    facts = [f"{fields.get('bytes')} bytes", *map(str, fields.get("findings") or ()), *counts]
    text = f"code {str(fields.get('digest'))[:12]} ({', '.join(facts)})"
    return safe_line(f"{text}: {fields.get('outcome')}", 400)


def _answer(event: str, fields: Mapping[str, Any]) -> str:
    why = str(fields.get("why") or "")
    how = why if why and why != types.FALLBACK_USED else _HOW.get(event, event)
    by = _BY.get(str(fields.get("by")), str(fields.get("by")))
    unseen = ", and nobody at the host saw it" if fields.get("by") in _BY and by == "client" else ""
    shown = fields.get("ms_shown")
    after = f" (shown for {shown / 1000:.1f} s)" if isinstance(shown, int) else ""
    data = fields.get("answer") or fields.get("typed")
    claim = f": {safe_line(json.dumps(data, ensure_ascii=False), 2000)}" if data else ""
    reason = f" because {_quoted(str(fields['reason']))}" if fields.get("reason") else ""
    listed = f" ({safe_line(str(fields['allow_list']))})" if fields.get("allow_list") else ""
    return f"{types.outcome(how, by)}{listed}{after}{unseen}{reason}{claim}"


def _ending(event: str, fields: Mapping[str, Any]) -> str:
    label = ", ".join(safe_line(str(entry)) for entry in fields.get("undo") or [])
    left = f"; undo: {label}" if label and event == "end" else ""
    error = for_person(str(fields.get("error") or ""))
    why = f": {_quoted(error)}" if error else ""
    if event == "end":
        lost = ", ".join(safe_line(str(loss)) for loss in fields.get("lost") or [])
        parts = ["changed"] * bool(fields.get("changed")) + [f"without undo: {lost}"] * bool(lost)
        done, copy = ", ".join(parts) or "nothing was changed", fields.get("checkpoint")
        left += f"; what was there is in {safe_line(str(copy), 400)}" if copy else ""
        return f"{safe_line(str(fields.get('status')))}, {done}{left}{why}"
    return f"{event.replace('_', ' ')}{why}"


def _objects(fields: Mapping[str, Any]) -> str:
    count = fields.get("objects")
    if not count:
        return ""
    names = [safe_line(str(name)) for name in fields.get("names", [])[:5]]
    more = ", …" if count > len(names) else ""
    return f" {count:,} object{'s' * (count != 1)}: {', '.join(names)}{more}"


def _arguments(fields: Mapping[str, Any], name: str = "arguments") -> str:
    arguments = fields.get(name)
    return f" with {safe_line(json.dumps(arguments, ensure_ascii=False), 400)}" if arguments else ""


def _quoted(text: str) -> str:
    return '"' + safe_text(text, 400).replace("\n", f"\n{_INDENT}{'':10}") + '"'
