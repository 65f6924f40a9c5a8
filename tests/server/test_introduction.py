"""What a client is told of the host before it asks for anything, and the host of the client."""

from __future__ import annotations

import json
from base64 import b64decode
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_types import (
    SERVER_INFO_META_KEY,
    DiscoverResult,
    Implementation,
    ResourceTemplateReference,
)

from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.server.clients import MAX_CLIENTS, ClientRegistry
from dcc_bridge.server.protocol import image_type
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.hosts.scenes import SCENE
from tests.live import ERAS, Live, accept, live
from tests.server.test_resources import CAMERA
from tests.stand_ins import FakeHost
from tests.tiers import every_era

LISTS = {
    "tools/list": 60_000,
    "resources/list": 600_000,
    "resources/templates/list": 600_000,
    "prompts/list": 0,
}


def introduced(running: Live, era: str = ERAS[-1]) -> tuple[Implementation, Any]:
    async def agent() -> tuple[Any, Any]:
        async with running.client(era) as client:
            if era != ERAS[-1]:
                return client.session.server_info, client.session.server_capabilities
            said = await client.session.send_discover(era)
            info = Implementation.model_validate(said["_meta"][SERVER_INFO_META_KEY])
            return info, DiscoverResult.model_validate(said).capabilities

    return running.run(agent)


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_host_is_named_with_the_scene_that_is_open_now_its_version_and_ours(
    era: str, tmp_path: Path
) -> None:
    """Also beside a result, in the modern era."""
    host = FakeHost(file=Path("shot_010.ma"))
    with live(tmp_path, host=host) as running:
        info, _ = introduced(running, era)
        host._file = Path("shot_020.ma")
        host.select([])
        meta: Any = running.call("recent_calls").meta

    assert info.title == "fake, shot_010.ma"
    assert info.version == metadata.version(DISTRIBUTION)
    assert "fake 1.0" in (info.description or "")
    assert meta[SERVER_INFO_META_KEY]["title"] == "fake, shot_020.ma"


def test_the_icon_is_a_small_picture_of_our_own(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        info, _ = introduced(running)

    (icon,) = info.icons or []
    picture = b64decode(icon.src.removeprefix("data:image/png;base64,"))
    assert image_type(picture) == icon.mime_type == "image/png"
    assert picture[16:24] == bytes([0, 0, 0, 32] * 2)  # its width and height
    assert len(picture) < 600


def test_all_revisions_are_named(tmp_path: Path) -> None:
    async def agent() -> Any:
        async with running.client() as client:
            return await client.session.send_discover(ERAS[-1])

    with live(tmp_path) as running:
        said = running.run(agent)

    assert said["supportedVersions"] == list(reversed(ERAS))
    assert (said["ttlMs"], said["cacheScope"]) == (3_600_000, "private")


@pytest.mark.parametrize("era", ERAS[1:])
@pytest.mark.parametrize("has_some", [False, True])
def test_prompts_are_offered_where_there_are_some(has_some: bool, era: str, tmp_path: Path) -> None:
    def extend(server: Any) -> None:
        server.prompt()(tidy)

    def tidy() -> str:
        """Tidy up."""
        return "Tidy up."

    with live(tmp_path, extend=extend if has_some else None) as running:
        _, able = introduced(running, era)

    assert (able.prompts is not None) is has_some
    assert able.tools is not None


def test_a_list_says_for_how_long_it_holds_and_what_is_read_holds_for_no_time(
    tmp_path: Path,
) -> None:
    async def agent() -> dict[str, tuple[int, str]]:
        async with running.client() as client:
            session = client.session
            results: dict[str, Any] = {
                "tools/list": await session.list_tools(),
                "resources/list": await session.list_resources(),
                "resources/templates/list": await session.list_resource_templates(),
                "prompts/list": await session.list_prompts(),
                "resources/read": await session.read_resource("scene://summary"),
            }
            return {name: (it.ttl_ms, it.cache_scope) for name, it in results.items()}

    with live(tmp_path) as running:
        hints = running.run(agent)

    wanted = LISTS | {"resources/read": 0}
    assert hints == {name: (milliseconds, "private") for name, milliseconds in wanted.items()}


@pytest.mark.parametrize("tool", ["recent_calls", "check_connection"])
def test_what_our_own_tools_return_has_the_type_that_is_listed(tool: str, tmp_path: Path) -> None:
    """The client checks it; there is a call to tell of."""
    with live(tmp_path) as running:
        schema: Any = running.described(tool).output_schema
        running.call("recent_calls")
        content = running.call(tool).structured_content

    assert len(schema["properties"]) >= 2
    jsonschema.validate(content, schema)
    assert "additionalProperties" not in schema, "any object at all would do"
    facts = {"check_connection/clients/items/*", "check_connection/question/*"}  # by value
    assert not {*untyped(schema, tool)} - facts


def untyped(schema: Any, place: str) -> list[str]:
    """List the places in a schema at which anything at all would do."""
    if schema in (True, {}):
        return [place]
    inner = {"items": schema.get("items"), "*": schema.get("additionalProperties")}
    inner |= schema.get("properties", {}) | schema.get("$defs", {})
    inner |= {f"or {n}": option for n, option in enumerate(schema.get("anyOf", ()))}
    says = any(it in schema for it in ("type", "$ref", "anyOf", "enum", "const"))
    parts = (
        untyped(it, f"{place}/{name}") for name, it in inner.items() if it not in (None, False)
    )
    return sum(parts, [] if says else [place])


def test_an_item_of_the_scene_is_completed_to_a_uri_that_can_be_read(tmp_path: Path) -> None:
    async def agent() -> tuple[list[str], str]:
        async with running.client() as client:
            (template,) = (await client.list_resource_templates()).resource_templates
            ref = ResourceTemplateReference(type="ref/resource", uri=template.uri_template)
            asked = {"name": "path", "value": "sh0010"}
            values = (await client.complete(ref, asked)).completion.values
            (content,) = (await client.read_resource(f"scene://prim/{values[0]}")).contents
            return values, content.text  # type: ignore[union-attr]  # it is text

    with live(tmp_path, host=UsdSession(SCENE), operations=operations) as running:
        values, content = running.run(agent)

    assert values[0] == CAMERA
    assert json.loads(content)["path"] == CAMERA


def tell(running: Live, era: str, **how: object) -> None:
    """Have a client come, list the tools, and go."""

    async def agent() -> None:
        async with running.client(era, **how) as session:  # type: ignore[arg-type]  # as given
            await session.list_tools()

    running.run(agent)


@every_era
@pytest.mark.parametrize("asked", [None, accept()])
def test_a_client_is_known_by_its_label_era_and_capabilities(
    tmp_path: Path, era: str, asked: object
) -> None:
    """A client that never called a tool is known too."""
    told: list[int] = []

    with live(tmp_path) as running:
        running.bridge.clients.watch(lambda: told.append(1))
        tell(running, era, label="claude-code", asked=asked)
        (seen,) = running.bridge.clients.seen

    assert (seen.client.label, seen.era, seen.form) == ("claude-code", era, asked is not None)
    assert seen.client.name
    assert told == [1]


def test_programs_with_one_label_are_told_apart(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        for era in ERAS:
            tell(running, era, label="mine")
        seen = running.bridge.clients.seen

    assert [one.era for one in seen] == list(reversed(ERAS))


def test_only_so_many_are_remembered_the_last_ones() -> None:
    clients = ClientRegistry()

    for number in range(MAX_CLIENTS + 3):
        clients.note(
            SeenClient(Client(f"client{number}"), "2026-07-28", True, False, float(number))
        )

    assert len(clients.seen) == MAX_CLIENTS
    assert clients.seen[0].client.label == f"client{MAX_CLIENTS + 2}"
    assert clients.seen[-1].client.label == "client3"
