"""Through the proxy a client sees what it would see of the host itself, and the host sees it.

`tests.conformance` shows the same of prompts, completions, pictures and log messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp_types import ElicitResult

from tests.client.proxy.host import LARGE
from tests.client.proxy.stage import are_whole, client, names, said, small, told, until
from tests.live import ERAS, AskedFn, accept, say, text
from tests.tiers import every_era

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder in which one small host is running."""
    folder = tmp_path_factory.mktemp("runtime")
    with small(folder):
        yield folder


@pytest.mark.core
@every_era
async def test_the_tools_are_the_hosts_and_two_of_the_proxys(era: str, runtime: Path) -> None:
    async with client(runtime, era) as session:
        assert are_whole(await names(session))
        assert await said(session, "where") == "shot.ma"


async def test_no_list_is_kept_for_later_because_the_next_host_has_another_one(
    runtime: Path,
) -> None:
    async with client(runtime) as session:
        assert (await session.list_tools()).ttl_ms == 0
        assert (await session.list_resource_templates()).ttl_ms == 0


async def test_what_the_proxys_own_tools_return_has_the_type_that_is_listed(runtime: Path) -> None:
    async with client(runtime) as session:
        schemas = {it.name: it.output_schema or False for it in (await session.list_tools()).tools}
        hosts = await told(session, "list_hosts")
        used = await told(session, "use_host", host=hosts["in_use"])
        jsonschema.validate(hosts, schemas["list_hosts"])
        jsonschema.validate(used, schemas["use_host"])


@every_era
@pytest.mark.parametrize("asked", [None, accept()])
async def test_the_host_sees_the_client_itself(
    era: str, asked: AskedFn | None, runtime: Path
) -> None:
    """Its label from the set-up; its own name, its era, and what it can draw."""
    async with client(runtime, era, asked) as session:
        who = await told(session, "who")

    can = asked is not None
    assert who == {"label": "test", "name": "mcp", "era": era, "form": can, "url": can}


@pytest.mark.core
@every_era
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_question_is_asked_and_its_answer_arrives(
    era: str, action: Any, runtime: Path
) -> None:
    asked = accept(name="Ada") if action == "accept" else say(action)
    async with client(runtime, era, asked) as session:
        heard = await told(session, "ask")

    names = ["Ada" if action == "accept" else None]
    assert heard == {"scene": "shot.ma", "actions": [action], "names": names, "by": ["client"]}


@every_era
async def test_two_questions_of_two_calls_at_once_get_their_own_answers(
    era: str, runtime: Path
) -> None:
    names = iter(("Ada", "Bob", "Cyd", "Dee"))
    results: list[dict[str, Any]] = []

    async def asked(params: Any) -> ElicitResult:
        await anyio.sleep(0)
        return ElicitResult(action="accept", content={"name": next(names)})

    async with client(runtime, era, asked) as session, anyio.create_task_group() as calls:

        async def call() -> None:
            results.append(await told(session, "ask", times=2))

        calls.start_soon(call)
        calls.start_soon(call)
    heard = [name for result in results for name in result["names"]]
    assert sorted(heard) == ["Ada", "Bob", "Cyd", "Dee"]
    assert all(result["actions"] == ["accept"] * 2 for result in results)


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_person_is_sent_to_a_page(era: str, runtime: Path) -> None:
    urls: list[str] = []

    def asked(params: Any) -> ElicitResult:
        urls.append(params.url)
        return ElicitResult(action="decline")

    async with client(runtime, era, asked) as session:
        assert await told(session, "visit") == {"action": "decline", "by": "client"}

    assert urls == ["https://example.com/there"]


@every_era
async def test_progress_arrives_and_a_cancel_ends_the_call_in_the_host(
    era: str, runtime: Path
) -> None:
    heard: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def call() -> None:
        await session.call_tool("wait", {}, progress_callback=note)

    async def is_told() -> bool:
        calls = (await told(session, "recent_calls"))["calls"]
        newest = next(one for one in calls if one["tool"] == "wait")
        return bool(newest["state"] == "cancelled")

    async with client(runtime, era) as session:
        async with anyio.create_task_group() as calls:
            calls.start_soon(call)
            await until(lambda: "half of it" in heard)
            calls.cancel_scope.cancel()
        await until(is_told)


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize("era", ERAS[:2])
async def test_a_legacy_client_reads_resources_and_hears_of_their_changes(
    era: str, runtime: Path
) -> None:
    heard: list[str] = []

    def note(message: Any) -> None:
        heard.append(str(getattr(message.params, "uri", "")))

    async with client(runtime, era, heard=note) as session:
        await session.subscribe_resource("scene://selection")
        await said(session, "choose", item="cam2")
        await until(lambda: "scene://selection" in heard)
        (content,) = (await session.read_resource("scene://selection")).contents

    assert "cam2" in str(content)


async def test_a_modern_client_reads_resources_and_hears_of_their_changes(runtime: Path) -> None:
    uri = "scene://selection"

    async with (
        client(runtime) as session,
        session.listen(resource_subscriptions=[uri], tools_list_changed=True) as news,
    ):
        await said(session, "choose", item="cam1")
        event = await anext(aiter(news))
        (content,) = (await session.read_resource(uri)).contents

    assert getattr(event, "uri", "") == uri  # nothing else has changed
    assert "cam1" in str(content)


@every_era
async def test_what_the_host_refuses_is_refused_in_its_own_words(era: str, runtime: Path) -> None:
    async with client(runtime, era) as session:
        result = await session.call_tool("nothing", {})
        prompts = await session.list_prompts()

    assert result.is_error
    assert "nothing" in text(result)
    assert prompts.prompts == []


@pytest.mark.parametrize("era", ERAS[1:])
async def test_a_large_result_arrives_whole(era: str, runtime: Path) -> None:
    async with client(runtime, era) as session:
        assert len(await said(session, "large")) >= LARGE


async def test_the_notice_that_the_hosts_tools_changed_arrives(runtime: Path) -> None:
    """In the legacy era; where a modern client listens for it, in that one."""
    heard: list[str] = []

    def note(message: Any) -> None:
        heard.append(type(message).__name__)

    async with (
        client(runtime, ERAS[1], heard=note) as legacy,
        client(runtime) as modern,
        modern.listen(tools_list_changed=True) as news,
    ):
        assert "learned" not in await names(legacy)
        await said(modern, "learn")
        heard.append(type(await anext(aiter(news))).__name__)
        await until(lambda: "ToolListChangedNotification" in heard)
        assert "learned" in await names(legacy)
        assert "learned" in await names(modern)

    assert "ToolsListChanged" in heard


async def test_a_client_that_ends_at_a_question_leaves_none_behind(runtime: Path) -> None:
    async with client(runtime, asked=accept()) as session:
        parked = await session.session.call_tool("ask", {}, allow_input_required=True)
        assert parked.result_type == "input_required"
    async with client(runtime) as session:
        await until(partial(_was_left, session))


async def _was_left(session: Client) -> bool:
    calls = (await told(session, "recent_calls"))["calls"]
    asks = [call for call in calls if call["tool"] == "ask"]
    return bool(asks) and str(asks[0].get("answered")).startswith("the call was cancelled")
