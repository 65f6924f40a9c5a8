"""Opens scenes in Blender's own batch interpreter. Main thread."""

from __future__ import annotations

from pathlib import Path

import bpy

from dcc_bridge.spi import Host, HostOperations

from .host import BlenderHost


def open_scene(path: Path | None) -> Host:
    """Open a file, and return the host; without one it is the scene with which Blender begins.

    Raises:
        RuntimeError: Blender cannot read it.
    """
    if path is not None:
        bpy.ops.wm.open_mainfile(filepath=str(path))
    return BlenderHost()


def operations(host: Host) -> HostOperations:
    """Return what Blender does for the verbs."""
    from .operations import operations

    return operations(host)
