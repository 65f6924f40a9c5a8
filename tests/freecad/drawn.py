"""The curves and sizes of sketches, and the aliases of cells: run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it, in freecadcmd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import FreeCAD
import pytest

from dcc_bridge.verbs.operations import SocketLink
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations as freecad_operations
from tests.hosts.digests import scene_digest
from tests.verbs.every_port import EveryPort
from tests.verbs.promises import Edit, call, one_step, refused

LINES: Final[list[dict[str, Any]]] = [
    {"line": [[0, 0], [40, 0]]},
    {"line": [[0, 5], [40, 5]]},
    {"circle": [9, 9], "radius": 3},
]
LENGTH: Final = {"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 40, "name": "length"}
ANGLE: Final = {"type": "Angle", "of": [[0, 1], [1, 1]], "value": 0, "name": "tilt"}


@pytest.fixture
def operations() -> Iterator[EveryPort]:
    """A sketch with two lines and a circle, a sheet of three cells, and a box."""
    document = FreeCAD.newDocument("Drawn", hidden=True)
    document.UndoMode = 1
    loaded = cast("EveryPort", freecad_operations(FreeCADHost()))
    with loaded.host.undo_step("Make"):
        loaded.create("Sketcher::SketchObject", "Outline", None)
        loaded.set_value("Outline", "Geometry", LINES)
        loaded.set_value("Outline", "Constraints", [LENGTH, ANGLE])
        loaded.create("Spreadsheet::Sheet", "Sheet", None)
        for cell, content in (("A1", "=30 mm"), ("A2", "=4 mm"), ("B1", "text")):
            loaded.set_value("Sheet", cell, content)
        loaded.create("Part::Box", "Box", None)
    document.clearUndos()
    scene_digest(loaded.host)  # the first one makes FreeCAD note that it was asked
    yield loaded
    FreeCAD.closeDocument(document.Name)


# ---- curves

CURVES: dict[str, dict[str, Any]] = {
    "ellipse": {"ellipse": [5, 5], "radii": [9, 4], "angle": 30},
    "arc of an ellipse": {"ellipse": [0, 0], "radii": [9, 4], "from": 0, "to": 90},
    "spline": {"spline": [[0, 0], [5, 5], [10, 0], [15, 5]]},
    "closed spline": {"spline": [[0, 0], [5, 5], [10, 0], [15, 5]], "closed": True},
    "spline of degree 2": {"spline": [[0, 0], [5, 5], [10, 0]], "degree": 2},
    "weighted spline": {"spline": [[0, 0], [5, 5], [9, 0], [15, 5]], "weights": [1, 2, 1, 1]},
    "construction line": {"line": [[0, 0], [40, 40]], "construction": True},
    "construction circle": {"circle": [0, 0], "radius": 30, "construction": True},
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_drawn_read_back_changed_to_another_and_undone(
    operations: EveryPort, name: str
) -> None:
    with one_step(operations):
        operations.set_value("Outline", "Geometry", [*LINES, CURVES[name]])
        drawn = operations.value("Outline", "Geometry").value
        operations.set_value("Outline", "Geometry", drawn)
        again = operations.value("Outline", "Geometry").value

    assert drawn == [*LINES, CURVES[name]]
    assert again == drawn


def test_a_spline_through_points_is_read_back_by_its_poles(operations: EveryPort) -> None:
    points = [[0, 0], [5, 5], [10, 0], [15, 5]]
    with one_step(operations):
        operations.set_value("Outline", "Geometry", [*LINES, {"through": points}])
        drawn = operations.value("Outline", "Geometry").value
        poles = [[x, round(y + 1, 6)] for x, y in drawn[3]["spline"]]
        operations.set_value("Outline", "Geometry", [*LINES, {**drawn[3], "spline": poles}])
        moved = operations.value("Outline", "Geometry").value

    assert len(drawn[3]["spline"]) == 6
    assert [multiplicity for _, multiplicity in drawn[3]["knots"]] == [4, 1, 1, 4]
    assert moved[3] == {**drawn[3], "spline": poles}


def test_a_construction_line_becomes_one_of_the_outline_and_stays_itself(
    operations: EveryPort,
) -> None:
    helping = [*LINES[:2], {**LINES[2], "construction": True}]
    sketch = FreeCAD.ActiveDocument.Outline
    with operations.host.undo_step("Help"):
        before = sketch.Geometry[2].Tag
        operations.set_value("Outline", "Geometry", helping)
        edges = [len(sketch.Shape.Edges)]
        operations.value("Outline", "Geometry")
        edges.append(len(sketch.Shape.Edges))
        operations.set_value("Outline", "Geometry", LINES)
        after = sketch.Geometry[2].Tag

    assert edges == [3, 2]
    assert after == before


def test_a_curve_in_another_form_is_changed_and_not_lost(operations: EveryPort) -> None:
    host = operations.host
    moved = [
        {"line": [[0, 0], [40, 0]]},
        {"line": [[0, 9], [40, 9]]},
        {"circle": [7, 7], "radius": 2},
    ]
    with host.undo_step("Move"):
        operations.set_value("Outline", "Geometry", moved)
        lost_by_moving = host.lost(())
    host.undo()
    with host.undo_step("Take one out"):
        operations.set_value("Outline", "Constraints", [])
        operations.set_value("Outline", "Geometry", LINES[1:])
        lost_by_removal = host.lost(())
    host.undo()

    assert lost_by_moving == []
    assert lost_by_removal == [
        *("line 1 of Outline", "constraint length of Outline", "constraint tilt of Outline"),
    ]


def test_a_constraint_goes_with_its_curve_and_the_question_says_what_it_breaks(
    operations: EveryPort,
) -> None:
    """The constraint between the lines that stay has their new numbers."""
    host = operations.host
    between = {"type": "DistanceY", "of": [[1, 1], [2, 3]], "value": 4, "name": "gap"}
    with host.undo_step("Drive"):
        operations.set_value("Outline", "Constraints", [LENGTH, between])
        operations.connect(SocketLink("Sheet", "A1", "Outline", "Constraints.length"))
        operations.connect(SocketLink("Sheet", "A2", "Outline", "Constraints.gap"))
        operations.connect(SocketLink("Outline", "Constraints.length", "Box", "Length"))
        operations.connect(SocketLink("Outline", "Constraints.gap", "Box", "Width"))
    drawn = operations.value("Outline", "Geometry").value
    with one_step(operations):
        operations.set_value("Outline", "Geometry", drawn[1:])
        left = operations.value("Outline", "Constraints").value
        gap = operations.value("Outline", "Constraints.gap")
        lost = host.lost(())
        state = FreeCAD.ActiveDocument.Outline.solve()

    assert left == [{**between, "of": [[0, 1], [1, 3]]}]
    assert (gap.value, gap.held) == (4, "Constraints.gap is driven by the expression Sheet.A2")
    assert lost == [
        "line 1 of Outline",
        "constraint length (breaks the expression of Box.Length) of Outline",
        "expression Constraints.length of Outline",
    ]
    assert state == 0


def test_a_constraint_that_code_leaves_without_its_curve_is_lost(operations: EveryPort) -> None:
    sketch = FreeCAD.ActiveDocument.Outline
    with one_step(operations):
        sketch.Geometry = sketch.Geometry[:1]
        lost = operations.host.lost(())

    assert lost == ["line 2 of Outline", "circle 3 of Outline", "constraint tilt of Outline"]


def test_constraints_stay_with_curves_that_change_their_places(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Outline", "Geometry", [LINES[2], LINES[1], LINES[0]])
        told = operations.value("Outline", "Constraints").value
        lost = operations.host.lost(())

    assert told == [{**LENGTH, "of": [[2, 1], [2, 2]]}, {**ANGLE, "of": [[2, 1], [1, 1]]}]
    assert lost == []


def test_what_json_cannot_draw_is_told_by_its_type_and_stays(operations: EveryPort) -> None:
    import Part

    sketch = FreeCAD.ActiveDocument.Outline
    with one_step(operations):
        parabola = Part.Parabola()
        parabola.Focal = 2
        sketch.addGeometry(Part.ArcOfParabola(parabola, -3, 3))
        told = operations.value("Outline", "Geometry").value
        operations.set_value("Outline", "Geometry", told)
        again = operations.value("Outline", "Geometry").value

    assert told[3] == {"curve": "ArcOfParabola"}
    assert again == told


WRONG_CURVES: dict[str, dict[str, Any]] = {
    "the larger one first": {"ellipse": [0, 0], "radii": [4, 9]},
    "is no line, point, circle": {"line": [[0, 0], [1, 1]], "colour": "red"},
    "cannot be made": {"spline": [[0, 0]]},
    "the radius is a number above 0": {"circle": [0, 0], "radius": 0},
    "a number above 0": {"arc": [0, 0], "radius": -2, "from": 0, "to": 90},
    "true is no number": {"circle": [0, 0], "radius": True},
    "false is no number": {"line": [[0, False], [1, 1]]},
    "from one place to another one": {"line": [[3, 4], [3, 4]]},
    "from one angle to another one": {"arc": [0, 0], "radius": 2, "from": 90, "to": 90},
    "no number that can be drawn": {"point": [0, float("inf")]},
}


@pytest.mark.parametrize("words", WRONG_CURVES)
def test_a_curve_that_cannot_be_is_refused(operations: EveryPort, words: str) -> None:
    edit = call("set_value", "Outline", "Geometry", [*LINES, WRONG_CURVES[words]])
    refused(operations, edit, words)


def test_constraints_that_are_not_changed_stay_the_same(operations: EveryPort) -> None:
    """FreeCAD's own, of the inner lines of an ellipse, could not be made anew."""
    sketch = FreeCAD.ActiveDocument.Outline
    with one_step(operations):
        operations.set_value("Outline", "Geometry", [*LINES, CURVES["ellipse"]])
        sketch.exposeInternalGeometry(3)
        told = operations.value("Outline", "Constraints").value
        wider = [{**told[0], "value": 50}, *told[1:]]
        operations.set_value("Outline", "Constraints", wider)
        again = operations.value("Outline", "Constraints").value
        state = sketch.solve()

    assert len(told) == 6
    assert again == wider
    assert state == 0


# ---- sizes


NO_SIZES: dict[str, Edit] = {
    "constraint 0 is not like .* true is no number": call(
        "set_value", "Outline", "Constraints", [{**LENGTH, "value": True}]
    ),
    "Outline.Constraints.length cannot be True: true and false are no numbers": call(
        "set_value", "Outline", "Constraints.length", True
    ),
    "Box.Length cannot be True: true and false are no numbers; it takes a Length": call(
        "set_value", "Box", "Length", True
    ),
    "Box.Placement.Base.x cannot be False": call("set_value", "Box", "Placement.Base.x", False),
}


@pytest.mark.parametrize("words", NO_SIZES)
def test_true_and_false_are_no_sizes(operations: EveryPort, words: str) -> None:
    refused(operations, NO_SIZES[words], words)


def test_a_size_is_set_by_the_name_of_its_constraint(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Outline", "Constraints.length", 55)
        operations.set_value("Outline", "Constraints.tilt", "10 deg")
        sizes = [operations.value("Outline", f"Constraints.{name}") for name in ("length", "tilt")]
        line = operations.value("Outline", "Geometry").value[0]["line"]

    assert [round(size.value, 6) for size in sizes] == [55, 10]
    assert round(abs(line[0][0] - line[1][0]), 4) == 55


def test_a_size_follows_a_cell_and_drives_a_box(operations: EveryPort) -> None:
    links = [
        SocketLink("Sheet", "A1", "Outline", "Constraints.length"),
        SocketLink("Outline", "Constraints.length", "Box", "Length"),
    ]
    with one_step(operations):
        for link in links:
            operations.connect(link)
        seen = [operations.look_into(link.target, "inputs") for link in links]
        followed = operations.value("Box", "Length").value
        held = operations.value("Outline", "Constraints.length").held
        operations.cut(links[0])
        operations.set_value("Outline", "Constraints.length", 20)
        again = operations.value("Box", "Length").value

    assert "Constraints.length" in operations.sockets("Outline")[0]
    assert seen == [[links[0]], [links[1]]]
    assert (followed, again) == (30, 20)
    assert held == "Constraints.length is driven by the expression Sheet.A1"


def test_a_size_that_is_not_there_is_told_with_those_that_are(operations: EveryPort) -> None:
    with pytest.raises(LookupError, match="no constraint 'width' with a size; it has length, tilt"):
        operations.set_value("Outline", "Constraints.width", 3)


# ---- aliases


def test_an_alias_is_set_used_by_an_expression_and_cleared(operations: EveryPort) -> None:
    """FreeCAD writes the cell in place of an alias that is taken away."""
    with one_step(operations):
        operations.set_value("Sheet", "A1.alias", "width")
        named = operations.value("Sheet", "A1.alias").value
        operations.connect(SocketLink("Sheet", "width", "Box", "Length"))
        length = operations.value("Box", "Length").value
        text = operations.look_into("Sheet", "text")
        operations.set_value("Sheet", "width.alias", "breadth")
        renamed = operations.look_into("Box", "text")
        operations.set_value("Sheet", "A1.alias", "")
        cleared = operations.look_into("Box", "text")

    assert (named, length) == ("width", 30)
    assert text["A1 (width)"] == "=30mm"
    assert renamed == {"Length": "Sheet.breadth"}
    assert cleared == {"Length": "Sheet.A1"}
    assert operations.value("Sheet", "A1.alias").value == ""


def test_an_empty_text_takes_the_content_of_a_cell_away(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Sheet", "B1", "")
        left = operations.look_into("Sheet", "text")
        lost = operations.host.lost(())

    assert set(left) == {"A1", "A2"}
    assert lost == ["cell B1 of Sheet"]


def taken(operations: EveryPort) -> None:
    operations.set_value("Sheet", "A1.alias", "width")
    operations.set_value("Sheet", "A2.alias", "width")


WRONG_ALIASES: dict[str, Edit] = {
    r"Sheet.A2.alias cannot be 'width': it is the alias of A1": taken,
    "no cell, unit or property": call("set_value", "Sheet", "A2.alias", "mm"),
    "a word of letters": call("set_value", "Sheet", "A2.alias", "two words"),
}


@pytest.mark.parametrize("words", WRONG_ALIASES)
def test_an_alias_that_cannot_be_is_refused_with_the_reason(
    operations: EveryPort, words: str
) -> None:
    refused(operations, WRONG_ALIASES[words], words, may_begin=True)


# ---- links of what has no shape


def test_what_has_no_shape_is_linked_too(operations: EveryPort) -> None:
    links = [
        SocketLink("Box", "Shape", "View", "Source"),
        SocketLink("Template", "object", "Page", "Template"),
        SocketLink("View", "object", "Page", "Views"),
    ]
    with one_step(operations):
        operations.create("TechDraw::DrawSVGTemplate", "Template", None)
        operations.create("TechDraw::DrawPage", "Page", None)
        operations.create("TechDraw::DrawViewPart", "View", None)
        for link in links:
            operations.connect(link)
        seen = [*operations.look_into("View", "inputs"), *operations.look_into("Page", "inputs")]
        outputs = operations.sockets("Template")[1]
        drawn = len(FreeCAD.ActiveDocument.View.getVisibleEdges())
        operations.cut(links[2])
        left = operations.look_into("Page", "inputs")

    assert set(seen) == set(links)
    assert drawn == 4
    assert "object" in outputs
    assert left == [links[1]]


def page(operations: EveryPort) -> None:
    """Make a page with a view of the box from the front, twice as large, and its width."""
    operations.set_value("Box", "Length", 30)
    operations.create("TechDraw::DrawPage", "Page", None)
    operations.create("TechDraw::DrawViewPart", "View", None)
    operations.set_value("View", "Source", ["Box"])
    operations.set_value("View", "Direction", [0, -1, 0])
    operations.set_value("Page", "Views", ["View"])
    operations.set_value("View", "ScaleType", "Custom")
    operations.set_value("View", "Scale", 2)
    operations.create("TechDraw::DrawViewDimension", "Width", None)
    operations.set_value("Width", "Type", "DistanceX")
    operations.set_value("Width", "References2D", "View/edge:horizontal bottom")
    operations.set_value("Page", "Views", ["View", "Width"])


def test_a_dimension_measures_an_edge_of_a_view_by_its_name(operations: EveryPort) -> None:
    with one_step(operations):
        page(operations)
        edges = list(operations.items("View/edge:"))
        length = operations.value("View/edge:x -y", "length").value
        measured = operations.value("Width", "References2D").value
        users = list(operations.users("View/edge:x -y"))
        box = operations.bounds("View/edge:x -y")
        width = FreeCAD.ActiveDocument.Width.getRawValue()
        operations.set_value("Width", "References2D", ["View/edge:left", "View/edge:right"])
        both = operations.value("Width", "References2D").value
        between = FreeCAD.ActiveDocument.Width.getRawValue()

    assert sorted(edges) == [f"View/edge:{it}" for it in ("x +y", "x -y", "y +x", "y -x")]
    assert (length, width, between) == (30, 30, 30)
    assert measured == ["View/edge:x -y"]
    assert both == ["View/edge:y -x", "View/edge:y +x"]
    assert users == ["Width"]
    assert box is None


def test_a_dimension_stays_on_its_edges_when_the_drawing_changes(operations: EveryPort) -> None:
    """A hole is seen in front of them then, and FreeCAD counts the edges anew."""
    with operations.host.undo_step("Draw"):
        operations.create("Part::Cut", "Cut", None)
        operations.create("Part::Cylinder", "Drill", None)
        operations.set_value("Cut", "Base", "Box")
        operations.set_value("Cut", "Tool", "Drill")
        operations.place("Drill", at=(50, 0, 0))
        page(operations)
        operations.set_value("View", "Source", ["Cut"])
        operations.set_value("Width", "References2D", ["View/edge:left", "View/edge:right"])
    width = FreeCAD.ActiveDocument.Width
    before = width.References2D[0][1]
    with one_step(operations):
        operations.place("Drill", at=(0, 5, 0))
        operations.set_value("Box", "Length", 70)
        measured = operations.value("Width", "References2D").value
        after = width.References2D[0][1]
        length = width.getRawValue()

    assert measured == ["View/edge:y -x", "View/edge:y +x"]
    assert length == 70
    assert after != before


def test_a_view_on_no_page_has_no_edges_yet(operations: EveryPort) -> None:
    operations.create("TechDraw::DrawViewPart", "View", None)
    operations.set_value("View", "Source", ["Box"])

    with pytest.raises(LookupError, match="put it into the Views of a page first"):
        operations.kind("View/edge:bottom")


def test_a_drawing_page_is_exported(operations: EveryPort, tmp_path: Path) -> None:
    file = tmp_path / "page.dxf"
    with one_step(operations):
        page(operations)
        exported = operations.export_file(file, ["Page"], None)
    entities = file.read_text(encoding="utf-8").partition("ENTITIES")[2].split()

    assert exported.items == ["Page"]
    assert exported.left_out == [
        "Of the page only views, dimensions and annotations are in the file."
    ]
    assert entities.count("LINE") >= 4


@pytest.mark.parametrize("items", [[], ["Box"], ["Page", "Box"]])
def test_only_a_page_is_exported_as_a_drawing(
    operations: EveryPort, tmp_path: Path, items: list[str]
) -> None:
    with operations.host.undo_step("Draw"):
        page(operations)
    with pytest.raises(ValueError, match="give it as the only item; there is Page"):
        operations.export_file(tmp_path / "page.dxf", items, None)


def run() -> int:
    """Run the tests; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
