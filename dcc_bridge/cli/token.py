"""``dcc-bridge token``: which clients were let in, and which are not any more."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from typing import Final

from dcc_bridge.cli import hosts
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.elicitation.plain import line
from dcc_bridge.server.access import Access, Standing

_AT: Final = "%Y-%m-%d %H:%M"


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listed = commands.add_parser("list", help="list the clients that were let in or revoked")
    listed.add_argument("--json", action="store_true", help="print a JSON list and nothing else")
    listed.set_defaults(act=_list)
    revoked = commands.add_parser(
        "revoke", help="let a client in nowhere any more, and end what it has open"
    )
    revoked.add_argument("label", metavar="LABEL", type=_label, help="as `list` shows it")
    revoked.set_defaults(act=_revoke)
    made = commands.add_parser(
        "make", help="print a token for a client that cannot use `dcc-bridge connect`"
    )
    made.add_argument("label", metavar="LABEL", type=_label, help="a name for that client")
    made.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )
    made.set_defaults(act=_make)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    return int(options.act(options))


def _list(options: argparse.Namespace) -> int:
    found = Access().labels()
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=2))
    elif not found:
        print("No client was let in yet.")
    for one in [] if options.json else found:
        print(f"{line(one.label):24}  {'revoked' if one.revoked else 'let in ':8}  {_seen(one)}")
    return SUCCESS


def _revoke(options: argparse.Namespace) -> int:
    try:
        Access().revoke(options.label)
    except OSError as error:
        raise Failure(f"{options.label} is still let in: {error}") from None
    again = f"dcc-bridge token make {options.label}"
    print(f"{options.label} is not let in any more, in no host of yours. To change that: {again}")
    return SUCCESS


def _make(options: argparse.Namespace) -> int:
    host = hosts.instance(options.url)
    try:
        Access().admit(options.label)
    except OSError as error:
        raise Failure(f"{options.label} is still revoked: {error}") from None
    print(host.token(options.label))
    print(
        f"dcc-bridge: for {host.url}, until that host ends. Whoever has it is {options.label} "
        f"there. To take it back: dcc-bridge token revoke {options.label}",
        file=sys.stderr,
    )
    return SUCCESS


def _seen(one: Standing) -> str:
    if one.seen is None:
        return "never seen"
    return f"seen {time.strftime(_AT, time.localtime(one.seen))}"


def _label(text: str) -> str:
    if not text or "." in text or not text.isprintable():
        raise argparse.ArgumentTypeError(f"a name without a dot, such as cursor, not {text!r}")
    return text
