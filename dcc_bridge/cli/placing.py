"""Which installation a command means: the words that say so, and what they come to. Main thread."""

from __future__ import annotations

import argparse

from dcc_bridge.install import asking
from dcc_bridge.install.places import KINDS, Told
from dcc_bridge.install.plan import Plan
from dcc_bridge.install.system import System


def fill(parser: argparse.ArgumentParser) -> None:
    """Say which words name an installation."""
    parser.add_argument("host", choices=sorted(KINDS), metavar="HOST", help=", ".join(KINDS))
    parser.add_argument("--version", metavar="V", help="the application's own, such as 2026 or 4.5")
    parser.add_argument(
        "--interpreter", metavar="PATH", help="its batch interpreter, where it is not on PATH"
    )
    parser.add_argument("--python", metavar="3.X", help="its Python, where nobody else can tell")
    parser.add_argument(
        "--for-all-users", action="store_true", help="where it looks for everybody's plug-ins"
    )


def plan(options: argparse.Namespace, *, to_take_away: bool = False) -> Plan:
    """Find out which application it is, and where its plug-in goes.

    Args:
        options: What the person said.
        to_take_away: It need not be known which Python it has.

    Raises:
        NoPlace: That cannot be told.
    """
    kind, system = KINDS[options.host], System.here()
    told = asking.ask(kind, options.interpreter)
    python = options.python or ("3.11" if to_take_away and told.python is None else None)
    told = asking.settled(kind, told, options.version, python)
    return Plan(kind, told, kind.place(system, told, options.for_all_users), system)


def title(told: Told, name: str) -> str:
    """Name an application with its version."""
    return f"{name} {told.version}" if told.version else name
