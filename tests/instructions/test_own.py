"""Our own instructions are true: what they name is there, and each of their examples runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult, Tool

from tests.blender import window as blender_34
from tests.hosts.application import ROOT, Application
from tests.hosts.screen import missing, screen
from tests.instructions.shelf import listed, verified
from tests.live import Live, text
from tests.verbs.test_tasks import WINDOWS
from tests.verbs.words import APPLICATIONS, STAND_INS

Start = Callable[[Path], AbstractContextManager[Live | Application]]
_EXAMPLE: Final = re.compile(r"^```json (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n]+)`")
MOST_LINES: Final = 80
WRITING: Final = ("export_file", "render")


@contextmanager
def in_window(host: str, folder: Path) -> Iterator[Application]:
    """Start an application in a window, where it has every tool."""
    if missing():
        pytest.skip(f"not installed: {missing()}")
    _, start = WINDOWS[host]
    (home := folder / "home").mkdir()
    with screen(*blender_34.SIZE) as shown, start(shown, home) as application:
        yield application


HOSTS: Final[dict[str, tuple[str, Start]]] = {
    "USD": ("usd", STAND_INS["USD"][1]),
    "Maya": ("maya", STAND_INS["Maya"][1]),
    "Houdini": ("houdini", STAND_INS["Houdini"][1]),
    "Blender 5.3": ("blender", APPLICATIONS["bpy 5.3.0"][1]),
    "Blender 3.4": ("blender", partial(in_window, "Blender 3.4")),
    "FreeCAD": ("freecad", partial(in_window, "FreeCAD")),
}
"""Each host, of Blender the oldest and the newest, with its leaf and how it is started."""


def files(leaf: str) -> list[Path]:
    """Return our instructions for a leaf."""
    folder = ROOT / "plugins" / leaf / f"dcc_bridge_{leaf}" / "instructions"
    return sorted(folder.glob("*/SKILL.md"))


def examples(page: str) -> list[tuple[str, str]]:
    """Return the tool and the arguments of each example of a page."""
    return [(match[1], match[2]) for match in _EXAMPLE.finditer(page)]


def argument_names(schema: Any) -> set[str]:
    """Return the names of all properties in a schema."""
    if isinstance(schema, list):
        return set().union(*map(argument_names, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own.union(*(argument_names(part) for part in schema.values()))


def check_names(page: str, tools: dict[str, Tool]) -> None:
    """Check that what a page names is a tool, an argument, or stands in one of its examples."""
    known = set(tools).union(*(argument_names(tool.input_schema) for tool in tools.values()))
    told = "\n".join(arguments for _, arguments in examples(page))
    named = set(_CODE.findall(_EXAMPLE.sub("", page)))
    assert {name for name in named - known if name not in told} == set()


def check_arguments(tool: Tool, arguments: dict[str, Any], tools: dict[str, Tool]) -> None:
    """Check the arguments of a call against the schema, those of a batch's steps too."""
    jsonschema.validate(arguments, tool.input_schema)
    if tool.name == "batch":
        for step in arguments["steps"]:
            jsonschema.validate(step.get("with", {}), tools[step["do"]].input_schema)
        for part in ("look", "check"):
            if part in arguments:
                jsonschema.validate(arguments[part], tools[part].input_schema)


async def agree(params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="accept", content={"confirm": True})


async def check_page(client: Client, page: str, folder: Path) -> None:
    """Check what a page names, run its examples, and undo them."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    check_names(page, tools)
    before = await top_undo_step(client)
    for name, example in examples(page):
        arguments = json.loads(example)
        check_arguments(tools[name], arguments, tools)
        if name in WRITING and "path" in arguments:  # relative to a scene that has no folder here
            arguments["path"] = str(folder / arguments["path"])
        result = await client.call_tool(name, arguments)
        assert not result.is_error, f"{name} {example} said: {text(result)}"
    while await top_undo_step(client) != before:
        undone = await client.call_tool("undo_last", {})
        assert not undone.is_error, text(undone)


async def top_undo_step(client: Client) -> str | None:
    """Return the name of the newest step that can be undone."""
    told: Any = (await client.call_tool("summary", {})).structured_content
    step: str | None = told["undo"]
    return step


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "host",
    [pytest.param(it, marks=[] if it in STAND_INS else [pytest.mark.real]) for it in HOSTS],
)
def test_what_each_names_is_there_and_each_example_runs(host: str, tmp_path: Path) -> None:
    leaf, start = HOSTS[host]

    async def agent() -> list[str]:
        async with running.client(asked=agree) as client:
            texts: dict[str, str] = {}
            for entry in await listed(client):
                texts |= await verified(client, entry)
            for page in texts.values():
                await check_page(client, page, tmp_path)
            return list(texts.values())

    with start(tmp_path) as running:
        pages = running.run(agent, limit=800.0)

    assert pages == [file.read_text("utf-8") for file in files(leaf)]


@pytest.mark.parametrize("leaf", dict.fromkeys(leaf for leaf, _ in HOSTS.values()))
def test_each_is_short_and_says_when_to_read_it(leaf: str) -> None:
    for file in files(leaf):
        head, _, body = file.read_text("utf-8").partition("\n---\n")
        assert "Read it " in head
        assert len(body.splitlines()) <= MOST_LINES
        assert all(len(line) <= 100 for line in _EXAMPLE.sub("", body).splitlines())
