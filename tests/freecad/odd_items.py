"""FreeCAD's verbs over odd items, run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import FreeCAD
import Part
import pytest

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations as freecad_operations
from tests.verbs import odd
from tests.verbs.odd import Odd


def _page(doc: Any) -> Odd:
    """A drawing, whose Rotation is a number and not a rotation."""
    page = doc.addObject("TechDraw::DrawPage", "Page")
    page.Template = doc.addObject("TechDraw::DrawSVGTemplate", "Template")
    view = doc.addObject("TechDraw::DrawViewPart", "View")
    page.addView(view)
    view.Source = [doc.Box]
    return Odd("View", "Box")


def _raising_property(doc: Any) -> Odd:
    """A property that FreeCAD itself cannot give to Python."""
    it = doc.addObject("App::FeaturePython", "It")
    it.addProperty("Points::PropertyCurvatureList", "Bends")
    return Odd("It", "Box", "", "Bends of It", "Not yet implemented", "Bends")


class _Raises:
    """A proxy that raises wherever it is called."""

    def __init__(self, obj: Any) -> None:
        obj.Proxy = self

    def execute(self, obj: Any) -> None:
        raise KeyError("x")

    def __getstate__(self) -> None:
        raise KeyError("x")

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


def _raising_proxy(doc: Any) -> Odd:
    it = doc.addObject("Part::FeaturePython", "It")
    _Raises(it)
    it.touch()
    return Odd("It", "Box")


class _Gone:
    def __init__(self, obj: Any) -> None:
        obj.Proxy = self

    def execute(self, obj: Any) -> None:
        obj.Shape = Part.makeBox(1, 1, 1)


def _missing_module(doc: Any) -> Odd:
    """An object of a workbench that is not installed here."""
    module = ModuleType("some_workbench")
    _Gone.__module__ = module.__name__
    module._Gone = _Gone  # type: ignore[attr-defined]  # a module of the moment
    sys.modules[module.__name__] = module
    it = doc.addObject("Part::FeaturePython", "It")
    _Gone(it)
    doc.recompute()
    doc.save()
    del sys.modules[module.__name__]
    _reopen(doc)
    return Odd("It", "Box")


def _reopen(doc: Any) -> None:
    file = doc.FileName
    FreeCAD.closeDocument(doc.Name)
    FreeCAD.openDocument(file).UndoMode = 1


def _null_shape(doc: Any) -> Odd:
    doc.addObject("Part::Feature", "It")
    return Odd("It", "Box")


def _endless(doc: Any) -> Odd:
    """A plane without an edge."""
    doc.addObject("Part::Feature", "It").Shape = Part.Plane().toShape()
    return Odd("It", "Box")


def _line(doc: Any) -> Odd:
    """A line without an end."""
    doc.addObject("Part::Feature", "It").Shape = Part.Line().toShape()
    return Odd("It", "Box")


def _nowhere(doc: Any) -> Odd:
    """A box at a place that is no number."""
    it = doc.addObject("Part::Box", "It")
    it.Placement.Base = FreeCAD.Vector(float("nan"), float("inf"), 0)
    return Odd("It", "Box")


def _no_numbers(doc: Any) -> Odd:
    it = doc.addObject("App::FeaturePython", "It")
    it.addProperty("App::PropertyFloat", "Nan").Nan = float("nan")
    it.addProperty("App::PropertyFloat", "Inf").Inf = float("inf")
    it.addProperty("App::PropertyFloatList", "List").List = [float("nan"), float("-inf")]
    it.addProperty("App::PropertyVector", "Vector").Vector = FreeCAD.Vector(float("nan"), 0, 0)
    it.addProperty("App::PropertyEnumeration", "Choice")
    return Odd("It", "Box", field="List")


def _vast(doc: Any) -> Odd:
    """A box whose volume is beyond a float."""
    it = doc.addObject("Part::Box", "It")
    it.Length = it.Width = it.Height = 1e200
    return Odd("It", "Box")


def _dead_link(doc: Any) -> Odd:
    doc.addObject("App::Link", "It")
    return Odd("It", "Box")


def _dead_file(doc: Any) -> Odd:
    """A link into a document whose file is gone."""
    other = FreeCAD.newDocument("Other", hidden=True)
    other.addObject("Part::Box", "Far")
    file = Path(doc.FileName).with_name("other.FCStd")
    other.saveAs(str(file))
    it = doc.addObject("App::Link", "It")
    it.LinkedObject = other.Far
    doc.recompute()
    doc.save()
    FreeCAD.closeDocument(other.Name)
    file.unlink()
    _reopen(doc)
    return Odd("It", "Box")


def _cycle(doc: Any) -> Odd:
    """Two objects that link to each other."""
    first = doc.addObject("App::FeaturePython", "It")
    second = doc.addObject("App::FeaturePython", "Other")
    for obj, target in ((first, second), (second, first)):
        obj.addProperty("App::PropertyLink", "Next").Next = target
    return Odd("It", "Box")


def _cycle_of_groups(doc: Any) -> Odd:
    """Two groups, each in the other."""
    first = doc.addObject("App::DocumentObjectGroup", "It")
    second = doc.addObject("App::DocumentObjectGroup", "Other")
    first.Group = [second]
    second.Group = [first]
    return Odd("It", "Box")


def _own_link(doc: Any) -> Odd:
    """Links in a circle."""
    first = doc.addObject("App::Link", "It")
    second = doc.addObject("App::Link", "Other")
    first.LinkedObject = second
    second.LinkedObject = first
    return Odd("It", "Box", "bounds", "bounds of It", "links back to itself")


def _label(doc: Any) -> Odd:
    """A label of a line break, a character that ends texts in C, and one of no alphabet."""
    doc.addObject("Part::Box", "It").Label = "a\nb\x07\ud800".encode("utf-8", "replace").decode()
    return Odd("It", "Box")


def _no_label(doc: Any) -> Odd:
    doc.addObject("Part::Box", "It").Label = ""
    return Odd("It", "Box")


def _sketch(doc: Any) -> Odd:
    """A sketch of nothing, a body without a tip, and a pad of neither."""
    body = doc.addObject("PartDesign::Body", "Body")
    body.addObject(doc.addObject("PartDesign::Pad", "It"))
    doc.addObject("Sketcher::SketchObject", "Sketch")
    doc.addObject("Spreadsheet::Sheet", "Sheet").set("A1", "=A1")
    return Odd("It", "Box")


def _extent(doc: Any) -> Odd:
    """A dimension of nothing, at whose deletion FreeCAD 0.20 crashes."""
    doc.addObject("TechDraw::DrawViewDimExtent", "It")
    return Odd("It", "Box")


def _landmark(doc: Any) -> Odd:
    """The same of the other type."""
    doc.addObject("TechDraw::LandmarkDimension", "It")
    return Odd("It", "Box")


def _every_type(doc: Any) -> Odd:
    """One object of each type that there is, made of nothing."""
    for kind in doc.supportedTypes():
        if kind in _CRASHING:
            continue
        try:
            doc.addObject(kind, "It")
        except TypeError:
            continue  # it is abstract
    return Odd("It", "Box")


_CRASHING = ("TechDraw::DrawViewDimExtent", "TechDraw::LandmarkDimension")
"""Types of objects that are not deleted; see `_extent`."""
KINDS: Final[dict[str, Callable[[Any], Odd]]] = {
    "of another type": _page,
    "a property that raises": _raising_property,
    "a proxy that raises": _raising_proxy,
    "a missing module": _missing_module,
    "no shape": _null_shape,
    "an endless plane": _endless,
    "an endless line": _line,
    "a place of no numbers": _nowhere,
    "values of no numbers": _no_numbers,
    "a vast box": _vast,
    "a dead link": _dead_link,
    "a dead file": _dead_file,
    "a cycle of links": _cycle,
    "a cycle of groups": _cycle_of_groups,
    "a cycle of copies": _own_link,
    "an odd label": _label,
    "no label": _no_label,
    "a sketch of nothing": _sketch,
    "an extent of nothing": _extent,
    "a landmark of nothing": _landmark,
    "every type": _every_type,
}


@pytest.fixture(scope="module", params=KINDS)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[HostOperations, Odd, Path]]:
    """A document with a box and an odd item, for all of the calls."""
    folder = tmp_path_factory.mktemp("odd")
    doc = FreeCAD.newDocument("Scene", hidden=not FreeCAD.GuiUp)
    doc.UndoMode = 1
    doc.addObject("Part::Box", "Box")
    doc.saveAs(str(folder / "scene.FCStd"))
    operations = freecad_operations(FreeCADHost())
    item = KINDS[request.param](doc)
    FreeCAD.ActiveDocument.recompute()
    yield operations, item, folder
    for name in list(FreeCAD.listDocuments()):
        FreeCAD.closeDocument(name)


class TestOddItems(odd.OddItems):
    """Each kind of odd item, and each verb."""


def run() -> int:
    """Run the tests; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
