"""The runner: plan, consent, apply. It is the gate that no skill gets past unasked.

A skill runs where its metadata says: on the main thread (the usual), on a thread of the pool, or,
if it is a coroutine, on the worker's loop. Everything that touches the scene runs in undo steps
on the main thread, and is rolled back when the skill fails or the person refuses.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from dcc_bridge.config import Settings
from dcc_bridge.elicitation import ask, consent
from dcc_bridge.elicitation.call import Call, current
from dcc_bridge.elicitation.installed import arrival
from dcc_bridge.errors import BridgeError, Busy, Cancelled, NoConsent, NotConfirmed, PartlyApplied
from dcc_bridge.host import Host
from dcc_bridge.skills import gate
from dcc_bridge.skills.skill import Skill
from dcc_bridge.skills.steps import Steps
from dcc_bridge.threads import MainThread

T = TypeVar("T")
Status = Literal["done", "refused", "failed", "no_consent", "partly_applied"]
Spawn = Callable[[Coroutine[Any, Any, "Outcome"]], "Future[Outcome]"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call.

    Attributes:
        status: "done", or what kept it from being done.
        value: What the skill returned.
        error: A sentence for the agent where it is not done; None where the value says it.
    """

    status: Status
    value: Any = None
    error: str | None = None


class Runner:
    """Runs skills, each on its own thread's terms."""

    def __init__(
        self,
        host: Host,
        main: MainThread,
        settings: Settings,
        spawn: Spawn,
        edited: Callable[[Call, str], None] = lambda call, label: None,
    ) -> None:
        """Take what a run needs.

        Args:
            host: The application whose scene is edited.
            main: The way to its main thread.
            settings: What the studio allows.
            spawn: Starts a coroutine on the worker's loop, from any thread.
            edited: Told, once a call is done, the label of the undo step that it left.
        """
        self._edited = edited
        self._host = host
        self._main = main
        self._settings = settings
        self._spawn = spawn
        self._live: set[_Run] = set()
        self._pool = threading.BoundedSemaphore(settings.pool)

    def start(self, skill: Skill, arguments: Mapping[str, Any], call: Call) -> Future[Outcome]:
        """Run a skill. Any thread.

        Args:
            skill: What.
            arguments: Checked against its signature already.
            call: For whom; its `pause` is set here.

        Returns:
            A future that always ends with an outcome. Cancelled before the skill began, it never
            runs. An exception means that it never began, and why.
        """
        run = _Run(
            self._host, self._main, self._settings, skill, dict(arguments), call, self._edited
        )
        if skill.is_async:
            return self._watched(run, self._spawn(run.on_loop()))
        if skill.metadata.thread == "any":
            return self._watched(run, self._start_on_pool(run))
        is_read = skill.metadata.risk == "read"
        return self._main.submit(run.on_main_thread, name=skill.title, read=is_read)

    def _watched(self, run: _Run, future: Future[Outcome]) -> Future[Outcome]:
        self._live.add(run)
        future.add_done_callback(lambda _: self._live.discard(run))
        return future

    def roll_back(self) -> None:
        """Undo what unfinished skills on other threads changed; those here do so themselves.

        Main thread, when the bridge stops: later their own roll-back is refused.
        """
        for run in list(self._live):
            run.abandon()

    def _start_on_pool(self, run: _Run) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        if not self._pool.acquire(blocking=False):
            future.set_exception(Busy(f"{run.skill.name}: too many skills wait; try again later."))
            return future

        def work() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(run.on_pool_thread())
            finally:
                self._pool.release()

        threading.Thread(target=work, name=f"dcc_bridge {run.skill.name}", daemon=True).start()
        return future


class _Run:
    """One run of one skill."""

    def __init__(
        self,
        host: Host,
        main: MainThread,
        settings: Settings,
        skill: Skill,
        arguments: dict[str, Any],
        call: Call,
        edited: Callable[[Call, str], None],
    ) -> None:
        self.skill = skill
        self._edited = edited
        self._arguments = arguments
        self._call = call
        self._main = main
        self._steps = Steps(host, main, call, skill.undo_label)
        self._gate = gate.question(skill, arguments, call, settings)
        self._ending = threading.Lock()
        self._is_over = False
        self._is_abandoned = False
        call.needs_grant = gate.needs_grant(skill, settings)
        call.pause = self._steps.pause
        call.edit = self._edit

    def abandon(self) -> None:
        """Undo what was changed so far, unless it is done already. Main thread."""
        with self._ending:
            if self._is_over:
                return
            self._is_abandoned = self._steps.changed
        try:
            self._steps.roll_back()
        except Exception:  # the host could not undo; the bridge stops all the same
            log.exception("call %s: its changes could not be undone", self._call.id)

    def on_main_thread(self) -> Outcome:
        current.set(self._call)
        return self._guarded(self._on_main_thread, self._steps.roll_back)

    def on_pool_thread(self) -> Outcome:
        current.set(self._call)
        return self._guarded(self._body, self._roll_back_from_pool)

    async def on_loop(self) -> Outcome:
        current.set(self._call)
        try:
            if self._gate is not None:
                consent.check(self._gate, await ask.put_async(self._gate))
            value, error = await self.skill.fn(**self._arguments), None
        except Exception as failure:  # noqa: BLE001 - a skill may raise anything; it is told
            value, error = None, failure
        except BaseException:  # noqa: BLE001 - its client left, and the task is cancelled
            value, error = None, Cancelled(self.skill.title)
        undo = self._steps.roll_back
        ending = self._submit(lambda: self._guarded(lambda: _give(value, error), undo))
        return await arrival(ending)

    def _edit(self, fn: Callable[[], T]) -> Future[T]:
        def stepped() -> T:
            with self._steps.stretch():
                return fn()

        return self._submit(stepped)

    def _submit(self, fn: Callable[[], T]) -> Future[T]:
        is_read = self.skill.metadata.risk == "read"
        return self._main.submit(fn, name=self.skill.title, read=is_read)

    def _roll_back_from_pool(self) -> None:
        if self._steps.changed:
            self._main.wait(self._submit(self._steps.roll_back))

    def _on_main_thread(self) -> Any:
        is_read = self.skill.metadata.risk == "read"
        return self._body(nullcontext if is_read else self._steps.stretch)

    def _body(self, step: Callable[[], AbstractContextManager[None]] = nullcontext) -> Any:
        if self._gate is not None:
            consent.check(self._gate, ask.put(self._gate))
        with step():
            return self.skill.fn(**self._arguments)

    def _guarded(self, body: Callable[[], Any], undo: Callable[[], None]) -> Outcome:
        """Run a body and give what came of it; a failed or refused one leaves no change."""
        value: Any = None
        failure: BaseException | None = None
        try:
            value = body()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a skill may raise anything
            failure = error
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
            return Outcome("failed", None, f"{self.skill.name}: {told}")
        if failure is not None:
            return self._failed(failure)
        self._tell_edited()
        return Outcome("refused" if self._call.refused else "done", value)

    def _tell_edited(self) -> None:
        try:
            if self._steps.label is not None:
                self._edited(self._call, self._steps.label)
        except Exception:  # what is told of an edit cannot unmake it
            log.exception("call %s: its edit could not be told of", self._call.id)

    def _failed(self, error: BaseException) -> Outcome:
        name = self.skill.name
        match error:
            case NotConfirmed():
                return Outcome("refused", None, str(error))
            case NoConsent():
                return Outcome("no_consent", None, str(error))
            case BridgeError():
                return Outcome("failed", None, f"{name}: {error}")
        log.warning("call %s: %s failed", self._call.id, name, exc_info=error)
        reason = str(error) or type(error).__name__
        if not isinstance(error, ValueError):
            reason = f"{type(error).__name__}: {reason}"
        return Outcome("failed", None, f"{name} failed: {reason} Its changes were undone.")


def _give(value: T, error: Exception | None) -> T:
    if error is not None:
        raise error
    return value
