"""Opens scenes in Maya's own batch interpreter. Main thread."""

from __future__ import annotations

import atexit
from pathlib import Path

import maya.standalone

from dcc_bridge.spi import Host, HostOperations


def open_scene(path: Path | None) -> Host:
    """Start Maya and open a file.

    Args:
        path: The file; None for a new scene.

    Returns:
        The host of the scene.

    Raises:
        RuntimeError: Maya cannot read the file.
    """
    maya.standalone.initialize()
    # A mayapy that ends without this call may crash. Registered first, it runs last: nothing of
    # Maya may be used after it.
    atexit.register(maya.standalone.uninitialize)
    from maya import cmds  # empty until Maya was started

    from .host import MayaHost

    if path is not None:
        cmds.file(path.as_posix(), open=True, force=True)
    return MayaHost()


def operations(host: Host) -> HostOperations:
    """Return Maya's operations for the verbs."""
    from .operations import operations

    return operations(host)
