"""The command ``dcc-bridge``. Main thread.

`COMMANDS` is the table of its commands: each has a function that adds its options to a parser, and
one that runs it and gives the exit code; where it has commands of its own, the first sets "run"
for each of them. A module is imported only if its command is called. Further commands come with
leaves; see `leaves`.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final, NamedTuple

from dcc_bridge.audit import redact
from dcc_bridge.cli import exits, leaves
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.errors import BridgeError, Unreachable, own_version


class Command(NamedTuple):
    """A command. Its functions are named for it, such as ``run_list``, or ``fill`` and ``run``."""

    summary: str  # what it does, in a few words
    module: str  # the module of this folder that has its functions
    fill: str = "fill"  # the function that adds what the command takes to a parser


COMMANDS: Final = {
    "demo": Command("show one confirmed deletion, end to end", "demo"),
    "install": Command("put the plug-in where an application looks for it", "install"),
    "uninstall": Command("remove what install put there", "install", "fill_install"),
    "status": Command("say where the plug-in is installed", "install"),
    "pack": Command(
        "make an extension for Blender 4.2 and newer, or for Claude Desktop", "install"
    ),
    "run": Command("run one skill in a host's batch interpreter, as on a render farm", "run"),
    "serve": Command("start a host with the MCP server in it, until Ctrl+C", "hosting"),
    "list": Command("list the hosts that are running", "hosts"),
    "connect": Command("connect an MCP client to the running hosts over stdio", "hosts"),
    "client": Command("set up an MCP client so that it finds the hosts", "client"),
    "tools": Command("list the tools of a running host", "call", "fill_host"),
    "call": Command("call a tool of a running host, and answer what it asks", "call"),
    "undo": Command("undo the last action of an agent in a running host", "call"),
    "checkpoint": Command(
        "list and restore the copies of what undo cannot bring back", "checkpoint"
    ),
    "audit": Command("read and check the record of who agreed to what", "audit"),
    "token": Command("print a token for a client that cannot use `connect`", "client"),
    "doctor": Command("find what is wrong, and say how to fix it", "doctor"),
    "skill": Command("write a skill file to start from, or check existing ones", "skill"),
    "guide": Command("print a page of the guide", "skill"),
}
_ABOUT: Final = """\
An MCP server inside a DCC application. An agent works in the scene that a person has open, and
nothing in it is deleted or overwritten unless that person agrees."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, by these words or by the process's own, and give its exit code."""
    if argv is None:
        # With the SDK loaded the interpreter's last collections take 0.3 s, for nothing: it ends.
        atexit.register(gc.freeze)
    _prepare_output()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        if not exits.says_unread(error):
            raise
        return _unread()
    except exits.Failure as failure:
        exits.tell(str(failure))
        return failure.code
    except BridgeError as error:
        exits.tell(str(error))
        return exits.UNREACHABLE if isinstance(error, Unreachable) else exits.USAGE


def _run(words: Sequence[str]) -> int:
    """Run a command, and write all of its output."""
    try:
        options = _parser(words).parse_args(words)
        code = int(options.run(options))
    except SystemExit:  # argparse's, which may have written its help
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dcc-bridge",
        description=_ABOUT,
        epilog=exits.TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dcc-bridge {own_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        subparser = _add(commands, name, command.summary)
        if words[:1] == [name]:  # the others need not be imported: the MCP client alone takes 0.7 s
            module = import_module(f"dcc_bridge.cli.{command.module}")
            fill = getattr(module, f"fill_{name}", None) or getattr(module, command.fill)
            fill(subparser)
            run = getattr(module, f"run_{name}", None) or getattr(module, "run", None)
            subparser.set_defaults(run=run)
    if words[:1] and words[0] in (*COMMANDS, "--version"):  # no leaf need be imported
        return parser
    further = leaves.commands()
    if words[:1] and not further:
        leaves.host_names()  # it says so where the installation is not whole
    for name, found in further.items():
        subparser = _add(commands, name, found.SUMMARY)
        if words[:1] == [name]:
            found.fill(subparser)
            subparser.set_defaults(run=found.run)
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    """Add a command's parser, empty but for what its help says."""
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=exits.TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _prepare_output() -> None:
    """Write what a terminal's encoding lacks as escapes, and no complaints of others' libraries.

    The SDK's client and uvicorn log what is told here in a sentence, or is no news at all.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("mcp.client", "mcp.shared", "uvicorn"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    if logging.lastResort is not None:  # writes what no handler takes, as in `connect`
        redact.LOG_FILTER.visible = safe_whole
        logging.lastResort.addFilter(redact.LOG_FILTER)


def _unread() -> int:
    """Redirect a closed stdout to nowhere, or Python reports it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.TOOL_ERROR
