"""MCP Apps: a client that draws pages is given one for its results; others see nothing of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp.client.extension import advertise
from mcp_types import CallToolResult

from dcc_bridge import skill
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.text import visible
from dcc_bridge.elicitation.types import AGREED, BEFORE_AFTER, DECLINED, PLACES, Answered
from dcc_bridge.known_clients import APPS, PAGE_TYPE
from dcc_bridge.server import chat_page, protocol
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.described import Legend, Told
from tests.live import ERAS, Live, Tap, live, text
from tests.tiers import every_era

ODD = "/World/\u202eA"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
DRAWS = [advertise(APPS, {"mimeTypes": ["text/plain", PAGE_TYPE]})]
DRAWS_NOT = {
    "nothing": [],
    "no_types": [advertise(APPS)],
    "other_types": [advertise(APPS, {"mimeTypes": ["text/html"]})],
    "no_list": [advertise(APPS, {"mimeTypes": PAGE_TYPE})],
}
PICTURES = ((PNG, "Now: 1 light, marked"), (PNG, "After"))


@skill(title="Look at the scene", risk="read")
def look() -> Told:
    """Look."""
    return [Legend("a legend", [(ODD, 0.1, 0.2, 0.3, 0.4)]), PNG]


@skill(risk="edit")
def transform() -> dict[str, int]:
    """Move."""
    return {"found": 1}


@skill(risk="read")
def count() -> int:
    """Count."""
    return 1


class Seen:
    """All that a client sees of the tools, the resources and two results."""

    def __init__(self, running: Live, era: str, extensions: Any) -> None:
        self.tap = Tap()
        client = {"era": era, "extensions": extensions, "tap": self.tap}

        async def agent() -> None:
            async with running.client(**client) as session:
                listed = await session.list_tools()
                self.tools = {tool.name: tool.model_dump() for tool in listed.tools}
                self.resources = [it.uri for it in (await session.list_resources()).resources]
                self.look = await session.call_tool("look", {})
                self.edit = await session.call_tool("transform", {})

        running.run(agent)

    def own_meta(self, result: CallToolResult) -> dict[str, Any]:
        """Return the bridge's part of a result's meta."""
        meta: dict[str, Any] = dict(result.meta or {})
        return {name: value for name, value in meta.items() if name.startswith("dcc-bridge/")}


@pytest.fixture
def running(tmp_path: Path) -> Any:
    with live(tmp_path, look, transform, count) as running:
        yield running


@every_era
@pytest.mark.parametrize("extensions", DRAWS_NOT.values(), ids=DRAWS_NOT.keys())
def test_a_client_that_draws_no_pages_sees_no_difference(
    running: Live, era: str, extensions: Any
) -> None:
    drawing = Seen(running, era, DRAWS)
    other = Seen(running, era, extensions)

    assert {**drawing.tools, **other.tools} == other.tools
    for name, tool in drawing.tools.items():
        assert {**tool, "meta": None} == other.tools[name]
    assert drawing.resources == other.resources
    assert (drawing.look.content, drawing.edit.content) == (other.look.content, other.edit.content)
    assert drawing.look.structured_content == other.look.structured_content
    assert list(other.own_meta(other.look)) == ["dcc-bridge/status"]
    assert list(other.own_meta(other.edit)) == ["dcc-bridge/status"]
    assert b"ui://" not in other.tap.heard
    assert b"visibility" not in other.tap.heard


@every_era
def test_a_tool_names_the_page_that_draws_its_results_and_only_look_is_for_the_page(
    running: Live, era: str
) -> None:
    tools = Seen(running, era, DRAWS).tools

    old = {"ui/resourceUri": chat_page.URI}  # some clients know this one alone
    assert tools["look"]["meta"] == {"ui": {"resourceUri": chat_page.URI}, **old}
    edits = {"resourceUri": chat_page.URI, "visibility": ["model"]}
    assert tools["transform"]["meta"] == {"ui": edits, **old}
    assert tools["count"]["meta"] == {"ui": {"visibility": ["model"]}}
    for_pages = [name for name, tool in tools.items() if "visibility" not in tool["meta"]["ui"]]
    assert for_pages == ["look"]


@pytest.mark.parametrize("era", ERAS[:2])
def test_a_handshake_declares_the_extension_to_a_client_that_draws_pages_alone(
    running: Live, era: str
) -> None:
    drawing = Seen(running, era, DRAWS)
    other = Seen(running, era, [])

    assert b'"extensions":{"io.modelcontextprotocol/ui":{}}' in drawing.tap.heard
    assert b"extensions" not in other.tap.heard


@every_era
def test_the_page_is_read_as_a_resource_that_may_load_nothing(running: Live, era: str) -> None:
    async def agent() -> Any:
        async with running.client(era=era, extensions=DRAWS) as session:
            return await session.read_resource(chat_page.URI)

    (content,) = running.run(agent).contents

    assert content.mime_type == PAGE_TYPE
    assert content.text.startswith("<!DOCTYPE html>")
    ui = content.meta["ui"]
    assert set(map(tuple, ui["csp"].values())) == {()}
    assert len(ui["csp"]) == 4
    assert ui["prefersBorder"] is True


@every_era
def test_a_result_tells_the_page_where_items_are_with_hidden_characters_shown(
    running: Live, era: str
) -> None:
    seen = Seen(running, era, DRAWS)

    assert seen.own_meta(seen.look)[PLACES] == [[[visible(ODD), 0.1, 0.2, 0.3, 0.4]]]
    assert text(seen.look).startswith("a legend")
    assert PLACES not in seen.own_meta(seen.edit)


def test_each_picture_has_the_places_of_its_own_legend() -> None:
    here = ("/a", 0.0, 0.0, 1.0, 1.0)
    value = [{"steps": []}, Legend("first", [here]), PNG, "no legend", PNG]

    meta = chat_page.facts(Outcome("done", value), Call("batch", "Batch"))

    assert meta[PLACES] == [[here], []]


def test_an_edit_that_was_agreed_to_shows_the_scene_before_and_after() -> None:
    call = Call("delete", "Delete")

    call.question_closed(Answered("Delete 1 light?", AGREED, "host", pictures=PICTURES))
    before, after = chat_page.facts(Outcome("done"), call)[BEFORE_AFTER]

    assert (before["shows"], after["shows"]) == ("Before: 1 light, marked", "After")
    assert (before["mimeType"], before["data"]) == ("image/png", "iVBORw0KGgoAAAAAAAAAAA==")


@pytest.mark.parametrize("how", [AGREED, DECLINED])
def test_nothing_is_shown_of_an_edit_that_was_not_done(how: str) -> None:
    call = Call("delete", "Delete")
    call.question_closed(Answered("Delete 1 light?", how, "host", pictures=PICTURES))
    status: Any = "failed" if how == AGREED else "done"

    assert chat_page.facts(Outcome(status), call) == {}


def test_no_question_reaches_the_page() -> None:
    call = Call("delete", "Delete")
    asked = Answered("Delete 1 light?", AGREED, "host", "as we said", pictures=PICTURES)
    call.question_closed(asked)

    meta = repr(chat_page.facts(Outcome("done"), call))

    assert asked.question not in meta
    assert asked.reason not in meta
    assert AGREED not in meta


def test_the_page_sends_three_requests_and_calls_no_tool_but_look() -> None:
    page = str(chat_page.content().content)

    requests = re.findall(r'ask\("([^"]+)"', page)
    assert sorted(requests) == ["tools/call", "ui/initialize", "ui/update-model-context"]
    assert page.count("ask(") == 1 + len(requests)  # the function itself
    assert re.findall(r'"tools/call", \{ name: ("\w+")', page) == ['"look"']
    assert page.count("postMessage(") == 1
    assert re.findall(r'method: "([^"]+)"', page) == [
        "ui/notifications/size-changed",
        "ui/notifications/initialized",
    ]


@pytest.mark.parametrize(
    "way_out",
    [
        *("fetch", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "import(", "@im"),
        *("innerHTML", "outerHTML", "insertAdjacent", "document.write", "DOMParser", "eval"),
        *("Function(", "setTimeout", "srcdoc", "http:", "https:", "//cdn", "url(", "<link", "<a "),
        *("<form", "<iframe", "location", "open(", "localStorage", "cookie", "ui/message"),
    ],
)
def test_the_page_has_no_way_to_load_or_to_run_anything(way_out: str) -> None:
    assert way_out not in str(chat_page.content().content)


def test_a_client_of_which_nothing_is_known_draws_no_pages() -> None:
    assert not protocol.draws_pages(None)
