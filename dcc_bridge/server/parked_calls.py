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

MAX_ROUNDS: Final = 8
"""Questions to a modern client in one call: it gives up after ten, without a word."""
KEEPALIVE_S: Final = 5.0
"""Seconds between two notices to a request that waits."""
RESULT_TTL_S: Final = 120.0
"""Seconds for which a finished call can still be fetched."""
MAX_FINISHED: Final = 64
"""Finished calls that are kept."""
_WAITING: Final = {
    # What a client is told from time to time, by the state of its call.
    "queued": "Waiting in the queue of the host",
    "running": "Working in the host",
    "asking": "Waiting for the person's answer",
}

_UNDER_WAY: Final = "The same call was already running, and nobody was waiting for its result."

Result = CallToolResult | InputRequiredResult | AnyResult  # `AnyResult` is a task's handle
Answers = Mapping[str, Any]
Event = ClientQuestion | Result  # awaited by any number of requests, and never taken back


class ParkedCall:
    """One call, from its first request until its result was fetched.

    Attributes:
        asks_as_task: The call's questions are put in a task, however early they come.
        call: The run of the skill.
        cancel: Cancels the run.
        ended_at: When the call ended, in monotonic seconds; None while it goes on.
        is_awaited: A request for the call is open, or the first one is on its way.
        is_lost: The client left.
        is_task: The client was given a task's id.
        is_task_known: The client came back with the task's id, so the id was not lost.
        label: The label of the client whose call it is; no other client reaches it.
        modern: The client speaks 2026-07-28 or later.
        notices: Progress notices to the client.
        requests: The open requests that wait for the call.
        resumed_at: When the last request came, in monotonic seconds.
        same: What makes another call the same one.
        session: The id of the legacy session, once it is known.
    """

    def __init__(self, call: Call, label: str, same: Same, *, modern: bool) -> None:
        self.call = call
        self.label = label
        self.session: str | None = None
        self.same = same
        self.modern = modern
        self.cancel: Callable[[], None] = _nothing
        self.requests: list[Context] = []
        self.resumed_at = time.monotonic()
        self.ended_at: float | None = None
        self.is_awaited = True
        self.is_lost = False
        self.is_task = False
        self.is_task_known = False
        self.asks_as_task = False
        self._questions: dict[str, ClientQuestion] = {}
        self._events: list[Event] = []
        self.notices = ProgressNotices(self.requests)
        self._stirred = asyncio.Event()

    @property
    def rounds(self) -> int:
        """How many events there are: while the call goes on, each is a question."""
        return len(self._events)

    @property
    def asked(self) -> bool:
        """Whether a question went to the client."""
        has_result = self.ended_at is not None
        return self.rounds > has_result

    @property
    def is_forsaken(self) -> bool:
        """Whether the skill works and no request waits: the client may have lost the call."""
        works = self.ended_at is None and not self.open_questions
        return works and not self.is_awaited and not self.is_task_known

    @property
    def result(self) -> CallToolResult | None:
        """The result; None while the call goes on."""
        if not self._events:
            return None
        last = self._events[-1]
        return last if isinstance(last, CallToolResult) else None

    @property
    def open_questions(self) -> dict[str, ClientQuestion]:
        """The questions that the client has not answered yet, by keys that are never used again."""
        return {key: question for key, question in self._questions.items() if question.is_open}

    def add_event(self, event: Event) -> None:
        """Add the next event, and wake the requests that wait for it."""
        if isinstance(event, ClientQuestion):
            key = event.question.key
            while key in self._questions:  # asked again, or named alike
                key = f"{key}.{self.rounds}"
            self._questions[key] = event
        else:
            self.ended_at = time.monotonic()
        self._events.append(event)
        self.stir()

    def offer(self, asked: ClientQuestion) -> None:
        """Put a question to the client, unless it was asked too often."""
        if self.modern and not self.is_task and self.rounds >= MAX_ROUNDS:
            asked.answer(question.Unable(types.TOO_MANY_QUESTIONS, ends=True))
        else:
            self.add_event(asked)

    def note_progress(self, progress: Progress) -> None:
        """Have the client notified how far the skill is."""
        self.notices.latest = progress
        self.stir()

    def stir(self) -> None:
        """Wake the requests that wait, so that they see what has changed."""
        stirred = self._stirred
        self._stirred = asyncio.Event()
        stirred.set()

    def has_event(self, number: int) -> bool:
        """Return whether there is an event of that number, or it is the next one to come."""
        return 0 <= number <= len(self._events)

    async def first_result(self) -> CallToolResult | None:
        """Wait until something changes; return the result if nothing but the result came."""
        await self._stirred.wait()
        if not self._events or self.notices.latest is not None:
            return None
        event = self._events[0]
        return event if isinstance(event, CallToolResult) else None

    async def wait_for_event(
        self, number: int, keepalive: float, waiting: Callable[[], str]
    ) -> Event:
        """Wait for an event, and notify the request of progress meanwhile.

        Args:
            number: The event's number, from 0.
            keepalive: Seconds of silence after which the request is told what the call waits for.
            waiting: Returns what the call waits for, as a sentence.
        """
        while number >= len(self._events):
            with anyio.move_on_after(keepalive) as silence:
                if self.notices.latest is None or not self.requests:
                    await self._stirred.wait()
            if silence.cancelled_caught:
                await self.notices.send(waiting)
            else:
                await self.notices.send()
        await self.notices.send()  # the last news goes before the event
        return self._events[number]


class TaskMaker(Protocol):
    """Makes tasks of calls that outlast their request: `dcc_bridge.server.tasks.Tasks`."""

    @property
    def after(self) -> float:
        """Seconds for which a request is kept open."""

    def may_serve(self, request: Context) -> bool:
        """Return whether a request can end with a handle: its client says that it knows tasks."""

    def make(self, parked: ParkedCall) -> AnyResult | None:
        """Make a task of a call, and return its handle; None where no further task is kept."""


class ParkedCalls:
    """All calls that requests wait for, or for which a client may still come.

    Attributes:
        tasks: Makes tasks of calls that outlast their request; None where there are no tasks.
        unfetched: The results that no client fetched.
    """

    def __init__(self, broker: Broker, recent: Recent) -> None:
        """Prepare for calls.

        Args:
            broker: Ends a call's questions when no client waits for the call any more.
            recent: The states of the calls.
        """
        self._broker = broker
        self._recent = recent
        self.tasks: TaskMaker | None = None
        self._parked: dict[str, ParkedCall] = {}
        self._same_calls: dict[Same, dict[str, ParkedCall]] = {}
        self._ended: OrderedDict[str, ParkedCall] = OrderedDict()  # in the order of their ends
        self.unfetched = UnfetchedResults()

    @property
    def open(self) -> int:
        """How many calls have not ended."""
        return sum(parked.ended_at is None for parked in self._parked.values())

    def knows(self, state: str) -> bool:
        """Return whether a state belongs to a call that is kept here."""
        call_id = state.partition(".")[0]
        return call_id in self._parked

    async def begin(self, parked: ParkedCall, request: Context) -> Result:
        """Serve the request that starts a call."""
        self._park(parked)
        return await self._serve(parked, request, 0)

    async def begin_plain(self, parked: ParkedCall, scope: Any) -> CallToolResult | None:
        """Start a call for a request that can take nothing but the result.

        Args:
            parked: The call.
            scope: The request's ASGI scope.

        Returns:
            The result; None if something else came first, and the call is to `begin`.
        """
        self._park(parked)
        try:
            result = await parked.first_result()
        except BaseException:  # the request was cut off, and no other waits
            self.abandon(parked)
            raise
        if result is not None:
            scope[WRITTEN] = partial(self.unfetched.remove, parked.same)
            self._forget(parked)
        return result

    def notice_for(self, same: Same) -> str | None:
        """Return a sentence if a call was made before and its result not fetched; else None."""
        if any(parked.is_forsaken for parked in self.alike(same)):
            return _UNDER_WAY
        return self.unfetched.notice_for(same)

    def alike(self, same: Same) -> list[ParkedCall]:
        """List the same calls that are kept, for `late_notice_for`."""
        return list(self._same_calls.get(same, {}).values())

    def late_notice_for(self, same: Same, beside: list[ParkedCall]) -> str | None:
        """Return the notice about the same calls that were lost after a call began; or None.

        A client that leaves and calls again at once can be here before its end is.

        Args:
            same: What makes the calls the same.
            beside: The same calls that were kept when the call began.
        """
        lost = []
        for parked in beside:
            if parked.is_lost or (parked.is_task and not parked.is_task_known):
                lost.append(parked)
        if not lost:
            return None
        if any(parked.is_forsaken for parked in lost):
            return _UNDER_WAY
        return self.unfetched.notice_for(same)

    def finish(self, parked: ParkedCall, result: Result, status: Status) -> None:
        """Store the result of a call as its last event."""
        parked.add_event(result)
        parked.cancel = _nothing  # it holds the run, which has ended
        if not parked.is_task:  # a task is kept for as long as its client was told
            self._ended[parked.call.id] = parked
        self.unfetched.add(parked.same, status)

    async def resume(self, state: str, label: str, answers: Answers, request: Context) -> Result:
        """Serve a request that comes with an answer.

        Args:
            state: Names the call, and the question that is answered.
            label: The label that the request's token proved.
            answers: The answers, by the keys of their questions.
            request: The request.

        Raises:
            MCPError: The call is unknown, expired or another client's.
        """
        call_id, _, round_text = state.partition(".")
        parked = self._parked.get(call_id)
        if parked is None or parked.label != label or not round_text.isdecimal():
            raise unknown_call()
        number = int(round_text)
        if not parked.has_event(number + 1):
            raise unknown_call()
        asked = await self._event(parked, number)
        if not isinstance(asked, ClientQuestion):
            raise unknown_call()
        answer = protocol.answer_to(answers, asked.question.key)
        if answer is None and not parked.has_event(number + 2):
            return protocol.input_required(asked.question, state)
        if protocol.is_left(answer):
            self.abandon(parked)
        elif answer is not None:
            asked.answer(protocol.reply(answer))
        parked.resumed_at = time.monotonic()
        return await self._serve(parked, request, number + 1)

    def end_session(self, session: str) -> None:
        """End the calls of a legacy session whose client is gone."""
        for parked in list(self._parked.values()):
            if parked.session == session and parked.ended_at is None:
                self.abandon(parked)

    def _park(self, parked: ParkedCall) -> None:
        self._forget_old()
        self._parked[parked.call.id] = parked
        self._same_calls.setdefault(parked.same, {})[parked.call.id] = parked

    async def _serve(self, parked: ParkedCall, request: Context, number: int) -> Result:
        """Serve a request with the events from a number on."""
        parked.requests.append(request)
        parked.is_awaited = True
        parked.is_lost = False
        result = None
        try:
            result = await self._answer(parked, request, number)
            return result
        finally:
            if result is None and parked.requests == [request] and not parked.is_task:
                self.abandon(parked)  # the only request was cut off, or failed: no other waits
            parked.requests.remove(request)
            parked.is_awaited = bool(parked.requests)
            self._forget(parked)

    async def _answer(self, parked: ParkedCall, request: Context, number: int) -> Result:
        handle = await self._task_handle(parked, request, number)
        if handle is not None:
            return handle
        while True:
            event = await self._event(parked, number)
            if not isinstance(event, ClientQuestion):
                self._note_fetch(parked, request)
                return event
            if parked.modern:
                return protocol.input_required(event.question, f"{parked.call.id}.{number}")
            async with anyio.create_task_group() as notifying:
                waiting = partial(self.waiting, parked)
                notifying.start_soon(parked.notices.repeat, KEEPALIVE_S, waiting)
                await event.ask_in(request)
                notifying.cancel_scope.cancel()
            number += 1

    def _note_fetch(self, parked: ParkedCall, request: Context) -> None:
        """Note that the result goes out: a modern client has it once the response is written."""
        http = request.request
        if http is None or not parked.modern:
            # A legacy client comes back for a response that was lost on the way.
            self.unfetched.remove(parked.same)
        else:
            http.scope[WRITTEN] = partial(self.unfetched.remove, parked.same)

    async def _task_handle(
        self, parked: ParkedCall, request: Context, number: int
    ) -> AnyResult | None:
        """Wait for an event as long as a request is kept open; a task's handle if none comes."""
        if self.tasks is None or not self.tasks.may_serve(request):
            return None
        event = None
        if not parked.is_task:  # a task stays one, however often a request is sent again
            seconds = parked.resumed_at + self.tasks.after - time.monotonic()
            with anyio.move_on_after(seconds):
                event = await self._event(parked, number)
        asks_in_task = parked.asks_as_task and isinstance(event, ClientQuestion)
        if event is not None and not asks_in_task:
            return None
        return self.tasks.make(parked)

    async def _event(self, parked: ParkedCall, number: int) -> Event:
        return await parked.wait_for_event(number, KEEPALIVE_S, partial(self.waiting, parked))

    def waiting(self, parked: ParkedCall) -> str:
        """Return what a call waits for now, as a sentence for its client."""
        record = self._recent.find(parked.call.id)
        if record is None:
            return ""
        if record.state == "queued":
            held_up_by = self._broker.held_up()
            if held_up_by:
                return f"Waiting for {held_up_by}"
        return _WAITING[record.state]

    def abandon(self, parked: ParkedCall) -> None:
        """End a call that no client waits for any more, as far as it can be ended."""
        parked.is_awaited = False
        parked.is_lost = True
        self._broker.end(parked.call)
        parked.cancel()

    def _forget(self, parked: ParkedCall) -> None:
        """Drop a call that ended and never asked: no client has a state to come back with."""
        if parked.ended_at is not None and not (parked.asked or parked.requests or parked.is_task):
            self.drop(parked)

    def _forget_old(self) -> None:
        """Drop the finished calls that are too old or too many."""
        oldest = time.monotonic() - RESULT_TTL_S
        for parked in list(self._ended.values()):
            if (parked.ended_at or 0) >= oldest:
                break
            self.drop(parked)
        while len(self._ended) > MAX_FINISHED:
            label = most_frequent(parked.label for parked in self._ended.values())
            for parked in list(self._ended.values()):
                if parked.label == label:
                    self.drop(parked)
                    break

    def drop(self, parked: ParkedCall) -> None:
        """Keep a call no longer."""
        self._parked.pop(parked.call.id, None)
        self._ended.pop(parked.call.id, None)
        same_calls = self._same_calls.get(parked.same, {})
        same_calls.pop(parked.call.id, None)
        if not same_calls:
            self._same_calls.pop(parked.same, None)


def _nothing() -> None:
    pass


def unknown_call() -> MCPError:
    """Return the error for a state that belongs to no call."""
    return MCPError(
        code=INVALID_PARAMS,
        message="This call is not waiting for an answer: it has ended, or never was. "
        "Nothing was changed by this request. Start again with a new call.",
    )
