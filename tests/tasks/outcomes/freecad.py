"""Reads the outcomes with FreeCAD's own API: in ``freecadcmd``, by its `main`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import FreeCAD
import Part


def cut_a_bracket(doc: Any) -> None:
    """Its volume is that of both plates without the hole, also after the plate is higher."""
    assert _volume(doc, 5) == _near(60 * 40 * 5 + 5 * 40 * 30 - math.pi * 16 * 5)
    doc.Base.Height = 8
    doc.recompute()
    assert doc.Drill.Height == 8


def _volume(doc: Any, height: float) -> float:
    doc.recompute()
    assert doc.Base.Height == height
    assert doc.Bracket.isValid()
    return float(doc.Bracket.Shape.Volume)


def sketch_a_plate(doc: Any) -> None:
    """The plate is notched, and rounded where it was before; the files are of before."""
    doc.recompute()
    assert doc.Plate.Shape.isValid()
    notched = Part.makeBox(100, 50, 6).cut(Part.makeBox(20, 10, 6, FreeCAD.Vector(30, 0, 0)))
    assert doc.Plate.Shape.Volume == _near(_finished(notched, 100).Volume)
    file = Part.read(str(Path(doc.FileName).parent / "plate.step"))
    assert file.Volume == _near(_finished(Part.makeBox(80, 50, 6), 80).Volume)
    (page,) = (it for it in doc.Objects if it.TypeId == "TechDraw::DrawPage")
    _check_page(doc, page, "Plate", 100)
    drawing = Path(doc.FileName).parent / "plate.dxf"
    assert "LINE" in drawing.read_text(encoding="utf-8").partition("ENTITIES")[2]


def _finished(plate: Any, length: float) -> Any:
    """Drill a plate, round three of its corners, and chamfer its rim without the notch's own."""
    for x, y in ((15, 15), (65, 15), (65, 35), (15, 35)):
        plate = plate.cut(Part.makeCylinder(4, 6, FreeCAD.Vector(x, y, 0)))
    places = ((0, 0), (length, 0), (length, 50))
    corners = [it for it in plate.Edges if _is_upright(it) and _place(it)[:2] in places]
    plate = plate.makeFillet(5, corners)
    rim = [it for it in plate.Edges if _is_on_rim(it)]
    return plate.makeChamfer(0.5, rim)


def _is_upright(edge: Any) -> bool:
    return len(edge.Vertexes) == 2 and {vertex.Z for vertex in edge.Vertexes} == {0, 6}


def _is_on_rim(edge: Any) -> bool:
    """Return whether an edge is on top, and none of the notch's three."""
    x, y, z = _place(edge)
    is_of_notch = 30 <= x <= 50 and y <= 10
    return z == 6 and {round(vertex.Z, 6) for vertex in edge.Vertexes} == {6} and not is_of_notch


def _place(edge: Any) -> tuple[float, float, float]:
    centre = edge.CenterOfMass
    return round(centre.x, 6), round(centre.y, 6), round(centre.z, 6)


def _check_page(doc: Any, page: Any, source: str, width: float) -> None:
    """See that a page has a view of an object, and a dimension of its width."""
    view, dimension = page.Views
    view.touch()  # a file has nothing of what is drawn
    doc.recompute()
    assert [it.Name for it in view.Source] == [source]
    assert dimension.References2D[0][0] == view
    assert dimension.getRawValue() == _near(width)


def draw_a_page(doc: Any) -> None:
    """The page has a template and a view of the bracket; the STEP file has the bracket."""
    (page,) = (it for it in doc.Objects if it.TypeId == "TechDraw::DrawPage")
    assert page.Template.TypeId == "TechDraw::DrawSVGTemplate"
    _check_page(doc, page, "Bracket", 60)
    shape = Part.read(str(Path(doc.FileName).parent / "bracket.step"))
    assert shape.Volume == _near(doc.Bracket.Shape.Volume)


def drive_a_box(doc: Any) -> None:
    """The box is as the cells say, and follows them."""
    doc.recompute()
    assert (doc.Box.Length, doc.Box.Width) == (150, 75)
    doc.Sizes.set("B1", "=200 mm")
    doc.recompute()
    assert doc.Box.Width == 100


def place_the_bolts(doc: Any) -> None:
    """Six bolts stand on a circle of 38 mm, and have one shape; all is in one part."""
    (part,) = (it for it in doc.Objects if it.TypeId == "App::Part")
    bolts = [it for it in part.Group if it.Label.startswith("Bolt_")]
    assert len(bolts) == 6
    assert {it.getLinkedObject().Name for it in bolts} == {"Bolt"}
    for bolt in bolts:
        at = bolt.Placement.Base
        assert math.hypot(at.x, at.y) == _near(38)
        assert at.z == _near(10)


def take_in_a_part(doc: Any) -> None:
    """The pin stands where it should; the file that goes on has both."""
    (pin,) = doc.getObjectsByLabel("Pin")
    centre = pin.Shape.BoundBox.Center
    assert (centre.x, centre.y) == (_near(10), _near(20))
    shape = Part.read(str(Path(doc.FileName).parent / "both.step"))
    assert shape.Volume == _near(20 * 40 * 10 + math.pi * 9 * 25)


class _near(float):
    """A number that equals those that differ by a millionth."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isclose(self, other, rel_tol=1e-6)

    __hash__ = float.__hash__


def main(words: Sequence[str]) -> None:
    """Read the outcome of a task: its name, and the file."""
    task, file = words
    globals()[task](FreeCAD.openDocument(file))
