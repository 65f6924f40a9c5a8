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
from typing import Any, Final

from dcc_bridge import callbacks, config
from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.audit.trail import rejected
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import rate_limits, routing
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.errors import BridgeError, Busy, NotRecorded
from dcc_bridge.host import Host
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.run import Run
from dcc_bridge.skills.run_environment import RunEnvironment
from dcc_bridge.skills.skill import Options, Skill
from dcc_bridge.threads import main_thread
from dcc_bridge.threads.background import run_in_thread

log = logging.getLogger(__name__)
Spawn = Callable[[Coroutine[Any, Any, Outcome]], "Future[Outcome]"]
# For skills that need not run on the main thread; more than `broker.MAX_OPEN_QUESTIONS`, so that
# open questions leave some. A client has a third of them.
MAX_THREADS: Final = 96
MAX_QUEUED_CALLS: Final = 32  # of a client, for the main thread; one more is told that it is busy
_MAX_RESERVED: Final = 4  # calls of the bridge's own tools that one client may have open


class Runner:
    """Runs skills, each on its own thread's terms.

    Attributes:
        environment: What the runs have in common.
        recent: The latest calls.
        own_tools: The bridge's own tools, which run where the pool is full, too.
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
    ) -> None:
        """Prepare; `start` runs a skill.

        Args:
            host: The application whose scene is edited.
            main: The queue to its main thread.
            settings: What the studio allows.
            spawn: Starts a coroutine on the worker's loop, from any thread.
            clock: Calls back after some seconds.
            edited: Called when a call is done, with the label of the undo step that it left.
            auditor: Records a call before it may change the scene, and what came of it.
        """
        self.environment = RunEnvironment(host, main, settings, clock, edited, auditor)
        self.recent = self.environment.recent
        self.own_tools: frozenset[Skill] = frozenset()
        self._spawn = spawn
        self._lock = threading.Lock()
        self._live: dict[str, Run] = {}
        # By client: its calls for the main thread that had not begun when this was last looked at.
        self._lines: dict[str | None, dict[str, Run]] = {}
        self._pool = rate_limits.Shares("pool calls", max(1, MAX_THREADS // 3), MAX_THREADS)
        self._reserve = rate_limits.Shares("calls of the bridge's own tools", _MAX_RESERVED)

    def start(
        self,
        skill: Skill,
        arguments: Mapping[str, Any],
        call: Call,
        missing: Mapping[str, Options] | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Run:
        """Run a skill; the run becomes the call's `control`. Any thread.

        Its outcome always comes; cancelled before it began, it never begins.

        Args:
            skill: The skill.
            arguments: Its arguments, checked.
            call: The call.
            missing: The choices that are asked for before the body.
            progress: Called with the progress, as often as a client can take.
        """
        run = Run(
            self.environment, skill, dict(arguments), call, missing or {}, progress, self._forget
        )
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
            run.refuse(f"{skill.name} could not be queued in {self.environment.host.name}.")
        return run

    def reject(self, call: Call, why: str) -> None:
        """Record that a call never began, and the sentence that its client is told. Any thread."""
        log.info("call %s of %s was rejected", call.id, call.skill)
        try:
            self.environment.auditor(rejected(call, why))
        except NotRecorded as error:  # nothing was changed, and it is refused all the same
            log.warning("call %s: %s", call.id, error)

    def cancel(self, call: str) -> Call | None:
        """Let a queued call never begin; end a coroutine where it waits. Any thread.

        Args:
            call: The id of the call.

        Returns:
            The call, if it was still going: its questions are yet to be ended.
        """
        with self._lock:
            run = self._live.get(call)
        if run is None:
            return None
        run.cancel()
        return run.call

    @property
    def coroutines(self) -> list[Run]:
        """The runs on the worker's loop that have not ended. Any thread."""
        with self._lock:
            return [run for run in self._live.values() if run.skill.is_async]

    def roll_back(self) -> None:
        """Undo what unfinished skills on other threads changed. Main thread.

        Called when the bridge stops: later their own roll-back is refused. Skills on the main
        thread undo their changes themselves.
        """
        with self._lock:
            elsewhere = [run for run in self._live.values() if not _on_main(run.skill)]
        for run in elsewhere:
            run.abandon()

    def _refusal(self, run: Run) -> BridgeError | None:
        """Put a call in its client's line, or return why it cannot even be queued."""
        paused = run.paused()
        if paused is not None or not _on_main(run.skill):
            return paused
        label = routing.client_label(run.call)
        line = {}
        for call_id, earlier in self._lines.get(label, {}).items():
            if not earlier.trail.has_begun:
                line[call_id] = earlier
        self._lines[label] = line
        waiting = len(line)
        if waiting < MAX_QUEUED_CALLS:
            line[run.call.id] = run
            return None
        return self._busy(waiting)

    def _busy(self, waiting: int) -> Busy:
        """Return the error of a client of which so many calls wait; it says what they wait for."""
        every = [run for run in self._live.values() if _on_main(run.skill)]
        begun = [run for run in every if run.trail.has_begun]
        first = (begun or every)[0]
        does = "waits"
        if first.trail.asks:
            does = "asks a question"
        elif first.trail.has_begun:
            does = "is running"
        host = self.environment.host.name
        return Busy(
            f"{host} is busy: {waiting} of your calls wait, and the first call, "
            f"{first.skill.title}, {does} in {host}. Nothing was changed; try again in a moment."
        )

    def _queue(self, run: Run) -> Future[Outcome]:
        """Queue a run where its skill runs."""
        if run.skill.is_async:
            return self._spawn(run.on_loop())
        if _on_main(run.skill):
            is_read = run.skill.metadata.risk == "read"
            main = self.environment.main
            return main.submit(run.on_main_thread, name=run.skill.title, read=is_read)
        return self._start_on_pool(run)

    def _start_on_pool(self, run: Run) -> Future[Outcome]:
        """Start a run on a thread of the pool, if its client has one left."""
        label = routing.client_label(run.call)
        threads = self._pool
        if run.skill in self.own_tools:
            threads = self._reserve
        threads.enter(label)
        try:
            queued = run_in_thread(run.on_pool_thread, run.skill.name)
        except RuntimeError as error:  # the system gives no more of them
            threads.leave(label)
            raise Busy(f"{run.skill.name}: no thread can be started; try again later.") from error
        queued.add_done_callback(lambda _: threads.leave(label))
        return queued

    def _forget(self, call: str) -> None:
        """Forget a run that is over. Any thread."""
        with self._lock:
            run = self._live.pop(call, None)
            if run is None:
                return
            label = routing.client_label(run.call)
            line = self._lines.get(label, {})
            was_in_line = line.pop(call, None) is not None
            if was_in_line and not line:
                del self._lines[label]


def _on_main(skill: Skill) -> bool:
    """Return whether a skill runs on the main thread."""
    return not skill.is_async and skill.metadata.thread == "main"
