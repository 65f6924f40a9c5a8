"""The scene as resources, read and watched by real clients in both eras."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import Completion, PromptReference
from pxr import Sdf

from dcc_bridge import confirm_sync, skill
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.server import resources
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import SCENE
from tests.live import ERAS, LIMIT, Live, live, text
from tests.server.skills import YES
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era

CAMERA = "/World/Cameras/sq010/sh0010_cam"


def read(running: Live, uri: str, era: str = ERAS[-1]) -> Any:
    async def agent() -> Any:
        async with running.client(era) as client:
            (content,) = (await client.read_resource(uri)).contents
            assert content.mime_type == "application/json"
            return json.loads(content.text)  # type: ignore[union-attr]  # it is JSON

    return running.run(agent)


def refused(running: Live, uri: str, era: str = ERAS[-1]) -> MCPError:
    async def agent() -> MCPError:
        async with running.client(era) as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            return caught.value

    return running.run(agent)


@every_era
def test_the_scene_is_read_as_it_is(era: str, tmp_path: Path) -> None:
    session = UsdSession(SCENE)
    session.select([CAMERA])

    with live(tmp_path, host=session) as running:
        summary = read(running, "scene://summary", era)
        selection = read(running, "scene://selection", era)
        prim = read(running, f"scene://prim{CAMERA}", era)
        same = read(running, f"scene://prim/{CAMERA}", era)

    assert (summary["scene"], summary["types"]["Camera"]) == ("shot_010_layout.usda", 127)
    assert summary["counted_all"]
    assert selection == {"selected": 1, "items": [{"item": CAMERA, "type": "Camera"}]}
    assert (prim["path"], prim["type"]) == (CAMERA, "Camera")
    assert "focalLength" in prim["attributes"]
    assert prim == same


@every_era
def test_they_are_listed_under_the_hosts_own_words(era: str, tmp_path: Path) -> None:
    async def agent() -> tuple[list[str], list[str]]:
        async with running.client(era) as client:
            listed = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            assert all(one.description and one.title for one in listed)
            assert all(one.description and one.title for one in templates)
            can = client.server_capabilities.resources  # a modern client asks for it by itself
            assert era == ERAS[-1] or (can is not None and can.subscribe)
            return [str(one.uri) for one in listed], [one.uri_template for one in templates]

    with live(tmp_path, host=UsdSession()) as running:
        assert running.run(agent) == (
            ["scene://summary", "scene://selection"],
            ["scene://prim/{+path}"],
        )


@every_era
@pytest.mark.parametrize("path", ["/World/none", "../../etc/passwd", "%00", "a b"])
def test_an_unknown_item_is_said_to_be_unknown_with_what_there_is(
    era: str, path: str, tmp_path: Path
) -> None:
    uri = f"scene://prim/{path}"

    with live(tmp_path, host=UsdSession(SCENE)) as running:
        error = refused(running, uri, era)

    assert error.error.code == -32602
    assert error.error.data == {"uri": uri}
    under = "There is no prim at '/World/none'. Under /World there is Looks, Set"
    assert path != "/World/none" or error.error.message.startswith(under)


@pytest.mark.parametrize("edits_first", [False, True])
def test_a_read_beside_a_waiting_edit(edits_first: bool, tmp_path: Path) -> None:
    """Served while it has not edited yet, and a clear word in the middle of an edit."""
    host, person = FakeHost(["cam1", "cam2"], has_ui=True), Person(YES, None)

    @skill(risk="destructive", confirms=True)
    def delete() -> str:
        confirm_sync("The first?", verb="Delete")
        if edits_first:
            host.items.pop()
        confirm_sync("The second?", verb="Delete")
        return "done"

    with live(tmp_path, delete, host=host, presenter=person) as running:
        call = running.start("delete")
        running.until(lambda: len(person.shown) == 2)
        if edits_first:
            told = refused(running, "scene://summary").error.message
            assert told.startswith("busy: Delete is in the middle of an edit")
        else:
            assert read(running, "scene://selection") == {"selected": 0, "items": []}
        person.settles[1](Reply("decline"))
        running.until(call.done)

    assert host.items == ["cam1", "cam2"]


URIS = ["scene://summary", f"scene://prim{CAMERA}"]


def edit(session: UsdSession) -> None:
    with session.undo_step("Edit"):
        session.stage.GetPrimAtPath(CAMERA).GetAttribute("focalLength").Set(77.0)


@contextmanager
def held(running: Live) -> Iterator[None]:
    """Let the worker stand still: what is done meanwhile is one change to it, however slow."""
    made = threading.Event()
    running.bridge._worker.soon(lambda: made.wait(LIMIT))
    try:
        yield
    finally:
        made.set()


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
@pytest.mark.parametrize("era", ERAS[:2])
def test_a_legacy_client_hears_of_what_it_subscribed_to(era: str, tmp_path: Path) -> None:
    """Of that and of nothing else, until it unsubscribes; many edits are one notice."""
    session = UsdSession(SCENE)
    heard: list[str] = []
    over: list[bool] = []

    async def agent() -> None:
        async with running.client(era, heard=lambda m: heard.append(str(m.params.uri))) as client:
            for uri in URIS:
                await client.subscribe_resource(uri)
            over.append(False)
            while len(heard) < 2:
                await anyio.sleep(0.01)
            for uri in URIS:
                await client.unsubscribe_resource(uri)
            over.append(True)
            while len(over) < 3:
                await anyio.sleep(0.01)

    with live(tmp_path, host=session) as running:
        done = running.go(agent)
        running.until(lambda: len(over) == 1)
        with held(running):
            for _ in range(20):
                edit(session)
        running.until(lambda: len(over) == 2)
        edit(session)
        read(running, "scene://summary")  # by now a notice would be on its way
        over.append(True)
        running.until(done.done)
        done.result()

    assert sorted(heard) == sorted(URIS)


def test_a_modern_client_hears_of_what_it_listens_for(tmp_path: Path) -> None:
    """An edit, a change of the selection, and an edit that nobody put in a step."""
    session = UsdSession(SCENE)
    heard: list[str] = []
    listening: list[bool] = []

    async def agent() -> None:
        async with running.client() as client, client.listen(resource_subscriptions=URIS) as news:
            listening.append(True)
            async for event in news:
                heard.append(event.uri)  # type: ignore[union-attr]  # no other was asked for
                if len(heard) == 6:
                    return

    with live(tmp_path, host=session) as running:
        done = running.go(agent)
        running.until(lambda: bool(listening))
        with held(running):
            edit(session)
        running.until(lambda: len(heard) == 2)
        with held(running):
            session.select([CAMERA])
        running.until(lambda: len(heard) == 4)
        session.stage.RemovePrim(CAMERA)
        running.until(done.done)
        done.result()

    assert sorted(set(heard)) == sorted(URIS)


def test_a_stop_ends_a_stream_of_news_in_the_protocols_own_way(tmp_path: Path) -> None:
    """The client's loop ends without an error."""
    listening: list[bool] = []

    async def agent() -> str:
        async with running.client() as client, client.listen(resource_subscriptions=URIS) as news:
            listening.append(True)
            async for _ in news:
                pass
            return "ended"

    running = Live(tmp_path, host=FakeHost(["cam1"]))
    done = running.go(agent)
    running.until(lambda: bool(listening))
    running.stop()

    running.until(done.done)
    assert done.result() == "ended"


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
def test_a_client_that_is_gone_costs_nothing(tmp_path: Path) -> None:
    """Neither era leaves a subscriber behind once its client has left and something changed."""
    host = FakeHost(["cam1"])
    scenes: list[resources.SceneResources] = []

    async def agent() -> None:
        async with running.client(ERAS[1]) as client:
            await client.subscribe_resource("scene://summary")
        async with running.client() as client, client.listen(resource_subscriptions=URIS):
            pass

    class Noted(resources.SceneResources):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            scenes.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dcc_bridge.server.resources.SceneResources", Noted)
        with live(tmp_path, host=host) as running:
            running.run(agent)

            def is_gone() -> bool:
                host.select(["cam1"])
                return not (scenes[0]._sessions or scenes[0]._listen.subscriptions)

            running.until(is_gone)


def extend(server: MCPServer[Any]) -> None:
    """What a plug-in adds by the SDK's own means."""

    @server.tool()
    def by_hand(n: int) -> int:
        """Double a number."""
        return 2 * n

    @server.prompt()
    def tidy(scope: str) -> str:
        """Tidy up a part of the scene."""
        return f"Tidy up {scope}."

    @server.completion()  # type: ignore[no-untyped-call,untyped-decorator]  # the SDK's own
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[s for s in ("cameras", "lights") if s.startswith(argument.value)])

    @server.resource("studio://conventions")
    def conventions() -> str:
        """How things are named here."""
        return "sh0010_cam"


@every_era
def test_a_plug_in_adds_whatever_the_sdk_offers(era: str, tmp_path: Path) -> None:
    """A tool registered by hand, a prompt, its completion, a resource; skills beside them."""

    async def agent(client: Client) -> list[Any]:
        names = {tool.name for tool in (await client.list_tools()).tools}
        by_hand = await client.call_tool("by_hand", {"n": 21})
        ours = await client.call_tool("ours", {})
        prompt = await client.get_prompt("tidy", {"scope": "the lights"})
        ref = PromptReference(type="ref/prompt", name="tidy")
        completed = await client.complete(ref, {"name": "scope", "value": "ca"})
        (conventions,) = (await client.read_resource("studio://conventions")).contents
        said = prompt.messages[0].content
        return [
            {"by_hand", "ours"} <= names,
            text(by_hand),
            text(ours),
            said.text,  # type: ignore[union-attr]  # it is text
            completed.completion.values,
            conventions.text,  # type: ignore[union-attr]  # the same
        ]

    async def connected() -> list[Any]:
        async with running.client(era) as client:
            return await agent(client)

    @skill(risk="read")
    def ours() -> str:
        return "a skill"

    with live(tmp_path, ours, extend=extend) as running:
        assert running.run(connected) == [
            True,
            "42",
            "a skill",
            "Tidy up the lights.",
            ["cameras"],
            "sh0010_cam",
        ]


def test_a_plug_ins_notice_reaches_a_client_that_listens(tmp_path: Path) -> None:
    """The SDK's own way to tell of a change, in a tool that was added by hand."""

    def add(server: MCPServer[Any]) -> None:
        @server.tool()
        async def change(context: Context[Any, Any]) -> str:
            """Change the prompts."""
            await context.notify_prompts_changed()
            return "changed"

    async def agent() -> str:
        async with running.client() as client, client.listen(prompts_list_changed=True) as news:
            await client.call_tool("change", {})
            return type(await anext(aiter(news))).__name__

    with live(tmp_path, extend=add) as running:
        assert running.run(agent) == "PromptsListChanged"


def test_a_summary_counts_what_it_can_in_a_moment_and_says_that_it_did_not_count_all() -> None:
    session = crowd(25_000)

    told = session.summary()

    assert (told["prims"], told["counted_all"]) == (12_000, False)


def crowd(count: int) -> UsdSession:
    session = UsdSession()
    with Sdf.ChangeBlock():
        world = Sdf.PrimSpec(session.stage.GetRootLayer(), "World", Sdf.SpecifierDef)
        for number in range(count):
            if number % 100 == 0:
                group = Sdf.PrimSpec(world, f"group{number // 100}", Sdf.SpecifierDef)
            Sdf.PrimSpec(group, f"camera{number}", Sdf.SpecifierDef, "Camera")
    return session
