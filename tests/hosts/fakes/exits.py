"""A stand-in application as a process of its own, to see how it ends. Run as a module."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.live_application import LiveApplication, application, shown
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import fill
from tests.hosts.fakes.maya.windows import Windows
from tests.qt import stage

SAYS: Final = "the panel and a question are open"


def run(host: str, folder: Path) -> None:
    """Open the panel and a question, and end without a word to the plug-in."""
    app = application()
    patch = pytest.MonkeyPatch()
    for name in ("RUNTIME", "AUDIT"):
        os.environ[f"DCC_BRIDGE_{name}"] = str(folder / name.lower())
    module: Any = _maya(patch, folder) if host == "maya" else _houdini(patch, folder)
    live = LiveApplication(module.plug_in().bridge)
    live.go(_delete, live)
    stage.until(lambda: bool(shown()))
    print(SAYS, flush=True)
    app.quit()


def _maya(patch: pytest.MonkeyPatch, folder: Path) -> Any:
    maya = Maya(patch)
    fill(maya, folder)
    maya.loadPlugin("dcc_bridge_plugin")
    maya.show(Windows())
    _turn(maya)
    sys.modules["dcc_bridge_maya.plugin"].show_panel()
    return sys.modules["dcc_bridge_maya.plugin"]


def _houdini(patch: pytest.MonkeyPatch, folder: Path) -> Any:
    from PySide6.QtWidgets import QMainWindow

    houdini = Houdini(patch)
    houdini.scene.add("/obj/cam0", "cam")
    houdini.window = QMainWindow()
    houdini.window.show()
    houdini.start()
    _turn(houdini)
    houdini.window.setCentralWidget(houdini.open_panel())
    return sys.modules["dcc_bridge_houdini.plugin"]


def _turn(host: Maya | Houdini) -> None:
    def is_up() -> bool:
        host.turn()
        names = ("dcc_bridge_maya.plugin", "dcc_bridge_houdini.plugin")
        module: Any = next(sys.modules[name] for name in names if name in sys.modules)
        return module.plug_in().bridge is not None

    stage.until(is_up)


async def _delete(live: LiveApplication) -> Any:
    async with live.client() as session:
        return await session.call_tool("delete", {"pattern": "*"})


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
