"""The old place of FreeCAD's adapter, for what still imports it from here. Main thread."""

from __future__ import annotations

from dcc_bridge_freecad.host import FreeCADHost

__all__ = ["FreeCADHost"]
