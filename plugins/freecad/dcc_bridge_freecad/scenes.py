"""Opens scenes in FreeCAD's own batch interpreter. Main thread."""

from __future__ import annotations

from pathlib import Path

import FreeCAD

from dcc_bridge.spi import Host, HostOperations

from .host import FreeCADHost


def open_scene(path: Path | None) -> Host:
    """Open a file, and return the host; without one it is a new document.

    Raises:
        OSError: FreeCAD cannot read it.
    """
    if path is None:
        FreeCAD.newDocument()
    else:
        FreeCAD.openDocument(str(path))
    return FreeCADHost()


def operations(host: Host) -> HostOperations:
    """Return what FreeCAD does for the verbs."""
    from .operations import operations

    return operations(host)
