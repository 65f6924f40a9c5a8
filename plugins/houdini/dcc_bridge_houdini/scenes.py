"""Opens scenes in Houdini's own batch interpreter. Main thread."""

from __future__ import annotations

from pathlib import Path

import hou

from dcc_bridge.spi import Host, HostOperations

from .host import HoudiniHost


def open_scene(path: Path | None) -> Host:
    """Open a file in Houdini.

    Args:
        path: The file; None for the scene that Houdini begins with.

    Returns:
        The host of the scene.

    Raises:
        hou.OperationFailed: Houdini cannot read the file.
    """
    if path is not None:
        hou.hipFile.load(path.as_posix(), suppress_save_prompt=True)
    return HoudiniHost()


def operations(host: Host) -> HostOperations:
    """Return Houdini's operations for the verbs."""
    from .operations import operations

    return operations(host)
