"""Undo, redo and reverts of scripted objects that a person edits too: run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it, in freecadcmd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import FreeCAD
import pytest

from dcc_bridge_freecad.host import FreeCADHost


class Script:
    """A script that has each change of the length forget the remark."""

    def __init__(self, obj: Any) -> None:
        obj.Proxy = self

    def onChanged(self, obj: Any, prop: str) -> None:
        if prop == "Len" and "Remark" in obj.PropertiesList:
            obj.Remark = ""

    def execute(self, obj: Any) -> None:
        """Compute nothing."""

    def __getstate__(self) -> None:
        """Have nothing saved."""


@pytest.fixture
def it() -> Iterator[Any]:
    """A scripted object with a length, a note and a remark."""
    document = FreeCAD.newDocument("Scene", hidden=True)
    document.UndoMode = 1
    obj = document.addObject("App::FeaturePython", "It")
    obj.addProperty("App::PropertyFloat", "Len").Len = 1.0
    obj.addProperty("App::PropertyString", "Note")
    obj.addProperty("App::PropertyString", "Remark")
    Script(obj)
    document.recompute()
    document.clearUndos()
    yield obj
    FreeCAD.closeDocument(document.Name)


@pytest.fixture
def host(it: Any) -> FreeCADHost:
    return FreeCADHost()


def lengthen(host: FreeCADHost, it: Any) -> None:
    with host.undo_step("Ours"):
        it.Len = 2.0


def seen(it: Any) -> tuple[float, str, str]:
    return it.Len, it.Note, it.Label


@pytest.mark.parametrize("go_back", [FreeCADHost.undo, FreeCADHost.take_back])
def test_what_a_person_changed_beside_undo_stays(
    host: FreeCADHost, it: Any, go_back: Callable[[FreeCADHost], None]
) -> None:
    lengthen(host, it)
    it.Note, it.Label = "theirs", "Their label"

    go_back(host)

    assert seen(it) == (1.0, "theirs", "Their label")


def test_redo_keeps_it_too(host: FreeCADHost, it: Any) -> None:
    lengthen(host, it)
    it.Note, it.Label = "theirs", "Their label"
    host.undo()

    host.redo()
    redone = seen(it)
    host.undo()

    assert redone == (2.0, "theirs", "Their label")
    assert seen(it) == (1.0, "theirs", "Their label")


def test_what_a_person_undoes_themselves_keeps_it(host: FreeCADHost, it: Any) -> None:
    lengthen(host, it)
    it.Note = "theirs"

    it.Document.undo()

    assert seen(it) == (1.0, "theirs", "It")


def test_what_a_person_changed_between_undo_and_redo_stays(host: FreeCADHost, it: Any) -> None:
    lengthen(host, it)
    host.undo()
    it.Len, it.Note = 7.0, "theirs"

    host.redo()
    redone = seen(it)
    host.undo()

    assert redone == (2.0, "theirs", "It")
    assert seen(it) == (7.0, "theirs", "It")


def test_what_a_person_cancelled_is_no_part_of_an_undo(host: FreeCADHost, it: Any) -> None:
    lengthen(host, it)
    FreeCAD.setActiveTransaction("Theirs")
    it.Len = 5.0
    FreeCAD.closeActiveTransaction(True)
    it.Note = "theirs"

    host.undo()

    assert seen(it) == (1.0, "theirs", "It")


def test_a_step_without_an_entry_leaves_nothing_for_the_next_one(
    host: FreeCADHost, it: Any
) -> None:
    with host.undo_step("Ours"):
        it.Document.UndoMode = 0
        it.Len = 2.0
    it.Document.UndoMode = 1
    it.Note = "theirs"
    FreeCAD.setActiveTransaction("Theirs")
    it.Len = 5.0
    FreeCAD.closeActiveTransaction()

    it.Document.undo()

    assert seen(it) == (2.0, "theirs", "It")


def test_what_a_script_changed_comes_back(host: FreeCADHost, it: Any) -> None:
    it.Remark = "checked"
    lengthen(host, it)
    forgotten = it.Remark
    it.Note = "theirs"

    host.undo()

    assert (forgotten, it.Remark, it.Note) == ("", "checked", "theirs")


def test_what_only_the_undo_had_a_script_change_comes_back(host: FreeCADHost, it: Any) -> None:
    it.Remark = "checked"
    with host.undo_step("Ours"):
        it.Len = 2.0
        it.Remark = "checked"

    host.undo()
    undone = it.Remark
    host.redo()

    assert (undone, it.Remark) == ("checked", "checked")


def test_a_wire_that_was_moved_has_its_points_and_what_a_person_wrote(host: FreeCADHost) -> None:
    draft = import_module("Draft")  # it brings no stubs
    points = [FreeCAD.Vector(0, 0, 50), FreeCAD.Vector(0, 40, 50), FreeCAD.Vector(30, 40, 50)]
    wire = draft.make_wire(points, placement=FreeCAD.Placement(), face=False)
    wire.Document.recompute()
    before = wire.Points, wire.Start, wire.End, wire.Placement
    with host.undo_step("Ours"):
        wire.Placement = FreeCAD.Placement(FreeCAD.Vector(10, 20, 30), FreeCAD.Rotation())
        wire.Document.recompute()
    wire.Label = "Their label"

    host.undo()

    assert (wire.Points, wire.Start, wire.End, wire.Placement) == before
    assert wire.Label == "Their label"


def test_a_revert_leaves_what_a_person_changed_before(host: FreeCADHost, it: Any) -> None:
    lengthen(host, it)
    it.Note, it.Remark = "theirs", "checked"

    with host.undo_step("Try"):
        trial = host.trial()
        assert trial is not None
        it.Len = 3.0
        trial.revert()

    assert seen(it) == (2.0, "theirs", "It")
    assert it.Remark == "checked"


def test_a_property_that_raises_spoils_no_undo_of_the_others(host: FreeCADHost, it: Any) -> None:
    it.addProperty("Points::PropertyCurvatureList", "Bends")  # FreeCAD cannot give it to Python
    it.Remark = "checked"
    lengthen(host, it)

    host.undo()

    assert (it.Len, it.Remark) == (1.0, "checked")


def test_visibility_is_undone_of_an_object_with_a_property_that_raises(
    host: FreeCADHost, it: Any
) -> None:
    it.addProperty("Points::PropertyCurvatureList", "Bends")
    with pytest.raises(NotImplementedError):
        _ = it.Bends
    it.Document.clearUndos()
    mark = host.undo_mark()

    with host.undo_step("Ours"):
        it.Visibility = False
    hidden = it.Visibility
    depth = host.undo_mark().depth
    host.undo()

    assert (hidden, depth) == (False, mark.depth + 1)
    assert it.Visibility is True


def run() -> int:
    """Run the tests; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
