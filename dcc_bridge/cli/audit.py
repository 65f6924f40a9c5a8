"""``dcc-bridge audit``: shows, checks and exports the record of answers. Main thread."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from dcc_bridge.audit import log, reader
from dcc_bridge.cli import exits, hosts
from dcc_bridge.cli.account import Call, heading, sentences
from dcc_bridge.elicitation.text import safe_line

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
_TAIL_BYTES: Final = 4 * 2**20  # the end of a record that is read first for the last calls


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _add(commands, "show", _show, "show the questions, the answers and what happened")
    show.add_argument("--call", metavar="ID", help="one call, by its ID or the beginning of its ID")
    show.add_argument("--last", metavar="N", type=int, default=20, help="how many calls (20)")
    _add(
        commands, "verify", _verify, "check that no line was changed and that every call has an end"
    )
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
    for call in _chosen(options):
        print("\n".join(sentences(call)))
        is_there = True
    if not is_there:
        raise exits.Failure(f"The record has no call {options.call}.")
    return exits.SUCCESS


def _chosen(options: argparse.Namespace) -> Iterator[Call]:
    """Yield the calls of ``--call``, or else the last calls; all calls for ``--last 0``."""
    files = books(options.file)
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
    are_unbroken = [_print_state(reader.read(book.file)) for book in books(options.file)]
    records = f"{len(are_unbroken)} records"
    if len(are_unbroken) == 1:
        records = "1 record"
    if all(are_unbroken):
        print(f"In order: {records}, with no line changed and no end missing.")
        return exits.SUCCESS
    print(f"NOT in order: {are_unbroken.count(False)} of {records}, as said above.")
    return exits.FAILED


def _print_state(book: reader.AuditFile) -> bool:
    """Print the state of a record, and return whether the record is in order."""
    file = safe_line(str(book.file), 1000)
    trouble = book.trouble
    is_written = book.ending is None and reader.is_written(book.file)
    end = "still being written"
    if not is_written:
        end = _END_TEXTS[book.ending]
    if trouble is not None:
        print(f"{file}: BROKEN at line {trouble.number}: {safe_line(trouble.why)}")
    elif book.last is not None:
        print(f"{file}: {book.count} lines, unbroken, {end}")
        print(f"  the last line is {book.last.hash}")
    for entry in book.unfinished:
        print(f"  no end: {heading(entry.fields)}")
    if trouble is not None:
        return False
    return is_written or (book.ending is not None and not book.unfinished)


def _export(options: argparse.Namespace) -> int:
    rows = _rows(books(options.file))
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
