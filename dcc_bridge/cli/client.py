"""``dcc-bridge client``: tells an MCP client how to reach the hosts, in its own configuration."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dcc_bridge import known_clients
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.cli.hosts import label
from dcc_bridge.client.configs import entry, written
from dcc_bridge.client.configs.places import OTHER, PLACES, Place
from dcc_bridge.server.access import Access

_QUESTIONS: Final = {
    "draws": "can show questions itself",
    "declares": "says that it can show questions, and shows none: they are asked in the host",
    "neither": "cannot show questions: they are asked in the host",
}

_WRITABLE: Final = [name for name, place in PLACES.items() if place.writes]


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, do, about in (
        ("add", _add, "write our entry into the client's configuration"),
        ("remove", _remove, "take our entry out of it"),
    ):
        command = commands.add_parser(name, help=about, description=about.capitalize() + ".")
        command.add_argument("name", type=_writable, metavar="NAME", help=", ".join(_WRITABLE))
        command.add_argument(
            "--project", type=Path, metavar="DIR", help="only for what is done in that folder"
        )
        command.set_defaults(do=do)
    listing = commands.add_parser("list", help="list the clients that are known")
    listing.set_defaults(do=_list)
    printing = commands.add_parser("print", help="print the entry to paste, for any client")
    printing.add_argument(
        "name", type=label, metavar="NAME", help=f"{', '.join(PLACES)}, or a name of yours"
    )
    printing.set_defaults(do=_print)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    try:
        options.do(options)
    except (OSError, ValueError) as error:
        raise Failure(f"The configuration of {options.name} was not changed: {error}.") from None
    return SUCCESS


def _writable(name: str) -> str:
    if name not in _WRITABLE:
        raise argparse.ArgumentTypeError(
            f"the configuration of {name!r} is not written for you. Paste into it what this "
            f"prints: dcc-bridge client print {name}"
        )
    return name


def _add(options: argparse.Namespace) -> None:
    Access().admit(options.name)  # had it been revoked, this takes it back
    done = written.add(PLACES[options.name], options.name, options.project)
    known = known_clients.CLIENTS[options.name]
    print(f"{known.name} {'is' if done.is_new else 'was'} set up in {done.file}.")
    _tell_kept(done)
    if done.is_new:
        print(f"Start it anew. It {_QUESTIONS[known.questions]}.")


def _remove(options: argparse.Namespace) -> None:
    done = written.remove(PLACES[options.name], options.project)
    said = "is set up no more" if done.is_new else "was not set up"
    print(f"{known_clients.CLIENTS[options.name].name} {said} in {done.file}.")
    _tell_kept(done)


def _tell_kept(done: written.Change) -> None:
    if done.kept is not None:
        print(f"What it held before is in {done.kept}.")


def _list(options: argparse.Namespace) -> None:
    for name, place in PLACES.items():
        known = known_clients.CLIENTS[name]
        print(f"{name:14}  {known.name}, {_state(name, place)}")
        print(f"{'':14}  {place.file(None)}")
        print(f"{'':14}  It {_QUESTIONS[known.questions]} (as of {known.asof}).")


def _state(name: str, place: Place) -> str:
    if not place.writes:
        return f"set up by hand: dcc-bridge client print {name}"
    return "set up" if written.is_there(place) else "not set up"


def _print(options: argparse.Namespace) -> None:
    place = PLACES.get(options.name, OTHER)
    print(place.text(place, entry.make(options.name)))
