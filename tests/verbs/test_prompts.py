"""The prompts that a person picks, through a real client."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import PromptReference

from dcc_bridge import skill
from dcc_bridge.verbs import reading
from tests.live import live
from tests.tiers import every_era
from tests.verbs.memory import node
from tests.verbs.reading_scene import ReadingOperations

TITLES = ["Check this scene for publish", "Explain this scene", "Tidy the names"]


def scene() -> ReadingOperations:
    return ReadingOperations(
        {"room": node("Group"), "room/lamp_1": node("Light"), "lamp_2": node("Light")}
    )


@every_era
def test_three_prompts_are_there_with_completions_of_the_scene(era: str, tmp_path: Path) -> None:
    """By any part of a name; by any part of a path if what is typed has a slash in it."""
    operations = scene()

    async def agent() -> dict[str, Any]:
        async with running.client(era) as client:
            return {
                "titles": [it.title for it in (await client.list_prompts()).prompts],
                "names": await completed(client, "check_scene", "item", "amp"),
                "paths": await completed(client, "check_scene", "item", "room/l"),
                "types": await completed(client, "tidy_names", "type", "li"),
                "prompt": (await client.get_prompt("check_scene", {"item": "room"})).messages,
            }

    with live(tmp_path, *reading.verbs(operations), host=operations.host) as running:
        told = running.run(agent)

    assert told["titles"] == TITLES
    assert told["names"] == ["room/lamp_1", "lamp_2"]
    assert told["paths"] == ["room/lamp_1"]
    assert told["types"] == ["Light"]
    assert "call check with items=['room']" in told["prompt"][0].content.text


async def completed(client: Client, prompt: str, name: str, value: str) -> list[str]:
    """Give what is proposed for an argument."""
    ref = PromptReference(type="ref/prompt", name=prompt)
    return (await client.complete(ref, {"name": name, "value": value})).completion.values


class Counting(ReadingOperations):
    """Counts how often the whole scene is walked."""

    walks = 0

    def items(self, under: str | None = None) -> Iterable[str]:
        self.walks += 1
        return super().items(under)


def test_the_scene_is_walked_for_completions_once_until_it_changes(tmp_path: Path) -> None:
    """A client asks at each keystroke; what is new in the scene is proposed as well."""
    operations = Counting(scene().nodes)

    async def typed() -> list[list[str]]:
        async with running.client() as client:
            return [await completed(client, "check_scene", "item", it) for it in ("l", "la", "lam")]

    with live(tmp_path, *reading.verbs(operations), host=operations.host) as running:
        first = running.run(typed)
        walks = operations.walks
        operations.nodes["lamp_3"] = node("Light")
        operations.host.select(["lamp_3"])
        later = running.run(typed)

    assert first == [["room/lamp_1", "lamp_2"]] * 3
    assert walks == 1
    assert later == [["room/lamp_1", "lamp_2", "lamp_3"]] * 3


def test_no_prompt_names_verbs_that_the_host_does_not_have(tmp_path: Path) -> None:
    """And nothing is proposed for it."""

    @skill(risk="read")
    def other() -> None:
        """Do nothing."""

    async def agent() -> tuple[list[Any], list[str]]:
        async with running.client() as client:
            listed = (await client.list_prompts()).prompts
            return listed, await completed(client, "check_scene", "item", "l")

    with live(tmp_path, other) as running:
        assert running.run(agent) == ([], [])
