"""Finds what is installed with the bridge: applications, and commands of their own. Main thread.

Each is named by an entry point of the distribution. Inside an application nothing is searched:
there the plug-in is running already.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, Protocol, cast

from dcc_bridge.cli.exits import Failure, tell
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.install.locations import InstallTarget
from dcc_bridge.program import LocalProgram, Program

HOSTS: Final = "dcc_bridge.hosts"
COMMANDS: Final = "dcc_bridge.commands"
_MEND: Final = (
    f"Install it again: pip install --force-reinstall {DISTRIBUTION}, "
    "or in a checkout: pip install -e ."
)


class CommandModule(Protocol):
    """A module with a command of its own.

    Attributes:
        SUMMARY: What the command does, in a few words.
    """

    SUMMARY: str

    def fill(self, parser: ArgumentParser) -> None:
        """Add the command's options to a parser."""

    def run(self, options: Namespace) -> int:
        """Run the command, and return its exit code."""

    def skill_folders(self) -> Sequence[Path]:
        """Return the folders of skills that a host in this Python offers for it."""


def host_names() -> list[str]:
    """Return the names of all applications; Failure: the installation names none."""
    names = sorted(entry_points(group=HOSTS).names)
    if not names:
        raise Failure(f"This installation of {DISTRIBUTION} names no application. {_MEND}")
    return names


def program(name: str) -> Program:
    """Return an application by its name; Failure: its leaf is not whole, or there are several."""
    entries = list(entry_points(group=HOSTS, name=name))
    if len(entries) != 1:
        raise Failure(f"{len(entries)} installed packages name an application {name!r}. {_MEND}")
    return cast("Program", _load(entries[0]))


def targets() -> dict[str, InstallTarget]:
    """Return the applications with a folder for plug-ins, by their names."""
    return {it.name: it for it in _programs() if isinstance(it, InstallTarget)}


def local() -> LocalProgram:
    """Return the application that runs in this Python; Failure: there is none."""
    for found in _programs():
        if isinstance(found, LocalProgram):
            return found
    raise Failure(f"This installation has no application of its own. {_MEND}")


def commands() -> dict[str, CommandModule]:
    """Return the commands that come with leaves, by their names; what cannot be used is told."""
    found = {}
    for entry in entry_points(group=COMMANDS):
        try:
            found[entry.name] = cast("CommandModule", _load(entry))
        except Failure as failure:
            tell(str(failure))
    return found


def _programs() -> Iterator[Program]:
    """Yield the applications; of one that cannot be used it is told why, and the others go on."""
    for name in host_names():
        try:
            yield program(name)
        except Failure as failure:
            tell(str(failure))


def _load(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # noqa: BLE001 - it is the text of others, and may raise anything
        owner = entry.dist.name if entry.dist is not None else DISTRIBUTION
        mend = _MEND if owner == DISTRIBUTION else f"Install {owner} again."
        raise Failure(f"{entry.value} cannot be imported ({error}). {mend}") from None
