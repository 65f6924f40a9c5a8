"""``dcc-bridge install``: puts the plug-in where an application looks for it. Main thread."""

from __future__ import annotations

import argparse

from dcc_bridge.cli import placing
from dcc_bridge.cli.exits import SUCCESS, Failure


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    placing.fill(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do not")


def run(options: argparse.Namespace) -> int:
    """Put it there, and say what was done.

    Raises:
        Failure: It cannot be written.
    """
    plan = placing.plan(options)
    old = plan.check()
    if old is not None:
        print(f"Version {old.facts.get('bridge')} is there, and is replaced.")
    print("\n".join(plan.sentences()), flush=True)
    if options.dry_run:
        print("Nothing was written.")
        return SUCCESS
    try:
        done = plan.do()
    except OSError as error:
        raise Failure(f"It cannot be written: {error}. Nothing was put.") from None
    size = sum(file.stat().st_size for file in done.files) / 1e6
    print(f"Done: {len(done.files):,} files, {size:.0f} MB. {plan.kind.after}")
    print(f"To take it away: dcc-bridge uninstall {plan.kind.name}")
    return SUCCESS
