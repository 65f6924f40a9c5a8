"""Our own application with its window, and a skill that moves many prims, with `track` or not.

How late each beat of the window's loop is meanwhile is noted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import shiboken6
from pxr import Usd, UsdGeom

from dcc_bridge import skill, track
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.window.main_window import MainWindow
from tests.bench.host import Beat
from tests.live import Live, status
from tests.qt.pump import QtPump


@dataclass
class Played:
    """What came of one call.

    Attributes:
        status: How it ended, or None where it was cancelled.
        heard: The progress that its client heard: how much is done, of how much.
        late: Milliseconds by which each beat of the window's loop was late while the body ran.
    """

    status: str | None = None
    heard: list[tuple[float, float | None]] = field(default_factory=list)
    late: list[float] = field(default_factory=list)


class Table:
    """An application with a window and its bridge, and a scene of many prims."""

    def __init__(self, folder: Path, prims: int, seconds: float) -> None:
        """Open it; the window is shown."""
        self.session = UsdSession(_scene(folder, prims), has_ui=True)
        self.window = MainWindow(self.session)
        self.window.show()
        self._pace = seconds / prims
        self._beat = Beat()
        self._late: list[float] = []
        pump = self._pump = QtPump()
        self.running = Live(
            folder / "run",
            self._skill("tracked", lambda items: track(items, message="Moving")),
            self._skill("plain", iter),
            host=self.session,
            presenter=DialogPresenter(pump.main, self.session, lambda: self.window),
            pump=pump,
            host_dialogs=False,  # nobody sits there who would answer
        )

    def close(self) -> None:
        """End it."""
        self.running.stop()
        self.window.feed.close()
        shiboken6.delete(self._beat)
        shiboken6.delete(self.window)
        self._pump.loop.close()

    def play(self, tool: str, era: str, *, cancel_at: float | None = None) -> Played:
        """Call a tool once, and watch the window meanwhile.

        Args:
            tool: "tracked" or "plain".
            era: Which revision of the protocol its client speaks.
            cancel_at: The client cancels once it heard that so much is done; None to the end.
        """
        played = Played()

        async def agent() -> None:
            async with self.running.client(era) as client, anyio.create_task_group() as calling:

                async def hear(progress: float, total: float | None, message: str | None) -> None:
                    played.heard.append((progress, total))
                    if cancel_at is not None and progress >= cancel_at:
                        calling.cancel_scope.cancel()

                result = await client.call_tool(tool, {}, progress_callback=hear)
                played.status = status(result)

        self.running.run(agent, limit=120)
        recent = self.running.bridge.recent
        self.running.until(lambda: recent.records()[0].ended is not None)
        played.late = self._late
        return played

    def _skill(self, name: str, go_through: Callable[[Any], Any]) -> Callable[[], str]:
        def work() -> str:
            """Move every prim a little."""
            self._beat.start()
            prims = [prim for prim in self.session.stage.Traverse() if prim.GetTypeName() == "Cube"]
            begin = time.perf_counter()
            try:
                for number, prim in enumerate(go_through(prims), 1):
                    UsdGeom.Cube(prim).GetSizeAttr().Set(1.0 + number)
                    while time.perf_counter() < begin + number * self._pace:
                        pass
            finally:
                self._late = self._beat.stop()
            return "moved"

        work.__name__ = name
        return skill(risk="edit", title=name)(work)


def _scene(folder: Path, prims: int) -> Path:
    file = folder / "many.usda"
    stage = Usd.Stage.CreateNew(str(file))
    for number in range(prims):
        UsdGeom.Cube.Define(stage, f"/World/Set_{number % 50:02}/box_{number:04}")
    stage.Save()
    return file


@contextmanager
def table(folder: Path, prims: int, seconds: float) -> Iterator[Table]:
    """Open an application for as long as the block lasts."""
    opened = Table(folder, prims, seconds)
    try:
        yield opened
    finally:
        opened.close()
