"""FreeCAD without a window: a host with a document and one box. Imported by freecadcmd."""

from __future__ import annotations

from pathlib import Path

import FreeCAD

from dcc_bridge import skill
from dcc_bridge_freecad.host import FreeCADHost
from tests.client.proxy.until_killed import serve


@skill(risk="read")
def where() -> str:
    """Say which scene is open."""
    return Path(FreeCAD.ActiveDocument.FileName).name


@skill(risk="edit", undo="Add an object")
def add_object(name: str) -> list[str]:
    """Add an object, and list all there are."""
    FreeCAD.ActiveDocument.addObject("App::FeaturePython", name)
    return sorted(one.Name for one in FreeCAD.ActiveDocument.Objects)


def main(runtime: str, file: str) -> None:
    document = FreeCAD.newDocument("Scene", hidden=True)
    document.UndoMode = 1
    document.addObject("Part::Box", "Box")
    document.saveAs(file)
    serve(Path(runtime), FreeCADHost(), lambda bridge: [where, add_object])
