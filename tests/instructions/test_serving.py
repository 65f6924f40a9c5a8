"""Instructions reach a real client over HTTP, as the extension for skills says (SEP-2640)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from dcc_bridge.elicitation.types import SKILLS
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.instructions.shelf import entry_of, listed, put, verified
from tests.live import ERAS, Live, live
from tests.server.task_wire import Wire
from tests.tiers import every_era

URI = "skill://light-a-shot/SKILL.md"


def entries(running: Live) -> list[dict[str, Any]]:
    async def agent() -> list[dict[str, Any]]:
        async with running.client() as client:
            return await listed(client)

    return running.run(agent)


def refused(running: Live, uri: str) -> tuple[MCPError, MCPError]:
    """Return the errors of a client that asks for an entry, and of one that reads the file."""

    async def agent() -> tuple[MCPError, MCPError]:
        async with running.client() as client:
            with pytest.raises(MCPError) as asked:
                await entry_of(client, uri)
            with pytest.raises(MCPError) as read:
                await client.read_resource(uri)
            return asked.value, read.value

    return running.run(agent)


def test_each_is_listed_with_its_front_matter_and_every_file_verified(tmp_path: Path) -> None:
    folder = put(tmp_path / "skills", text="Aim: é ☀", metadata="\n  by: us", license="MIT")
    (folder / "lights").mkdir()
    (folder / "lights" / "warm & cold.json").write_text("{}\r\n", newline="")
    (folder / ".DS_Store").write_bytes(b"\xff\xfe")

    async def agent() -> tuple[Any, Any, Any]:
        async with running.client() as client:
            (entry,) = await listed(client)
            return entry, await entry_of(client, URI), await verified(client, entry)

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        entry, same, texts = running.run(agent)

    assert entry == same
    assert entry["uri"] == URI
    assert entry["frontmatter"] == {
        "name": "light-a-shot",
        "description": "Read it to light a shot.",
        "metadata": {"by": "us"},
        "license": "MIT",
    }
    assert list(texts) == [URI, "skill://light-a-shot/lights/warm%20%26%20cold.json"]
    assert texts[URI].endswith("Aim: é ☀\n")


def test_a_result_says_that_it_is_complete_and_for_how_long_it_holds(tmp_path: Path) -> None:
    put(tmp_path / "skills")

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        wire = Wire.beside(running, declares=False)
        results = [wire.result("skills/list", {}), wire.result("skills/get", {"uri": URI})]

    for result in results:
        assert result["resultType"] == "complete"
        assert (result["ttlMs"], result["cacheScope"]) == (60_000, "private")


@every_era
def test_what_clients_see_besides_is_as_before(era: str, tmp_path: Path) -> None:
    put(tmp_path / "skills")

    async def seen(client: Client) -> list[Any]:
        return [
            [tool.name for tool in (await client.list_tools()).tools],
            [str(it.uri) for it in (await client.list_resources()).resources],
            [it.uri_template for it in (await client.list_resource_templates()).resource_templates],
            [it.name for it in (await client.list_prompts()).prompts],
        ]

    async def agent() -> list[Any]:
        async with running.client(era) as client:
            return await seen(client)

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        with_instructions = running.run(agent)
    with live(tmp_path / "other") as running:
        without = running.run(agent)

    assert with_instructions == without


@pytest.mark.parametrize("era", ERAS[1:])
def test_the_extension_is_for_the_revision_that_has_extensions(era: str, tmp_path: Path) -> None:
    """In older revisions nobody is told of it, and the files can be read all the same."""
    put(tmp_path / "skills")
    is_modern = era == ERAS[-1]

    async def agent() -> tuple[bool, int]:
        async with running.client(era) as client:
            if is_modern:
                said = (await client.session.send_discover(era))["capabilities"]["extensions"]
            else:
                said = client.session.server_capabilities.extensions or {}  # type: ignore[union-attr]
            code = 0
            try:
                await listed(client)
            except MCPError as error:
                code = error.error.code
            assert (await client.read_resource(URI)).contents
            return SKILLS in said, code

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        told, code = running.run(agent)

    assert told is is_modern
    assert code == (0 if is_modern else METHOD_NOT_FOUND)


@pytest.mark.parametrize(
    "uri",
    [
        "skill://nobody/SKILL.md",
        "skill://light-a-shot",
        "skill://light-a-shot/gone.md",
        "skill://light-a-shot/../light-a-shot/SKILL.md",
        "skill://light-a-shot/%53KILL.md",
        "skill:///etc/passwd",
        "skill://",
    ],
)
def test_what_is_not_served_is_a_sentence(uri: str, tmp_path: Path) -> None:
    put(tmp_path / "skills")

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        asked, read = refused(running, uri)

    assert (asked.error.code, read.error.code) == (INVALID_PARAMS, INVALID_PARAMS)
    assert asked.error.message.startswith("No instruction is served at ")


def test_one_that_cannot_be_served_says_why_and_the_others_are_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "skills")
    put(tmp_path / "skills", "rig", text="a hidden \N{ZERO WIDTH SPACE} character")

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        names = [entry["frontmatter"]["name"] for entry in entries(running)]
        asked, read = refused(running, "skill://rig/SKILL.md")

    assert names == ["light-a-shot"]
    assert asked.error.message == read.error.message
    assert asked.error.message.endswith("SKILL.md, line 6: it has the hidden character U+200B. "
                                        "Remove it.")  # fmt: skip
    assert [record.message for record in caplog.records].count(asked.error.message) == 1


def test_a_change_on_the_disk_is_served_at_the_next_request(tmp_path: Path) -> None:
    put(tmp_path / "skills")

    async def agent() -> tuple[Any, Any]:
        async with running.client() as client:
            (before,) = await listed(client)
            put(tmp_path / "skills", text="Aim the fill.")
            after = await entry_of(client, URI)
            assert "Aim the fill." in (await verified(client, after))[URI]
            return before, after

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        before, after = running.run(agent)

    assert before["resources"] != after["resources"]


def test_a_file_that_is_read_needs_no_other_instruction(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "skills")
    put(tmp_path / "skills", "rig", version="1.0")

    async def agent() -> list[int]:
        async with running.client() as client:
            counts = []
            await client.read_resource(URI)
            await entry_of(client, URI)
            counts.append(sentences())
            await listed(client)
            counts.append(sentences())
            return counts

    def sentences() -> int:
        return sum("in double quotes" in record.message for record in caplog.records)

    with live(tmp_path / "run", skills=[tmp_path / "skills"]) as running:
        counts = running.run(agent)

    assert counts == [0, 1]


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_studios_own_takes_the_place_of_ours(is_broken: bool, tmp_path: Path) -> None:
    """One of them that is broken too: it is not replaced by ours unnoticed."""
    folder = put(tmp_path / "skills", text="As we light here.")
    if is_broken:
        (folder / "SKILL.md").write_text("As we light here.")

    async def agent() -> dict[str, str]:
        async with running.client() as client:
            texts: dict[str, str] = {}
            for entry in await listed(client):
                texts |= await verified(client, entry)
            return texts

    session = UsdSession()
    with live(
        tmp_path / "run", host=session, operations=operations, skills=[tmp_path / "skills"]
    ) as running:
        texts = running.run(agent)

    assert "skill://work-in-usd/SKILL.md" in texts
    if is_broken:
        assert URI not in texts
    else:
        assert "As we light here." in texts[URI]
