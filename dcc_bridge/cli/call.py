"""``dcc-bridge call``, ``try``, ``tools``, ``undo``: use a running host as an MCP client does."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any, Final, TypeVar, get_args

import anyio

from dcc_bridge.cli import exits, hosts
from dcc_bridge.cli.account import for_person
from dcc_bridge.cli.hosts import fill_host
from dcc_bridge.client import Person, Script, terminal
from dcc_bridge.client.agent import Result, Tool, parse_text
from dcc_bridge.client.connection import Era
from dcc_bridge.client.tasks import ASKING
from dcc_bridge.elicitation.text import safe_line, safe_whole
from dcc_bridge.elicitation.types import Action

ASK: Final = "ask"
ACTIONS: Final = get_args(Action)
T = TypeVar("T")
Answer = Any
"""The value of ``--answer``: `ASK`, one of `ACTIONS`, or the values of a form's fields."""
_TRIED: Final = "tried"
_CODES: Final = {  # by the status of a call
    "refused": exits.REFUSED,
    "no_consent": exits.REFUSED,
    "cancelled": exits.REFUSED,
    "not_started": exits.USAGE,
    ASKING: exits.ASKING,
    _TRIED: exits.SUCCESS,
}
_ANSWER = """\
ask (default) shows the question in this terminal; without a terminal, nobody can be
asked. accept agrees and takes the defaults; decline says no; cancel closes the
question; a JSON object is the answer itself"""
UNKNOWN_TOOL: Final = "There is no tool named "
"""The beginning of a host's error for a tool that it does not have."""
_NOBODY_ASKED: Final = "Nobody could be asked"  # how an error begins; see `types.outcome`
_HOW_TO_ANSWER: Final = (
    "There is no terminal here to show the question in. If the decision is yours, run the command "
    "in a terminal, or give the answer with it: {}"
)
_ANSWER_OPTION: Final = "--answer accept"


def parse_answer(text: str) -> Answer:
    """Read ``--answer``, for argparse."""
    words = (ASK, *ACTIONS)
    if text in words:
        return text
    fields = parse_text(text)
    if not isinstance(fields, dict):
        raise argparse.ArgumentTypeError(f"{', '.join(words)} or a JSON object, not {text!r}")
    for name, value in fields.items():
        if not all(isinstance(part, str | int | float) for part in _parts(value)):
            raise argparse.ArgumentTypeError(f"{name}: no field of a form can be {_json(value)}")
    return fields


def run(fn: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run a coroutine function in a new event loop. On the main thread, Ctrl+C ends it."""

    async def main() -> T:
        if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
            # With a handler for one signal, every signal wakes the loop. Else a Ctrl+C just before
            # the loop begins to wait would not.
            asyncio.get_running_loop().add_signal_handler(signal.SIGURG, lambda: None)
        return await fn(*args)

    return anyio.run(main)


def answering(
    answer: Answer, who: str, misfit: Callable[[str], None] = exits.tell
) -> AbstractContextManager[Person | None]:
    """Return a context manager whose value is the person who answers, or None.

    Args:
        answer: The value of ``--answer``, from `parse_answer`.
        who: The asking application, in a few words.
        misfit: Receives the reason if `answer` does not fit a question.
    """
    if answer != ASK:
        return nullcontext(Script(answer, misfit, exits.tell))
    return terminal.open_terminal(sys.stdin, sys.stderr, who)


def show_result(result: Result, *, as_json: bool) -> int:
    """Print a result, or an error to stderr, and return the exit code of the call."""
    if result.is_error:
        error = "\n".join(result.texts)
        if sys.stderr.isatty():
            error = for_person(error)
        print(safe_whole(error), file=sys.stderr)
        if error.startswith(UNKNOWN_TOOL):
            exits.tell("`dcc-bridge tools` lists the tools.")
    elif as_json:
        print(json.dumps(result.data))
    else:
        print(_prose(result))
    return exit_code(result)


def exit_code(result: Result) -> int:
    """Return the exit code for the status of a call."""
    if result.status in _CODES:
        return _CODES[result.status]
    if result.is_error:
        return exits.FAILED
    return exits.SUCCESS


def _prose(result: Result) -> str:
    """Return data in two aligned columns, and below them the texts that do not repeat the data."""
    # The protocol wraps a value that is no object as "result". The texts contain the whole value.
    if not isinstance(result.structured, dict) or list(result.structured) == ["result"]:
        return safe_whole("\n".join(result.texts))
    width = _width(result.structured)
    rows = []
    for name, value in result.structured.items():
        rows.append(f"{safe_line(name):{width}}  {_cell(value, width + 2)}")
    for text in result.words:
        rows.append(safe_whole(text))
    return "\n".join(rows)


def _width(names: Iterable[str]) -> int:
    """Return the width of a column of names."""
    return max((len(safe_line(name)) for name in names), default=0)


def _cell(value: Any, indent: int) -> str:
    """Return a value as lines, all but the first indented."""
    lines: list[str] = []
    for part in _parts(value) or [value]:
        text = part
        if not isinstance(part, str):
            text = _json(part)
        lines += text.removesuffix("\n").split("\n")
    return ("\n" + " " * indent).join(safe_line(line, len(line)) for line in lines)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def fill_call(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``call`` to a parser."""
    fill_host(parser)
    name = "the tool's name, as `dcc-bridge tools` lists it"
    parser.add_argument("tool", metavar="TOOL", help=name)
    fill_arguments(parser)
    resume = "continue a longer call: TOOL is the ID that its command printed"
    parser.add_argument("--resume", action="store_true", help=resume)
    era = "revision of the protocol: auto is the newest, legacy is 2025-11-25"
    parser.add_argument("--era", choices=("auto", "legacy"), default="auto", help=era)
    parser.add_argument("--answer", type=parse_answer, default=ASK, metavar="ANSWER", help=_ANSWER)
    as_json = "print only the result, as JSON; errors still go to stderr"
    parser.add_argument("--json", action="store_true", help=as_json)


def run_call(options: argparse.Namespace) -> int:
    """Call the tool and print the result."""
    _check_tool(options, "call")
    name = options.tool
    if options.resume:
        if options.args or options.era == "legacy":
            raise exits.Failure("--resume cannot be used with --args or --era legacy.")
        if "." not in options.tool:
            raise exits.Failure(f"{options.tool!r} is no ID of a call.")
        options.url = options.url or hosts.of_task(options.tool)
        name = "a call that continues"
    host = hosts.find(options)
    misfits: list[str] = []
    with answering(options.answer, f"{host.host}, for {name},", misfits.append) as person:
        result = run(_call, host, person, options.tool, options.args, options.era, options.resume)
    if not misfits:
        code = show_result(result, as_json=options.json)
        if person is None:
            _tell_how_to_answer(result, _ANSWER_OPTION)
        return code
    if exit_code(result) == exits.SUCCESS:  # else the result would only say that a person refused
        show_result(result, as_json=options.json)
    raise exits.Failure(misfits[0])


def _check_tool(options: argparse.Namespace, command: str) -> None:
    """Check that the tool's name is not its arguments, written without ``--args``.

    Raises:
        exits.Failure: It is.
    """
    if options.tool.startswith(("{", "[")):
        name = options.url or "TOOL"
        words = f"dcc-bridge {command} {name} --args {shlex.quote(options.tool)}"
        raise exits.Failure(f"The arguments come after --args: {words}")


def _tell_how_to_answer(result: Result, words: str) -> None:
    """Print how a person can answer, if a question of the call could not be shown.

    Args:
        result: The result of a call for which nobody could be asked here.
        words: The option, or the command, that answers the question.
    """
    was_not_asked = any(text.startswith(_NOBODY_ASKED) for text in result.texts)
    if was_not_asked or result.status == ASKING:
        exits.tell(_HOW_TO_ANSWER.format(words))


def fill_try(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``try`` to a parser."""
    fill_host(parser)
    name = "the skill's name, as `dcc-bridge tools` lists it"
    parser.add_argument("tool", metavar="SKILL", help=name)
    fill_arguments(parser)


def run_try(options: argparse.Namespace) -> int:
    """Try a skill in the scene that is open, and print what it would change."""
    _check_tool(options, "try")
    result = run(_try, hosts.find(options), options.tool, options.args)
    if result.status != _TRIED:
        return show_result(result, as_json=False)
    print(safe_whole("\n".join(result.texts)))
    return exits.SUCCESS


async def _try(host: hosts.Target, tool: str, arguments: dict[str, Any]) -> Result:
    async with host.connect() as client:
        return await client.call(tool, arguments, dry_run=True)


async def _call(
    host: hosts.Target,
    person: Person | None,
    tool: str,
    arguments: dict[str, Any],
    era: Era,
    resume: bool = False,
) -> Result:
    """Call a tool; with `resume`, continue the call whose task has the id `tool`."""
    last = ""

    async def show_progress(progress: float, total: float | None, message: str | None) -> None:
        """Print each new notice: at a terminal all, else only that the call waits for an answer."""
        nonlocal last
        percentage = ""
        if total:
            percentage = f"{progress / total:4.0%}  "
        text = f"  {percentage}{safe_line(message or '')}".rstrip()
        is_held_up = text.startswith("  Waiting for the answer")
        if text and text != last and (is_held_up or sys.stderr.isatty()):
            last = text
            print(text, file=sys.stderr, flush=True)

    def print_task(task: str) -> None:
        """Print how to fetch the result of a call that has become a task."""
        how = f"fetch the result with: dcc-bridge call --resume {task}"
        exits.tell(f"If this command ends first, {how}")

    async with host.connect(era=era, person=person) as client:
        client.tasks.on_task = print_task
        if resume:
            return await client.resume(tool, show_progress)
        return await client.call(tool, arguments, show_progress)


def fill_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--args`` to a parser."""
    shape = """a JSON object, such as '{"name": "Box"}'"""
    parser.add_argument("--args", type=_arguments, default={}, metavar="JSON", help=shape)


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not JSON ({error}): {text}") from None
    if not isinstance(arguments, dict):
        raise argparse.ArgumentTypeError(f"an object such as '{{\"name\": 1}}', not {text}")
    return arguments


async def _list_tools(host: hosts.Target) -> list[Tool]:
    async with host.connect() as client:
        return await client.tools()


def fill_tools(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``tools`` to a parser."""
    fill_host(parser)
    parser.add_argument("--json", action="store_true", help="print only a JSON list")


def run_tools(options: argparse.Namespace) -> int:
    """Print the tools."""
    tools = run(_list_tools, hosts.find(options))
    if options.json:
        print(json.dumps([asdict(tool) for tool in tools], indent=2))
        return exits.SUCCESS
    name_width = _width(tool.name for tool in tools)
    risk_width = _width(tool.risk for tool in tools)
    for tool in tools:
        name = safe_line(tool.name)
        summary = safe_line(tool.description.strip().partition("\n")[0])
        print(f"{name:{name_width}}  {tool.risk:{risk_width}}  {summary}".rstrip())
        for argument in tool.arguments:
            print(f"    {safe_line(argument)}")
    return exits.SUCCESS


def fill_undo(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``undo`` to a parser."""
    fill_host(parser)
    which = "the call, by its ID or the beginning of its ID"
    parser.add_argument("--call", metavar="ID", default="", help=which)


def run_undo(options: argparse.Namespace) -> int:
    """Undo the last action of an agent, unless the scene was changed after it."""
    host = hosts.find(options)
    arguments = {}
    if options.call:
        arguments["call_id"] = options.call
    with answering(ASK, f"{host.host}, to undo,") as person:
        result = run(_call, host, person, "undo_last", arguments, "auto")
    code = show_result(result, as_json=False)
    if person is None:
        _tell_how_to_answer(result, f"dcc-bridge call undo_last {_ANSWER_OPTION}")
    return code
