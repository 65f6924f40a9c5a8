"""Finds the applications and additional commands that are installed. Main thread.

Each has an entry point of the distribution. Only commands search for them: inside an application
the plug-in is running already.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from dcc_bridge.cli.exits import Failure, tell
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.install.locations import InstallTarget
from dcc_bridge.program import LocalProgram, Program

if TYPE_CHECKING:
    from dcc_bridge.verbs.plain_names import PlainNames

HOSTS: Final = "dcc_bridge.hosts"
COMMANDS: Final = "dcc_bridge.commands"
_REINSTALL: Final = (
    f"Install it again: pip install --force-reinstall {DISTRIBUTION}, "
    "or in a checkout: pip install -e ."
)


class CommandModule(Protocol):
    """A module with a command.

    Attributes:
        SUMMARY: The summary of the command for the help.
    """

    SUMMARY: str

    def fill(self, parser: ArgumentParser) -> None:
        """Add the command's options to a parser."""

    def run(self, options: Namespace) -> int:
        """Run the command, and return its exit code."""

    def skill_folders(self) -> Sequence[Path]:
        """Return the folders of skills that belong to the command, for a host in this Python."""


def host_names() -> list[str]:
    """Return the names of all applications.

    Raises:
        Failure: No application is installed.
    """
    names = sorted(entry_points(group=HOSTS).names)
    if not names:
        raise Failure(f"This installation of {DISTRIBUTION} names no application. {_REINSTALL}")
    return names


def program(name: str) -> Program:
    """Return an application by its name.

    Raises:
        Failure: The application's leaf cannot be imported, or none or several have this name.
    """
    entries = list(entry_points(group=HOSTS, name=name))
    if len(entries) != 1:
        raise Failure(
            f"{len(entries)} installed packages name an application {name!r}. {_REINSTALL}"
        )
    return cast("Program", _load(entries[0]))


def plain_names(name: str) -> PlainNames:
    """Return the names that plain code may use in an application; none without a list of its leaf.

    *Plain* code is an agent's code that uses only such names.
    """
    module = program(name).plain_names
    if find_spec(module) is None:
        from dcc_bridge.verbs.plain_names import PlainNames  # takes 0.2 s

        return PlainNames()
    return cast("PlainNames", import_module(module).PLAIN)


def targets() -> dict[str, InstallTarget]:
    """Return the applications with a folder for plug-ins, by their names."""
    return {program.name: program for program in _programs() if isinstance(program, InstallTarget)}


def local() -> LocalProgram:
    """Return the application that runs in this Python.

    Raises:
        Failure: There is none.
    """
    for program in _programs():
        if isinstance(program, LocalProgram):
            return program
    raise Failure(f"This installation has no application of its own. {_REINSTALL}")


def commands() -> dict[str, CommandModule]:
    """Return the commands that come with leaves, by their names.

    For a command that cannot be imported, the reason is printed.
    """
    modules = {}
    for entry in entry_points(group=COMMANDS):
        try:
            modules[entry.name] = cast("CommandModule", _load(entry))
        except Failure as failure:
            tell(str(failure))
    return modules


def _programs() -> Iterator[Program]:
    """Yield the applications. If one cannot be imported, print the reason."""
    for name in host_names():
        try:
            yield program(name)
        except Failure as failure:
            tell(str(failure))


def _load(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # noqa: BLE001 - a module of others may raise anything
        advice = _REINSTALL
        if entry.dist is not None and entry.dist.name != DISTRIBUTION:
            advice = f"Install {entry.dist.name} again."
        raise Failure(f"{entry.value} cannot be imported ({error}). {advice}") from None
