"""The runner: it starts each call of a skill on the right thread. Any thread.

A skill runs where its metadata says: on the main thread (the usual), on a thread of the pool, or,
if it is a coroutine, on the worker's loop. Everything that touches the scene runs in undo steps
on the main thread, and is rolled back when the skill fails or the person refuses: `Run`.

A client's line holds its calls for the main thread that have not begun. A call that finds its line
full is refused as busy, and so is one that finds no thread of the pool free for its client.
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
from dcc_bridge.elicitation import rate_limits, routing, secret
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
# Threads of the pool. There are more than `broker.MAX_OPEN_QUESTIONS`, so that open questions leave
# some. One client may use a third of them.
MAX_THREADS: Final = 96
MAX_QUEUED_CALLS: Final = 32  # calls in the line of one client
_MAX_RESERVED: Final = 4  # calls of the bridge's own tools that one client may have open


class Runner:
    """Starts the runs of skills, and keeps those that have not ended.

    Attributes:
        environment: What the runs have in common.
        recent: The latest calls.
        own_tools: The bridge's own tools; they have threads of their own beside the pool.
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
        """Prepare a runner with no runs; `start` runs a skill.

        Args:
            host: The application whose scene is edited.
            main: The queue to its main thread.
            settings: What the studio allows.
            spawn: Starts a coroutine on the worker's loop, from any thread.
            clock: Calls back after some seconds.
            edited: Called when a call is done, with the label of the undo step that it left.
            auditor: Records a call before it may change the scene, and its end.
        """
        self.environment = RunEnvironment(host, main, settings, clock, edited, auditor)
        self.recent = self.environment.recent
        self.own_tools: frozenset[Skill] = frozenset()
        self._spawn = spawn
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        # The line of each client, by its label. Calls that began since are taken out when the next
        # one comes.
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

        Its outcome is always set, also if the call is refused here and never begins.

        Args:
            skill: The skill.
            arguments: Its arguments, checked.
            call: The call.
            missing: The required choices that are asked for before the body.
            progress: Called with the progress, as often as a client can take.
        """
        run = Run(
            self.environment, skill, dict(arguments), call, missing or {}, progress, self._forget
        )
        with self._lock:
            refusal = self._refusal(run)
            if refusal is None:
                self._runs[call.id] = run
        try:
            if refusal is not None:
                raise refusal
            run.queue(self._queue(run))
        except BridgeError as error:
            run.refuse(str(error))
        except Exception:  # whatever it was: the caller waits for an outcome
            log.exception("call %s of %s could not be queued", call.id, call.skill)
            run.refuse(f"{skill.name} could not be queued in {self.environment.host.name}.")
        return run

    def reject(self, call: Call, why: str) -> None:
        """Record that a call never began. Any thread.

        Args:
            call: The call.
            why: The sentence that its client is told.
        """
        reason = call.arguments.scrub(secret.redact(why))
        log.info("call %s of %s was rejected: %s", call.id, call.skill, reason)
        try:
            self.environment.auditor(rejected(call, why))
        except NotRecorded as error:  # nothing was changed, and it is refused all the same
            log.warning("call %s: %s", call.id, error)

    def cancel(self, call: str) -> Call | None:
        """Keep a queued call from beginning; end a coroutine where it waits. Any thread.

        Args:
            call: The id of the call.

        Returns:
            The call, whose open questions the caller has to end; None if it has ended already.
        """
        with self._lock:
            run = self._runs.get(call)
        if run is None:
            return None
        run.cancel()
        return run.call

    @property
    def coroutines(self) -> list[Run]:
        """The runs on the worker's loop that have not ended. Any thread."""
        with self._lock:
            return [run for run in self._runs.values() if run.skill.is_async]

    def roll_back(self) -> None:
        """Undo what unfinished skills on other threads changed. Main thread.

        It is called when the bridge stops, since it refuses their own roll-back after that. Skills
        on the main thread undo their changes themselves.
        """
        with self._lock:
            elsewhere = [run for run in self._runs.values() if not _on_main(run.skill)]
        for run in elsewhere:
            run.abandon()

    def _refusal(self, run: Run) -> BridgeError | None:
        """Put a call in its client's line; return the error of a call that may not be queued.

        Calls off the main thread have no line. The caller holds the lock.
        """
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
        """Return the error of a client whose line is full; it names the call that all wait for.

        Args:
            waiting: How many calls are in the line.
        """
        every = [run for run in self._runs.values() if _on_main(run.skill)]
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
        """Start a run on a thread of the pool, or of the reserve for the bridge's own tools.

        Raises:
            Busy: The client uses all threads that it may, or no thread can be started.
        """
        label = routing.client_label(run.call)
        threads = self._pool
        if run.skill in self.own_tools:
            threads = self._reserve
        threads.enter(label)
        try:
            queued = run_in_thread(run.on_pool_thread, run.skill.name)
        except RuntimeError as error:  # the system starts no more threads
            threads.leave(label)
            raise Busy(f"{run.skill.name}: no thread can be started; try again later.") from error
        queued.add_done_callback(lambda _: threads.leave(label))
        return queued

    def _forget(self, call: str) -> None:
        """Forget a run that is over. Any thread."""
        with self._lock:
            run = self._runs.pop(call, None)
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
