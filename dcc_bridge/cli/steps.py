"""Shows what was found as a table, asks once, and does every step. Main thread."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from dcc_bridge.cli.exits import FAILED, REFUSED, SUCCESS, tell
from dcc_bridge.cli.setup_rows import Row
from dcc_bridge.client.terminal_io import is_terminal
from dcc_bridge.elicitation.text import safe_line

_HEADING: Final = ("", "version", "Python", "now", "to do", "where")
_MAX_CHARS: Final = 400


def carry_out(
    rows: Sequence[Row],
    options: argparse.Namespace,
    *,
    heading: str,
    warning: str = "",
    nothing: str,
    after: str = "",
) -> int:
    """Show what was found, ask once, and do every step.

    Args:
        rows: What was found.
        options: The options "dry_run" and "yes" of the command.
        heading: The line above what will be done.
        warning: The line below that; "" for none.
        nothing: The line if there is nothing to do, and the person has nothing to do either.
        after: The last line if a step was done; "" for none.

    Returns:
        The exit code.
    """
    print("\n".join(_table(rows)))
    steps = [row for row in rows if row.do is not None]
    broken = [row for row in rows if row.is_broken]
    if not steps:
        if not broken:
            print(nothing)
        return _end(broken)
    print("\n".join([heading, *(f"  {row.label}: {row.change}" for row in steps)]), flush=True)
    if warning:
        print(warning, flush=True)
    if options.dry_run:
        print("Nothing was changed.")
        return _end(broken)
    if not options.yes and not _agrees():
        return REFUSED
    failed = [row for row in steps if not _do(row)]
    count = len(steps) - len(failed)
    print(f"{count} of {len(steps)} done.")
    code = _end([*failed, *broken])
    if count and after:
        print(after)
    return code


def _end(not_done: Sequence[Row]) -> int:
    """Print what could not be set up, and return the exit code."""
    if not not_done:
        return SUCCESS
    names = ", ".join(row.label for row in not_done)
    print(f"Not done: {names}. Correct what is said above, then run it again.")
    return FAILED


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
