"""One bridge on which many calls are played, and all that can be seen of each from outside.

The people and the clients of the matrix stand here: who sits at the host, and what a client
declares. The test's own thread is the host's main thread; a client runs on a thread of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import anyio
from mcp import Client, ClientSession
from mcp_types import (
    CallToolResult,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    FormElicitationCapability,
    InputRequiredResult,
    UrlElicitationCapability,
)

from dcc_bridge import confirm_sync, elicit_form_sync, known_clients, skill
from dcc_bridge.callbacks import call_later
from dcc_bridge.elicitation.question import Expired, Question, Reply, Settle, TakeDown
from dcc_bridge.elicitation.types import ElicitationResponse
from tests.live import ERAS, LIMIT, Live, status
from tests.server.skills import CONFIRM
from tests.stand_ins import OUTSIDE, FakeHost, Person

CAMERAS: Final = [f"cam{number}" for number in range(7)]
LISTED: Final = known_clients.SILENT[0]
"""The label of a client that the settings name as one that draws nothing."""
EMPTY: Final = 0.03
"""Seconds that the host's person has for an answer where nobody sits."""
SILENT: Final = 40.0
"""Seconds that a client has that never answers; they are over as soon as it has heard."""
_NAME: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is given in a cell of the matrix; the words are those of the matrix."""

    question: str
    client: str
    surface: str
    person: str
    era: str

    @property
    def bridge(self) -> str:
        return f"{self.surface}, {'silent' if self.client == 'silent' else 'answering'} clients"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a call.

    Attributes:
        asked: The surfaces that were asked, in order.
        agreed: The surfaces at which somebody, or something, really accepted.
        answers: What the broker made of each question.
        status: How the call ended.
        lost: What is gone from the scene.
        found: What is new in the scene.
        steps: How many undo steps more there are.
    """

    asked: list[str]
    agreed: list[str]
    answers: list[ElicitationResponse]
    status: str
    lost: list[str]
    found: list[str]
    steps: int

    @property
    def scene(self) -> str:
        if self.lost or self.found:
            return "changed"
        return "undone" if self.status == "no_consent" else "kept"


@dataclass
class Log:
    """What happened at the surfaces during one call."""

    asked: list[str] = field(default_factory=list)
    agreed: list[str] = field(default_factory=list)
    answers: list[Future[ElicitationResponse]] = field(default_factory=list)


class Chair:
    """The place at the host: whoever is to sit there for a call is put there before it."""

    def __init__(self, log: Callable[[], Log], *, empty: bool = False) -> None:
        self.sitting = Person()
        self._log = log
        self._is_empty = empty

    def show(self, question: Question, settle: Settle) -> TakeDown:
        def heard(said: Any) -> None:
            if isinstance(said, Reply) and said.action == "accept":
                self._log().agreed.append("host")
            settle(said)

        self._log().asked.append("host")
        if self._is_empty:
            call_later(EMPTY, lambda: settle(Expired()))
        return self.sitting.show(question, heard)

    def chip(self, *args: Any) -> TakeDown:
        return self.sitting.chip(*args)

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> TakeDown:
        return self.sitting.notice(text, undo, call)


class MatrixBridge:
    """A running bridge with the matrix's skills."""

    def __init__(self, runtime: Path, name: str) -> None:
        surface, clients = name.split(", ")
        self.name = name
        self.cell: Scenario
        self.log = Log()
        self.chair = Chair(lambda: self.log, empty=surface == "empty")
        self.host = FakeHost(CAMERAS, has_ui=surface != "headless")
        self.live = Live(
            runtime,
            *_skills(self.host),
            host=self.host,
            presenter=None if surface == "headless" else self.chair,
            dialogs_per_minute=100_000,
            deadline=SILENT if clients == "silent clients" else 45.0,
        )
        self._end_silence: Callable[[], None] = lambda: None
        self._watch_the_broker()

    def play(self, cells: Sequence[Scenario]) -> dict[Scenario, Seen]:
        return self.live.run(self._client, cells, limit=3 * LIMIT)

    async def _client(self, cells: Sequence[Scenario]) -> dict[Scenario, Seen]:
        kind, era = cells[0].client, cells[0].era
        asked = None if kind == "none" else self.asked
        with declaring(kind, era):
            label = LISTED if kind == "listed" else kind
            async with self.live.client(era, asked, label=label) as client:
                return {cell: await self._play(client, cell) for cell in cells}

    async def _play(self, client: Client, cell: Scenario) -> Seen:
        steps = self.set(cell)

        with anyio.fail_after(LIMIT):
            if cell.client == "silent" and cell.era == ERAS[-1]:
                result = await self._never_answer(client, cell.question)
            else:
                result = await client.call_tool(cell.question, {})

        return Seen(
            asked=self.log.asked,
            agreed=self.log.agreed,
            answers=[future.result(0) for future in self.log.answers],
            status=status(result),
            lost=[item for item in CAMERAS if item not in self.host.items],
            found=[item for item in self.host.items if item not in CAMERAS],
            steps=self._steps() - steps,
        )

    def set(self, cell: Scenario) -> int:
        """Make everything ready for a call; gives how many undo steps there are before it."""
        self.cell, self.log = cell, Log()
        self.host.items = list(CAMERAS)
        self.chair.sitting = Person(*_sitting(cell))
        return self._steps()

    def _steps(self) -> int:
        """Count the undo steps, without what `set` did to the scene."""
        return sum(label != OUTSIDE for label in self.host.labels)

    async def _never_answer(self, client: Client, tool: str) -> CallToolResult:
        """Call as a modern client that draws nothing does; come back for what became of it."""
        result = await client.session.call_tool(tool, {}, allow_input_required=True)
        if isinstance(result, InputRequiredResult):
            self.log.asked.append("client")
            while not self.log.answers:  # the question is out before its future is given
                await anyio.sleep(0.005)
            self._end_silence()
            await asyncio.wrap_future(self.log.answers[-1])
        while isinstance(result, InputRequiredResult):
            result = await client.session.call_tool(
                tool,
                {},
                allow_input_required=True,
                input_responses={},
                request_state=result.request_state,
            )
        return result

    def asked(self, params: ElicitRequestParams) -> Any:
        assert isinstance(params, ElicitRequestFormParams)
        self.log.asked.append("client")
        if self.cell.client == "silent":
            self._end_silence()
            return _silence()
        if self.cell.client != "hook" and self.cell.person == "declines":
            return ElicitResult(action="decline")
        self.log.agreed.append("client")
        return ElicitResult(action="accept", content=filled(params.requested_schema))

    def _watch_the_broker(self) -> None:
        broker = self.live.bridge.broker
        ask, clock = broker.ask, broker._clock

        def held(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
            if seconds != SILENT:
                return clock(seconds, fn)
            self._end_silence = fn  # a silent client's deadline
            return lambda: None

        def watched(question: Question) -> Future[ElicitationResponse]:
            answer = ask(question)
            self.log.answers.append(answer)
            return answer

        broker.ask = watched  # type: ignore[method-assign]  # every question passes here
        broker._clock = held


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """Accept a form as a hook does: something that fits in every field."""
    fits = {"boolean": True, "string": "cam_new"}
    return {name: fits[part["type"]] for name, part in schema["properties"].items()}


@contextmanager
def declaring(client: str, era: str) -> Iterator[None]:
    """Let the SDK's client declare what a client of the matrix declares.

    By itself it always declares both modes; before 2025-11-25 there was nothing to tell apart, and
    a bare ``{}`` was a form.
    """
    form, url = FormElicitationCapability(), UrlElicitationCapability()
    modes = {
        "none": None,
        "form": ElicitationCapability(form=None if era == ERAS[0] else form),
        "url": ElicitationCapability(url=url),
    }
    told = modes.get(client, ElicitationCapability(form=form, url=url))
    build = ClientSession._build_capabilities

    def capabilities(session: ClientSession, version: str) -> ClientCapabilities:
        return build(session, version).model_copy(update={"elicitation": told})

    with patch.object(ClientSession, "_build_capabilities", capabilities):
        yield


async def _silence() -> ElicitResult:
    await anyio.sleep_forever()
    raise AssertionError("for ever is over")


def _sitting(cell: Scenario) -> list[Reply]:
    if cell.surface != "host":
        return []
    if cell.person == "declines":
        return [Reply("decline")]
    is_input = cell.question.startswith("input")
    return [Reply("accept", {"name": "cam_new"} if is_input else {"confirm": True})]


def _skills(host: FakeHost) -> list[Callable[..., Any]]:
    """Make a skill for each question of the matrix."""

    @skill(name="confirm", risk="destructive", confirms=True)
    def confirmed() -> None:
        """Delete what a person agreed to."""
        for item in confirm_sync("Delete them?", items=lambda: host.items, verb="Delete"):
            host.items.remove(item)

    @skill(risk="destructive")
    def gate() -> None:
        """Delete everything, and leave the asking to the runner."""
        host.items.clear()

    return [
        confirmed,
        gate,
        _deletes(host, "form", None),
        _deletes(host, "form-fallback", {"confirm": True}),
        _adds(host, "input", None),
        _adds(host, "input-fallback", {"name": "cam_declared"}),
    ]


def _deletes(host: FakeHost, name: str, fallback: dict[str, Any] | None) -> Callable[..., Any]:
    @skill(name=name, risk="destructive", confirms=True)
    def deletes() -> None:
        """Delete everything if the form says so."""
        answer = elicit_form_sync("Delete them?", CONFIRM, fallback_values=fallback)
        if answer.accepted and (answer.data or {})["confirm"]:
            host.items.clear()

    return deletes


def _adds(host: FakeHost, name: str, fallback: dict[str, Any] | None) -> Callable[..., Any]:
    @skill(name=name, risk="edit")
    def adds() -> None:
        """Add a camera with the name that the form says."""
        answer = elicit_form_sync("Which name?", _NAME, fallback_values=fallback)
        if answer.accepted:
            host.items.append((answer.data or {})["name"])

    return adds
