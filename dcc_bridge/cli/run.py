"""``dcc-bridge run``: one skill in a host's own batch interpreter. Main thread.

The interpreter is started with the server, the skill is called once by a client that can ask
nobody, and the interpreter ends.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import anyio

from dcc_bridge.audit import reader
from dcc_bridge.cli import audit, exits, hosts, interpreter
from dcc_bridge.cli.call import exit_code, fill_arguments
from dcc_bridge.code.agreed import MOST_SECONDS
from dcc_bridge.code.code_text import read_code
from dcc_bridge.elicitation import types
from dcc_bridge.errors import BadArguments, Unreachable
from dcc_bridge.server import discovery

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Result

LABEL: Final = "run"  # under which the record knows who called
_TAIL: Final = 2000
_BUILTIN: Final = ("check_connection", "recent_calls", "undo_last")
_ALLOW: Final = " --unattended allow:FILE names the skills that may go on without being asked."
_UNSAVED: Final = (
    "This command saved nothing, so the change is gone unless the {} saved it itself. "
    "--save-as FILE saves the scene."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("skill", metavar="SKILL", nargs="?", help="the skill's name")
    parser.add_argument(
        "--python",
        type=Path,
        metavar="FILE",
        help="in place of a skill, a script of your own: it runs as code of an agent does, as one "
        "undo step that is taken back if it fails; --args takes writes, a list of files",
    )
    interpreter.fill(parser)
    parser.add_argument("--scene", type=Path, metavar="FILE", help="the scene to open first")
    fill_arguments(parser)
    target = "where to save the scene if the skill succeeds; a copy of what is there is kept"
    parser.add_argument("--save-as", type=Path, metavar="FILE", help=target)
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds (600)")


def run(options: argparse.Namespace) -> int:
    """Run it, and print what it returned; who was asked and answered goes to the other stream."""
    if (options.skill is None) == (options.python is None):
        raise exits.Failure("Name a skill or give your own script, --python: only one of them.")
    with (
        _own_script(options) if options.python else nullcontext(),
        tempfile.TemporaryFile() as output,
        interpreter.started(options, output, port=0) as started,
    ):
        try:
            return _call(started, options, output)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise exits.Failure(
                f"It took more than {options.timeout:g} s and was stopped.", exits.TOOL_ERROR
            ) from None


@contextmanager
def _own_script(options: argparse.Namespace) -> Iterator[None]:
    """Have a script called as an agent's code: who runs it agrees to its very text."""
    if options.unattended is not None:
        raise exits.Failure("--python goes without --unattended: you agree to your own script.")
    try:
        text = read_code(options.python.read_text(encoding="utf-8"), options.host)
    except (OSError, ValueError, BadArguments) as error:
        why = getattr(error, "strerror", None) or error
        raise exits.Failure(f"{options.python} cannot be run: {why}") from None
    for finding in text.findings:
        exits.tell(f"{options.python}, line {finding.line}: {finding.reason}")
    options.skill, seconds = "run_python", min(options.timeout, MOST_SECONDS)
    why = f"{options.python.name} is run at the command line."
    options.args = {"why": why, "timeout": seconds, **options.args, "code": text.text}
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "allowed"
        listed.write_text(f"sha256:{text.sha256}\n", encoding="utf-8")
        options.unattended = f"allow:{listed}"
        yield


def _call(started: interpreter.Interpreter, options: argparse.Namespace, output: IO[bytes]) -> int:
    deadline = time.monotonic() + options.timeout
    ready = started.wait_until_ready(options.timeout)
    running = discovery.running(hosts.settings().runtime)
    instance = next((it for it in running if ready and it.url == ready["url"]), None)
    if instance is None:
        started.end()
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
    started.end(save=result.status == "done")
    started.process.wait(max(0.0, deadline - time.monotonic()))
    report = started.report()
    if "audit" not in report:
        raise _failure(started, output)
    return _show(result, report, options.python)


def _failure(started: interpreter.Interpreter, output: IO[bytes]) -> exits.Failure:
    """Say what kept it from a result: its own sentence, or what the host printed last."""
    code = started.process.wait()
    if (error := started.report().get("error")) is not None:
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
            result = await client.call(skill, arguments)  # some can be called and are not listed
            none = f"There is no tool named {skill!r}"
            if skill not in names and any(text.startswith(none) for text in result.texts):
                raise exits.Failure(_unknown(skill, host.host, sorted(names)))
            return result


def _unknown(skill: str, host: str, names: list[str]) -> str:
    matches = get_close_matches(skill, names, n=2, cutoff=0.6)
    meant = f" Did you mean {' or '.join(matches)}?" if matches else ""
    known = f" There are: {', '.join(names)}." if names else ""
    return f"There is no skill {skill!r} for {host}.{meant}{known}"


def _show(result: Result, report: dict[str, str], script: Path | None) -> int:
    """Print what came of it, with who could have answered and what did; give the exit code."""
    events = _events(report["audit"])
    account = _account(events, is_script=script is not None)
    if events:
        exits.tell(account)
        exits.tell(f"The record of it: {report['audit']}")
    code = exits.USAGE if result.status == "not_started" else exit_code(result)
    advice = "" if any("url" in it for it in events) else _ALLOW  # no list can enter a secret
    refused = f"It was refused, and nothing was changed.{advice}" * (code == exits.REFUSED)
    if sentence := _failure_of(result, account, refused, script):
        exits.tell(sentence)
    if "error" in report:
        exits.tell(report["error"])
        return exits.TOOL_ERROR
    if code == exits.SUCCESS:
        print(json.dumps(result.value, indent=2))
    if "saved" in report:
        exits.tell(f"The scene was written to {report['saved']}.")
    elif code == exits.SUCCESS and any(it.get("changed") for it in events):
        exits.tell(_UNSAVED.format("script" if script else "skill"))
    return code


def _account(events: list[Mapping[str, Any]], *, is_script: bool) -> str:
    text = "\n".join(audit.sentences(events)) if events else ""
    unasked = re.escape(types.outcome(types.AGREED, "policy")) + r"(?: \([^)]*\))?"
    return re.sub(unasked, "agreed to by who ran this command", text) if is_script else text


def _failure_of(result: Result, account: str, refused: str, script: Path | None) -> str:
    """Say why a call failed, or was refused; "" where it did not, or it is told already."""
    error = audit.for_person("\n".join(result.texts)) if result.is_error else ""
    if error and script is not None:
        return f"{script}: " + "\n  ".join(error.splitlines())
    return refused or ("" if error in account else error)


def _events(record: str | None) -> list[Mapping[str, Any]]:
    """Read the call from the record, but for its undo steps: they ended with the interpreter."""
    lines = reader.AuditFile(Path(record)).lines() if record is not None else ()
    return [{**fields, "undo": []} for call in audit.calls(lines) for fields in call]
