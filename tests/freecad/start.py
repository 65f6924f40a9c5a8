"""What is played in freecadcmd: the plug-in's server, and somebody who orders. Main thread."""

from __future__ import annotations

import FreeCAD

from dcc_bridge import headless
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations
from tests.hosts.batch_person import HOME, BatchPerson


def run() -> None:
    """Serve a document of ten boxes and a cylinder until the person closes."""
    document = FreeCAD.newDocument("Scene")
    for number in range(10):
        document.addObject("Part::Box", f"Box{number}")
    document.addObject("Part::Cylinder", "Cylinder")
    document.recompute()
    document.saveAs(str(HOME / "scene.FCStd"))
    person = BatchPerson({"undo": document.undo})
    while person.end != "close":
        headless.serve(
            FreeCADHost(), [], lambda: person.end is not None, person.sit_down, operations
        )
