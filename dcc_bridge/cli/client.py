"""``dcc-bridge client`` and ``token``: set up an MCP client so that it finds the hosts."""

from __future__ import annotations

import argparse
import json
import webbrowser
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from dcc_bridge import known_clients
from dcc_bridge.cli import client_states, hosts
from dcc_bridge.cli.exits import FAILED, SUCCESS, USAGE, Failure, tell
from dcc_bridge.client import registration
from dcc_bridge.client.entries import (
    CONFIG_FILES,
    LINKED,
    NAME,
    OTHER,
    ClientEntry,
    ConfigFile,
    link,
)

_QUESTIONS: Final = {
    "draws": "can show questions itself",
    "declares": "claims to show questions but does not, so the application asks them",
    "neither": "cannot show questions, so the application asks them",
}
_WRITABLE: Final = [name for name, config in CONFIG_FILES.items() if config.syntax != "yaml"]
"""The clients whose configuration is written here, or by the client's own command."""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, do, kind, about in (
        ("add", _add, _writable, "add dcc-bridge to the client's configuration"),
        ("remove", _remove, _removable, "remove it from the client's configuration"),
    ):
        command = commands.add_parser(name, help=about, description=about.capitalize() + ".")
        command.add_argument("name", type=kind, metavar="NAME", help=", ".join(_WRITABLE))
        project = "only for work in that folder"
        command.add_argument("--project", type=_folder, metavar="DIR", help=project)
        command.set_defaults(do=do)
        if name == "add":
            dry_run = "only show what would be written"
            command.add_argument("--dry-run", action="store_true", help=dry_run)
    listing = commands.add_parser(
        "list", help="list the known clients and which of them are set up"
    )
    listing.add_argument("--json", action="store_true", help="print only a JSON list")
    listing.set_defaults(do=_list)
    about = "print a link; the client adds the entry itself once you agree"
    linking = commands.add_parser("link", help=about)
    linking.add_argument("name", choices=LINKED, metavar="NAME", help=", ".join(LINKED))
    linking.add_argument("--open", action="store_true", help="also open the link")
    linking.set_defaults(do=_link)
    printing = commands.add_parser("print", help="print the entry to paste into any client")
    names = f"{', '.join(CONFIG_FILES)}, or any other name"
    printing.add_argument("name", type=_printable, metavar="NAME", help=names)
    printing.set_defaults(do=_print)


def run(options: argparse.Namespace) -> int:
    """Run a subcommand, such as ``add``."""
    try:
        options.do(options)
    except (OSError, ValueError) as error:
        if "name" not in options:  # `list`: the reader of stdout may have closed it
            raise
        code = USAGE  # the person has to correct the file first
        if isinstance(error, OSError):
            code = FAILED
        sentence = f"The configuration of {options.name} was not changed: {error}."
        raise Failure(sentence, code) from None
    return SUCCESS


def fill_token(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``token`` to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    about = "print a token for a client that cannot use `dcc-bridge connect`"
    make = commands.add_parser("make", help=about)
    make.add_argument("label", metavar="LABEL", type=hosts.label, help="a name for that client")
    hosts.fill_host(make)


def run_token(options: argparse.Namespace) -> int:
    """Print only a token on stdout."""
    host = hosts.instance(options)
    if options.label == host.id:
        raise Failure(f"{host.id} is the host. Name the client first: token make NAME {host.id}")
    print(host.token(options.label))
    tell(
        f"This token is for {host.url} until that host ends. Anyone who has it acts as "
        f"{options.label} there. To revoke it, restart the host."
    )
    return SUCCESS


def _writable(name: str) -> str:
    return _checked_name(
        name, f"Paste the output of this command into it: dcc-bridge client print {name}"
    )


def _removable(name: str) -> str:
    file = "it"
    if name in CONFIG_FILES:
        file = " and ".join(str(place.path()) for place in CONFIG_FILES[name].places())
    return _checked_name(name, f"Remove the entry {NAME!r} from {file} yourself.")


def _checked_name(name: str, advice: str) -> str:
    """Return a client's name for argparse, or raise an error with `advice` for the person."""
    label = _printable(name)
    if label in CONFIG_FILES and CONFIG_FILES[label].is_writable:
        return label
    problem = f"dcc-bridge does not write the configuration of {name!r}."
    raise argparse.ArgumentTypeError(f"{problem} {advice}")


def _printable(name: str) -> str:
    """Return the label of any client, for argparse."""
    matches = get_close_matches(name, CONFIG_FILES, n=1)
    if matches and name not in CONFIG_FILES:
        raise argparse.ArgumentTypeError(f"{name!r} is not known. Did you mean {matches[0]}?")
    return hosts.label(name)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return Path(text)


def _add(options: argparse.Namespace) -> None:
    if options.dry_run:
        _preview(options)
        return
    known = known_clients.CLIENTS[options.name]
    is_new = False
    for config in _places(options):
        try:
            change = registration.add(config, options.name, options.project)
        except registration.ByHand:
            print(config.text(ClientEntry.for_client(options.name)))
            raise
        verb = "was"
        if change.is_new:
            verb = "is"
            is_new = True
        print(f"{known.name} {verb} set up in {change.file}.")
        _print_backup(change)
    if is_new:
        print(f"Restart the client. It {_QUESTIONS[known.questions]}.")
        print(client_states.tasks(options.name))


def _preview(options: argparse.Namespace) -> None:
    """Print what `_add` would write, and where."""
    name = known_clients.CLIENTS[options.name].name
    for config in _places(options):
        change = registration.preview(config, options.name, options.project)
        if not change.is_new:
            print(f"{name} was set up in {change.file}.")
            continue
        print(f"{name} would be set up in {change.file}, by this entry:")
        print(config.text(ClientEntry.for_client(options.name)))
        if change.backup is not None:
            print(f"A backup would be in {change.backup}.")
    print("Nothing was changed.")


def _places(options: argparse.Namespace) -> list[ConfigFile]:
    """Return the files of a client that an option names; a project has only one."""
    config = CONFIG_FILES[options.name]
    if options.project is not None:
        return [config]
    return config.places()


def _remove(options: argparse.Namespace) -> None:
    for config in _places(options):
        change = registration.remove(config, options.project)
        result = "was not set up"
        if change.is_new:
            result = "is no longer set up"
        print(f"{known_clients.CLIENTS[options.name].name} {result} in {change.file}.")
        _print_backup(change)


def _print_backup(change: registration.Change) -> None:
    if change.backup is not None:
        print(f"A backup is in {change.backup}.")


def _list(options: argparse.Namespace) -> None:
    clients = {name: _facts(name) for name in CONFIG_FILES}
    if options.json:
        print(json.dumps(list(clients.values()), indent=2))
        return
    for name, facts in clients.items():
        known = known_clients.CLIENTS[name]
        print(f"{name:16}  {known.name}, {_state(name, facts)}")
        print(f"{'':16}  {facts['file']}")
        print(f"{'':16}  It {_QUESTIONS[known.questions]} (as of {known.asof}).")
        print(f"{'':16}  {client_states.tasks(name)}")


def _state(name: str, facts: Mapping[str, object]) -> str:
    """Return the state of a client's configuration, in a few words."""
    if facts["is_set_up"]:
        return "set up"
    for config in CONFIG_FILES[name].places():
        problem = registration.problem(config)
        if problem:
            return problem
    if facts["is_writable"]:
        return "not set up"
    return f"set up by hand: dcc-bridge client print {name}"


def _print(options: argparse.Namespace) -> None:
    print(CONFIG_FILES.get(options.name, OTHER).text(ClientEntry.for_client(options.name)))


def _facts(name: str) -> dict[str, object]:
    """Return the facts about a client that `dcc_bridge.local_clients` reads."""
    places = CONFIG_FILES[name].places()
    config = places[0]
    entries = [registration.find(place) for place in places]
    return {
        "label": name,
        "file": str(config.path()),
        "is_there": any(place.is_there for place in places),
        "is_set_up": None not in entries,
        "is_writable": config.is_writable,
        "entry": config.text(ClientEntry.for_client(name)),
    }


def _link(options: argparse.Namespace) -> None:
    url = link(options.name)
    print(url)
    if options.open and not webbrowser.open(url):
        raise Failure(f"Nothing on this computer opens a link of {options.name}.", FAILED)
