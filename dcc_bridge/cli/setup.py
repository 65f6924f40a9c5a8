"""``dcc-bridge setup``: finds applications and clients, and sets all of them up. Main thread."""

from __future__ import annotations

import argparse
import sys

from dcc_bridge.cli import client_states, leaves
from dcc_bridge.cli.exits import SUCCESS, USAGE
from dcc_bridge.cli.setup_rows import rows_to_set_up, rows_to_undo
from dcc_bridge.cli.steps import carry_out
from dcc_bridge.client.entries import CONFIG_FILES
from dcc_bridge.client.temporary import runner_of, start_again


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    fill_choice(parser)
    parser.add_argument("--undo", action="store_true", help="remove all of it again")


def fill_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose what is done, and whether it is done, to a parser."""
    names = [*sorted(leaves.targets()), *CONFIG_FILES]
    only = f"only this application or client; repeatable: {', '.join(names)}"
    parser.add_argument(
        "--only", action="append", choices=names, default=[], metavar="NAME", help=only
    )
    parser.add_argument("--yes", action="store_true", help="do it without the question")
    parser.add_argument("--dry-run", action="store_true", help="only show what was found")


def run(options: argparse.Namespace) -> int:
    """Show what was found, ask once, and do every step."""
    print("Looking for applications and clients; each application is started once.", flush=True)
    if options.undo:
        return _undo(options)
    rows = rows_to_set_up(options.only)
    if not options.only:
        print(client_states.none_found(), end="", flush=True)
    if not rows:
        print(_nothing(options))
        if options.only:
            return USAGE
        return SUCCESS
    return carry_out(
        rows,
        options,
        heading="This will be written:",
        warning=runner_warning(),
        nothing="Nothing is left to do.",
        after="To take all of it back: dcc-bridge setup --undo",
    )


def _undo(options: argparse.Namespace) -> int:
    rows = rows_to_undo(options.only)
    if not rows:
        print("Nothing is set up.")
        return SUCCESS
    heading = "This will be removed:"
    return carry_out(rows, options, heading=heading, nothing="Nothing is left to do.")


def _nothing(options: argparse.Namespace) -> str:
    if options.only:
        names = " and ".join(options.only)
        return f"{names} was not found. To set it up by hand: dcc-bridge install or client add"
    return "No application and no client was found. To set one up: dcc-bridge install or client add"


def runner_warning() -> str:
    """Return what the clients will not be able to start some day, in sentences; or ""."""
    runner = runner_of(sys.prefix)
    if not runner or start_again(sys.prefix):
        return ""
    return (
        f"This dcc-bridge is in {sys.prefix}, which {runner} deletes after some time, and "
        f"{runner} is not on PATH. The clients could not start it then: install it first."
    )
