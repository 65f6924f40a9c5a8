"""``dcc-bridge uninstall``: takes away what ``install`` put, and nothing else. Main thread."""

from __future__ import annotations

import argparse

from dcc_bridge.cli import placing
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.install import plan, written


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    placing.fill(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do not")


def run(options: argparse.Namespace) -> int:
    """Take it away, and say what was done.

    Raises:
        Failure: Nothing of ours is there, or it cannot be deleted.
    """
    found = placing.plan(options, to_take_away=True)
    folder = found.place.folder
    old = written.read(folder)
    if old is None:
        raise Failure(f"The bridge is not installed in {folder}.")
    besides = [file for file in old.files if folder not in file.parents]
    for line in (f"take away {len(old.files):,} files in {folder}", *map(str, besides)):
        print(line, flush=True)
    if options.dry_run:
        print("Nothing was deleted.")
        return SUCCESS
    try:
        others = plan.undo(folder, old)
    except OSError as error:
        raise Failure(
            f"It cannot be deleted: {error}. Close {found.kind.title}, and try again."
        ) from None
    for file in others:
        print(f"kept {file}: it was not put by us")
    print("Done. Nothing of ours is left there." if not others else "Done.")
    return SUCCESS
