"""What undo and redo promise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pxr import Sdf, Usd, UsdGeom

from dcc_bridge_usd import undo_stack
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import Failed, check_undo, fail_after

pytestmark = pytest.mark.core


def sublayer(stage: Usd.Stage) -> Sdf.Layer:
    return stage.GetLayerStack(includeSessionLayers=False)[1]


def edit_in(layer: Sdf.Layer, stage: Usd.Stage) -> None:
    with Usd.EditContext(stage, layer):
        UsdGeom.Camera.Define(stage, "/World/new").CreateFocalLengthAttr(18)


def add_sublayer(stage: Usd.Stage) -> None:
    new = Sdf.Layer.CreateAnonymous()
    stage.GetRootLayer().subLayerPaths.append(new.identifier)
    edit_in(new, stage)


def prim(stage: Usd.Stage, name: str) -> Usd.Prim:
    return stage.GetPrimAtPath(f"/World/{name}")


def test_the_frame_range_a_prim_and_the_up_axis_are_undone_together(session: UsdSession) -> None:
    """The range alone is put back without a copy of the layer."""

    def edit(stage: Usd.Stage) -> None:
        stage.SetStartTimeCode(12)
        stage.DefinePrim("/World/new", "Mesh")
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)

    check_undo(session, edit)


def test_what_is_rare_in_a_layer_comes_back(session: UsdSession) -> None:
    layer = session.stage.GetRootLayer()
    with session.undo_step("Rare things"):
        layer.ImportFromString(RARE)
    before = layer.ExportToString()

    with session.undo_step("Clear"):
        layer.Clear()
    session.undo()

    assert layer.ExportToString() == before


def test_an_untouched_scene_or_a_value_set_to_what_it_was_makes_no_entry(
    session: UsdSession,
) -> None:
    with session.undo_step("Nothing"):
        pass
    with session.undo_step("The same"):
        prim(session.stage, "a").GetAttribute("focalLength").Set(35.0)
        session.stage.DefinePrim("/World/a", "Camera")

    assert session.undo_labels == []


def test_the_last_label_is_the_next_step_to_undo_or_redo(session: UsdSession) -> None:
    for name in ("x", "y", "z"):
        with session.undo_step(f"Add {name}"):
            session.stage.DefinePrim(f"/World/{name}")
    session.undo()
    session.undo()

    assert session.undo_mark().label == "Add x"
    assert session.undo_labels == ["Add x"]
    assert session.redo_labels == ["Add z", "Add y"]


def test_a_new_step_ends_redo(session: UsdSession) -> None:
    for name in ("x", "y"):
        with session.undo_step(name):
            session.stage.DefinePrim(f"/World/{name}")
        session.undo()

    with session.undo_step("z"):
        session.stage.DefinePrim("/World/z")

    assert session.redo_labels == []
    with pytest.raises(RuntimeError, match="nothing to redo"):
        session.redo()


def test_an_empty_stack_says_so(session: UsdSession) -> None:
    assert session.undo_mark().label is None
    with pytest.raises(RuntimeError, match="nothing to undo"):
        session.undo()


def test_steps_are_not_nested(session: UsdSession) -> None:
    """In an open step there is no other step, undo or redo; what it had is rolled back."""

    def edit_and(call: Callable[[], object]) -> None:
        with session.undo_step("Outer"):
            session.stage.DefinePrim("/World/d")
            call()

    for call in (lambda: session.undo_step("Inner").__enter__(), session.undo, session.redo):
        with pytest.raises(RuntimeError, match="step is open"):
            edit_and(call)

    assert not prim(session.stage, "d")
    assert session.undo_labels == []


def test_an_edit_outside_a_step_is_not_lost(session: UsdSession) -> None:
    """It becomes a step of its own, below the next one, and both are undone one by one."""
    start = session.scene_digest()
    session.stage.DefinePrim("/World/outside")
    outside = session.scene_digest()
    with session.undo_step("Inside"):
        session.stage.DefinePrim("/World/inside")
    end = session.scene_digest()

    assert session.undo_labels == [undo_stack.OUTSIDE, "Inside"]
    session.undo()
    assert session.scene_digest() == outside
    session.undo()
    assert session.scene_digest() == start
    session.redo()
    session.redo()
    assert session.scene_digest() == end


def test_a_failed_step_does_not_take_an_outside_edit_along(session: UsdSession) -> None:
    """Rollback goes back to where the step began."""
    session.stage.DefinePrim("/World/outside")

    with pytest.raises(Failed):
        fail_after(session, lambda stage: stage.DefinePrim("/World/inside"))

    assert prim(session.stage, "outside")
    assert not prim(session.stage, "inside")


def test_a_muted_layer_keeps_its_history(session: UsdSession) -> None:
    """Muting is no edit, and what is undone meanwhile is undone in the muted layer too."""
    layer = sublayer(session.stage)
    with session.undo_step("Sub"):
        edit_in(layer, session.stage)

    session.stage.MuteLayer(layer.identifier)
    session.undo()
    session.stage.UnmuteLayer(layer.identifier)

    assert session.undo_labels == []
    assert layer.empty


def test_a_locked_layer_is_not_undone(session: UsdSession) -> None:
    """Undo says which layer is locked, and keeps the step for later."""
    with session.undo_step("Add"):
        session.stage.DefinePrim("/World/d")
    session.stage.GetRootLayer().SetPermissionToEdit(False)

    with pytest.raises(RuntimeError, match=r"small\.usda is locked"):
        session.undo()

    session.stage.GetRootLayer().SetPermissionToEdit(True)
    session.undo()
    assert not prim(session.stage, "d")


def test_a_failed_step_is_rolled_back_in_a_layer_that_it_locked(session: UsdSession) -> None:
    before = session.scene_digest()

    def edit_and_lock(stage: Usd.Stage) -> None:
        stage.DefinePrim("/World/d")
        stage.GetRootLayer().SetPermissionToEdit(False)

    with pytest.raises(Failed):
        fail_after(session, edit_and_lock)

    assert session.scene_digest() == before
    assert not session.stage.GetRootLayer().permissionToEdit


def test_undo_leaves_a_usable_edit_target(session: UsdSession) -> None:
    """When the layer that is edited leaves the scene, the root layer is edited from then on."""
    with session.undo_step("Layer"):
        add_sublayer(session.stage)
        session.stage.SetEditTarget(session.stage.GetLayerStack()[-1])

    session.undo()

    assert session.stage.DefinePrim("/World/d")


def test_beyond_so_many_steps_the_oldest_are_forgotten(
    session: UsdSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_stack, "MAX_STEPS", 3)
    for number in range(5):
        with session.undo_step(f"Step {number}"):
            session.stage.DefinePrim(f"/World/p{number}")

    assert session.undo_labels == ["Step 2", "Step 3", "Step 4"]


def test_however_large_the_scene_the_newest_step_can_be_undone(
    session: UsdSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_stack, "MAX_BYTES", 1)
    for number in range(3):
        with session.undo_step(f"Step {number}"):
            session.stage.DefinePrim(f"/World/p{number}")

    assert session.undo_labels == ["Step 2"]
    session.undo()
    assert prim(session.stage, "p1")
    assert not prim(session.stage, "p2")


RARE = '''#usda 1.0
(
    "a comment"
    customLayerData = { dictionary deep = { int a = 1; string[] s = ["x", ""] } }
    documentation = """several
lines"""
    metersPerUnit = 0.01
    relocates = { </World/a>: </World/b> }
    expressionVariables = { string S = "x" }
    unknownToUsd = "kept"
)

over "Inert" {}

def Xform "World" (
    prepend apiSchemas = ["MaterialBindingAPI", "CollectionAPI:lights"]
    customData = { asset f = @./x.usd@; token t = "t"; half h = 1.5; timecode tc = 3 }
    variants = { string v = "one" }
    prepend variantSets = "v"
    add references = [</Inert> (offset = 10; scale = 2)]
    delete payload = </Inert>
    inherits = </Inert>
    specializes = None
    hidden = true
    permission = private
)
{
    reorder nameChildren = ["z", "y"]
    reorder properties = ["b", "a"]
    custom double b = 0.1 ( doc = "d"; displayName = "B" )
    custom double a.timeSamples = { 1: 2.5, 2.25: None, 3: 1e300 }
    double a.connect = [</World.b>, </World.c>]
    custom rel r = [</World/y>, </World/z.foo>]
    prepend rel r2 = </World/y>
    custom rel r3 = None
    custom float blocked = None
    custom float nan = nan
    custom token[] none = []
    custom pathExpression pe = "/World//"
    custom uint64 u = 18446744073709551615
    custom string odd = """ "q" 'z' é """
    double spline.spline = { bezier, 1: 5; post held, 8: 2 }
    def "y" {}
    def "z" ( active = false ) {}
    class "k" {}
    variantSet "v" = {
        "one" ( kind = "prop" ) {
            def "inside" {
                float f = 2
            }
        }
        "two" {}
    }
}
'''
