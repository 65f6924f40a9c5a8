"""The start and stop of the plug-in, each any number of times. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import bpy

from dcc_bridge.spi.drawing import Bridge, FailedStart
from dcc_bridge.spi.headless import serve as bridge_serve

from . import preferences
from .host import BlenderHost
from .loop import BlenderLoop
from .operations import operations
from .ui import dialog, history_filter, items, notice, panel, surface, working
from .ui.surface import Surface

_VENDOR: Final = Path(__file__).parent / "vendor"  # as the package puts it on the path


@dataclass
class _Running:
    """The parts of a bridge that runs.

    Attributes:
        host: The host.
        loop: Blender's timer.
        surface: What draws the questions.
        bridge: The bridge.
        shown: The sidebar.
    """

    host: BlenderHost
    loop: BlenderLoop
    surface: Surface
    bridge: Bridge
    shown: panel.Sidebar


_running: _Running | None = None
_cleanup = ExitStack()


def register() -> None:
    """Show the panel, and start once Blender can show a dialog.

    In background the plug-in does not start: there `serve` is called where a server is wanted.
    """
    items.register()
    history_filter.register()
    dialog.register()
    panel.register()
    working.register()
    notice.register()
    if bpy.app.background:
        return
    host = BlenderHost()
    _cleanup.callback(host.close)
    _cleanup.callback(host.when_ready(lambda: _start(host)))
    _cleanup.callback(host.when_leaving(stop))


def unregister() -> None:
    """Stop, and leave nothing in Blender."""
    stop()
    notice.unregister()
    working.unregister()
    panel.unregister()
    dialog.unregister()
    history_filter.unregister()
    items.unregister()


def stop() -> None:
    """Stop the bridge; harmless where none runs.

    A skill that stops the bridge ends first: the rest is done when the skill's frame is left.
    """
    global _running
    running = _running
    _running = None
    _cleanup.close()
    if running is None:
        return
    preferences.state = "Stopped."
    running.shown.close()
    panel.shown = None
    notice.watch(None)
    running.bridge.stop()
    running.loop.finish()
    running.loop.work.end()
    working.shown = None
    running.bridge.stopped.add_done_callback(lambda _: _close(running))


def serve(until: Callable[[], bool], ready: Callable[[Bridge], None] = lambda _: None) -> None:
    """Serve in ``blender -b`` or where ``bpy`` is a module: there is no event loop.

    Args:
        until: Returns whether to end; asked after each call.
        ready: Called once the bridge takes requests.
    """
    host = BlenderHost()
    try:
        bridge_serve(host, [], until, ready, operations)
    finally:
        host.close()


def _start(host: BlenderHost) -> None:
    """Start the bridge; what goes wrong stands in the preferences and the sidebar."""
    global _running
    vendor = _VENDOR if _VENDOR.is_dir() else None
    try:
        with ExitStack() as undo:
            undo.callback(host.close)
            loop = BlenderLoop()
            undo.callback(loop.close)
            undo.callback(loop.main.close)
            drawn = surface.choose(loop.main, host, preferences.dialogs())
            undo.callback(drawn.close)
            loop.turn = drawn.turn
            bridge = Bridge(
                host,
                loop.main,
                presenter=drawn.presenter,
                vendor=vendor,
                operations=operations,
            )
            bridge.start()
            undo.pop_all()
    except Exception as error:  # noqa: BLE001 - whatever an import or Blender raises: the person is told
        failure = FailedStart(host, error, None, vendor)
        _cleanup.callback(failure.close)
        preferences.state = str(failure.problem)
        return
    preferences.state = f"Agents reach it at {bridge.url}.\n{drawn.why}"
    shown = panel.Sidebar(bridge, drawn.notes, drawn.enter, drawn.draw_in_sidebar)
    panel.shown = shown
    notice.watch(drawn)
    work = working.Working(bridge)
    working.shown = work
    loop.work = work

    def turn() -> None:
        drawn.turn()
        shown.turn()
        notice.turn()

    loop.turn = turn
    _running = _Running(host, loop, drawn, bridge, shown)


def _close(running: _Running) -> None:
    running.surface.close()
    running.loop.close()
    running.host.close()
