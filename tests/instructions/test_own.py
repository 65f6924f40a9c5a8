"""Our own instructions are true: what they name is there, and each of their examples runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from mcp_types import ElicitRequestParams, ElicitResult, Tool

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


@contextmanager
def freecad_window(folder: Path) -> Iterator[Application]:
    """Start FreeCAD in a window, where it has every tool."""
    if missing():
        pytest.skip(f"not installed: {missing()}")
    with screen() as shown, WINDOWS["FreeCAD"][1](shown, folder) as application:
        yield application


HOSTS: Final[dict[str, tuple[str, Start]]] = {
    "usd": ("USD", STAND_INS["USD"][1]),
    "maya": ("Maya", STAND_INS["Maya"][1]),
    "houdini": ("Houdini", STAND_INS["Houdini"][1]),
    "blender": ("Blender 4.5", APPLICATIONS["bpy 4.5.15"][1]),
    "freecad": ("FreeCAD", freecad_window),
}


def pages() -> Iterator[Any]:
    """Yield each of our instructions with its host."""
    for leaf in HOSTS:
        folder = ROOT / "plugins" / leaf / f"dcc_bridge_{leaf}" / "instructions"
        marks = [pytest.mark.real] if leaf in ("blender", "freecad") else []
        for file in sorted(folder.glob("*/SKILL.md")):
            yield pytest.param(leaf, file, id=f"{leaf}-{file.parent.name}", marks=marks)


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


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("leaf", "file"), [*pages()])
def test_what_it_names_is_there_and_each_example_runs(
    leaf: str, file: Path, tmp_path: Path
) -> None:
    page = file.read_text("utf-8")
    uri = f"skill://{file.parent.name}/SKILL.md"

    async def agent() -> None:
        async with running.client(asked=agree) as client:
            (entry,) = [it for it in await listed(client) if it["uri"] == uri]
            assert (await verified(client, entry))[uri] == page
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            check_names(page, tools)
            for name, example in examples(page):
                arguments = json.loads(example)
                check_arguments(tools[name], arguments, tools)
                if name == "export_file":  # relative to a scene that has no folder here
                    arguments["path"] = str(tmp_path / arguments["path"])
                result = await client.call_tool(name, arguments)
                assert not result.is_error, f"{example} said: {text(result)}"

    with HOSTS[leaf][1](tmp_path) as running:
        running.run(agent, limit=240.0)


@pytest.mark.parametrize(("leaf", "file"), [pytest.param(*it.values, id=it.id) for it in pages()])
def test_it_is_short_and_says_when_to_read_it(leaf: str, file: Path) -> None:
    page = file.read_text("utf-8")

    assert "Read it " in page.partition("\n---\n")[0]
    assert len(page.splitlines()) <= MOST_LINES
    body = page.split("\n---\n", 1)[1]
    assert all(len(line) <= 100 for line in _EXAMPLE.sub("", body).splitlines())
