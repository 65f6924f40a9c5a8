"""``dcc-bridge run``: runs one skill in a host's own batch interpreter. Main thread.

The command starts the interpreter with the server, calls the skill once, as a client that can ask
nobody, and ends the interpreter.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import anyio

from dcc_bridge.audit import reader
from dcc_bridge.cli import account, audit, exits, hosts, interpreter, leaves
from dcc_bridge.cli.call import UNKNOWN_TOOL, exit_code, fill_arguments
from dcc_bridge.code.agreed import MAX_TIMEOUT_S
from dcc_bridge.code.code_text import read_code
from dcc_bridge.elicitation import types
from dcc_bridge.errors import BadArguments, Unreachable
from dcc_bridge.server import discovery

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Result

LABEL: Final = "run"
"""The name of this command's client in the record."""
_MAX_OUTPUT_CHARS: Final = 2000  # from the end of the host's output, in an error
_BUILTIN: Final = ("check_connection", "recent_calls", "undo_last")
_ALLOW: Final = " With --unattended allow:FILE, the skills listed in FILE run without a question."
_UNSAVED: Final = (
    "This command saved nothing. The change is lost unless the {} saved it. "
    "Use --save-as FILE to save the scene."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("skill", metavar="SKILL", nargs="?", help="the skill's name")
    parser.add_argument(
        "--python",
        type=Path,
        metavar="FILE",
        help="run your own script instead of a skill; like code of an agent, it is one undo step "
        "that is undone if it fails; --args takes writes, a list of files",
    )
    interpreter.fill(parser)
    parser.add_argument("--scene", type=Path, metavar="FILE", help="the scene to open first")
    fill_arguments(parser)
    target = "where to save the scene if the skill succeeds; a copy of what is there is kept"
    parser.add_argument("--save-as", type=Path, metavar="FILE", help=target)
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds (600)")


def run(options: argparse.Namespace) -> int:
    """Run the skill or script, and print its value; print the events of the call to stderr."""
    if (options.skill is None) == (options.python is None):
        raise exits.Failure("Give a skill or a script with --python, not both.")
    if options.save_as:
        _check_place(options.save_as, options.host)
    with ExitStack() as stack:
        if options.python:
            stack.enter_context(_own_script(options))
        output = stack.enter_context(tempfile.TemporaryFile())
        started = stack.enter_context(interpreter.started(options, output, port=0))
        try:
            return _call(started, options, output)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise exits.Failure(
                f"It took more than {options.timeout:g} s and was stopped.", exits.FAILED
            ) from None


def _check_place(target: Path, host: str) -> None:
    """Raise a Failure unless a host's scene can be written to a file."""
    if target.is_dir():
        raise exits.Failure(f"--save-as takes a file, and {target} is a folder.")
    if not target.absolute().parent.is_dir():
        raise exits.Failure(f"There is no folder {target.parent} for --save-as: make it first.")
    program = leaves.program(host)
    suffixes = [suffix.lower() for suffix in program.suffixes]
    if suffixes and target.suffix.lower() not in suffixes:
        raise exits.Failure(
            f"{target} is no scene of {program.title} for --save-as: it ends in "
            f"{' or '.join(program.suffixes)}."
        )


@contextmanager
def _own_script(options: argparse.Namespace) -> Iterator[None]:
    """Change the options so that a script is called as an agent's code.

    The person who runs the command agrees to the text of the script, by its SHA-256.
    """
    if options.unattended is not None:
        raise exits.Failure(
            "--python cannot be used with --unattended: you approve your own script by running it."
        )
    try:
        script = options.python.read_text(encoding="utf-8")
        text = read_code(script, leaves.plain_names(options.host))
    except (OSError, ValueError, BadArguments) as error:
        why = getattr(error, "strerror", None) or error
        raise exits.Failure(f"{options.python} cannot be run: {why}") from None
    for finding in text.findings:
        exits.tell(f"{options.python}, line {finding.line}: {finding.reason}")
    options.skill = "run_python"
    options.args = {
        "why": f"{options.python.name} is run from the command line.",
        "timeout": min(options.timeout, MAX_TIMEOUT_S),
        **options.args,
        "code": text.text,
    }
    with tempfile.TemporaryDirectory() as folder:
        allow_list = Path(folder) / "allowed"
        allow_list.write_text(f"sha256:{text.sha256}\n", encoding="utf-8")
        options.unattended = f"allow:{allow_list}"
        yield


def _call(started: interpreter.Interpreter, options: argparse.Namespace, output: IO[bytes]) -> int:
    deadline = time.monotonic() + options.timeout
    ready = started.wait_until_ready(options.timeout)
    instance = None
    if ready is not None:
        instance = _instance_at(ready["url"])
    if instance is None:
        started.end()
        raise _failure(started, output, was_ready=ready is not None)
    host = hosts.Target(instance.url, instance.token(LABEL), options.host, options.timeout)
    try:
        result = anyio.run(_call_once, host, options.skill, options.args, deadline)
    except Unreachable:
        started.end()
        raise _failure(started, output, was_ready=True) from None
    except exits.Failure:
        started.end()
        started.process.wait()
        raise
    started.end(save=result.status == "done")
    started.process.wait(max(0.0, deadline - time.monotonic()))
    report = started.report()
    if "audit" not in report:
        raise _failure(started, output, was_ready=True)
    return _show(result, report, options.python)


def _instance_at(url: str) -> discovery.Instance | None:
    """Return the running host with a URL, if there is one."""
    for instance in discovery.running(hosts.settings().runtime):
        if instance.url == url:
            return instance
    return None


def _failure(
    started: interpreter.Interpreter, output: IO[bytes], *, was_ready: bool
) -> exits.Failure:
    """Return the reason for a missing result: the host's report, or its last output."""
    code = started.process.wait()
    reported = started.reported_failure(was_ready=was_ready)
    if reported is not None:
        return reported
    output.seek(0)
    text = output.read().decode(errors="replace")[-_MAX_OUTPUT_CHARS:].strip()
    sentence = f"{started.program} ended with {code} and without a result. Its output:\n{text}"
    return exits.Failure(sentence, exits.UNREACHABLE)


async def _call_once(
    host: hosts.Target, skill: str, arguments: dict[str, Any], deadline: float
) -> Result:
    with anyio.fail_after(max(0.0, deadline - time.monotonic())):
        async with host.connect() as client:
            names = [tool.name for tool in await client.tools() if tool.name not in _BUILTIN]
            # Called first, because some tools can be called although they are not listed.
            result = await client.call(skill, arguments)
            is_missing = any(text.startswith(UNKNOWN_TOOL) for text in result.texts)
            if skill not in names and is_missing:
                raise exits.Failure(_unknown(skill, host.host, sorted(names)))
            return result


def _unknown(skill: str, host: str, names: list[str]) -> str:
    text = f"There is no skill {skill!r} for {host}."
    matches = get_close_matches(skill, names, n=2, cutoff=0.6)
    if matches:
        text += f" Did you mean {' or '.join(matches)}?"
    if names:
        text += f" There are: {', '.join(names)}."
    return text


def _show(result: Result, report: dict[str, str], script: Path | None) -> int:
    """Print the result and the events of the call, and return the exit code."""
    events = _events(report["audit"])
    text = ""
    if events:
        text = _account(events, is_script=script is not None)
        exits.tell(text)
        exits.tell(f"Record: {report['audit']}")
    code = exit_code(result)
    refusal = ""
    if code == exits.REFUSED:
        refusal = _refusal(events)
    sentence = _failure_of(result, text, refusal, script)
    if sentence:
        exits.tell(sentence)
    if "error" in report:
        if report["error"] not in text:
            exits.tell(report["error"])
        return exits.FAILED
    if code == exits.SUCCESS:
        print(json.dumps(result.value, indent=2))
    is_changed = code == exits.SUCCESS and any(fields.get("changed") for fields in events)
    _tell_saved(report, is_changed=is_changed, is_script=script is not None)
    return code


def _tell_saved(report: dict[str, str], *, is_changed: bool, is_script: bool) -> None:
    """Print where the scene was saved, or that a change was not saved."""
    if "saved" in report:
        exits.tell(f"The scene was written to {report['saved']}.")
        return
    if not is_changed:
        return
    kind = "skill"
    if is_script:
        kind = "script"
    exits.tell(_UNSAVED.format(kind))


def _account(events: list[Mapping[str, Any]], *, is_script: bool) -> str:
    """Return the events of the call in sentences; for a script, the user of this command agreed."""
    text = "\n".join(account.sentences(events))
    if not is_script:
        return text
    by_policy = re.escape(types.outcome(types.AGREED, "policy")) + r"(?: \([^)]*\))?"
    return re.sub(by_policy, "approved by the user who ran this command", text)


def _refusal(events: list[Mapping[str, Any]]) -> str:
    advice = _ALLOW
    if any("url" in fields for fields in events):
        advice = ""  # the page was for a secret, which no list of skills can enter
    return f"The call was refused. Nothing was changed.{advice}"


def _failure_of(result: Result, text: str, refusal: str, script: Path | None) -> str:
    """Return why a call failed or was refused; "" if it did not, or `text` says this already."""
    error = ""
    if result.is_error:
        error = account.for_person("\n".join(result.texts))
    if error and script is not None:
        return f"{script}: " + "\n  ".join(error.splitlines())
    if refusal:
        return refusal
    if error in text:
        return ""
    return error


def _events(record: str | None) -> list[Mapping[str, Any]]:
    """Read the lines of the call from the record, without undo steps, which no longer exist."""
    if record is None:
        return []
    events: list[Mapping[str, Any]] = []
    for call in audit.calls(reader.AuditFile(Path(record)).lines()):
        for fields in call:
            events.append({**fields, "undo": []})
    return events
