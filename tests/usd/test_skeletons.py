"""Skeletons, their animation, what they move, and blend shapes are made by the verbs alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pxr import Usd, UsdGeom, UsdSkel

from dcc_bridge_usd.operations import operations
from dcc_bridge_usd.operations.drawing import UsdOperations
from tests.usd.test_verbs import studio
from tests.verbs.steps import step
from tests.verbs.studio import YES, Studio

ROOT = "/World/Hero"
SKELETON = f"{ROOT}/Skeleton"
WAVE = f"{ROOT}/Wave"
ARM = f"{ROOT}/Arm"
SMILE = f"{ARM}/Smile"
AT_REST = [1.0, 0.0, 0.0, 0.0]
BENT = [0.7071, 0.0, 0.0, 0.7071]  # a quarter turn around Z


def at_height(height: float) -> list[list[float]]:
    """Return the matrix of a joint at a height."""
    return [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, height, 0, 1]]


POINTS = [[x, y, z] for y in (0, 2, 4) for x, z in ((0, 0), (1, 0), (1, 1), (0, 1))]
RIG = {
    "joints": ["shoulder", "shoulder/elbow"],
    "bindTransforms": [at_height(0), at_height(2)],
    "restTransforms": [at_height(0), at_height(2)],
}
THINGS: list[dict[str, Any]] = [
    {"type": "SkelRoot", "name": "Hero", "under": "/World"},
    {"type": "Skeleton", "name": "Skeleton", "under": ROOT, "values": RIG},
    {
        "type": "SkelAnimation",
        "name": "Wave",
        "under": ROOT,
        "values": {
            "joints": RIG["joints"],
            "translations": [[0, 0, 0], [0, 2, 0]],
            "rotations": [AT_REST, AT_REST],
            "scales": [[1, 1, 1], [1, 1, 1]],
        },
    },
    {
        "type": "Mesh",
        "name": "Arm",
        "under": ROOT,
        "values": {
            "points": POINTS,
            "faceVertexCounts": [4, 4],
            "faceVertexIndices": [0, 1, 5, 4, 4, 5, 9, 8],
        },
    },
]
BINDING = {
    "skel:skeleton": SKELETON,
    "primvars:skel:jointIndices": [0] * 8 + [1] * 4,
    "primvars:skel:jointWeights": [1.0] * 12,
}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene with an arm, a skeleton of two joints and its animation, made by one call."""
    with studio(tmp_path, YES) as scene:
        scene.do("create", things=THINGS)
        yield scene


def bind(scene: Studio) -> Any:
    """Bind the arm to the skeleton, and the skeleton to its animation."""
    return scene.do(
        "batch",
        steps=[
            step("set_values", items=[ARM], values=BINDING),
            step("set_values", items=[SKELETON], values={"skel:animationSource": WAVE}),
            step(
                "set_keys",
                item=WAVE,
                prop="rotations",
                keys=[[1, [AT_REST, AT_REST]], [24, [AT_REST, BENT]]],
            ),
        ],
    )


def width_at(scene: Studio, frame: float) -> float:
    """Return how wide the arm is at a frame."""
    ours = operations(scene.host)
    assert isinstance(ours, UsdOperations)
    with ours.at_frame(frame):
        box = ours.bounds(ARM)
    assert box is not None
    low, high = box
    return float(high[0] - low[0])


def test_a_bound_mesh_is_moved_by_the_keys_of_its_skeleton(scene: Studio) -> None:
    before = scene.host.scene_digest()

    bind(scene)

    assert width_at(scene, 1) == pytest.approx(1, abs=0.01)
    assert width_at(scene, 24) == pytest.approx(3, abs=0.01)
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_binding_applies_the_schema_and_shares_the_weights_out(scene: Studio) -> None:
    bind(scene)

    mesh = scene.host.stage.GetPrimAtPath(ARM)
    weights = UsdGeom.Primvar(mesh.GetAttribute("primvars:skel:jointWeights"))
    assert mesh.HasAPI(UsdSkel.BindingAPI)
    assert (weights.GetInterpolation(), weights.GetElementSize()) == ("vertex", 1)


def test_a_point_may_follow_several_joints_and_a_mesh_one(scene: Studio) -> None:
    weights = UsdGeom.Primvar
    prop = "primvars:skel:jointWeights"
    scene.do("set_values", items=[ARM], values={prop: [0.5] * 24})
    mesh = scene.host.stage.GetPrimAtPath(ARM)
    assert weights(mesh.GetAttribute(prop)).GetElementSize() == 2

    scene.do("set_values", items=[ARM], values={prop: [1.0]})

    assert weights(mesh.GetAttribute(prop)).GetInterpolation() == "constant"


def test_what_a_skeleton_moves_is_listed_and_breaks_with_it(scene: Studio) -> None:
    bind(scene)

    users = scene.do("list_items", uses=SKELETON)
    scene.do("delete", items=[SKELETON])

    assert [row["item"] for row in users["rows"]] == [ARM]
    assert f"skel:skeleton of {ARM}" in scene.person.shown[0].message


def test_a_blend_shape_moves_points_by_its_weight(scene: Studio) -> None:
    bind(scene)
    before = scene.host.scene_digest()
    width_before = width_at(scene, 12)

    scene.do(
        "batch",
        steps=[
            step(
                "create",
                things=[
                    {
                        "type": "BlendShape",
                        "name": "Smile",
                        "under": ARM,
                        "values": {"offsets": [[3, 0, 0]], "pointIndices": [1]},
                    }
                ],
            ),
            step(
                "set_values",
                items=[ARM],
                values={"skel:blendShapes": ["smile"], "skel:blendShapeTargets": [SMILE]},
            ),
            step("set_values", items=[WAVE], values={"blendShapes": ["smile"]}),
            step("set_keys", item=WAVE, prop="blendShapeWeights", keys=[[1, [0.0]], [12, [1.0]]]),
        ],
    )

    assert width_at(scene, 12) > width_before + 1
    assert width_at(scene, 1) == pytest.approx(1, abs=0.01)
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


@pytest.mark.parametrize(
    ("item", "prop", "value", "why"),
    [
        (SKELETON, "bindTransforms", [at_height(0)], "joints has 2: they belong together"),
        (SKELETON, "joints", ["a", "b", "c"], "bindTransforms has 2"),
        (SKELETON, "joints", ["shoulder/elbow", "shoulder"], "needs shoulder before it"),
        (SKELETON, "joints", ["a", "a"], "named once each"),
        (WAVE, "scales", [[1, 1, 1]], "joints has 2"),
        (ARM, "primvars:skel:jointIndices", [0] * 11, "jointWeights has 12"),
        (ARM, "primvars:skel:jointIndices", [2] * 12, "from 0 to 1, the last joint"),
        (ARM, "skel:skeleton", ARM, "leads to a Skeleton"),
        (ARM, "skel:skeletons", SKELETON, "skel:skeleton"),
        (ARM, "skel:skeleton", f"{ROOT}/None", "There is no prim"),
        (ARM, "skel:blendShapes", "smile", "a list"),
    ],
)
def test_what_does_not_fit_a_rig_is_refused_and_loses_nothing(
    scene: Studio, item: str, prop: str, value: Any, why: str
) -> None:
    bind(scene)

    assert why in scene.fails("set_values", items=[item], values={prop: value})


def test_joint_weights_of_another_number_than_points_are_refused(scene: Studio) -> None:
    why = scene.fails("set_values", items=[ARM], values={"primvars:skel:jointWeights": [1.0] * 13})

    assert "13 entries for 12 points" in why


def test_keys_of_another_number_than_joints_are_refused(scene: Studio) -> None:
    why = scene.fails("set_keys", item=WAVE, prop="rotations", keys=[[1, [AT_REST]]])

    assert "rotations has 1 entries and joints has 2" in why


def test_a_mesh_outside_a_skel_root_is_not_bound(scene: Studio) -> None:
    scene.do("create", things=[{**THINGS[3], "under": "/World", "name": "Loose"}])

    why = scene.fails("set_values", items=["/World/Loose"], values={"skel:skeleton": SKELETON})

    assert "no SkelRoot above it" in why


def test_a_blend_shape_of_other_points_is_refused(scene: Studio) -> None:
    values = {"offsets": [[3, 0, 0]]}
    scene.do(
        "create", things=[{"type": "BlendShape", "name": "Smile", "under": ARM, "values": values}]
    )

    why = scene.fails("set_values", items=[ARM], values={"skel:blendShapeTargets": [SMILE]})

    assert "1 offsets for 12 points" in why


@pytest.mark.parametrize("number", [-1, 12])
def test_a_blend_shape_of_a_point_that_the_mesh_above_it_has_not_is_refused(
    scene: Studio, number: int
) -> None:
    values = {"offsets": [[3, 0, 0]], "pointIndices": [number]}
    things = [{"type": "BlendShape", "name": "Smile", "under": ARM, "values": values}]

    why = scene.fails("create", things=things)

    assert f"pointIndices of {SMILE} are from 0 to 11, the last point of {ARM}" in why


def test_a_blend_shape_that_is_bound_shapes_the_points_of_what_it_is_bound_to(
    scene: Studio,
) -> None:
    small = {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faceVertexCounts": [3]}
    values = {"offsets": [[3, 0, 0]], "pointIndices": [1]}
    scene.do(
        "create",
        things=[
            {"type": "Mesh", "name": "Small", "under": ROOT, "values": small},
            {"type": "BlendShape", "name": "Smile", "under": f"{ROOT}/Small", "values": values},
        ],
    )
    shape = f"{ROOT}/Small/Smile"
    scene.do("set_values", items=[ARM], values={"skel:blendShapeTargets": [shape]})

    scene.do("set_values", items=[shape], values={"pointIndices": [7]})

    told = scene.do("inspect", items=[shape], names=["pointIndices"])
    assert told["items"][0]["values"]["pointIndices"] == [7]


LONGER = {
    "joints": ["shoulder", "shoulder/elbow", "shoulder/elbow/hand"],
    "bindTransforms": [at_height(0), at_height(2), at_height(4)],
    "restTransforms": [at_height(0), at_height(2), at_height(2)],
}
SHORTER = {
    "joints": ["shoulder"],
    "bindTransforms": [at_height(0)],
    "restTransforms": [at_height(0)],
}


@pytest.mark.parametrize("rig", [LONGER, SHORTER])
def test_the_arrays_of_a_skeleton_get_another_number_in_one_call(
    scene: Studio, rig: dict[str, Any]
) -> None:
    before = scene.host.scene_digest()

    scene.do("set_values", items=[SKELETON], values=rig)

    told = scene.do("inspect", items=[SKELETON], names=[*rig])
    assert told["items"][0]["values"] == rig
    assert scene.asked == []
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({**SHORTER, "restTransforms": []}, "restTransforms has 0 entries and joints has 1"),
        ({**LONGER, "bindTransforms": [at_height(0)]}, "joints has 3 entries and bindTransforms"),
        ({"bindTransforms": [], "restTransforms": []}, "bindTransforms has 0 entries and joints"),
        ({"joints": []}, "joints has 0 entries and bindTransforms has 2"),
    ],
)
def test_arrays_of_a_skeleton_that_do_not_agree_in_the_end_are_refused(
    scene: Studio, values: dict[str, Any], why: str
) -> None:
    assert why in scene.fails("set_values", items=[SKELETON], values=values)


@pytest.mark.parametrize("rig", [SHORTER, {prop: [] for prop in SHORTER}])
def test_a_skeleton_keeps_the_joints_that_meshes_are_bound_to(
    scene: Studio, rig: dict[str, Any]
) -> None:
    bind(scene)

    why = scene.fails("set_values", items=[SKELETON], values=rig)

    assert f"joints of {SKELETON} would be {len(rig['joints'])}" in why
    assert f"of {ARM} are those of more" in why


def test_a_joint_goes_where_what_is_bound_to_it_follows_in_the_same_call(scene: Studio) -> None:
    bind(scene)
    new: dict[str, dict[str, Any]] = {
        SKELETON: SHORTER,
        ARM: {"primvars:skel:jointIndices": [0] * 12},
    }
    changes = []
    for item, values in new.items():
        changes += [{"item": item, "prop": prop, "value": values[prop]} for prop in values]

    scene.do("set_values", changes=changes)

    told = scene.do("inspect", items=[SKELETON], names=["joints"])
    assert told["items"][0]["values"]["joints"] == ["shoulder"]


def test_a_mesh_is_not_bound_by_indices_of_other_joints(scene: Studio) -> None:
    scene.do("set_values", items=[ARM], values={"primvars:skel:jointIndices": [2] * 12})

    why = scene.fails("set_values", items=[ARM], values={"skel:skeleton": SKELETON})

    assert f"of {ARM} are numbers of joints, from 0 to 1, the last joint" in why


def test_things_that_are_created_agree_with_each_other(scene: Studio) -> None:
    values = {**RIG, "restTransforms": [at_height(0)]}
    thing = {"type": "Skeleton", "name": "Other", "under": ROOT, "values": values}

    why = scene.fails("create", things=[thing])

    assert "joints has 2 entries and restTransforms has 1" in why


def test_skeletons_of_one_call_are_checked_in_one_walk_of_the_scene(
    scene: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = list[Any]()
    walk = Usd.Stage.Traverse

    def counted(stage: Usd.Stage, *predicate: Any) -> Any:
        walks.append(predicate)
        return walk(stage, *predicate)

    monkeypatch.setattr(Usd.Stage, "Traverse", counted)
    thing = {"type": "Skeleton", "name": "Other", "under": ROOT, "values": RIG}

    scene.do("create", things=[thing])
    for_one = len(walks)
    scene.do("create", things=[thing] * 3)

    assert len(walks) == 2 * for_one


def test_a_check_names_what_does_not_agree_in_a_rig(scene: Studio) -> None:
    bind(scene)
    skeleton = scene.host.stage.GetPrimAtPath(SKELETON)
    with scene.host.undo_step("break the rig"):
        UsdSkel.Skeleton(skeleton).GetJointsAttr().Set(["shoulder"])

    ours = operations(scene.host)
    assert isinstance(ours, UsdOperations)
    found = dict(ours.failures("usd_skel", [SKELETON, WAVE, ARM]))

    assert "joints has 1 entries and bindTransforms has 2" in found[SKELETON]
    assert f"of {ARM} are numbers of joints, from 0 to 0" in found[ARM]
    assert found[WAVE] == ""


def test_a_property_of_a_schema_brings_the_schema(scene: Studio) -> None:
    things = [{"type": "SphereLight", "name": "Spot", "under": "/World"}]
    scene.do("create", things=things)
    before = scene.host.scene_digest()

    scene.do("set_values", items=["/World/Spot"], values={"inputs:shaping:cone:angle": 30})

    assert "ShapingAPI" in scene.host.stage.GetPrimAtPath("/World/Spot").GetAppliedSchemas()
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_picture_at_a_frame_shows_the_pose(scene: Studio) -> None:
    bind(scene)

    first, last = (
        scene.call("look", {"items": [ARM], "frames": [frame], "view": "front"})
        for frame in (1, 24)
    )

    assert not first.is_error
    assert first.content != last.content


def test_a_rig_that_the_verbs_make_is_one_that_usd_resolves(scene: Studio) -> None:
    bind(scene)

    stage: Any = scene.host.stage
    cache = UsdSkel.Cache()
    root = UsdSkel.Root(stage.GetPrimAtPath(ROOT))
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    assert str(binding.GetSkeleton().GetPath()) == SKELETON
    assert [str(each.GetPrim().GetPath()) for each in binding.GetSkinningTargets()] == [ARM]
