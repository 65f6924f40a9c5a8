"""The bridge: puts the parts together, starts and stops them. The only module that knows all.

Everything here is called on the host's main thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dcc_bridge.config import Settings
from dcc_bridge.elicitation import audience, installed
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import HostPresenter
from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.host import Host
from dcc_bridge.server import instances, listener
from dcc_bridge.server.pages import PagePresenter
from dcc_bridge.server.worker import Service, Worker
from dcc_bridge.skills import loader
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads import MainThread

if TYPE_CHECKING:
    from dcc_bridge.server.mcp import Server

log = logging.getLogger(__name__)


class Bridge:
    """An MCP server in a host, and everything it needs."""

    def __init__(
        self,
        host: Host,
        main: MainThread,
        *,
        presenter: HostPresenter | None = None,
        settings: Settings | None = None,
        skills: Sequence[Path] = (),
        extend: Callable[[Server], None] | None = None,
    ) -> None:
        """Put the parts together; nothing runs yet.

        Args:
            host: The application.
            main: The way to its main thread.
            presenter: Draws questions in the host; None where nobody sits there.
            settings: How to behave; None for the environment and the defaults. What the studio's
                policy fixes wins.
            skills: Folders of skill files, the most trusted first.
            extend: Adds to the SDK's own server object what skills are not: resources, prompts,
                completions, a tool registered by hand. Called on the worker.
        """
        self.host = host
        self.main = main
        self.settings = (settings or Settings.load()).under()
        self.registry = Registry()
        self._skills = list(skills)
        self._extend = extend
        self._pages = presenter if isinstance(presenter, PagePresenter) else None
        self._worker = Worker(self._make_service)
        self.broker = Broker(
            self.settings,
            host=presenter,
            clock=self._worker.later,
            busy=lambda: main.waiting > 0,
        )
        self._runner = Runner(
            host, main, self.settings, self._worker.spawn, edited=self._tell_edited
        )
        self._undo: list[Callable[[], None]] = []
        self._state = "new"
        self._ready: Future[None] = Future()
        self.stopped: Future[None] = Future()
        """Done once nothing of the bridge is left."""

    def start(self) -> Future[None]:
        """Start, and return at once: the server comes up on its own thread.

        Returns:
            Done once requests are taken and every skill file was loaded.

        Raises:
            SkillError: A folder of skills is not there.
            StartError: The port is taken, or a bridge runs in this process already.
        """
        if self._state != "new":
            raise StartError("This bridge was started before; make a new one.")
        files = [file for folder in self._skills for file in loader.files(folder)]
        self._undo.append(installed.install(self.broker, self.main, self.host))
        try:
            self._socket = listener.listen(self.settings.port)
            self._undo.append(self._socket.close)
            self.instance = self._instance()
            self._undo.append(instances.register(self.instance, self.settings.runtime))
        except (StartError, OSError) as error:
            self._undo_all()
            if isinstance(error, StartError):
                raise
            raise StartError(f"The host cannot be written down as running: {error}.") from error
        self._state = "running"
        if self._pages is not None:
            self._pages.open(self.url.removesuffix("/mcp"), self.host, self.main)
        self._worker.started.add_done_callback(partial(self._load_skills, files))
        self._worker.start()
        return self._ready

    @property
    def url(self) -> str:
        """Where the server is."""
        return self.instance.url

    def stop(self) -> None:
        """Stop: end the questions, the queue, the server and the worker, in that order.

        Called from above a waiting skill's own frame, it ends the questions, and does the rest
        once that frame is gone.
        """
        if self._state != "running":
            return
        self._state = "stopping"
        self.broker.close()
        if self.main.is_unwound:
            self._finish()
        else:
            self.main.when_unwound(self._finish)

    def _finish(self) -> None:
        self._runner.roll_back()
        self.main.close()
        self._worker.stop()
        if not self._ready.done():
            self._ready.set_exception(BridgeClosed("The start"))
        self._undo_all()
        self._state = "stopped"
        if self.stopped.set_running_or_notify_cancel():
            self.stopped.set_result(None)

    def _undo_all(self) -> None:
        while self._undo:
            self._undo.pop()()

    def _instance(self) -> instances.Instance:
        port = self._socket.getsockname()[1]
        host = self.host
        return instances.Instance(
            f"http://127.0.0.1:{port}/mcp", host.name, host.version, host.scene()
        )

    def _load(self, file: Path) -> None:
        self._undo.append(loader.load(file, self.registry, self.host.name))
        broken = self.registry.broken.get(file.stem)
        if broken is not None:
            log.warning("%s", broken)

    def _tell_edited(self, call: Call, label: str) -> None:
        """Say at the host what an agent did, and offer to take it back. Any thread."""
        surface = self.broker.audience.host
        if surface is not None and call.client is not None:
            text = f"{call.title}: done for {audience.name(call)}"
            surface.notice(text, lambda: self._undo_if_on_top(label))

    def _undo_if_on_top(self, label: str) -> None:
        surface = self.broker.audience.host
        if self.host.undo_label() == label and self.main.is_unwound:
            self.host.undo()
        elif surface is not None:
            surface.notice("Something else was changed since; use the application's own undo.")

    def _load_skills(self, files: Sequence[Path], started: Future[None]) -> None:
        """Queue one job a file, and behind them the word that all is ready. On the worker.

        By now the worker has imported what describing a skill needs, and the host stays alive.
        """
        error = started.exception()
        if error is not None:
            self._ready.set_exception(error)
            return
        for file in files:
            self.main.submit(partial(self._load, file), name=file.name)
        self.main.submit(lambda: self._ready.set_result(None), name="the start", read=True)

    def _make_service(self, worker: Worker) -> Service:
        from dcc_bridge.server.service import McpService, Parts  # takes 0.5 s: on the worker

        if self._state != "running":
            raise BridgeClosed
        parts = Parts(
            name=self.host.name,
            version=self.host.version,
            settings=self.settings,
            registry=self.registry,
            runner=self._runner,
            broker=self.broker,
            secret=self.instance.secret,
            socket=self._socket,
            extend=self._extend,
            pages=self._pages,
        )
        return McpService(parts, worker)
