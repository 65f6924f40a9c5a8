"""The command ``dcc-bridge``: one command a module. Main thread.

A module has ``fill(parser)``, which says what the command takes, and ``run(options)``, which gives
the exit code.
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
from importlib import import_module, metadata
from typing import Final

from dcc_bridge import redaction
from dcc_bridge.cli import exits
from dcc_bridge.errors import BridgeError, Unreachable

COMMANDS: Final = {
    "demo": "show one confirmed deletion, end to end",
    "install": "put the plug-in where an application looks for it",
    "uninstall": "take away what install put there",
    "status": "say where the plug-in is installed",
    "pack": "make Blender's extension, one file that Blender installs",
    "run": "run one skill where nobody sits, in a host's batch interpreter",
    "serve": "start a host with the MCP server in it, until it is told to stop",
    "list": "list the hosts that are running",
    "connect": "join a client that speaks stdio to the hosts that run",
    "client": "tell an MCP client how to reach the hosts",
    "tools": "list the tools of a running host",
    "call": "call a tool of a running host, and answer what it asks",
    "undo": "undo the last action of an agent in a running host",
    "audit": "read and check the record of who agreed to what",
    "token": "list the clients that were let in, and revoke one",
    "doctor": "find what is wrong with a connection, and what mends it",
    "skill": "write a skill file to begin with, or check those that are there",
}
_ABOUT: Final = """\
An MCP server inside a DCC application. An agent works in the scene that a person has open, and
nothing is lost unless that person agrees."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and give its exit code.

    Args:
        argv: The words after ``dcc-bridge``; None for the process's own.
    """
    if argv is None:
        # With the SDK loaded the interpreter's last collections take 0.3 s of work, for nothing:
        # the process ends.
        atexit.register(gc.freeze)
    _prepare_output()
    unredact = redaction.install()
    words = [*(sys.argv[1:] if argv is None else argv)]  # here `list` is one of the modules
    try:
        options = _parser(words).parse_args(words)
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        return _unread()
    except SystemExit:  # argparse's, which may have written its help
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            return _unread()
        raise
    except exits.Failure as failure:
        return _sorry(failure, failure.code)
    except BridgeError as error:
        return _sorry(error, exits.UNREACHABLE if isinstance(error, Unreachable) else exits.USAGE)
    finally:
        unredact()


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dcc-bridge",
        description=_ABOUT,
        epilog=exits.TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"dcc-bridge {metadata.version('dcc-bridge')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=exits.TABLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in words:  # the others need not be imported: the MCP client alone takes 0.7 s
            module = import_module(f"dcc_bridge.cli.{name}")
            module.fill(command)
            command.set_defaults(run=module.run)
    return parser


def _prepare_output() -> None:
    """Write what a terminal's encoding lacks as escapes, and no complaints of others' libraries.

    The SDK's client and uvicorn log what is told here in a sentence, or is no news at all.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("mcp.client", "mcp.shared", "uvicorn"):
        logging.getLogger(name).addHandler(logging.NullHandler())


def _unread() -> int:
    """Who reads us has enough; Python must not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.TOOL_ERROR


def _sorry(error: Exception, code: int) -> int:
    print(f"dcc-bridge: {error}", file=sys.stderr)
    return code
