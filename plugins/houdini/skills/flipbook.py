"""See the viewport."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hou

from dcc_bridge import skill


@skill(risk="read", replaced_by="look")
def flipbook(frame: float | None = None) -> bytes:
    """See the scene as the artist does: one frame of the scene view, as an image.

    Args:
        frame: Which frame; without it the current one.
    """
    if not hou.isUIAvailable():
        raise ValueError("This Houdini has no viewport: it runs in hython.")
    viewer = hou.ui.paneTabOfType(hou.paneTabType.SceneViewer)
    if not isinstance(viewer, hou.SceneViewer):
        raise ValueError("No scene view is open in this Houdini.")
    at = hou.frame() if frame is None else frame
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        image = Path(folder) / "frame.png"
        settings = viewer.flipbookSettings().stash()  # a copy: the person's own stay
        settings.frameRange((at, at))
        settings.output(image.as_posix())
        settings.outputToMPlay(False)
        viewer.flipbook(viewer.curViewport(), settings)
        return image.read_bytes()
