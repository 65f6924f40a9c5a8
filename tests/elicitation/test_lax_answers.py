"""An answer that is nearly a yes is not a yes: whoever gives it, nothing is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import ElicitRequestParams, ElicitResult, methods

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Reply
from tests.live import LIMIT, accept, live, status, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era, sampled

LAX: Final[dict[str, dict[str, Any]]] = {
    "yes": {"confirm": "yes"},
    "on": {"confirm": "on"},
    "text of one": {"confirm": "1"},
    "true as text": {"confirm": "true"},
    "one": {"confirm": 1},
    "one as a float": {"confirm": 1.0},
    "y": {"confirm": "y"},
    "t": {"confirm": "t"},
    "missing": {},
}
MALFORMED: Final[dict[str, Any]] = {
    "a list": {"confirm": [True]},
    "nested": {"confirm": {"confirm": True}},
    "a list of fields": [{"confirm": True}],
    "a bare yes": True,
    "a text": "confirm",
}
"""What the protocol itself has no place for."""
CAMERAS: Final = [f"cam{number}" for number in range(7)]
WAYS: Final = ("by_form", "by_confirm")
# The client's own SDK warns of what it is made to send.
unwarned = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
every_way = pytest.mark.parametrize("way", WAYS)


def skills(host: FakeHost) -> list[Callable[..., Any]]:
    @skill(risk="destructive", confirms=True)
    def by_form() -> str | None:
        """Delete everything if the form says anything like yes."""
        answer = elicit_form_sync("Delete them?", CONFIRM)
        if answer.accepted and (answer.data or {}).get("confirm"):
            host.items.clear()
        return answer.message

    @skill(risk="destructive", confirms=True)
    def by_confirm() -> None:
        """Delete what a person agreed to."""
        confirm_sync("Delete them?", items=lambda: host.items, verb="Delete")
        host.items.clear()

    return [by_form, by_confirm]


class Unchecked(ElicitResult):
    """An answer that the SDK's own model would not let a client send."""

    content: Any = None


class Sloppy:
    """A client that accepts with what it was told to, whatever it is asked."""

    def __init__(self) -> None:
        self.content: Any = {}
        self.asked = 0

    def __call__(self, params: ElicitRequestParams) -> ElicitResult:
        self.asked += 1
        return Unchecked(action="accept", content=self.content)

    @staticmethod
    @contextmanager
    def unchecked() -> Iterator[None]:
        """Let the SDK's client send what it would refuse to send."""
        lenient = SimpleNamespace(**vars(methods))
        lenient.validate_client_result = lambda *args: None
        with patch("mcp.client.session._methods", lenient):
            yield

    async def call(self, client: Client, tool: str, content: Any) -> tuple[int, str]:
        """Call a tool; give how often it was asked, and how the call ended."""
        self.content, self.asked = content, 0
        with anyio.fail_after(LIMIT):
            try:
                ended = status(await client.call_tool(tool, {}))
            except MCPError as error:
                ended = error.error.message
        return self.asked, ended


@every_way
@every_era
def test_a_client_is_asked_once_more_and_deletes_nothing(
    era: str, way: str, tmp_path: Path
) -> None:
    host, sloppy = FakeHost(CAMERAS), Sloppy()

    async def agent() -> dict[str, tuple[int, str]]:
        async with running.client(era, sloppy) as client:
            return {name: await sloppy.call(client, way, lax) for name, lax in LAX.items()}

    with live(tmp_path, *skills(host), host=host) as running:
        ended = running.run(agent)

    assert host.items == CAMERAS
    assert host.labels == []
    assert ended == dict.fromkeys(LAX, (2, "refused"))


@unwarned
@pytest.mark.parametrize("shape", sampled(["a list", "a bare yes"], MALFORMED))
@every_way
@every_era
def test_what_the_protocol_has_no_place_for_deletes_nothing(
    era: str, way: str, shape: str, tmp_path: Path
) -> None:
    host, sloppy = FakeHost(CAMERAS), Sloppy()

    async def agent() -> tuple[int, str]:
        async with running.client(era, sloppy) as client:
            return await sloppy.call(client, way, MALFORMED[shape])

    with live(tmp_path, *skills(host), host=host) as running, Sloppy.unchecked():
        ended = running.run(agent)

    assert ended == (2, "refused")
    assert host.items == CAMERAS
    assert host.labels == []


@unwarned
@pytest.mark.parametrize("shape", sampled(["a list", "a bare yes"], MALFORMED))
@every_era
def test_a_client_that_answers_malformed_twice_hands_over_to_the_host(
    era: str, shape: str, tmp_path: Path
) -> None:
    host, sloppy = FakeHost(CAMERAS, has_ui=True), Sloppy()
    sloppy.content = MALFORMED[shape]
    person = Person(Reply("accept", {"confirm": True}))

    @skill(risk="edit")
    def tidy() -> str:
        """Ask whether to tidy, and say who answered."""
        return elicit_form_sync("Tidy up?", CONFIRM).answered_by

    with live(tmp_path, tidy, host=host, presenter=person) as running, Sloppy.unchecked():
        result = running.call("tidy", era=era, asked=sloppy)

    assert (text(result), sloppy.asked) == ("host", 2)
    assert "This answer was not accepted: each value must be a text" in (
        person.shown[0].reason or ""
    )


@every_way
def test_a_host_is_asked_once_more_and_deletes_nothing(way: str, tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)
    given = [*LAX.values(), *MALFORMED.values()]
    person = Person(*[Reply("accept", content) for one in given for content in (one,) * 2])

    with live(
        tmp_path, *skills(host), host=host, presenter=person, dialogs_per_minute=1000
    ) as running:
        ended = [status(running.call(way)) for _ in given]

    assert host.items == CAMERAS
    assert ended == ["refused"] * len(given)
    assert [one.reason is not None for one in person.shown] == [False, True] * len(given)


@every_era
def test_a_real_yes_is_one(era: str, tmp_path: Path) -> None:
    host = FakeHost()

    with live(tmp_path, *skills(host), host=host) as running:
        for way in WAYS:
            host.items = list(CAMERAS)
            assert status(running.call(way, era=era, asked=accept(confirm=True))) == "done"
            assert host.items == []
