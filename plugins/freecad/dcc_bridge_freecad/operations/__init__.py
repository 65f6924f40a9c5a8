"""The operations of FreeCAD 0.20 and newer for the verbs. Main thread.

The package is large since values have parts, units and expressions, and groups have no placement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from dcc_bridge.spi import Drawing, Host, HostOperations, Marking, Materials

from .building import _Builds
from .deleting import _Deletes
from .files import _Files
from .looking import _ViewOperations, has_drawable_window
from .places import _Places
from .reading import _Reads
from .values import _Values

_INSTRUCTIONS: Final = (
    "An item is an object's internal name (Box001), which stays; rename changes its label. Lengths "
    "are mm, angles degrees, Z is up. Create Part::Box, Part::Cylinder, Part::Cut (link its Base "
    "and Tool with connect, out: Shape) or PartDesign::Body. Properties have parts: "
    "Placement.Base.x. connect drives one by another's expression; Spreadsheet::Sheet has cells "
    "(A1), a sketch Geometry and Constraints. Fillets take edges by words: Pad/edge:vertical; "
    "list_items under Pad/edge: tells all. Linked copies are App::Link, which has a scale. Groups "
    "have no place; App::Part has. No keys, cameras, lights."
)


class FreeCADOperations(_ViewOperations, _Reads, _Values, _Builds, _Deletes, _Files, _Places):
    """FreeCAD's side of the verbs."""

    instructions = _INSTRUCTIONS
    instruction_folder = Path(__file__).parents[1] / "instructions"
    up: Literal["Y", "Z"] = "Z"

    def __init__(self, host: Host) -> None:
        self.host = host


class _WindowedOperations(FreeCADOperations, Drawing, Marking, Materials):
    """FreeCAD with a window, which has a view to draw and colours of objects."""


def operations(host: Host) -> HostOperations:
    """Return the operations of this FreeCAD, with pictures and materials if it can be seen."""
    if has_drawable_window():
        return _WindowedOperations(host)
    return FreeCADOperations(host)
