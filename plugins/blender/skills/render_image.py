"""See the scene."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from dcc_bridge import skill
from dcc_bridge.hosts.blender.blender_loop import views

_MOST = 2048


@skill(risk="read")
def render_image(width: int = 640, height: int = 360, viewport: bool = True) -> bytes:
    """See the scene as an image: the 3D view as the artist sees it, or a render.

    Without a window it is a render through the scene's camera, with the scene's own engine.

    Args:
        width: Of the image, in pixels.
        height: Of the image, in pixels.
        viewport: The 3D view rather than a render, where there is one.
    """
    if not (16 <= width <= _MOST and 16 <= height <= _MOST):
        raise ValueError(f"Width and height are 16 to {_MOST} pixels each.")
    view = next(views(), None) if viewport else None
    scene: Any = bpy.context.scene
    if view is None and scene.camera is None:
        raise ValueError("There is no camera to render through; set the scene's camera first.")
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        image = Path(folder) / "image.png"
        with _set(scene.render, width, height, image):
            if view is None:
                bpy.ops.render.render(write_still=True)
            else:
                with view:
                    bpy.ops.render.opengl(write_still=True)
        return image.read_bytes()


@contextmanager
def _set(render: Any, width: int, height: int, image: Path) -> Iterator[None]:
    """Set what an image needs, and put everything back."""
    ours = {
        "resolution_x": width,
        "resolution_y": height,
        "resolution_percentage": 100,
        "filepath": str(image),
        "use_file_extension": True,
    }
    before = {name: getattr(render, name) for name in ours}
    settings = render.image_settings
    form = settings.file_format
    try:
        for name, value in ours.items():
            setattr(render, name, value)
        settings.file_format = "PNG"
        yield
    finally:
        for name, value in before.items():
            setattr(render, name, value)
        settings.file_format = form
