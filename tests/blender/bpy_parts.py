"""Parts of data-blocks as items, run inside of Blender by ``test_operations.py``.

The table has a row for each kind of part; the promises hold for every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import bpy
import pytest
from mathutils import Vector

from dcc_bridge.verbs.items import matching
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from dcc_bridge_blender.part_items import KINDS
from tests.blender.things import cube, scene, thing
from tests.verbs.every_port import EveryPort
from tests.verbs.promises import account_of, call, refused

CURVE: Final = "Cube/curve:location[0]"
TOP: Final = {"low": [-1, -1, 0.5], "high": [1, 1, 1.5]}
HAS_SLOTS: Final = hasattr(bpy.types, "ActionSlot")  # since 4.4


class Row(NamedTuple):
    """A kind of part as an agent meets it.

    Attributes:
        type: The type to create; "" for a part that Blender alone creates.
        under: The item that it is made under.
        item: The item that it is then.
        prop: One of its values.
        value: Another value than that of a new part.
        lost: What an edit that removes it has lost, in words; "" for a part that stays.
        name: The name that is asked for.
    """

    type: str
    under: str
    item: str
    prop: str
    value: Any
    lost: str
    name: str | None = None


ROWS: Final[dict[str, Row]] = {
    "modifier": Row(
        *("BEVEL_MODIFIER", "Cube", "Cube/modifier:Bevel", "segments", 3),
        "modifier Bevel of Cube",
    ),
    "constraint": Row(
        *("TRACK_TO_CONSTRAINT", "Camera", "Camera/constraint:Aim", "target", "Cube"),
        *("constraint Aim of Camera", "Aim"),
    ),
    "constraint of a bone": Row(
        *("IK_CONSTRAINT", "Rig/bone:Arm", "Rig/bone:Arm/constraint:Reach", "chain_count", 2),
        *("constraint Reach of bone Arm of Rig", "Reach"),
    ),
    "bone": Row(
        *("BONE", "Rig", "Rig/bone:Leg", "tail", [0.0, 1.0, 2.0], "bone Leg of Rig", "Leg"),
    ),
    "vertex_group": Row(
        *("VERTEX_GROUP", "Cube", "Cube/vertex_group:Top", "weights", [[0, 0.5], [3, 1.0]]),
        *("vertex group Top of Cube", "Top"),
    ),
    "shape_key": Row(
        *("SHAPE_KEY", "Cube", "Cube/shape_key:Tall", "points", [[0, [3.0, 3.0, 3.0]]]),
        *("shape key Tall of Cube", "Tall"),
    ),
    "curve": Row("", "", CURVE, "extrapolation", "LINEAR", "2 keys of location of Cube"),
    "curve_modifier": Row(
        *("NOISE_CURVE_MODIFIER", CURVE, f"{CURVE}/curve_modifier:NOISE", "strength", 4.0),
        "1 curve modifier of location of Cube",
    ),
    "slot": Row(
        *("OBJECT_SLOT", "action:Walk", "action:Walk/slot:Body", "name_display", "Hips"),
        *("", "Body"),
    ),
    "input": Row(
        *("FLOAT_INPUT", "nodetree:Nodes", "nodetree:Nodes/input:Size", "default_value", 2.5),
        *("socket Size of nodetree:Nodes", "Size"),
    ),
    "output": Row(
        *("FLOAT_OUTPUT", "nodetree:Nodes", "nodetree:Nodes/output:Sum", "description", "All"),
        *("socket Sum of nodetree:Nodes", "Sum"),
    ),
    "view_layer": Row(
        *("VIEW_LAYER", "scene:Scene", "scene:Scene/view_layer:Front", "use_sky", False),
        *("view layer Front of scene:Scene", "Front"),
    ),
    "collection": Row(
        *("", "", "scene:Scene/view_layer:ViewLayer/collection:Collection", "exclude", True),
        "",
    ),
    "spline": Row(
        *("BEZIER_SPLINE", "Path", "Path/spline:0", "points", [[0.0] * 3, [1.0] * 3]),
        "1 point of Path",
    ),
}
CREATED: Final = [name for name, row in ROWS.items() if row.type and (name != "slot" or HAS_SLOTS)]
REMOVED: Final = [name for name in ROWS if ROWS[name].lost]


@pytest.fixture
def operations(tmp_path: Path) -> Iterator[EveryPort]:
    """A file with an armature, a curve, keys, an action and a group of nodes."""
    bpy.ops.wm.read_factory_settings()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "set.blend"))
    host = BlenderHost()
    own = cast("EveryPort", BlenderOperations(host))
    with host.undo_step("Before"):
        own.create("ARMATURE", "Rig", None)
        own.create("BONE", "Arm", "Rig")
        own.create("CURVE", "Path", None)
        own.create("VERTEX_GROUP", "Old", "Cube")
        own.create("ACTION", "Walk", None)
        own.create("GeometryNodeTree", "Nodes", None)
        own.set_keys("Cube", "location", [(1, [0, 0, 0]), (9, [4, 0, 0])], "linear", clear=True)
    yield own
    host.close()


def parts_now() -> dict[str, Any]:
    """Return all values of all parts in the file, by their owners, kinds and names."""
    facts: dict[str, Any] = {}
    blocks = (bpy.data.objects, bpy.data.actions, bpy.data.node_groups, bpy.data.scenes)
    for owner in [block for each in blocks for block in each]:
        _add_parts(facts, owner.name, owner)
        animation: Any = getattr(owner, "animation_data", None)
        facts[f"{owner.name}, action"] = animation and animation.action and animation.action.name
    return facts


def _add_parts(facts: dict[str, Any], path: str, owner: Any) -> None:
    for word, kind in KINDS.items():
        for name, part in kind.parts(owner).items():
            place = f"{path}/{word}:{name}"
            settable = [rna for rna in part.bl_rna.properties if not rna.is_readonly]
            facts[place] = {rna.identifier: _fact(part, rna) for rna in settable}
            facts[place] |= {value: access.read(part) for value, access in kind.values.items()}
            _add_parts(facts, place, part)


def _fact(part: Any, rna: Any) -> str:
    value = getattr(part, rna.identifier)
    if rna.type == "POINTER":
        return str(value and value.name)
    return repr(value[:] if getattr(rna, "is_array", False) else value)


@contextmanager
def one_step(operations: EveryPort) -> Iterator[None]:
    """See that a block is one step which changes parts, and that undo takes all of it back."""
    host = operations.host
    before = parts_now()
    mark = host.undo_mark()
    with host.undo_step("Ours"):
        yield
    after = host.undo_mark()
    changed = parts_now()
    host.undo()
    assert (after.depth, after.label) == (mark.depth + 1, "Ours")
    assert changed != before
    assert parts_now() == before


def set_value(operations: EveryPort, item: str, prop: str, value: Any) -> None:
    """Set a value in a step of its own."""
    with operations.host.undo_step("Set"):
        operations.set_value(item, prop, value)


def made(operations: EveryPort, row: Row) -> str:
    """Create the part of a row, where it is not there already."""
    if not row.type:
        return row.item
    with operations.host.undo_step("Created"):
        return operations.create(row.type, row.name, row.under)


def test_each_kind_of_part_has_a_row() -> None:
    assert set(KINDS) <= set(ROWS)


@pytest.mark.parametrize("kind", CREATED)
def test_a_part_is_created_in_one_step_and_listed(kind: str, operations: EveryPort) -> None:
    row = ROWS[kind]

    with one_step(operations):
        item = operations.create(row.type, row.name, row.under)
        word = item.rpartition("/")[2].partition(":")[0]
        assert item == row.item
        assert operations.kind(item) == row.type
        assert operations.parent(item) == row.under
        assert item in operations.items(f"{row.under}/{word}:")
        assert item in operations.items(f"{row.under}/")
        assert not operations.host.lost([])


def test_all_parts_of_an_item_are_listed_with_the_parts_of_these(operations: EveryPort) -> None:
    with operations.host.undo_step("Others"):
        reach = operations.create("IK_CONSTRAINT", "Reach", "Rig/bone:Arm")
        noise = operations.create("NOISE_CURVE_MODIFIER", None, CURVE)

    assert operations.items("Rig/") == ["Rig/bone:Arm", reach]
    assert noise in operations.items("Cube/")
    assert operations.items("Cube/curve:") == [CURVE[:-2] + f"{at}]" for at in range(3)]


@pytest.mark.parametrize("kind", [*CREATED, "curve", "collection"])
def test_a_value_of_a_part_is_set_in_one_step(kind: str, operations: EveryPort) -> None:
    row = ROWS[kind]
    item = made(operations, row)
    assert row.prop in operations.look_into(item, "values")

    with one_step(operations):
        operations.set_value(item, row.prop, row.value)
        if row.prop != "name_display":  # by which it is found
            assert operations.value(item, row.prop).value == row.value


@pytest.mark.parametrize("kind", REMOVED)
def test_a_deleted_part_is_named_as_a_loss_unless_somebody_agreed_to_it(
    kind: str, operations: EveryPort
) -> None:
    row = ROWS[kind]
    item = made(operations, row)
    operations.host.fingerprint([item])

    with one_step(operations):
        operations.delete([item])
        assert operations.host.lost([]) == [row.lost]
        assert operations.host.lost([item]) == []
        assert operations.host.kinds([item]) == ["gone"]
        assert not operations.still_there([item])


@pytest.mark.parametrize(
    "kind", ["modifier", "constraint", "bone", "vertex_group", "shape_key", "spline"]
)
def test_a_copy_of_a_part_has_its_values(kind: str, operations: EveryPort) -> None:
    row = ROWS[kind]
    item = made(operations, row)
    set_value(operations, item, row.prop, row.value)

    with one_step(operations):
        copy = operations.duplicate(item, linked=False)
        assert copy != item
        assert operations.value(copy, row.prop).value == row.value


def test_bones_move_a_mesh(operations: EveryPort) -> None:
    with one_step(operations):
        operations.create("BONE", "Hand", "Rig/bone:Arm")
        operations.create("VERTEX_GROUP", "Hand", "Cube")
        operations.set_value("Cube/vertex_group:Hand", "weights", {**TOP, "weight": 1})
        modifier = operations.create("ARMATURE_MODIFIER", None, "Cube")
        operations.set_value(modifier, "object", "Rig")
        operations.set_keys("Rig/bone:Hand", "location", [(1, [0, 2, 0])], "linear", clear=False)
        operations.set_value("@scene", "frame", 1)
        _, high = operations.bounds("Cube") or pytest.fail("it has no size")
        assert high[2] == pytest.approx(3)


def test_a_bone_below_another_one_begins_where_that_ends(operations: EveryPort) -> None:
    hand = operations.create("BONE", "Hand", "Rig/bone:Arm")

    assert hand == "Rig/bone:Hand"
    assert operations.value(hand, "parent").value == "Arm"
    assert operations.value(hand, "head").value == operations.value("Rig/bone:Arm", "tail").value
    assert operations.value(hand, "tail").value == [0, 0, 2]


def test_the_ends_of_a_bone_may_be_set_in_any_order(operations: EveryPort) -> None:
    """Blender drops a bone whose ends are in one place."""
    operations.set_value("Rig/bone:Arm", "head", [0, 0, 1])
    operations.set_value("Rig/bone:Arm", "tail", [0, 1, 1])
    operations.set_value("Rig/bone:Arm", "roll", 30)

    assert operations.value("Rig/bone:Arm", "head").value == [0, 0, 1]
    assert operations.value("Rig/bone:Arm", "tail").value == [0, 1, 1]
    assert operations.value("Rig/bone:Arm", "roll").value == pytest.approx(30)


def test_mode_and_active_object_are_as_before_an_edit_of_bones(operations: EveryPort) -> None:
    layer: Any = bpy.context.view_layer
    layer.objects.active = cube()

    operations.create("BONE", None, "Rig")

    assert layer.objects.active == cube()
    assert bpy.context.mode == "OBJECT"


def test_what_names_a_bone_or_a_vertex_group_is_found(operations: EveryPort) -> None:
    operations.create("VERTEX_GROUP", "Arm", "Cube")
    modifier = operations.create("ARMATURE_MODIFIER", None, "Cube")
    operations.set_value(modifier, "object", "Rig")
    mask = operations.create("MASK_MODIFIER", None, "Cube")
    operations.set_value(mask, "vertex_group", "Arm")
    follow = operations.create("COPY_LOCATION_CONSTRAINT", "Follow", "Light")
    operations.set_value(follow, "target", "Rig")
    operations.set_value(follow, "subtarget", "Arm")

    assert set(operations.users("Rig/bone:Arm")) == {"Cube/vertex_group:Arm", follow}
    assert operations.users("Cube/vertex_group:Arm") == [mask]
    assert set(operations.dependents(["Rig/bone:Arm"])) == {"Cube/vertex_group:Arm", follow}
    assert operations.dependents(["Cube/vertex_group:Arm", mask]) == []


def test_the_vertex_groups_of_a_renamed_bone_follow(operations: EveryPort) -> None:
    with operations.host.undo_step("Skin"):
        operations.create("VERTEX_GROUP", "Arm", "Cube")
        modifier = operations.create("ARMATURE_MODIFIER", None, "Cube")
        operations.set_value(modifier, "object", "Rig")

    with one_step(operations):
        assert operations.rename("Rig/bone:Arm", "Wing") == "Rig/bone:Wing"
        assert "Wing" in cube().vertex_groups


def test_a_shape_key_comes_with_its_basis_and_is_keyed(operations: EveryPort) -> None:
    tall = made(operations, ROWS["shape_key"])

    with one_step(operations):
        operations.set_value(tall, "points", {**TOP, "move": [0, 0, 2]})
        operations.set_keys(tall, "value", [(1, 0.0), (9, 1.0)], "linear", clear=False)
        operations.set_value("@scene", "frame", 9)
        _, high = operations.bounds("Cube") or pytest.fail("it has no size")
        assert high[2] == pytest.approx(3)
    assert operations.items("Cube/shape_key:") == ["Cube/shape_key:Basis", tall]


def test_handles_of_keys_are_set(operations: EveryPort) -> None:
    changed = {"frame": 1, "handle_right": [4, 2], "interpolation": "BEZIER"}

    with one_step(operations):
        operations.set_value(CURVE, "handles", [changed])
        first, _ = operations.value(CURVE, "handles").value
        assert first["handle_right"] == [4, 2]
        assert first["interpolation"] == "BEZIER"


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have no slots")
def test_a_slot_of_an_action_animates_and_goes_with_its_keys(operations: EveryPort) -> None:
    slot = made(operations, ROWS["slot"])
    set_value(operations, "Light", "action", "action:Walk")
    assert operations.value("Light", "action_slot").value == "Body"
    with operations.host.undo_step("Keys"):
        operations.set_keys("Light", "location", [(1, [0, 0, 0])], "linear", clear=False)
    operations.host.fingerprint([slot])

    with one_step(operations):
        operations.delete([slot])
        assert "animation of Light" in operations.host.lost([])
        assert operations.host.lost([slot]) == []


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have no slots")
def test_a_slot_of_an_action_is_renamed(operations: EveryPort) -> None:
    slot = made(operations, ROWS["slot"])

    with one_step(operations):
        assert operations.rename(slot, "Feet") == "action:Walk/slot:Feet"
        assert operations.items("action:Walk/slot:") == ["action:Walk/slot:Feet"]


def test_an_action_is_given_to_an_item_and_taken_from_it(operations: EveryPort) -> None:
    with one_step(operations):
        operations.set_value("Light", "action", "action:Walk")
        assert thing("Light").animation_data.action == bpy.data.actions["Walk"]
    set_value(operations, "Light", "action", "action:Walk")
    with one_step(operations):
        operations.set_value("Light", "action", None)
        assert operations.value("Light", "action").value is None


def test_the_view_layer_that_is_shown_stays(operations: EveryPort) -> None:
    """Undo would bring it back, and leave the window in another one."""
    front = operations.create("VIEW_LAYER", "Front", None)

    with pytest.raises(ValueError, match="ViewLayer is shown in a window"):
        operations.delete(["scene:Scene/view_layer:ViewLayer"])
    operations.delete([front])

    assert [layer.name for layer in scene().view_layers] == ["ViewLayer"]


def test_the_view_layer_that_is_shown_is_renamed_in_one_step(operations: EveryPort) -> None:
    context: Any = bpy.context

    with one_step(operations):
        main = operations.rename("scene:Scene/view_layer:ViewLayer", "Main")
        assert context.view_layer.name == "Main"
        assert operations.kind(main) == "VIEW_LAYER"
    assert context.view_layer.name == "ViewLayer"


def test_a_collection_that_is_left_out_loses_no_selection_for_good(operations: EveryPort) -> None:
    layer: Any = bpy.context.view_layer
    layer.objects.active = cube()
    cube().select_set(True)
    bpy.ops.ed.undo_push(message="Selected")

    with one_step(operations):
        operations.set_value(ROWS["collection"].item, "exclude", True)
        layer.update()
        assert "Cube" not in layer.objects

    layer = bpy.context.view_layer
    assert (layer.objects.active, list(layer.objects.selected)) == (cube(), [cube()])
    assert layer.active_layer_collection.name == "Collection"


def test_of_two_splines_the_right_one_is_deleted(operations: EveryPort) -> None:
    first = operations.create("POLY_SPLINE", None, "Path")
    second = operations.create("POLY_SPLINE", None, "Path")
    operations.set_value(second, "points", [[0, 0, 0], [5, 0, 0]])

    operations.delete([first])

    assert operations.value("Path/spline:0", "points").value == [[0, 0, 0], [5, 0, 0]]
    assert operations.still_there([first]) == []


REFUSED: Final[dict[str, Callable[[EveryPort], Any]]] = {
    "needs the item that it is made under": call("create", "BONE", None, None),
    "BONE under Cube: ": call("create", "BONE", None, "Cube"),
    "a CAMERA has no vertex groups": call("create", "VERTEX_GROUP", None, "Camera"),
    "tail is where the head is": call("set_value", "Rig/bone:Arm", "tail", [0, 0, 0]),
    "head takes": call("set_value", "Rig/bone:Arm", "head", [0, 0]),
    "is the name of another bone": call("set_value", "Rig/bone:Arm", "parent", "Nobody"),
    "is the bone itself": call("set_value", "Rig/bone:Arm", "parent", "Arm"),
    "use_connect needs a parent": call("set_value", "Rig/bone:Arm", "use_connect", True),
    "head takes no keys": call(
        "set_keys", "Rig/bone:Arm", "head", [(1, [0, 0, 0])], "linear", clear=False
    ),
    "lock_weight takes no keys": call(
        "set_keys", "Cube/vertex_group:Old", "lock_weight", [(1, True)], "linear", clear=False
    ),
    "no key at 5": call("set_value", CURVE, "handles", [{"frame": 5}]),
    "keeps at least one view layer": call("delete", ["scene:Scene/view_layer:ViewLayer"]),
    "as long as what it stands for": call("delete", [ROWS["collection"].item]),
    "there is no action": call("set_value", "Light", "action", "Run"),
    "which cannot be copied": call("duplicate", CURVE, linked=False),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_is_refused_with_its_reason(why: str, operations: EveryPort) -> None:
    refused(operations, REFUSED[why], why, may_begin=True)


OWNERS: Final = (
    *("Cube", "Camera", "Light", "Rig", "Path", "Hold", "Rig/bone:Arm", "Cube/vertex_group:Old"),
    *("material:Material", "material:Material/Mix", "mesh:Cube", "armature:Rig", "action:Walk"),
    *("nodetree:Nodes", "scene:Scene", "world:World", "collection:Collection", CURVE),
    "scene:Scene/view_layer:ViewLayer",
)
"""An item of each kind that something could be made under, fitting or not."""
FITTING: Final[dict[str, tuple[str, ...]]] = {
    "BEVEL_MODIFIER": ("Cube", "Path"),
    "TRACK_TO_CONSTRAINT": ("Cube", "Camera", "Light", "Rig", "Path", "Hold", "Rig/bone:Arm"),
    "BONE": ("Rig", "Rig/bone:Arm"),
    "VERTEX_GROUP": ("Cube",),
    "SHAPE_KEY": ("Cube", "Path"),
    "NOISE_CURVE_MODIFIER": (CURVE,),
    "OBJECT_SLOT": ("action:Walk",),
    "FLOAT_INPUT": ("nodetree:Nodes",),
    "FLOAT_OUTPUT": ("nodetree:Nodes",),
    "VIEW_LAYER": ("scene:Scene",),
    "BEZIER_SPLINE": ("Path",),
}
"""By the type of a part, the items of `OWNERS` that it can be made under."""


def test_each_kind_of_part_that_is_created_has_its_fitting_owners() -> None:
    assert {row.type for row in ROWS.values() if row.type} - {"IK_CONSTRAINT"} == set(FITTING)


@pytest.mark.parametrize("owner", OWNERS)
def test_a_part_is_made_under_what_fits_and_refused_elsewhere_in_words(
    owner: str, operations: EveryPort
) -> None:
    with operations.host.undo_step("Others"):
        operations.create("ShaderNodeMixRGB", "Mix", "material:Material")
        operations.create("EMPTY", "Hold", None)
    types = set(FITTING) & set(operations.types())

    for kind in sorted(types):
        if owner in FITTING[kind]:
            operations.create(kind, None, owner)
            continue
        before = parts_now()
        with pytest.raises(ValueError, match=f"{kind} under|{kind} is made under") as caught:
            operations.create(kind, None, owner)
        assert owner in str(caught.value)
        assert "attribute" not in str(caught.value)
        assert parts_now() == before


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (2, "weight takes 0 to 1"),
        ([[99, 1]], "there is no vertex 99"),
        ([[0]], "an entry is"),
        ({"low": [5, 5, 5], "high": [6, 6, 6], "weight": 1}, "no vertex is between"),
        ({"low": [0, 0, 0], "weight": 1}, "a box has low, high and weight"),
        ("all", "it takes"),
    ],
)
def test_weights_that_cannot_be_are_refused(value: Any, why: str, operations: EveryPort) -> None:
    group = operations.create("VERTEX_GROUP", "Top", "Cube")

    with pytest.raises(ValueError, match=why):
        operations.set_value(group, "weights", value)


def test_bones_of_an_armature_that_is_hidden_or_in_edit_mode_are_not_edited(
    operations: EveryPort,
) -> None:
    rig = thing("Rig")
    rig.hide_viewport = True
    with pytest.raises(ValueError, match="Rig is hidden"):
        operations.create("BONE", None, "Rig")
    rig.hide_viewport = False
    layer: Any = bpy.context.view_layer
    layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(ValueError, match="is in edit mode"):
        operations.create("BONE", None, "Rig")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_part_that_is_not_there_is_told_with_those_that_are(operations: EveryPort) -> None:
    with pytest.raises(LookupError, match="names like it: Rig/bone:Arm"):
        operations.kind("Rig/bone:Arn")


def test_a_pattern_of_an_edit_means_parts_too(operations: EveryPort) -> None:
    hand = operations.create("BONE", "Hand", "Rig/bone:Arm")

    assert matching(operations, ["Rig/bone:*"]) == ["Rig/bone:Arm", hand]
    assert matching(operations, ["Rig/bone:H*"]) == [hand]
    assert matching(operations, ["Cube/curve:location[*"]) == operations.items("Cube/curve:")
    assert matching(operations, ["material:*"]) == list(operations.items("material:"))
    for nothing in ("Rig/bone:None*", "None/bone:*", "Rig/none:*"):
        with pytest.raises(LookupError, match="No item matches"):
            matching(operations, [nothing])


# ---- what the answer of an edit says

GROUP: Final = "Cube/vertex_group:Old"
KEYED: Final = "action:CubeAction/curve:location[0]"
TOLD: Final[dict[str, Callable[[EveryPort], Any]]] = {
    "created: Rig/bone:Leg": call("create", "BONE", "Leg", "Rig"),
    "created: Rig/bone:Arm.001": call("duplicate", "Rig/bone:Arm", linked=False),
    "created: Rig/bone:Arm/constraint:Reach": call(
        "create", "IK_CONSTRAINT", "Reach", "Rig/bone:Arm"
    ),
    "deleted: Rig/bone:Hand": call("delete", ["Rig/bone:Hand"]),
    "changed: Rig/bone:Hand is Rig/bone:Palm": call("rename", "Rig/bone:Hand", "Palm"),
    "changed: Rig/bone:Hand is Rig/bone:Arm:L": call("rename", "Rig/bone:Hand", "Arm:L"),
    "changed: Rig/bone:Arm, rotation_euler: [0, 0, 0] -> [0, 0, 90]": call(
        "set_value", "Rig/bone:Arm", "rotation_euler", [0, 0, 90]
    ),
    "changed: Rig/bone:Arm, location: [0, 0, 0] -> [1, 0, 0]": call(
        "set_value", "Rig/bone:Arm", "location", [1, 0, 0]
    ),
    "changed: Rig/bone:Arm, tail: [0, 0, 1] -> [0, 1, 2]": call(
        "set_value", "Rig/bone:Arm", "tail", [0, 1, 2]
    ),
    "changed: Rig/bone:Arm, roll: 0 -> 20": call("set_value", "Rig/bone:Arm", "roll", 20),
    "created: Cube/vertex_group:New": call("create", "VERTEX_GROUP", "New", "Cube"),
    "deleted: Cube/vertex_group:Old": call("delete", [GROUP]),
    f"changed: {GROUP}, weights of 2 vertices": call(
        "set_value", GROUP, "weights", [[0, 0.5], [3, 1]]
    ),
    f"changed: {GROUP}, weights of 1 vertex": call("set_value", GROUP, "weights", [[0, 0.5]]),
    "created: Cube/shape_key:Wide": call("create", "SHAPE_KEY", "Wide", "Cube"),
    "changed: Cube/shape_key:Tall, 1 point": call(
        "set_value", "Cube/shape_key:Tall", "points", [[0, [3, 3, 3]]]
    ),
    "changed: Cube/shape_key:Tall, slider_max: 1 -> 2": call(
        "set_value", "Cube/shape_key:Tall", "slider_max", 2
    ),
    f"changed: {KEYED}, 1 key": call(
        "set_value", CURVE, "handles", [{"frame": 1, "handle_left": [0, 1]}]
    ),
    f"created: {KEYED}/curve_modifier:NOISE": call("create", "NOISE_CURVE_MODIFIER", None, CURVE),
    f"created: {KEYED}/curve_modifier:CYCLES": call("create", "CYCLES_CURVE_MODIFIER", None, CURVE),
}


@pytest.mark.parametrize("now", TOLD)
def test_an_edit_of_a_part_is_told_by_the_item_of_the_part(now: str, operations: EveryPort) -> None:
    with operations.host.undo_step("Others"):
        hand = operations.create("BONE", "Hand", "Rig/bone:Arm")
        operations.set_value(hand, "tail", [0.123456, 0.3, 1.7])
        operations.create("SHAPE_KEY", "Tall", "Cube")

    told = account_of(operations, TOLD[now])

    handles_follow = f". changed: {KEYED}, 2 keys"  # as a curve has modifiers
    assert told.removesuffix(handles_follow) == now


def test_an_armature_with_too_many_bones_is_told_as_a_whole(operations: EveryPort) -> None:
    rig = thing("Rig")
    layer: Any = bpy.context.view_layer
    layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for at in range(400):
        bone = rig.data.edit_bones.new("Link")
        bone.tail = (0.0, 0.0, 1.0 + at)
    bpy.ops.object.mode_set(mode="OBJECT")

    told = account_of(operations, call("create", "BONE", "Leg", "Rig"))

    assert told == "changed: armature:Rig, its geometry"


# ---- names that read as another item


AMBIGUOUS: Final = ("Cube/modifier:Bevel", "material:Material", "material:Material/Mix", "object:A")


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_object_that_is_called_as_another_item_hides_nothing(
    name: str, operations: EveryPort
) -> None:
    with operations.host.undo_step("Others"):
        operations.create("BEVEL_MODIFIER", None, "Cube")
        operations.create("ShaderNodeMixRGB", "Mix", "material:Material")
        operations.create("EMPTY", "A", None)

    with one_step(operations):
        made = operations.create("EMPTY", name, None)
        operations.set_value(made, "empty_display_size", 3.0)
        operations.create("DECIMATE_MODIFIER", None, "Cube")

    assert made == f"object:{name}"
    assert "EMPTY" not in operations.host.kinds([name])


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_such_an_object_is_listed_renamed_and_deleted_by_its_item(
    name: str, operations: EveryPort
) -> None:
    item = f"object:{name}"
    with operations.host.undo_step("Others"):
        operations.create("BEVEL_MODIFIER", None, "Cube")
        operations.create("EMPTY", "Plain", None)

    assert operations.called("Plain", name) == (item, [])
    with operations.host.undo_step("Rename"):
        assert operations.rename("Plain", name) == item
    assert item in operations.items()
    assert operations.name(item) == name
    operations.host.fingerprint([item])
    with operations.host.undo_step("Delete"):
        operations.delete([item])
        assert operations.host.lost([item]) == []
        assert operations.host.lost([]) == [item]
    assert operations.kind("Cube/modifier:Bevel") == "BEVEL_MODIFIER"


def test_a_name_without_its_part_leads_to_the_object_that_has_it(operations: EveryPort) -> None:
    operations.create("EMPTY", "Cube/modifier:Bevel", None)

    with pytest.raises(LookupError, match="names like it: object:Cube/modifier:Bevel"):
        operations.kind("Cube/modifier:Bevel")


# ---- what a person would lose


def grid(operations: EveryPort) -> Any:
    """Return the mesh of an object Grid with more vertices than are told."""
    operations.create("GRID", "Grid", None)
    mesh: Any = thing("Grid").data
    mesh.clear_geometry()
    mesh.vertices.add(2_500)
    return mesh


def test_a_copy_of_a_vertex_group_has_the_weights_that_are_not_told_too(
    operations: EveryPort,
) -> None:
    mesh = grid(operations)
    group = operations.create("VERTEX_GROUP", "All", "Grid")
    operations.set_value(group, "weights", 0.5)

    operations.duplicate(group, linked=False)

    assert sum(len(vertex.groups) == 2 for vertex in mesh.vertices) == 2_500


def test_a_copy_of_a_shape_key_has_the_points_that_are_not_told_too(operations: EveryPort) -> None:
    mesh = grid(operations)
    key = operations.create("SHAPE_KEY", "Up", "Grid")
    everywhere = {"low": [-9, -9, -9], "high": [9, 9, 9], "move": [0, 0, 1]}
    operations.set_value(key, "points", everywhere)

    operations.duplicate(key, linked=False)

    assert sum(point.co.z == 1 for point in mesh.shape_keys.key_blocks[2].data) == 2_500


def test_locked_weights_are_set_only_where_the_lock_may_go(operations: EveryPort) -> None:
    group = operations.create("VERTEX_GROUP", "Top", "Cube")
    operations.set_value(group, "weights", 1)
    operations.set_value(group, "lock_weight", True)

    with pytest.raises(ValueError, match="is locked"):
        operations.set_value(group, "weights", 0.5)
    operations.set_value(group, "weights", [[0, 0.5]], replace=True)

    assert operations.value(group, "weights").value[0] == [0, 0.5]


def test_a_weight_of_0_takes_all_vertices_out_of_a_group(operations: EveryPort) -> None:
    group = operations.create("VERTEX_GROUP", "Top", "Cube")
    operations.set_value(group, "weights", 1)

    operations.set_value(group, "weights", 0)

    assert operations.value(group, "weights").value == []


def test_handles_stay_with_their_points(operations: EveryPort) -> None:
    spline = operations.create("BEZIER_SPLINE", None, "Path")
    operations.set_value(spline, "points", [[0, 0, 0], [4, 0, 0]])
    points = thing("Path").data.splines[0].bezier_points
    for point in points:
        point.handle_left_type = "FREE"
        point.handle_right_type = "FREE"
        point.handle_right = point.co + Vector((0, 0, 3))

    copy = operations.duplicate(spline, linked=False)
    operations.set_value(copy, "points", [[1, 0, 0], [4, 0, 0], [8, 0, 0]])

    changed = thing("Path").data.splines[1].bezier_points
    assert [point.handle_right_type for point in changed] == ["FREE", "FREE", "AUTO"]
    assert changed[0].handle_right[:] == (1, 0, 3)


def test_weights_of_a_nurbs_spline_stay(operations: EveryPort) -> None:
    spline = operations.create("NURBS_SPLINE", None, "Path")
    thing("Path").data.splines[0].points[0].co = (0, 0, 0, 0.5)

    operations.set_value(spline, "points", [[1, 0, 0], [2, 0, 0]])

    assert [point.co[3] for point in thing("Path").data.splines[0].points] == [0.5, 1]


def test_a_surface_takes_no_more_points(operations: EveryPort) -> None:
    """Blender itself would write beyond the memory of its points."""
    bpy.ops.surface.primitive_nurbs_surface_surface_add()
    layer: Any = bpy.context.view_layer
    spline = f"{layer.objects.active.name}/spline:0"
    points = operations.value(spline, "points").value

    with pytest.raises(ValueError, match="a surface keeps its 16 points"):
        operations.set_value(spline, "points", [*points, [0, 0, 0]])
    with pytest.raises(ValueError, match="a SURFACE has no splines"):
        operations.duplicate(spline, linked=False)


def test_the_splines_of_a_curve_with_shape_keys_stay(operations: EveryPort) -> None:
    spline = operations.create("POLY_SPLINE", None, "Path")
    operations.create("SHAPE_KEY", "Up", "Path")

    for edit in (
        call("create", "POLY_SPLINE", None, "Path"),
        call("set_value", spline, "points", [[0, 0, 0], [1, 0, 0]]),
        call("delete", [spline]),
    ):
        with pytest.raises(ValueError, match="has shape keys"):
            edit(operations)


def test_shape_keys_are_not_deleted_in_edit_mode_which_would_make_them_anew(
    operations: EveryPort,
) -> None:
    key = operations.create("SHAPE_KEY", "Up", "Cube")
    layer: Any = bpy.context.view_layer
    layer.objects.active = cube()
    bpy.ops.object.mode_set(mode="EDIT")

    with pytest.raises(ValueError, match="is in edit mode"):
        operations.delete([key])
    bpy.ops.object.mode_set(mode="OBJECT")


LINKED_DATA: Final[dict[str, Callable[[EveryPort], Any]]] = {
    "a vertex group": call("create", "VERTEX_GROUP", "New", "Cube"),
    "weights": call("set_value", "Cube/vertex_group:Top", "weights", 0.5),
    "a group that goes": call("delete", ["Cube/vertex_group:Top"]),
    "the name of a group": call("rename", "Cube/vertex_group:Top", "New"),
    "a shape key": call("create", "SHAPE_KEY", "New", "Cube"),
    "a bone": call("create", "BONE", "New", "Rig"),
    "a place of a bone": call("set_value", "Rig/bone:Arm", "tail", [0, 0, 3]),
    "a bone that goes": call("delete", ["Rig/bone:Arm"]),
    "the name of a bone": call("rename", "Rig/bone:Arm", "New"),
    "a spline": call("create", "POLY_SPLINE", None, "Path"),
}


@pytest.mark.parametrize("what", LINKED_DATA)
def test_data_of_another_file_is_not_changed_through_an_object_of_this_one(
    what: str, operations: EveryPort, tmp_path: Path
) -> None:
    """Blender does not save such a change."""
    operations.create("VERTEX_GROUP", "Top", "Cube")
    file = str(tmp_path / "other.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    names = [thing(name).data.name for name in ("Cube", "Rig", "Path")]
    libraries: Any = bpy.data.libraries
    with libraries.load(file, link=True) as (_, linked):
        linked.meshes, linked.armatures, linked.curves = ([name] for name in names)
    thing("Cube").data = linked.meshes[0]
    thing("Rig").data = linked.armatures[0]
    thing("Path").data = linked.curves[0]

    with pytest.raises(ValueError, match="linked from"):
        LINKED_DATA[what](operations)


def test_a_part_with_a_number_in_its_name_is_not_taken_for_another_one(
    operations: EveryPort,
) -> None:
    for name in ("Size", "Size", "Size 2"):
        operations.create("FLOAT_INPUT", name, "nodetree:Nodes")

    operations.set_value("nodetree:Nodes/input:Size 2", "description", "Third")

    values = [
        operations.value(item, "description").value for item in operations.items("nodetree:Nodes/")
    ]
    assert values == ["", "", "Third"]
    assert "nodetree:Nodes/input:Size 3" in operations.items("nodetree:Nodes/")


def test_a_collection_in_two_others_is_two_parts_of_a_view_layer(operations: EveryPort) -> None:
    operations.create("COLLECTION", "One", None)
    operations.create("COLLECTION", "Both", "collection:One")
    scene().collection.children.link(bpy.data.collections["Both"])

    parts = operations.items("scene:Scene/view_layer:ViewLayer/collection:")

    names = [part.rpartition(":")[2] for part in parts]
    assert sorted(names) == ["Both", "Both 2", "Collection", "One"]


def test_agreement_to_delete_a_spline_ends_as_another_one_takes_its_number(
    operations: EveryPort,
) -> None:
    first = operations.create("POLY_SPLINE", None, "Path")
    operations.create("POLY_SPLINE", None, "Path")
    before = operations.host.fingerprint([first])

    splines = thing("Path").data.splines
    splines.remove(splines[0])

    assert operations.host.fingerprint([first]) != before


def test_agreement_to_delete_a_bone_is_for_all_that_share_its_armature(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Share"):
        operations.duplicate("Rig", linked=True)
    operations.host.fingerprint(["Rig/bone:Arm"])

    with operations.host.undo_step("Delete"):
        operations.delete(["Rig/bone:Arm"])
        assert operations.host.lost(["Rig/bone:Arm"]) == []


def test_what_names_a_renamed_vertex_group_follows(operations: EveryPort) -> None:
    operations.create("VERTEX_GROUP", "Top", "Cube")
    copy = operations.duplicate("Cube", linked=True)
    masks = [operations.create("MASK_MODIFIER", None, owner) for owner in ("Cube", copy)]
    for mask in masks:
        operations.set_value(mask, "vertex_group", "Top")
    assert operations.users("Cube/vertex_group:Top") == masks

    operations.rename("Cube/vertex_group:Top", "Up")

    assert [operations.value(mask, "vertex_group").value for mask in masks] == ["Up", "Up"]


def test_a_modifier_of_a_curve_keeps_its_name(operations: EveryPort) -> None:
    modifier = made(operations, ROWS["curve_modifier"])

    with pytest.raises(ValueError, match="name of its own"):
        operations.rename(modifier, "Loop")


def test_other_selected_armatures_stay_in_their_mode(operations: EveryPort) -> None:
    operations.create("ARMATURE", "Other", None)
    layer: Any = bpy.context.view_layer
    layer.update()
    thing("Other").select_set(state=False)
    layer.objects.active = thing("Rig")
    bpy.ops.object.mode_set(mode="POSE")
    thing("Other").select_set(state=True)

    operations.create("BONE", None, "Rig")

    assert [thing(name).mode for name in ("Rig", "Other")] == ["POSE", "OBJECT"]
    assert thing("Other").select_get()
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("number", [10**400, 1e300, float("nan"), float("-inf"), True])
def test_numbers_that_are_infinite_in_blender_are_refused(
    number: float, operations: EveryPort
) -> None:
    group = operations.create("VERTEX_GROUP", "Top", "Cube")

    with pytest.raises(ValueError, match="takes a number"):
        operations.set_value("Rig/bone:Arm", "tail", [0, 0, number])
    with pytest.raises(ValueError, match="takes a number"):
        operations.set_value(group, "weights", [[0, number]])
    with pytest.raises(ValueError, match="there is no vertex"):
        operations.set_value(group, "weights", [[number, 1]])


def test_what_hangs_from_a_deleted_bone_is_named(operations: EveryPort) -> None:
    hand = operations.create("BONE", "Hand", "Rig/bone:Arm")
    light = thing("Light")
    light.parent = thing("Rig")
    light.parent_type = "BONE"
    light.parent_bone = "Arm"
    follow = operations.create("ARMATURE_CONSTRAINT", "Follow", "Camera")
    target = thing("Camera").constraints["Follow"].targets.new()
    target.target = thing("Rig")
    target.subtarget = "Arm"

    assert set(operations.dependents(["Rig/bone:Arm"])) == {hand, "Light", follow}
    assert operations.dependents([hand]) == []


def test_a_name_that_blender_would_cut_off_is_refused(operations: EveryPort) -> None:
    with pytest.raises(ValueError, match="63 bytes"):
        operations.create("BONE", "é" * 40, "Rig")


@pytest.mark.parametrize("kind", ["modifier", "constraint"])
def test_a_part_that_an_override_has_from_its_library_is_not_deleted(
    kind: str, operations: EveryPort, tmp_path: Path
) -> None:
    """Blender would bring it back as the file is opened."""
    row = ROWS[kind]
    item = made(operations, row)
    file = str(tmp_path / "other.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(file, link=True) as (_, linked):
        linked.objects = [row.under]
    scene().collection.objects.link(linked.objects[0])  # 5.3 overrides only what is in a scene
    name = linked.objects[0].override_create(remap_local_usages=True).name

    with pytest.raises(ValueError, match="is the library's"):
        operations.delete([item.replace(row.under, name)])
    operations.delete([operations.create(row.type, "Own", name)])


def test_a_copy_of_a_constraint_has_what_no_value_tells(operations: EveryPort) -> None:
    made(operations, ROWS["bone"])
    follow = operations.create("ARMATURE_CONSTRAINT", "Follow", "Rig/bone:Leg")
    own = thing("Rig").pose.bones["Leg"].constraints
    own["Follow"].targets.new().subtarget = "Arm"

    copy = operations.duplicate(follow, linked=False)

    assert copy == "Rig/bone:Leg/constraint:Follow.001"
    assert own["Follow.001"].targets[0].subtarget == "Arm"


def test_a_copy_of_a_bone_has_its_place_constraints_and_custom_properties(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Before"):
        hand = operations.create("BONE", "Hand", "Rig/bone:Arm")
        operations.create("BONE", "Finger", hand)
        operations.create("IK_CONSTRAINT", "Reach", hand)
        for prop, value in {
            '["side"]': "left",
            "bone.use_deform": False,
            "use_connect": True,
            "rotation_mode": "XYZ",
            "rotation_euler": [10, 20, 30],
            "location": [1, 2, 3],
            "custom_shape": "Cube",
        }.items():
            operations.set_value(hand, prop, value)
        bones = thing("Rig").data.bones
        bones["Hand"]["note"] = "at rest"
        bones.active = bones["Arm"]

    with one_step(operations):
        copy = operations.duplicate(hand, linked=False)
        assert copy == "Rig/bone:Hand.001"
        pose = thing("Rig").pose.bones
        props = ["head", "tail", "roll", "parent", "use_connect", '["side"]', "location"]
        props += ["rotation_mode", "rotation_euler", "custom_shape", "bone.use_deform"]
        for prop in props:
            assert operations.value(copy, prop).value == operations.value(hand, prop).value
        assert list(pose["Hand.001"].constraints.keys()) == ["Reach"]
        assert pose["Hand.001"].bone["note"] == "at rest"
        assert not pose["Hand.001"].children
        assert thing("Rig").data.bones.active.name == "Arm"


def test_a_bone_that_edit_mode_does_not_show_is_not_copied(operations: EveryPort) -> None:
    layer: Any = bpy.context.view_layer
    layer.objects.active = thing("Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    thing("Rig").data.edit_bones["Arm"].hide = True
    bpy.ops.object.mode_set(mode="OBJECT")

    with pytest.raises(ValueError, match="only bones that it shows"):
        operations.duplicate("Rig/bone:Arm", linked=False)


def with_nodes(operations: EveryPort) -> str:
    """Return a modifier of geometry nodes with a number that an attribute gives."""
    operations.create("GEOMETRY_INPUT", "Geometry", "nodetree:Nodes")
    operations.create("FLOAT_INPUT", "Size", "nodetree:Nodes")
    operations.create("FLOAT_INPUT", "Weight", "nodetree:Nodes")
    operations.create("GEOMETRY_OUTPUT", "Geometry", "nodetree:Nodes")
    modifier = operations.create("NODES_MODIFIER", "Scatter", "Cube")
    operations.set_value(modifier, "node_group", "nodetree:Nodes")
    return modifier


def inputs_of(operations: EveryPort, modifier: str) -> dict[str, Any]:
    """Return the inputs of a modifier of geometry nodes, by their names for set_values."""
    values = operations.look_into(modifier, "values")
    return {
        name: told.value for name, told in values.items() if "Socket_" in name or "Input_" in name
    }


def test_a_copy_of_a_modifier_of_geometry_nodes_has_its_group_and_inputs(
    operations: EveryPort,
) -> None:
    with operations.host.undo_step("Before"):
        modifier = with_nodes(operations)
        names = list(inputs_of(operations, modifier))
        is_new = bpy.app.version >= (5, 2)
        end = ".value" if is_new else '"]'
        size, weight = (name for name in names if name.endswith(end) and "_attribute" not in name)
        start = weight.removesuffix(end)
        operations.set_value(modifier, size, 2.5)
        if is_new:
            operations.set_value(modifier, f"{start}.type", "ATTRIBUTE")
            operations.set_value(modifier, f"{start}.attribute_name", "mass")
        else:
            operations.set_value(modifier, f'{start}_use_attribute"]', True)
            operations.set_value(modifier, f'{start}_attribute_name"]', "mass")

    with one_step(operations):
        copy = operations.duplicate(modifier, linked=False)
        assert copy == "Cube/modifier:Scatter.001"
        assert operations.value(copy, "node_group").value == "nodetree:Nodes"
        assert inputs_of(operations, copy) == inputs_of(operations, modifier)
        assert {2.5, "mass"} <= set(inputs_of(operations, copy).values())


def test_the_weights_of_strokes_are_refused_with_what_sets_them(operations: EveryPort) -> None:
    lists: Any = getattr(bpy.data, "grease_pencils_v3", bpy.data.grease_pencils)
    pencil = bpy.data.objects.new("Pencil", lists.new("Pencil"))
    scene().collection.objects.link(pencil)
    function = "weight_set" if bpy.app.version < (4, 3) else "set_vertex_weights"
    group = operations.create("VERTEX_GROUP", "Line", "Pencil")

    assert operations.items("Pencil/vertex_group:") == [group]
    with pytest.raises(ValueError, match=function):
        operations.value(group, "weights")
    with pytest.raises(ValueError, match=function):
        operations.set_value(group, "weights", 1)
    with pytest.raises(ValueError, match=function):
        operations.duplicate(group, linked=False)


def test_handles_of_a_bezier_point_are_set_by_its_number(operations: EveryPort) -> None:
    with operations.host.undo_step("Before"):
        spline = operations.create("BEZIER_SPLINE", None, "Path")
        operations.set_value(spline, "points", [[0, 0, 0], [1, 0, 0]])

    with one_step(operations):
        operations.set_value(spline, "bezier_points[1].handle_right_type", "FREE")
        operations.set_value(spline, "bezier_points[1].handle_right", [2, 1, 0])
        operations.set_value(spline, "use_cyclic_u", True)
        assert operations.value(spline, "bezier_points[1].handle_right").value == [2, 1, 0]
