"""The bridge: puts the parts together, starts and stops them. The only module that knows all.

Everything here is called on the host's main thread.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge import config
from dcc_bridge.audit import reader, redact
from dcc_bridge.audit.log import AuditLog, log_folder
from dcc_bridge.callbacks import Callbacks, Throttle, Unsubscribe, call_later, call_safely
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation import broker, context, question, routing
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.errors import BridgeClosed, NotUndoable, StartError
from dcc_bridge.host import Host
from dcc_bridge.local_clients import LocalClients
from dcc_bridge.server.clients import ClientRegistry, connection_report
from dcc_bridge.server.discovery import Instance, Registration, scene_facts
from dcc_bridge.server.page_site import PageDesk
from dcc_bridge.server.start_problem import (
    StartProblem,
    explain,
    foreign_modules,
    name_foreign,
    overdue,
)
from dcc_bridge.server.worker import LOOPBACK, Worker, listen
from dcc_bridge.skills import builtin, call_history, loader, registry, runner
from dcc_bridge.threads import main_thread
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge.threads.flows import current
from dcc_bridge.threads.jobs import QueuedJob
from dcc_bridge.threads.watchdog import Watchdog

if TYPE_CHECKING:
    from dcc_bridge.server.mcp_server import Server
    from dcc_bridge.server.service import McpService
    from dcc_bridge.verbs.operations import HostOperations

log = logging.getLogger(__name__)

START_LIMIT_S: Final = 25.0  # after which a bridge that is not ready says what it waits for
_NOTICED: Final = 60.0  # seconds after which no notice is shown any more
_RENEWED_AFTER: Final = 5.0  # seconds until an entry that could not be updated is tried again


@dataclass(frozen=True, slots=True)
class _Running:
    """What exists only while a bridge runs."""

    socket: socket  # bound and listening
    registration: Registration  # its entry among the running hosts
    library: loader.Library  # imports the skills of files
    cleanup: ExitStack  # takes everything back in reverse order


class Bridge:
    """An MCP server in a host, and everything it needs."""

    def __init__(
        self,
        host: Host,
        main: main_thread.MainThread,
        *,
        presenter: question.HostPresenter | None = None,
        settings: config.Settings | None = None,
        skills: Sequence[Path] = (),
        extend: Callable[[Server], None] | None = None,
        vendor: Path | None = None,
        operations: Callable[[Host], HostOperations] | None = None,
        covers: Callable[[question.Question], bool] | None = None,
    ) -> None:
        """Prepare; nothing runs before `start`.

        Args:
            host: The application.
            main: The way to its main thread.
            presenter: Draws questions in the host; None where it has no window.
            settings: None for the environment and the defaults; the studio's policy wins.
            skills: The application's own folders of skill files, the most trusted first; those of
                the settings come after them.
            extend: Adds to the SDK's own server object what skills are not: resources, prompts,
                completions, a tool registered by hand. Called on the worker.
            vendor: The folder in which a plug-in brought what it depends on.
            operations: Makes what the host does for the verbs; called once, on the main thread.
                None for a host without verbs.
            covers: Returns whether a question is agreed to before anybody is asked, on any thread;
                None for what the person agrees to for the session.

        Raises:
            ValueError: A variable of the environment or the studio's policy is wrong.
        """
        self.host = host
        self.main = main
        self.settings = (settings or config.Settings.load()).under()
        self.registry = registry.Registry()
        self.clients = ClientRegistry()
        self._skills = list(skills)
        self._extend = extend
        self._vendor = vendor
        self._operations = operations
        self.problem: StartProblem | None = None  # why agents cannot connect; None if they can
        self._stop_waiting: Unsubscribe = lambda: None  # for the start to end
        self._ending_start = threading.Lock()  # while it is said how the start ended
        self._renews = False  # its record is to be written again in a moment
        self._desk = PageDesk(self.settings, host, main)
        self._worker = Worker(self._make_service)
        about = {"host": host.name, "version": host.version}
        self.grants = SessionGrants()  # what was agreed to for the session; any thread
        self.audit = AuditLog(log_folder(self.settings.audit), about)
        try:
            self.broker = broker.Broker(
                self.settings,
                host=presenter,
                clock=self._worker.later,
                holder=self._holder,
                auditor=self.audit,
                grants=self.grants if covers is None else routing.FixedAnswers(covers),
            )
        except ValueError as error:  # the list of what goes on unasked
            raise StartError(str(error)) from None
        main.look_at_holder = lambda job: self.broker.held_up(_call_of(job))
        self.broker.watch(Watchdog(self.broker, main, self._worker.later).note_question)
        self._runner = runner.Runner(
            host,
            main,
            self.settings,
            self._worker.spawn,
            self._worker.later,
            edited=self._tell_edited,
            auditor=self.audit,
        )
        self.recent = self._runner.recent  # the calls that run, wait or ended lately; any thread
        self._watchers = Callbacks()
        self.local_clients = LocalClients(self._watchers.call)
        self._undoing = builtin.Undoing(host, self.recent, self.audit, self._watchers.call)
        self._changes = Callbacks()
        # What takes down the notice of a call while it may be shown; its context holds no call.
        self._notices: dict[str, question.TakeDown] = {}
        follow = partial(self.recent.follow_undo, host)
        self._look = Throttle[None](lambda _: main.post(follow), self._worker.later)
        self.recent.watch(self._follow_record)
        self._server: Server  # from the start of the worker on
        self._running: _Running  # from `start` on; what has stopped can still say where it was
        self._state = "new"
        self._ready: Future[None] = Future()
        self.stopped: Future[None] = Future()  # done once nothing of the bridge is left

    def start(self) -> Future[None]:
        """Start, and return at once: the server comes up on its own thread. Main thread.

        Returns:
            Done once requests are taken and the skill files were read.

        Raises:
            SkillError: A folder of skills is not there; so may the future.
            StartError: The port is taken or would be open to other computers, or a bridge runs in
                this process already.
        """
        if self._state != "new":
            raise StartError("This bridge has already been started; make a new one.")
        paths = loader.folders(self._skills, self.settings)
        library = loader.Library(paths, self.registry, self.main, self.host)
        with ExitStack() as cleanup:
            cleanup.callback(context.install(self.broker, self.main, self.host, self._desk))
            listening = listen(self.settings.port)
            cleanup.callback(call_safely, listening.close)
            registration = self._register(listening)
            cleanup.callback(call_safely, registration.withdraw)
            redact.install_log_filter(safe_whole)
            cleanup.callback(call_safely, self.host.watch(self._changes.call))
            self._running = _Running(listening, registration, library, cleanup.pop_all())
        self._changes.add(self._follow_scene)
        self._state = "running"
        self._desk.origin = self.url.removesuffix("/mcp")
        self._worker.started.add_done_callback(self._read_skills)
        self._ready.add_done_callback(self._note_start)
        self._stop_waiting = call_later(START_LIMIT_S, self._note_overdue)
        self._worker.start()
        return self._ready

    def _register(self, listening: socket) -> Registration:
        url = f"http://{LOOPBACK}:{listening.getsockname()[1]}/mcp"
        scene = scene_facts(self.host)
        instance = Instance(url, self.host.name, self.host.version, **scene)
        try:
            return Registration(instance, self.settings.runtime)
        except OSError as error:
            raise StartError(f"The host cannot be listed as running: {error}.") from error

    @property
    def is_paused(self) -> bool:
        """Whether no edit may begin for now. Any thread."""
        return self._runner.environment.is_paused

    def pause(self) -> None:
        """Let no edit begin until `resume`; reads go on. Any thread. It raises nothing."""
        self._pause(True)

    def resume(self) -> None:
        """Let edits begin again. Any thread. It raises nothing."""
        self._pause(False)

    def _pause(self, on: bool) -> None:
        self._runner.environment.is_paused = on
        self._watchers.call()

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever something changes that a panel shows. Any thread.

        It raises nothing.

        Args:
            fn: Called on any thread; it must be quick.

        Returns:
            What ends it.
        """
        subscriptions = ExitStack()
        sources = (self._watchers.add, self.broker.watch, self.clients.watch, self.grants.watch)
        for watch in sources:
            subscriptions.callback(watch(fn))
        subscriptions.callback(self.recent.watch(lambda _: fn()))
        return subscriptions.close

    @property
    def address(self) -> str | None:
        """Where agents reach it; "" as long as it starts, None once they cannot. Any thread."""
        if self.problem is not None:
            return None
        if not self._ready.done() and self._state in ("new", "running"):
            return ""
        return self.url if self._state == "running" and not self._ready.exception() else None

    def cancel(self, call: str) -> bool:
        """End a call as its client would. Any thread. It raises nothing.

        A queued one never begins, another one is undone.

        Args:
            call: Its id, as `Record.id` has it.

        Returns:
            Whether it still went on.
        """
        if (going := self._runner.cancel(call)) is not None:
            self.broker.end(going)
        return going is not None

    def undo(self, label: str) -> bool:
        """Undo an agent's step, if it is on top. Main thread. What is missing then is shown.

        It raises nothing.

        Args:
            label: The step's own, as `Host.undo_step` was given it.

        Returns:
            Whether it was.
        """
        try:
            return self.main.is_unwound and self._undoing(label)
        except NotUndoable as error:
            self.broker.audience.notify(str(error))
            return True

    @property
    def instance(self) -> Instance:
        """How it is found by others. Any thread."""
        return self._running.registration.instance

    @property
    def url(self) -> str:
        """Where the server is."""
        return self.instance.url

    def stop(self) -> None:
        """Stop: end the questions, the queue, the server and the worker, in that order.

        Main thread.

        Called from above a waiting skill's own frame, it ends the questions, and does the rest once
        that frame is gone. It raises nothing.
        """
        if self._state != "running":
            return
        self._state = "stopping"
        self._watchers.call()
        self.broker.close()
        if self.main.is_unwound:
            self._finish()
        else:
            self.main.when_unwound(self._finish)

    def _finish(self) -> None:
        self._runner.roll_back()
        self.main.close()
        self._worker.stop()
        self._stop_waiting()
        self.audit.close()
        if not self._ready.done():
            self._ready.set_exception(BridgeClosed("The start"))
        self._running.cleanup.close()
        self._state = "stopped"
        if self.stopped.set_running_or_notify_cancel():
            self.stopped.set_result(None)

    def _holder(self) -> Call | None:
        """Give the call for which others wait, as it waits for an answer. Any thread."""
        job = self.main.holder if self.main.waiting else None
        return _call_of(job) if job is not None else None

    def _follow_scene(self) -> None:
        facts = scene_facts(self.host)
        if facts["file"] != self.instance.file:
            self.recent.follow_undo(self.host)  # before anything is undone in it
        else:
            self._look(None)
        self._update_registration(**facts)
        if self.address:  # while the bridge starts there is no server yet
            self._server.name_scene(facts["scene"])

    def _update_registration(self, **facts: Any) -> None:
        """Let those who look for this host see what has changed."""
        try:
            self._running.registration.update(**facts)
        except OSError as error:  # it is found all the same, as it was before
            if facts:
                log.warning("the entry of this host cannot be updated: %s", error)
            if not self._renews:
                self._renews = True
                Context().run(self._worker.later, _RENEWED_AFTER, self._renew_registration)

    def _renew_registration(self) -> None:
        """Write the record once more, on a thread of its own: that may wait for a reader."""
        self._renews = False
        run_in_thread(self._update_registration, "the record of this host")

    def _tell_edited(self, call: Call, label: str) -> None:
        """Say at the host what an agent did, and offer to take it back. Any thread."""
        surface = self.broker.audience.host
        if surface is not None and call.client is not None:
            text = f"{call_history.deed(call)}: done for {routing.client_name(call)}"
            undo = partial(self._undo_if_on_top, label)
            self._notices[call.id] = surface.notice(text, undo, call.id)
            Context().run(self._worker.later, _NOTICED, partial(self._end_notice, call.id))

    def _follow_record(self, record: call_history.Record) -> None:
        if record.effect.undone_by:
            self._end_notice(record.id)

    def _end_notice(self, call: str) -> None:
        if (take_down := self._notices.pop(call, None)) is not None:
            take_down("undone")

    def _undo_if_on_top(self, label: str) -> None:
        self.recent.follow_undo(self.host)
        record = self.recent.of_step(label)
        if not self.undo(label) and record is not None:
            top, host = self.host.undo_mark().label, self.host.name
            self.broker.audience.notify(call_history.why_not_undo(record, top, host))

    def _read_skills(self, started: Future[None]) -> None:
        """Begin to look at the skill files; the first look done, all is ready. On the worker.

        By now the worker has imported what describing a skill needs, and the host stays alive.
        """
        if (error := started.exception()) is not None:
            if not self._ready.done():  # it is where the bridge was stopped while it started
                self._ready.set_exception(error)
            return
        from dcc_bridge import verbs  # noqa: F401 - here, and not on the host's main thread

        self._running.library.read.add_done_callback(self._warm_up)
        self.main.submit(self._add_builtin, name="the bridge's own tools")
        loaded = self.main.submit(self._make_operations, name="what the host does for the verbs")
        loaded.add_done_callback(self._take_operations)

    def _make_operations(self) -> HostOperations | None:
        return self._operations(self.host) if self._operations is not None else None

    def _note_start(self, ready: Future[None]) -> None:
        """Say why the start failed, or which files run that the plug-in did not bring."""
        self._stop_waiting()
        error = ready.exception()
        if error is None:
            foreign = foreign_modules(self._vendor) if self._vendor is not None else {}
            if foreign:
                log.warning("%s", name_foreign(self.host.name, foreign))
                self._update_registration(foreign=foreign)
        elif not isinstance(error, BridgeClosed):  # which is what a person did
            self._running.socket.close()  # else a client would wait for an answer
            with self._ending_start:  # this is why, whatever it seemed to wait for
                self._note_problem(explain(error, self.host.name, self._vendor), error)

    def _note_overdue(self) -> None:
        """Say what a start waits for that takes too long; it may still come to its end."""
        if self._worker.started.done():
            cause = "its main thread is busy, or its skill files take long to read"
        else:
            cause = "its server does not come up"
        with self._ending_start:
            if not self._ready.done() and self._state == "running":
                self._note_problem(overdue(self.host.name, START_LIMIT_S, cause))

    def _note_problem(self, problem: StartProblem, error: BaseException | None = None) -> None:
        """Tell everybody who may ask why agents cannot connect. Any thread."""
        self.problem = problem
        log.error("%s", problem, exc_info=error)
        self._update_registration(state="failed", why=problem.what, mend=problem.mend)
        self._watchers.call()

    def _warm_up(self, read: Future[None]) -> None:
        with suppress(BridgeClosed):  # it was stopped while it started
            self._worker.spawn(self._server.warm_up()).add_done_callback(
                lambda _: self.main.submit(self._note_ready, name="the start", read=True)
            )

    def _take_operations(self, loaded: Future[HostOperations | None]) -> None:
        if not loaded.cancelled():  # on a thread of its own: to describe them takes a moment
            adding = run_in_thread(lambda: self._add_verbs(loaded.result()), "verbs")
            adding.add_done_callback(self._watch_skills)

    def _add_verbs(self, operations: HostOperations | None) -> None:
        from dcc_bridge import verbs  # on a thread of its own
        from dcc_bridge.code import run_python
        from dcc_bridge.verbs.ports import CodeContext

        if operations is not None:
            checks = self.settings.project and self.settings.project / "checks"
            known = self.settings.many, lambda name: name in self.registry.replaced, checks
            tools = verbs.tools(operations, *known)
            fns = {it.name: it.fn for it in tools}
            if isinstance(operations, CodeContext):
                self._runner.environment.writers = operations.writers
            code = run_python.tool(operations, self.settings, self.audit, fns)
            self.registry.set_verbs([*tools, code] if code is not None else tools)
            self._server.add_instructions(verbs.instructions(operations))

    def _watch_skills(self, added: Future[None]) -> None:
        if (error := added.exception()) is not None:  # all else is there all the same
            log.error("the verbs of %s cannot be loaded", self.host.name, exc_info=error)
        with suppress(BridgeClosed):  # it was stopped while it started
            self._worker.spawn(self._running.library.watch(is_heard=self._server.open_requests))

    def _add_builtin(self) -> None:
        known = self.host, self.clients, self.registry, self.broker.audience
        about = partial(connection_report, *known)
        tools = builtin.tools(self.recent, self.main, self.host, self._undoing)
        tools.append(builtin.connection_tool(about, self.main))
        self._runner.own_tools = frozenset(tools)
        for tool in tools:
            self._running.cleanup.callback(self.registry.add(tool))

    def _note_ready(self) -> None:
        with self._ending_start:
            self.problem = None
            self._update_registration(state="ready", why="", mend="")
            self._server.name_scene(self.instance.scene)
            self._ready.set_result(None)
        self._watchers.call()
        if os.environ.get("DCC_BRIDGE_FREEZE") != "0":
            self._running.cleanup.callback(main_thread.freeze(self.main, self._worker.later))

    def _make_service(self, worker: Worker) -> McpService:
        # these take 0.5 s, in which the host stays alive: they are imported on the worker
        from dcc_bridge.server.mcp_server import Server
        from dcc_bridge.server.parked_calls import ParkedCalls
        from dcc_bridge.server.resources import SceneResources
        from dcc_bridge.server.service import McpService
        from dcc_bridge.server.task_records import TaskRecords
        from dcc_bridge.server.tasks import Tasks

        if self._state != "running":
            raise BridgeClosed
        # the record of a process that died is read as a whole: nobody waits for that
        recovered = run_in_thread(lambda: reader.recover(self.audit.folder), "audit")
        records = TaskRecords(self.audit, recovered)
        calls = ParkedCalls(self.broker, self.recent)
        scene = SceneResources(self.host, self.main, worker.spawn)
        self._changes.add(scene.changed)
        server = Server(
            self.host,
            self.registry,
            self._runner,
            calls,
            Tasks(calls, self.broker, self.recent, self.host.name, self.instance.id, records),
            worker.soon,
            self.clients,
            scene,
            self._running.library,
        )
        self._server = server
        if self._extend is not None:
            self._extend(server)
        secret = self.instance.secret
        return McpService(server, worker, self._running.socket, secret, self._desk)


def _call_of(job: QueuedJob) -> Call | None:
    """Return the call that a job of the main thread runs; None for another job."""
    running = job.context.get(current)
    return running if isinstance(running, Call) else None
