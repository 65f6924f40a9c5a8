"""Parked calls: a call is an object that outlives a request.

A skill keeps its stack while the request that carried it ends. A call is a row of *events*, and
each event is either a question for the client or the result:

- a request waits for the next event, and every request that waits for the same one gets the same;
- on the modern era (2026-07-28) a question ends its request with ``InputRequiredResult``. The
  client sends the call again with the answer and the state ``<call>.<event>``: the first answer to
  an event counts, a later one is ignored and is given the event after it, which is stored;
- on the legacy era the question goes out as ``elicitation/create`` while the request stays open.

When the last open request of a call is cut off, nobody waits for it: its question is ended. Calls
that ended are kept for a while, for a client that comes late. Everything here runs on the worker,
except `Channel`, whose methods are called on any thread.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, InputRequiredResult

from dcc_bridge.callbacks import call_safely
from dcc_bridge.elicitation.call import Call, Progress
from dcc_bridge.elicitation.question import Question, Settle, Unable
from dcc_bridge.elicitation.types import TOO_MANY_QUESTIONS
from dcc_bridge.server import malformed, wire
from dcc_bridge.server.meter import Meter
from dcc_bridge.server.unfetched import Same, Unfetched
from dcc_bridge.skills.outcome import Status
from dcc_bridge.skills.recent import Recent

MOST_ROUNDS: Final = 8
"""From this round on a modern client is not asked any more: it stops after ten, without a word."""
PATIENT_AFTER: Final = 60.0
"""Seconds after which some clients give a request up; one that did not, waits for a person."""
ANSWERED: Final = "answered"
"""Why a question is taken down that a person answered."""
_WAITING: Final = {
    "queued": "Waiting in the queue of the host",
    "running": "Working in the host",
    "asking": "Waiting for the person's answer",
}
"""What a client is told from time to time, by the state of its call."""

Context = ServerRequestContext[Any, Any]
Result = CallToolResult | InputRequiredResult
Soon = Callable[[Callable[[], None]], None]
Answers = Mapping[str, Any]


class Asked:
    """A question that is with the client."""

    def __init__(self, question: Question, settle: Settle) -> None:
        self.question = question
        self._settle: Settle | None = settle
        self._withdrawn = anyio.Event()
        self._why = ""

    def answer(self, reply: wire.Answer) -> None:
        """Hand over what the client said; only the first time counts."""
        settle, self._settle = self._settle, None
        if settle is not None:
            call_safely(settle, reply)  # if that fails, the request still waits for what comes next

    def withdraw(self, why: str = "") -> None:
        """Forget the question: it was answered elsewhere, or ended."""
        self._settle = None
        self._why = self._why or why
        self._withdrawn.set()

    async def put_to(self, request: Context) -> None:
        """Put it to a legacy client, unless it is withdrawn first."""
        async with anyio.create_task_group() as asking:
            asking.start_soon(self._watch, asking.cancel_scope)
            self.answer(await wire.ask_legacy(request, self.question))
            if self.question.visit is not None:
                await self._withdrawn.wait()  # the client agreed; the page says when it is done
            asking.cancel_scope.cancel()
        if self.question.visit is not None and self._why == ANSWERED:
            await wire.tell_completed(request, self.question)

    async def _watch(self, scope: anyio.CancelScope) -> None:
        await self._withdrawn.wait()
        scope.cancel()


@dataclass(slots=True)
class _Slot:
    """One event: awaited by any number of requests, set once."""

    event: Event | None = None


Event = Asked | Result


class Parked:
    """One call, from its first request until its result was fetched."""

    def __init__(
        self, call: Call, label: str, session: str | None, same: Same, *, modern: bool
    ) -> None:
        """Begin with no event.

        Args:
            call: The run of the skill.
            label: Whose it is; nobody else reaches it.
            session: The legacy session's id, or None.
            same: What it is the same as.
            modern: The client speaks 2026-07-28 or later.
        """
        self.call = call
        self.label = label
        self.session = session
        self.same = same
        self.modern = modern
        self.cancel: Callable[[], None] = lambda: None
        self.requests: list[Context] = []
        self.ended_at: float | None = None
        self._slots = [_Slot()]
        self._meter = Meter()
        self._news: Progress | None = None
        self._stirred = anyio.Event()

    @property
    def rounds(self) -> int:
        """How many questions went to the client."""
        return len(self._slots) - 1

    @property
    def asked(self) -> bool:
        """Whether a question went to the client."""
        return self.rounds > (self.ended_at is not None)

    def put(self, event: Event) -> None:
        """Add the next event."""
        slot = self._slots[-1]
        if not isinstance(event, Asked):
            self.ended_at = time.monotonic()
        self._slots.append(_Slot())
        slot.event = event
        self._stir()

    def tell(self, progress: Progress) -> None:
        """Have the request that is open now told how far the skill is."""
        self._news = progress
        self._stir()

    def _stir(self) -> None:
        stirred, self._stirred = self._stirred, anyio.Event()
        stirred.set()

    def has(self, number: int) -> bool:
        """Whether there is an event of that number, or it is the next one to come."""
        return 0 <= number < len(self._slots)

    async def event(self, number: int, keepalive: float, waiting: Callable[[], str]) -> Event:
        """Wait for an event, telling the open request meanwhile how far it is.

        Args:
            number: Which event.
            keepalive: Seconds of silence after which the request is told that it is waited for.
            waiting: Says for what.
        """
        slot = self._slots[number]
        while slot.event is None:
            silent = False
            if self._news is None or not self.requests:
                with anyio.move_on_after(keepalive) as silence:
                    await self._stirred.wait()
                silent = silence.cancelled_caught
            await self._speak(waiting if silent else None)
        await self._speak()  # the last news goes before the event
        return slot.event

    async def beat(self, keepalive: float, waiting: Callable[[], str]) -> None:
        """Tell the open request for what it is waited, again and again, until cancelled.

        A legacy client counts the time that its own person takes, unless it hears of progress.
        """
        while True:
            await anyio.sleep(keepalive)
            await self._speak(waiting)

    async def _speak(self, waiting: Callable[[], str] | None = None) -> None:
        """Tell the open request the news, or where there is none, for what it is waited."""
        if not self.requests:
            return
        news, self._news = self._news, None
        session = self.requests[-1].session
        if news is not None:
            done, total, message = news
            said = wire.carried(message) or None
            await session.report_progress(*self._meter.report(done, total), said)
        elif waiting is not None:
            await session.report_progress(*self._meter.beat(), waiting())


class Channel:
    """The presenter that draws a call's questions in its client."""

    def __init__(self, parked: Parked, soon: Soon) -> None:
        """Take the call and the way to the worker's loop."""
        self._parked = parked
        self._soon = soon

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Put a question to the client. Any thread."""
        asked = Asked(question, settle)
        self._soon(lambda: self._offer(asked))
        return lambda reason: self._soon(lambda: asked.withdraw(reason))

    def _offer(self, asked: Asked) -> None:
        if self._parked.modern and self._parked.rounds >= MOST_ROUNDS:
            asked.answer(Unable(TOO_MANY_QUESTIONS, ends=True))
        else:
            self._parked.put(asked)


class Calls:
    """All calls that somebody waits for, or may still come for."""

    def __init__(
        self,
        end: Callable[[Call], None],
        note_patience: Callable[[str], None],
        recent: Recent,
        *,
        keepalive: float,
        kept: float,
        most_kept: int,
    ) -> None:
        """Begin with none.

        Args:
            end: Ends a call's questions, because nobody waits for it any more.
            note_patience: Told the label of a client that kept a request open for over a minute.
            recent: How the calls stand.
            keepalive: Seconds between two notices to a request that waits.
            kept: Seconds for which a finished call can be fetched.
            most_kept: How many finished calls are kept.
        """
        self._end = end
        self._note_patience = note_patience
        self._recent = recent
        self._keepalive = keepalive
        self._kept = kept
        self._most_kept = most_kept
        self._parked: OrderedDict[str, Parked] = OrderedDict()
        self.unfetched = Unfetched()
        """What nobody came for."""

    @property
    def open(self) -> int:
        """How many calls have not ended."""
        return sum(parked.ended_at is None for parked in self._parked.values())

    def knows(self, state: str) -> bool:
        """Whether a state belongs to a call that is kept here."""
        return state.partition(".")[0] in self._parked

    async def begin(self, parked: Parked, request: Context) -> Result:
        """Serve the request that starts a call."""
        self._forget_old()
        self._parked[parked.call.id] = parked
        return await self._serve(parked, request, 0)

    def finish(self, parked: Parked, result: Result, status: Status) -> None:
        """Store the result of a call as its last event."""
        parked.put(result)
        self.unfetched.end(parked.same, status)

    async def resume(self, state: str, label: str, answers: Answers, request: Context) -> Result:
        """Serve a request that comes back with an answer.

        Raises:
            MCPError: The call is unknown, has expired, or is somebody else's.
        """
        name, _, number = state.partition(".")
        parked = self._parked.get(name)
        if parked is None or parked.label != label or not number.isdecimal():
            raise unknown_call()
        round_ = int(number)
        if not parked.has(round_ + 1):
            raise unknown_call()
        asked = await self._event(parked, round_)
        if not isinstance(asked, Asked):
            raise unknown_call()
        answer = malformed.answer(answers, asked.question.key)
        if answer is None and not parked.has(round_ + 2):
            return wire.input_required(asked.question, state)
        if answer is not None:
            asked.answer(wire.reply(answer))
        return await self._serve(parked, request, round_ + 1)

    def left(self, session: str) -> None:
        """End the calls of a legacy session that nobody listens to any more."""
        for parked in list(self._parked.values()):
            if parked.session == session and parked.ended_at is None:
                self._abandon(parked)

    async def _serve(self, parked: Parked, request: Context, number: int) -> Result:
        parked.requests.append(request)
        began = time.monotonic()
        try:
            return await self._answer(parked, request, number)
        except BaseException:  # cut off, or it failed: nobody waits at its end; and it goes on
            if parked.requests == [request]:
                self._abandon(parked)
            raise
        finally:
            parked.requests.remove(request)
            self._forget(parked)
            if time.monotonic() - began > PATIENT_AFTER:
                self._note_patience(parked.label)

    async def _answer(self, parked: Parked, request: Context, number: int) -> Result:
        while True:
            event = await self._event(parked, number)
            if not isinstance(event, Asked):
                self.unfetched.fetch(parked.same)
                return event
            if parked.modern:
                return wire.input_required(event.question, f"{parked.call.id}.{number}")
            async with anyio.create_task_group() as telling:
                telling.start_soon(parked.beat, self._keepalive, self._waiting(parked))
                await event.put_to(request)
                telling.cancel_scope.cancel()
            number += 1

    async def _event(self, parked: Parked, number: int) -> Event:
        return await parked.event(number, self._keepalive, self._waiting(parked))

    def _waiting(self, parked: Parked) -> Callable[[], str]:
        """Make what says for what a call waits now."""

        def waiting() -> str:
            record = self._recent.find(parked.call.id)
            return _WAITING[record.state] if record is not None else ""

        return waiting

    def _abandon(self, parked: Parked) -> None:
        self._end(parked.call)
        parked.cancel()

    def _forget(self, parked: Parked) -> None:
        """Drop a call that ended and never asked: nobody has a state of it to come back with."""
        if parked.ended_at is not None and not parked.asked and not parked.requests:
            self._parked.pop(parked.call.id, None)

    def _forget_old(self) -> None:
        """Drop the finished calls that are too old or too many."""
        ended = [p for p in self._parked.values() if p.ended_at is not None]
        oldest = time.monotonic() - self._kept
        too_many = len(ended) - self._most_kept
        for index, parked in enumerate(ended):
            if index < too_many or (parked.ended_at or 0) < oldest:
                del self._parked[parked.call.id]


def unknown_call() -> MCPError:
    """Say that a state leads nowhere."""
    return MCPError(
        code=INVALID_PARAMS,
        message="This call is not waiting for an answer: it has ended, or never was. "
        "Nothing was changed by this request. Start again with a new call.",
    )
