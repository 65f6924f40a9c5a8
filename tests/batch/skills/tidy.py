"""A skill whose ways are in the scene that it meets."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from pxr import Sdf

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.prims import remove


@skill(risk="destructive", confirms=True, undo="Tidy")
def tidy() -> dict[str, int]:
    """Delete the cameras, after asking for them."""
    stage = session().stage
    way = stage.GetRootLayer().customLayerData.get("way", "")
    own = stage.GetRootLayer().realPath
    if way == "fails":
        raise ValueError("This scene is not one of ours.")
    if way == "unsafe":
        confirm_sync("Write a file?", verb="Write", undoable=False, files=[Path(own)])
    agreed = confirm_sync(
        lambda items: f"Delete {len(items)} cameras of {Path(own).name}?",
        items=lambda: _cameras(Path(own)),
        verb="Delete",
    )
    if way == "twice":
        confirm_sync("And once more?", verb="Delete")
    if way == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "below":
        layer = Sdf.Layer.FindOrOpen(str(Path(own).with_name("under.usda")))
        layer.comment = "changed"
    if way != "idle":
        remove(stage, agreed)
    return {"deleted": len(agreed)}


def _cameras(file: Path) -> list[str]:
    """Look the cameras up; where there is a file named "fewer", the first one is left out."""
    found = session().find("*", "Camera")
    return found[1:] if file.with_name("fewer").exists() else found
