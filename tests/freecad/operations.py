"""FreeCAD's operations for the verbs, each in a step that is undone: run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it, in freecadcmd and in a window.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from operator import methodcaller
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import FreeCAD
import pytest

from dcc_bridge.verbs import renaming
from dcc_bridge.verbs.items import counted
from dcc_bridge.verbs.operations import SCENE, Shot, SocketLink, Value
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations as freecad_operations
from tests.hosts.digests import scene_digest
from tests.verbs.every_port import EveryPort
from tests.verbs.operations_contract import (
    FilesContract,
    MaterialsContract,
    OperationsContract,
    PlacingContract,
    SeeingContract,
)
from tests.verbs.promises import Edit, account_of, call, one_step, refused
from tests.verbs.stand import Stand, Words

in_console = pytest.mark.skipif(FreeCAD.GuiUp, reason="in the console it is the same")
in_window = pytest.mark.skipif(not FreeCAD.GuiUp, reason="needs a window")


@pytest.fixture
def operations(tmp_path: Path) -> Iterator[EveryPort]:
    """A group with a cylinder in a part that is moved and turned, a cut, a body and a sheet."""
    document = FreeCAD.newDocument("Scene", hidden=not FreeCAD.GuiUp)
    document.UndoMode = 1
    for name, at in (("Box", 0), ("Tool", 5)):
        place(document.addObject("Part::Box", name), at)
    document.Tool.Label = "The tool"
    cut = document.addObject("Part::Cut", "Cut")
    cut.Base = document.Box
    cut.Tool = document.Tool
    part = document.addObject("App::Part", "Part")
    group = document.addObject("App::DocumentObjectGroup", "Group")
    cylinder = document.addObject("Part::Cylinder", "Cylinder")
    group.addObject(cylinder)
    part.addObject(group)
    place(cylinder, 20)
    part.Placement = FreeCAD.Placement(FreeCAD.Vector(100, 0, 0), FreeCAD.Rotation(90, 0, 0))
    body = document.addObject("PartDesign::Body", "Body")
    body.newObject("PartDesign::AdditiveBox", "Step")
    sheet = document.addObject("Spreadsheet::Sheet", "Sheet")
    sheet.set("A1", "=3 mm")
    sheet.setAlias("A1", "wall")
    cylinder.setExpression("Height", "<<The tool>>.Length + Sheet.wall")
    place(document.addObject("Mesh::Cube", "Mesh"), 50)
    place(document.addObject("Part::Sphere", "Ball"), -50)
    document.recompute()
    document.saveAs(str(tmp_path / "scene.FCStd"))
    document.clearUndos()
    loaded = cast("EveryPort", freecad_operations(FreeCADHost()))
    scene_digest(loaded.host)  # the first one makes FreeCAD note that it was asked
    yield loaded
    FreeCAD.closeDocument(document.Name)


def place(obj: Any, x: float) -> None:
    obj.Placement = FreeCAD.Placement(FreeCAD.Vector(x, 0, 0), FreeCAD.Rotation())


def expressions(stand: Stand) -> tuple[SocketLink, SocketLink]:
    """Two of the ball's sides drive one of the crate's."""
    first, second = (
        SocketLink(stand.ball, out, stand.crate, "Length") for out in ("Width", "Height")
    )
    return first, second


def expressed(stand: Stand) -> tuple[str, str]:
    stand.operations.connect(expressions(stand)[0])
    return stand.crate, "Length"


WORDS = Words(
    solid="Part::Box",
    kind="Part::Box",
    group="App::Part",
    hollow="App::DocumentObjectGroup",
    number=("Length", 12.0),
    links=expressions,
    scene={},
    collection="collection",
    members=lambda operations, into: operations.items(into),
    no_name=" ",
    file=".FCStd",
    exchange=".step",
    formats=(".iges", ".brep", ".stl", ".obj", ".ply", ".off"),
    holds={"driven by the expression": expressed},
    may_begin=True,
)


def driven(operations: EveryPort) -> None:
    operations.connect(SocketLink("Tool", "Length", "Ball", "Placement.Base.z"))
    operations.place("Ball", at=(0, 0, 0))


def attached(operations: EveryPort) -> None:
    operations.set_value("Ball", "Support", [["Box", ["Face6"]]])
    operations.set_value("Ball", "MapMode", "FlatFace")
    operations.place("Ball", at=(0, 0, 0))


def linked(source: str, out: str, target: str, into: str) -> Edit:
    return call("connect", SocketLink(source, out, target, into))


IN_A_WINDOW_TOO: list[tuple[str, Edit]] = [
    ("holds nothing", call("create", "Part::Box", None, "Box")),
    ("not allowed", call("create", "Part::Box", None, "Body")),
    ("Placement in FreeCAD has no", call("place", "Box", scale=(2, 2, 2))),
    ("no place of its own", call("place", "Group", at=(0, 0, 0))),
    ("making of Body", call("place", "Step", at=(0, 0, 0))),
    ("driven by the expression Tool.Length", driven),
    ("attached", attached),
]
REFUSED: list[tuple[str, Edit]] = [
    ("is in it", call("set_parent", "Part", "Group", keep_place=True)),
    ("is in it", call("set_parent", "Group", "Group", keep_place=True)),
    ("not allowed", call("set_parent", "Ball", "Body", keep_place=True)),
    ("FreeCAD makes 0.0 of it", call("set_value", "Box", "Length", -3)),
    ("Not matching Unit", call("set_value", "Box", "Length", "12 deg")),
    ("has no attribute 'q'", call("set_value", "Box", "Placement.Base.q", 3)),
    ("it is one of Deactivated", call("set_value", "Box", "MapMode", "Nope")),
    ("taken", call("set_value", "Box", "Label", "Cut")),
    ("cyclic", linked("Cylinder", "Height", "Tool", "Length")),
    ("circle", linked("Cut", "Shape", "Cut", "Base")),
    ("the one is Angle, the other Length", linked("Ball", "Angle1", "Tool", "Length")),
    ("connect 'Shape'", linked("Ball", "Radius", "Cut", "Base")),
    ("history", call("junk", "history")),
    ("cannot be written", call("save_files", Path("relative.FCStd"))),
]
UNKNOWN: list[tuple[str, Edit]] = [
    ("names like it: Part::Box", call("create", "Part::Bx", None, None)),
    ("no object 'Nobody'", call("set_value", "Cut", "Tool", "Nobody")),
    ("no 'frame'", call("value", SCENE, "frame")),
]


@in_console
class TestFreeCADOperations(OperationsContract, PlacingContract, FilesContract):
    words = WORDS
    lacks = frozenset({"assign_material", "look", "render", "set_keys"})
    own_refusals = (*IN_A_WINDOW_TOO, *REFUSED)
    own_unknown = UNKNOWN


@in_window
class TestWindow(MaterialsContract, SeeingContract):
    words = WORDS
    lacks = frozenset({"set_keys"})
    own_refusals = IN_A_WINDOW_TOO

    @pytest.fixture
    def view(self) -> Any:
        import FreeCADGui

        camera = FreeCADGui.ActiveDocument.ActiveView.getCamera
        # Drawing the window sets these, whoever has it drawn.
        return lambda: re.sub(r"\n *(near|far)Distance .*", "", camera())


def near(first: Any, other: Any) -> bool:
    """Whether numbers are the same, in tuples as well."""
    if isinstance(other, tuple):
        return all(near(a, b) for a, b in zip(first, other, strict=True))
    return math.isclose(first, other, rel_tol=1e-5, abs_tol=1e-4)


# ---- what there is


@in_console
def test_items_are_internal_names_and_found_by_their_labels_too(operations: EveryPort) -> None:
    assert [it for it in operations.items("Part") if "Axis" not in it and "Plane" not in it] == [
        *("Group", "Cylinder", "Origin")
    ]
    assert operations.name("Tool") == "The tool"
    assert operations.kind("The tool") == "Part::Box"
    parents = [operations.parent(it) for it in ("Group", "Cylinder", "Step", "X_Axis", "Origin")]
    assert parents == ["Part", "Group", "Body", "Origin", "Part"]


@in_console
def test_names_of_each_kind_are_told_and_end_the_error_of_a_wrong_one(
    operations: EveryPort,
) -> None:
    named = operations.named_like()
    with pytest.raises(LookupError) as raised:
        operations.kind("Hull")

    assert named == ["Box", "Box, Placement.Base.x", "Box/edge:z -x -y", "Sheet, A1"]
    assert operations.kind(named.pop(2)) == "Edge"
    assert operations.value(*named[1].split(", ")).value == 0
    assert operations.value(*named[2].split(", ")).value == 3
    assert str(raised.value).startswith("There is no object 'Hull'; there is: ")
    assert str(raised.value).endswith(
        "Names here are like Box, Box, Placement.Base.x, Box/edge:z -x -y, Sheet, A1."
    )
    with pytest.raises(LookupError, match=r"'Box_1'; names like it: Box[.]$"):
        operations.kind("Box_1")


def _note_comment(_: EveryPort) -> None:
    FreeCAD.ActiveDocument.Comment = "approved"


def _break_cut(_: EveryPort) -> None:
    document = FreeCAD.ActiveDocument
    document.removeObject("Tool")
    document.recompute()


ACCOUNTS: dict[str, Edit] = {
    "changed: Box, Length: 10 -> 12": call("set_value", "Box", "Length", 12),
    "changed: Box, Placement.Base: [0, 0, 0] -> [1, 2, 3]": call("place", "Box", at=(1, 2, 3)),
    'changed: Sheet, cells.A1: "=3mm" -> "=5mm"; Cylinder, Height: 13 -> 15': call(
        "set_value", "Sheet", "A1", "=5 mm"
    ),
    'changed: Ball, expressions.Radius: none -> "Box.Length"; Ball, Radius: 5 -> 10': call(
        "connect", SocketLink("Box", "Length", "Ball", "Radius")
    ),
    'changed: Box, Label: "Box" -> "Crate"': call("rename", "Box", "Crate"),
    "created: New": call("create", "Part::Box", "New", None),
    'changed: @scene, Comment: "" -> "approved"': _note_comment,
}


@in_console
@pytest.mark.parametrize("now", ACCOUNTS)
def test_an_edit_is_told_as_the_document_has_it(operations: EveryPort, now: str) -> None:
    assert account_of(operations, ACCOUNTS[now]) == now


@in_console
def test_of_a_deletion_what_cannot_be_computed_any_more_is_told(operations: EveryPort) -> None:
    told_now = account_of(operations, _break_cut)

    assert told_now.startswith("deleted: Tool. changed: ")
    assert 'Cut, Tool: "Tool" -> none' in told_now
    assert ". broken: " in told_now
    assert "Cut" in told_now.rpartition(". broken: ")[2]


@in_console
def test_what_a_step_made_is_told_by_its_name_and_not_if_it_is_gone(operations: EveryPort) -> None:
    def make(_: EveryPort) -> None:
        ball = operations.create("Part::Sphere", "Globe", None)
        operations.rename(ball, "Kugel")
        cone = operations.create("Part::Cone", "Kegel", None)
        operations.delete([cone])

    assert account_of(operations, make) == "created: Globe"


@in_console
def test_of_many_edits_only_their_number_and_the_first_values_are_told(
    operations: EveryPort,
) -> None:
    made = [operations.create("Part::Box", f"B{number:03}", None) for number in range(300)]

    def grow(_: EveryPort) -> None:
        for item in made:
            operations.set_value(item, "Length", 20)

    assert account_of(operations, grow).startswith("changed: 300, such as B000, Length: 10 -> 20; ")


@in_console
def test_users_are_what_is_made_of_an_object_and_what_has_a_file(
    operations: EveryPort,
) -> None:
    box = FreeCAD.ActiveDocument.Ball
    box.addProperty("App::PropertyFile", "Source").Source = "/parts/ball.step"

    assert list(operations.users("Box")) == ["Cut"]
    assert list(operations.users("/parts/ball.step")) == ["Ball"]
    assert list(operations.files()) == [("Ball", "Source", "/parts/ball.step")]


@in_console
def test_values_have_their_type_and_the_expression_that_drives_them(
    operations: EveryPort,
) -> None:
    values = operations.look_into("Cylinder", "values")
    radius = values["Radius"]
    height = values["Height"]

    assert radius.type == "Length"
    assert height.value == 13
    assert height.held == "Height is driven by the expression <<The tool>>.Length + Sheet.wall"
    assert "Shape" not in values


@in_console
def test_inputs_are_expressions_and_what_an_object_is_made_of(operations: EveryPort) -> None:
    assert operations.look_into("Cylinder", "inputs") == [
        SocketLink("Tool", "Length", "Cylinder", "Height"),
        SocketLink("Sheet", "wall", "Cylinder", "Height"),
    ]
    assert operations.look_into("Cut", "inputs") == [
        SocketLink("Box", "Shape", "Cut", "Base"),
        SocketLink("Tool", "Shape", "Cut", "Tool"),
    ]
    assert operations.look_into("Cut", "uses") == ["Box", "Tool"]
    assert operations.look_into("Sheet", "text") == {"A1 (wall)": "=3mm"}
    assert operations.look_into("Box", "keys") is None


@in_console
def test_a_sketch_is_drawn_and_constrained_by_values(operations: EveryPort) -> None:
    """What is read can be written again; the sketch is solved before it is read."""
    curves = [
        {"line": [[0, 0], [10, 0]]},
        {"circle": [5, 5], "radius": 2},
        {"arc": [0, 0], "radius": 3, "from": 0, "to": 90},
        {"point": [1, 2]},
    ]
    constraints = [
        {"type": "Coincident", "of": [[0, 1], [-1, 1]]},
        {"type": "Horizontal", "of": [0]},
        {"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 20, "name": "length"},
        {"type": "Radius", "of": [1], "value": 4},
    ]

    with one_step(operations):
        sketch = operations.create("Sketcher::SketchObject", "Outline", "Body")
        operations.set_value(sketch, "Geometry", curves)
        operations.set_value(sketch, "Constraints", constraints)
        drawn = operations.value(sketch, "Geometry").value
        held = operations.value(sketch, "Constraints").value
        operations.set_value(sketch, "Geometry", drawn)
        again = operations.value(sketch, "Geometry").value

    assert drawn[0] == {"line": [[0, 0], [20, 0]]}
    assert drawn[1]["radius"] == 4
    assert drawn[2:] == curves[2:]
    assert held == constraints
    assert again == drawn


WRONG_PARTS: dict[str, tuple[str, Any]] = {
    "is no line, point, circle, arc, ellipse or spline": ("Geometry", [{"oval": 1}]),
    "give a list of curves": ("Geometry", 7),
    "constraint 0 is not like": ("Constraints", [{"type": "Radius", "of": [0, 0, 0, 0]}]),
    "constraint 0, 'Horizontal', is not like": ("Constraints", ["Horizontal"]),
}


@in_console
@pytest.mark.parametrize("words", WRONG_PARTS)
def test_a_curve_or_a_constraint_that_is_none_is_refused_with_an_example(
    operations: EveryPort, words: str
) -> None:
    sketch = operations.create("Sketcher::SketchObject", "Outline", None)
    prop, value = WRONG_PARTS[words]
    refused(operations, call("set_value", sketch, prop, value), words)


@in_console
def test_a_view_on_no_page_is_not_fitted_to_it(operations: EveryPort) -> None:
    """FreeCAD crashes as it fits one."""
    view = operations.create("TechDraw::DrawViewPart", None, None)
    refused(operations, call("set_value", view, "ScaleType", "Automatic"), "on no page")
    page = operations.create("TechDraw::DrawPage", None, None)

    operations.set_value(page, "Views", [view])

    assert operations.value(view, "ScaleType").held == ""


@in_console
def test_an_empty_cell_has_an_empty_text(operations: EveryPort) -> None:
    """What an agent sets is read before; FreeCAD has no property of a cell without content."""
    assert operations.value("Sheet", "C7").value == ""


@in_console
def test_counts_are_of_solids_and_of_meshes(operations: EveryPort) -> None:
    cut, mesh = (operations.look_into(it, "counts") for it in ("Cut", "Mesh"))

    assert (cut["faces"], cut["solids"], round(cut["volume"]), round(cut["area"])) == (
        *(6, 1, 500, 400),
    )
    assert mesh["faces"] == 12
    assert round(mesh["volume"]) == 1000
    assert mesh["closed"]
    assert operations.look_into("Group", "counts") == {"children": 1}


@in_console
def test_a_mesh_has_bounds_and_what_is_drawn_without_a_shape_has_none(
    operations: EveryPort,
) -> None:
    for item in ("Cylinder", "Group", "Part"):
        assert near(operations.bounds(item), ((98, 18, 0), (102, 22, 13)))
    assert near(operations.bounds("Mesh"), ((45, -5, -5), (55, 5, 5)))
    assert [operations.bounds(it) for it in ("Sheet", "XY_Plane")] == [None, None]


@in_console
def test_an_edit_is_computed_before_it_is_read(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Tool", "Length", 20)
        operations.place("Cylinder", at=(0, 0, 5))
        assert near(operations.bounds("Cylinder"), ((-2, -2, 5), (2, 2, 28)))


# ---- building


@in_console
@pytest.mark.parametrize(
    ("kind", "under"),
    [
        ("Part::Box", None),
        ("App::DocumentObjectGroup", None),
        ("Part::Sphere", "Group"),
        ("App::Part", "Part"),
        ("PartDesign::AdditiveSphere", "Body"),
        ("Spreadsheet::Sheet", None),
        ("Sketcher::SketchObject", "Body"),
        ("Mesh::Sphere", "Part"),
        ("TechDraw::DrawPage", None),
    ],
)
def test_a_type_is_created_at_its_place_in_the_tree(
    operations: EveryPort, kind: str, under: str | None
) -> None:
    with one_step(operations):
        made = operations.create(kind, "My thing", under)
        assert operations.kind(made) == kind
        assert operations.name(made) == "My thing"
        assert operations.parent(made) == under


@pytest.mark.parametrize("item", ["Box", "Cut", "Group", "Part", "Body", "Mesh"])
@pytest.mark.parametrize("linked", [True, False])
def test_a_copy_is_as_large_as_the_original_and_at_its_place(
    operations: EveryPort, item: str, linked: bool
) -> None:
    if linked and item in ("Group", "Mesh"):
        pytest.skip("told in another test")
    with one_step(operations):
        made = operations.duplicate(item, linked=linked)
        seen = (operations.kind(made), operations.bounds(made), operations.parent(made))

    kind = operations.kind(item)
    assert seen[0] == ("App::Link" if linked else kind)
    assert near(seen[1], operations.bounds(item))
    assert seen[2] == operations.parent(item)


def test_a_linked_copy_follows_its_original_and_can_be_scaled(operations: EveryPort) -> None:
    with one_step(operations):
        made = operations.duplicate("Ball", linked=True)
        operations.place(made, at=(0, 100, 0), scale=(2, 1, 1))
        operations.set_value("Ball", "Radius", 10)
        assert near(operations.bounds(made), ((-20, 90, -10), (20, 110, 10)))
        assert near(operations.placement(made).scale, (2, 1, 1))


def test_a_whole_copy_has_copies_of_what_it_is_made_of(operations: EveryPort) -> None:
    with one_step(operations):
        made = operations.duplicate("Cut", linked=False)
        operations.set_value("Box", "Height", 30)
        assert not {"Box", "Tool"} & set(operations.look_into(made, "uses"))
        assert near(operations.bounds(made), ((0, 0, 0), (5, 10, 10)))


@pytest.mark.parametrize(
    ("item", "under"),
    [
        ("Ball", "Part"),
        ("Cylinder", None),
        ("Ball", "Group"),
        ("Group", None),
        ("Cut", "Part"),
        ("Cylinder", "Part"),
        ("Body", "Group"),
    ],
)
def test_what_gets_another_parent_stays_where_it_is(
    operations: EveryPort, item: str, under: str | None
) -> None:
    before = operations.bounds(item)

    with one_step(operations):
        operations.set_parent(item, under, keep_place=True)
        assert operations.parent(item) == under
        assert near(operations.bounds(item), before)


@in_console
def test_a_label_is_changed_and_expressions_follow(operations: EveryPort) -> None:
    with one_step(operations):
        operations.rename("Tool", "Other")
        assert operations.name("Tool") == "Other"
        assert operations.look_into("Cylinder", "text") == {
            "Height": "<<Other>>.Length + Sheet.wall"
        }


@in_console
@pytest.mark.parametrize(
    ("names", "after"),
    [
        ({"Box": "Tool"}, {"Box": "Tool", "Tool": "The tool"}),
        ({"Tool": "Z1", "Box": "The tool"}, {"Tool": "Z1", "Box": "The tool"}),
        ({"Box": "The tool", "Tool": "Box"}, {"Tool": "Box", "Box": "The tool"}),
    ],
)
def test_a_label_is_free_whose_object_gives_it_up_whatever_the_objects_are_named(
    operations: EveryPort,
    monkeypatch: pytest.MonkeyPatch,
    names: dict[str, str],
    after: dict[str, str],
) -> None:
    monkeypatch.setattr(renaming, "cover", lambda items: None)
    verbs = renaming.RenamingVerbs(operations, Mock())

    with one_step(operations):
        verbs.rename(names)
        assert {it: operations.name(it) for it in after} == after


@in_console
def test_a_label_is_taken_where_another_object_keeps_it(operations: EveryPort) -> None:
    verbs = renaming.RenamingVerbs(operations, Mock())

    one = verbs.rename({"Box": "The tool", "Tool": "The tool"}, preview=True)
    two = verbs.rename({"Box": "Z", "Cut": "Z"}, preview=True)

    assert one["collisions"] == ["Box: The tool is taken."]
    assert two["collisions"] == ["Box: Z is wanted twice.", "Cut: Z is wanted twice."]
    assert two["pairs"] == [("Box", "Z"), ("Cut", "Z")]


@in_console
def test_a_renamed_object_is_told_by_the_name_that_it_keeps(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renaming, "cover", lambda items: None)
    verbs = renaming.RenamingVerbs(operations, Mock())

    with one_step(operations):
        told = verbs.rename({"Tool": "Base plate"})

    assert told["pairs"] == [("Tool", "Base plate")]
    assert "the item is called as the first" in told["note"]


# ---- values


@pytest.mark.parametrize(
    ("item", "prop", "value", "after"),
    [
        ("Box", "Length", 12, 12),
        ("Box", "Length", "12 cm", 120),
        ("Ball", "Placement.Base.y", 7, 7),
        ("Ball", "Placement.Rotation.Angle", 30, 30),
        ("Ball", "Visibility", False, False),
        ("Box", "MapMode", "FlatFace", "FlatFace"),
        ("Box", "Label2", "a note", "a note"),
        ("Box", "AttachmentOffset.Base", [1, 2, 3], [1, 2, 3]),
        ("Cut", "Tool", "Cylinder", "Cylinder"),
        ("Sheet", "A1", "=5 mm", 5),
        ("Sheet", "wall", "=5 mm", 5),
        ("Sheet", "B2", "text", "text"),
        ("Sheet", "Label", "Sizes", "Sizes"),
    ],
)
def test_a_value_is_set_read_back_and_undone(
    operations: EveryPort, item: str, prop: str, value: Any, after: Any
) -> None:
    with one_step(operations):
        operations.set_value(item, prop, value)
        seen = operations.value(item, prop).value

    assert near(seen, after) if isinstance(seen, float) else seen == after


@in_console
def test_what_an_expression_gave_stays_when_it_is_cut_off(operations: EveryPort) -> None:
    with one_step(operations):
        operations.cut(SocketLink("", "", "Cylinder", "Height"))
        assert operations.value("Cylinder", "Height") == Value(13, "Length")

    assert {"Width", "Placement.Base.x", "Shape"} <= set(operations.sockets("Tool")[1])


@in_console
def test_an_object_is_made_of_others_by_connections(operations: EveryPort) -> None:
    links = [
        SocketLink(source, "Shape", "Fuse", into)
        for source, into in (("Cylinder", "Base"), ("Ball", "Tool"))
    ]
    with one_step(operations):
        operations.create("Part::Fuse", "Fuse", None)
        for link in links:
            operations.connect(link)
        assert operations.look_into("Fuse", "inputs") == links
        assert operations.look_into("Fuse", "counts")["solids"] == 2


@in_console
def test_a_scripted_object_is_the_same_after_undo_redo_and_a_revert(operations: EveryPort) -> None:
    """FreeCAD sets one property after the other, and the script of a wire then moves its points."""
    draft = import_module("Draft")  # it brings no stubs

    points = [FreeCAD.Vector(0, 0, 50), FreeCAD.Vector(0, 40, 50), FreeCAD.Vector(30, 40, 50)]
    wire = draft.make_wire(points, placement=FreeCAD.Placement(), face=False)
    document = FreeCAD.ActiveDocument
    document.recompute()
    names = ("Start", "End", "Length", "Points", "Placement")

    def values() -> list[Any]:
        return [getattr(wire, name) for name in names]

    before = values()
    host = operations.host
    with host.undo_step("Move"):
        operations.place(wire.Name, at=(10.0, 20.0, 30.0))
    moved = values()
    host.undo()
    undone = values()
    host.redo()
    redone = values()
    host.undo()
    with host.undo_step("Try"):
        trial = host.trial()
        assert trial is not None
        operations.place(wire.Name, at=(10.0, 20.0, 30.0))
        trial.revert()
        reverted = values()

    assert moved != before
    assert (undone, redone, reverted) == (before, moved, before)


# ---- files and losses


@in_console
@pytest.mark.parametrize("suffix", [".step", ".obj"])
def test_what_is_exported_comes_in_again_where_it_was(
    operations: EveryPort, suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"out{suffix}"
    exported = operations.export_file(file, ["Part", "Cut", "Sheet"], None)

    with one_step(operations):
        new = operations.import_file(file, "copy", "Group", 1.0, None).items
        boxes: list[Any] = [operations.bounds(it) for it in new]
        parents = {operations.parent(it) for it in new}

    low = [min(box[0][axis] for box in boxes) for axis in range(3)]
    high = [max(box[1][axis] for box in boxes) for axis in range(3)]
    assert suffix in operations.import_formats()
    assert exported.items == ["Cylinder", "Cut"]
    assert f"Without a shape for a {suffix} file: Sheet." in exported.left_out
    assert parents == {"Group"}
    # in the group all turns as its part does: x is y, y is -x, and 100 further
    assert near(tuple(low), (100 - 22, 0, 0)) or suffix == ".obj"
    assert abs(low[0] - 78) < 0.2
    assert abs(high[1] - 102) < 0.2


@in_console
def test_a_person_reads_the_label_and_behind_it_the_name_of_the_object(
    operations: EveryPort,
) -> None:
    FreeCAD.ActiveDocument.Ball.Label = "Bohrung_Größe_ß"

    shown = operations.host.display_names(["Ball", "Box", "Gone"])

    assert shown == ["Bohrung_Größe_ß (Ball)", "Box", "Gone"]


def written(operations: EveryPort, file: Path, items: list[str]) -> tuple[int, list[str]]:
    """Export, and give how many solids are in the file and what was said of the rest."""
    exported = operations.export_file(file, items, None)
    solids = file.read_text(encoding="utf-8").count("MANIFOLD_SOLID_BREP(")
    assert solids == len(exported.items)
    return solids, exported.left_out


@in_console
def test_all_that_is_shown_is_exported_whatever_refers_to_it(
    operations: EveryPort, tmp_path: Path
) -> None:
    """An expression, a link, a drawing, an attachment and a mesh only refer to a shape."""
    document = FreeCAD.ActiveDocument
    document.Cylinder.setExpression("Radius", "Ball.Radius / 2")  # one of both is in a part
    link = document.addObject("App::Link", "Link")
    link.LinkedObject = document.Ball
    link.Placement.Base = FreeCAD.Vector(0, 90, 0)
    document.addObject("TechDraw::DrawViewPart", "View").Source = [document.Ball]
    fem = document.addObject("Fem::FemMeshShapeNetgenObject", "Fem")
    fem.Shape = document.Ball
    on = document.addObject("Part::Box", "On")
    on.Support = [(document.Cut, ["Face1"])]
    document.addObject("Part::Mirroring", "Mirror").Source = document.Ball
    document.recompute()

    solids, left_out = written(operations, tmp_path / "all.step", [])

    assert solids == 7  # Cut, Cylinder, Body, Ball, Link, On and Mirror
    assert left_out[0] == (
        "Not on their own, for what is in the file is made of them: Box, The tool (Tool), Step."
    )
    assert left_out[1] == "Without a shape for a .step file: Sheet, Mesh, View, Fem."


@in_console
def test_what_is_hidden_is_not_exported_with_all_and_is_named(
    operations: EveryPort, tmp_path: Path
) -> None:
    """Nor is what stands in a part that is hidden; what only a hidden one is made of is shown."""
    document = FreeCAD.ActiveDocument
    document.Ball.Label = "Bohrung_Größe_ß"
    for name in ("Ball", "Part", "Cut"):
        document.getObject(name).Visibility = False

    solids, left_out = written(operations, tmp_path / "all.step", [])

    assert solids == 3  # Box and Tool, and the Body
    assert left_out[0] == "Hidden: Cut, Cylinder, Bohrung_Größe_ß (Ball)."
    assert written(operations, tmp_path / "part.step", ["Part"])[0] == 1
    assert written(operations, tmp_path / "cut.step", ["Cut", "Ball"])[0] == 2


@in_console
def test_where_nothing_is_shown_nothing_is_written(operations: EveryPort, tmp_path: Path) -> None:
    for obj in FreeCAD.ActiveDocument.Objects:
        obj.Visibility = False

    with pytest.raises(ValueError, match=r"no shape that a \.step file can hold\. Hidden: Box,"):
        operations.export_file(tmp_path / "all.step", [], None)


@in_console
@pytest.mark.parametrize("suffix", [".brep", ".stl"])
def test_a_file_of_inches_with_y_up_is_brought_to_millimetres_and_z(
    operations: EveryPort, suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"out{suffix}"
    operations.export_file(file, ["Cut"], None)
    with one_step(operations):
        new = operations.import_file(file, "copy", None, 25.4, "Y").items
        assert near(operations.bounds(new[0]), ((0, -254, 0), (127, 0, 254)))


DRAWN = "0,SECTION,2,ENTITIES,0,LINE,8,0,10,0,20,0,30,0,11,40,21,3,31,0,0,ENDSEC,0,EOF,"


@in_console
def test_a_drawing_comes_in_as_lines_and_what_is_none_is_told(
    operations: EveryPort, tmp_path: Path
) -> None:
    file = tmp_path / "line.dxf"
    file.write_text(DRAWN.replace(",", "\n"))
    before = list(operations.items())
    with one_step(operations):
        (line,) = operations.import_file(file, "copy", None, 2.0, None).items
        assert near(operations.bounds(line), ((0, 0, 0), (80, 6, 0)))

    file.write_text("nothing")
    with pytest.raises(ValueError, match="there is no shape in it"):
        operations.import_file(file, "copy", None, 1.0, None)
    assert list(operations.items()) == before


def broken(path: str, document: str) -> None:
    """Stand in for an importer that breaks in the middle."""
    FreeCAD.getDocument(document).addObject("Part::Box", "Half")
    sys.stderr.write(f"cannot cope with {path}\n")
    raise AttributeError("'NoneType' object has no attribute 'x'")


def failing(path: str, document: str) -> None:
    """Stand in for an importer that says what is wrong, with an error of its own."""
    raise Exception("the file has no scene")


@in_console
@pytest.mark.parametrize(
    ("importer", "said"),
    [
        (None, "cannot be read: FreeCAD needs pycollada for that, and its Python has none."),
        (broken, r"cannot be read: FreeCAD's own script is broken, in line \d+ of \w+.py\.$"),
        (failing, r"cannot be read: the file has no scene\.$"),
    ],
)
def test_an_importer_that_is_missing_or_broken_is_told_in_a_sentence(
    operations: EveryPort,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    importer: Callable[[str, str], None] | None,
    said: str,
) -> None:
    """The step that it leaves half done is taken back."""
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    dae = import_module("importDAE")
    collada = None
    if importer is not None:
        collada = ModuleType("collada")
        monkeypatch.setattr(dae, "insert", importer)
    monkeypatch.setitem(sys.modules, "collada", collada)
    host = operations.host
    before = scene_digest(host)

    with host.undo_step("Import"):
        trial = host.trial()
        assert trial is not None
        with pytest.raises(ValueError, match=said):
            operations.import_file(tmp_path / "a.dae", "copy", None, 1.0, None)
        trial.revert()

    assert scene_digest(host) == before


@in_console
def test_a_save_that_fails_leaves_the_document_its_own_file(
    operations: EveryPort, tmp_path: Path
) -> None:
    """FreeCAD changes name and file before it writes, and reports an error as a dict."""
    document = FreeCAD.ActiveDocument
    (tmp_path / "file").touch()
    file = tmp_path / "file" / "other.FCStd"
    before = document.FileName, document.Label
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(operations), "save_files", lambda self, path: [path])
        for act in (operations.save, lambda path: operations.export_file(path, [], None)):
            with pytest.raises(ValueError, match=r"did not write .*other\.FCStd: [^{]+\.$"):
                act(file)

    assert (document.FileName, document.Label) == before


def test_a_document_comes_in_with_how_its_shapes_are_made(
    operations: EveryPort, tmp_path: Path
) -> None:
    file = tmp_path / "other.FCStd"
    operations.export_file(file, [], None)

    with one_step(operations):
        new = operations.import_file(file, "copy", None, 1.0, None).items
        assert operations.look_into("Cut001", "uses") == ["Box001", "Tool001"]

    assert len(new) == len(FreeCAD.ActiveDocument.Objects)


@in_console
@pytest.mark.parametrize("suffix", [".step", ".iges", ".brep", ".stl", ".obj", ".ply", ".FCStd"])
def test_a_file_that_is_broken_is_refused(
    operations: EveryPort, suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"bad{suffix}"
    file.write_text("hello")

    edit = methodcaller("import_file", file, "copy", None, 1.0, None)
    refused(operations, edit, "cannot be read", may_begin=True)


@in_console
def test_what_is_deleted_leaves_what_it_held(operations: EveryPort) -> None:
    left = operations.orphans(["Group"]), operations.orphans(["Group", "Cylinder"])
    assert left == (["Cylinder"], [])
    assert len(operations.below(["Part"])) == 1
    assert operations.below(["Box"]) == []
    with one_step(operations):
        operations.delete(["Part", "Box", "Body"])
        seen = (sorted(operations.items()), operations.parent("Group"))
    assert {"Cylinder", "Group", "Cut", "Step"} <= set(seen[0])
    assert not {"Part", "Origin", "X_Axis", "Box", "Body"} & set(seen[0])
    assert seen[1] is None


@in_console
def test_a_body_whose_last_step_is_deleted_ends_with_the_one_before(operations: EveryPort) -> None:
    body = FreeCAD.ActiveDocument.Body
    body.newObject("PartDesign::AdditiveCylinder", "Last")
    FreeCAD.ActiveDocument.recompute()

    with operations.host.undo_step("Delete"):
        operations.delete(["Last"])

    assert operations.host.lost(["Last"]) == []
    assert body.Tip.Name == "Step"
    assert not body.Shape.isNull()
    operations.host.undo()
    assert body.Tip.Name == "Last"


@in_console
def test_what_uses_an_object_breaks_and_what_only_holds_it_does_not(operations: EveryPort) -> None:
    """The cylinder's height asks for the tool; the group and the part only hold it."""
    document = FreeCAD.ActiveDocument
    link = document.addObject("App::Link", "Link")
    link.LinkedObject = document.Part
    whole = document.addObject("Part::Compound", "Whole")
    whole.Links = [document.Cut, document.Body]

    found = {
        it: operations.dependents([it]) for it in ("Tool", "Sheet", "Cylinder", "Step", "Ball")
    }

    assert found == {
        "Tool": ["Cut", "Cylinder", "Whole"],
        "Sheet": ["Cylinder"],
        "Cylinder": [],
        "Step": ["Body", "Whole"],
        "Ball": [],
    }
    assert operations.dependents(["Tool", "Cut", "Cylinder"]) == ["Whole"]
    assert operations.dependents(["Box"]) == ["Cut", "Whole"]
    assert operations.dependents(["Part"]) == ["Link"]


@in_console
def test_an_axis_goes_with_its_part_alone(operations: EveryPort) -> None:
    axis = FreeCAD.ActiveDocument.Part.Origin.OriginFeatures[0].Name

    operations.check_deletable(["Part", axis, "Box"])
    for item in (axis, FreeCAD.ActiveDocument.Part.Origin.Name):
        with pytest.raises(ValueError, match="delete Part instead"):
            operations.check_deletable(["Box", item])


@in_console
def test_a_wire_and_an_edge_are_followed_in_world_space(operations: EveryPort) -> None:
    document = FreeCAD.ActiveDocument
    for kind in ("Polygon", "Circle"):
        document.addObject(f"Part::{'RegularPolygon' if kind == 'Polygon' else kind}", kind)
    part = document.Part
    part.addObject(document.Circle)
    document.Circle.Radius = 3
    document.recompute()

    square = operations.path("Polygon")
    circle = operations.path("Circle")

    assert square[0] == square[-1]
    assert circle[0] == circle[-1]
    middle = part.Placement.Base
    assert {round(math.dist(point, tuple(middle)), 3) for point in circle} == {3.0}
    with pytest.raises(ValueError, match="Box is no curve: give along a list of points"):
        operations.path("Box")


@in_console
def test_types_are_called_as_people_call_them(operations: EveryPort) -> None:
    document = FreeCAD.ActiveDocument
    wall = document.addObject("Part::FeaturePython", "Wall")
    wall.Proxy = SimpleNamespace(Type="CurtainWall")
    kinds = "Sketcher::SketchObject", "PartDesign::Pad", "Part::FeaturePython", "Part::MultiFuse"
    made = [document.addObject(kind, kind.partition("::")[2]).Name for kind in kinds]

    told = [counted(operations, [it]) for it in ("Tool", "Sheet", "Group", "Body", "Wall", *made)]

    assert told == [
        *("1 box", "1 spreadsheet", "1 group", "1 body", "1 curtain wall"),
        *("1 sketch", "1 pad", "1 object", "1 fusion"),
    ]
    assert counted(operations, ["Tool", "Box"]) == "2 boxes"
    assert counted(operations, ["Tool", "Ball"]) == "2 objects"
    assert counted(operations, ["Body", "Body"]) == "2 bodies"


def test_junk_is_found_and_cleaned(operations: EveryPort) -> None:
    document = FreeCAD.ActiveDocument
    for name, card in (("Red", "1"), ("Also red", "1"), ("Blue", "2"), ("Loose", "3")):
        obj = document.addObject("App::MaterialObject", name)
        obj.Label = name
        obj.Material = {"Name": name, "DiffuseColor": card}
    ball = document.Ball.addProperty("App::PropertyLink", "Material")
    ball.Material = document.Also_red
    outer = document.addObject("App::DocumentObjectGroup", "Outer")
    outer.addObject(document.addObject("App::DocumentObjectGroup", "Inner"))
    document.addObject("App::Link", "Dead")
    document.recompute()
    document.clearUndos()
    assert operations.junk("unused") == ["Red", "Blue", "Loose"]
    assert sorted(operations.junk("empty_groups")) == ["Inner", "Outer"]
    assert operations.junk("duplicate_materials") == ["Also_red"]
    assert operations.junk("dead_links") == ["Dead"]
    with one_step(operations):
        operations.clean("duplicate_materials", ["Also_red"])
        operations.clean("empty_groups", ["Outer", "Inner"])
        assert operations.value("Ball", "Material").value == "Red"


@in_console
def test_what_refers_to_an_object_with_a_property_called_rotation_is_told(
    operations: EveryPort,
) -> None:
    """It is no placement: a view on a drawing page has an angle of that name."""
    document = FreeCAD.ActiveDocument
    page = document.addObject("TechDraw::DrawPage", "Page")
    page.Template = document.addObject("TechDraw::DrawSVGTemplate", "Template")
    view = document.addObject("TechDraw::DrawViewPart", "View")
    view.Source = [document.Box]
    page.addView(view)
    document.recompute()

    assert operations.look_into("Page", "values")["Views"].value == ["View"]
    assert "Rotation" in operations.look_into("View", "values")
    assert "Views" in operations.sockets("Page")[0]


@in_console
@pytest.mark.parametrize("kind", ["TechDraw::DrawViewDimExtent", "TechDraw::LandmarkDimension"])
def test_a_dimension_at_which_freecad_would_crash_is_not_deleted(
    operations: EveryPort, kind: str
) -> None:
    """One of nothing; nor the page that takes it along. With a view it goes."""
    document = FreeCAD.ActiveDocument
    page = document.addObject("TechDraw::DrawPage", "Page")
    page.Template = document.addObject("TechDraw::DrawSVGTemplate", "Template")
    view = document.addObject("TechDraw::DrawViewPart", "View")
    view.Source = [document.Box]
    page.addView(view)
    document.recompute()
    dimension = document.addObject(kind, "Dimension")
    page.addView(dimension)

    for item in ("Dimension", "Page"):
        with pytest.raises(ValueError, match="set References2D of Dimension to an edge of a view"):
            operations.check_deletable([item])
        refused(operations, call("delete", [item]), "FreeCAD would crash as it deletes Dimension")
    dimension.References2D = [(view, "Edge0")]
    document.recompute()
    with one_step(operations):
        operations.delete(["Dimension"])
        assert document.getObject("Dimension") is None


@in_console
def test_a_type_at_which_freecad_would_crash_is_not_offered(operations: EveryPort) -> None:
    """It computes a landmark on a page only if the landmark already has a view."""
    assert "TechDraw::LandmarkDimension" not in operations.types()


# ---- check and find_api


@in_console
def test_the_rules_find_what_cannot_be_computed_and_what_is_no_solid(
    operations: EveryPort,
) -> None:
    import Part

    document = FreeCAD.ActiveDocument
    names = {rule.name for rule in operations.rules()}
    broken = document.addObject("Part::Cut", "Broken")
    broken.Base = document.Box
    bad = document.addObject("Part::Feature", "Bad")
    faces = Part.makeBox(1, 1, 1).Faces[:5]
    bad.Shape = Part.Solid(Part.Shell(faces))
    document.recompute()
    everything = list(operations.items())

    failed = {
        rule: {item: why for item, why in operations.failures(rule, everything) if why}
        for rule in names
    }

    assert names == {"recomputes", "valid_shape", "not_empty"}
    assert list(failed["recomputes"]) == ["Broken"]
    assert "not" in failed["recomputes"]["Broken"]
    assert list(failed["not_empty"]) == ["Broken"]
    assert list(failed["valid_shape"]) == ["Bad"]


@in_console
def test_the_api_has_types_properties_and_functions_and_leaves_no_document(
    operations: EveryPort,
) -> None:
    before = list(FreeCAD.listDocuments())
    cards = {card.name: card for card in operations.api()}

    assert cards["Part::Box.Length"].text == "The length of the box"
    assert "App::PropertyLength" in cards["Part::Box.Length"].signature
    assert "FlatFace" in cards["Part::Box.MapMode"].signature
    assert cards["Part.makeBox"].text.startswith("makeBox(length,width,height")
    assert list(FreeCAD.listDocuments()) == before


# ---- in a window


@in_window
def test_a_material_gives_colours_and_can_be_changed_for_all_that_have_it(
    operations: EveryPort,
) -> None:
    def shown(operations: EveryPort) -> Any:
        looks = [FreeCAD.ActiveDocument.getObject(it).ViewObject for it in ("Ball", "Box")]
        return [(look.ShapeColor[:3], look.Transparency) for look in looks]

    before = shown(operations)
    with one_step(operations):
        operations.material("Glass", {"base_color": [1, 0, 0.5], "opacity": 0.25})
        for it in ("Ball", "Box"):
            operations.assign(it, "Glass")
        operations.material("Glass", {"base_color": [0, 1, 0], "roughness": 0.2})
        assert shown(operations) == [((0.0, 1.0, 0.0), 75)] * 2

    assert shown(operations) == before
    refused(
        operations,
        call("material", "M", {"texture": "/x.png"}),
        "draws no texture",
    )
    material = operations.material("M", {})
    refused(operations, call("assign", "Sheet", material), "has no surface")


@in_window
@pytest.mark.parametrize(
    ("prop", "value"), [("Transparency", 40), ("LineWidth", 4), ("DisplayMode", "Wireframe")]
)
def test_how_an_object_is_drawn_is_set_and_undone(
    operations: EveryPort, prop: str, value: Any
) -> None:
    with one_step(operations):
        operations.set_value("Ball", f"ViewObject.{prop}", value)
        assert operations.value("Ball", f"ViewObject.{prop}").value == value

    refused(
        operations,
        call("set_value", "Ball", "ViewObject.Color", 1),
        "names like it: LineColor",
        LookupError,
    )


@in_window
def test_pictures_are_of_what_the_person_sees_or_from_anywhere(operations: EveryPort) -> None:
    """They are looked at by who started this."""
    import FreeCADGui

    view = FreeCADGui.ActiveDocument.ActiveView
    view.viewIsometric()
    FreeCADGui.SendMsgToActiveView("ViewFit")
    person = operations.viewpoint("person")
    eyes = [(250.0, -250.0, 150.0), (-250.0, 250.0, 150.0)]
    shots = [Shot(eye, (25.0, 0.0, 5.0), (0.0, 0.0, 1.0), angle=35.0) for eye in eyes]
    flat = Shot((25.0, -300.0, 5.0), (25.0, 0.0, 5.0), (0.0, 0.0, 1.0), height=150.0)

    pictures = {
        "person": operations.draw([person], 400, 300, "material"),
        "sheet": operations.draw([*shots, flat, person], 400, 300, "solid"),
        "wire": operations.draw([shots[0]], 400, 300, "wire"),
    }

    for name, picture in pictures.items():
        Path(os.environ["SEEN_IN"], f"{name}.jpg").write_bytes(picture)
    assert pictures["wire"] != operations.draw([shots[0]], 400, 300, "solid")


def run() -> int:
    """Run the promises; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
