"""What the operations of our own application promise, on real USD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import dist
from pathlib import Path
from typing import Any, cast

import pytest
from pxr import Gf, Usd, UsdGeom, UsdShade

from dcc_bridge.verbs import tools
from dcc_bridge.verbs.operations import SCENE, SocketLink
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations as usd_operations
from tests.verbs import usd_scene
from tests.verbs.every_port import PORTS, EveryPort
from tests.verbs.operations_contract import (
    EDITS,
    FilesContract,
    MaterialsContract,
    OperationsContract,
    PlacingContract,
    SeeingContract,
)
from tests.verbs.promises import Edit, call
from tests.verbs.stand import Stand, Words, box, furnish, near, numbers_of

PROPS = "/World/Props"
CRATE = f"{PROPS}/Crate"
TREE = f"{PROPS}/Tree"
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
def operations(session: UsdSession) -> EveryPort:
    """Its operations, as the bridge loads them."""
    return cast("EveryPort", usd_operations(session))


def layered(folder: Path) -> EveryPort:
    """Give the operations of a scene that another layer holds, below the one that is edited."""
    usd_scene.make(folder / "below.usda")
    (folder / "above.usda").write_text("#usda 1.0\n(subLayers = [@./below.usda@])\n")
    return cast("EveryPort", usd_operations(UsdSession(folder / "above.usda")))


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
    stand.operations.connect(link)
    return link.target, "inputs:diffuseColor"


def collected(operations: EveryPort, collection: str) -> list[str]:
    prim, _, name = collection.partition(".collection:")
    stage = cast("UsdSession", operations.host).stage
    members = Usd.CollectionAPI(stage.GetPrimAtPath(prim), name)
    return list(map(str, members.GetIncludesRel().GetTargets()))


OWN_EDITS: dict[str, Edit] = {
    "a relationship": call("set_value", CAMERA, "lookAt", [CRATE]),
    "no keys": call("set_keys", "/World/Odd/Keyed", "xformOp:translate", [], "linear", clear=True),
    "a new shader": call("create", "UsdUVTexture", None, RED),
    "textures": call("material", "Clay", {"texture": "a.png", "normal": "b.png"}),
    "a changed material": call("material", "Red", {"roughness": 0.2, "opacity": 0.5}),
    "a cut": call("cut", SocketLink("", "", RED, "surface")),
    "no twins": lambda a: a.clean("duplicate_materials", a.junk("duplicate_materials")),
    "no dead links": lambda a: a.clean("dead_links", a.junk("dead_links")),
}


REFUSED: dict[str, Edit] = {
    "one of perspective, orthographic": call("set_value", CAMERA, "projection", "flat"),
    "kind is one of": call("set_value", CAMERA, "kind", "hero"),
    "true or false": call("set_value", CAMERA, "active", 1),
    "first key": call("set_value", SCENE, "frame", 7),
    "the path of a file or": call("set_value", f"{PROPS}/Lost", "references", [1]),
    "linear": call("set_keys", CAMERA, "focalLength", [(1, 35)], "smooth", clear=False),
    "uniform": call("set_keys", TREE, "xformOpOrder", [(1, [])], "linear", clear=False),
    # shaders of two materials do not see each other
    "beside them": call(
        "connect", SocketLink("/World/Looks/Wood/Lost", "rgb", f"{RED}/Surface", "diffuseColor")
    ),
    "from 0 to 1": call("material", "Red", {"opacity": 4}),
    "no place of its own: it is a Scope": call("placement", "/World/Looks"),
    "would be sheared": call("place", "/World/Odd/Stretched/Inner", rotation=(0, 0, 70)),
    "no history": call("junk", "history"),
}
UNKNOWN: dict[str, Edit] = {
    f"Tree is at {TREE}": call("kind", "/World/Tree"),
    f"Is it {TREE}": call("kind", "Tree"),
    "no prim": call("set_value", CAMERA, "lookAt", ["/World/Nobody"]),
    f"a property: give {TREE} and its size": call("kind", f"{TREE}.size"),
    "like /World/Looks, .*/Red/Surface": call("kind", "/World/Nobody"),
    "no property 'hero'[.]$": call("value", CAMERA, "hero"),
    r"no type 'Spherelite'\. Names like it: SphereLight": call("create", "Spherelite", None, None),
    "no socket 'rgbx'": call(
        "connect", SocketLink("/World/Looks/Wood/Lost", "rgbx", f"{RED}/Surface", "normal")
    ),
}


@pytest.mark.core
class TestUsdOperations(
    OperationsContract, MaterialsContract, PlacingContract, FilesContract, SeeingContract
):
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
        formats=(".usda", ".usd"),
        top="/World",
        holds={"connected to": connected},
        keyed="xformOp:rotateXYZ",
        camera=("Camera", 17.4),
        shader=("/Surface", "inputs:diffuseColor", "inputs:roughness"),
        shares_groups=True,
        applied=("scale",),
    )
    own_edits = OWN_EDITS
    own_refusals = tuple(REFUSED.items())
    own_unknown = tuple(UNKNOWN.items())


# ---- edits and refusals that only USD has


def test_all_operations_are_there(operations: EveryPort) -> None:
    """A deletion takes what is below along, and a type is its own noun: the defaults do."""
    ports = [port for port in PORTS if isinstance(operations, port)]
    methods = {name for port in ports for name, it in vars(port).items() if callable(it)}
    public = {name for name in methods if not name.startswith("_")}
    defaults = {it for it in public if getattr(type(operations), it) is getattr(EveryPort, it)}

    assert defaults == {"orphans", "noun", "still_there"}


IN_ONE_LAYER = (
    *("set_value", "set_keys", "no keys", "create", "duplicate: whole", "duplicate: linked"),
    *("place", "apply", "material", "a changed material", "assign", "a cut"),
)


@pytest.mark.parametrize("name", IN_ONE_LAYER)
def test_an_edit_goes_to_the_layer_that_the_person_edits(
    session: UsdSession, operations: EveryPort, tmp_path: Path, name: str
) -> None:
    """Here the session layer, above the one that holds the scene."""
    stand = furnish(operations, TestUsdOperations.words, tmp_path)
    stage = session.stage
    stage.SetEditTarget(stage.GetSessionLayer())
    before = session.scene_digest()
    root = stage.GetRootLayer().ExportToString()

    with session.undo_step("Edit"):
        if name in EDITS:
            EDITS[name](stand)
        else:
            OWN_EDITS[name](operations)

    assert stage.GetRootLayer().ExportToString() == root
    assert session.scene_digest() != before
    session.undo()
    assert session.scene_digest() == before


INSIDE: dict[str, Callable[[EveryPort, str], object]] = {
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
    session: UsdSession, operations: EveryPort, edit: Callable[[EveryPort, str], object]
) -> None:
    with session.undo_step("Instance"):
        copy = operations.duplicate(TREE, linked=True)
    before = session.scene_digest()

    with pytest.raises(ValueError, match=r"instan"), session.undo_step("Edit"):
        edit(operations, f"{copy}/Trunk")

    assert session.scene_digest() == before


def test_what_comes_from_another_file_is_renamed_moved_and_mended_in_this_one(
    session: UsdSession, operations: EveryPort, tmp_path: Path
) -> None:
    other = usd_scene.make(tmp_path / "other.usda")
    with session.undo_step("Import"):
        operations.import_file(other, "reference", None, 1.0, None)
    before = session.scene_digest()
    written = other.read_text()

    for label in ("Rename", "Apply", "Delete"):
        with session.undo_step(label):
            if label == "Rename":
                assert operations.rename("/World/World/Props/Tree", "Oak") in set(
                    operations.items()
                )
            elif label == "Apply":
                operations.apply("/World/World/Props/Crate", ["scale"])
            else:
                assert operations.delete(["/World/World/Props/Tree"]) == ["/World/World/Props/Tree"]
        session.undo()
        assert session.scene_digest() == before
    assert other.read_text() == written


def test_a_layer_that_is_locked_is_said_to_be(session: UsdSession, operations: EveryPort) -> None:
    session.stage.GetRootLayer().SetPermissionToEdit(False)

    with pytest.raises(ValueError, match="the layer is locked; unlock it first"):
        operations.set_value(CAMERA, "fStop", 4)


# ---- what there is


def test_a_prim_is_told_in_parts(operations: EveryPort) -> None:
    link = SocketLink(f"{RED}/Surface", "surface", RED, "surface")

    assert operations.look_into(CAMERA, "values")["lookAt"].value == [TREE]
    assert operations.look_into(RED, "inputs") == [link]
    assert operations.look_into(CRATE, "counts") == {"points": 8, "faces": 6, "children": 1}
    assert operations.look_into(CRATE, "uses") == [RED]


def test_who_uses_a_material_a_file_or_a_prim_is_found(operations: EveryPort) -> None:
    assert list(operations.users("Red")) == list(operations.users(RED)) == [CRATE]
    assert list(operations.users("./textures/lost.png")) == ["/World/Looks/Wood/Lost"]
    assert list(operations.users(TREE)) == [CAMERA]


def test_files_are_told_as_they_are_written(operations: EveryPort) -> None:
    assert set(operations.files()) == {
        ("/World/Looks/Wood/Lost", "inputs:file", "./textures/lost.png"),
        ("/World/Looks/Wood/Absolute", "inputs:file", "/studio/wood.png"),
        (f"{PROPS}/Lost", "references", "./assets/lost.usda"),
    }


def test_what_is_hidden_has_bounds_if_it_is_asked_for(operations: EveryPort) -> None:
    operations.set_value(TREE, "visibility", "invisible")

    assert operations.bounds(TREE) is not None


def test_the_validators_of_usd_are_rules(session: UsdSession, operations: EveryPort) -> None:
    cube = UsdGeom.Cube.Define(session.stage, f"{CRATE}/Inside")
    cube.GetPrim().CreateRelationship("material:binding").SetTargets([RED])

    failed = [it for it in operations.failures("usd_shade", list(operations.items())) if it[1]]
    nested = [it for it in operations.failures("usd_geom", list(operations.items())) if it[1]]

    assert [item for item, _ in failed] == [f"{CRATE}/Inside"]
    assert "MaterialBindingAPI" in failed[0][1]
    assert f"{CRATE}/Lid" in dict(nested)
    assert all(rule.mend for rule in operations.rules())


SHEET = """#usda 1.0
def Mesh "Bare" {
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
}
def Mesh "Whole" (prepend apiSchemas = ["MaterialBindingAPI"]) {
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [0, 1, 2, 2, 1, 0]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1)]
    rel material:binding = </Red>
}
def Xform "Group" {}
def Material "Red" {}
"""


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("non_manifold", "4 edges"),
        ("no_uvs", "no texture coordinates"),
        ("no_material", "no material"),
    ],
)
def test_what_a_mesh_lacks_is_found(tmp_path: Path, rule: str, why: str) -> None:
    (tmp_path / "sheet.usda").write_text(SHEET)
    operations = cast("EveryPort", usd_operations(UsdSession(tmp_path / "sheet.usda")))

    failures = dict(operations.failures(rule, list(operations.items())))

    assert failures == {"/Bare": why, "/Whole": "", "/Group": "", "/Red": ""}


@pytest.mark.parametrize("rule", ["non_manifold", "no_uvs", "no_material", "duplicate_names"])
def test_a_prim_that_is_gone_does_not_end_a_rule(tmp_path: Path, rule: str) -> None:
    (tmp_path / "sheet.usda").write_text(SHEET)
    operations = cast("EveryPort", usd_operations(UsdSession(tmp_path / "sheet.usda")))

    failures = dict(operations.failures(rule, ["/Gone", "/Whole"]))

    assert failures == {"/Whole": ""}


def test_where_a_prim_is_near_no_examples_of_names_are_told(operations: EveryPort) -> None:
    with pytest.raises(LookupError, match=f"Names like it: {TREE}[.]$"):
        operations.kind(f"{TREE[:-1]}ee")


def test_a_preview_of_names_that_no_prim_can_have_fails(operations: EveryPort) -> None:
    rename = next(tool.fn for tool in tools(operations) if tool.name == "rename")

    with pytest.raises(ValueError, match="'9 bad Tree' cannot be a prim's name"):
        rename(pattern="Tree", to="9 bad Tree", preview=True)


def test_the_api_is_that_of_this_version(operations: EveryPort) -> None:
    entries = {entry.name: entry for entry in operations.api()}

    assert entries["Camera.focalLength"].signature == "float = 50.0"
    assert entries["UsdPreviewSurface.diffuseColor"].kind == "socket"
    assert "one of rightHanded, leftHanded" in entries["orientation"].signature
    assert "RectLight" in entries["inputs:intensity"].text
    assert {"create type Mesh", "create type UsdUVTexture"} <= entries.keys()


# ---- values and keys


def test_a_number_that_a_float_only_comes_near_is_set(operations: EveryPort) -> None:
    with operations.host.undo_step("Set"):
        operations.set_value(CAMERA, "focalLength", 30.1)

    assert operations.value(CAMERA, "focalLength").value == pytest.approx(30.1)


def test_an_extent_follows_the_points_and_a_reference_leads_elsewhere(
    operations: EveryPort, tmp_path: Path
) -> None:
    usd_scene.make(tmp_path / "found.usda")
    operations.set_value(f"{CRATE}/Lid", "points", [[0, 0, 0], [4, 0, 0], [4, 4, 0]] * 3)
    operations.set_value(f"{PROPS}/Lost", "references", ["./found.usda"])

    assert operations.value(f"{CRATE}/Lid", "extent").value == [[0, 0, 0], [4, 4, 0]]
    assert operations.value(f"{PROPS}/Lost", "references").value == [{"file": "./found.usda"}]
    assert operations.kind(f"{PROPS}/Lost/Props/Tree") == "Xform"


def test_a_stronger_layer_that_hides_the_edit_is_named(
    session: UsdSession, operations: EveryPort
) -> None:
    stage = session.stage
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        UsdGeom.Camera(stage.GetPrimAtPath(CAMERA)).GetFocalLengthAttr().Set(12)

    with pytest.raises(ValueError, match="held by a stronger layer"):
        operations.set_value(CAMERA, "focalLength", 85)


def test_keys_of_a_weaker_layer_stay_when_one_is_added(tmp_path: Path) -> None:
    """The samples of a stronger layer hide all of a weaker one."""
    operations = layered(tmp_path)

    operations.set_keys(
        "/World/Odd/Keyed", "xformOp:translate", [(13, [5, 0, 0])], "linear", clear=False
    )

    assert [at for at, _ in operations.keys("/World/Odd/Keyed", "xformOp:translate")] == [1, 13, 25]


# ---- connections


def test_an_input_that_only_the_shaders_kind_has_is_read_and_set(operations: EveryPort) -> None:
    """An agent sets the values of a shader before it connects it."""
    surface = operations.create("UsdPreviewSurface", "Surface", "/World")
    before = operations.value(surface, "inputs:roughness")

    operations.set_value(surface, "inputs:roughness", 0.25)
    after = operations.value(surface, "inputs:roughness")

    assert (before.value, before.is_default) == (0.5, True)
    assert (after.value, after.is_default) == (0.25, False)
    assert "inputs:roughness" in operations.look_into(surface, "values")


def test_sockets_are_those_of_the_shaders_kind(operations: EveryPort) -> None:
    inputs, outputs = operations.sockets(f"{RED}/Surface")

    assert {"diffuseColor", "roughness", "normal"} <= set(inputs)
    assert {"surface", "displacement"} <= set(outputs)
    assert "surface" in operations.sockets(RED)[0]


# ---- building


def test_a_prim_is_made_below_the_default_prim_under_a_free_name(
    operations: EveryPort,
) -> None:
    made = [operations.create("SphereLight", "Key light", None) for _ in range(2)]

    assert made == ["/World/Key_light", "/World/Key_light_1"]
    assert [operations.kind(it) for it in made] == ["SphereLight"] * 2


def test_names_go_on_counting(operations: EveryPort) -> None:
    copies = [operations.duplicate(f"{PROPS}/Placeholder_07", linked=False) for _ in range(3)]

    assert copies == [f"{PROPS}/Placeholder_{number}" for number in (41, 42, 43)]


def test_a_copy_of_an_instance_is_an_instance_of_the_same(
    session: UsdSession, operations: EveryPort
) -> None:
    copy = operations.duplicate(TREE, linked=True)
    again = operations.duplicate(copy, linked=True)
    first, second = (session.stage.GetPrimAtPath(it) for it in (copy, again))

    assert first.IsInstance()
    assert first.GetPrototype() == second.GetPrototype()


def test_a_linked_copy_follows_when_its_source_is_renamed(operations: EveryPort) -> None:
    copy = operations.duplicate(TREE, linked=True)
    before = operations.bounds(copy)
    operations.rename(TREE, "Oak")

    assert operations.bounds(copy) == before


def test_a_copy_refers_to_itself_where_its_source_does(
    session: UsdSession, operations: EveryPort
) -> None:
    copy = operations.duplicate(TREE, linked=False)

    assert session.stage.GetPrimAtPath(copy).GetRelationship("guide").GetTargets() == [
        f"{copy}/Crown", "/World/Nothing"
    ]  # fmt: skip


def test_a_copy_of_what_several_layers_say_has_all_of_it(tmp_path: Path) -> None:
    operations = layered(tmp_path)
    operations.place(CRATE, (1, 1, 1))
    copies = [operations.duplicate(CRATE, linked=False), operations.duplicate(TREE, linked=False)]

    assert box(operations, copies[0]) == near(box(operations, CRATE))
    assert box(operations, copies[1]) == box(operations, TREE)


def test_what_refers_to_a_renamed_prim_follows_and_it_stays_selected(
    session: UsdSession, operations: EveryPort
) -> None:
    session.selection = [f"{TREE}/Crown"]
    new = operations.rename(TREE, "Oak")

    assert operations.value(CAMERA, "lookAt").value == [new] == [f"{PROPS}/Oak"]
    assert session.selection == [f"{PROPS}/Oak/Crown"]


def test_a_texture_takes_the_place_of_another_and_a_colour_that_of_both(
    operations: EveryPort,
) -> None:
    made = operations.material("Steel", {"texture": "./a.png"})
    operations.material("Steel", {"texture": "./b.png"})
    file = operations.value(f"{made}/diffuseColor_texture", "inputs:file").value
    operations.material("Steel", {"base_color": [1, 1, 1]})

    assert made == "/World/Looks/Steel"
    assert file == "./b.png"
    assert operations.value(f"{made}/Surface", "inputs:diffuseColor").held == ""


# ---- places


ORDERS = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_rotation_is_read_and_written(
    session: UsdSession, operations: EveryPort, order: str
) -> None:
    cube = UsdGeom.Cube.Define(session.stage, f"/World/{order}")
    getattr(cube, f"AddRotate{order}Op")().Set(Gf.Vec3f(10, 20, 30))
    before = cube.ComputeLocalToWorldTransform(0)
    operations.place(f"/World/{order}", (1, 2, 3), operations.placement(f"/World/{order}").rotation)

    after = cube.ComputeLocalToWorldTransform(0)
    assert Gf.IsClose(after.SetTranslateOnly(Gf.Vec3d(0)), before, 1e-5)
    assert operations.placement(f"/World/{order}").at == (1, 2, 3)


@pytest.mark.parametrize("item", [CRATE, "/World/Odd/Matrix", "/World/Odd/Order", TREE])
def test_it_is_where_it_was_put_in_the_ops_that_are_there(
    session: UsdSession, operations: EveryPort, item: str
) -> None:
    names = UsdGeom.Xformable(session.stage.GetPrimAtPath(item)).GetXformOpOrderAttr().Get()
    operations.place("/World/Props", (7, 8, 9), (0, 90, 0), (2, 2, 2))
    operations.place(item, (1, 2, 3), (40, 50, 60), (1, 1, 1))
    now = operations.placement(item)

    assert numbers_of(now) == near([1, 2, 3, 40, 50, 60, 1, 1, 1])
    after = UsdGeom.Xformable(session.stage.GetPrimAtPath(item)).GetXformOpOrderAttr().Get()
    assert [it for it in after if it in names] == list(names)


def test_what_has_a_pivot_turns_about_it(operations: EveryPort) -> None:
    item = "/World/Odd/Pivot"
    before = operations.placement(item)
    operations.place(item, rotation=(0, 0, 0))
    turned = operations.placement(item)
    operations.place(item, (0, 0, 0))

    assert before.at == turned.at == (6, 2, 3)
    assert box(operations, item) == [-6, -1, -1, -4, 1, 1]
    assert operations.placement(item).at == (0, 0, 0)


def test_an_odd_stack_is_moved_but_not_turned(operations: EveryPort) -> None:
    item = "/World/Odd/Spun"
    operations.place(item, (0, 0, 0))

    assert operations.placement(item).at == near((0, 0, 0))
    with pytest.raises(ValueError, match=r"xformOp:rotateY.* with set_values"):
        operations.place(item, rotation=(0, 10, 0))


@pytest.mark.parametrize("parts", [["scale"], ["rotation", "scale"], ["at"]])
def test_a_transform_goes_into_the_points_and_nothing_moves(
    session: UsdSession, operations: EveryPort, parts: list[Any]
) -> None:
    before = [*world_points(session.stage, CRATE), *world_points(session.stage, f"{CRATE}/Lid")]
    normal = world_normal(session.stage)
    operations.apply(CRATE, parts)
    now = operations.placement(CRATE, "local")

    after = [*world_points(session.stage, CRATE), *world_points(session.stage, f"{CRATE}/Lid")]
    assert after == near(before)
    assert dist(world_normal(session.stage), normal) < 1e-5
    unit = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}
    assert all(getattr(now, part) == unit[part] for part in parts)


def test_a_mirrored_mesh_keeps_its_outside(session: UsdSession, operations: EveryPort) -> None:
    operations.place(CRATE, scale=(-2, 3, 4), space="local")
    before = box(operations, CRATE)
    operations.apply(CRATE, ["scale"])

    side = UsdGeom.Mesh(session.stage.GetPrimAtPath(CRATE)).GetOrientationAttr().Get()
    assert side == "leftHanded"
    assert box(operations, CRATE) == near(before)


def test_an_even_scale_goes_into_a_cubes_size_and_no_other(operations: EveryPort) -> None:
    item = f"{TREE}/Trunk"
    operations.place(item, scale=(3, 3, 3))
    operations.apply(item, ["scale"])

    assert operations.value(item, "size").value == 6
    operations.place(item, scale=(1, 2, 3))
    with pytest.raises(ValueError, match="has no points"):
        operations.apply(item, ["scale"])


def world_points(stage: Usd.Stage, item: str) -> list[float]:
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(item))
    matrix: Any = mesh.ComputeLocalToWorldTransform(0)
    points = mesh.GetPointsAttr().Get()
    return [number for point in points for number in matrix.Transform(Gf.Vec3d(point))]


def world_normal(stage: Usd.Stage) -> Any:
    prim = UsdGeom.Mesh(stage.GetPrimAtPath(CRATE))
    matrix = prim.ComputeLocalToWorldTransform(0).GetInverse().GetTranspose()
    return matrix.TransformDir(Gf.Vec3d(prim.GetNormalsAttr().Get()[0])).GetNormalized()


def test_a_scene_without_prims_says_what_a_collection_needs(tmp_path: Path) -> None:
    (tmp_path / "empty.usda").write_text("#usda 1.0\n")
    empty = cast("EveryPort", usd_operations(UsdSession(tmp_path / "empty.usda")))

    with pytest.raises(ValueError, match="no prim to hold a collection"):
        empty.collect([], "heroes", "collection")


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


@pytest.mark.parametrize("how", ["reference", "payload"])
def test_a_file_is_referred_to_by_a_path_from_the_scene(
    operations: EveryPort, chair: Path, how: str
) -> None:
    came = operations.import_file(chair, how, None, 1.0, None)

    assert came.items == ["/World/Chair"]
    assert operations.kind("/World/Chair/Seat") == "Cube"
    assert ("/World/Chair", f"{how}s", "./assets/chair.usda") in set(operations.files())
    assert [("scale=100" in it, 'up="Z"' in it) for it in came.warnings[:2]] == [
        (True, False), (False, True)
    ]  # fmt: skip
    assert "seat.png" in came.warnings[-1]


def test_a_payload_is_no_reference_leads_elsewhere_by_its_path_and_is_undone(
    session: UsdSession, operations: EveryPort, chair: Path
) -> None:
    before = session.scene_digest()
    with session.undo_step("Import"):
        operations.import_file(chair, "payload", None, 1.0, None)
    came = session.stage.GetPrimAtPath("/World/Chair")
    assert came.HasAuthoredPayloads()
    assert not came.HasAuthoredReferences()

    with session.undo_step("Point"):
        operations.set_value("/World/Chair", "payloads", ["./assets/none.usda"])
    assert operations.value("/World/Chair", "payloads").value == [{"file": "./assets/none.usda"}]
    assert not session.stage.GetPrimAtPath("/World/Chair/Seat")

    session.undo()
    assert session.stage.GetPrimAtPath("/World/Chair/Seat")
    session.undo()
    assert session.scene_digest() == before


def test_wrong_units_and_a_wrong_axis_are_mended_by_a_prim_above(
    operations: EveryPort, chair: Path
) -> None:
    came = operations.import_file(chair, "reference", PROPS, 100.0, "Z")
    operations.place(came.items[0], at=(0, 50, 0))

    assert came.items == [f"{PROPS}/Chair"]
    seat = box(operations, f"{PROPS}/Chair/Chair/Seat")
    assert seat == near([-50, 0, -50, 50, 100, 50])
    assert operations.placement(came.items[0]).rotation[0] == -90


def test_a_copy_has_all_of_it_and_its_targets_follow(
    session: UsdSession, operations: EveryPort, chair: Path
) -> None:
    came = operations.import_file(chair, "copy", None, 1.0, "Z")

    top = came.items[0]
    assert operations.value(f"{top}/Chair", "look").value == [f"{top}/Looks/Oak"]
    assert operations.value(f"{top}/Chair/Seat", "photo").value == "./assets/seat.png"
    assert not session.stage.GetPrimAtPath(top).HasAuthoredReferences()


def test_prims_are_exported_with_what_they_use_and_their_frames(
    operations: EveryPort, tmp_path: Path
) -> None:
    file = tmp_path / "out.usda"

    exported = operations.export_file(file, [CRATE, "/World/Odd/Keyed"], (7, 13))

    out = Usd.Stage.Open(str(file))
    keys = UsdGeom.Xformable(out.GetPrimAtPath("/World/Odd/Keyed")).GetTimeSamples()
    bound = UsdShade.MaterialBindingAPI(out.GetPrimAtPath(CRATE)).ComputeBoundMaterial()[0]
    assert keys == [7, 13]
    assert str(bound.GetPath()) == RED
    assert not out.GetPrimAtPath(TREE)
    assert out.GetDefaultPrim().GetPath() == "/World"
    assert exported.items == [str(prim.GetPath()) for prim in out.Traverse()]
    assert "All but 2 prims" in exported.left_out[0]


def test_a_whole_scene_is_exported_and_its_paths_lead_to_the_same(
    operations: EveryPort, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()

    exported = operations.export_file(tmp_path / "out" / "all.usdc", [], None)

    out = Usd.Stage.Open(str(tmp_path / "out" / "all.usdc"))
    file = out.GetAttributeAtPath("/World/Looks/Wood/Lost.inputs:file").Get()
    assert file.path == "../textures/lost.png"
    assert exported.items == [str(prim.GetPath()) for prim in out.TraverseAll()]
    assert len(list(out.Traverse())) == len(list(operations.items()))
    assert exported.left_out == []


def test_an_export_never_writes_over_the_scene(session: UsdSession, operations: EveryPort) -> None:
    assert session.path is not None
    with pytest.raises(ValueError, match="part of this scene"):
        operations.export_file(session.path, [], None)
    with pytest.raises(ValueError, match="must end in"):
        operations.export_file(session.path.with_suffix(".fbx"), [], None)


def test_what_is_of_no_use_is_found(operations: EveryPort) -> None:
    assert operations.junk("unused") == ["/World/Looks/Unused"]
    assert operations.junk("empty_groups") == [f"{PROPS}/Empty", f"{PROPS}/Empty/Below"]
    assert operations.junk("duplicate_materials") == ["/World/Looks/Red_twin"]
    assert operations.junk("dead_links") == [f"{TREE}.guide", f"{PROPS}/Lost"]


def test_a_dead_link_is_cut_and_the_rest_of_the_targets_stay(operations: EveryPort) -> None:
    operations.clean("dead_links", operations.junk("dead_links"))

    assert operations.value(TREE, "guide").value == [f"{TREE}/Crown"]
    assert operations.junk("dead_links") == []


def test_the_lights_are_seen_through_a_camera_of_the_scene_and_not_otherwise(
    operations: EveryPort,
) -> None:
    """A picture needs no window."""
    shot = operations.viewpoint(CAMERA)
    through, beside = (
        operations.draw([it], 320, 240, "solid") for it in (shot, replace(shot, camera=""))
    )

    assert through != beside


def curve(session: UsdSession, kind: str = "linear", **more: str) -> str:
    """Make a curve of four points, a square of 6 at x = 10; its first point is its lowest."""
    made = UsdGeom.BasisCurves.Define(session.stage, f"{PROPS}/Curve")
    made.CreatePointsAttr([(0, 0, 0), (6, 0, 0), (6, 6, 0), (0, 6, 0)])
    made.CreateCurveVertexCountsAttr([4])
    made.CreateTypeAttr(kind)
    for name, value in more.items():
        made.GetPrim().GetAttribute(name).Set(value)
    UsdGeom.XformCommonAPI(made).SetTranslate((10, 0, 0))
    return str(made.GetPath())


@pytest.mark.parametrize(
    ("kind", "more", "count", "first", "middle", "last"),
    [
        ("linear", {}, 4, (10, 0, 0), (16, 6, 0), (10, 6, 0)),
        ("linear", {"wrap": "periodic"}, 5, (10, 0, 0), (16, 6, 0), (10, 0, 0)),
        ("cubic", {"basis": "bezier"}, 17, (10, 0, 0), (14.5, 3, 0), (10, 6, 0)),
        ("cubic", {"basis": "bspline"}, 17, (15, 1, 0), (15.75, 3, 0), (15, 5, 0)),
        ("cubic", {"basis": "catmullRom"}, 17, (16, 0, 0), (16.75, 3, 0), (16, 6, 0)),
        (
            "cubic",
            {"basis": "catmullRom", "wrap": "pinned"},
            49,
            (10, 0, 0),
            (16.75, 3, 0),
            (10, 6, 0),
        ),
        (
            "cubic",
            {"basis": "catmullRom", "wrap": "periodic"},
            65,
            (16, 0, 0),
            (10, 6, 0),
            (16, 0, 0),
        ),
    ],
)
def test_a_curve_is_followed_in_world_space(
    session: UsdSession,
    operations: EveryPort,
    kind: str,
    more: dict[str, str],
    count: int,
    first: tuple[float, ...],
    middle: tuple[float, ...],
    last: tuple[float, ...],
) -> None:
    points = operations.path(curve(session, kind, **more))

    assert len(points) == count
    assert [points[0], points[count // 2], points[-1]] == [near(first), near(middle), near(last)]


def test_what_is_no_curve_is_not_followed(operations: EveryPort) -> None:
    with pytest.raises(ValueError, match="no BasisCurves: give along a list of points"):
        operations.path(CRATE)


def test_a_value_that_nothing_authored_is_at_its_default(operations: EveryPort) -> None:
    values = operations.look_into(f"{PROPS}/Placeholder_01", "values")

    assert values["size"].is_default
    assert not values["xformOp:translate"].is_default
    operations.set_value(f"{PROPS}/Placeholder_01", "size", 2.0)
    assert not operations.value(f"{PROPS}/Placeholder_01", "size").is_default


def test_any_part_of_an_array_can_be_read(operations: EveryPort) -> None:
    assert operations.elements(CRATE, "faceVertexIndices", 4, 3) == (24, [4, 6, 7])
    assert operations.elements(CRATE, "points", 7, 9) == (8, [[1, 1, 1]])
    assert operations.elements(CRATE, "doubleSided", 0, 9) is None


@pytest.mark.parametrize(
    ("name", "made"),
    [
        *[("Wörld", "Wörld"), ("日本", "日本"), ("Ausgabe ü", "Ausgabe_ü"), ("a.b-c", "a_b_c")],
        *[("1a", "_1a"), ("e\u0301", "e\u0301")],
    ],
)
def test_a_name_keeps_the_letters_that_a_prim_may_have(
    operations: EveryPort, name: str, made: str
) -> None:
    assert operations.create("Xform", name, None) == f"/World/{made}"
