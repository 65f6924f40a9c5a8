"""What is played where Blender has no window: the plug-in's server, and somebody who orders.

Run by ``python`` where ``bpy`` is a module, and by ``blender -b --python``. Main thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "plugins" / "blender"),
    *filter(None, os.environ.get("BLENDER_PATH", "").split(os.pathsep)),
]

from dcc_bridge_blender import plugin  # noqa: E402 - found on the path above

from dcc_bridge.bridge import Bridge  # noqa: E402
from tests.hosts.orders import DONE, ORDERS  # noqa: E402

HOME: Final = Path(os.environ["HOME"])
ENDS: Final = ("reload", "close")


class Person:
    """Does what a file says, line by line."""

    def __init__(self) -> None:
        self.end: str | None = None
        self._done = 0

    def sit_down(self, bridge: Bridge) -> None:
        if self.end is not None:
            self._note(self.end)
        self.end = None
        threading.Thread(target=self._look, args=(bridge,), daemon=True).start()

    def _look(self, bridge: Bridge) -> None:
        while True:
            orders = (HOME / ORDERS).read_text().splitlines() if (HOME / ORDERS).exists() else []
            if len(orders) > self._done:
                order = orders[self._done]
                self._done += 1
                bridge.main.post(partial(self._obey, order)).result()
                if order in ENDS:
                    return
                self._note(order)
            time.sleep(0.01)

    def _note(self, order: str) -> None:
        with open(HOME / DONE, "a") as out:
            out.write(f"{order}\n")

    def _obey(self, order: str) -> None:
        try:
            if order in ENDS:
                self.end = order
            else:
                ORDERED[order]()
        except Exception:  # noqa: BLE001 - the test reads it, and this process goes on
            traceback.print_exc()


def load() -> None:
    """Open another file: the one that is open, saved, with one thing less."""
    file = str(HOME / "other.blend")
    bpy.data.objects.remove(bpy.data.objects["Light"])
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    bpy.ops.wm.open_mainfile(filepath=file)


ORDERED: Final[dict[str, Callable[[], object]]] = {
    "undo": lambda: bpy.ops.ed.undo(),
    "load": load,
    "new": lambda: bpy.ops.wm.read_homefile(),
}

if __name__ == "__main__":
    scene: Any = bpy.context.scene  # an image that needs no graphics card, and takes a moment
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    person = Person()
    while person.end != "close":
        plugin.serve(lambda: person.end is not None, person.sit_down)
