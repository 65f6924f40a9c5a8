"""``dcc-bridge call``, ``tools`` and ``undo``: a running host, called by a real MCP client."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, TypeVar, get_args

import anyio

from dcc_bridge.cli import exits, hosts
from dcc_bridge.cli.audit import for_person
from dcc_bridge.cli.hosts import fill_host  # `COMMANDS` names it as one of this module
from dcc_bridge.client import Person, Script, terminal
from dcc_bridge.client.agent import Result, Tool, parse_text
from dcc_bridge.client.connection import Era
from dcc_bridge.client.tasks import ASKING
from dcc_bridge.elicitation.text import safe_line, safe_whole
from dcc_bridge.elicitation.types import Action

ASK: Final = "ask"
ACTIONS: Final = get_args(Action)
T = TypeVar("T")
Answer = Any  # `ASK`, one of `ACTIONS`, or a form's fields
_REFUSALS: Final = ("refused", "no_consent", "cancelled")
_CODES: Final = {**dict.fromkeys(_REFUSALS, exits.REFUSED), ASKING: exits.ASKING}
_ANSWER = """\
ask (default) shows the question in this terminal; without a terminal, nobody can be
asked. accept agrees and takes the defaults; decline says no; cancel closes the
question; a JSON object is the answer itself"""


def parse_answer(text: str) -> Answer:
    """Read ``--answer``, for argparse."""
    words = (ASK, *ACTIONS)
    if text in words:
        return text
    fields = parse_text(text)
    if not isinstance(fields, dict):
        raise argparse.ArgumentTypeError(f"{', '.join(words)} or a JSON object, not {text!r}")
    for name, value in fields.items():
        if not all(isinstance(it, str | int | float) for it in _parts(value)):
            raise argparse.ArgumentTypeError(f"{name}: no field of a form can be {_json(value)}")
    return fields


def run(fn: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run a coroutine function to its end; on the main thread, to Ctrl+C."""

    async def main() -> T:
        if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
            # with it any signal wakes the loop: else not a Ctrl+C that comes just before it waits
            asyncio.get_running_loop().add_signal_handler(signal.SIGURG, lambda: None)
        return await fn(*args)

    return anyio.run(main)


def answering(
    answer: Answer, who: str, misfit: Callable[[str], None] = exits.tell
) -> AbstractContextManager[Person | None]:
    """Give who answers `who`, None for nobody; `misfit` is told why an answer does not fit."""
    if answer != ASK:
        return nullcontext(Script(answer, misfit, exits.tell))
    return terminal.open_terminal(sys.stdin, sys.stderr, who)


def show_result(result: Result, *, as_json: bool) -> int:
    """Print a result, an error to stderr, and give the exit code that tells how it ended."""
    if result.is_error:
        error = "\n".join(result.texts)
        print(safe_whole(for_person(error) if sys.stderr.isatty() else error), file=sys.stderr)
    elif as_json:
        print(json.dumps(result.data))
    else:
        print(_prose(result))
    return exit_code(result)


def exit_code(result: Result) -> int:
    """Give the exit code that tells how a call ended."""
    return _CODES.get(result.status, exits.TOOL_ERROR if result.is_error else exits.SUCCESS)


def _prose(result: Result) -> str:
    """Lay data out in two aligned columns, and what is said beside it below."""
    # Under "result" is what the protocol wants to be an object; the words say it all.
    if not isinstance(result.structured, dict) or list(result.structured) == ["result"]:
        return safe_whole("\n".join(result.texts))
    width = max((len(safe_line(name)) for name in result.structured), default=0)
    fields = result.structured.items()
    rows = [f"{safe_line(name):{width}}  {_cell(value, width + 2)}" for name, value in fields]
    return "\n".join(rows + [safe_whole(text) for text in result.words])


def _cell(value: Any, indent: int) -> str:
    texts = [part if isinstance(part, str) else _json(part) for part in _parts(value) or [value]]
    parts = [line for text in texts for line in text.removesuffix("\n").split("\n")]
    return ("\n" + " " * indent).join(safe_line(part, len(part)) for part in parts)


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def fill_call(parser: argparse.ArgumentParser) -> None:
    """Add what ``call`` takes to a parser."""
    fill_host(parser)
    name = "the tool's name, as `dcc-bridge tools` lists it"
    parser.add_argument("tool", metavar="TOOL", help=name)
    fill_arguments(parser)
    resume = "TOOL is the ID that the command of a longer call printed: go on with that call"
    parser.add_argument("--resume", action="store_true", help=resume)
    era = "revision of the protocol: auto is the newest, legacy is 2025-11-25"
    parser.add_argument("--era", choices=("auto", "legacy"), default="auto", help=era)
    parser.add_argument("--answer", type=parse_answer, default=ASK, metavar="ANSWER", help=_ANSWER)
    as_json = "print the result as JSON and nothing else; errors still go to stderr"
    parser.add_argument("--json", action="store_true", help=as_json)


def run_call(options: argparse.Namespace) -> int:
    """Call the tool and show what came of it."""
    if options.resume:
        if options.args or options.era == "legacy":
            raise exits.Failure(
                "--resume takes no --args, and no --era legacy: no call goes on there."
            )
        if "." not in options.tool:
            raise exits.Failure(f"{options.tool!r} is no ID of a call.")
        options.url = options.url or hosts.of_task(options.tool)
    host = hosts.find(options)
    misfits: list[str] = []
    what = "a call that goes on" if options.resume else options.tool
    with answering(options.answer, f"{host.host}, for {what},", misfits.append) as person:
        result = run(_call, host, person, options.tool, options.args, options.era, options.resume)
    if not misfits:
        return show_result(result, as_json=options.json)
    if exit_code(result) == exits.SUCCESS:  # else it says that a person refused
        show_result(result, as_json=options.json)
    raise exits.Failure(misfits[0])


async def _call(
    host: hosts.Target,
    person: Person | None,
    tool: str,  # its name; where a call is resumed, the id of its task
    arguments: dict[str, Any],
    era: Era,
    resume: bool = False,
) -> Result:
    last = ""

    async def show(progress: float, total: float | None, message: str | None) -> None:
        """Say once for whose answer a call has to wait and, at a terminal, how far it is."""
        nonlocal last
        part = f"{progress / total:4.0%}  " if total else ""
        text = f"  {part}{safe_line(message or '')}".rstrip()
        is_held_up = text.startswith("  Waiting for the answer")
        if text and text != last and (is_held_up or sys.stderr.isatty()):
            last = text
            print(text, file=sys.stderr, flush=True)

    def say_task(task: str) -> None:
        how = f"fetch the result with: dcc-bridge call --resume {task}"
        exits.tell(f"If this command ends first, {how}")

    async with host.connect(era=era, person=person) as client:
        client.tasks.on_task = say_task
        if resume:
            return await client.resume(tool, show)
        return await client.call(tool, arguments, show)


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


def run_tools(options: argparse.Namespace) -> int:
    """List the tools."""
    tools = run(_list_tools, hosts.find(options))
    name = max((len(safe_line(tool.name)) for tool in tools), default=0)
    risk = max((len(tool.risk) for tool in tools), default=0)
    for tool in tools:
        first = tool.description.strip().partition("\n")[0]
        print(f"{safe_line(tool.name):{name}}  {tool.risk:{risk}}  {safe_line(first)}".rstrip())
        for argument in tool.arguments:
            print(f"    {safe_line(argument)}")
    return exits.SUCCESS


def fill_undo(parser: argparse.ArgumentParser) -> None:
    """Add what ``undo`` takes to a parser."""
    fill_host(parser)
    which = "that call, by its ID or the first part of it"
    parser.add_argument("--call", metavar="ID", default="", help=which)


def run_undo(options: argparse.Namespace) -> int:
    """Undo it, unless something else was changed since."""
    host = hosts.find(options)
    with answering(ASK, f"{host.host}, to undo,") as person:
        asked = {"call_id": options.call} if options.call else {}
        result = run(_call, host, person, "undo_last", asked, "auto")
    return show_result(result, as_json=False)
