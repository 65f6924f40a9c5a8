"""A bridge with Qt dialogs and a panel, installed in a host by its plug-in. Main thread.

What is particular to a host's loader is in ``plugins/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from dcc_bridge.config import Settings
from dcc_bridge.host import Host
from dcc_bridge.pyside_imports import unsearched_imports

if TYPE_CHECKING:  # a plug-in is loaded before there is a window, and Qt with it
    from dcc_bridge.bridge import Bridge
    from dcc_bridge.qt.binding import QWidget
    from dcc_bridge.qt.event_loop import HostLoop
    from dcc_bridge.qt.panel.panel import Panel
    from dcc_bridge.qt.presenter import DialogPresenter
    from dcc_bridge.server.failed_start import FailedStart
    from dcc_bridge.verbs.operations import HostOperations

_PARTS: Final = (
    *("ssl", "asyncio", "dcc_bridge.elicitation.question", "dcc_bridge.elicitation.view"),
    *("dcc_bridge.elicitation.broker", "dcc_bridge.skills.runner", "dcc_bridge.bridge"),
    *("dcc_bridge.qt.event_loop", "dcc_bridge.qt.presenter"),
)
"""What a bridge needs, in an order in which none takes long."""


@dataclass
class _Parts:
    loop: HostLoop
    presenter: DialogPresenter
    bridge: Bridge
    panel: Panel | None = None


class PlugIn:
    """One host's bridge, which may be started and stopped any number of times."""

    def __init__(
        self,
        host: Host,
        skills: Sequence[Path] = (),
        *,
        settings: Settings | None = None,
        vendor: Path | None = None,
        operations: Callable[[Host], HostOperations] | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            host: The application.
            skills: Folders of skill files, the most trusted first.
            settings: How to behave; None for the environment and the defaults.
            vendor: The folder in which the plug-in brought what it depends on.
            operations: Makes what the host does for the verbs; called on the main thread once the
                bridge has started. None for a host without verbs.
        """
        self.host = host
        self._skills = list(skills)
        self._settings = settings
        self._vendor = vendor
        self._operations = operations
        self._parts: _Parts | None = None
        self._failure: FailedStart | None = None  # of the last start, if it failed
        self.is_installed = False  # `install` was called, and not `uninstall` since
        self.cleanup = ExitStack()  # what is undone before it stops, at the end of the plug-in

    @property
    def bridge(self) -> Bridge | None:
        """The bridge that runs, or None."""
        return self._parts.bridge if self._parts is not None else None

    @property
    def problem(self) -> str:
        """Why agents cannot connect, as sentences for the person; "" where they can."""
        if self._failure is not None:
            return str(self._failure.problem)
        problem = self.bridge.problem if self.bridge is not None else None
        return str(problem) if problem is not None else ""

    @property
    def panel(self) -> Panel | None:
        """The panel, made when it is first asked for; None while nothing runs.

        Whoever takes it puts it into a dock of the host. One that the host deleted is made again.
        """
        from dcc_bridge.qt.binding import isValid
        from dcc_bridge.qt.panel.panel import Panel

        parts = self._parts
        if parts is not None and (parts.panel is None or not isValid(parts.panel)):
            parts.panel = Panel(parts.bridge, parts.presenter.bring)
        return parts.panel if parts is not None else None

    def install(
        self,
        on_ready: Callable[[], object] | None = None,  # in place of `start`, which it calls
        on_leaving: Callable[[], None] | None = None,  # in place of `uninstall`, which it calls
    ) -> None:
        """Start as soon as the host can show a dialog, and stop before it goes.

        Hosts load a plug-in twice: nothing happens the second time. It raises nothing itself; what
        a start raises goes to `Host.when_ready`, and `problem` says it to the person.

        Args:
            on_ready: Called in place of `start`, which it calls.
            on_leaving: Called in place of `uninstall`, which it calls.
        """
        if self.is_installed:
            return
        self.is_installed = True
        start = partial(self._import, iter(_PARTS), on_ready or self.start)
        self.cleanup.callback(self.host.when_ready(start))
        self.cleanup.callback(self.host.when_leaving(on_leaving or self.uninstall))

    def uninstall(self) -> None:
        """Stop, and take the callbacks back; harmless the second time.

        Raises:
            Exception: What one of the functions in ``cleanup`` raised; it is stopped nevertheless.
        """
        self.is_installed = False
        try:
            self.cleanup.close()
        finally:
            self.stop()

    def start(self) -> Future[None]:
        """Start, unless it runs. The host's window must be up.

        Returns:
            Done once requests are taken.

        Raises:
            BridgeError: It cannot be started; nothing is left of the attempt but what says so, to
                the person here and to who lists the running hosts.
        """
        with self._telling_failure():
            return self._start()

    @contextmanager
    def _telling_failure(self) -> Iterator[None]:
        """Tell why a start failed, until the next one or the end; the error goes on to the host."""
        self._forget_failure()
        try:
            yield
        except Exception as error:  # whatever an import or the host raises: a person is told
            from dcc_bridge.server.failed_start import FailedStart

            self._failure = FailedStart(self.host, error, self._settings, self._vendor)
            raise

    def _forget_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            failure.close()

    def _start(self) -> Future[None]:
        from dcc_bridge.bridge import Bridge
        from dcc_bridge.qt.event_loop import HostLoop
        from dcc_bridge.qt.presenter import DialogPresenter

        if self._parts is not None:
            started: Future[None] = Future()
            started.set_result(None)
            return started
        loop = HostLoop()
        presenter = DialogPresenter(
            loop.main, self.host, lambda: cast("QWidget | None", self.host.main_window())
        )
        with ExitStack() as undo:  # whatever it is goes on to the host, and no widget stays
            undo.callback(loop.close)
            undo.callback(presenter.close)
            undo.callback(loop.main.close)
            bridge = Bridge(
                self.host,
                loop.main,
                presenter=presenter,
                settings=self._settings,
                skills=self._skills,
                vendor=self._vendor,
                operations=self._operations,
            )
            ready = bridge.start()
            undo.pop_all()
        self._parts = _Parts(loop, presenter, bridge)
        return ready

    def stop(self) -> None:
        """Stop, if it runs; no widget of ours is left then. It raises nothing.

        Called from above a waiting skill's own frame it ends the questions, and does the rest once
        that frame is gone.
        """
        self._forget_failure()
        parts, self._parts = self._parts, None
        if parts is None:
            return
        parts.bridge.stop()
        parts.bridge.stopped.add_done_callback(lambda _: _let_go(parts))

    def enter_question(self) -> bool:
        """Give the keyboard to the question that is drawn, if there is one. It raises nothing.

        Call it from the host's command that shows the panel: no question takes the keyboard.

        Returns:
            Whether there is one.
        """
        return self._parts is not None and self._parts.presenter.enter()

    def _import(self, parts: Iterator[str], then: Callable[[], object]) -> None:
        """Import each part in a turn of the host's event loop: all would hold it for 100 ms."""
        if not self.is_installed:  # an import may run code of others
            return
        if (part := next(parts, None)) is None:
            then()
            return
        with self._telling_failure(), unsearched_imports():
            import_module(part)
        self.cleanup.callback(self.host.when_ready(partial(self._import, parts, then)))


def _let_go(parts: _Parts) -> None:
    """Delete the widgets at once: what the host deletes later crashes its exit."""
    from dcc_bridge.qt.binding import delete, isValid

    if parts.panel is not None and isValid(parts.panel):
        parts.panel.close_for_good()
        delete(parts.panel)
    parts.presenter.close()
    parts.loop.close()
