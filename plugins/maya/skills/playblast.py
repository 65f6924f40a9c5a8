"""See the viewport."""

from __future__ import annotations

import tempfile
from pathlib import Path

from maya import cmds

from dcc_bridge import skill


@skill(risk="read", replaced_by="look")
def playblast(frame: float | None = None, width: int = 960, height: int = 540) -> bytes:
    """See the scene as the artist does: one frame of the active viewport, as an image.

    Args:
        frame: Which frame; without it the current one.
        width: Of the image, in pixels.
        height: Of the image, in pixels.
    """
    if cmds.about(batch=True):
        raise ValueError("This Maya has no viewport: it runs in batch.")
    now = cmds.currentTime(query=True)  # type: ignore[call-arg]  # its stub has no query
    at = now if frame is None else frame
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        image = Path(folder) / "frame.png"
        cmds.playblast(
            frame=[at],
            format="image",
            compression="png",
            completeFilename=image.as_posix(),
            widthHeight=(width, height),
            percent=100,
            viewer=False,
            showOrnaments=False,
            offScreen=True,
        )
        return image.read_bytes()
