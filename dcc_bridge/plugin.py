"""A bridge with Qt dialogs and a panel, for the plug-in of a host with Qt. Main thread.

The plug-in makes a `PlugIn` and calls `install` when the host loads it, and `uninstall` when the
host unloads it. The code for a host's own loader is in ``plugins/``.
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
    from dcc_bridge.qt.keep_bar import KeepBar
    from dcc_bridge.qt.panel.panel import Panel
    from dcc_bridge.qt.presenter import DialogPresenter
    from dcc_bridge.server.failed_start import FailedStart
    from dcc_bridge.verbs.operations import HostOperations

# The modules that a bridge needs, in an order in which no import takes long.
_MODULES: Final = (
    "ssl",
    "asyncio",
    "dcc_bridge.elicitation.question",
    "dcc_bridge.elicitation.view",
    "dcc_bridge.elicitation.broker",
    "dcc_bridge.skills.runner",
    "dcc_bridge.bridge",
    "dcc_bridge.qt.event_loop",
    "dcc_bridge.qt.presenter",
    "dcc_bridge.qt.keep_bar",
)


@dataclass
class _Parts:
    """The parts that exist only while the bridge runs."""

    loop: HostLoop
    presenter: DialogPresenter
    bridge: Bridge
    keep_bar: KeepBar | None = None
    panel: Panel | None = None


class PlugIn:
    """One host's bridge, which may be started and stopped any number of times.

    Attributes:
        host: The application.
        is_installed: Whether `install` was called, and not `uninstall` since.
        cleanup: Functions that `uninstall` calls before the bridge stops, the newest first.
    """

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
            settings: How the bridge behaves; None for the environment and the defaults.
            vendor: The folder with the dependencies that the plug-in brought.
            operations: Makes the operations of the host for the verbs; called on the main thread
                once the bridge has started. None for a host without verbs.
        """
        self.host = host
        self._skills = list(skills)
        self._settings = settings
        self._vendor = vendor
        self._operations = operations
        self._parts: _Parts | None = None
        self._failure: FailedStart | None = None  # of the last start, if it failed
        self.is_installed = False
        self.cleanup = ExitStack()

    @property
    def bridge(self) -> Bridge | None:
        """The bridge that runs, or None."""
        if self._parts is None:
            return None
        return self._parts.bridge

    @property
    def problem(self) -> str:
        """Why agents cannot connect, as sentences for the person; "" where they can."""
        if self._failure is not None:
            return str(self._failure.problem)
        if self.bridge is None or self.bridge.problem is None:
            return ""
        return str(self.bridge.problem)

    @property
    def panel(self) -> Panel | None:
        """The panel, which is made when it is first needed; None while no bridge runs.

        The caller puts the panel into a dock of the host. A panel that the host deleted is made
        again.
        """
        from dcc_bridge.qt.binding import isValid
        from dcc_bridge.qt.panel.panel import Panel

        parts = self._parts
        if parts is None:
            return None
        if parts.panel is None or not isValid(parts.panel):
            parts.panel = Panel(parts.bridge, parts.presenter.bring)
        return parts.panel

    def install(
        self,
        on_ready: Callable[[], object] | None = None,
        on_leaving: Callable[[], None] | None = None,
    ) -> None:
        """Start as soon as the host can show a dialog, and stop before it goes.

        Hosts load a plug-in twice: nothing happens the second time. It raises nothing itself; an
        error of the start goes to `Host.when_ready`, and `problem` explains it to the person.

        Args:
            on_ready: A function that is called in place of `start` and calls it; None for `start`.
            on_leaving: A function that is called in place of `uninstall` and calls it; None for
                `uninstall`.
        """
        if self.is_installed:
            return
        self.is_installed = True
        start = partial(self._import, iter(_MODULES), on_ready or self.start)
        self.cleanup.callback(self.host.when_ready(start))
        self.cleanup.callback(self.host.when_leaving(on_leaving or self.uninstall))

    def uninstall(self) -> None:
        """Stop the bridge, and remove the callbacks from the host; harmless the second time.

        Raises:
            Exception: The error of a function in ``cleanup``; the bridge is stopped nevertheless.
        """
        self.is_installed = False
        try:
            self.cleanup.close()
        finally:
            self.stop()

    def start(self) -> Future[None]:
        """Start the bridge, unless it runs. The host's window must be up.

        Returns:
            A future that is done once requests are taken.

        Raises:
            BridgeError: The bridge cannot be started. Nothing is left of the start but a report,
                in `problem` and among the running hosts.
        """
        with self._reporting_failure():
            return self._start()

    @contextmanager
    def _reporting_failure(self) -> Iterator[None]:
        """Keep a report of an error in the block until the next start or stop; raise the error."""
        self._forget_failure()
        try:
            yield
        except Exception as error:  # an import or the host may raise anything; it is reported
            from dcc_bridge.server.failed_start import FailedStart

            self._failure = FailedStart(self.host, error, self._settings, self._vendor)
            raise

    def _forget_failure(self) -> None:
        failure = self._failure
        self._failure = None
        if failure is not None:
            failure.close()

    def _start(self) -> Future[None]:
        from dcc_bridge.bridge import Bridge
        from dcc_bridge.qt.event_loop import HostLoop
        from dcc_bridge.qt.keep_bar import KeepBar
        from dcc_bridge.qt.presenter import DialogPresenter

        if self._parts is not None:
            started: Future[None] = Future()
            started.set_result(None)
            return started
        loop = HostLoop()
        presenter = DialogPresenter(loop.main, self.host, self._main_window)
        with ExitStack() as on_failure:  # deletes the widgets; the error goes on to the host
            on_failure.callback(loop.close)
            on_failure.callback(presenter.close)
            on_failure.callback(loop.main.close)
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
            on_failure.pop_all()
        parts = _Parts(loop, presenter, bridge)
        parts.keep_bar = KeepBar(bridge, presenter.notifications, partial(_is_panel_seen, parts))
        presenter.is_shown_elsewhere = parts.keep_bar.covers
        self._parts = parts
        return ready

    def _main_window(self) -> QWidget | None:
        return cast("QWidget | None", self.host.main_window())

    def stop(self) -> None:
        """Stop the bridge, if it runs, and delete its widgets. It raises nothing.

        If a skill is on the stack below the caller, the questions end now, and the rest follows
        once the skill has returned.
        """
        self._forget_failure()
        parts = self._parts
        self._parts = None
        if parts is None:
            return
        parts.bridge.stop()
        parts.bridge.stopped.add_done_callback(lambda _: _delete_widgets(parts))

    def enter_question(self) -> bool:
        """Move the keyboard focus to the question that is drawn, if there is one.

        It raises nothing. Call it from the host's command that shows the panel, because no question
        takes the keyboard by itself.

        Returns:
            Whether there is a question.
        """
        if self._parts is None:
            return False
        return self._parts.presenter.enter()

    def _import(self, modules: Iterator[str], then: Callable[[], object]) -> None:
        """Import each module in a turn of its own of the host's event loop.

        To import all in one turn would block the host for 100 ms.
        """
        if not self.is_installed:  # the code of an import may have called `uninstall`
            return
        module = next(modules, None)
        if module is None:
            then()
            return
        with self._reporting_failure(), unsearched_imports():
            import_module(module)
        self.cleanup.callback(self.host.when_ready(partial(self._import, modules, then)))


def _is_panel_seen(parts: _Parts) -> bool:
    """Return whether the panel can be seen in the host."""
    from dcc_bridge.qt.binding import isValid

    return parts.panel is not None and isValid(parts.panel) and parts.panel.is_seen


def _delete_widgets(parts: _Parts) -> None:
    """Delete the widgets at once: a widget that the host deletes later crashes the host's exit."""
    from dcc_bridge.qt.binding import delete, isValid

    if parts.keep_bar is not None:
        parts.keep_bar.close()
    if parts.panel is not None and isValid(parts.panel):
        parts.panel.close_for_good()
        delete(parts.panel)
    parts.presenter.close()
    parts.loop.close()
