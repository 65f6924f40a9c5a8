"""The bridge in a C++ application that owns Qt's event loop, as Maya and Houdini do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.hosts.application import Application, started
from tests.hosts.application_contract import WindowContract
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


class TestWindow(WindowContract):
    """What every window with the bridge in it promises."""

    DELETE = ("delete_nodes", {"prefix": "cam"})
    DELETED = frozenset({"cam1", "cam2"})
    FAILS = ("break_off", {"name": "half"})
    WHY = "half"
    EDIT = ("add_nodes", {"names": ["whole"]})

    @pytest.fixture
    def window(self, window: Application) -> Application:
        window.call("add_nodes", {"names": ["cam1", "cam2", "light"]})
        return window

    def state(self, application: Application) -> dict[str, object]:
        return dict.fromkeys(names(application))


def names(application: Application) -> list[str]:
    listed: list[str] = json.loads(text(application.call("list_nodes", {})))
    return listed


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_can_ask_is_asked_for_input(window: Application, era: str) -> None:
    """The skill waits in mid-body, in every era, while the host goes on."""
    result = window.call("name_node", {}, era=era, asked=accept(name="crane"))

    assert text(result) == "crane"
    assert "crane" in names(window)


def test_the_hosts_own_dialog_and_a_question_end_well(window: Application) -> None:
    """An edit waits until the host's modal dialog is gone; what was added is there then."""
    assert window.instance
    window.order("modal")
    added = window.call("add_nodes", {"names": ["cam1"]})
    window.obeyed()
    window.order("accept")
    deleted = window.call("delete_nodes", {"prefix": "cam"})

    assert (status(added), status(deleted)) == ("done", "done")


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
