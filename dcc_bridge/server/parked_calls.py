"""Parked calls: a call is an object that outlives a request.

A skill keeps its stack while the request that carried it ends. A call is a row of *events*, and
each event is either a question for the client or the result:

- a request waits for the next event, and every request that waits for the same one gets the same;
- on the modern era (2026-07-28) a question ends its request with ``InputRequiredResult``. The
  client sends the call again with the answer and the state ``<call>.<event>``: the first answer to
  an event counts, a later one is ignored and is given the event after it, which is stored;
- on the legacy era the question goes out as ``elicitation/create`` while the request stays open.

When the last open request of a call is cut off, nobody waits for it: its question is ended, unless
it is a task by then (`server.tasks`), which needs no request. Calls that ended are kept for a
while, for a client that comes late. Everything here runs on the worker.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, InputRequiredResult
from mcp_types import Result as AnyResult

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import question, types
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.server import protocol
from dcc_bridge.server.client_channel import ClientQuestion, Context, ProgressNotices
from dcc_bridge.server.scope_keys import WRITTEN
from dcc_bridge.server.unfetched_results import Same, UnfetchedResults, most_frequent
from dcc_bridge.skills.call_history import Recent, Status

MOST_ROUNDS: Final = 8  # a modern client is not asked any more: it stops after ten, without a word
KEEPALIVE_S: Final = 5.0  # between two notices to a request that waits
KEPT: Final = 120.0  # seconds for which a finished call can still be fetched
MOST_KEPT: Final = 64
_WAITING: Final = {  # what a client is told from time to time, by the state of its call
    "queued": "Waiting in the queue of the host",
    "running": "Working in the host",
    "asking": "Waiting for the person's answer",
}

_UNDER_WAY: Final = "The same call was under way when this one came, and nobody waits for it."

Result = CallToolResult | InputRequiredResult | AnyResult  # the last one is a task's handle
Answers = Mapping[str, Any]
Event = ClientQuestion | Result  # awaited by any number of requests, and never taken back


class ParkedCall:
    """One call, from its first request until its result was fetched."""

    def __init__(self, call: Call, label: str, same: Same, *, modern: bool) -> None:
        self.call = call  # the run of the skill
        self.label = label  # whose it is; nobody else reaches it
        self.session: str | None = None  # the legacy session's id, once it is known
        self.same = same  # what it is the same as
        self.modern = modern  # the client speaks 2026-07-28 or later
        self.cancel: Callable[[], None] = _nothing
        self.requests: list[Context] = []
        self.resumed_at = time.monotonic()  # when its last request came
        self.ended_at: float | None = None
        self.is_awaited = True  # a request for it is open, or the first one is on its way
        self.is_lost = False  # its client left
        self.is_task = False  # its client was given a task's id
        self.is_task_known = False  # its client came back with the id, so that was not lost
        self.asks_as_task = False  # its questions are put in a task, however early they come
        self._keys: dict[str, ClientQuestion] = {}
        self._events: list[Event] = []
        self.notices = ProgressNotices(self.requests)
        self._stirred = asyncio.Event()

    @property
    def rounds(self) -> int:
        """How many questions went to the client."""
        return len(self._events)

    @property
    def asked(self) -> bool:
        """Whether a question went to the client."""
        return self.rounds > (self.ended_at is not None)

    @property
    def is_forsaken(self) -> bool:
        """Whether it works and nobody is seen to wait for it: its client may have lost it."""
        works = self.ended_at is None and not self.open_questions
        return works and not self.is_awaited and not self.is_task_known

    @property
    def result(self) -> CallToolResult | None:
        """What came of it; None for as long as it goes on."""
        last = self._events[-1] if self._events else None
        return last if isinstance(last, CallToolResult) else None

    @property
    def open_questions(self) -> dict[str, ClientQuestion]:
        """What its client has not answered yet, each by a key that it alone ever has."""
        return {key: question for key, question in self._keys.items() if question.is_open}

    def add_event(self, event: Event) -> None:
        """Add the next event."""
        if not isinstance(event, ClientQuestion):
            self.ended_at = time.monotonic()
        else:
            key = event.question.key
            while key in self._keys:  # asked again, or named alike
                key = f"{key}.{self.rounds}"
            self._keys[key] = event
        self._events.append(event)
        self.stir()

    def offer(self, asked: ClientQuestion) -> None:
        """Put a question to the client, unless it was asked too often."""
        if self.modern and not self.is_task and self.rounds >= MOST_ROUNDS:
            asked.answer(question.Unable(types.TOO_MANY_QUESTIONS, ends=True))
        else:
            self.add_event(asked)

    def note_progress(self, progress: Progress) -> None:
        """Have the client notified how far the skill is."""
        self.notices.latest = progress
        self.stir()

    def stir(self) -> None:
        """Wake whoever waits, to see what has changed."""
        stirred, self._stirred = self._stirred, asyncio.Event()
        stirred.set()

    def has_event(self, number: int) -> bool:
        """Whether there is an event of that number, or it is the next one to come."""
        return 0 <= number <= len(self._events)

    async def first_result(self) -> CallToolResult | None:
        """Wait until something changes; None where that is not the result alone."""
        await self._stirred.wait()
        event = self._events[0] if self._events and self.notices.latest is None else None
        return event if isinstance(event, CallToolResult) else None

    async def wait_for_event(
        self, number: int, keepalive: float, waiting: Callable[[], str]
    ) -> Event:
        """Wait for an event; in silence the request is told at each keepalive what it waits for."""
        while number >= len(self._events):
            with anyio.move_on_after(keepalive) as silence:
                if self.notices.latest is None or not self.requests:
                    await self._stirred.wait()
            await self.notices.send(waiting if silence.cancelled_caught else None)
        await self.notices.send()  # the last news goes before the event
        return self._events[number]


class TaskMaker(Protocol):
    """Makes tasks of calls that outlast their request: `dcc_bridge.server.tasks.Tasks`."""

    @property
    def after(self) -> float:
        """Seconds for which a request is kept open."""

    def may_serve(self, request: Context) -> bool:
        """Tell whether a request can end with a handle: its client says that it knows them."""

    def make(self, parked: ParkedCall) -> AnyResult | None:
        """Make a task of a call, and return its handle; None where no further one is kept."""


class ParkedCalls:
    """All calls that somebody waits for, or may still come for."""

    def __init__(self, broker: Broker, recent: Recent) -> None:
        self._broker = broker  # ends a call's questions, when nobody waits for it any more
        self._recent = recent  # how the calls stand
        self.tasks: TaskMaker | None = None  # makes tasks of calls that outlast their request
        self._parked: dict[str, ParkedCall] = {}
        self._alike: dict[Same, dict[str, ParkedCall]] = {}  # the same ones
        self._ended: OrderedDict[str, ParkedCall] = OrderedDict()  # in the order of their ends
        self.unfetched = UnfetchedResults()  # what nobody came for

    @property
    def open(self) -> int:
        """How many calls have not ended."""
        return sum(parked.ended_at is None for parked in self._parked.values())

    def knows(self, state: str) -> bool:
        """Whether a state belongs to a call that is kept here."""
        return state.partition(".")[0] in self._parked

    async def begin(self, parked: ParkedCall, request: Context) -> Result:
        """Serve the request that starts a call."""
        self._park(parked)
        return await self._serve(parked, request, 0)

    async def begin_plain(self, parked: ParkedCall, scope: Any) -> CallToolResult | None:
        """Start a call for a request that hears its result only; None if it is to `begin`."""
        self._park(parked)
        try:
            result = await parked.first_result()
        except BaseException:  # it was cut off, and nobody waits any more
            self.abandon(parked)
            raise
        if result is not None:
            scope[WRITTEN] = partial(self.unfetched.remove, parked.same)
            self._forget(parked)
        return result

    def notice_for(self, same: Same) -> str | None:
        """Say that a call was made before and its result not fetched, or None for a new one."""
        is_lost = any(it.is_forsaken for it in self._alike.get(same, {}).values())
        return _UNDER_WAY if is_lost else self.unfetched.notice_for(same)

    def alike(self, same: Same) -> list[ParkedCall]:
        """List the same calls that are kept, for `late_notice_for`."""
        return list(self._alike.get(same, {}).values())

    def late_notice_for(self, same: Same, beside: list[ParkedCall]) -> str | None:
        """Say, as a call ends, what of those beside it was not seen to be lost when it began.

        A client that leaves and calls again at once can be here before its end is.
        """
        left = [it for it in beside if it.is_lost or (it.is_task and not it.is_task_known)]
        if any(it.is_forsaken for it in left):
            return _UNDER_WAY
        return self.unfetched.notice_for(same) if left else None

    def finish(self, parked: ParkedCall, result: Result, status: Status) -> None:
        """Store the result of a call as its last event."""
        parked.add_event(result)
        parked.cancel = _nothing  # it holds the run, which has ended
        if not parked.is_task:  # else it is kept for as long as its client was told
            self._ended[parked.call.id] = parked
        self.unfetched.add(parked.same, status)

    async def resume(self, state: str, label: str, answers: Answers, request: Context) -> Result:
        """Serve a request with an answer; MCPError: its call is unknown, expired or another's."""
        name, _, number = state.partition(".")
        parked = self._parked.get(name)
        if parked is None or parked.label != label or not number.isdecimal():
            raise unknown_call()
        round_ = int(number)
        if not parked.has_event(round_ + 1):
            raise unknown_call()
        asked = await self._event(parked, round_)
        if not isinstance(asked, ClientQuestion):
            raise unknown_call()
        answer = protocol.answer_to(answers, asked.question.key)
        if answer is None and not parked.has_event(round_ + 2):
            return protocol.input_required(asked.question, state)
        if protocol.is_left(answer):
            self.abandon(parked)
        elif answer is not None:
            asked.answer(protocol.reply(answer))
        parked.resumed_at = time.monotonic()
        return await self._serve(parked, request, round_ + 1)

    def end_session(self, session: str) -> None:
        """End the calls of a legacy session that nobody listens to any more."""
        for parked in list(self._parked.values()):
            if parked.session == session and parked.ended_at is None:
                self.abandon(parked)

    def _park(self, parked: ParkedCall) -> None:
        self._forget_old()
        self._parked[parked.call.id] = parked
        self._alike.setdefault(parked.same, {})[parked.call.id] = parked

    async def _serve(self, parked: ParkedCall, request: Context, number: int) -> Result:
        parked.requests.append(request)
        parked.is_awaited, parked.is_lost, result = True, False, None
        try:
            result = await self._answer(parked, request, number)
            return result
        finally:
            if result is None and parked.requests == [request] and not parked.is_task:
                self.abandon(parked)  # the only request was cut off, or failed: nobody waits
            parked.requests.remove(request)
            parked.is_awaited = bool(parked.requests)
            self._forget(parked)

    async def _answer(self, parked: ParkedCall, request: Context, number: int) -> Result:
        if (handle := await self._handle(parked, request, number)) is not None:
            return handle
        while True:
            event = await self._event(parked, number)
            if not isinstance(event, ClientQuestion):
                if (http := request.request) is None or not parked.modern:
                    self.unfetched.remove(parked.same)  # it comes back for what was lost on the way
                else:
                    http.scope[WRITTEN] = partial(self.unfetched.remove, parked.same)
                return event
            if parked.modern:
                return protocol.input_required(event.question, f"{parked.call.id}.{number}")
            async with anyio.create_task_group() as telling:
                waiting = partial(self.waiting, parked)
                telling.start_soon(parked.notices.repeat, KEEPALIVE_S, waiting)
                await event.ask_in(request)
                telling.cancel_scope.cancel()
            number += 1

    async def _handle(self, parked: ParkedCall, request: Context, number: int) -> AnyResult | None:
        """Wait for an event as long as a request is kept open; a task's handle if none comes."""
        if self.tasks is None or not self.tasks.may_serve(request):
            return None
        event = None
        if not parked.is_task:  # else it is the same one, however often a retry comes
            with anyio.move_on_after(parked.resumed_at + self.tasks.after - time.monotonic()):
                event = await self._event(parked, number)
        in_task = parked.asks_as_task and isinstance(event, ClientQuestion)
        return self.tasks.make(parked) if event is None or in_task else None

    async def _event(self, parked: ParkedCall, number: int) -> Event:
        return await parked.wait_for_event(number, KEEPALIVE_S, partial(self.waiting, parked))

    def waiting(self, parked: ParkedCall) -> str:
        """Say for what a call waits now."""
        record = self._recent.find(parked.call.id)
        if record is not None and record.state == "queued" and (what := self._broker.held_up()):
            return f"Waiting for {what}"
        return _WAITING[record.state] if record is not None else ""

    def abandon(self, parked: ParkedCall) -> None:
        """End a call that nobody waits for any more, as far as it can be."""
        parked.is_awaited, parked.is_lost = False, True
        self._broker.end(parked.call)
        parked.cancel()

    def _forget(self, parked: ParkedCall) -> None:
        """Drop a call that ended and never asked: nobody has a state of it to come back with."""
        if parked.ended_at is not None and not (parked.asked or parked.requests or parked.is_task):
            self.drop(parked)

    def _forget_old(self) -> None:
        """Drop the finished calls that are too old or too many."""
        oldest = time.monotonic() - KEPT
        for parked in list(self._ended.values()):
            if (parked.ended_at or 0) >= oldest:
                break
            self.drop(parked)
        while len(self._ended) > MOST_KEPT:
            label = most_frequent(it.label for it in self._ended.values())
            self.drop(next(it for it in self._ended.values() if it.label == label))

    def drop(self, parked: ParkedCall) -> None:
        """Keep a call no longer."""
        alike = self._alike.get(parked.same, {})
        for kept in (self._parked, self._ended, alike):
            kept.pop(parked.call.id, None)
        if not alike:
            self._alike.pop(parked.same, None)


def _nothing() -> None:
    pass


def unknown_call() -> MCPError:
    """Build the error for a state that leads nowhere."""
    return MCPError(
        code=INVALID_PARAMS,
        message="This call is not waiting for an answer: it has ended, or never was. "
        "Nothing was changed by this request. Start again with a new call.",
    )
