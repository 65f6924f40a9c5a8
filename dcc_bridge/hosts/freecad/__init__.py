"""FreeCAD, 0.20 and newer: in its window and in ``freecadcmd``. Main thread."""

from dcc_bridge.hosts.freecad.freecad_host import FreeCADHost

__all__ = ["FreeCADHost"]
