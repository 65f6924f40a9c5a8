"""Opens scenes in FreeCAD's own batch interpreter. Main thread."""

from __future__ import annotations

from pathlib import Path

import FreeCAD

from dcc_bridge.spi import Host, HostOperations

from .host import FreeCADHost


def open_scene(path: Path | None) -> Host:
    """Open a file in FreeCAD.

    Args:
        path: The file; None for a new document.

    Returns:
        The host of the document.

    Raises:
        OSError: FreeCAD cannot read the file.
    """
    if path is None:
        FreeCAD.newDocument()
    else:
        FreeCAD.openDocument(str(path))
    return FreeCADHost()


def operations(host: Host) -> HostOperations:
    """Return FreeCAD's operations for the verbs."""
    from .operations import operations

    return operations(host)
