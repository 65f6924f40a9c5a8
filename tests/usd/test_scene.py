"""What the bundled scene promises."""

from __future__ import annotations

from contextvars import copy_context

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdShade

from dcc_bridge.consent.call import Call, RunControl
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.errors import Stopped
from dcc_bridge.threads.flows import current
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import find_paths, remove
from tests.hosts.scenes import SCENE

pytestmark = pytest.mark.core


def test_it_opens_cleanly(capfd: pytest.CaptureFixture[str]) -> None:
    """USD has nothing to complain of, and it is small enough to travel with us."""
    session = UsdSession(SCENE)

    assert capfd.readouterr() == ("", "")
    assert session.stage.GetCompositionErrors() == []  # type: ignore[attr-defined]  # newer
    assert SCENE.stat().st_size < 600_000
    assert not session.modified


def test_it_has_127_cameras(shot: UsdSession) -> None:
    """All under /World/Cameras, by sequence, each with a lens and a target; some animated."""
    paths = find_paths(shot.stage, type_name="Camera")
    cameras = [shot.stage.GetPrimAtPath(path) for path in paths]
    lenses = [UsdGeom.Camera(camera).GetFocalLengthAttr() for camera in cameras]
    moving = [c for c in cameras if UsdGeom.Xformable(c).TransformMightBeTimeVarying()]

    assert len(cameras) == 127
    assert all(path.startswith("/World/Cameras/sq0") for path in paths)
    assert all(lens.HasAuthoredValue() for lens in lenses)
    assert len(moving) > 20
    assert any(lens.ValueMightBeTimeVarying() for lens in lenses)


def test_every_relationship_has_a_target_and_every_shape_a_material(shot: UsdSession) -> None:
    prims = list(shot.stage.Traverse())
    targets = [t for prim in prims for r in prim.GetRelationships() for t in r.GetTargets()]
    shapes = [prim for prim in prims if UsdGeom.Gprim(prim)]

    assert len(targets) > 127
    assert all(shot.stage.GetPrimAtPath(target) for target in targets)
    assert all(UsdShade.MaterialBindingAPI(s).ComputeBoundMaterial()[0] for s in shapes)


def test_without_its_cameras_the_rest_stays(shot: UsdSession) -> None:
    before = shot.scene_digest()
    others = [str(p.GetPath()) for p in shot.stage.Traverse() if p.GetTypeName() != "Camera"]

    with shot.undo_step("Delete"):
        remove(shot.stage, find_paths(shot.stage, type_name="Camera"))

    assert 100 < len(others) < 300
    assert [str(prim.GetPath()) for prim in shot.stage.Traverse()] == others
    shot.undo()
    assert shot.scene_digest() == before


def test_two_of_its_four_characters_walk(shot: UsdSession) -> None:
    people = shot.stage.GetPrimAtPath("/World/Characters").GetChildren()
    walking = [p for p in people if UsdGeom.Xformable(p).TransformMightBeTimeVarying()]

    assert [len(people), len(walking)] == [4, 2]
    assert all(Usd.ModelAPI(person).GetKind() == "component" for person in people)


@pytest.mark.parametrize(
    "names",
    [["/a"], ["/a/p3"], [f"/a/p{n}" for n in range(20)], ["/b", "/a/p7", "/a/p7/below", "/c"]],
    ids=["a root", "one of many", "all of a prim's children", "some, with what is below"],
)
def test_what_is_deleted_is_what_usd_deletes_by_namespace_edits(names: list[str]) -> None:
    stage = UsdSession().stage
    edits = Sdf.BatchNamespaceEdit()
    for path in ("/a", *(f"/a/p{n}/below" for n in range(20)), "/b", "/c"):
        stage.DefinePrim(path).CreateAttribute("size", Sdf.ValueTypeNames.Float).Set(1.0)
    layer = stage.GetRootLayer()
    expected = Sdf.Layer.CreateAnonymous()
    layer.GetPrimAtPath("/a").nameChildrenOrder[:] = ["p9", "p3"]
    expected.TransferContent(layer)
    paths = [Sdf.Path(name) for name in names]
    for old in paths:
        edits.Add(Sdf.NamespaceEdit.Remove(old))

    remove(stage, paths)

    assert expected.Apply(edits)
    assert layer.ExportToString() == expected.ExportToString()


MANY = 501  # from here on a person sees how far it is


def test_a_deletion_that_is_cancelled_in_its_middle_leaves_all_as_it_was() -> None:
    session = UsdSession()
    call = Call("delete", "Delete", "edit")
    stage = session.stage
    seen = list[bool]()
    paths = [Sdf.Path(f"/{place}{n}") for place in ("root", "session") for n in range(MANY)]
    layers = stage.GetRootLayer(), stage.GetSessionLayer()
    for part, layer in zip((paths[:MANY], paths[MANY:]), layers, strict=True):
        with Usd.EditContext(stage, layer):
            for path in part:
                stage.DefinePrim(path)
    before = session.scene_digest()

    class Cancelling(RunControl):
        def report(self, progress: Progress) -> None:
            seen.append(bool(stage.GetPrimAtPath("/session0")))
            call.ending.reason = None if seen[-1] else "cancelled"

    def delete() -> None:
        current.set(call)
        with session.undo_step("Delete"):
            remove(stage, paths)

    call.control = Cancelling()
    with pytest.raises(Stopped):
        copy_context().run(delete)

    assert False in seen
    assert session.scene_digest() == before
    assert not session.undo_labels[1:]


def test_what_is_below_a_referenced_prim_is_deleted_along_with_it() -> None:
    stage = UsdSession().stage
    asset = Sdf.Layer.CreateAnonymous(".usda")
    Usd.Stage.Open(asset).DefinePrim("/asset/part/bolt")
    stage.DefinePrim("/chair").GetReferences().AddReference(asset.identifier, "/asset")
    items = [Sdf.Path(path) for path in ("/chair/part", "/chair/part/bolt")]

    hidden = remove(stage, items)

    assert hidden == items
    assert find_paths(stage) == ["/chair"]
