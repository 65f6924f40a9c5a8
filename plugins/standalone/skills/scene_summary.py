"""Look at the scene as a whole."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import prims, session


@skill(risk="read", replaced_by="summary")
def scene_summary() -> dict[str, Any]:
    """Describe the open USD scene: its file, units, frames, layers, and what prims it has.

    Call this first. It also tells what the person has selected, and the step that undo would undo.
    """
    scene = session()
    return {**scene.summary(), **prims.scene_summary(scene.stage, None)}
