"""``dcc-bridge setup``: finds applications and clients, and sets all of them up. Main thread."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from dcc_bridge.cli import leaves
from dcc_bridge.cli.exits import REFUSED, SUCCESS, TOOL_ERROR, tell
from dcc_bridge.cli.setup_rows import Row, rows_to_set_up, rows_to_undo
from dcc_bridge.client.entries import CONFIG_FILES
from dcc_bridge.client.temporary import runner_of, start_again
from dcc_bridge.client.terminal_io import is_terminal
from dcc_bridge.elicitation.text import safe_line

_HEADING: Final = ("", "version", "Python", "now", "to do", "where")
_MAX_CHARS: Final = 400


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    names = [*sorted(leaves.targets()), *CONFIG_FILES]
    only = f"only this application or client; repeatable: {', '.join(names)}"
    parser.add_argument(
        "--only", action="append", choices=names, default=[], metavar="NAME", help=only
    )
    parser.add_argument("--undo", action="store_true", help="remove all of it again")
    parser.add_argument("--yes", action="store_true", help="do it without the question")
    parser.add_argument("--dry-run", action="store_true", help="only show what was found")


def run(options: argparse.Namespace) -> int:
    """Show what was found, ask once, and do every step."""
    print("Looking for applications and clients; each application is started once.", flush=True)
    found = rows_to_set_up
    if options.undo:
        found = rows_to_undo
    rows = found(options.only)
    if not rows:
        print(_nothing(options))
        if options.only and not options.undo:
            return TOOL_ERROR
        return SUCCESS
    print("\n".join(_table(rows)))
    steps = [row for row in rows if row.do is not None]
    broken = [row for row in rows if row.is_broken]
    if not steps:
        print("Nothing is left to do.")
        return _end(broken)
    print("\n".join(_changes(steps, options.undo)), flush=True)
    if options.dry_run:
        print("Nothing was changed.")
        return _end(broken)
    if not options.yes and not _agrees():
        return REFUSED
    failed = [row for row in steps if not _do(row)]
    count = len(steps) - len(failed)
    print(f"{count} of {len(steps)} done.")
    code = _end([*failed, *broken])
    if count and not options.undo:
        print("To take all of it back: dcc-bridge setup --undo")
    return code


def _end(not_done: Sequence[Row]) -> int:
    """Print what could not be set up, and return the exit code."""
    if not not_done:
        return SUCCESS
    names = ", ".join(row.label for row in not_done)
    print(f"Not done: {names}. Correct what is said above, then run it again.")
    return TOOL_ERROR


def _nothing(options: argparse.Namespace) -> str:
    if options.undo:
        return "Nothing is set up."
    if options.only:
        names = " and ".join(options.only)
        return f"{names} was not found. To set it up by hand: dcc-bridge install or client add"
    return "No application and no client was found. To set one up: dcc-bridge install or client add"


def _table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table, and below it what the person should know."""
    cells = [_HEADING, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADING))]
    lines = []
    for line in cells:
        padded = [text.ljust(width) for text, width in zip(line, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    for row in rows:
        if row.note:
            lines.append(f"{row.label}: {safe_line(row.note, _MAX_CHARS)}.")
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    now = safe_line(row.now, _MAX_CHARS)
    return (row.title, row.version, row.python, now, row.verb or "-", row.place)


def _changes(steps: Iterable[Row], is_undo: bool) -> list[str]:
    """Return the lines that say what will be written or deleted."""
    lines = ["This will be written:"]
    if is_undo:
        lines = ["This will be removed:"]
    lines += [f"  {row.label}: {row.change}" for row in steps]
    runner = runner_of(sys.prefix)
    if not is_undo and runner and not start_again(sys.prefix):
        lines.append(
            f"This dcc-bridge is in {sys.prefix}, which {runner} deletes after some time, and "
            f"{runner} is not on PATH. The clients could not start it then: install it first."
        )
    return lines


def _agrees() -> bool:
    """Return whether the person agrees to all steps."""
    if not is_terminal(sys.stdin):
        tell("Nobody can be asked here, so nothing was changed. To do it: --yes")
        return False
    with suppress(EOFError):
        if input("Do all of this? [y/N] ").strip().lower() in ("y", "yes"):
            return True
    print("Nothing was changed.")
    return False


def _do(row: Row) -> bool:
    """Do a step, print its line, and return whether it was done."""
    assert row.do is not None
    try:
        result = row.do()
    except Exception as error:  # noqa: BLE001 - whatever fails, the other steps are done
        reason = safe_line(str(error), _MAX_CHARS).removesuffix(".")
        print(f"{row.label}: FAILED: {reason}.", flush=True)
        return False
    print(f"{row.label}: {result.removesuffix('.')}.", flush=True)
    return True
