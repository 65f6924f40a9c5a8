"""One run of one skill: on its own thread's terms, in undo steps, and undone where it fails."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from greenlet import GreenletExit

from dcc_bridge.audit.trail import RunRecord
from dcc_bridge.callbacks import Throttle, TimeLimit, call_safely, report_blocking
from dcc_bridge.consent import undo_steps
from dcc_bridge.consent.attempt import Attempt, CannotTry
from dcc_bridge.consent.call import Call, RunControl, current_run, destructive_skill
from dcc_bridge.consent.loss import Loss
from dcc_bridge.consent.outside import OutsideGuard
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import PAUSED, Answered, ElicitationResponse, outcome
from dcc_bridge.errors import BridgeClosed, BridgeError, PartlyApplied, Paused, Stopped
from dcc_bridge.skills import gate
from dcc_bridge.skills.call_history import Outcome, Status, Trail, outcome_of_failure, refusal
from dcc_bridge.skills.called_skills import CalledSkills
from dcc_bridge.skills.results import whole
from dcc_bridge.skills.run_environment import RunEnvironment
from dcc_bridge.skills.skill import Options, Skill
from dcc_bridge.threads.flows import Flow, current, run_async, run_sync, wrap_future

T = TypeVar("T")

log = logging.getLogger(__name__)

# For a skill to see that it exceeded its time limit; then its client is told that the outcome
# is not known.
OVERRUN_GRACE_S: Final = 5.0
_ENDED: Future[Any] = Future()  # in place of what ran it, which holds the run
_ENDED.set_result(None)


class Run(RunControl):
    """One run of one skill, from the queue to its outcome."""

    def __init__(
        self,
        environment: RunEnvironment,
        skill: Skill,
        arguments: dict[str, Any],
        call: Call,
        missing: Mapping[str, Options],
        progress: Callable[[Progress], None],
        forget: Callable[[str], None],
    ) -> None:
        """Prepare a run; it begins once it is queued.

        Args:
            environment: What the runs of one bridge have in common.
            skill: The skill.
            arguments: Its arguments, checked.
            call: The call; this run becomes its `control`.
            missing: The required choices that are asked for before the body.
            progress: Told how far the body is, at a rate that a client can take.
            forget: Told the call's id once the run is over.
        """
        self.skill = skill
        # It always ends with an outcome, and is never cancelled. The outcome may be known before
        # the run ends, where that takes too long.
        self.outcome: Future[Outcome] = Future()
        self.trail = environment.recent.follow(call)  # what writes its record
        self.call = call
        self._call = call
        self._environment = environment
        self._main = environment.main
        self._missing = missing
        self._arguments = arguments
        self._forget = forget
        self._account = RunRecord(environment.auditor, call)
        # These hold no run, which holds them.
        self.paused = partial(_paused, environment, skill, self.trail)
        self._steps = undo_steps.Steps(
            environment.host,
            environment.main,
            call,
            skill.undo_label,
            self._account,
            self.paused,
            environment.recent.follow_mark,
        )
        self._ending = threading.Lock()
        self._is_over = False
        self._is_abandoned = False
        self._queued: Future[Outcome] | None = None
        self._why_not = "it was cancelled before it began; nothing was changed."
        settings = environment.settings
        clock = environment.clock
        self._queue_limit = TimeLimit(settings.client_deadline, clock, self._expire)
        self._time_limit = TimeLimit(skill.metadata.timeout, clock, self._overrun)
        needs_grant = gate.needs_grant(skill, settings)
        call.ledger.needs_grant = needs_grant
        self._attempt = Attempt(
            environment.host,
            call,
            self._steps,
            is_gated=needs_grant,
            asks_edits=needs_grant and skill.metadata.risk == "edit",
            guard=OutsideGuard(inspect.unwrap(skill.fn).__code__.co_filename),
            writers=environment.writers,
            restart=partial(self._time_limit.restart, skill.metadata.timeout),
        )
        call.control = self
        self._called = CalledSkills(environment.main, self._steps, self._attempt)
        self._called.expect_own(skill.fn)
        self._throttle = Throttle(partial(_report, self.trail, progress), clock)

    def queue(self, queued: Future[Outcome]) -> None:
        """Note what will run it; the run waits from now on."""
        self._queued = queued
        self._queue_limit.start()
        queued.add_done_callback(self._note_end)

    def cancel(self) -> None:
        """Let it never begin; a coroutine that has begun ends where it waits. Any thread."""
        if self._queued is not None:
            self._queued.cancel()

    def refuse(self, why: str) -> None:
        """End it before it begins, if it has not; `why` is a sentence for the agent."""
        if self._queued is None or self._queued.cancel():
            self._end(Outcome("not_started", None, why))
        else:
            self._queued.add_done_callback(self._note_end)

    def abandon(self) -> None:
        """Undo what was changed so far, unless it is done already. Main thread."""
        with self._ending:
            if self._is_over:
                return
            self._is_abandoned = bool(self._steps.done)
        self._steps.close()
        is_undone = self._undo(self._steps.roll_back) is None
        self._write_end("failed" if is_undone else "partly_applied", str(BridgeClosed()))

    def on_main_thread(self) -> Outcome:
        """Run as a job."""
        self._begin()
        steps = self._steps
        if self.skill.metadata.risk == "read":
            return self._guarded(partial(self._body, steps.reading), steps.roll_back)
        return self._guarded(self._editing_body, steps.roll_back)

    def on_pool_thread(self) -> Outcome:
        """Run on a thread of the pool; edits are jobs of their own."""
        self._begin()
        return self._guarded(self._body, self._roll_back_from_pool)

    async def on_loop(self) -> Outcome:
        """Run on the worker's loop; edits are jobs of their own, and so is the end."""
        self._begin()
        try:
            await run_async(self._ask_missing(), "confirm")
            await run_async(self._ask_before(), "confirm")
            body = self.skill.fn(**self._arguments)
            value = await report_blocking(body, self._warn_of_blocking)
            error = None
        except Exception as failure:  # noqa: BLE001 - a skill may raise anything
            value = None
            error = failure
        except BaseException:  # noqa: BLE001 - its client left, and the task is cancelled
            value = None
            error = Stopped(self.skill.title, overdue=self._call.ending.is_overdue)
        undo = self._steps.roll_back
        ending = self._submit(lambda: self._guarded(lambda: _give(value, error), undo))
        ending.add_done_callback(self._note_end)
        with suppress(BridgeClosed):  # its outcome says so, and nobody retrieves more
            await asyncio.shield(wrap_future(ending))  # cancelled or not, it must come to its end
        return await wrap_future(self.outcome)

    def _warn_of_blocking(self, seconds: float) -> None:
        why = (
            "call %s: %s held the worker's loop for %.1f s, and every client waited: await what "
            'takes long, or make it a plain function with thread="any"'
        )
        log.warning(why, self._call.id, self.skill.name, seconds)

    def pause(self) -> AbstractContextManager[None]:
        """Close the undo step while a question is open. Main thread."""
        return self._steps.pause()

    def take_back(self) -> bool:
        """Undo what the call has changed, and go on in a new undo step. Main thread."""
        return self._steps.take_back()

    def attempt(self, body: Callable[[], T], ask_for_loss: Callable[[Loss], None]) -> T:
        """Try a part of a body that asks by itself, until what it loses was agreed to."""
        attempt = Attempt(
            self._environment.host, self._call, self._steps, ask_for_loss=ask_for_loss
        )
        with self._steps.pause():
            return attempt.run(body)

    @property
    def is_trying(self) -> bool:
        """Whether what the body loses is seen at its end, and asked about then. Main thread."""
        return self._attempt.is_trying

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer to the same question of an earlier try. Any thread."""
        return self._attempt.answered_before(question)

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Note the answer to a question of the body. Any thread."""
        self._attempt.note_answer(question, response)

    def limit(self, seconds: float | None) -> None:
        """Let the skill run for so long from now on, questions aside; None for no limit."""
        self._time_limit.restart(seconds)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Close the undo step while `what` runs; NoConsent says that it edited."""
        with self._steps.pause(), self._steps.reading(what):
            yield

    def edit(self, fn: Callable[[], T]) -> Future[T]:
        """Run a part of the skill on the main thread, in an undo step. Any thread."""
        return self._submit(self._steps.open()(fn))

    def look(self, fn: Callable[[], T]) -> Future[T]:
        """Run something on the main thread that only reads the scene. Any thread."""
        reading = self._steps.reading()(fn)
        return self._main.submit(reading, name=f"a look of {self.skill.title}", read=True)

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Flow[None] | None:
        """Have a destructive skill agreed to that is called in this one. Any thread."""
        return self._called.enter(call, fn, args, kwargs)

    def inside(self, call: Call) -> AbstractContextManager[None]:
        """Run the body of a destructive skill that another one called. Any thread."""
        return self._called.inside(call)

    def record_undo(self, label: str) -> None:
        """Write down that another call's undo step is undone next. Main thread."""
        self._account.take_back(self._environment.host, label)

    def report(self, progress: Progress) -> None:
        """Note how far it is; the record and the client are told at a slower rate. Any thread."""
        self._throttle(progress)

    def question_opened(self) -> None:
        """Note that a question is open: the time limit stands still. Any thread."""
        self.trail.question_opened()
        self._time_limit.pause()

    def question_closed(self, answered: Answered) -> None:
        """Note how a question ended. Any thread."""
        self.trail.question_closed(answered)
        if not self.trail.asks:
            self._time_limit.start()

    def _begin(self) -> None:
        self._queue_limit.cancel()
        refusal = self.paused()
        if refusal is not None:  # it was queued before the person paused
            raise refusal
        current.set(self._call)
        current_run.set(self)  # for as long as a task or a thread that it leaves behind goes on
        destructive_skill.set("")  # whoever queued it may run one itself
        self.trail.begin()
        self._time_limit.start()

    def _submit(self, fn: Callable[[], T]) -> Future[T]:
        return self._main.submit(fn, name=self.skill.title, read=self.skill.metadata.risk == "read")

    def _roll_back_from_pool(self) -> None:
        self._steps.close()  # an edit that is still queued, or runs just now, must not stand
        if self._steps.done or self._steps.lost:
            self._main.wait(self._submit(self._steps.roll_back))

    def _body(self, step: Callable[[], AbstractContextManager[None]] = nullcontext) -> Any:
        run_sync(self._ask_missing(), "confirm")
        run_sync(self._ask_before(), "confirm")
        with step():
            return whole(self.skill.fn(**self._arguments))

    def _editing_body(self) -> Any:
        """Run a body that may edit, on the main thread: it is tried first, where it can be."""
        known = self.skill.name, self.skill.digest
        # Where no gate would ask, it is tried however long it takes.
        is_too_long = known in self._environment.too_long and self._attempt.is_gated
        if is_too_long or not gate.is_tried(self.skill):
            run_sync(self._ask_missing(), "confirm")
            run_sync(self._ask_before(), "confirm")
            return self._attempt.run_untried(self._fresh_body)
        run_sync(self._ask_missing(), "confirm")
        try:
            return self._attempt.run(self._fresh_body)
        except CannotTry as error:
            reason = error
        finally:
            if self._attempt.is_too_long:
                self._environment.too_long.add(known)
        if reason.is_watched:
            run_sync(self._ask_before(), "confirm")
            try:
                return self._attempt.run_watched(self._fresh_body)
            except CannotTry as error:
                reason = error
        run_sync(self._ask_before(reason), "confirm")
        return self._attempt.run_untried(self._fresh_body)

    def _fresh_body(self) -> Any:
        """Run the body with arguments that no run before it has changed."""
        self._called.expect_own(self.skill.fn)
        return whole(self.skill.fn(**copy.deepcopy(self._arguments)))

    def _ask_missing(self) -> Flow[None]:
        return gate.ask_missing(self.skill, self._arguments, self._missing, self._call)

    def _ask_before(self, reason: CannotTry | None = None) -> Flow[None]:
        settings = self._environment.settings
        return gate.ask_before(self.skill, self._arguments, self._call, settings, reason)

    def _guarded(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        """Run a body and return what came of it; a failed or refused one leaves no change."""
        outcome = self._outcome(body, undo)
        self._throttle.flush()
        note = ""
        put_back = ", ".join(self._steps.put_back)
        if put_back:
            note = f" The skill also changed {put_back}. That was restored."
        left = ", ".join(self._steps.left)
        if left:
            note += f" Its changes to these remain: {left}."
        if outcome.error is not None:
            outcome = Outcome(outcome.status, None, secret.redact(outcome.error + note))
        else:
            outcome = replace(outcome, note=(outcome.note + note).strip())
        self._call.dialogue.secrets.clear()
        self._end(outcome)
        return outcome

    def _write_end(self, status: Status, error: str | None) -> None:
        steps = self._steps
        self._account.end(
            status,
            error,
            steps.done,
            steps.undone,
            steps.put_back,
            is_reverted=steps.is_reverted,
        )

    def _end(self, outcome: Outcome) -> None:
        self._steps.close()
        context = current_context()
        # what a task or a thread that it left behind asks ends, now and later
        if context is not None and self._call.ending.reason is None:
            context.broker.end(self._call)
        self._write_end(outcome.status, outcome.error)
        self._queue_limit.cancel()
        self._time_limit.cancel()
        self.trail.end(outcome.status, outcome.error, self._steps.effect)
        self._forget(self._call.id)
        self._settle(outcome)
        self._call.control = weakref.proxy(self)
        self._queued = _ENDED

    def _settle(self, outcome: Outcome) -> None:
        with suppress(InvalidStateError):  # its caller was told before
            self.outcome.set_result(outcome)

    def _expire(self) -> None:
        why = "it waited for {:g} s and was dropped. Nothing was changed. Try again later."
        self._why_not = why.format(self._environment.settings.client_deadline)
        self.cancel()

    def _overrun(self) -> None:
        self._call.ending.is_overdue = True
        if self.skill.is_async:
            self.cancel()
        self._environment.clock(OVERRUN_GRACE_S, self._give_up)

    def _give_up(self) -> None:
        message = (
            f"{self.skill.name} has run for more than its {self._time_limit.seconds:g} s and "
            "cannot be stopped. It may still change the scene. Before you go on, see its outcome "
            "with recent_calls."
        )
        self._settle(Outcome("unknown_outcome", None, message))

    def _note_end(self, queued: Future[Outcome]) -> None:
        """Note the end of a run that could not do so itself: mostly one that never began."""
        name = self.skill.name
        if queued.cancelled():
            if not self.trail.has_begun:  # a coroutine undoes its changes first, and notes its end
                self._end(Outcome("not_started", None, f"{name}: {self._why_not}"))
            return
        error = queued.exception()
        if error is None:
            return
        message = "The skill could not be run."
        if isinstance(error, BridgeError):
            message = str(error)
        status: Status = "not_started"
        if self._steps.done:
            status = "unknown_outcome"
        elif self.trail.has_begun:
            status = "failed"
        self._end(Outcome(status, None, message))

    def _outcome(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        value, failure = _tried(body, f"the result of {self.skill.name}")
        failure = self._steps.lost or failure
        with self._ending:
            ended = self._call.ending.reason is not None
            refused = self._call.ledger.refused
            undoes = failure is not None or refused is not None or ended
            lost = failure is None and (self._is_abandoned or (ended and bool(self._steps.done)))
            self._is_over = not undoes and not lost
        if undoes:
            error = self._undo(undo)
            if error is not None:
                return Outcome("partly_applied", None, str(error))
        if lost:
            reason = f"the client stopped waiting. {self._call.remainder}"
            status: Status = "failed" if self._is_abandoned else "cancelled"
            return Outcome(status, None, f"{self.skill.name}: {reason}")
        if failure is not None:
            return outcome_of_failure(self._call, failure)
        label = self._steps.effect.label
        if self._steps.done and label is not None:
            call_safely(self._environment.edited, self._call, label)
        if refused is not None:
            return Outcome(refusal(self._call), value, note=str(refused))
        return Outcome("done", value)

    def _undo(self, undo: Callable[[], None]) -> PartlyApplied | None:
        """Undo what the call changed; return an error where some of it stands."""
        try:
            undo()
        except PartlyApplied as error:
            return error
        except Exception:  # the host could not undo, or is gone; the call ends all the same
            if self._steps.done:
                log.exception("call %s: its changes could not be undone", self._call.id)
                return PartlyApplied(self.skill.name)
        return None


def _paused(environment: RunEnvironment, skill: Skill, trail: Trail) -> Paused | None:
    """Return why the person lets a skill not begin or go on now, or None."""
    if not environment.is_paused or skill.metadata.risk == "read":
        return None
    trail.note_paused()
    return Paused(environment.host.name, outcome(PAUSED))


def _report(trail: Trail, tell: Callable[[Progress], None], progress: Progress) -> None:
    done, total, message = progress
    safe = done, total, secret.redact(message)
    trail.report(safe)
    tell(safe)


def _tried(body: Callable[[], T], what: str) -> tuple[T | None, BaseException | None]:
    """Return what a body returned, without secrets in it, or what it raised."""
    try:
        return secret.refuse_secrets(body(), what), None
    except GreenletExit:  # left behind by a bridge that is gone: there is nothing to undo with
        raise
    except BaseException as error:  # noqa: BLE001 - also Esc in Maya, or a cancelled coroutine
        return None, error


def _give(value: T, error: Exception | None) -> T:
    if error is not None:
        raise error
    return value
