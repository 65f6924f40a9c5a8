"""How long the window stands still while a skill works through 5,000 prims.

``python -m tests.bench.track``: our own application with its window, a skill that edits each prim
and takes 10 s, called by a real client of each era with `track` and without it, and cancelled in
its middle.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
import shiboken6
from pxr import Usd, UsdGeom
from PySide6.QtWidgets import QApplication

from dcc_bridge import skill, track
from dcc_bridge.hosts.standalone import UsdSession
from dcc_bridge.qt.presenter import DialogPresenter
from tests.bench.figures import percentile, show
from tests.bench.host import Beat
from tests.live import ERAS, Live, status
from tests.qt.pump import QtPump

PLUGIN: Final = str(Path(__file__).parents[2] / "plugins" / "standalone")
PRIMS: Final = 5000
SECONDS: Final = 10.0


@dataclass
class Played:
    """What came of one call.

    Attributes:
        status: How it ended, or None where it was cancelled.
        heard: The progress that its client heard: how much is done, of how much.
        late: Milliseconds by which each beat of the window's loop was late while the body ran.
        after: The same from the end of the body until the call was over and the scene drawn again.
    """

    status: str | None = None
    heard: list[tuple[float, float | None]] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)


class Table:
    """An application with a window and its bridge, and a scene of many prims."""

    def __init__(self, folder: Path, prims: int, seconds: float) -> None:
        """Open it; the window is shown."""
        from dcc_standalone.window import MainWindow  # found once the plug-in is on the path

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
        played.late, played.after = self._late, self._beat.stop()
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
                self._beat.start()
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


def main() -> None:
    """Play, and print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, PLUGIN)
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    rows: list[list[object]] = []
    with TemporaryDirectory() as folder, table(Path(folder), PRIMS, SECONDS) as opened:
        for tool, era in [("plain", ERAS[-1]), ("tracked", ERAS[-1]), ("tracked", ERAS[1])]:
            rows.append([f"{tool}, {era}", *_figures(opened.play(tool, era))])
            opened.session.undo()
        for era in (ERAS[-1], ERAS[1]):
            before = opened.session.scene_digest()
            played = opened.play("tracked", era, cancel_at=PRIMS / 2)
            state = opened.running.bridge.recent.records()[0].state
            same = "as before" if opened.session.scene_digest() == before else "CHANGED"
            rows.append([f"cancelled, {era}", *_figures(played)[:-1], f"{state}, scene {same}"])
    columns = [
        "a skill of 10 s over 5,000 prims",
        "longest gap (ms)",
        "p99",
        "redraw",
        "progress",
        "ended",
    ]
    show("The window while a skill runs on its thread", columns, rows)


def _figures(played: Played) -> list[object]:
    last = "" if not played.heard else f", last {played.heard[-1][0]:g}"
    heard = f"{len(played.heard)} notices{last}"
    late = played.late
    return [max(late), percentile(late, 99), max(played.after), heard, played.status]


if __name__ == "__main__":
    main()
