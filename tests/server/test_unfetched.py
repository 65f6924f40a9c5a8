"""A call that is made again, because nobody fetched the first one's result, says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitRequestParams, ElicitResult
from starlette.types import Receive, Scope

from dcc_bridge import elicit_form_sync, on_main, skill
from dcc_bridge.server import tasks
from dcc_bridge.server.auth import AuthMiddleware
from dcc_bridge.server.unfetched_results import MAX_RESULTS, UnfetchedResults, same_call
from tests.live import live, text
from tests.server.skills import CONFIRM
from tests.server.task_wire import Wire
from tests.stand_ins import FakeHost


def ask_and_delete(host: FakeHost, *limits: float) -> Callable[..., Any]:
    """Make a skill that deletes; its first questions are given so many seconds."""
    timeouts = iter(limits)

    @skill(risk="destructive", confirms=True)
    def delete(count: int = 1) -> int:
        if elicit_form_sync("Delete?", CONFIRM, timeout=next(timeouts, None)).accepted:
            del host.items[-count:]
        return count

    return delete


def adding(host: FakeHost, may_end: threading.Event) -> Callable[..., Any]:
    """Make a skill that adds an item, and goes on until it may end."""

    @skill(risk="edit")
    async def add() -> str:
        await on_main(lambda: host.items.append("b"))
        while not may_end.is_set():
            await anyio.sleep(0.005)
        return "added"

    return add


def test_a_result_that_nobody_fetched_is_told_of_in_the_next_question(tmp_path: Path) -> None:
    host, asked = FakeHost(["a", "b", "c"]), list[str]()

    async def answer(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            await anyio.sleep_forever()
        return ElicitResult(action="accept", content={"confirm": True})

    with live(tmp_path, ask_and_delete(host, 0.2), host=host) as running:
        running.leave("delete", lambda: bool(asked), asked=answer)
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        running.call("delete", {"count": 1}, asked=answer)
        running.call("delete", {"count": 1}, asked=answer)
        running.call("delete", {"count": 1}, asked=answer, label="another")

    assert ["same call" in one for one in asked] == [False, True, False, False]
    assert "The same call was made 1 min ago and was refused" in asked[1]


def test_calls_are_the_same_by_client_skill_and_arguments() -> None:
    one = same_call("cursor", "delete", {"a": 1, "b": [2]})

    assert one == same_call("cursor", "delete", {"b": [2], "a": 1})
    assert (
        len({one, same_call("zed", "delete", {"a": 1, "b": [2]}), same_call("cursor", "x", {})})
        == 3
    )


def test_one_that_changed_nothing_does_not_hide_the_one_before() -> None:
    unfetched, same = UnfetchedResults(), same_call("cursor", "delete", {})

    unfetched.add(same, "done")
    unfetched.add(same, "cancelled")

    assert "was done, but nobody fetched its result" in str(unfetched.notice_for(same))


def test_a_result_whose_client_left_before_it_was_written_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, held = FakeHost(["a"]), threading.Event()
    serve = AuthMiddleware.__call__

    @skill(risk="edit")
    def add() -> int:
        host.items.append("b")
        return len(host.items)

    async def holding(app: AuthMiddleware, scope: Scope, receive: Receive, send: Any) -> None:
        async def send_late(message: Any) -> None:
            if host.items == ["a", "b"] and not send.__self__.disconnected:
                held.set()
                with anyio.CancelScope(shield=True):
                    while not send.__self__.disconnected:
                        await anyio.sleep(0.001)
            await send(message)

        await serve(app, scope, receive, send_late if scope["type"] == "http" else send)

    monkeypatch.setattr(AuthMiddleware, "__call__", holding)
    with live(tmp_path, add, host=host) as running:
        running.leave("add", held.is_set)
        again, third = running.call("add"), running.call("add")

    assert "was done, but nobody fetched its result" in text(again)
    assert "fetched" not in text(third)


def test_a_client_with_many_unfetched_results_makes_no_other_client_forget_its_own() -> None:
    unfetched = UnfetchedResults()
    unfetched.add(same_call("cursor", "delete", {}), "done")

    for number in range(MAX_RESULTS + 10):
        unfetched.add(same_call("zed", "delete", {"n": number}), "done")

    assert unfetched.notice_for(same_call("cursor", "delete", {})) is not None
    assert unfetched.notice_for(same_call("zed", "delete", {"n": 10})) is None
    assert unfetched.notice_for(same_call("zed", "delete", {"n": 11})) is not None


def test_an_edit_made_again_says_so_in_its_result_because_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.02)
    host, may_end = FakeHost(["a"]), threading.Event()

    with live(tmp_path, adding(host, may_end), host=host) as running:
        running.beside(lambda: Wire.of(running).call("add"))  # and its handle is lost
        may_end.set()
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        again, third = running.call("add"), running.call("add")

    assert "The same call was made 1 min ago and was done, but nobody fetched" in text(again)
    assert text(third) == "added"


@pytest.mark.parametrize("comes_back", [True, False], ids=["known", "lost"])
def test_the_same_call_beside_a_task_is_told_of_it_unless_its_client_came_back(
    comes_back: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.02)
    host, may_end = FakeHost(["a"]), threading.Event()

    with live(tmp_path, adding(host, may_end), host=host) as running:
        wire = Wire.beside(running)
        first = wire.call("add")["taskId"]
        if comes_back:
            wire.get(first)
        second = wire.call("add")["taskId"]
        may_end.set()
        told = wire.until(second)["result"]["content"]

    assert ("was already running" in str(told)) is not comes_back
