"""The plug-in's start and its end, which may come any number of times. Main thread."""

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
from .ui import notice, panel, surface
from .ui.surface import Surface

_VENDOR: Final = Path(__file__).parent / "vendor"  # as the package puts it on the path


@dataclass
class _Running:
    """What runs."""

    host: BlenderHost
    loop: BlenderLoop  # Blender's timer
    surface: Surface  # who draws the questions
    bridge: Bridge
    shown: panel.Sidebar


_running: _Running | None = None
_cleanup = ExitStack()


def register() -> None:
    """Show the panel, and start once Blender can show a dialog.

    In background it does not start: a farm's interpreter starts a server when it is told to.
    """
    panel.register()
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
    panel.unregister()


def stop() -> None:
    """Stop, however often it is called.

    A skill that does it ends first: then the rest is done when its frame is left.
    """
    global _running
    running, _running = _running, None
    _cleanup.close()
    if running is not None:
        preferences.state = "Stopped."
        running.shown.close()
        panel.shown = None
        notice.watch(None)
        running.bridge.stop()
        running.bridge.stopped.add_done_callback(
            lambda _: _let_go(running.surface, running.loop, running.host)
        )


def serve(until: Callable[[], bool], ready: Callable[[Bridge], None] = lambda _: None) -> None:
    """Serve in ``blender -b`` or where ``bpy`` is a module: there is no event loop.

    `until` tells whether to end, after each call; `ready` is called once requests are taken.
    """
    host = BlenderHost()
    try:
        bridge_serve(host, [], until, ready, operations)
    finally:
        host.close()


def _start(host: BlenderHost) -> None:
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
    panel.shown = shown = panel.Sidebar(bridge, drawn.notes, drawn.enter)
    notice.watch(drawn)

    def turn() -> None:
        drawn.turn()
        shown.turn()
        notice.turn()

    loop.turn = turn
    _running = _Running(host, loop, drawn, bridge, shown)


def _let_go(drawn: surface.Surface, loop: BlenderLoop, host: BlenderHost) -> None:
    drawn.close()
    loop.close()
    host.close()
