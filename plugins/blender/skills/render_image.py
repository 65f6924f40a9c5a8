"""See the scene."""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from dcc_bridge import skill
from dcc_bridge.hosts.blender.blender_loop import views

_MOST = 2048


@skill(risk="read", replaced_by="look")
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
    if view is not None:
        return _png(_drawn(view, width, height))
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        image = Path(folder) / "image.png"
        with _set(scene.render, width, height, image):
            bpy.ops.render.render(write_still=True)
        return image.read_bytes()


def _drawn(view: Any, width: int, height: int) -> Any:
    """Draw a 3D view beside its window; the operator that does it would need an override."""
    import gpu  # there is none without a window

    space, region = view
    seen, context = space.region_3d, bpy.context
    window = seen.window_matrix.copy()
    window[0][0] = window[1][1] * height / width  # as wide as the image, in place of the region
    offscreen = gpu.types.GPUOffScreen(width, height)
    try:
        shown = context.scene, context.view_layer, space, region, seen.view_matrix, window
        offscreen.draw_view3d(*shown, do_color_management=True)
        buffer: Any = offscreen.texture_color.read()
        buffer.dimensions = width * height * 4
        return np.array(buffer, np.uint8).reshape(height, width, 4)[::-1]  # from the top
    finally:
        offscreen.free()


def _png(pixels: Any) -> bytes:
    """Write pixels as a PNG, by its specification: Blender's own writer wants an image in the file.

    https://www.w3.org/TR/png-3/
    """
    height, width, _ = pixels.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 4)])
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


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
