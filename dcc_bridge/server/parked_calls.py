"""Parked calls: objects that keep a call alive when the request that began it ends.

A *call* is one run of a skill for a client. The skill stays on its thread's stack while requests
come and go. A call has a list of *events*, numbered from 0: each is a question for the client,
except the last one, which is the result.

- A request waits for one event, and all requests that wait for an event get the same one.
- For a *modern* client (2026-07-28) a question ends the request with ``InputRequiredResult``. The
  client sends the call again with its answer and the *state* ``<call>.<event>``, which names the
  question. The first answer to a question counts. A later answer is ignored, and its request is
  given the event that followed the question.
- For a *legacy* client the question goes out as ``elicitation/create`` while the request stays
  open.

A call that outlasts its request may become a *task* (`server.tasks`): its client gets an id, and
asks for the result by the id. When the last open request of any other call is cut off, the call is
*abandoned*: its question is ended and its run cancelled. Two calls are the *same* if they have the
same client, skill and arguments; a client that makes the same call again is told what became of the
first. Calls that ended are kept for a while, for a client that comes late. Everything here runs on
the worker.
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
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.server import protocol
from dcc_bridge.server.client_channel import ClientQuestion, Context, ProgressNotices
from dcc_bridge.server.scope_keys import WRITTEN
from dcc_bridge.server.unfetched_results import Same, UnfetchedResults, most_frequent
from dcc_bridge.skills.call_history import Recent, Status

MAX_ROUNDS: Final = 8
"""Questions to a modern client in one call. Clients give up after ten, without an error."""
KEEPALIVE_S: Final = 5.0
"""Seconds between two notices to a request that waits."""
RESULT_TTL_S: Final = 120.0
"""Seconds for which a finished call can still be fetched."""
MIN_CLIENT_TIMEOUT_S: Final = 20.0
"""Seconds for which every client keeps a request open, if the person does not cancel it there."""
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
Event = ClientQuestion | Result


class ParkedCall:
    """One call, from its first request until its result was fetched.

    Whether the client waits for the call is told by two flags:

    ============ ========= ==================================================================
    `is_awaited` `is_lost` The client
    ============ ========= ==================================================================
    True         False     waits: a request is open, or the first one is on its way
    False        False     has the answer to its last request, and may come back: it was given
                           a question, a task's id, or the result
    False        True      has left, and the call was abandoned; a new request with a state
                           makes it True, False again
    True         True      has left with several requests open, of which some have not ended yet
    ============ ========= ==================================================================

    Whether the call is a task is told by two others. `is_task` never becomes False again, and
    `is_task_known` is only ever True where `is_task` is. A task's id that is not known may have
    been lost with the response that carried it. `asks_as_task` belongs to the skill and is
    independent of all these.

    Attributes:
        asks_as_task: Whether the call becomes a task at its first question, however early that is.
        call: The run of the skill.
        cancel: Cancels the run.
        ended_at: When the call ended, in monotonic seconds; None while it goes on.
        is_awaited: Whether a request waits for the call.
        is_lost: Whether the call was abandoned.
        is_task: Whether the call was made a task, and its id sent to the client.
        is_task_known: Whether the client has used the task's id, so that it surely has the id.
        label: The label of the client whose call it is; no other client reaches it.
        modern: Whether the client speaks 2026-07-28 or later.
        notices: Progress notices to the client.
        requests: The open requests that wait for the call.
        resumed_at: When the last request came, in monotonic seconds.
        same: The client, skill and arguments; equal for the same call made again.
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
        """How many events there are, the result among them once the call has ended."""
        return len(self._events)

    @property
    def asked(self) -> bool:
        """Whether any event of the call is a question."""
        questions = self.rounds
        if self.ended_at is not None:
            questions -= 1  # the last event is the result
        return questions > 0

    @property
    def is_forsaken(self) -> bool:
        """Whether the skill works although the client may know nothing of the call any more.

        No request waits, there is no question with which the client could come back, and the
        client has not used a task's id.
        """
        is_working = self.ended_at is None and not self.open_questions
        return is_working and not self.is_awaited and not self.is_task_known

    @property
    def result(self) -> CallToolResult | None:
        """The result; None while the call goes on."""
        if not self._events:
            return None
        last = self._events[-1]
        return last if isinstance(last, CallToolResult) else None

    @property
    def open_questions(self) -> dict[str, ClientQuestion]:
        """The questions that the client has not answered yet, by keys unique in the call."""
        return {key: question for key, question in self._questions.items() if question.is_open}

    def add_event(self, event: Event) -> None:
        """Add the next event, and wake the requests that wait for it."""
        if isinstance(event, ClientQuestion):
            key = event.question.key
            while key in self._questions:  # the skill asked again under this key
                key = f"{key}.{self.rounds}"
            self._questions[key] = event
        else:
            self.ended_at = time.monotonic()
        self._events.append(event)
        self.stir()

    def offer(self, asked: ClientQuestion) -> None:
        """Put a question to the client; after too many questions, answer that it cannot be asked.

        A task and a legacy client have no limit.
        """
        if self.modern and not self.is_task and self.rounds >= MAX_ROUNDS:
            asked.answer(question.Unable(types.TOO_MANY_QUESTIONS, cancels=True))
        else:
            self.add_event(asked)

    def note_progress(self, progress: Progress) -> None:
        """Keep the newest progress of the skill, and wake the requests so that one sends it."""
        self.notices.latest = progress
        self.stir()

    def stir(self) -> None:
        """Wake the requests that wait, so that each looks at the call again."""
        stirred = self._stirred
        self._stirred = asyncio.Event()
        stirred.set()

    def has_event(self, number: int) -> bool:
        """Return whether an event of this number exists, or is the next one to come.

        So `has_event(number + 1)` is true exactly if the event `number` exists.
        """
        return 0 <= number <= len(self._events)

    async def first_result(self) -> CallToolResult | None:
        """Wait until `stir` is called once, and return the result if that was the only change.

        Returns:
            The result; None if a question or progress came first, or the caller was only woken.
        """
        await self._stirred.wait()
        if not self._events or self.notices.latest is not None:
            return None
        event = self._events[0]
        return event if isinstance(event, CallToolResult) else None

    async def wait_for_event(
        self, number: int, keepalive: float, waiting: Callable[[], str]
    ) -> Event:
        """Wait for an event, and send progress notices to the client meanwhile.

        Args:
            number: The event's number, from 0.
            keepalive: Seconds without progress after which a notice says what the call waits for.
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
        await self.notices.send()  # the latest progress is sent before the event
        return self._events[number]


class TaskMaker(Protocol):
    """Makes tasks of calls that outlast their request: `dcc_bridge.server.tasks.Tasks`."""

    @property
    def after(self) -> float:
        """Seconds for which a request is kept open."""

    def may_serve(self, request: Context) -> bool:
        """Return whether a request can end with a task's handle: its client declares tasks."""

    def make(self, parked: ParkedCall) -> AnyResult | None:
        """Make a task of a call, unless it is one, and return its handle.

        None if there are too many tasks.
        """


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
        """Start a call for a request that can be answered with nothing but the result.

        Args:
            parked: The call.
            scope: The request's ASGI scope.

        Returns:
            The result; None if something else came first: then the caller goes on with `begin`.
        """
        self._park(parked)
        try:
            result = await parked.first_result()
        except BaseException:  # the request was cut off, and no other waits
            self.cut_off(parked)
            raise
        if result is not None:
            scope[WRITTEN] = partial(self.unfetched.remove, parked.same)
            self._drop_if_unreachable(parked)
        return result

    def notice_for(self, same: Same) -> str | None:
        """Return a warning if a client repeats a call that is forsaken or was not fetched."""
        if any(parked.is_forsaken for parked in self.alike(same)):
            return _UNDER_WAY
        return self.unfetched.notice_for(same)

    def alike(self, same: Same) -> list[ParkedCall]:
        """List the kept calls that are the same, for `late_notice_for` to look at later."""
        return list(self._same_calls.get(same, {}).values())

    def late_notice_for(self, same: Same, earlier_calls: list[ParkedCall]) -> str | None:
        """Return the notice that came too late for `notice_for`; None if there is none.

        A client may leave and make the same call again at once. The second call may then begin
        before the end of the first request is noticed, so that `notice_for` finds nothing. So the
        same calls of that moment are looked at again when the second call ends.

        Args:
            same: The client, skill and arguments of the second call.
            earlier_calls: The calls that `alike` listed when the second call began.
        """
        lost = []
        for parked in earlier_calls:
            has_unknown_id = parked.is_task and not parked.is_task_known
            if parked.is_lost or has_unknown_id:
                lost.append(parked)
        if not lost:
            return None
        if any(parked.is_forsaken for parked in lost):
            return _UNDER_WAY
        return self.unfetched.notice_for(same)

    def finish(self, parked: ParkedCall, result: Result, status: Status) -> None:
        """Store the result of a call as its last event."""
        parked.add_event(result)
        parked.cancel = _nothing  # the function before held the run in memory
        if not parked.is_task:  # `Tasks` drops its calls itself, after the time its client was told
            self._ended[parked.call.id] = parked
        self.unfetched.add(parked.same, status)

    async def resume(self, state: str, label: str, answers: Answers, request: Context) -> Result:
        """Serve a request that comes with an answer.

        Args:
            state: The call and the number of the answered question, as ``<call>.<event>``.
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
        was_asked = parked.has_event(number + 1)
        if not was_asked:
            raise unknown_call()
        asked = await self._event(parked, number)
        if not isinstance(asked, ClientQuestion):
            raise unknown_call()
        answer = protocol.answer_to(answers, asked.question.key)
        has_next_event = parked.has_event(number + 2)
        if answer is None and not has_next_event:
            # The answer is missing and the question is still the newest event: ask it again.
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
                self.cut_off(parked)

    def _park(self, parked: ParkedCall) -> None:
        """Keep a call, so that later requests find it."""
        self._drop_old()
        self._parked[parked.call.id] = parked
        self._same_calls.setdefault(parked.same, {})[parked.call.id] = parked

    async def _serve(self, parked: ParkedCall, request: Context, number: int) -> Result:
        """Serve a request, beginning with the event of a number.

        Whatever way the request ends, the call's state follows: a call without any other request
        is abandoned if this one was cut off, and is no longer awaited.
        """
        parked.requests.append(request)
        parked.is_awaited = True
        parked.is_lost = False
        result = None
        try:
            result = await self._answer(parked, request, number)
            return result
        finally:
            if result is None and parked.requests == [request] and not parked.is_task:
                self.cut_off(parked)  # the only request was cut off, or failed
            parked.requests.remove(request)
            parked.is_awaited = bool(parked.requests)
            self._drop_if_unreachable(parked)

    async def _answer(self, parked: ParkedCall, request: Context, number: int) -> Result:
        """Return the answer to a request: a task's handle, a modern client's question, the result.

        A legacy client's questions are asked here, one after the other, until the result comes.
        """
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
        """Forget the unfetched result of a call: at once, or once the response was written."""
        http = request.request
        if http is None or not parked.modern:
            # A response that is lost on the way is sent again to a legacy client that comes back.
            self.unfetched.remove(parked.same)
        else:
            http.scope[WRITTEN] = partial(self.unfetched.remove, parked.same)

    async def _task_handle(
        self, parked: ParkedCall, request: Context, number: int
    ) -> AnyResult | None:
        """Return the handle with which a request ends, if the call is a task or now becomes one.

        A request is kept open for `TaskMaker.after` seconds. The call becomes a task if no event
        comes in that time, or if a question comes and the skill asks in tasks only.

        Returns:
            The handle; None if the request is answered with the event itself, or if there are too
            many tasks.
        """
        if self.tasks is None or not self.tasks.may_serve(request):
            return None
        event = None
        if not parked.is_task:  # each further request for a task gets the handle at once
            seconds = parked.resumed_at + self.tasks.after - time.monotonic()
            with anyio.move_on_after(seconds):
                event = await self._event(parked, number)
        must_ask_in_task = parked.asks_as_task and isinstance(event, ClientQuestion)
        if event is not None and not must_ask_in_task:
            return None
        return self.tasks.make(parked)

    async def _event(self, parked: ParkedCall, number: int) -> Event:
        """Wait for an event of a call, with progress notices at the usual intervals."""
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
        """End a call that its client gives up: end its questions, and ask its run to stop."""
        parked.is_awaited = False
        parked.is_lost = True
        self._broker.end(parked.call)
        parked.cancel()

    def cut_off(self, parked: ParkedCall) -> None:
        """Abandon a call whose request was cut off.

        If the client may have timed out, the person can still answer, for the same call made again.
        A command of the person's own does not time out: the person has ended it.
        """
        waited = time.monotonic() - parked.resumed_at
        if waited >= MIN_CLIENT_TIMEOUT_S and parked.label != CLI_LABEL:
            self._broker.end(parked.call, is_left=True)
        self.abandon(parked)

    def _drop_if_unreachable(self, parked: ParkedCall) -> None:
        """Drop a call that ended, if no client has a state or an id to come back with."""
        is_reachable = parked.asked or parked.requests or parked.is_task
        if parked.ended_at is not None and not is_reachable:
            self.drop(parked)

    def _drop_old(self) -> None:
        """Drop the finished calls that are too old or too many.

        Where there are too many, the oldest call of the client with the most calls goes first.
        """
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
        """Keep a call no longer, so that no request finds it."""
        self._parked.pop(parked.call.id, None)
        self._ended.pop(parked.call.id, None)
        same_calls = self._same_calls.get(parked.same, {})
        same_calls.pop(parked.call.id, None)
        if not same_calls:
            self._same_calls.pop(parked.same, None)


def _nothing() -> None:
    """Do nothing: cancels a call that has no run."""


def unknown_call() -> MCPError:
    """Return the error for a state that belongs to no call."""
    return MCPError(
        code=INVALID_PARAMS,
        message="This call is not waiting for an answer: it has ended, or never was. "
        "Nothing was changed by this request. Start again with a new call.",
    )
