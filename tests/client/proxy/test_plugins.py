"""What a plug-in of a host adds through the SDK passes too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import PromptReference

from tests.client.proxy.full_host import LARGE
from tests.client.proxy.stage import client, names, run, said, small, until
from tests.live import ERAS


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder in which that host is running."""
    folder = tmp_path_factory.mktemp("runtime")
    with small(folder, module="full_host"):
        yield folder


@pytest.mark.parametrize("era", ERAS)
def test_prompts_and_completions(era: str, runtime: Path) -> None:
    name = "test_prompt_with_arguments"

    async def agent() -> Any:
        async with client(runtime, era) as session:
            listed = [one.name for one in (await session.list_prompts()).prompts]
            assert name in listed
            told = await session.get_prompt(name, {"arg1": "one", "arg2": "two"})
            reference = PromptReference(name=name)
            completed = await session.complete(reference, {"name": "arg1", "value": "par"})
            return told.messages[0].content.text, completed.completion.values  # type: ignore[union-attr]  # it is text

    text, values = run(agent)
    assert "one" in text
    assert values == ["paris", "park", "party"]


@pytest.mark.parametrize("era", ERAS)
def test_binary_resources_templates_and_pictures(era: str, runtime: Path) -> None:
    async def agent() -> list[str | None]:
        async with client(runtime, era) as session:
            read = await session.read_resource("test://static-binary")
            from_template = await session.read_resource("test://template/123/data")
            picture = await session.call_tool("test_image_content", {})
            parts = [read.contents[0], from_template.contents[0], picture.content[0]]
            assert "123" in getattr(parts[1], "text", "")
            return [getattr(parts[0], "mime_type", None), getattr(parts[2], "mime_type", None)]

    assert run(agent) == ["image/png", "image/png"]


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_large_result_arrives_whole(era: str, runtime: Path) -> None:
    async def agent() -> int:
        async with client(runtime, era) as session:
            return len(await said(session, "large"))

    assert run(agent) >= LARGE


def test_log_messages_arrive_in_the_legacy_era(runtime: Path) -> None:
    heard: list[str] = []

    def note(message: Any) -> None:
        heard.append(type(message).__name__)

    async def agent() -> None:
        async with client(runtime, ERAS[1], heard=note) as session:
            await said(session, "test_tool_with_logging")
            await until(lambda: heard.count("LoggingMessageNotification") >= 3)

    run(agent)


def test_the_word_that_the_hosts_tools_changed_arrives(runtime: Path) -> None:
    """In the legacy era; where a modern client listens for it, in that one."""
    heard: list[str] = []

    def note(message: Any) -> None:
        heard.append(type(message).__name__)

    async def agent() -> None:
        async with (
            client(runtime, ERAS[1], heard=note) as legacy,
            client(runtime) as modern,
            modern.listen(tools_list_changed=True) as news,
        ):
            assert "learned" not in await names(legacy)
            await said(modern, "learn")
            async for event in news:
                heard.append(type(event).__name__)
                break
            await until(lambda: "ToolListChangedNotification" in heard)
            assert "learned" in await names(legacy)
            assert "learned" in await names(modern)

    run(agent)
    assert "ToolsListChanged" in heard
