"""What the acts of our own application promise, on real USD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import dist
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest
from pxr import Gf, Usd, UsdGeom, UsdShade

from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.verbs.acts import SCENE, Acts, Bounds, SocketLink, load
from tests.verbs import usd_scene
from tests.verbs.acts_contract import (
    EDITS,
    ActsContract,
    FilesContract,
    MaterialsContract,
    PlacingContract,
    SeeingContract,
    Stand,
    Words,
    check_edit,
    furnish,
)
from tests.verbs.promises import Edit, refused

SKILLS = Path(__file__).parents[2] / "plugins" / "standalone" / "skills"
PROPS = "/World/Props"
CRATE, TREE = f"{PROPS}/Crate", f"{PROPS}/Tree"
CAMERA = "/World/Rig/Camera"
RED = "/World/Looks/Red"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[UsdSession]:
    """A scene with what artists leave behind."""
    session = UsdSession(usd_scene.make(tmp_path / "shot.usda"))
    uninstall = install(session)
    yield session
    uninstall()


@pytest.fixture
def acts(session: UsdSession) -> Acts:
    """Its acts, as the bridge loads them."""
    loaded = load(SKILLS, session)
    assert loaded is not None
    return loaded


def layered(folder: Path) -> Acts:
    """Give the acts of a scene that another layer holds, below the one that is edited."""
    usd_scene.make(folder / "below.usda")
    (folder / "above.usda").write_text("#usda 1.0\n(subLayers = [@./below.usda@])\n")
    acts = load(SKILLS, UsdSession(folder / "above.usda"))
    assert acts is not None
    return acts


def is_near(one: Any, other: Any, most: float = 1e-3) -> bool:
    return all(dist(a, b) < most for a, b in zip(one, other, strict=True))


def fail_after(acts: Acts, edit: Edit) -> NoReturn:
    edit(acts)
    raise ZeroDivisionError


def box(acts: Acts, item: str) -> Bounds:
    bounds = acts.bounds(item)
    assert bounds is not None
    return bounds


def textures(_: Stand) -> tuple[SocketLink, SocketLink]:
    """Two readers of files lead into one colour."""
    wood = "/World/Looks/Wood"
    first, second = (
        SocketLink(f"{wood}/{name}", "rgb", f"{wood}/Surface", "diffuseColor")
        for name in ("Lost", "Absolute")
    )
    return first, second


def connected(stand: Stand) -> tuple[str, str]:
    link = textures(stand)[0]
    stand.acts.connect(link)
    return link.target, "inputs:diffuseColor"


def collected(acts: Acts, collection: str) -> list[str]:
    prim, _, name = collection.partition(".collection:")
    stage = cast("UsdSession", acts.host).stage
    members = Usd.CollectionAPI(stage.GetPrimAtPath(prim), name)
    return list(map(str, members.GetIncludesRel().GetTargets()))


@pytest.mark.core
class TestUsdActs(ActsContract, MaterialsContract, PlacingContract, FilesContract, SeeingContract):
    words = Words(
        solid="Cube",
        kind="Cube",
        group="Xform",
        hollow="Xform",
        number=("size", 5.0),
        links=textures,
        scene={
            "start": 101,
            "end": 120,
            "fps": 25,
            "units": "m",
            "size": [640, 360],
            "up": "Z",
            "camera": "",
            "default_prim": PROPS,
        },
        collection="collection",
        members=collected,
        no_name="1 tree",
        file=".usda",
        exchange=".usdc",
        top="/World",
        holds={"connected to": connected},
        keyed="xformOp:rotateXYZ",
        camera=("Camera", 17.4),
        shader=("/Surface", "inputs:diffuseColor", "inputs:roughness"),
        shares_groups=True,
        applied=("scale",),
    )


# ---- edits and refusals that only USD has


OWN_EDITS: dict[str, Edit] = {
    "a relationship": lambda a: a.set_value(CAMERA, "lookAt", [CRATE]),
    "no keys": lambda a: a.set_keys(
        "/World/Odd/Keyed", "xformOp:translate", [], "linear", clear=True
    ),
    "a new shader": lambda a: a.create("UsdUVTexture", None, RED),
    "textures": lambda a: a.material("Clay", {"texture": "a.png", "normal": "b.png"}),
    "a changed material": lambda a: a.material("Red", {"roughness": 0.2, "opacity": 0.5}),
    "a cut": lambda a: a.cut(SocketLink("", "", RED, "surface")),
    "no twins": lambda a: a.clean("duplicate_materials", a.junk("duplicate_materials")),
    "no dead links": lambda a: a.clean("dead_links", a.junk("dead_links")),
}


@pytest.mark.parametrize("name", OWN_EDITS)
def test_an_act_is_undone_byte_for_byte(acts: Acts, name: str) -> None:
    check_edit(acts, OWN_EDITS[name])


def test_all_acts_are_there(acts: Acts) -> None:
    """A deletion takes what is below along, and paths say what is taken: the defaults do."""
    every = {name for name, it in vars(Acts).items() if callable(it) and not name.startswith("_")}

    assert {name for name in every - {"has"} if not acts.has(name)} == {"orphans", "called"}


IN_ONE_LAYER = (
    *("set_value", "set_keys", "no keys", "create", "duplicate: whole", "duplicate: linked"),
    *("place", "apply", "material", "a changed material", "assign", "a cut"),
)


@pytest.mark.parametrize("name", IN_ONE_LAYER)
def test_an_edit_goes_to_the_layer_that_the_person_edits(
    session: UsdSession, acts: Acts, tmp_path: Path, name: str
) -> None:
    """Here the session layer, above the one that holds the scene."""
    stand = furnish(acts, TestUsdActs.words, tmp_path)
    stage = session.stage
    stage.SetEditTarget(stage.GetSessionLayer())
    before, root = session.scene_digest(), stage.GetRootLayer().ExportToString()

    with session.undo_step("Edit"):
        if name in EDITS:
            EDITS[name](stand)
        else:
            OWN_EDITS[name](acts)

    assert stage.GetRootLayer().ExportToString() == root
    assert session.scene_digest() != before
    session.undo()
    assert session.scene_digest() == before


INSIDE: dict[str, Callable[[Acts, str], object]] = {
    "rename": lambda a, it: a.rename(it, "Oak"),
    "set_value": lambda a, it: a.set_value(it, "size", 3),
    "place": lambda a, it: a.place(it, (1, 2, 3)),
    "delete": lambda a, it: a.delete([it]),
    "assign": lambda a, it: a.assign(it, RED),
    "create": lambda a, it: a.create("Cube", None, it),
    "set_parent": lambda a, it: a.set_parent(it, None, keep_place=True),
    "set_keys": lambda a, it: a.set_keys(it, "size", [(1, 2)], "linear", clear=False),
    "duplicate": lambda a, it: a.duplicate(it, linked=False),
}


@pytest.mark.parametrize("edit", INSIDE.values(), ids=list(INSIDE))
def test_the_inside_of_an_instance_is_refused_with_a_sentence(
    session: UsdSession, acts: Acts, edit: Callable[[Acts, str], object]
) -> None:
    with session.undo_step("Instance"):
        copy = acts.duplicate(TREE, linked=True)
    before = session.scene_digest()

    with pytest.raises(ValueError, match=r"instan"), session.undo_step("Edit"):
        edit(acts, f"{copy}/Trunk")

    assert session.scene_digest() == before


def test_what_comes_from_another_file_is_renamed_moved_and_mended_in_this_one(
    session: UsdSession, acts: Acts, tmp_path: Path
) -> None:
    other = usd_scene.make(tmp_path / "other.usda")
    with session.undo_step("Import"):
        acts.import_file(other, "reference", None, 1.0, None)
    before, written = session.scene_digest(), other.read_text()

    for label in ("Rename", "Apply", "Delete"):
        with session.undo_step(label):
            if label == "Rename":
                assert acts.rename("/World/World/Props/Tree", "Oak") in set(acts.items())
            elif label == "Apply":
                acts.apply("/World/World/Props/Crate", ["scale"])
            else:
                assert acts.delete(["/World/World/Props/Tree"]) == ["/World/World/Props/Tree"]
        session.undo()
        assert session.scene_digest() == before
    assert other.read_text() == written


REFUSED: dict[str, Edit] = {
    "one of perspective, orthographic": lambda a: a.set_value(CAMERA, "projection", "flat"),
    "kind is one of": lambda a: a.set_value(CAMERA, "kind", "hero"),
    "true or false": lambda a: a.set_value(CAMERA, "active", 1),
    "first key": lambda a: a.set_value(SCENE, "frame", 7),
    "are 1 paths": lambda a: a.set_value(f"{PROPS}/Lost", "references", []),
    "linear": lambda a: a.set_keys(CAMERA, "focalLength", [(1, 35)], "smooth", clear=False),
    "uniform": lambda a: a.set_keys(TREE, "xformOpOrder", [(1, [])], "linear", clear=False),
    # shaders of two materials do not see each other
    "beside them": lambda a: a.connect(
        SocketLink("/World/Looks/Wood/Lost", "rgb", f"{RED}/Surface", "diffuseColor")
    ),
    "from 0 to 1": lambda a: a.material("Red", {"opacity": 4}),
    "no place of its own: it is a Scope": lambda a: a.placement("/World/Looks"),
    "would be sheared": lambda a: a.place("/World/Odd/Stretched/Inner", rotation=(0, 0, 70)),
    "no history": lambda a: a.junk("history"),
}
UNKNOWN: dict[str, Edit] = {
    f"Tree is at {TREE}": lambda a: a.kind("/World/Tree"),
    f"Is it {TREE}": lambda a: a.kind("Tree"),
    "no prim": lambda a: a.set_value(CAMERA, "lookAt", ["/World/Nobody"]),
    "no socket 'rgbx'": lambda a: a.connect(
        SocketLink("/World/Looks/Wood/Lost", "rgbx", f"{RED}/Surface", "normal")
    ),
    r"no type 'Spherelite'\. Near: SphereLight": lambda a: a.create("Spherelite", None, None),
}


@pytest.mark.parametrize("why", REFUSED | UNKNOWN)
def test_what_cannot_be_done_is_refused_with_a_sentence_and_changes_nothing(
    acts: Acts, why: str
) -> None:
    kind = LookupError if why in UNKNOWN else ValueError
    refused(acts, (REFUSED | UNKNOWN)[why], why, kind)


def test_a_layer_that_is_locked_is_said_to_be(session: UsdSession, acts: Acts) -> None:
    session.stage.GetRootLayer().SetPermissionToEdit(False)

    with pytest.raises(ValueError, match="the layer is locked; unlock it first"):
        acts.set_value(CAMERA, "fStop", 4)


# ---- what there is


def test_a_prim_is_told_in_parts(acts: Acts) -> None:
    link = SocketLink(f"{RED}/Surface", "surface", RED, "surface")

    assert acts.look_into(CAMERA, "values")["lookAt"].value == [TREE]
    assert acts.look_into(RED, "inputs") == [link]
    assert acts.look_into(CRATE, "counts") == {"points": 8, "faces": 6, "children": 1}
    assert acts.look_into(CRATE, "uses") == [RED]


def test_who_uses_a_material_a_file_or_a_prim_is_found(acts: Acts) -> None:
    assert list(acts.users("Red")) == list(acts.users(RED)) == [CRATE]
    assert list(acts.users("./textures/lost.png")) == ["/World/Looks/Wood/Lost"]
    assert list(acts.users(TREE)) == [CAMERA]


def test_files_are_told_as_they_are_written(acts: Acts) -> None:
    assert set(acts.files()) == {
        ("/World/Looks/Wood/Lost", "inputs:file", "./textures/lost.png"),
        ("/World/Looks/Wood/Absolute", "inputs:file", "/studio/wood.png"),
        (f"{PROPS}/Lost", "references", "./assets/lost.usda"),
    }


def test_what_is_hidden_has_bounds_if_it_is_asked_for(acts: Acts) -> None:
    acts.set_value(TREE, "visibility", "invisible")

    assert acts.bounds(TREE) is not None


def test_the_validators_of_usd_are_rules(session: UsdSession, acts: Acts) -> None:
    cube = UsdGeom.Cube.Define(session.stage, f"{CRATE}/Inside")
    cube.GetPrim().CreateRelationship("material:binding").SetTargets([RED])

    failed = [it for it in acts.failures("usd_shade", list(acts.items())) if it[1]]
    nested = [it for it in acts.failures("usd_geom", list(acts.items())) if it[1]]

    assert [item for item, _ in failed] == [f"{CRATE}/Inside"]
    assert "MaterialBindingAPI" in failed[0][1]
    assert f"{CRATE}/Lid" in dict(nested)
    assert all(rule.mend for rule in acts.rules())


def test_the_api_is_that_of_this_version(acts: Acts) -> None:
    entries = {entry.name: entry for entry in acts.api()}

    assert entries["Camera.focalLength"].signature == "float = 50.0"
    assert entries["UsdPreviewSurface.diffuseColor"].kind == "socket"
    assert "one of rightHanded, leftHanded" in entries["orientation"].signature
    assert "RectLight" in entries["inputs:intensity"].text
    assert {"create type Mesh", "create type UsdUVTexture"} <= entries.keys()


# ---- values and keys


def test_a_number_that_a_float_only_comes_near_is_set(acts: Acts) -> None:
    with acts.host.undo_step("Set"):
        acts.set_value(CAMERA, "focalLength", 30.1)

    assert acts.value(CAMERA, "focalLength").value == pytest.approx(30.1)


def test_an_extent_follows_the_points_and_a_reference_leads_elsewhere(
    acts: Acts, tmp_path: Path
) -> None:
    usd_scene.make(tmp_path / "found.usda")
    acts.set_value(f"{CRATE}/Lid", "points", [[0, 0, 0], [4, 0, 0], [4, 4, 0]] * 3)
    acts.set_value(f"{PROPS}/Lost", "references", ["./found.usda"])

    assert acts.value(f"{CRATE}/Lid", "extent").value == [[0, 0, 0], [4, 4, 0]]
    assert acts.value(f"{PROPS}/Lost", "references").value == ["./found.usda"]
    assert acts.kind(f"{PROPS}/Lost/Props/Tree") == "Xform"


def test_a_stronger_layer_that_hides_the_edit_is_named(session: UsdSession, acts: Acts) -> None:
    stage = session.stage
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        UsdGeom.Camera(stage.GetPrimAtPath(CAMERA)).GetFocalLengthAttr().Set(12)

    with pytest.raises(ValueError, match="held by a stronger layer"):
        acts.set_value(CAMERA, "focalLength", 85)


def test_keys_of_a_weaker_layer_stay_when_one_is_added(tmp_path: Path) -> None:
    """The samples of a stronger layer hide all of a weaker one."""
    acts = layered(tmp_path)

    acts.set_keys("/World/Odd/Keyed", "xformOp:translate", [(13, [5, 0, 0])], "linear", clear=False)

    assert [at for at, _ in acts.keys("/World/Odd/Keyed", "xformOp:translate")] == [1, 13, 25]


# ---- connections


def test_sockets_are_those_of_the_shaders_kind(acts: Acts) -> None:
    inputs, outputs = acts.sockets(f"{RED}/Surface")

    assert {"diffuseColor", "roughness", "normal"} <= set(inputs)
    assert {"surface", "displacement"} <= set(outputs)
    assert "surface" in acts.sockets(RED)[0]


# ---- building


def test_a_prim_is_made_below_the_default_prim_under_a_free_name(acts: Acts) -> None:
    made = [acts.create("SphereLight", "Key light", None) for _ in range(2)]

    assert made == ["/World/Key_light", "/World/Key_light_1"]
    assert [acts.kind(it) for it in made] == ["SphereLight"] * 2


def test_names_go_on_counting(acts: Acts) -> None:
    copies = [acts.duplicate(f"{PROPS}/Placeholder_07", linked=False) for _ in range(3)]

    assert copies == [f"{PROPS}/Placeholder_{number}" for number in (41, 42, 43)]


def test_a_copy_of_an_instance_is_an_instance_of_the_same(session: UsdSession, acts: Acts) -> None:
    copy = acts.duplicate(TREE, linked=True)
    again = acts.duplicate(copy, linked=True)
    first, second = (session.stage.GetPrimAtPath(it) for it in (copy, again))

    assert first.IsInstance()
    assert first.GetPrototype() == second.GetPrototype()


def test_a_linked_copy_follows_when_its_source_is_renamed(acts: Acts) -> None:
    copy = acts.duplicate(TREE, linked=True)
    before = acts.bounds(copy)
    acts.rename(TREE, "Oak")

    assert acts.bounds(copy) == before


def test_a_copy_refers_to_itself_where_its_source_does(session: UsdSession, acts: Acts) -> None:
    copy = acts.duplicate(TREE, linked=False)

    assert session.stage.GetPrimAtPath(copy).GetRelationship("guide").GetTargets() == [
        f"{copy}/Crown", "/World/Nothing"
    ]  # fmt: skip


def test_a_copy_of_what_several_layers_say_has_all_of_it(tmp_path: Path) -> None:
    acts = layered(tmp_path)
    acts.place(CRATE, (1, 1, 1))
    copies = [acts.duplicate(CRATE, linked=False), acts.duplicate(TREE, linked=False)]

    assert is_near(box(acts, copies[0]), box(acts, CRATE))
    assert box(acts, copies[1]) == box(acts, TREE)


def test_what_refers_to_a_renamed_prim_follows_and_it_stays_selected(
    session: UsdSession, acts: Acts
) -> None:
    session.selection = [f"{TREE}/Crown"]
    new = acts.rename(TREE, "Oak")

    assert acts.value(CAMERA, "lookAt").value == [new] == [f"{PROPS}/Oak"]
    assert session.selection == [f"{PROPS}/Oak/Crown"]


def test_a_texture_takes_the_place_of_another_and_a_colour_that_of_both(acts: Acts) -> None:
    made = acts.material("Steel", {"texture": "./a.png"})
    acts.material("Steel", {"texture": "./b.png"})
    file = acts.value(f"{made}/diffuseColor_texture", "inputs:file").value
    acts.material("Steel", {"base_color": [1, 1, 1]})

    assert made == "/World/Looks/Steel"
    assert file == "./b.png"
    assert acts.value(f"{made}/Surface", "inputs:diffuseColor").held == ""


# ---- places


ORDERS = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_rotation_is_read_and_written(
    session: UsdSession, acts: Acts, order: str
) -> None:
    cube = UsdGeom.Cube.Define(session.stage, f"/World/{order}")
    getattr(cube, f"AddRotate{order}Op")().Set(Gf.Vec3f(10, 20, 30))
    before = cube.ComputeLocalToWorldTransform(0)
    acts.place(f"/World/{order}", (1, 2, 3), acts.placement(f"/World/{order}").rotation)

    after = cube.ComputeLocalToWorldTransform(0)
    assert Gf.IsClose(after.SetTranslateOnly(Gf.Vec3d(0)), before, 1e-5)
    assert acts.placement(f"/World/{order}").at == (1, 2, 3)


@pytest.mark.parametrize("item", [CRATE, "/World/Odd/Matrix", "/World/Odd/Order", TREE])
def test_it_is_where_it_was_put_in_the_ops_that_are_there(
    session: UsdSession, acts: Acts, item: str
) -> None:
    names = UsdGeom.Xformable(session.stage.GetPrimAtPath(item)).GetXformOpOrderAttr().Get()
    acts.place("/World/Props", (7, 8, 9), (0, 90, 0), (2, 2, 2))
    acts.place(item, (1, 2, 3), (40, 50, 60), (1, 1, 1))
    now = acts.placement(item)

    assert is_near((now.at, now.rotation, now.scale), ((1, 2, 3), (40, 50, 60), (1, 1, 1)))
    after = UsdGeom.Xformable(session.stage.GetPrimAtPath(item)).GetXformOpOrderAttr().Get()
    assert [it for it in after if it in names] == list(names)


def test_what_has_a_pivot_turns_about_it(acts: Acts) -> None:
    item = "/World/Odd/Pivot"
    before = acts.placement(item)
    acts.place(item, rotation=(0, 0, 0))
    turned = acts.placement(item)
    acts.place(item, (0, 0, 0))

    assert before.at == turned.at == (6, 2, 3)
    assert box(acts, item) == ((-6, -1, -1), (-4, 1, 1))
    assert acts.placement(item).at == (0, 0, 0)


def test_an_odd_stack_is_moved_but_not_turned(acts: Acts) -> None:
    item = "/World/Odd/Spun"
    acts.place(item, (0, 0, 0))

    assert is_near([acts.placement(item).at], [(0, 0, 0)])
    with pytest.raises(ValueError, match=r"xformOp:rotateY.* with set_values"):
        acts.place(item, rotation=(0, 10, 0))


@pytest.mark.parametrize("parts", [["scale"], ["rotation", "scale"], ["at"]])
def test_a_transform_goes_into_the_points_and_nothing_moves(
    session: UsdSession, acts: Acts, parts: list[Any]
) -> None:
    before = [world_points(session.stage, it) for it in (CRATE, f"{CRATE}/Lid")]
    normal = world_normal(session.stage)
    acts.apply(CRATE, parts)
    now = acts.placement(CRATE, "local")

    after = [world_points(session.stage, it) for it in (CRATE, f"{CRATE}/Lid")]
    assert is_near(after[0], before[0])
    assert is_near(after[1], before[1])
    assert dist(world_normal(session.stage), normal) < 1e-5
    unit = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}
    assert all(getattr(now, part) == unit[part] for part in parts)


def test_a_mirrored_mesh_keeps_its_outside(session: UsdSession, acts: Acts) -> None:
    acts.place(CRATE, scale=(-2, 3, 4), space="local")
    before = box(acts, CRATE)
    acts.apply(CRATE, ["scale"])

    side = UsdGeom.Mesh(session.stage.GetPrimAtPath(CRATE)).GetOrientationAttr().Get()
    assert side == "leftHanded"
    assert is_near(box(acts, CRATE), before)


def test_an_even_scale_goes_into_a_cubes_size_and_no_other(acts: Acts) -> None:
    item = f"{TREE}/Trunk"
    acts.place(item, scale=(3, 3, 3))
    acts.apply(item, ["scale"])

    assert acts.value(item, "size").value == 6
    acts.place(item, scale=(1, 2, 3))
    with pytest.raises(ValueError, match="has no points"):
        acts.apply(item, ["scale"])


def world_points(stage: Usd.Stage, item: str) -> list[Any]:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(item))
    matrix = mesh.ComputeLocalToWorldTransform(0)
    return [matrix.Transform(Gf.Vec3d(point)) for point in mesh.GetPointsAttr().Get()]


def world_normal(stage: Usd.Stage) -> Any:
    prim = UsdGeom.Mesh(stage.GetPrimAtPath(CRATE))
    matrix = prim.ComputeLocalToWorldTransform(0).GetInverse().GetTranspose()
    return matrix.TransformDir(Gf.Vec3d(prim.GetNormalsAttr().Get()[0])).GetNormalized()


# ---- files and losses


OTHER = """#usda 1.0
(
    defaultPrim = "Chair"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "Chair"
{
    rel look = </Looks/Oak>
    def Cube "Seat"
    {
        double size = 1
        asset photo = @./seat.png@
    }
}

def Scope "Looks"
{
    def Material "Oak" {}
}
"""


@pytest.fixture
def chair(tmp_path: Path) -> Path:
    """In metres, with Z up, and a texture that is not there."""
    (tmp_path / "assets").mkdir()
    file = tmp_path / "assets" / "chair.usda"
    file.write_text(OTHER)
    return file


def test_a_file_is_referred_to_by_a_path_from_the_scene(acts: Acts, chair: Path) -> None:
    came = acts.import_file(chair, "reference", None, 1.0, None)

    assert came.items == ["/World/Chair"]
    assert acts.kind("/World/Chair/Seat") == "Cube"
    assert ("/World/Chair", "references", "./assets/chair.usda") in set(acts.files())
    assert [("scale=100" in it, 'up="Z"' in it) for it in came.warnings[:2]] == [
        (True, False), (False, True)
    ]  # fmt: skip
    assert "seat.png" in came.warnings[-1]


def test_wrong_units_and_a_wrong_axis_are_mended_by_a_prim_above(acts: Acts, chair: Path) -> None:
    came = acts.import_file(chair, "reference", PROPS, 100.0, "Z")
    acts.place(came.items[0], at=(0, 50, 0))

    assert came.items == [f"{PROPS}/Chair"]
    assert is_near(box(acts, f"{PROPS}/Chair/Chair/Seat"), ((-50, 0, -50), (50, 100, 50)))
    assert acts.placement(came.items[0]).rotation[0] == -90


def test_a_copy_has_all_of_it_and_its_targets_follow(
    session: UsdSession, acts: Acts, chair: Path
) -> None:
    came = acts.import_file(chair, "copy", None, 1.0, "Z")

    top = came.items[0]
    assert acts.value(f"{top}/Chair", "look").value == [f"{top}/Looks/Oak"]
    assert acts.value(f"{top}/Chair/Seat", "photo").value == "./assets/seat.png"
    assert not session.stage.GetPrimAtPath(top).HasAuthoredReferences()


def test_prims_are_exported_with_what_they_use_and_their_frames(acts: Acts, tmp_path: Path) -> None:
    file = tmp_path / "out.usda"

    left = acts.export_file(file, [CRATE, "/World/Odd/Keyed"], (7, 13))

    out = Usd.Stage.Open(str(file))
    keys = UsdGeom.Xformable(out.GetPrimAtPath("/World/Odd/Keyed")).GetTimeSamples()
    bound = UsdShade.MaterialBindingAPI(out.GetPrimAtPath(CRATE)).ComputeBoundMaterial()[0]
    assert keys == [7, 13]
    assert str(bound.GetPath()) == RED
    assert not out.GetPrimAtPath(TREE)
    assert out.GetDefaultPrim().GetPath() == "/World"
    assert "All but 2 prims" in left[0]


def test_a_whole_scene_is_exported_and_its_paths_lead_to_the_same(
    acts: Acts, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()

    left = acts.export_file(tmp_path / "out" / "all.usdc", [], None)

    out = Usd.Stage.Open(str(tmp_path / "out" / "all.usdc"))
    file = out.GetPrimAtPath("/World/Looks/Wood/Lost").GetAttribute("inputs:file").Get()
    assert file.path == "../textures/lost.png"
    assert len(list(out.Traverse())) == len(list(acts.items()))
    assert left == []


def test_an_export_never_writes_over_the_scene(session: UsdSession, acts: Acts) -> None:
    assert session.path is not None
    with pytest.raises(ValueError, match="part of this scene"):
        acts.export_file(session.path, [], None)
    with pytest.raises(ValueError, match="must end in"):
        acts.export_file(session.path.with_suffix(".fbx"), [], None)


def test_what_is_of_no_use_is_found(acts: Acts) -> None:
    assert acts.junk("unused") == ["/World/Looks/Unused"]
    assert acts.junk("empty_groups") == [f"{PROPS}/Empty", f"{PROPS}/Empty/Below"]
    assert acts.junk("duplicate_materials") == ["/World/Looks/Red_twin"]
    assert acts.junk("dead_links") == [f"{TREE}.guide", f"{PROPS}/Lost"]


def test_a_dead_link_is_cut_and_the_rest_of_the_targets_stay(acts: Acts) -> None:
    acts.clean("dead_links", acts.junk("dead_links"))

    assert acts.value(TREE, "guide").value == [f"{TREE}/Crown"]
    assert acts.junk("dead_links") == []


def test_the_lights_are_seen_through_a_camera_of_the_scene_and_not_otherwise(acts: Acts) -> None:
    """A picture needs no window."""
    shot = acts.viewpoint(CAMERA)
    through, beside = (
        acts.draw([it], 320, 240, "solid") for it in (shot, replace(shot, camera=""))
    )

    assert through != beside
