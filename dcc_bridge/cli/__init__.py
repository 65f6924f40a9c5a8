"""The command ``dcc-bridge``. Main thread.

`COMMANDS` is the table of its commands. Each has a function that adds the command's options to a
parser, and a function that runs the command and returns the exit code. If a command has
subcommands, the first function sets "run" for each of them. A module is imported only if its
command is called. `leaves` finds the commands of leaves.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import logging
import os
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NamedTuple

from dcc_bridge.audit import redact
from dcc_bridge.cli import exits, leaves
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.errors import BridgeError, NotRecorded, Unreachable, own_version


class Command(NamedTuple):
    """A command. Its functions are named for it, such as ``run_list``, or ``fill`` and ``run``.

    Attributes:
        summary: The summary of the command for the help.
        module: The module of this folder with the command's functions.
        fill: The function that adds the command's options to a parser.
    """

    summary: str
    module: str
    fill: str = "fill"


COMMANDS: Final = {
    "demo": Command("show one confirmed deletion, end to end", "demo"),
    "setup": Command("find applications and clients and set all of them up", "setup"),
    "update": Command("bring plug-ins and clients to the version of this command", "update"),
    "install": Command("install the plug-in for an application", "install"),
    "uninstall": Command("remove an installed plug-in", "install", "fill_install"),
    "status": Command("show where the plug-in and which clients are set up", "install"),
    "pack": Command(
        "build an extension for Blender 4.2 and newer or for Claude Desktop", "install"
    ),
    "run": Command("run one skill in a host's batch interpreter, as on a render farm", "run"),
    "serve": Command("start a host with the MCP server in it; Ctrl+C stops it", "hosting"),
    "list": Command("list the hosts that are running", "hosts"),
    "connect": Command("connect an MCP client to the running hosts over stdio", "hosts"),
    "client": Command("set up an MCP client so that it finds the hosts", "client"),
    "tools": Command("list the tools of a running host", "call"),
    "call": Command("call a tool of a running host and answer its questions", "call"),
    "try": Command("try a skill, tell what it would change, and take it back", "call"),
    "undo": Command("undo the last action of an agent in a running host", "call"),
    "checkpoint": Command("list and restore copies of what undo cannot restore", "checkpoint"),
    "audit": Command("read and check the record of questions and approvals", "audit"),
    "token": Command("print a token for a client that cannot use `connect`", "client"),
    "doctor": Command("find problems and show how to fix them", "doctor"),
    "skill": Command("write a new skill file or check existing ones", "skill"),
    "guide": Command("print a page of the guide", "skill"),
}
_ABOUT: Final = """\
An MCP server inside a DCC application. An agent works in the scene that a person has open, and
nothing in it is deleted or overwritten unless that person agrees."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The words after ``dcc-bridge``; None for the words of this process.

    Returns:
        The exit code, as `exits.MEANINGS` explains it.

    Raises:
        SystemExit: The words are wrong, or ask for help.
    """
    if argv is None:
        argv = sys.argv[1:]
        # With the SDK loaded, the garbage collections at the interpreter's end take 0.3 s.
        atexit.register(gc.freeze)
    _prepare_output()
    try:
        return _run(list(argv))
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        if not exits.says_unread(error):
            raise
        return _discard_output()
    except exits.Failure as failure:
        exits.tell(str(failure))
        return failure.code
    except BridgeError as error:
        exits.tell(str(error))
        return _code_of(error)


def _code_of(error: BridgeError) -> int:
    """Return the exit code of a command that an error of the bridge has ended."""
    if isinstance(error, Unreachable):
        return exits.UNREACHABLE
    if isinstance(error, NotRecorded):  # what the command did stands
        return exits.FAILED
    return exits.USAGE


def _run(words: Sequence[str]) -> int:
    """Run a command, and flush its output."""
    try:
        options, unknown = _parser(words).parse_known_args(words)
        if unknown:  # not `parse_args`, whose error would show the usage of no command
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        code = int(options.run(options))
    except SystemExit:  # argparse's, which may have written its help
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


class _Parser(argparse.ArgumentParser):
    """A parser that notes itself as "parser", unless one of its commands has done so."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words, and return the options and the words that are unknown."""
        options, unknown = super().parse_known_args(args, namespace)
        if "parser" not in options:
            options.parser = self
        return options, unknown


def _parser(words: Sequence[str]) -> _Parser:
    parser = _Parser(
        prog="dcc-bridge",
        description=_ABOUT,
        epilog=exits.TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dcc-bridge {own_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = None
    if words:
        wanted = words[0]
    for name, command in COMMANDS.items():
        subparser = _add(commands, name, command.summary)
        if name == wanted:  # no other module is imported: the MCP client alone takes 0.7 s
            _fill(subparser, name, command)
    if wanted in (*COMMANDS, "--version"):  # no leaf has to be imported
        return parser
    leaf_commands = leaves.commands()
    if wanted is not None:
        _check_known(wanted, leaf_commands)
    for name, module in leaf_commands.items():
        subparser = _add(commands, name, module.SUMMARY)
        if name == wanted:
            module.fill(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def _check_known(word: str, leaf_commands: Collection[str]) -> None:
    """Raise a Failure unless a first word is an option, or a command of a leaf."""
    if not leaf_commands:
        leaves.host_names()  # raises a Failure if the installation is incomplete
    if word.startswith("-") or word in leaf_commands:
        return
    text = f"There is no command {word!r}."
    matches = get_close_matches(word.lower(), [*COMMANDS, *leaf_commands], n=2)
    if matches:
        text += f" Did you mean {' or '.join(matches)}?"
    raise exits.Failure(f"{text} `dcc-bridge --help` lists the commands.")


def _fill(subparser: argparse.ArgumentParser, name: str, command: Command) -> None:
    """Import a command's module, and add the command's options to its parser."""
    module = import_module(f"dcc_bridge.cli.{command.module}")
    fill = getattr(module, f"fill_{name}", None) or getattr(module, command.fill)
    fill(subparser)
    run = getattr(module, f"run_{name}", None) or getattr(module, "run", None)
    subparser.set_defaults(run=run)


def _add(commands: argparse._SubParsersAction[_Parser], name: str, summary: str) -> _Parser:
    """Add a command's parser, without options."""
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=exits.TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _prepare_output() -> None:
    """Escape characters that the terminal cannot show, and drop the logs of libraries.

    A command prints a sentence for each error that the SDK's client and uvicorn log.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("mcp.client", "mcp.shared", "uvicorn"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    if logging.lastResort is not None:  # the handler of records without a handler, in `connect`
        redact.LOG_FILTER.visible = safe_whole
        logging.lastResort.addFilter(redact.LOG_FILTER)


def _discard_output() -> int:
    """Redirect a closed stdout to the null device, or Python would report an error at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.FAILED
