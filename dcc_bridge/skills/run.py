"""One run of one skill: on the thread that its metadata names, in undo steps, undone if it fails.

The words of this module:

- A run goes from the queue to one outcome. Its job is the future of whatever runs it: a job of the
  main thread, a thread of the pool, or a task of the worker's loop.
- A run is abandoned if the bridge stops while its body runs off the main thread.
- A run is overdue if it ran for longer than its time limit. Its caller is told so after a time of
  grace, though the body cannot be stopped: then the outcome is known before the run ends.

The flags of a run, under `_end_lock`:

    _is_kept  _is_abandoned
    no        no             the run waits or goes on, or its changes were undone at its end
    yes       no             the run came to its end, and its changes stay
    no        yes            the bridge stopped first, and undid the changes there were

Both are never set: each is set only while the other is not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from greenlet import GreenletExit

from dcc_bridge.audit.trail import RunRecord
from dcc_bridge.callbacks import Throttle, TimeLimit, call_safely
from dcc_bridge.consent.account import told
from dcc_bridge.consent.attempt import Attempt
from dcc_bridge.consent.call import Call, RunControl, current_run, destructive_skill
from dcc_bridge.consent.joined import joined
from dcc_bridge.consent.loss import Loss
from dcc_bridge.consent.loss_guard import LossGuard
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import Picture, Question
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.types import PAUSED, Answered, ElicitationResponse, outcome
from dcc_bridge.errors import (
    BridgeClosed,
    BridgeError,
    PartlyApplied,
    Paused,
    Stopped,
)
from dcc_bridge.skills.body import Body
from dcc_bridge.skills.call_history import Outcome, Status, Trail, outcome_of_failure, refusal
from dcc_bridge.skills.run_environment import RunEnvironment
from dcc_bridge.skills.skill import Options, Skill
from dcc_bridge.threads.flows import Flow, current, wrap_future

T = TypeVar("T")

log = logging.getLogger(__name__)

# An overdue skill has this time to see that, and to end. After it, the client is told that the
# outcome is not known.
OVERRUN_GRACE_S: Final = 5.0
_NOT_COMPARED: Final = (
    "There is too much in the scene to compare all of it, so more may be lost than was asked "
    "about. Undo brings it back."
)
_WHY: Final = "why"  # the argument in which an agent says what an edit is for
_MAX_LABEL: Final = 48  # characters of that in an undo menu
_ENDED: Future[Any] = Future()  # replaces the job of a run that has ended: a job holds its run
_ENDED.set_result(None)


class Run(RunControl):
    """One run of one skill, from the queue to its outcome.

    `queue` comes first, then one of `on_main_thread`, `on_pool_thread` and `on_loop`. Each ends in
    `_end`, which sets the outcome; a run that never begins gets there by `refuse`, or by
    `_note_end`, the callback of its job.

    Attributes:
        skill: The skill.
        call: The call; the run is its `control`.
        outcome: Set once, and never cancelled; it may be set before an overdue run ends.
        trail: Writes the record of the call.
        paused: Returns the error of a run that may not go on while agents are paused, or None.
    """

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
            progress: Called with the progress of the body, as often as a client can take.
            forget: Called with the call's id once the run is over.
        """
        self.skill = skill
        self.outcome: Future[Outcome] = Future()
        self.trail = environment.recent.follow(call)
        self.call = call
        self._environment = environment
        self._main = environment.main
        self._forget = forget
        self._audit_record = RunRecord(environment.auditor, call)
        # A partial of a function, not a method: the steps would hold the run that holds them.
        self.paused = partial(_pause_error, environment, skill, self.trail)
        label = _undo_label(skill, arguments)
        self._loss_guard = LossGuard(
            environment.host, call, self._audit_record, label, environment.previews()
        )
        self._steps = Steps(
            environment.host,
            environment.main,
            call,
            label,
            self._loss_guard,
            self.paused,
            environment.recent.follow_mark,
        )
        self._end_lock = threading.Lock()
        self._is_kept = False
        self._is_abandoned = False
        self._job: Future[Outcome] | None = None
        self._why_not = "it was cancelled before it began; nothing was changed."
        clock = environment.clock
        self._queue_limit = TimeLimit(environment.settings.deadline, clock, self._expire)
        self._time_limit = TimeLimit(skill.metadata.timeout, clock, self._overrun)
        self._body = Body(
            environment,
            skill,
            arguments,
            missing,
            call,
            self._steps,
            partial(self._time_limit.restart, skill.metadata.timeout),
        )
        call.control = self
        call.note_late = partial(environment.recent.note_late, call.id)
        self._throttle = Throttle(partial(_report_progress, self.trail, progress), clock)

    def queue(self, job: Future[Outcome]) -> None:
        """Note the job of the run, which waits from now on.

        `_note_end` is called at the end of the job, on the thread that ended it.

        Args:
            job: The future of the job.
        """
        self._job = job
        self._queue_limit.start()
        job.add_done_callback(self._note_end)

    def cancel(self) -> None:
        """Keep a run from beginning; end a coroutine that has begun where it waits. Any thread."""
        if self._job is not None:
            self._job.cancel()

    def refuse(self, why: str) -> None:
        """End the run now if it has not begun, else leave it to its own end.

        Args:
            why: A sentence for the agent.
        """
        if self._job is None or self._job.cancel():
            self._end(Outcome("not_started", None, why))
        else:
            self._job.add_done_callback(self._note_end)

    def abandon(self) -> None:
        """Undo the changes so far, unless the run came to its end before. Main thread."""
        with self._end_lock:
            if self._is_kept:
                return
            self._is_abandoned = bool(self._steps.done)
        self._loss_guard.close()
        status: Status = "failed"
        if self._undo(self._steps.roll_back) is not None:
            status = "partly_applied"
        self._write_end(status, str(BridgeClosed()))

    def on_main_thread(self) -> Outcome:
        """Run as a job of the main thread."""
        self._begin()
        steps = self._steps
        if self.skill.metadata.risk == "read":
            return self._run_to_end(partial(self._body.run, steps.reading), steps.roll_back)
        return self._run_to_end(self._body.run_editing, steps.roll_back)

    def on_pool_thread(self) -> Outcome:
        """Run on a thread of the pool; edits are jobs of their own."""
        self._begin()
        return self._run_to_end(self._body.run, self._roll_back_from_pool)

    async def on_loop(self) -> Outcome:
        """Run on the worker's loop; edits are jobs of their own, and so is the end.

        The end is a job since an undo needs the main thread. `ended_body` takes the value or the
        error of the coroutine there.
        """
        self._begin()
        ended_body: Future[Any] = Future()
        try:
            ended_body.set_result(await self._body.run_on_loop())
        except Exception as error:  # noqa: BLE001 - a skill may raise anything
            ended_body.set_exception(error)
        except BaseException:  # noqa: BLE001 - its client left, and the task is cancelled
            stopped = Stopped(self.skill.title, overdue=self.call.ending.is_overdue)
            ended_body.set_exception(stopped)
        undo = self._steps.roll_back
        ending = self._submit(lambda: self._run_to_end(ended_body.result, undo))
        ending.add_done_callback(self._note_end)
        with suppress(BridgeClosed):  # the outcome says so, and nobody reads the job's error
            await asyncio.shield(wrap_future(ending))  # cancelled or not, it must come to its end
        return await wrap_future(self.outcome)

    def pause(self) -> AbstractContextManager[None]:
        """Close the undo step while a question is open. Main thread."""
        return self._steps.pause()

    def take_back(self) -> bool:
        """Undo the changes of the call, and go on in a new undo step. Main thread."""
        return self._steps.take_back()

    def attempt(self, body: Callable[[], T], ask_for_loss: Callable[[Loss], None]) -> T:
        """Try a part of a body that asks by itself, until a person agreed to its loss."""
        attempt = Attempt(self._environment.host, self.call, self._steps, ask_for_loss=ask_for_loss)
        with self._steps.pause():
            return attempt.run(body)

    @property
    def is_trying(self) -> bool:
        """Whether the body is tried, and its losses are asked about at its end. Main thread."""
        return self._body.attempt.is_trying

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer to the same question of an earlier try. Any thread."""
        return self._body.attempt.answered_before(question)

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Note the answer to a question of the body. Any thread."""
        self._body.attempt.note_answer(question, response)

    def note_write(self) -> None:
        """Write into the record, before the call writes files, that it does. Main thread.

        Raises:
            NotRecorded: The record cannot be written, so nothing may be written.
        """
        self._loss_guard.note_write()

    def expect_loss(self) -> None:
        """Prepare pictures of a loss, before the body edits. Main thread."""
        self._loss_guard.preview.expect_loss(self._steps.pause)

    def rehearse(self, body: Callable[[], object], items: Sequence[str]) -> None:
        """Try an edit and take it back, to draw the scene after it for a question. Main thread.

        Nothing happens where no picture would be drawn, where a step cannot be reverted without a
        trace, after other edits of the call, and in a scene in which a rehearsal took long before.
        What the application's own handlers do outside the scene meanwhile stays, as in each try.

        Args:
            body: The edit.
            items: The items that it takes away.

        Raises:
            NotUndoable: Some of the edits could not be reverted.
            Exception: The error of the edit, which was reverted.
        """
        preview = self._loss_guard.preview
        if not preview.can_rehearse:
            return
        preview.forget()
        with self._steps.pause(), preview.rehearsing():
            if self._steps.done:
                return
            preview.expect_loss()
            with self._steps.open():
                trial = self._steps.trial
                if trial is None or not trial.keeps_redo:
                    return
                try:
                    body()
                    preview.draw_after(items)
                finally:
                    self._steps.revert()

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return pictures of items that are lost after a yes, or none. Main thread."""
        return self._loss_guard.preview.pictures(items)

    def limit(self, seconds: float | None) -> None:
        """Begin the time limit anew; None for no limit. It stands still during questions."""
        self._time_limit.restart(seconds)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Close the undo step for the block, which only reads.

        Args:
            what: The name of the part that reads, for the error.

        Raises:
            NoConsent: The block edited the scene.
        """
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
        """Return the question before a destructive skill that this one calls, or None. Any thread.

        It is also called when the run's own function begins: see `CalledSkills.enter`.
        """
        return self._body.called_skills.enter(call, fn, args, kwargs)

    def inside(self, call: Call) -> AbstractContextManager[None]:
        """Run the body of a destructive skill that another one called. Any thread."""
        return self._body.called_skills.inside(call)

    def record_undo(self, label: str) -> None:
        """Write down that another call's undo step is undone next. Main thread."""
        self._audit_record.take_back(self._environment.host, label)

    def report(self, progress: Progress) -> None:
        """Note the progress of the body. Any thread.

        The record and the client are told at a slower rate, by `_report_progress`.
        """
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
        """Begin the run on its own thread, or raise Paused; `_note_end` ends it then."""
        self._queue_limit.cancel()
        pause_error = self.paused()
        if pause_error is not None:  # the person paused after the run was queued
            raise pause_error
        current.set(self.call)
        current_run.set(self)  # tasks and threads that the body leaves behind see it, too
        destructive_skill.set("")  # the context of the caller may be inside a destructive skill
        self.trail.begin()
        self._time_limit.start()

    def _submit(self, fn: Callable[[], T]) -> Future[T]:
        return self._main.submit(fn, name=self.skill.title, read=self.skill.metadata.risk == "read")

    def _roll_back_from_pool(self) -> None:
        """Undo the changes of a body on a pool thread, in a job of the main thread."""
        self._loss_guard.close()  # an edit that is still queued, or runs now, is undone as well
        if self._steps.done or self._steps.lost:
            self._main.wait(self._submit(self._steps.roll_back))

    def _run_to_end(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        """Run a body, end the run and return its outcome.

        Args:
            body: The function to run.
            undo: Undoes the changes of a run that failed, was refused or was ended.
        """
        outcome = self._find_outcome(body, undo)
        self._throttle.flush()
        note = ""
        put_back = ", ".join(self._steps.put_back)
        if put_back:
            note = f" The skill also changed {put_back}. That was restored."
        left = ", ".join(self._steps.left)
        if left:
            note += f" Its changes to these remain: {left}."
        if outcome.error is None and not self._steps.is_compared:
            note += f" {_NOT_COMPARED}"
        if outcome.error is not None:
            outcome = Outcome(outcome.status, None, secret.redact(outcome.error + note))
        else:
            outcome = replace(outcome, note=(outcome.note + note).strip())
        self.call.dialogue.secrets.clear()
        self._end(outcome)
        return outcome

    def _write_end(self, status: Status, error: str | None) -> None:
        """Write the end of the run to the audit log."""
        steps = self._steps
        self._audit_record.end(
            status,
            error,
            steps.done,
            steps.undone,
            steps.put_back,
            is_reverted=steps.is_reverted,
        )

    def _end(self, outcome: Outcome) -> None:
        """End the run: write the outcome down, tell the caller, and let go of the run."""
        self._loss_guard.close()
        context = current_context()
        # Tasks and threads that the body left behind may ask: such questions end, now and later.
        if context is not None and self.call.ending.reason is None:
            context.broker.end(self.call)
        self._write_end(outcome.status, outcome.error)
        self._queue_limit.cancel()
        self._time_limit.cancel()
        self.trail.end(outcome.status, outcome.error, self._steps.effect)
        self._forget(self.call.id)
        self._settle(outcome)
        self.call.control = weakref.proxy(self)
        self._job = _ENDED

    def _settle(self, outcome: Outcome) -> None:
        """Set the outcome, unless the caller was told another one before: see `_give_up`."""
        with suppress(InvalidStateError):
            self.outcome.set_result(outcome)

    def _expire(self) -> None:
        """Cancel a run that waited for too long. `_queue_limit` calls it."""
        why = "it waited for {:g} s and was dropped. Nothing was changed. Try again later."
        self._why_not = why.format(self._environment.settings.deadline)
        self.cancel()

    def _overrun(self) -> None:
        """Mark a run as overdue, and leave it a time of grace. `_time_limit` calls it."""
        self.call.ending.is_overdue = True
        if self.skill.is_async:
            self.cancel()
        self._environment.clock(OVERRUN_GRACE_S, self._give_up)

    def _give_up(self) -> None:
        """Tell the caller of an overdue run that its outcome is not known."""
        message = (
            f"{self.skill.name} has run for more than its {self._time_limit.seconds:g} s and "
            "cannot be stopped. It may still change the scene. Before you go on, see its outcome "
            "with recent_calls."
        )
        self._settle(Outcome("unknown_outcome", None, message))

    def _note_end(self, job: Future[Outcome]) -> None:
        """End a run whose job ended without an outcome: mostly one that never began.

        It is called at the end of each job. A coroutine that was cancelled after it began is passed
        over: it undoes its changes first, in another job, and ends itself.
        """
        name = self.skill.name
        if job.cancelled():
            if not self.trail.has_begun:
                self._end(Outcome("not_started", None, f"{name}: {self._why_not}"))
            return
        error = job.exception()
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

    def _find_outcome(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        """Run a body, undo its changes if they may not stay, and return the outcome.

        Args:
            body: The function to run.
            undo: Undoes the changes.
        """
        value, failure = _run_caught(body, f"the result of {self.skill.name}")
        failure = self._steps.lost or failure
        with self._end_lock:
            ended = self.call.ending.reason is not None
            refused = self.call.ledger.refused
            must_undo = failure is not None or refused is not None or ended
            nobody_waited = self._is_abandoned or (ended and bool(self._steps.done))
            is_without_caller = failure is None and nobody_waited
            self._is_kept = not must_undo and not is_without_caller
        if must_undo:
            error = self._undo(undo)
            if error is not None:
                return Outcome("partly_applied", None, str(error))
        if is_without_caller:
            reason = f"the client stopped waiting. {self.call.remainder}"
            status: Status = "failed" if self._is_abandoned else "cancelled"
            return Outcome(status, None, f"{self.skill.name}: {reason}")
        if failure is not None:
            return outcome_of_failure(self.call, failure)
        label = self._steps.effect.label
        if self._steps.done and label is not None:
            call_safely(self._environment.edited, self.call, label)
        if refused is not None:
            return Outcome(refusal(self.call), value, note=str(refused))
        return Outcome("done", value, now=secret.redact(told(joined(self._steps.accounts))))

    def _undo(self, undo: Callable[[], None]) -> PartlyApplied | None:
        """Undo the changes of the call; return an error if some of them stand."""
        try:
            undo()
        except PartlyApplied as error:
            return error
        except Exception:  # the host could not undo, or is gone; the call ends all the same
            if self._steps.done:
                log.exception("call %s: its changes could not be undone", self.call.id)
                return PartlyApplied(self.skill.name)
        return None


def _undo_label(skill: Skill, arguments: Mapping[str, Any]) -> str:
    """Return the label of a run's undo steps: the agent's own words, if it says why it edits."""
    why = arguments.get(_WHY)
    if not isinstance(why, str):
        return skill.undo_label
    return safe_line(secret.redact(why), _MAX_LABEL).rstrip(".") or skill.undo_label


def _pause_error(environment: RunEnvironment, skill: Skill, trail: Trail) -> Paused | None:
    """Return the error of a skill that may not begin or go on while agents are paused, or None."""
    if not environment.is_paused or skill.metadata.risk == "read":
        return None
    trail.note_paused()
    return Paused(environment.host.name, outcome(PAUSED))


def _report_progress(trail: Trail, tell: Callable[[Progress], None], progress: Progress) -> None:
    """Tell the record and the client of a progress, without secrets in its words."""
    done, total, message = progress
    safe = done, total, secret.redact(message)
    trail.report(safe)
    tell(safe)


def _run_caught(body: Callable[[], T], what: str) -> tuple[T | None, BaseException | None]:
    """Run a body; return its value and None, or None and the error that it raised.

    A value with a secret in it is refused by an error.

    Args:
        body: The function to run.
        what: A noun for the value, for that error.
    """
    try:
        return secret.refuse_secrets(body(), what), None
    except GreenletExit:  # the bridge is gone, and with it all that could undo
        raise
    except BaseException as error:  # noqa: BLE001 - also Esc in Maya, or a cancelled coroutine
        return None, error
