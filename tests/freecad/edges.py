"""The edges of shapes, and the fillets and chamfers on them: run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it, in freecadcmd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, Final, cast

import FreeCAD
import pytest

from dcc_bridge.verbs.inspecting import Wanted, inspected
from dcc_bridge.verbs.operations import SocketLink
from dcc_bridge_freecad import edge_heirs
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations as freecad_operations
from tests.hosts.digests import scene_digest
from tests.verbs.every_port import EveryPort
from tests.verbs.promises import Edit, account_of, call, one_step, refused

HOLES: Final = [(15, 15), (65, 15), (15, 35), (65, 35)]
PLATE: Final = [[0, 0], [80, 0], [80, 50], [0, 50]]
NOTCHED: Final = [[0, 0], [30, 0], [30, 10], [50, 10], [50, 0], [100, 0], [100, 50], [0, 50]]
WITH_TAB: Final = [[0, 0], [80, 0], [80, 20], [95, 20], [95, 30], [80, 30], [80, 50], [0, 50]]
NOTCHED_TWICE: Final = [
    *([0, 0], [10, 0], [10, 5], [20, 5], [20, 0], [30, 0], [30, 10], [50, 10], [50, 0]),
    *([100, 0], [100, 50], [0, 50]),
]
CUT_OFF: Final = [[0, 0], [60, 0], [80, 20], [80, 50], [0, 50]]


def outline(corners: list[list[int]]) -> list[dict[str, Any]]:
    """Return the curves of a sketch through corners."""
    return [{"line": [corners[number - 1], corners[number]]} for number in range(len(corners))]


@pytest.fixture
def operations() -> Iterator[EveryPort]:
    """A plate with four holes, three rounded corners and a chamfer, and a rounded box."""
    document = FreeCAD.newDocument("Plate", hidden=True)
    document.UndoMode = 1
    loaded = cast("EveryPort", freecad_operations(FreeCADHost()))
    with loaded.host.undo_step("Make the plate"):
        make(loaded, "PartDesign::Body", "Body", None)
        make(loaded, "Sketcher::SketchObject", "Outline", "Body", Geometry=outline(PLATE))
        make(loaded, "PartDesign::Pad", "Pad", "Body", Profile="Outline", Length=6)
        holes = [{"circle": list(at), "radius": 4} for at in HOLES]
        make(loaded, "Sketcher::SketchObject", "Centres", "Body", Geometry=holes)
        through = {"Profile": "Centres", "Type": "ThroughAll", "Midplane": True}
        make(loaded, "PartDesign::Pocket", "Holes", "Body", **through)
        corners = ["Holes/edge:vertical left", "Holes/edge:z +x -y"]
        make(loaded, "PartDesign::Fillet", "Corners", "Body", Base=corners, Radius=5)
        make(loaded, "PartDesign::Chamfer", "Rim", "Body", Base="Corners/edge:top", Size=0.5)
        make(loaded, "Part::Box", "Box", None)
        make(loaded, "Part::Fillet", "Round", None, Base="Box", Edges=[["vertical", 2]])
    document.clearUndos()
    scene_digest(loaded.host)  # the first one makes FreeCAD note that it was asked
    yield loaded
    FreeCAD.closeDocument(document.Name)


def make(operations: EveryPort, kind: str, name: str, under: str | None, **values: Any) -> None:
    operations.create(kind, name, under)
    for prop, value in values.items():
        operations.set_value(name, prop, value)


def named(operations: EveryPort, item: str, prop: str = "Base") -> list[str]:
    """Return the words of the edges that a fillet or a chamfer is on."""
    items = operations.value(item, prop).value
    return [str(each).partition("/edge:")[2] for each in items]


# ---- what edges there are


def test_each_edge_has_a_name_of_its_own_by_which_it_is_found(operations: EveryPort) -> None:
    items = list(operations.items("Holes/edge:"))

    assert len(set(items)) == 20  # 12 of the block, and 8 of the holes; seams are no edges
    assert all(operations.kind(item) == "Edge" for item in items)
    assert [f"Holes/edge:{operations.name(item)}" for item in items] == items
    assert {operations.parent(item) for item in items} == {"Holes"}
    assert operations.host.kinds(["Holes/edge:z +x -y", "Holes/edge:z y=3"]) == ["Edge", "gone"]
    assert not {*items} & {*operations.items()}  # nobody asked for them
    assert [operations.is_shown(f"{it}/edge:z +x -y") for it in ("Holes", "Box")] == [
        operations.is_shown(it) for it in ("Holes", "Box")
    ]


def test_an_edge_is_told_by_its_shape_and_by_the_faces_that_meet_there(
    operations: EveryPort,
) -> None:
    values = operations.look_into("Holes/edge:circle x=65 y=15 +z", "values")

    assert {name: value.value for name, value in values.items() if name != "element"} == {
        "curve": "circle",
        "length": 25.132741,
        "radius": 4,
        "center": [65, 15, 6],
        "axis": [0, 0, 1],
        "sides": ["+z"],
        "between": ["+z", "hole"],
    }
    assert values["radius"].is_fixed
    assert values["radius"].held == "computed with the shape of Holes"
    assert operations.value("Holes/edge:z +x -y", "between").value == ["+x", "-y"]
    assert operations.bounds("Holes/edge:z +x -y") == ((80, 0, 0), (80, 0, 6))
    with operations.host.undo_step("Move the body"):
        operations.place("Body", at=(0, 0, 100))
        assert operations.bounds("Holes/edge:z +x -y") == ((80, 0, 100), (80, 0, 106))
        assert operations.value("Holes/edge:z +x -y", "middle").value == [80, 0, 3]


SELECTED: dict[str, int] = {
    "all": 20,
    "vertical": 4,
    "z": 4,
    "top": 8,
    "top line": 4,
    "circle bottom": 4,
    "+x +z": 1,
    "right front": 1,
    "Vertical, Left": 2,
    "circle x=15": 4,
    "r=4 y=35": 4,
    "l=50": 4,
    "circle #3": 1,
}


@pytest.mark.parametrize("words", SELECTED)
def test_words_select_the_edges_of_which_all_are_true(operations: EveryPort, words: str) -> None:
    assert len(list(operations.items(f"Holes/edge:{words}"))) == SELECTED[words]


SHAPES: Final = [
    *("Part::Sphere", "Part::Cone", "Part::Torus", "Part::Helix", "Part::Spiral", "Part::Wedge"),
    *("Part::Ellipsoid", "Part::Prism", "Part::Plane", "Part::Circle", "Part::Vertex"),
    *("Part::Line", "Part::Ellipse", "Part::RegularPolygon", "Part::Cylinder", "Part::Feature"),
    *("PartDesign::Line", "PartDesign::Plane", "PartDesign::CoordinateSystem"),
]


@pytest.mark.parametrize("kind", SHAPES)
def test_of_every_shape_each_edge_is_found_by_its_name(operations: EveryPort, kind: str) -> None:
    with operations.host.undo_step("Make"):
        made = operations.create(kind, None, None)
        if kind == "Part::Cone":
            operations.set_value(made, "Radius1", 0)  # whose edge there is a point
    items = list(operations.items(f"{made}/edge:"))

    assert len(set(items)) == len(items)
    assert [f"{made}/edge:{operations.name(item)}" for item in items] == items


def test_what_has_no_shape_of_its_own_has_no_edges(operations: EveryPort) -> None:
    """A link may lead back to itself, and FreeCAD crashes as it looks for the shape of that."""
    link = operations.duplicate("Box", linked=True)

    assert list(operations.items(f"{link}/edge:")) == []
    assert list(operations.items("Origin/edge:")) == []


WRONG_WORDS: dict[str, str] = {
    "z +x y=3": r"no edge 'z \+x y=3'. The nearest are: z \+x -y, ",
    "vertical": r"4 edges of Holes are 'vertical'; name one: z -x \+y, ",
    "circle #9": "no edge 'circle #9'",
}


@pytest.mark.parametrize("words", WRONG_WORDS)
def test_words_of_no_edge_or_of_many_are_told_with_the_names_of_others(
    operations: EveryPort, words: str
) -> None:
    with pytest.raises(LookupError, match=WRONG_WORDS[words]):
        operations.kind(f"Holes/edge:{words}")


NO_OBJECT: dict[str, Edit] = {
    "delete": call("delete", ["Box/edge:z +x -y"]),
    "place": call("place", "Box/edge:z +x -y", at=(1, 2, 3)),
    "set": call("set_value", "Box/edge:z +x -y", "length", 3),
    "rename": call("rename", "Box/edge:z +x -y", "Front"),
    "copy": call("duplicate", "Box/edge:z +x -y", linked=False),
}


@pytest.mark.parametrize("what", NO_OBJECT)
def test_an_edge_is_no_object_that_could_be_edited(operations: EveryPort, what: str) -> None:
    refused(operations, NO_OBJECT[what], "is an edge: it is listed")


# ---- fillets and chamfers


def test_a_fillet_tells_its_edges_by_name_and_an_edge_tells_what_is_on_it(
    operations: EveryPort,
) -> None:
    assert named(operations, "Corners") == ["z -x +y", "z -x -y", "z +x -y"]
    assert list(operations.users("Holes/edge:z +x -y")) == ["Corners"]
    assert list(operations.users("Holes/edge:z +x +y")) == []
    assert len(named(operations, "Rim")) == 11  # four sides, three rounded corners, four holes


def test_other_edges_and_another_radius_are_one_step(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Rim", "Base", ["Corners/edge:top line", "Corners/edge:circle top"])
        operations.set_value("Corners", "Radius", 8)
        operations.set_value("Corners", "Base", ["Holes/edge:vertical"])
        operations.set_value("Rim", "Base", "Corners/edge:x -y +z")
        seen = named(operations, "Corners"), named(operations, "Rim")
        rounded = operations.look_into("Corners", "counts")["faces"]

    assert seen == (["z -x +y", "z -x -y", "z +x +y", "z +x -y"], ["x -y +z"])
    assert rounded == 14  # 6 of the block, 4 holes, 4 corners


def test_a_fillet_outside_of_a_body_has_sizes_by_edge(operations: EveryPort) -> None:
    edges = [["vertical left", 3], ["Box/edge:x +z -y", 1, 0.5], "y +x +z"]
    with operations.host.undo_step("Ours"):
        operations.set_value("Round", "Edges", edges)
    seen = operations.value("Round", "Edges").value
    operations.host.undo()

    assert seen == [
        ["Box/edge:z -x -y", 3, 3],
        ["Box/edge:z -x +y", 3, 3],
        ["Box/edge:x -y +z", 1, 0.5],
        ["Box/edge:y +x +z", 2, 2],
    ]
    assert named_of_box(operations) == ["z -x -y", "z -x +y", "z +x -y", "z +x +y"]


def named_of_box(operations: EveryPort) -> list[str]:
    return [edge.partition("/edge:")[2] for edge, *_ in operations.value("Round", "Edges").value]


def test_a_sweep_and_a_sketch_take_edges_by_name_too(operations: EveryPort) -> None:
    with one_step(operations):
        make(operations, "Part::Circle", "Profile", None)
        make(operations, "Part::Sweep", "Sweep", None, Sections=["Profile"])
        operations.set_value("Sweep", "Spine", "Box/edge:x -y +z")
        make(operations, "Sketcher::SketchObject", "Sketch", None)
        operations.set_value("Sketch", "ExternalGeometry", ["Box/edge:x -y -z"])
        spine = operations.value("Sweep", "Spine").value
        sketch = FreeCAD.ActiveDocument.Sketch
        outside = [names for _, names in sketch.ExternalGeometry]

    assert spine == ["Box/edge:x -y +z"]
    assert outside == [("Edge9",)]


WRONG_EDGES: dict[str, Edit] = {
    "Holes/edge:top is no edge of its Base, Box": call(
        "set_value", "Round", "Edges", ["Holes/edge:top"]
    ),
    "is not like": call("set_value", "Round", "Edges", [["vertical", "wide"]]),
    "'z', True.* is not like": call("set_value", "Round", "Edges", [["z", True]]),
    "'z', 1, 0.* is not like": call("set_value", "Round", "Edges", [["z", 1, 0]]),
    "'z', inf.* is not like": call("set_value", "Round", "Edges", [["z", float("inf")]]),
    "'upper' says nothing of an edge": call("set_value", "Corners", "Base", "Holes/edge:upper"),
    "edges of one object alone": call(
        "set_value", "Corners", "Base", ["Holes/edge:top", "Box/edge:top"]
    ),
}


@pytest.mark.parametrize("words", WRONG_EDGES)
def test_edges_that_cannot_be_taken_are_refused_with_the_reason(
    operations: EveryPort, words: str
) -> None:
    refused(operations, WRONG_EDGES[words], words)


@pytest.mark.parametrize("label", ["Block/edge:top", "Block/"])
def test_an_object_whose_label_reads_as_edges_is_named_by_it(
    operations: EveryPort, label: str
) -> None:
    host = operations.host
    with one_step(operations):
        operations.rename("Box", label)
        kind = operations.kind(label)
        below = list(operations.items(label))
        width = operations.value(label, "Width").value
        edge = operations.name(f"{label}/edge:z +x +y")
        told = host.kinds([label]), host.nouns([label])
        operations.set_value(label, "Length", 7)
        operations.set_value("Round", "Base", label)

    assert (kind, below, width, edge) == ("Part::Box", [], 10, "z +x +y")
    assert told == (["Part::Box"], host.nouns(["Box"]))


# ---- found again

CHANGES: dict[str, tuple[str, str, Any, str]] = {
    "thicker": ("Pad", "Length", 12, "z +x -y"),
    "notched and longer": ("Outline", "Geometry", outline(NOTCHED), "z +x -y"),
    "with a tab": ("Outline", "Geometry", outline(WITH_TAB), "z x=80 -y"),
    "drawn the other way round": ("Outline", "Geometry", outline(PLATE[::-1]), "z +x -y"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_fillet_stays_on_its_edges_when_an_edit_renumbers_them(
    operations: EveryPort, change: str
) -> None:
    """The shape is the one that the same steps make from the start."""
    item, prop, value, last = CHANGES[change]
    with one_step(operations):
        operations.set_value(item, prop, value)
        seen = named(operations, "Corners")
        rim = named(operations, "Rim")
        volume = FreeCAD.ActiveDocument.Body.Shape.Volume
        operations.set_value("Corners", "Base", ["Holes/edge:vertical left", f"Holes/edge:{last}"])
        operations.set_value("Rim", "Base", [f"Corners/edge:{each}" for each in rim])
        operations.value("Rim", "Base")
        again = FreeCAD.ActiveDocument.Body.Shape.Volume

    assert seen == ["z -x +y", "z -x -y", last]
    assert all("+z" in words for words in rim)
    assert volume == pytest.approx(again, rel=1e-9)


def test_a_fillet_stays_on_its_edges_when_a_cell_drives_the_size(operations: EveryPort) -> None:
    """Also after undo and redo, by which FreeCAD puts back the numbers that fit."""
    host = operations.host
    with host.undo_step("Drive"):
        make(operations, "Spreadsheet::Sheet", "Sheet", None, A1="=4 mm")
        make(operations, "Part::Cylinder", "Drill", None, Radius=1, Height=10)
        make(operations, "Part::Cut", "Cut", None, Base="Box", Tool="Drill")
        operations.connect(SocketLink("Sheet", "A1", "Drill", "Placement.Base.y"))
        operations.set_value("Round", "Base", "Cut")
        operations.set_value("Round", "Edges", [["vertical right", 1], ["vertical back", 2]])
    before = named_of_box(operations)
    with host.undo_step("Move the drill"):
        operations.set_value("Sheet", "A1", "=0 mm")
    after = named_of_box(operations)
    numbers = [number for number, *_ in FreeCAD.ActiveDocument.Round.Edges]
    host.undo()
    undone = named_of_box(operations)
    numbers_before = [number for number, *_ in FreeCAD.ActiveDocument.Round.Edges]
    host.redo()
    redone = named_of_box(operations)

    assert sorted(before) == ["z +x +y", "z +x -y", "z -x +y"]
    assert [sorted(names) for names in (after, undone, redone)] == [sorted(before)] * 3
    assert numbers != numbers_before


def test_the_numbers_of_the_edges_do_change(operations: EveryPort) -> None:
    """Else the promise above would promise nothing."""
    before = FreeCAD.ActiveDocument.Corners.Base[1]
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(NOTCHED))
        operations.value("Corners", "Base")
        after = FreeCAD.ActiveDocument.Corners.Base[1]

    assert after != before


def test_both_halves_of_an_edge_that_is_cut_in_two_are_chamfered(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(NOTCHED))
        seen = [words for words in named(operations, "Rim") if words.startswith("x -y")]

    assert seen == ["x -y +z x=17.5", "x -y +z x=72.5"]


def test_a_fillet_outside_of_a_body_stays_on_its_edges_too(operations: EveryPort) -> None:
    with one_step(operations):
        operations.create("Part::Cut", "Cut", None)
        operations.create("Part::Cylinder", "Drill", None)
        operations.set_value("Cut", "Base", "Box")
        operations.set_value("Cut", "Tool", "Drill")
        operations.set_value("Drill", "Radius", 1)
        operations.place("Drill", at=(5, 5, 0))
        operations.set_value("Round", "Base", "Cut")
        operations.set_value("Round", "Edges", [["vertical right", 1], ["vertical left", 2]])
        before = sorted(operations.value("Round", "Edges").value)
        operations.place("Drill", at=(0, 5, 0))
        after = sorted(operations.value("Round", "Edges").value)

    assert [words for words, *_ in before] == [
        *("Cut/edge:z +x +y", "Cut/edge:z +x -y", "Cut/edge:z -x +y", "Cut/edge:z -x -y"),
    ]
    assert after == before


def test_each_edge_keeps_its_sizes_where_another_one_is_cut_in_two(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Make"):
        make(operations, "Sketcher::SketchObject", "Sheet", None, Geometry=outline(PLATE))
        extruded = {"Base": "Sheet", "Solid": True, "LengthFwd": 6, "DirMode": "Normal"}
        make(operations, "Part::Extrusion", "Block", None, **extruded)
        edges = [["x -y +z", 1], ["y +x +z", 2, 1.5], ["x +y +z", 3]]
        make(operations, "Part::Chamfer", "Bevel", None, Base="Block", Edges=edges)
    with one_step(operations):
        operations.set_value("Sheet", "Geometry", outline(NOTCHED))
        seen = operations.value("Bevel", "Edges").value

    assert sorted(seen) == [
        ["Block/edge:x +y +z", 3, 3],
        ["Block/edge:x -y +z x=15", 1, 1],
        ["Block/edge:x -y +z x=75", 1, 1],
        ["Block/edge:y +x +z", 2, 1.5],
    ]


def test_both_pieces_of_an_edge_are_named_although_another_one_on_its_line_is_not(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Make"):
        operations.set_value("Outline", "Geometry", outline(NOTCHED))
        operations.set_value("Rim", "Base", ["Corners/edge:x -y +z x=17.5"])
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(NOTCHED_TWICE))
        seen = named(operations, "Rim")

    assert sorted(seen) == ["x -y +z x=25", "x -y +z x=7.5"]


def test_that_edges_got_other_numbers_is_no_change_that_is_told(operations: EveryPort) -> None:
    edit = call("set_value", "Outline", "Geometry", outline(NOTCHED))

    assert account_of(operations, edit) == 'changed: Outline, Geometry: "4 curves" -> "8 curves"'


def test_an_edit_that_takes_an_edge_away_is_refused_with_the_nearest_ones(
    operations: EveryPort,
) -> None:
    cut_off = call("set_value", "Outline", "Geometry", outline(CUT_OFF))

    step = operations.host.undo_step("Cut the corner off")
    with pytest.raises(ValueError, match="Corners is on Holes/edge:z") as raised, step:
        cut_off(operations)
    operations.host.take_back()

    assert "Set Base of Corners in the same batch" in str(raised.value)
    assert "z +x y=20" in str(raised.value)
    assert named(operations, "Corners") == ["z -x +y", "z -x -y", "z +x -y"]


def test_alike_edges_that_are_too_many_to_compare_are_the_reason_of_the_refusal(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_heirs, "_MAX_PAIRS", 15)
    with operations.host.undo_step("Chamfer a hole"):
        operations.set_value("Rim", "Base", "Corners/edge:circle top x=15 y=15")
    places = [(25, 10), (25, 25), (60, 10), (60, 40)]
    moved = [{"circle": list(at), "radius": 4} for at in places]

    step = operations.host.undo_step("Move all holes")
    with pytest.raises(ValueError, match="one of 4 edges that are alike") as raised, step:
        operations.set_value("Centres", "Geometry", moved)
    operations.host.take_back()

    assert "too many to tell which one it is." in str(raised.value)
    assert "not there any more" not in str(raised.value)
    assert "Set Base of Rim in the same batch" in str(raised.value)


def test_nobody_is_asked_about_an_edit_that_takes_an_edge_away(operations: EveryPort) -> None:
    """What it loses besides is no question: the step is taken back without a trace."""
    host = operations.host
    before = scene_digest(host), host.undo_mark()
    with host.undo_step("Cut the corner off"):
        trial = host.trial()
        assert trial is not None
        operations.set_value("Outline", "Geometry", outline(CUT_OFF))
        with pytest.raises(ValueError, match="Corners is on Holes/edge:z"):
            host.lost(())
        trial.revert()

    assert (scene_digest(host), host.undo_mark()) == before


def test_an_edge_may_go_where_the_same_step_names_others(operations: EveryPort) -> None:
    """What is made of the fillet waits until that is whole again."""
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(CUT_OFF))
        operations.set_value("Corners", "Base", "Holes/edge:vertical left")
        operations.set_value("Rim", "Base", "Corners/edge:top line")
        seen = named(operations, "Corners")

    assert seen == ["z -x +y", "z -x -y"]


def test_an_edge_is_not_selected_without_a_window_and_the_selection_stays(
    operations: EveryPort,
) -> None:
    host = operations.host
    host.select(["Box"])

    with pytest.raises(ValueError, match="no edges: select Holes"):
        host.select(["Box", "Holes/edge:z +x -y"])

    assert host.selection == ["Box"]


def test_a_fillet_whose_base_was_emptied_is_of_its_body_again_when_base_is_set(
    operations: EveryPort,
) -> None:
    corners = FreeCAD.ActiveDocument.Corners
    edges = operations.value("Corners", "Base").value
    with operations.host.undo_step("Empty"):
        operations.set_value("Rim", "Base", [])
        operations.set_value("Corners", "Base", [])
        emptied = corners.BaseFeature
    with one_step(operations):
        operations.set_value("Corners", "Base", edges)
        restored = corners.BaseFeature.Name, operations.value("Corners", "Base").value

    assert emptied is None
    assert restored == ("Holes", edges)


# ---- what cannot be computed


def too_big(operations: EveryPort) -> None:
    make(operations, "Part::Fillet", "TooBig", None, Base="Box", Edges=[["all", 50]])


TOO_BIG: Final[dict[str, Edit]] = {
    "TooBig (BRep_API: command not done)": too_big,
    "Round (BRep_API: command not done)": call("set_value", "Round", "Edges", [["vertical", 50]]),
    "Rim (Failed to create chamfer)": call("set_value", "Rim", "Size", 50),
}


@pytest.mark.parametrize("broken", TOO_BIG)
def test_what_cannot_be_computed_is_told_with_the_reason(
    operations: EveryPort, broken: str
) -> None:
    assert account_of(operations, TOO_BIG[broken]).endswith(f". broken: {broken}")


def test_an_object_that_cannot_be_computed_is_inspected_with_the_reason(
    operations: EveryPort,
) -> None:
    wanted = Wanted(["bounds", "counts"])
    with operations.host.undo_step("Round too much"):
        operations.set_value("Round", "Edges", [["vertical", 50]])
        told = inspected(operations, "Round", wanted)
    operations.host.undo()
    in_order = inspected(operations, "Round", wanted)

    assert "BRep_API: command not done" in told["error"]
    assert "error" not in in_order


def test_the_reason_why_a_sheet_cannot_be_computed_ends_in_one_full_stop(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Make"):
        sheet = FreeCAD.ActiveDocument.addObject("Spreadsheet::Sheet", "Sheet")
        sheet.set("A1", "=nonsense + 1")
        FreeCAD.ActiveDocument.recompute()
        told = operations.fault("Sheet")
    operations.host.undo()

    assert "contains errors. Its" in told


# ---- faces


def face_of(item: str, **place: float) -> str:
    """Return FreeCAD's name of the one face of an object whose middle is at a place."""
    faces = FreeCAD.ActiveDocument.getObject(item).Shape.Faces
    found = []
    for number, face in enumerate(faces, 1):
        if all(abs(getattr(face.CenterOfMass, axis) - at) < 1e-6 for axis, at in place.items()):
            found.append(f"Face{number}")
    (name,) = found
    return name


@pytest.mark.parametrize("change", [NOTCHED, WITH_TAB, NOTCHED_TWICE, PLATE[::-1]])
def test_a_chamfer_stays_on_the_face_that_it_names(
    operations: EveryPort, change: list[list[int]]
) -> None:
    with operations.host.undo_step("Chamfer the back"):
        operations.set_value("Rim", "Base", ["Pad", [face_of("Pad", y=50)]])
    before = FreeCAD.ActiveDocument.Rim.Base[1]
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(change))
        operations.value("Rim", "Base")
        after = FreeCAD.ActiveDocument.Rim.Base[1]
        back = face_of("Pad", y=50)

    assert list(after) == [back]
    assert before != after


def test_that_a_face_got_another_number_is_told(operations: EveryPort) -> None:
    """An agent reads that number."""
    with operations.host.undo_step("Chamfer the back"):
        operations.set_value("Rim", "Base", ["Pad", [face_of("Pad", y=50)]])
    told = account_of(operations, call("set_value", "Outline", "Geometry", outline(NOTCHED)))

    assert "Rim, Base" in told


def test_both_halves_of_a_face_that_is_cut_in_two_are_chamfered(operations: EveryPort) -> None:
    with operations.host.undo_step("Chamfer the front"):
        operations.set_value("Rim", "Base", ["Pad", [face_of("Pad", y=0)]])
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(NOTCHED))
        operations.value("Rim", "Base")
        after = sorted(FreeCAD.ActiveDocument.Rim.Base[1])
        halves = sorted(face_of("Pad", y=0, x=x) for x in (15, 75))

    assert after == halves


def test_a_sketch_stays_on_the_face_that_it_is_attached_to(operations: EveryPort) -> None:
    with operations.host.undo_step("Attach"):
        make(operations, "Sketcher::SketchObject", "Mark", "Body", MapMode="FlatFace")
        operations.set_value("Mark", "Support", [["Pad", [face_of("Pad", y=50)]]])
        operations.set_value("Mark", "MapMode", "FlatFace")
    before = FreeCAD.ActiveDocument.Mark.Support[0][1]
    with one_step(operations):
        operations.set_value("Outline", "Geometry", outline(NOTCHED))
        operations.value("Mark", "Support")
        after = FreeCAD.ActiveDocument.Mark.Support[0][1]
        depth = FreeCAD.ActiveDocument.Mark.Placement.Base.y

    assert before != after
    assert depth == pytest.approx(50)


def test_an_edit_that_takes_a_face_away_is_refused(operations: EveryPort) -> None:
    with operations.host.undo_step("Chamfer a hole"):
        operations.set_value("Rim", "Base", ["Corners", [face_of("Corners", x=65, y=35)]])
    holes = [{"circle": list(at), "radius": 4} for at in HOLES[:3]]
    step = operations.host.undo_step("Take the hole away")
    with pytest.raises(ValueError, match="Rim is on Face") as raised, step:
        operations.set_value("Centres", "Geometry", holes)
    operations.host.take_back()

    assert "Set Base of Rim in the same batch" in str(raised.value)


def run() -> int:
    """Run the tests; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
