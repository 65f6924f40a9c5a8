"""One run of one skill: on its own thread's terms, in undo steps, and undone where it fails."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

from greenlet import GreenletExit

from dcc_bridge.elicitation import consent
from dcc_bridge.elicitation.call import Call, Progress, current
from dcc_bridge.elicitation.installed import arrival, bridge
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import CANCELLED, ElicitationResponse
from dcc_bridge.elicitation.web import secret
from dcc_bridge.errors import (
    BridgeClosed,
    BridgeError,
    NoConsent,
    NotConfirmed,
    PartlyApplied,
    Stopped,
)
from dcc_bridge.skills import choices, gate, nested
from dcc_bridge.skills.account import Account
from dcc_bridge.skills.limit import Limit
from dcc_bridge.skills.outcome import Outcome, Status
from dcc_bridge.skills.pace import Paced
from dcc_bridge.skills.recent import Trail
from dcc_bridge.skills.shared import Shared
from dcc_bridge.skills.skill import Skill
from dcc_bridge.skills.steps import Steps
from dcc_bridge.skills.stretch import watched

T = TypeVar("T")
Asking = Generator[Question, ElicitationResponse, None]

log = logging.getLogger(__name__)


class Run:
    """One run of one skill, from the queue to its outcome.

    Attributes:
        skill: What is run.
        call: For whom.
        outcome: What came of it. It always ends with an outcome, and is never cancelled. It may
            be known before the run ends, where that takes too long.
    """

    def __init__(
        self,
        shared: Shared,
        skill: Skill,
        arguments: dict[str, Any],
        call: Call,
        missing: Mapping[str, choices.Options],
        trail: Trail,
    ) -> None:
        self.skill = skill
        self.outcome: Future[Outcome] = Future()
        self._shared = shared
        self._missing = missing
        self._trail = trail
        self._arguments = arguments
        self.call = self._call = call
        self._main = shared.main
        self._account = Account(shared.auditor, call)
        self._steps = Steps(shared.host, shared.main, call, skill.undo_label, self._account)
        self._ending = threading.Lock()
        self._is_over = False
        self._is_abandoned = False
        self._queued: Future[Outcome] | None = None
        self._why_not = "it was cancelled before it began; nothing was changed."
        self._waits = Limit(shared.settings.call_deadline, shared.clock, self._expire)
        self._limit = Limit(skill.metadata.timeout, shared.clock, self._overrun)
        call.needs_grant = gate.needs_grant(skill, shared.settings)
        call.pause = self._steps.pause
        call.edit = self._edit
        call.take_back = lambda step: self._account.take_back(shared.host, step)
        call.asks_to_lose = nested.asks_to_lose
        call.asking = self._asking
        call.heard = self._heard
        call.report = self._pace = Paced(self._report, shared.clock)

    @property
    def has_begun(self) -> bool:
        """Whether its body, or the question before it, was reached."""
        return self._trail.has_begun

    @property
    def asks(self) -> bool:
        """Whether a question of it is open."""
        return self._trail.asks

    def queue(self, queued: Future[Outcome]) -> None:
        """Take what runs it; it waits from now on."""
        self._queued = queued
        self._waits.go()
        queued.add_done_callback(self._note_end)

    def cancel(self) -> None:
        """Let it never begin; a coroutine that has begun ends where it waits. Any thread."""
        if self._queued is not None:
            self._queued.cancel()

    def refuse(self, why: str) -> None:
        """End it before it begins.

        Args:
            why: A sentence for the agent.
        """
        self.cancel()
        self._end(Outcome("not_started", None, why))

    def abandon(self) -> None:
        """Undo what was changed so far, unless it is done already. Main thread."""
        with self._ending:
            if self._is_over:
                return
            self._is_abandoned = self._steps.changed
        status: Status = "failed"
        try:
            self._steps.close()
            self._steps.roll_back()
        except Exception:  # the host could not undo; the bridge stops all the same
            log.exception("call %s: its changes could not be undone", self._call.id)
            status = "partly_applied"
        self._write_end(status, str(BridgeClosed()))

    def on_main_thread(self) -> Outcome:
        """Run as a job."""
        self._begin()
        return self._guarded(self._on_main_thread, self._steps.roll_back)

    def on_pool_thread(self) -> Outcome:
        """Run on a thread of the pool; edits are jobs of their own."""
        self._begin()
        return self._guarded(self._body, self._roll_back_from_pool)

    @nested.begins_run
    async def on_loop(self) -> Outcome:
        """Run on the worker's loop; edits are jobs of their own, and so is the end."""
        self._begin()
        try:
            asking = self._before()
            question = next(asking, None)
            while question is not None:
                question = _after(asking, await consent.put_async(question))
            body = self.skill.fn(**self._arguments)
            value, error = await watched(body, self._warn_of_stretch), None
        except Exception as failure:  # noqa: BLE001 - a skill may raise anything; it is told
            value, error = None, failure
        except BaseException:  # noqa: BLE001 - its client left, and the task is cancelled
            value, error = None, Stopped(self.skill.title, overdue=self._call.overdue)
        undo = self._steps.roll_back
        ending = self._submit(lambda: self._guarded(lambda: _give(value, error), undo))
        ending.add_done_callback(self._note_end)
        return await asyncio.shield(arrival(ending))  # cancelled or not, it must come to its end

    def _warn_of_stretch(self, seconds: float) -> None:
        log.warning(
            "call %s: %s held the worker's loop for %.1f s, and every client waited: await what "
            'takes long, or make it a plain function with thread="any"',
            self._call.id,
            self.skill.name,
            seconds,
        )

    def _report(self, progress: Progress) -> None:
        done, total, message = progress
        told = done, total, secret.redacted(message)
        self._trail.report(told)
        self._call.progress(told)

    def _asking(self) -> None:
        self._trail.ask()
        self._limit.rest()

    def _heard(self, answered_by: str | None) -> None:
        self._trail.hear(answered_by)
        if not self._trail.asks:
            self._limit.go()

    def _begin(self) -> None:
        self._waits.end()
        refusal = self._shared.pause.refusal(self.skill)
        if refusal is not None:  # it was queued before the switch was turned
            raise refusal
        current.set(self._call)
        self._trail.begin()
        self._limit.go()

    def _edit(self, fn: Callable[[], T]) -> Future[T]:
        def stepped() -> T:
            with self._steps.stretch():
                return fn()

        return self._submit(stepped)

    def _submit(self, fn: Callable[[], T]) -> Future[T]:
        is_read = self.skill.metadata.risk == "read"
        return self._main.submit(fn, name=self.skill.title, read=is_read)

    def _roll_back_from_pool(self) -> None:
        self._steps.close()  # an edit that is still queued, or runs just now, must not stand
        if self._steps.changed:
            self._main.wait(self._submit(self._steps.roll_back))

    def _on_main_thread(self) -> Any:
        is_read = self.skill.metadata.risk == "read"
        return self._body(self._steps.reading if is_read else self._steps.stretch)

    @nested.begins_run
    def _body(self, step: Callable[[], AbstractContextManager[None]] = nullcontext) -> Any:
        asking = self._before()
        question = next(asking, None)
        while question is not None:
            question = _after(asking, consent.put(question))
        with step():
            return self.skill.fn(**self._arguments)

    def _before(self) -> Asking:
        """Give the questions that stand before the body; its arguments are complete then."""
        if self._missing:
            which = choices.question(self._missing, self._call)
            self._arguments |= choices.chosen(self._missing, which, (yield which))
        gated = gate.question(self.skill, self._arguments, self._call, self._shared.settings)
        if gated is not None:
            consent.check(gated, (yield gated))

    def _guarded(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        """Run a body and give what came of it; a failed or refused one leaves no change."""
        outcome = self._outcome(body, undo)
        self._pace.flush()
        if outcome.error is not None:
            outcome = Outcome(outcome.status, None, secret.redacted(outcome.error))
        self._call.secrets.clear()
        self._end(outcome)
        return outcome

    def _write_end(self, status: Status, error: str | None) -> None:
        self._account.end(status, error, self._steps.done, self._steps.undone)

    def _end(self, outcome: Outcome) -> None:
        self._steps.close()
        self._end_questions()
        self._write_end(outcome.status, outcome.error)
        self._waits.end()
        self._limit.end()
        self._trail.end(outcome.status, outcome.error, self._steps.label)
        self._shared.ended(self._call.id)
        self._settle(outcome)

    def _end_questions(self) -> None:
        """End what a task or a thread that it left behind asks, now and later."""
        here = bridge()
        if here is not None and self._call.ended is None:
            here.broker.end(self._call)

    def _settle(self, outcome: Outcome) -> None:
        with suppress(InvalidStateError):  # its caller was told before
            self.outcome.set_result(outcome)

    def _expire(self) -> None:
        waited = self._shared.settings.call_deadline
        self._why_not = f"it waited for {waited:g} s, and will not begin any more; nothing was "
        self._why_not += "changed. Try again later."
        self.cancel()

    def _overrun(self) -> None:
        self._call.overdue = True
        if self.skill.is_async:
            self.cancel()
        self._shared.clock(self._shared.settings.call_grace, self._give_up)

    def _give_up(self) -> None:
        told = (
            f"{self.skill.name} still runs, though it may for {self.skill.metadata.timeout:g} s "
            "only, and cannot be stopped. It may still change the scene: look with recent_calls "
            "how it ended before you go on."
        )
        self._settle(Outcome("unknown_outcome", None, told))

    def _note_end(self, queued: Future[Outcome]) -> None:
        """Note the end of a run that could not do so itself: mostly one that never began."""
        name = self.skill.name
        if queued.cancelled():
            if not self.has_begun:  # a coroutine undoes its changes first, and notes its end
                self._end(Outcome("not_started", None, f"{name}: {self._why_not}"))
            return
        error = queued.exception()
        if error is None:
            return
        told = str(error) if isinstance(error, BridgeError) else "The skill could not be run."
        status: Status = "failed" if self.has_begun else "not_started"
        self._end(Outcome("unknown_outcome" if self._steps.changed else status, None, told))

    def _outcome(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        value, failure = _tried(body, f"the result of {self.skill.name}")
        with self._ending:
            ended = self._call.ended is not None
            undoes = failure is not None or self._call.refused or ended
            lost = failure is None and (self._is_abandoned or (ended and self._steps.changed))
            self._is_over = not undoes and not lost
        try:
            if undoes:
                undo()
        except PartlyApplied as error:
            return Outcome("partly_applied", None, str(error))
        except Exception:  # the host could not undo, or is gone; the call ends all the same
            if self._steps.changed:
                log.exception("call %s: its changes could not be undone", self._call.id)
                return Outcome("partly_applied", None, str(PartlyApplied(self.skill.name)))
        if lost:
            told = "nobody waited for it any more, so its changes were undone."
            status: Status = "failed" if self._is_abandoned else "cancelled"
            return Outcome(status, None, f"{self.skill.name}: {told}")
        if failure is not None:
            return self._failed(failure)
        self._tell_edited()
        return Outcome(self._refused if self._call.refused else "done", value)

    @property
    def _refused(self) -> Status:
        """What a refusal is: nobody said no where the call was cancelled."""
        return "cancelled" if self._call.ended == CANCELLED else "refused"

    def _tell_edited(self) -> None:
        try:
            if self._steps.label is not None:
                self._shared.edited(self._call, self._steps.label)
        except Exception:  # what is told of an edit cannot unmake it
            log.exception("call %s: its edit could not be told of", self._call.id)

    def _failed(self, error: BaseException) -> Outcome:
        name = self.skill.name
        match error:
            case Stopped():
                return Outcome("timed_out" if self._call.overdue else "cancelled", None, str(error))
            case NotConfirmed():
                return Outcome(self._refused, None, str(error))
            case NoConsent():
                return Outcome("no_consent", None, str(error))
            case BridgeError():
                return Outcome("failed", None, f"{name}: {error}")
        told = self._call.arguments.scrub(secret.told(error))
        log.warning("call %s: %s failed\n%s", self._call.id, name, told)
        reason, kind = str(error), type(error).__name__
        if not (reason and isinstance(error, ValueError)):
            reason = f"{kind}: {reason}" if reason else kind
        if not reason.endswith((".", "!", "?")):
            reason += "."
        return Outcome("failed", None, f"{name} failed: {reason} Its changes were undone.")


def _after(asking: Asking, answer: ElicitationResponse) -> Question | None:
    """Hand an answer over, and give the next question, or None."""
    try:
        return asking.send(answer)
    except StopIteration:
        return None


def _tried(body: Callable[[], T], what: str) -> tuple[T | None, BaseException | None]:
    """Give what a body returned, or what it raised; no secret is in what it returned."""
    try:
        return secret.keep_out(body(), what), None
    except GreenletExit:  # left behind by a bridge that is gone: there is nothing to undo with
        raise
    except BaseException as error:  # noqa: BLE001 - also Esc in Maya, or a cancelled coroutine
        return None, error


def _give(value: T, error: Exception | None) -> T:
    if error is not None:
        raise error
    return value
