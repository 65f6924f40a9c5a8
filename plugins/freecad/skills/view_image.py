"""See the 3D view."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

import FreeCAD

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import view

Background = Literal["Current", "White", "Black", "Transparent"]


@skill(risk="read", replaced_by="look")
def view_image(width: int = 960, height: int = 540, background: Background = "Current") -> bytes:
    """See the document as the person does: its 3D view, as an image.

    Args:
        width: Of the image, in pixels, at most 4096.
        height: Of the image, in pixels, at most 4096.
        background: What is behind the objects.
    """
    if not (0 < width <= 4096 and 0 < height <= 4096):
        raise ValueError(f"{width} x {height} is not an image size: use 1 to 4096 pixels a side.")
    if not FreeCAD.GuiUp:
        raise ValueError("This FreeCAD has no view: it runs without a window.")
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        image = Path(folder) / "view.png"
        view().saveImage(str(image), width, height, background)
        return image.read_bytes()
