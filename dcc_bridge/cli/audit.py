"""``dcc-bridge audit``: shows, checks and exports the record of answers. Main thread."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any, Final, NamedTuple

from dcc_bridge.audit import log, reader
from dcc_bridge.cli import exits, hosts
from dcc_bridge.cli.account import Call, heading, sentences
from dcc_bridge.elicitation.text import plural, safe_line

_OPENED: Final = ("user", "machine", "pid", "host", "version")
"""The fields of a record's first line, which are valid for all its lines."""
_COLUMNS: Final = (
    *("utc", "event", "call", "skill", "title", "client", "client_name", "client_version"),
    *("by", "status", "message", "answer", "late", "objects", "undo", *_OPENED),
    *("scene", "question", "ms_shown", "arguments", "n", "hash"),
)
# The characters with which a spreadsheet's formula begins, in both widths.
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_END_TEXTS: Final = {  # the meaning of an end mark
    log.CLOSED: "closed",
    reader.RECOVERED: "its process died or its end was cut off; a later process wrote the end mark",
    None: "WITHOUT AN END MARK: its process died or its end was cut off",
}
_NOT_SHOWN: Final = "{}: {} What comes after it is not shown. See: dcc-bridge audit verify"
_TAIL_BYTES: Final = 4 * 2**20  # the end of a record that is read first for the last calls


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _add(commands, "show", _show, "show the questions, the answers and what happened")
    show.add_argument("--call", metavar="ID", help="one call, by its ID or the beginning of its ID")
    show.add_argument("--last", metavar="N", type=int, default=20, help="how many calls (20)")
    show.add_argument("--json", action="store_true", help="print only a JSON list of calls")
    verify = _add(
        commands, "verify", _verify, "check that no line was changed and that every call has an end"
    )
    verify.add_argument("--json", action="store_true", help="print only a JSON list of records")
    export = _add(commands, "export", _export, "print every line, for another program")
    kinds = export.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="a list of objects (default)")
    kinds.add_argument("--csv", action="store_true", help="a table")


def _add(commands: Any, name: str, run: Callable[..., int], summary: str) -> Any:
    parser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    which = "one record; default: all your records"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=which)
    parser.set_defaults(run=run)
    return parser


def _show(options: argparse.Namespace) -> int:
    is_there = not options.call
    listed: list[Mapping[str, Any]] = []
    files = _records(options.file)
    for call in _chosen(files, options):
        is_there = True
        if options.json:
            listed.append({"call": call[0]["call"], "events": call})
        else:
            print("\n".join(sentences(call)))
    if not is_there:
        raise exits.Failure(f"The record has no call {options.call}.")
    if options.json:
        print(json.dumps(listed, indent=2))
    for book in files:
        if book.trouble is not None and not book.trouble.torn:
            exits.tell(_NOT_SHOWN.format(safe_line(str(book.file), 1000), book.trouble))
    return exits.SUCCESS


def _chosen(files: Sequence[reader.AuditFile], options: argparse.Namespace) -> Iterator[Call]:
    """Yield the calls of ``--call``, or else the last calls; all calls for ``--last 0``."""
    most = max(0, options.last)
    if options.call or not most:
        for book in files:
            yield from calls(book.lines(), options.call or "")
        return
    last: list[Call] = []
    for book in reversed(files):
        if len(last) < most:
            last = [*_last(book, most - len(last)), *last]
    yield from last


def _last(book: reader.AuditFile, most: int) -> list[Call]:
    """Return the last calls of a record; if they all began in its tail, read only the tail."""
    size = book.file.stat().st_size
    tail = _TAIL_BYTES
    while tail < size:
        start = size - tail
        with suppress(reader.BrokenChain):
            last = calls(book.lines(start), most=most, start=start)
            if len(last) == most:
                return last
        tail *= 16
    return calls(book.lines(), most=most)


def _verify(options: argparse.Namespace) -> int:
    states = [_State.of(reader.read(book.file)) for book in books(options.file)]
    if options.json:
        print(json.dumps([state._asdict() for state in states], indent=2))
    else:
        _print_states(states)
    if all(state.is_in_order for state in states):
        return exits.SUCCESS
    return exits.FAILED


class _State(NamedTuple):
    """The state of a record.

    Attributes:
        file: The file.
        is_in_order: Whether no line was changed, and no end is missing.
        lines: The number of lines, up to the first that was changed.
        last_hash: The hash of the last of these lines, or None.
        end: How the record ends, in words.
        trouble: What is wrong with the first line that was changed, or None.
        unfinished: The headings of the calls that have no end.
    """

    file: str
    is_in_order: bool
    lines: int
    last_hash: str | None
    end: str
    trouble: str | None
    unfinished: list[str]

    @classmethod
    def of(cls, book: reader.AuditFile) -> _State:
        """Return the state of a record that was read."""
        is_written = book.ending is None and reader.is_written(book.file)
        end = "still being written"
        if not is_written:
            end = _END_TEXTS[book.ending]
        trouble = None
        if book.trouble is not None:
            trouble = f"line {book.trouble.number}: {safe_line(book.trouble.why)}"
        last_hash = None
        if book.last is not None:
            last_hash = book.last.hash
        has_all_ends = is_written or (book.ending is not None and not book.unfinished)
        unfinished = [heading(entry.fields) for entry in book.unfinished]
        is_in_order = trouble is None and has_all_ends
        return cls(str(book.file), is_in_order, book.count, last_hash, end, trouble, unfinished)


def _print_states(states: Sequence[_State]) -> None:
    for state in states:
        file = safe_line(state.file, 1000)
        if state.trouble is not None:
            print(f"{file}: BROKEN at {state.trouble}")
        elif state.last_hash is not None:
            print(f"{file}: {state.lines} lines, unbroken, {state.end}")
            print(f"  the last line is {state.last_hash}")
        for call in state.unfinished:
            print(f"  no end: {call}")
    records = plural(len(states), "record")
    wrong = [state for state in states if not state.is_in_order]
    if wrong:
        print(f"NOT in order: {len(wrong)} of {records}, as said above.")
    else:
        print(f"In order: {records}, with no line changed and no end missing.")


def _export(options: argparse.Namespace) -> int:
    rows = _rows(_records(options.file))
    if options.csv:
        table = csv.DictWriter(sys.stdout, _COLUMNS, extrasaction="ignore")
        table.writeheader()
        for row in rows:
            table.writerow({name: _cell(row.get(name)) for name in _COLUMNS})
        return exits.SUCCESS
    print("[", end="")
    separator = "\n"
    for row in rows:  # one at a time, because a record may be larger than the memory
        print(separator, indent(json.dumps(row, indent=1), " "), sep="", end="")
        separator = ",\n"
    print("\n]")
    return exits.SUCCESS


def _rows(files: Iterable[reader.AuditFile]) -> Iterator[dict[str, Any]]:
    """Yield each line of records, with its hash and the fields of the record's first line."""
    for book in files:
        header: dict[str, Any] = {}
        for entry in book.lines():
            if not header:
                header = {name: entry.fields.get(name) for name in _OPENED}
            yield {**header, "hash": entry.hash, **entry.fields}


def _cell(value: Any) -> Any:
    """Return a cell that every spreadsheet reads as one line of text and never as a formula."""
    if value is None:
        return ""
    text = value
    if not isinstance(value, str):
        text = json.dumps(value)
    text = safe_line(text, len(text))
    if text.lstrip().startswith(_FORMULA):
        return f"'{text}"
    return text


def _records(file: Path | None) -> list[reader.AuditFile]:
    """Return records as `books` does; Failure for a file of another kind."""
    files = books(file)
    if file is not None:
        try:
            next(reader.follow(file))
        except reader.BrokenChain as broken:
            raise exits.Failure(f"{file} is no record: {broken}") from None
        except OSError as error:  # of a folder on Linux, which can be opened
            raise exits.Failure(f"{file} cannot be read: {error.strerror}.") from None
    return files


def books(file: Path | None = None) -> list[reader.AuditFile]:
    """Return records, whose lines are not read yet.

    Args:
        file: The file of one record; None for all of the user's.

    Raises:
        Failure: There is no record, or one cannot be read.
    """
    if file is not None:
        files = [file]
    else:
        folder = log.log_folder(hosts.settings().audit)
        files = list(reader.logs(folder))
        if not files:
            raise exits.Failure(
                f"There is no record in {folder} yet: no skill has asked or edited anything."
            )
    for entry in files:
        try:
            entry.open("rb").close()
        except OSError as error:
            raise exits.Failure(f"{entry} cannot be read: {error.strerror}.") from None
    return [reader.AuditFile(entry) for entry in files]


def calls(
    lines: Iterable[reader.AuditLine], prefix: str = "", most: int | None = None, start: int = 0
) -> list[Call]:
    """Sort the lines of a record by call.

    Args:
        lines: The lines, in order.
        prefix: The beginning of the calls' ids.
        most: The maximum number of calls, of which the last are returned; None for all.
        start: The offset in the record at which the lines begin. If not 0, calls whose first line
            is not in `lines` are left out.

    Returns:
        The calls, in the order in which they began.
    """
    accounts: dict[str, Call] = {}
    seen: set[str] = set()
    for line in lines:
        call = line.fields.get("call")
        if call is None or not call.startswith(prefix):
            continue
        if call not in seen:
            seen.add(call)
            if start and not line.fields.get("first"):
                continue
            accounts[call] = []
            if most is not None and len(accounts) > most:
                oldest = next(iter(accounts))
                del accounts[oldest]
        if call in accounts:
            accounts[call].append(line.fields)
    return list(accounts.values())
