"""The table of the kinds of loss, in FreeCAD: run by its own Python, in and without a window.

`tests/freecad/test_losses.py` starts it there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import FreeCAD
import Mesh
import Part
import Points
import pytest
import Sketcher

from dcc_bridge.errors import NotUndoable
from dcc_bridge_freecad.host import FreeCADHost
from tests.hosts.digests import scene_digest
from tests.hosts.losses_contract import Kind, Losing, TrialsContract, tried

_NO_ANIMATION = "FreeCAD animates nothing"
_NO_NODES = "FreeCAD has no graph of nodes: what is made of what are links"
_NO_LAYERS = "a document has no layers"
_AT = FreeCAD.Vector(1, 2, 3)
_TURN = FreeCAD.Rotation(10, 20, 30)
HAS_NOT = {
    "out_of_every_scene": "what is in a document is in its scene",
    "group_out_of_scene": "what is in a document is in its scene",
    "undefined": _NO_LAYERS,
    "abstract": "there are no classes or prototypes",
    "type": "an object's type cannot be changed",
    "scene": "a document has one; that another document is closed, `losing` is told",
    "geometry_data": "a shape is in its object",
    "action": _NO_ANIMATION,
    "world": "there is none",
    "camera": "it is of the view",
    "light": "it is of the view",
    "node_group": _NO_NODES,
    "node": _NO_NODES,
    "driver": "it is an expression",
    "animation": _NO_ANIMATION,
    "keys": _NO_ANIMATION,
    "one_key": _NO_ANIMATION,
    "vertex_group": "there are none",
    "shape_key": "there are none",
    "marker": _NO_ANIMATION,
    "value": "a property has no default to go back to; see custom_property and text_content",
    "relationship": "it is a link",
    "payload": _NO_LAYERS,
    "variant": "there are none",
    "layer": _NO_LAYERS,
    "layer_content": _NO_LAYERS,
    "scene_metadata": "undo does not hold it; a revert does, as another test sees",
    "unused": "there is no purge of its own",
}


@pytest.fixture
def losing(tmp_path: Path) -> Iterator[Losing]:
    """A document that has what the rows take away."""
    document = FreeCAD.newDocument("Scene", hidden=True)
    document.UndoMode = 1
    add = document.addObject
    box = add("Part::Box", "Box")
    other = add("Part::Box", "Other")
    other.Label = "The other"
    sheet = add("Spreadsheet::Sheet", "Sheet")
    sheet.set("A1", "10")
    sheet.setAlias("A1", "len")
    sheet.set("B2", "noted")
    document.recompute()
    box.setExpression("Length", "Sheet.len * 2")
    box.addProperty("App::PropertyFloat", "Weight").Weight = 3.0
    cut = add("Part::Cut", "Cut")
    cut.Base, cut.Tool = add("Part::Cylinder", "Cylinder"), add("Part::Sphere", "Tool")
    add("App::DocumentObjectGroup", "Group").addObject(add("Part::Cone", "Cone"))
    add("App::DocumentObjectGroup", "Second")
    add("App::Link", "Link").LinkedObject = other
    sketch = add("Sketcher::SketchObject", "Sketch")
    sketch.Support = (box, ["Face6"])
    sketch.MapMode = "FlatFace"
    corners = [FreeCAD.Vector(*at) for at in ((0, 0, 0), (5, 1, 0), (5, 6, 0))]
    sketch.addGeometry([Part.LineSegment(*corners[:2]), Part.LineSegment(*corners[1:])])
    sketch.addConstraint(Sketcher.Constraint("Horizontal", 0))
    sketch.addConstraint(Sketcher.Constraint("Distance", 1, 5.0))
    body = add("PartDesign::Body", "Body")
    body.newObject("PartDesign::AdditiveBox", "Step")
    body.newObject("PartDesign::AdditiveCylinder", "Top").Height = 30
    add("Part::Feature", "Solid").Shape = Part.makeBox(1, 1, 1)
    add("App::TextDocument", "Note").Text = "Noted"
    add("Image::ImagePlane", "Image")
    steel = add("App::MaterialObject", "Steel")
    steel.Material = {"Name": "Steel", "Density": "7900"}
    other.addProperty("App::PropertyLink", "Material").Material = steel
    document.recompute()
    document.saveAs(str(tmp_path / "scene.FCStd"))
    document.clearUndos()
    host = FreeCADHost()
    scene_digest(host)  # the first one makes FreeCAD note that it was asked

    def edit() -> None:
        box.Width = box.Width.Value + 1
        document.recompute()

    yield Losing(host, edit)
    FreeCAD.closeDocument(document.Name)


class Wall:
    """What makes an object of Python's do something."""

    def execute(self, obj: Any) -> None:
        """Compute nothing."""

    def __getstate__(self) -> None:
        """Have nothing saved."""


def screws(count: int) -> Any:
    """Return the shape of some solids side by side."""
    places = [FreeCAD.Vector(3 * number, 0, 0) for number in range(count)]
    return Part.makeCompound([Part.makeBox(1, 1, 1, place) for place in places])


def doing(edit: Callable[[Any], object]) -> Callable[[], object]:
    """Make an edit of the document that is active."""
    return lambda: edit(FreeCAD.ActiveDocument)


def row(edit: Callable[[Any], object], *lost: str, broken: tuple[str, ...] = ()) -> Kind:
    return Kind(doing(edit), *lost, broken=broken)


def remove(*names: str) -> Callable[[Any], object]:
    return lambda document: [document.removeObject(name) for name in names]


def _made_again(document: Any) -> None:
    document.removeObject("Cylinder")
    document.addObject("Part::Cylinder", "Cylinder")


def _name_taken(document: Any) -> None:
    document.removeObject("Other")
    document.Cone.Label = "The other"


def _swapped(document: Any) -> None:
    document.Box.Label = "Spare"
    document.Tool.Label = "Box"
    document.Box.Label = "Tool"


def _made_and_deleted(document: Any) -> None:
    made = document.addObject("Part::Box", "Scratch")
    made.addProperty("App::PropertyFloat", "Weight")
    document.removeObject("Scratch")


def _moved_in_tree(document: Any) -> None:
    document.Group.removeObject(document.Cone)
    document.Second.addObject(document.Cone)


def _selected(_: Any) -> None:
    if FreeCAD.GuiUp:
        FreeCAD.Gui.Selection.addSelection("Scene", "Box", "Face1")


KINDS = {
    "nothing": row(lambda document: None),
    "deleted": row(remove("Solid"), "Solid"),
    "parent_deleted": row(remove("Group", "Cone"), "Group", "Cone"),
    "made_again": row(_made_again, "Cylinder", broken=("Cut",)),
    "name_taken": row(_name_taken, "Other", broken=("Link",)),
    "group": row(remove("Group"), "Group"),
    "group_member": row(lambda it: it.Group.removeObject(it.Cone), "member Cone of Group"),
    "inactive": row(lambda it: setattr(it.Body, "Tip", it.Step), "shape from Top of Body"),
    "material": row(remove("Steel"), "Steel"),
    "material_slot": row(
        lambda it: setattr(it.Other, "Material", None),
        "link Material to Steel of The other (Other)",
    ),
    "geometry": row(lambda it: setattr(it.Solid, "Shape", Part.Shape()), "shape of Solid"),
    "image": row(remove("Image"), "Image"),
    "text": row(remove("Note"), "Note"),
    "text_content": row(lambda it: setattr(it.Note, "Text", ""), "text of Note"),
    "link": row(
        lambda it: setattr(it.Cut, "Tool", None), "link Tool to Tool of Cut", broken=("Cut",)
    ),
    "modifier": row(remove("Top"), "Top", "shape from Step of Body"),  # it has no tip any more
    "constraint": row(
        lambda it: setattr(it.Sketch, "Support", None), "link Support to Box.Face6 of Sketch"
    ),
    "expression": row(lambda it: it.Box.setExpression("Length", None), "expression Length of Box"),
    "custom_property": row(lambda it: it.Box.removeProperty("Weight"), "property Weight of Box"),
    "sketch_geometry": row(
        lambda it: it.Sketch.delGeometry(0), "line 1 of Sketch", "constraint Horizontal of Sketch"
    ),
    "sketch_constraint": row(
        lambda it: it.Sketch.delConstraint(1), "constraint Distance of Sketch"
    ),
    "cell": row(lambda it: it.Sheet.clear("A1"), "cell A1 of Sheet", broken=("Box",)),
    "attribute": row(
        lambda it: setattr(it.Steel, "Material", {"Name": "Steel"}), "Material Density of Steel"
    ),
    "reference": row(
        lambda it: setattr(it.Link, "LinkedObject", None),
        "link LinkedObject to The other (Other) of Link",
        broken=("Link",),
    ),
    # No loss:
    "made": row(lambda it: it.addObject("Part::Box", "Made")),
    "made_and_deleted": row(_made_and_deleted),
    "renamed": row(lambda it: setattr(it.Box, "Label", "Crate")),
    "names_swapped": row(_swapped),
    "parent_changed": row(_moved_in_tree),
    "moved": row(lambda it: setattr(it.Tool, "Placement", FreeCAD.Placement(_AT, _TURN))),
    "value_set": row(lambda it: setattr(it.Tool, "Radius", 7)),
    "hidden": row(lambda it: setattr(it.Tool, "Visibility", False)),
    "muted": row(lambda it: it.Sketch.toggleActive(1)),
    "selected": row(_selected),
}


def _add_contents(document: Any) -> None:
    """Add objects whose contents nothing computes."""
    add = document.addObject
    shapes = {
        "Import": Part.makeBox(1, 2, 3),
        "Fused": Part.makeBox(9, 9, 9).fuse(Part.makeSphere(9)),
        "Ring": Part.makeCircle(5),
    }
    for name, shape in shapes.items():
        add("Part::Feature", name).Shape = shape
    add("Mesh::Feature", "Facets").Mesh = Mesh.createSphere(5, 10)
    add("Points::Feature", "Cloud").Points = Points.Points([_AT, _AT * 2, _AT * 3])
    add("App::Annotation", "Hint").LabelText = ["Mind", "the gap"]
    wire = add("App::FeaturePython", "Wire")
    wire.addProperty("App::PropertyVectorList", "Points").Points = [_AT, _AT * 2, _AT * 3]
    wire.addProperty("App::PropertyStringList", "Tags").Tags = ["load", "steel"]
    wire.addProperty("App::PropertyString", "Notes").Notes = "long"
    wire.addProperty("App::PropertyFloat", "Empty")
    document.addObject("Part::Fillet", "Round").Base = document.Solid
    document.Round.Edges = [(1, 0.1, 0.1), (2, 0.1, 0.1)]
    document.recompute()
    document.clearUndos()


def _shape(name: str, make: Callable[[Any], Any]) -> Callable[[Any], object]:
    """Set the shape of an object to what is made of the old one."""
    return lambda document: setattr(
        document.getObject(name), "Shape", make(document.getObject(name).Shape)
    )


def _mesh(make: Callable[[Any], object]) -> Callable[[Any], object]:
    """Set the mesh to a copy that was worked on."""

    def edit(document: Any) -> None:
        copy = document.Facets.Mesh.copy()
        made = make(copy)
        document.Facets.Mesh = made or copy

    return edit


def _points(points: list[Any]) -> Callable[[Any], object]:
    return lambda document: setattr(document.Cloud, "Points", Points.Points(points))


def _made_property_again(
    kind: str, value: object = None, name: str = "Notes"
) -> Callable[[Any], object]:
    def edit(document: Any) -> None:
        document.Wire.removeProperty(name)
        document.Wire.addProperty(f"App::Property{kind}", name)
        if value is not None:
            setattr(document.Wire, name, value)

    return edit


def _set(name: str, prop: str, value: object) -> Callable[[Any], object]:
    return lambda document: setattr(document.getObject(name), prop, value)


def _draw_anew(document: Any) -> None:
    corners = [FreeCAD.Vector(*at) for at in ((7, 0, 0), (9, 1, 0), (9, 6, 0))]
    document.Sketch.Geometry = [
        Part.LineSegment(*corners[:2]),
        Part.LineSegment(*corners[1:]),
    ]


def _constrain_anew(document: Any) -> None:
    document.Sketch.Constraints = [
        Sketcher.Constraint("Vertical", 0),
        Sketcher.Constraint("Distance", 0, 5.0),
    ]


def _write_cells_anew(document: Any) -> None:
    document.Sheet.clear("A1")
    document.Sheet.clear("B2")
    document.Sheet.set("A1", "10")
    document.Sheet.set("C3", "else")


CONTENT_KINDS: dict[str, tuple[Any, ...]] = {
    "shape_replaced": (_shape("Import", lambda _: Part.makeSphere(1)), "old shape of Import"),
    "shape_replaced_by_a_tiny_one": (
        _shape("Import", lambda _: Part.makeBox(0.001, 0.001, 0.001)),
        "old shape of Import",
    ),
    "shape_of_as_many_solids": (
        _shape("Fused", lambda _: Part.makeBox(1, 1, 1)),
        "old shape of Fused",
    ),
    "curve_replaced": (
        _shape("Ring", lambda _: Part.makeLine((0, 0, 0), (1, 1, 1))),
        "old shape of Ring",
    ),
    "facets": (_mesh(lambda it: it.removeFacets([0, 1, 2])), "3 of 180 facets of Facets"),
    "mesh_replaced": (_mesh(lambda _: Mesh.createSphere(7, 20)), "old mesh of Facets"),
    "mesh_emptied": (_mesh(lambda it: it.clear()), "mesh of Facets"),
    "points": (_points([_AT]), "2 of 3 points of Cloud"),
    "points_replaced": (_points([_AT * at for at in (5, 6, 7, 8)]), "old points of Cloud"),
    "points_emptied": (_points([]), "points of Cloud"),
    "property_made_again": (_made_property_again("String"), "property Notes of Wire"),
    "property_made_again_with_another_type": (
        _made_property_again("Integer"),
        "property Notes of Wire",
    ),
    "list_made_again": (
        _made_property_again("VectorList", [_AT], "Points"),
        "2 of 3 Points of Wire",
    ),
    "list_cut_short": (_set("Wire", "Points", [_AT]), "2 of 3 Points of Wire"),
    "texts_of_a_list": (_set("Wire", "Tags", ["load", " "]), "1 of 2 Tags of Wire"),
    "edges": (_set("Round", "Edges", [(1, 0.1, 0.1)]), "1 of 2 Edges of Round"),
    "annotation": (_set("Hint", "LabelText", []), "text of Hint"),
    "annotation_of_blanks": (_set("Hint", "LabelText", ["", " "]), "text of Hint"),
    "text_of_blanks": (_set("Note", "Text", "  "), "text of Note"),
    "label": (_set("Sheet", "Label", ""), "label of Sheet"),
    "entry_of_a_map": (
        _set("Steel", "Material", {"Name": "Steel", "Density": ""}),
        "Material Density of Steel",
    ),
    "sketch_drawn_anew": (
        _draw_anew,
        "line 1 of Sketch",
        "line 2 of Sketch",
        "constraint Horizontal of Sketch",
        "constraint Distance of Sketch",
    ),
    "sketch_constrained_anew": (
        _constrain_anew,
        "constraint Horizontal of Sketch",
        "constraint Distance of Sketch",
    ),
    "cells_written_anew": (_write_cells_anew, "alias len of Sheet", "cell B2 of Sheet"),
    "expression_of_another": (
        lambda it: [it.Box.setExpression("Length", None), it.Box.setExpression("Width", "3 + 4")],
        "expression Length of Box",
    ),
}
NO_CONTENT_LOST: dict[str, Callable[[Any], object]] = {
    "shape_moved": _shape("Import", lambda it: it.translated(_AT)),
    "shape_scaled": _shape("Import", lambda it: it.scaled(3)),
    "shape_copied_and_mirrored": _shape("Import", lambda it: it.copy().mirror(_AT, _AT)),
    "shape_cut": _shape("Import", lambda it: it.cut(Part.makeBox(9, 9, 1))),
    "shape_fused": _shape("Import", lambda it: it.fuse(Part.makeSphere(1))),
    "shape_rounded": _shape("Import", lambda it: it.makeFillet(0.1, it.Edges)),
    "mesh_moved": _mesh(lambda it: it.translate(1, 2, 3)),
    "mesh_refined": _mesh(lambda it: it.refine()),
    "mesh_joined": _mesh(lambda it: it.addMesh(Mesh.createBox(1, 1, 1))),
    "points_of_as_many": _points([_AT * 5, _AT * 6, _AT * 7]),
    "points_added": _points([_AT, _AT * 2, _AT * 3, _AT * 4]),
    "property_made_again_with_its_value": _made_property_again("Path", "long"),
    "property_made_again_with_a_value": _made_property_again("String", "short"),
    "empty_property_made_again": _made_property_again("Float", 0.0, "Empty"),
    "list_of_as_many": _set("Wire", "Points", [_AT] * 3),
    "text_shortened": _set("Hint", "LabelText", ["Mind"]),
    "renamed": _set("Wire", "Label", "Cable"),
}


class TestLossesOfFreeCAD(TrialsContract):
    """Every row, and what only FreeCAD has."""

    KINDS: ClassVar = KINDS
    HAS_NOT: ClassVar = HAS_NOT

    @pytest.mark.parametrize(
        "edit",
        [
            lambda it: it.Sheet.insertRows("1", 2),
            lambda it: it.Sheet.setAlias("B2", "other"),
            lambda it: it.Sheet.set("A1", "11"),
            lambda it: it.Box.setExpression("Length", "Sheet.len * 3"),
            lambda it: setattr(it.Cut, "Tool", it.Cone),
            lambda it: setattr(it.Note, "Text", "Else"),
            lambda it: it.Sketch.movePoint(1, 2, FreeCAD.Vector(9, 9, 0), False),
            lambda it: it.Sketch.setDatum(1, FreeCAD.Units.Quantity("7 mm")),
            lambda it: it.Sketch.renameConstraint(1, "width"),
            lambda it: setattr(it.Sketch, "MapMode", "ObjectXY"),
            lambda it: it.Body.newObject("PartDesign::AdditiveBox", "Last"),
            lambda it: it.Sheet.setStyle("B2", "italic"),
            lambda it: it.Sheet.setDisplayUnit("A1", "cm"),
        ],
    )
    def test_what_is_moved_renamed_or_replaced_is_no_loss(
        self, losing: Losing, edit: Callable[[Any], object]
    ) -> None:
        before = scene_digest(losing.host)

        with losing.host.undo_step("Ours"):
            doing(edit)()
        lost = losing.host.lost([])
        after = scene_digest(losing.host)
        losing.host.undo()

        assert lost == []
        assert after != before
        assert scene_digest(losing.host) == before

    @pytest.mark.parametrize(
        ("edit", "lost"),
        [
            (lambda it: it.Sheet.setAlias("A1", None), "alias len of Sheet"),
            (lambda it: it.Sheet.removeColumns("B", 1), "cell B2 of Sheet"),
            (lambda it: it.Sheet.mergeCells("A1:B2"), "cell B2 of Sheet"),
            (lambda it: it.Sketch.delExternal(1), "link ExternalGeometry to Box.Edge7 of Sketch"),
            (lambda it: setattr(it.Round, "Edges", []), "Edges of Round"),
            (lambda it: setattr(it.Wall, "Proxy", None), "Proxy of Wall"),
            (lambda it: setattr(it.Wall, "Points", []), "Points of Wall"),
            (lambda it: setattr(it.Wall, "Label2", ""), "description of Wall"),
            (lambda it: setattr(it.Whole, "Links", [it.Tool]), "link Links to Cone of Whole"),
            (lambda it: it.Bodies.setLink([it.Tool]), "member Cone of Bodies"),
            (lambda it: setattr(it.Facets, "Mesh", Mesh.Mesh()), "mesh of Facets"),
            (lambda it: setattr(it.Sketch, "MapMode", "Deactivated"), "attachment of Sketch"),
            (lambda it: it.Body.removeObject(it.Top), "member Top of Body"),
            (lambda it: setattr(it.Screws, "Shape", screws(1)), "2 of 3 solids of Screws"),
            (lambda it: setattr(it.Screws, "Shape", Part.Shape()), "shape of Screws"),
            (lambda it: setattr(it.Screws, "Shape", Part.makeCircle(1)), "3 of 3 solids of Screws"),
            (lambda it: setattr(it.Solid, "Shape", Part.makeCircle(1)), "solid of Solid"),
        ],
    )
    def test_what_else_somebody_would_miss_is_named(
        self, losing: Losing, edit: Callable[[Any], object], lost: str
    ) -> None:
        document = FreeCAD.ActiveDocument
        host = losing.host
        wall = document.addObject("Part::FeaturePython", "Wall")
        wall.addProperty("App::PropertyVectorList", "Points").Points = [FreeCAD.Vector(1, 2, 3)]
        wall.Label2, wall.Proxy = "Load-bearing", Wall()
        document.addObject("Part::Compound", "Whole").Links = [document.Cone, document.Tool]
        document.addObject("App::LinkGroup", "Bodies").setLink([document.Cone, document.Tool])
        document.addObject("Mesh::Feature", "Facets").Mesh = Mesh.createBox(1, 1, 1)
        document.addObject("Part::Feature", "Screws").Shape = screws(3)
        document.Group.removeObject(document.Cone)
        rounded = document.addObject("Part::Fillet", "Round")
        rounded.Base = document.Solid
        rounded.Edges = [(1, 0.1, 0.1)]
        for edge in ("Edge6", "Edge7"):
            document.Sketch.addExternal("Box", edge)
        document.recompute()
        before = scene_digest(host)

        with host.undo_step("Ours"):
            edit(document)
            document.recompute()
        told = host.lost([])
        host.undo()

        assert told == [lost]
        assert scene_digest(host) == before

    @pytest.mark.parametrize("content", CONTENT_KINDS)
    def test_content_without_a_recipe_is_named_and_comes_back(
        self, losing: Losing, content: str
    ) -> None:
        edit, *lost = CONTENT_KINDS[content]
        document = FreeCAD.ActiveDocument
        host = losing.host
        _add_contents(document)
        before = scene_digest(host)

        with tried(host, "Tried") as trial:
            edit(document)
            listed = host.lost([])
            left = trial.revert()
            reverted = host.lost([])
        with host.undo_step("Ours"):
            edit(document)
            document.recompute()
        told = host.lost([])
        agreed = host.lost(listed)
        host.undo()

        assert listed == lost
        assert told == lost
        assert (left, reverted, agreed) == ([], [], [])
        assert scene_digest(host) == before

    @pytest.mark.parametrize("content", NO_CONTENT_LOST)
    def test_content_that_was_worked_on_is_no_loss(self, losing: Losing, content: str) -> None:
        document = FreeCAD.ActiveDocument
        host = losing.host
        _add_contents(document)
        before = scene_digest(host)

        with host.undo_step("Ours"):
            NO_CONTENT_LOST[content](document)
            document.recompute()
        lost = host.lost([])
        mark = host.undo_mark()
        host.undo()

        assert lost == []
        assert mark.label == "Ours"
        assert scene_digest(host) == before

    def test_content_of_cells_that_are_all_cleared_and_written_anew_is_named(
        self, losing: Losing
    ) -> None:
        """No undo brings back what `clearAll` took."""
        sheet = FreeCAD.ActiveDocument.Sheet

        with losing.host.undo_step("Ours"):
            sheet.clearAll()
            sheet.set("A1", "11")
            sheet.set("B2", "noted")
            FreeCAD.ActiveDocument.recompute()

        assert losing.host.lost([]) == ["cell A1 of Sheet"]

    def test_parts_of_what_was_agreed_to_may_go(self, losing: Losing) -> None:
        document = FreeCAD.ActiveDocument

        with losing.host.undo_step("Ours"):
            document.Sheet.clear("A1")
            document.Box.removeProperty("Weight")
            document.Group.removeObject(document.Cone)

        assert losing.host.lost(["Sheet"]) == ["property Weight of Box", "member Cone of Group"]
        assert losing.host.lost(["Sheet", "Box", "Cone"]) == []
        assert losing.host.lost(["Sheet", "Box", "Group"]) == []

    def test_a_revert_closes_new_documents_and_puts_back_what_no_undo_holds(
        self, losing: Losing
    ) -> None:
        host = losing.host
        document = FreeCAD.ActiveDocument
        document.Comment = "Approved"
        host.select(["Box"])
        before = scene_digest(host)

        with tried(host, "Tried") as trial:
            document.Comment = ""
            document.Label = "Renamed"
            host.select(["Tool"])
            FreeCAD.newDocument("Second", hidden=True).addObject("Part::Box", "Far")
            lost = host.lost([])
            was_edited = trial.is_edited()
            left = trial.revert()

        assert lost == ["Comment of scene"]
        assert was_edited
        assert left == []
        assert document.Comment == "Approved"
        assert document.Label == "scene"
        assert host.selection == ["Box"]
        assert FreeCAD.ActiveDocument.Name == "Scene"
        assert list(FreeCAD.listDocuments()) == ["Scene"]
        assert scene_digest(host) == before

    @pytest.mark.skipif(not FreeCAD.GuiUp, reason="there is no window")
    def test_a_revert_selects_the_faces_again(self, losing: Losing) -> None:
        """What is deleted is not selected any more, and comes back without."""
        gui = FreeCAD.Gui
        document = FreeCAD.ActiveDocument
        gui.Selection.addSelection("Scene", "Tool", "Face1")
        gui.Selection.addSelection("Scene", "Box")

        with tried(losing.host, "Tried") as trial:
            document.removeObject("Tool")
            meanwhile = losing.host.selection
            trial.revert()

        selected = [(it.ObjectName, it.SubElementNames) for it in gui.Selection.getSelectionEx()]
        assert meanwhile == ["Box"]
        assert selected == [("Tool", ("Face1",)), ("Box", ())]

    def test_after_a_revert_all_is_computed_and_what_the_person_left_touched_stays_so(
        self, losing: Losing
    ) -> None:
        document = FreeCAD.ActiveDocument
        document.openTransaction("Theirs")
        document.Cone.Height = 33
        document.commitTransaction()
        states = {obj.Name: obj.State for obj in document.Objects}

        with tried(losing.host, "Tried") as trial:
            for name in ("Sheet", "Tool", "Step"):
                document.removeObject(name)
            broken = trial.broken()
            trial.revert()

        assert broken == ["Box", "Cut"]
        assert {obj.Name: obj.State for obj in document.Objects} == states
        assert "Touched" in states["Cone"]

    def test_what_was_made_before_a_revert_is_not_taken_for_what_has_its_name(
        self, losing: Losing
    ) -> None:
        document = FreeCAD.ActiveDocument

        with tried(losing.host, "Tried") as trial:
            document.removeObject("Cut")
            document.addObject("Part::Cut", "Cut")
            trial.revert()
            document.removeObject("Tool")
            broken = trial.broken()

        assert broken == ["Cut"]
        assert losing.host.lost([]) == ["Tool"]

    def test_a_document_that_was_closed_does_not_come_back(self, losing: Losing) -> None:
        FreeCAD.newDocument("Second", hidden=True)
        FreeCAD.setActiveDocument("Scene")

        with tried(losing.host, "Tried") as trial:
            losing.edit()
            FreeCAD.closeDocument("Second")
            with pytest.raises(NotUndoable, match="Second was closed"):
                trial.revert()

        assert FreeCAD.ActiveDocument.Box.Width.Value == 10

    def test_what_freecad_itself_does_not_bring_back_is_named(self, losing: Losing) -> None:
        with tried(losing.host, "Tried") as trial:
            FreeCAD.ActiveDocument.Sheet.clearAll()
            lost = losing.host.lost([])
            with pytest.raises(NotUndoable, match="cell A1 of Sheet"):
                trial.revert()

        assert sorted(lost) == ["cell A1 of Sheet", "cell B2 of Sheet"]

    @pytest.mark.skipif(FreeCAD.GuiUp, reason="it opens a view, which crashes without a screen")
    def test_a_document_that_was_read_again_is_left_open(self, losing: Losing) -> None:
        """What was not saved of it is gone, which no undo brings back."""
        with tried(losing.host, "Tried") as trial:
            FreeCAD.ActiveDocument.restore()
            with pytest.raises(NotUndoable):
                trial.revert()

        assert list(FreeCAD.listDocuments()) == ["Scene"]


def run() -> int:
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
