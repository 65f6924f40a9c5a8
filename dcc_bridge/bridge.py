"""The bridge: puts the parts together, starts and stops them. The only module that knows all parts.

Methods are called on the host's main thread unless they say "any thread". `Bridge.start` returns at
once, and the start goes on in callbacks: the worker's thread makes the server, the main thread the
host's operations, and a thread of its own the verbs; then the skill files are read, the server
warms up, and the bridge is ready.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Final

from dcc_bridge import config
from dcc_bridge.audit import reader, redact
from dcc_bridge.audit.log import AuditLog, log_folder
from dcc_bridge.audit.program_log import open_log
from dcc_bridge.callbacks import Callbacks, Throttle, Unsubscribe, call_later, call_safely
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation import broker, context, question, routing
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.errors import BridgeClosed, NotUndoable, StartError
from dcc_bridge.host import Host
from dcc_bridge.instructions.collection import Instructions
from dcc_bridge.local_clients import LocalClients
from dcc_bridge.server.clients import ClientRegistry, connection_report
from dcc_bridge.server.discovery import Instance, scene_facts
from dcc_bridge.server.host_record import HostRecord
from dcc_bridge.server.page_site import PageDesk
from dcc_bridge.server.start_problem import (
    StartProblem,
    explain,
    overdue,
)
from dcc_bridge.server.worker import Worker, listen
from dcc_bridge.skills import builtin, loader, registry, runner
from dcc_bridge.skills.edit_notices import EditNotices
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


@dataclass(frozen=True, slots=True)
class _Running:
    """The parts that exist only while a bridge runs.

    Attributes:
        socket: The server's socket, bound and listening.
        record: The bridge's record among the running hosts.
        library: Imports the skills of files.
        instructions: The texts that agents read, of the same folders.
        cleanup: Undoes the steps of the start, the last step first.
    """

    socket: socket
    record: HostRecord
    library: loader.Library
    instructions: Instructions
    cleanup: ExitStack


class Bridge:
    """An MCP server in a host, and everything that the server needs.

    Attributes:
        host: The application.
        main: The way to the host's main thread.
        settings: The settings, with those that the studio fixed.
        registry: The skills that agents can call.
        clients: The clients that have connected.
        problem: Why agents cannot connect; None if they can.
        grants: The grants that a person gave for the session. Any thread.
        audit: The audit log.
        broker: Asks people.
        recent: The calls that are queued, run or ended lately. Any thread.
        local_clients: The clients on this computer.
        stopped: Done once nothing of the bridge is left.
    """

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
            main: The way to the host's main thread.
            presenter: Draws questions in the host; None for a host without a window.
            settings: None for the environment and the defaults; the studio's policy wins.
            skills: The application's own folders of skill files, the most trusted first; those of
                the settings come after them.
            extend: Adds resources, prompts, completions or tools of its own to the SDK's server
                object. Called on the worker.
            vendor: The folder with the dependencies that a plug-in brought.
            operations: Makes the operations of the host for the verbs; called once, on the main
                thread. None for a host without verbs.
            covers: Returns whether a question is agreed to before anybody is asked, on any thread;
                None for the grants that the person gives for the session.

        Raises:
            ValueError: A variable of the environment or the studio's policy is wrong.
            StartError: The allow-list of the settings is wrong.
        """
        self.host = host
        self.main = main
        if settings is None:
            settings = config.Settings.load()
        self.settings = settings.under()
        self.registry = registry.Registry()
        self.clients = ClientRegistry()
        self._skills = list(skills)
        self._extend = extend
        self._vendor = vendor
        self._make_operations: Callable[[Host], HostOperations | None]
        self._make_operations = operations or (lambda host: None)
        self.problem: StartProblem | None = None
        self._stop_start_timer: Unsubscribe = lambda: None
        self._start_end_lock = threading.Lock()  # held while the end of the start is reported
        self._desk = PageDesk(self.settings, host, main)
        self._worker = Worker(self._make_service)
        about = {"host": host.name, "version": host.version}
        self.grants = SessionGrants()
        answers = self.grants if covers is None else routing.FixedAnswers(covers)
        self.audit = AuditLog(log_folder(self.settings.audit), about)
        try:
            self.broker = broker.Broker(
                self.settings,
                host=presenter,
                clock=self._worker.later,
                holder=self._holder,
                auditor=self.audit,
                grants=answers,
            )
        except ValueError as error:  # the allow-list
            raise StartError(str(error)) from None
        main.look_at_holder = lambda job: self.broker.held_up(_call_of(job))
        self.broker.watch(Watchdog(self.broker, main, self._worker.later).note_question)
        self._runner = runner.Runner(
            host,
            main,
            self.settings,
            self._worker.spawn,
            self._worker.later,
            edited=lambda call, label: self._notices.show(call, label),  # made below
            auditor=self.audit,
        )
        self.recent = self._runner.recent
        self._watchers = Callbacks()
        self.local_clients = LocalClients(self._watchers.call)
        self._undoing = builtin.Undoing(host, self.recent, self.audit, self._watchers.call)
        self._changes = Callbacks()
        self._follow_undo_soon = Throttle[None](
            lambda _: main.post(lambda: self.recent.follow_undo(host)), self._worker.later
        )
        self._notices = EditNotices(
            host, self.broker.audience, self.recent, self._worker.later, self.undo
        )
        self._server: Server  # set when the worker has started
        self._running: _Running  # set by `start`, and kept after the end, so that `url` stays known
        self._state = "new"
        self._ready: Future[None] = Future()
        self.stopped: Future[None] = Future()

    def start(self) -> Future[None]:
        """Start, and return at once: the server comes up on its own thread. Main thread.

        Returns:
            A future that is done once requests are taken and the skill files were read. The future
            may have any of the errors below.

        Raises:
            SkillError: A folder of skills is not there.
            StartError: The port is taken or would be open to other computers, or a bridge runs in
                this process already.
        """
        if self._state != "new":
            raise StartError("This bridge has already been started; make a new one.")
        paths = loader.folders(self._skills, self.settings)
        library = loader.Library(paths, self.registry, self.main, self.host)
        with ExitStack() as cleanup:
            cleanup.callback(open_log(self.settings.log_level))
            cleanup.callback(context.install(self.broker, self.main, self.host, self._desk))
            listening = listen(self.settings.port)
            cleanup.callback(call_safely, listening.close)
            runtime = self.settings.runtime
            record = HostRecord(self.host, listening, self._worker.later, runtime)
            cleanup.callback(call_safely, record.withdraw)
            redact.install_log_filter(safe_whole)
            cleanup.callback(call_safely, self.host.watch(self._changes.call))
            instructions = Instructions(paths)
            self._running = _Running(listening, record, library, instructions, cleanup.pop_all())
        self._changes.add(self._follow_scene)
        self._state = "running"
        self._desk.origin = self.url.removesuffix("/mcp")
        self._worker.started.add_done_callback(self._read_skills)
        self._ready.add_done_callback(self._note_start)
        self._stop_start_timer = call_later(START_LIMIT_S, self._note_overdue)
        self._worker.start()
        return self._ready

    @property
    def is_paused(self) -> bool:
        """Return whether no edit may begin for now. Any thread."""
        return self._runner.environment.is_paused

    def pause(self) -> None:
        """Keep edits from beginning until `resume`; reads go on. Any thread. It raises nothing."""
        self._runner.environment.is_paused = True
        self._watchers.call()

    def resume(self) -> None:
        """Allow edits to begin again. Any thread. It raises nothing."""
        self._runner.environment.is_paused = False
        self._watchers.call()

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever something changes that a panel shows. Any thread.

        It raises nothing.

        Args:
            fn: Called on any thread; it must be quick.

        Returns:
            A function that ends the calls.
        """
        subscriptions = ExitStack()
        sources = (self._watchers.add, self.broker.watch, self.clients.watch, self.grants.watch)
        for watch in sources:
            subscriptions.callback(watch(fn))
        subscriptions.callback(self.recent.watch(lambda _: fn()))
        return subscriptions.close

    @property
    def address(self) -> str | None:
        """The URL for agents; "" while the bridge starts, None if they cannot connect. Any thread.

        It raises nothing.
        """
        if self.problem is not None:
            return None
        if not self._ready.done() and self._state in ("new", "running"):
            return ""
        if self._state != "running" or self._ready.exception():
            return None
        return self.url

    def cancel(self, call: str) -> bool:
        """End a call as its client would. Any thread. It raises nothing.

        A queued call never begins; the edits of a running one are undone.

        Args:
            call: The id of the call, as `Record.id` has it.

        Returns:
            Whether the call had not ended yet.
        """
        cancelled = self._runner.cancel(call)
        if cancelled is None:
            return False
        self.broker.end(cancelled)
        return True

    def undo(self, label: str) -> bool:
        """Undo an agent's step, if the step is on top of the undo stack. Main thread.

        It raises nothing: if the host cannot undo all of the step, the person is notified.

        Args:
            label: The label of the step, as `Host.undo_step` was given it.

        Returns:
            Whether the step was on top.
        """
        try:
            return self.main.is_unwound and self._undoing(label)
        except NotUndoable as error:
            self.broker.audience.notify(str(error))
            return True

    @property
    def instance(self) -> Instance:
        """The bridge's record among the running hosts, from `start` on. Any thread."""
        return self._running.record.instance

    @property
    def url(self) -> str:
        """The URL of the server, from `start` on. Any thread."""
        return self.instance.url

    def stop(self) -> None:
        """Stop: end the questions, the queue, the server and the worker, in that order.

        Main thread. It raises nothing. If a skill is on the stack below the caller, the questions
        end now, and the rest follows once the skill has returned.
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
        self._stop_start_timer()
        self.audit.close()
        if not self._ready.done():
            self._ready.set_exception(BridgeClosed("The start"))
        self._running.cleanup.close()
        self._state = "stopped"
        if self.stopped.set_running_or_notify_cancel():
            self.stopped.set_result(None)

    def _holder(self) -> Call | None:
        """Return the call that waits for an answer while other calls wait for it. Any thread."""
        job = self.main.holder
        if job is None or not self.main.waiting:
            return None
        return _call_of(job)

    def _follow_scene(self) -> None:
        """Note a change of the scene or of the selection. Main thread."""
        facts = scene_facts(self.host)
        if facts["file"] != self.instance.file:
            self.recent.follow_undo(self.host)  # before anything is undone in the other scene
        else:
            self._follow_undo_soon(None)
        self._running.record.update(**facts)
        if self.address:  # while the bridge starts there is no server yet
            self._server.name_scene(facts["scene"])

    def _read_skills(self, started: Future[None]) -> None:
        """Begin to read the skill files and to make the verbs, once the worker has started.

        On the worker: by now it has imported the modules that describe a skill, so the host's main
        thread need not.
        """
        error = started.exception()
        if error is not None:
            if not self._ready.done():  # done if the bridge was stopped while it started
                self._ready.set_exception(error)
            return
        from dcc_bridge import verbs  # noqa: F401 - here, and not on the host's main thread

        self._running.library.read.add_done_callback(self._warm_up)
        self.main.submit(self._add_builtin, name="the bridge's own tools")
        loaded = self.main.submit(
            lambda: self._make_operations(self.host), name="what the host does for the verbs"
        )
        loaded.add_done_callback(self._load_verbs)

    def _note_start(self, ready: Future[None]) -> None:
        """Report why the start failed, or which modules run that the plug-in did not bring."""
        self._stop_start_timer()
        error = ready.exception()
        if error is None:
            if self._vendor is not None:
                self._running.record.note_foreign_modules(self._vendor)
        elif not isinstance(error, BridgeClosed):  # else a person has stopped the bridge
            self._running.socket.close()  # else a client would wait for an answer
            with self._start_end_lock:  # this problem replaces one that `_note_overdue` has noted
                self._note_problem(explain(error, self.host.name, self._vendor), error)

    def _note_overdue(self) -> None:
        """Report what a slow start waits for; the start may still succeed."""
        if self._worker.started.done():
            cause = "its main thread is busy, or its skill files take long to read"
        else:
            cause = "its server does not come up"
        with self._start_end_lock:
            if not self._ready.done() and self._state == "running":
                self._note_problem(overdue(self.host.name, START_LIMIT_S, cause))

    def _note_problem(self, problem: StartProblem, error: BaseException | None = None) -> None:
        """Report why agents cannot connect: in the panel, the log and the record. Any thread."""
        self.problem = problem
        log.error("%s", problem, exc_info=error)
        self._running.record.update(state="failed", why=problem.what, mend=problem.mend)
        self._watchers.call()

    def _warm_up(self, read: Future[None]) -> None:
        """Have the server prepare for its first call; then the bridge is ready."""
        with suppress(BridgeClosed):  # the bridge was stopped while it started
            warm = self._worker.spawn(self._server.warm_up())
            warm.add_done_callback(
                lambda _: self.main.submit(self._note_ready, name="the start", read=True)
            )

    def _load_verbs(self, loaded: Future[HostOperations | None]) -> None:
        if loaded.cancelled():
            return
        # On a thread of its own: it takes a moment to describe the verbs.
        adding = run_in_thread(lambda: self._add_verbs(loaded.result()), "verbs")
        adding.add_done_callback(self._watch_skills)

    def _add_verbs(self, operations: HostOperations | None) -> None:
        """Offer the verbs that a host can do, and the tool that runs code. A thread of its own."""
        from dcc_bridge import verbs
        from dcc_bridge.code.host_tools import host_tools
        from dcc_bridge.verbs.ports import CodeContext, Drawing, Marking
        from dcc_bridge.verbs.previews import Previews

        if operations is None:
            return
        if isinstance(operations, CodeContext):
            self._runner.environment.writers = operations.writers
        is_seen = self.broker.audience.host is not None and self.settings.question_pictures
        if is_seen and isinstance(operations, Drawing) and isinstance(operations, Marking):
            self._runner.environment.previews = Previews(operations, operations).of_call
        tools = host_tools(
            operations, self.settings, self.audit, lambda name: name in self.registry.replaced
        )
        self.registry.set_verbs(tools)
        self._server.add_instructions(verbs.instructions(operations))
        self._running.instructions.own = operations.instruction_folder

    def _watch_skills(self, added: Future[None]) -> None:
        error = added.exception()
        if error is not None:  # everything else works without the verbs
            log.error("the verbs of %s cannot be loaded", self.host.name, exc_info=error)
        with suppress(BridgeClosed):  # the bridge was stopped while it started
            self._worker.spawn(self._running.library.watch(is_heard=self._server.open_requests))

    def _add_builtin(self) -> None:
        about = partial(
            connection_report, self.host, self.clients, self.registry, self.broker.audience
        )
        tools = builtin.tools(self.recent, self.main, self.host, self._undoing)
        tools.append(builtin.connection_tool(about, self.main))
        self._runner.own_tools = frozenset(tools)
        for tool in tools:
            self._running.cleanup.callback(self.registry.add(tool))

    def _note_ready(self) -> None:
        with self._start_end_lock:
            self.problem = None
            version = self._server.version
            self._running.record.update(state="ready", why="", mend="", bridge=version)
            self._server.name_scene(self.instance.scene)
            self._ready.set_result(None)
        self._watchers.call()
        if os.environ.get("DCC_BRIDGE_FREEZE") != "0":
            self._running.cleanup.callback(main_thread.freeze(self.main, self._worker.later))

    def _make_service(self, worker: Worker) -> McpService:
        # These imports take 0.5 s; on the worker, the host stays alive meanwhile.
        from dcc_bridge.server.mcp_server import Server
        from dcc_bridge.server.parked_calls import ParkedCalls
        from dcc_bridge.server.resources import SceneResources
        from dcc_bridge.server.served_instructions import ServedInstructions
        from dcc_bridge.server.service import McpService
        from dcc_bridge.server.task_records import TaskRecords
        from dcc_bridge.server.tasks import Tasks

        if self._state != "running":
            raise BridgeClosed
        # On a thread of its own: the record of a process that died is read as a whole.
        recovered = run_in_thread(lambda: reader.recover(self.audit.folder), "audit")
        records = TaskRecords(self.audit, recovered)
        calls = ParkedCalls(self.broker, self.recent)
        name = self.host.name
        tasks = Tasks(calls, self.recent, name, self.instance.id, records)
        scene = SceneResources(self.host, self.main, worker.spawn)
        self._changes.add(scene.changed)
        server = Server(
            self.host,
            self.registry,
            self._runner,
            calls,
            tasks,
            worker.soon,
            self.clients,
            scene,
            self._running.library,
            ServedInstructions(self._running.instructions, self._running.library),
        )
        self._server = server
        if self._extend is not None:
            self._extend(server)
        secret = self.instance.secret
        return McpService(server, worker, self._running.socket, secret, self._desk)


def _call_of(job: QueuedJob) -> Call | None:
    """Return the call that a job of the main thread runs; None for another job."""
    running = job.context.get(current)
    if not isinstance(running, Call):
        return None
    return running
