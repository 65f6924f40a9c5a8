"""``dcc-bridge audit``: the record of who agreed to what, read and checked."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import log_folder
from dcc_bridge.audit.reader import AuditFile
from dcc_bridge.cli import accounts, target
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR, Failure
from dcc_bridge.elicitation.plain import line

_COLUMNS: Final = (
    *("utc", "event", "call", "skill", "title", "client", "client_name", "client_version"),
    *("by", "status", "message", "answer", "objects", "undo", "user", "machine", "pid", "host"),
    *("version", "scene", "question", "ms_shown", "arguments", "n", "hash"),
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
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
    told = [call for book in _books(options.file) for call in accounts.calls(book)]
    if options.call:
        told = [call for call in told if call.id.startswith(options.call)]
        if not told:
            raise Failure(f"The record has no call {options.call}.", TOOL_ERROR)
    elif options.last > 0:
        told = told[-options.last :]
    for call in told:
        print("\n".join(accounts.sentences(call)))
    return SUCCESS


def _verify(options: argparse.Namespace) -> int:
    found = [_verified(book) for book in _books(options.file)]
    return SUCCESS if all(found) else TOOL_ERROR


def _verified(book: AuditFile) -> bool:
    trouble = book.trouble
    if trouble is not None:
        print(f"{book.file}: BROKEN at line {trouble.number}: {line(trouble.why)}")
    elif book.last is not None:
        print(f"{book.file}: {book.count} lines, unbroken, {accounts.ENDED[book.ending]}")
        print(f"  the last line is {book.last.hash}")
    for one in book.unfinished:
        print(f"  no end: {accounts.heading(one.fields)}")
    return trouble is None


def _export(options: argparse.Namespace) -> int:
    rows = [row for book in _books(options.file) for row in _rows(book)]
    if options.csv:
        table = csv.DictWriter(sys.stdout, _COLUMNS, extrasaction="ignore")
        table.writeheader()
        table.writerows({name: _cell(row.get(name)) for name in _COLUMNS} for row in rows)
    else:
        json.dump(rows, sys.stdout, indent=1)
        print()
    return SUCCESS


def _rows(book: AuditFile) -> Iterator[dict[str, Any]]:
    header = {n: v for n, v in book.header.items() if n in ("user", "machine", "pid", "host")}
    header["version"] = book.header.get("version")
    for one in book.lines():
        yield {**header, "hash": one.hash, **one.fields}


def _cell(value: Any) -> Any:
    """Make a cell that a spreadsheet takes for a text, whatever an agent wrote."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _books(file: Path | None) -> Iterator[AuditFile]:
    folder = log_folder(target.settings().audit) if file is None else None
    files = reader.logs(folder) if folder is not None else [file or Path()]
    if not files:
        raise Failure(f"There is no record in {folder} yet: no skill has asked or edited.")
    for one in files:
        try:
            yield reader.read(one)
        except OSError as error:
            raise Failure(f"{one} cannot be read: {error.strerror}.") from None
