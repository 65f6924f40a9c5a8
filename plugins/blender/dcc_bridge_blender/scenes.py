"""Opens scenes in Blender's own batch interpreter. Main thread."""

from __future__ import annotations

from pathlib import Path

import bpy

from dcc_bridge.spi import Host, HostOperations

from .host import BlenderHost


def open_scene(path: Path | None) -> Host:
    """Open a file and return the host.

    Args:
        path: The file; None for the scene with which Blender begins.

    Raises:
        RuntimeError: Blender cannot read the file.
    """
    if path is not None:
        bpy.ops.wm.open_mainfile(filepath=str(path))
    return BlenderHost()


def operations(host: Host) -> HostOperations:
    """Return Blender's operations for the verbs."""
    from .operations import operations

    return operations(host)
