"""The bridge in a C++ application that owns Qt's event loop, as Maya and Houdini do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.hosts.application import Application, started
from tests.hosts.qt_host import build
from tests.live import ERAS, accept, status, text

START = Path(__file__).parent / "qt_host" / "start.py"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(build.missing() is not None, reason=str(build.missing())),
    pytest.mark.timeout(240),
]


@pytest.fixture(params=["6.5.3", None], ids=["PySide6 6.5.3", "PySide6 of this Python"])
def window(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Application]:
    """The application with its window, and somebody at it; its exit code has to be 0."""
    with qt_host(tmp_path, request.param) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


@contextmanager
def qt_host(folder: Path, version: str | None, *words: str) -> Iterator[Application]:
    with started([build.built(), START, *words], folder, **build.environment(version)) as running:
        yield running


def names(application: Application) -> str:
    return text(application.call("list_nodes", {}))


def test_a_deletion_is_agreed_to_in_the_hosts_own_dialog(window: Application) -> None:
    """One undo step: the host's own Ctrl+Z brings back what went."""
    window.call("add_nodes", {"names": ["cam1", "cam2", "light"]})

    window.order("accept")
    result = window.call("delete_nodes", {"prefix": "cam"})
    after = names(window)
    window.order("undo")
    window.obeyed()
    undone = names(window)

    assert status(result) == "done"
    assert "cam" not in after
    assert "light" in after
    assert "cam1" in undone
    assert "cam2" in undone


@pytest.mark.parametrize("answer", ["decline", "cancel"])
def test_what_is_refused_is_not_done(window: Application, answer: str) -> None:
    """Nothing is changed, and the host ends well after it."""
    window.call("add_nodes", {"names": ["cam1"]})

    window.order(answer)
    result = window.call("delete_nodes", {"prefix": "cam"})

    assert status(result) == "refused"
    assert "cam1" in names(window)


def test_a_skill_that_fails_leaves_nothing(window: Application) -> None:
    """Its chunk is closed and undone; the next step is one of its own."""
    result = window.call("break_off", {"name": "half"})
    after = names(window)
    window.call("add_nodes", {"names": ["whole"]})
    window.order("undo")
    window.obeyed()

    assert status(result) == "failed"
    assert "half" not in after
    assert "whole" not in names(window)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_can_ask_is_asked_for_input(window: Application, era: str) -> None:
    """The skill waits in mid-body, in every era, while the host goes on."""
    result = window.call("name_node", {}, era=era, asked=accept(name="crane"))

    assert text(result) == "crane"
    assert "crane" in names(window)


def test_it_can_be_unloaded_and_loaded_twenty_times(window: Application) -> None:
    """And works after that."""
    assert window.instance
    window.order(*["reload"] * 20)
    window.obeyed()
    window.order("accept")

    window.call("add_nodes", {"names": ["cam1"]})
    result = window.call("delete_nodes", {"prefix": "cam"})

    assert status(result) == "done"


def test_the_hosts_own_dialog_and_a_question_end_well(window: Application) -> None:
    """An edit waits until the host's modal dialog is gone; what was added is there then."""
    assert window.instance
    window.order("modal")
    added = window.call("add_nodes", {"names": ["cam1"]})
    window.obeyed()
    window.order("accept")
    deleted = window.call("delete_nodes", {"prefix": "cam"})

    assert (status(added), status(deleted)) == ("done", "done")


def test_an_edit_by_hand_while_the_question_is_open_stays(window: Application) -> None:
    """The person may work before they answer."""
    window.call("add_nodes", {"names": ["cam1"]})

    window.order("edit", "accept")
    result = window.call("delete_nodes", {"prefix": "cam"})

    assert status(result) == "done"
    assert "by_hand" in names(window)


@pytest.mark.parametrize("questions", [0, 1, 5])
def test_a_host_that_quits_without_a_word_ends_cleanly(window: Application, questions: int) -> None:
    """With questions open too: each call ends with an error, and the exit code is 0."""
    window.call("add_nodes", {"names": [f"cam{n}" for n in range(questions)]})
    told: list[object] = []

    async def ask(number: int) -> None:
        try:
            async with window.client() as client:
                told.append(await client.call_tool("delete_nodes", {"prefix": f"cam{number}"}))
        except* Exception as gone:  # noqa: BLE001 - a connection that was cut says so in many ways
            told.append(gone)

    async def agents() -> None:
        async with anyio.create_task_group() as asking:
            for number in range(questions):
                asking.start_soon(ask, number)
            window.order(*["read"] * bool(questions), "vanish")

    window.run(agents)

    assert len(told) == questions


def test_batch_serves_without_anybody(tmp_path: Path) -> None:
    """What is deferred never runs there; consent is the client's, or refused."""

    async def agent() -> tuple[CallToolResult, CallToolResult, str]:
        async with batch.client() as mute, batch.client(asked=accept(confirm=True)) as asked:
            await mute.call_tool("add_nodes", {"names": ["cam1", "cam2"]})
            refused = await mute.call_tool("delete_nodes", {"prefix": "cam1"})
            agreed = await asked.call_tool("delete_nodes", {"prefix": "cam2"})
            return refused, agreed, text(await _list(mute))

    with qt_host(tmp_path, None, "--batch") as batch:
        refused, agreed, left = batch.run(agent)
        batch.order("close")
        code = batch.end()

    assert (status(refused), status(agreed)) == ("refused", "done"), text(agreed)
    assert "cam1" in left
    assert "cam2" not in left
    assert code == 0, batch.output


async def _list(client: Client) -> CallToolResult:
    return await client.call_tool("list_nodes", {})
