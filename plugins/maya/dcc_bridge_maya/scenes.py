"""Opens scenes in Maya's own batch interpreter. Main thread."""

from __future__ import annotations

import atexit
from pathlib import Path

import maya.standalone

from dcc_bridge.spi import Host, HostOperations


def open_scene(path: Path | None) -> Host:
    """Start Maya and open a file, and return the host; without one it is a new scene.

    Raises:
        RuntimeError: Maya cannot read it.
    """
    maya.standalone.initialize()
    # A mayapy that ends without it may crash. It is last: nothing of Maya may be used after it.
    atexit.register(maya.standalone.uninitialize)
    from maya import cmds  # empty until Maya was started

    from .host import MayaHost

    if path is not None:
        cmds.file(path.as_posix(), open=True, force=True)
    return MayaHost()


def operations(host: Host) -> HostOperations:
    """Return what Maya does for the verbs."""
    from .operations import operations

    return operations(host)
