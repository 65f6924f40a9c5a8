"""The runner: plan, consent, apply. It is the gate that no skill gets past unasked.

A skill runs where its metadata says: on the main thread (the usual), on a thread of the pool, or,
if it is a coroutine, on the worker's loop. Everything that touches the scene runs in undo steps
on the main thread, and is rolled back when the skill fails or the person refuses. Any thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, Final

from dcc_bridge import callbacks, config, main_thread
from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.elicitation import audit_trail, rate_limits, routing
from dcc_bridge.elicitation.call import Call, Progress
from dcc_bridge.elicitation.context import run_in_thread
from dcc_bridge.errors import BridgeError, Busy, NotRecorded, Paused
from dcc_bridge.host import Host
from dcc_bridge.skills.call_history import Outcome, Recent
from dcc_bridge.skills.run import Run
from dcc_bridge.skills.signature import Options
from dcc_bridge.skills.skill import Skill

log = logging.getLogger(__name__)
Spawn = Callable[[Coroutine[Any, Any, Outcome]], "Future[Outcome]"]
_RESERVE: Final = 4  # calls of the bridge's own tools that one client may have open


class Runner:
    """Runs skills, each on its own thread's terms.

    Attributes:
        recent: What became of the calls.
        pause: The person's switch.
        own_tools: The bridge's own, which run where the pool is full, too.
    """

    def __init__(
        self,
        host: Host,
        main: main_thread.MainThread,
        settings: config.Settings,
        spawn: Spawn,
        clock: callbacks.CallLater,
        edited: Callable[[Call, str], None] = lambda call, label: None,
        auditor: Auditor = nowhere,
        limits: config.Limits | None = None,
    ) -> None:
        """Take what a run needs.

        Args:
            host: The application whose scene is edited.
            main: The way to its main thread.
            settings: What the studio allows.
            spawn: Starts a coroutine on the worker's loop, from any thread.
            clock: Calls back after some seconds, on any thread; gives what stops it.
            edited: Told, once a call is done, the label of the undo step that it left.
            auditor: Told that a call may change the scene, before it does, and what came of it.
            limits: How much may run and wait; None for the usual.
        """
        limits = limits or config.Limits()
        self.recent = Recent()
        self.pause = Pause(host.name)
        self.host = host
        self.main = main
        self.settings = settings
        self.limits = limits
        self.clock = clock
        self.edited = edited
        self.auditor = auditor
        self._spawn = spawn
        self._lock = threading.Lock()
        self._live: dict[str, Run] = {}
        self.own_tools: frozenset[Skill] = frozenset()
        self._pool = rate_limits.Shares("pool calls", max(1, limits.threads // 3), limits.threads)
        self._reserve = rate_limits.Shares("calls of the bridge's own tools", _RESERVE)

    def start(
        self,
        skill: Skill,
        arguments: Mapping[str, Any],
        call: Call,
        missing: Mapping[str, Options] | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Run:
        """Run a skill. Any thread.

        Args:
            skill: What.
            arguments: Checked against its signature already.
            call: For whom; the run becomes its `control`.
            missing: Choices that are asked for before the body.
            progress: Told how far it is, at a rate that a client can take. Any thread.

        Returns:
            The run. Its outcome always comes; cancelled before it began, it never begins.
        """
        trail = self.recent.follow(call)
        run = Run(self, skill, dict(arguments), call, missing or {}, trail, progress)
        with self._lock:
            refusal = self._refusal(run)
            if refusal is None:
                self._live[call.id] = run
        try:
            if refusal is not None:
                raise refusal
            run.queue(self._queue(run))
        except BridgeError as error:
            run.refuse(str(error))
        except Exception:  # its caller waits for an outcome, whatever kept it from the queue
            log.exception("call %s of %s could not be queued", call.id, call.skill)
            run.refuse(f"{skill.name} could not be queued in {self.host.name}.")
        return run

    def reject(self, call: Call, why: str) -> None:
        """Record that a call never began, and the sentence that its client is told. Any thread."""
        log.info("call %s of %s was rejected", call.id, call.skill)
        try:
            self.auditor(audit_trail.rejected(call, why))
        except NotRecorded as error:  # nothing was changed, and it is refused all the same
            log.warning("call %s: %s", call.id, error)

    def cancel(self, call: str) -> Call | None:
        """Let the queued call of an id never begin; end a coroutine where it waits. Any thread.

        Returns:
            The call, if it was still going: its questions are yet to be ended.
        """
        with self._lock:
            run = self._live.get(call)
        if run is None:
            return None
        run.cancel()
        return run.call

    def roll_back(self) -> None:
        """Undo what unfinished skills on other threads changed; those here do so themselves.

        Main thread, when the bridge stops: later their own roll-back is refused.
        """
        with self._lock:
            live = list(self._live.values())
        for run in live:
            if not _on_main(run.skill):
                run.abandon()

    def _refusal(self, run: Run) -> BridgeError | None:
        """Say why a call cannot even be queued."""
        paused = self.pause.refusal(run.skill)
        if paused is not None or not _on_main(run.skill):
            return paused
        label = routing.client_label(run.call)
        line = [run for run in self._live.values() if _on_main(run.skill)]
        waiting = sum(not run.has_begun and routing.client_label(run.call) == label for run in line)
        if waiting < self.limits.queued_calls:
            return None
        first = next((run for run in line if run.has_begun), line[0])
        does = "asks a question" if first.asks else "is running" if first.has_begun else "waits"
        host = self.host.name
        return Busy(
            f"{host} is busy: {waiting} of your calls wait, and the first call, "
            f"{first.skill.title}, {does} in {host}. Nothing was changed; try again in a moment."
        )

    def _queue(self, run: Run) -> Future[Outcome]:
        if run.skill.is_async:
            queued = self._spawn(run.on_loop())
        elif _on_main(run.skill):
            is_read = run.skill.metadata.risk == "read"
            queued = self.main.submit(run.on_main_thread, name=run.skill.title, read=is_read)
        else:
            queued = self._start_on_pool(run)
        return queued

    def _start_on_pool(self, run: Run) -> Future[Outcome]:
        label = routing.client_label(run.call)
        threads = self._reserve if run.skill in self.own_tools else self._pool
        threads.enter(label)
        context = copy_context()  # it says for which client its jobs are
        try:
            queued = run_in_thread(lambda: context.run(run.on_pool_thread), run.skill.name)
        except RuntimeError as error:  # the system gives no more of them
            threads.leave(label)
            raise Busy(f"{run.skill.name}: no thread can be started; try again later.") from error
        queued.add_done_callback(lambda _: threads.leave(label))
        return queued

    def forget(self, call: str) -> None:
        """Let go of a run that is over. Any thread."""
        with self._lock:
            self._live.pop(call, None)


class Pause:
    """The person's switch that holds edits off.

    Attributes:
        is_on: No edit may begin.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self.is_on = False

    def refusal(self, skill: Skill) -> Paused | None:
        """Return what a skill that may not begin now is told, or None where it may."""
        return Paused(self._host) if self.is_on and skill.metadata.risk != "read" else None


def _on_main(skill: Skill) -> bool:
    return not skill.is_async and skill.metadata.thread == "main"
