"""``dcc-bridge audit``: the record of who agreed to what, read, checked and told in sentences."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import log, reader
from dcc_bridge.cli import exits, hosts
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.errors import NO_OTHER_WAY

_COLUMNS: Final = (
    *("utc", "event", "call", "skill", "title", "client", "client_name", "client_version"),
    *("by", "status", "message", "answer", "objects", "undo", "user", "machine", "pid", "host"),
    *("version", "scene", "question", "ms_shown", "arguments", "n", "hash"),
)
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
# What an end mark says.
ENDED: Final = {
    log.CLOSED: "closed",
    reader.RECOVERED: "its process died, or its tail was cut off; a later one wrote the end mark",
    None: "WITHOUT AN END MARK: its process died, or its tail was cut off",
}
_WRITTEN: Final = "it is still written"
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


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _add(commands, "show", _show, "tell who asked what, who agreed and what came of it")
    show.add_argument("--call", metavar="ID", help="one call, by its id or how that begins")
    show.add_argument("--last", metavar="N", type=int, default=20, help="how many calls (20)")
    _add(commands, "verify", _verify, "check that nothing was changed, and that all has an end")
    export = _add(commands, "export", _export, "write every line for another program")
    kinds = export.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="one list of objects; the default")
    kinds.add_argument("--csv", action="store_true", help="a table")


def run(options: argparse.Namespace) -> int:
    """Read the record."""
    return int(options.act(options))


def _add(commands: Any, name: str, act: Callable[..., int], summary: str) -> Any:
    parser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="one record; without it, all of yours"
    )
    parser.set_defaults(act=act)
    return parser


def _show(options: argparse.Namespace) -> int:
    accounts = [call for book in _books(options.file) for call in calls(book)]
    if options.call:
        accounts = [call for call in accounts if call.id.startswith(options.call)]
        if not accounts:
            raise exits.Failure(f"The record has no call {options.call}.", exits.TOOL_ERROR)
    elif options.last > 0:
        accounts = accounts[-options.last :]
    for call in accounts:
        print("\n".join(sentences(call)))
    return exits.SUCCESS


def _verify(options: argparse.Namespace) -> int:
    are_unbroken = [_verified(book) for book in _books(options.file)]
    return exits.SUCCESS if all(are_unbroken) else exits.TOOL_ERROR


def _verified(book: reader.AuditFile) -> bool:
    trouble = book.trouble
    is_written = book.ending is None and reader.is_written(book.file)
    end = _WRITTEN if is_written else ENDED[book.ending]
    if trouble is not None:
        print(f"{book.file}: BROKEN at line {trouble.number}: {safe_line(trouble.why)}")
    elif book.last is not None:
        print(f"{book.file}: {book.count} lines, unbroken, {end}")
        print(f"  the last line is {book.last.hash}")
    for entry in book.unfinished:
        print(f"  no end: {heading(entry.fields)}")
    has_end = book.ending is not None and not book.unfinished
    return trouble is None and (has_end or is_written)


def _export(options: argparse.Namespace) -> int:
    rows = [row for book in _books(options.file) for row in _rows(book)]
    if options.csv:
        table = csv.DictWriter(sys.stdout, _COLUMNS, extrasaction="ignore")
        table.writeheader()
        table.writerows({name: _cell(row.get(name)) for name in _COLUMNS} for row in rows)
    else:
        json.dump(rows, sys.stdout, indent=1)
        print()
    return exits.SUCCESS


def _rows(book: reader.AuditFile) -> Iterator[dict[str, Any]]:
    header = {n: v for n, v in book.header.items() if n in ("user", "machine", "pid", "host")}
    header["version"] = book.header.get("version")
    for entry in book.lines():
        yield {**header, "hash": entry.hash, **entry.fields}


def _cell(value: Any) -> Any:
    """Make a cell that a spreadsheet takes for a text of one line, whatever an agent wrote."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    text = safe_line(text, len(text))
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _books(file: Path | None) -> Iterator[reader.AuditFile]:
    folder = log.log_folder(hosts.settings().audit) if file is None else None
    files = reader.logs(folder) if folder is not None else [file or Path()]
    if not files:
        raise exits.Failure(f"There is no record in {folder} yet: no skill has asked or edited.")
    for entry in files:
        try:
            yield reader.read(entry)
        except OSError as error:
            raise exits.Failure(f"{entry} cannot be read: {error.strerror}.") from None


@dataclass
class Account:
    """What the record tells of one call."""

    id: str
    lines: list[Mapping[str, Any]] = field(default_factory=list)  # what was written of it, in order


def calls(book: reader.AuditFile) -> list[Account]:
    """Sort the lines of a book by call."""
    accounts: dict[str, Account] = {}
    for entry in book.lines():
        call = entry.fields.get("call")
        if call is not None:
            accounts.setdefault(call, Account(call)).lines.append(entry.fields)
    return list(accounts.values())


def sentences(call: Account) -> Iterator[str]:
    """Tell a call: when, who asked, what, who answered and what became of it."""
    yield heading(call.lines[0])
    for fields in call.lines:
        yield f"{_INDENT}{_time(fields)}  {_sentence(fields)}"
    has_ended = any(fields["event"] in reader.ENDINGS for fields in call.lines)
    if not has_ended and call.lines[0].get("client"):
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
        return f"asked{within}: {_quoted(fields, 'message')}{shown}"
    if event == "undone":
        with_ = f", in call {safe_line(str(fields['by_call']))}" if fields.get("by_call") else ""
        return f"undone by {_by(fields)}{with_}"
    if event in _ANSWERS:
        return _answer(event, fields)
    if event == "begin":
        return f"began in {safe_line(str(fields.get('scene')))}{_arguments(fields)}"
    return _ending(event, fields)


def _answer(event: str, fields: Mapping[str, Any]) -> str:
    by = _by(fields)
    shown = fields.get("ms_shown")
    after = f" after {shown / 1000:.1f} s" if isinstance(shown, int) else ""
    data = fields.get("answer") or fields.get("typed")
    claim = f": {safe_line(json.dumps(data, ensure_ascii=False), 2000)}" if data else ""
    reason = f" because {_quoted(fields, 'reason')}" if fields.get("reason") else ""
    return f"{event.replace('_', ' ')} by {by}{after}{reason}{claim}"


def _by(fields: Mapping[str, Any]) -> str:
    if fields.get("allow_list"):
        return f"the list {safe_line(str(fields['allow_list']))}, unasked"
    return _BY.get(str(fields.get("by")), safe_line(str(fields.get("by"))))


def _ending(event: str, fields: Mapping[str, Any]) -> str:
    undo = fields.get("undo") or []
    label = ", ".join(safe_line(str(entry)) for entry in undo)
    left = f"; undo: {label}" if label and event == "end" else ""
    error = for_person(str(fields.get("error") or ""))
    why = f': "{safe_line(error, 400)}"' if error else ""
    if event == "end":
        done = "changed" if fields.get("changed") else "nothing was changed"
        return f"{safe_line(str(fields.get('status')))}, {done}{left}{why}"
    return f"{event.replace('_', ' ')}{why}"


def _objects(fields: Mapping[str, Any]) -> str:
    count = fields.get("objects")
    if not count:
        return ""
    names = [safe_line(str(name)) for name in fields.get("names", [])[:5]]
    more = ", …" if count > len(names) else ""
    noun = "object" if count == 1 else "objects"
    return f" {count:,} {noun}: {', '.join(names)}{more}"


def _arguments(fields: Mapping[str, Any], name: str = "arguments") -> str:
    arguments = fields.get(name)
    return f" with {safe_line(json.dumps(arguments, ensure_ascii=False), 400)}" if arguments else ""


def _quoted(fields: Mapping[str, Any], name: str) -> str:
    return f'"{safe_line(str(fields.get(name)), 400)}"'


def _time(fields: Mapping[str, Any]) -> str:
    return datetime.fromisoformat(str(fields["utc"])).strftime("%H:%M:%S")
