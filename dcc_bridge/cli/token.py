"""``dcc-bridge token``: prints a token for a client that cannot use ``dcc-bridge connect``."""

from __future__ import annotations

import argparse
import sys

from dcc_bridge.cli import target
from dcc_bridge.cli.exits import SUCCESS


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    make = commands.add_parser(
        "make", help="print a token for a client that cannot use `dcc-bridge connect`"
    )
    make.add_argument("label", metavar="LABEL", type=_label, help="a name for that client")
    make.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )


def run(options: argparse.Namespace) -> int:
    """Print the token, and nothing else, on stdout."""
    host = target.instance(options.url)
    print(host.token(options.label))
    print(
        f"dcc-bridge: for {host.url}, until that host ends. Whoever has it is {options.label} "
        "there. To take it back, restart the host.",
        file=sys.stderr,
    )
    return SUCCESS


def _label(text: str) -> str:
    if not text or "." in text or not text.isprintable():
        raise argparse.ArgumentTypeError(f"a name without a dot, such as cursor, not {text!r}")
    return text
