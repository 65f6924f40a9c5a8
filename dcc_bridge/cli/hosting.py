"""``dcc-bridge serve``: runs a host with the server in it, until a signal. Main thread.

Our own application runs in this process, every other application in its own batch interpreter.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from dcc_bridge.cli import exits, hosts, interpreter, leaves, local_host
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.program import LocalProgram

if TYPE_CHECKING:
    from dcc_bridge.cli.local_host import Running

_ADVICE: Final = (
    "It has no window, so questions go to the client that calls. If the client cannot ask, "
    "--unattended decides. To connect an agent, use `dcc-bridge client add NAME`. To call it "
    "yourself, use `dcc-bridge tools` and `dcc-bridge call`. Ctrl+C stops it."
)


def fill_serve(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``serve`` to a parser."""
    own = leaves.local().name
    interpreter.fill(
        parser, f"every host except {own} runs without a window, in its batch interpreter"
    )
    local_host.fill(parser)
    port = "the server's port; default: any free one"
    parser.add_argument("--port", type=int, metavar="N", help=port)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM, or the window is closed.

    Raises:
        Failure: The host could not be started.
    """
    program = leaves.program(options.host)
    if not isinstance(program, LocalProgram):
        return _serve_elsewhere(options)
    if options.interpreter:
        raise exits.Failure(f"--interpreter needs a --host other than {program.name}.")
    rule, allow_list = interpreter.read_unattended(options.unattended)
    settings = hosts.settings(port=options.port, unattended=rule, allow_list=allow_list)
    skills = interpreter.skill_folders(options)
    opening = local_host.opening(program, options, settings, skills)
    local_host.run(program, opening, _announce)
    return exits.SUCCESS


def _announce(running: Running) -> None:
    where = "without a window"
    if running.host.has_ui:
        where = "in a window"
    print(f"Ready: {safe_line(running.host.scene())}, {where}, at {running.bridge.url}", flush=True)


def _serve_elsewhere(options: argparse.Namespace) -> int:
    """Serve in a host's own batch interpreter, and return the exit code.

    Raises:
        Failure: The host could not be started, ended by itself, or did not end well.
    """
    if options.window:
        raise exits.Failure(
            f"--window is only for our own application. For {options.host} with a window, use its "
            f"plug-in: dcc-bridge install {options.host}"
        )
    with (
        interpreter.started(options, sys.stderr, port=options.port) as started,
        exits.on_signal(started.stop),
    ):
        ready = started.wait_until_ready()
        if ready is not None:
            names = f"{safe_line(ready['host'])}, {safe_line(ready['scene'])}"
            print(f"Ready: {names}, without a window, at {ready['url']}", flush=True)
            exits.tell(_ADVICE)
        else:  # after a failure freecadcmd continues, and waits for typed commands
            started.end()
        code = started.process.wait()
        _check_end(started, code, was_ready=ready is not None)
        return exits.SUCCESS


def _check_end(started: interpreter.Interpreter, code: int, *, was_ready: bool) -> None:
    """Raise a Failure unless a host was stopped and has ended without an error."""
    was_stopped = started.was_stopped.is_set()
    reported = started.reported_failure(was_ready=was_ready)
    if reported is not None:
        raise reported
    if was_stopped and code == 0:
        return
    when = "by itself"
    failure_code = exits.UNREACHABLE
    if was_stopped:
        when = "when it was told to"
        failure_code = exits.FAILED
    sentence = f"{started.program} ended {when}, with {code}. Its output is above."
    raise exits.Failure(sentence, failure_code)
