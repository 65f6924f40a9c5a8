"""``dcc-bridge run``: one skill in a host's own batch interpreter. Main thread.

The interpreter is started with the server, the skill is called once by a client that can ask
nobody, and the interpreter ends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import anyio

from dcc_bridge.audit import reader
from dcc_bridge.cli import audit, exits, hosts, interpreter
from dcc_bridge.cli.call import exit_code, fill_arguments, status_of, value_of
from dcc_bridge.errors import Unreachable
from dcc_bridge.server import discovery

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Result

LABEL: Final = "run"  # under which the record knows who called
_TAIL: Final = 2000
_BUILTIN: Final = ("check_connection", "recent_calls", "undo_last")
_ALLOW: Final = " --unattended allow:FILE names the skills that may go on without being asked."
_UNSAVED: Final = (
    "This command saved nothing, so the change is gone unless the skill saved it itself. "
    "--save-as FILE saves the scene."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("skill", metavar="SKILL", help="the skill's name")
    interpreter.fill(parser)
    parser.add_argument("--scene", type=Path, metavar="FILE", help="the scene to open first")
    fill_arguments(parser)
    parser.add_argument(
        "--save-as",
        type=Path,
        metavar="FILE",
        help="where to save the scene if the skill succeeds; a copy of what is there is kept",
    )
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds (600)")


def run(options: argparse.Namespace) -> int:
    """Run it, and print what it returned; who was asked and answered goes to the other stream.

    Raises:
        Failure: It could not be started, or did not end.
    """
    with (
        tempfile.TemporaryFile() as output,
        interpreter.started(options, output, port=0) as started,
    ):
        try:
            return _call(started, options, output)
        except TimeoutError:
            raise exits.Failure(
                f"It took more than {options.timeout:g} s and was stopped.", exits.TOOL_ERROR
            ) from None


def _call(started: interpreter.Interpreter, options: argparse.Namespace, output: IO[bytes]) -> int:
    deadline = time.monotonic() + options.timeout
    ready = started.wait_until_ready(options.timeout)
    if ready is None:
        started.end()
        raise _failure(started, output)
    running = discovery.running(hosts.settings().runtime)
    instance = next((it for it in running if it.url == ready["url"]), None)
    if instance is None:
        raise _failure(started, output)
    host = hosts.Target(instance.url, instance.token(LABEL), options.host, options.timeout)
    try:
        result = anyio.run(_call_once, host, options.skill, options.args, deadline)
    except Unreachable:
        started.end()
        raise _failure(started, output) from None
    except exits.Failure:
        started.end()
        started.process.wait()
        raise
    started.end(save=status_of(result) == "done")
    try:
        started.process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    report = started.report()
    if "audit" not in report:
        raise _failure(started, output)
    return _show(result, report)


def _failure(started: interpreter.Interpreter, output: IO[bytes]) -> exits.Failure:
    """Say what kept it from a result: its own sentence, or what the host printed last."""
    code = started.process.wait()
    error = started.report().get("error")
    if error is not None:
        return exits.Failure(error, exits.USAGE)
    output.seek(0)
    text = output.read().decode(errors="replace")[-_TAIL:].strip()
    sentence = f"{started.program} ended with {code} and without a result. It said:\n{text}"
    return exits.Failure(sentence, exits.TOOL_ERROR)


async def _call_once(
    host: hosts.Target, skill: str, arguments: dict[str, Any], deadline: float
) -> Result:
    with anyio.fail_after(max(0.0, deadline - time.monotonic())):
        async with host.connect() as client:
            names = [tool.name for tool in await client.tools() if tool.name not in _BUILTIN]
            if skill not in names:
                raise exits.Failure(_unknown(skill, host.host, sorted(names)))
            return await client.call(skill, arguments)


def _unknown(skill: str, host: str, names: list[str]) -> str:
    matches = get_close_matches(skill, names, n=2, cutoff=0.6)
    meant = f" Did you mean {' or '.join(matches)}?" if matches else ""
    known = f" There are: {', '.join(names)}." if names else ""
    return f"There is no skill {skill!r} for {host}.{meant}{known}"


def _show(result: Result, report: dict[str, str]) -> int:
    """Print what came of it, with who could have answered and what did; give the exit code."""
    events = _events(report["audit"])
    account = "\n".join(audit.sentences(events)) if events else ""
    if events:
        exits.tell(account)
        exits.tell(f"The record of it: {report['audit']}")
    error = audit.for_person("\n".join(result.texts)) if result.is_error else ""
    code = exits.USAGE if status_of(result) == "not_started" else exit_code(result)
    if code == exits.REFUSED:
        advice = "" if any("url" in it for it in events) else _ALLOW  # no list can enter a secret
        exits.tell(f"It was refused, and nothing was changed.{advice}")
    elif error and error not in account:
        exits.tell(error)
    if "error" in report:
        exits.tell(report["error"])
        return exits.TOOL_ERROR
    if code == exits.SUCCESS:
        print(json.dumps(value_of(result), indent=2))
    if "saved" in report:
        exits.tell(f"The scene was written to {report['saved']}.")
    elif code == exits.SUCCESS and any(it.get("changed") for it in events):
        exits.tell(_UNSAVED)
    return code


def _events(record: str | None) -> list[Mapping[str, Any]]:
    """Read the call from the record, but for its undo steps: they ended with the interpreter."""
    lines = reader.AuditFile(Path(record)).lines() if record is not None else ()
    return [{**fields, "undo": []} for call in audit.calls(lines) for fields in call]
