"""What the acts of our own application promise, on real USD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from math import dist
from pathlib import Path
from typing import Any, NoReturn

import pytest
from PIL import Image
from pxr import Gf, Usd, UsdGeom, UsdShade

from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.verbs.acts import SCENE, Acts, Bounds, Shot, SocketLink, load
from tests.verbs import usd_scene
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


# ---- each edit is one undo step, and leaves nothing where it fails


EDITS: dict[str, Edit] = {
    "a value": lambda a: a.set_value(CAMERA, "focalLength", 85),
    "a relationship": lambda a: a.set_value(CAMERA, "lookAt", [CRATE]),
    "another file": lambda a: a.set_value(f"{PROPS}/Lost", "references", ["./found.usda"]),
    "a size": lambda a: a.set_value(f"{TREE}/Trunk", "size", 7),
    "a kind": lambda a: a.set_value(TREE, "kind", "component"),
    "another frame range": lambda a: a.set_value(SCENE, "end", 96),
    "other units": lambda a: a.set_value(SCENE, "units", "m"),
    "the render camera": lambda a: a.set_value(SCENE, "camera", CAMERA),
    "the size of pictures": lambda a: a.set_value(SCENE, "size", [640, 480]),
    "keys": lambda a: a.set_keys(CAMERA, "focalLength", [(1, 35), (9, 85)], "linear", clear=False),
    "keys of a transform": lambda a: a.set_keys(
        TREE, "xformOp:rotateXYZ", [(1, [0, 0, 0]), (9, [0, 360, 0])], "linear", clear=False
    ),
    "no keys": lambda a: a.set_keys(
        "/World/Odd/Keyed", "xformOp:translate", [], "linear", clear=True
    ),
    "a new light": lambda a: a.create("RectLight", "Rim", "/World/Rig"),
    "a new shader": lambda a: a.create("UsdUVTexture", None, RED),
    "a copy": lambda a: a.duplicate(TREE, linked=False),
    "an instance": lambda a: a.duplicate(TREE, linked=True),
    "a place": lambda a: a.place(CRATE, (1, 2, 3), (10, 20, 30), (1, 1, 1)),
    "an applied scale": lambda a: a.apply(CRATE, ["scale"]),
    "another parent": lambda a: a.set_parent(CRATE, "/World/Odd/Stretched", keep_place=False),
    "a parent and the same place": lambda a: a.set_parent(CRATE, TREE, keep_place=True),
    "a collection": lambda a: a.collect([CRATE, TREE], "heroes", "collection"),
    "a new material": lambda a: a.material(
        "Clay", {"base_color": [1, 0, 0], "texture": "a.png", "normal": "b.png"}
    ),
    "a changed material": lambda a: a.material("Red", {"roughness": 0.2, "opacity": 0.5}),
    "an assigned material": lambda a: a.assign(TREE, "Wood"),
    "a connection": lambda a: a.connect(
        SocketLink("/World/Looks/Wood/Lost", "rgb", "/World/Looks/Wood/Surface", "diffuseColor")
    ),
    "a cut": lambda a: a.cut(SocketLink("", "", RED, "surface")),
    "another name": lambda a: a.rename(TREE, "Oak"),
    "no unused materials": lambda a: a.clean("unused", a.junk("unused")),
    "no empty groups": lambda a: a.clean("empty_groups", a.junk("empty_groups")),
    "no twins": lambda a: a.clean("duplicate_materials", a.junk("duplicate_materials")),
    "no dead links": lambda a: a.clean("dead_links", a.junk("dead_links")),
    "a deletion": lambda a: a.delete([TREE]),
}


@pytest.mark.core
@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_an_act_is_undone_byte_for_byte(session: UsdSession, acts: Acts, edit: Edit) -> None:
    """And redone, and one that fails after it leaves nothing."""
    before, selected = session.scene_digest(), session.selection
    with session.undo_step("Edit"):
        edit(acts)
    after = session.scene_digest()

    session.undo()
    assert session.scene_digest() == before != after
    session.redo()
    assert session.scene_digest() == after
    session.undo()
    with pytest.raises(ZeroDivisionError), session.undo_step("Fails"):
        fail_after(acts, edit)
    assert (session.scene_digest(), session.selection) == (before, selected)


@pytest.mark.core
def test_all_acts_are_there(acts: Acts) -> None:
    """A deletion takes what is below along, and paths say what is taken: the defaults do."""
    every = {name for name, it in vars(Acts).items() if callable(it) and not name.startswith("_")}

    missing = {name for name in every - {"has"} if not acts.has(name)}

    assert missing == {"orphans", "called"}
    assert 200 < len(acts.instructions) <= 600


IN_ONE_LAYER = (
    *("a value", "keys", "no keys", "a new light", "a copy", "an instance", "a place"),
    *("an applied scale", "a new material", "a changed material", "an assigned material", "a cut"),
)


@pytest.mark.parametrize("name", IN_ONE_LAYER)
def test_an_edit_goes_to_the_layer_that_the_person_edits(
    session: UsdSession, acts: Acts, name: str
) -> None:
    """Here the session layer, above the one that holds the scene."""
    stage = session.stage
    stage.SetEditTarget(stage.GetSessionLayer())
    before, root = session.scene_digest(), stage.GetRootLayer().ExportToString()

    with session.undo_step("Edit"):
        EDITS[name](acts)

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
    "'long' is no float": lambda a: a.set_value(CAMERA, "focalLength", "long"),
    r"\[1, 2\] is no float": lambda a: a.set_value(CAMERA, "focalLength", [1, 2]),
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
    "cannot be": lambda a: a.rename(TREE, "1 tree"),
    "cannot be renamed": lambda a: a.rename(TREE, "Crate"),
    "USD has no layer": lambda a: a.collect([CRATE], "heroes", "layer"),
    "has no colour: it has base_color": lambda a: a.material("Red", {"colour": 1}),
    "from 0 to 1": lambda a: a.material("Red", {"opacity": 4}),
    "no place of its own: it is a Scope": lambda a: a.placement("/World/Looks"),
    "is keyed: change its keys": lambda a: a.place("/World/Odd/Keyed", (1, 2, 3)),
    "would be sheared": lambda a: a.place("/World/Odd/Stretched/Inner", rotation=(0, 0, 70)),
    r"xformOp:rotateY.* with set_values": lambda a: a.place("/World/Odd/Spun", None, (0, 10, 0)),
    "below itself": lambda a: a.set_parent(TREE, f"{TREE}/Trunk", keep_place=True),
    "no history": lambda a: a.junk("history"),
    "no folder": lambda a: a.save_files(Path("/no/b.usda")),
}
UNKNOWN: dict[str, Edit] = {
    rf"Near: {CRATE}\.": lambda a: a.kind(f"{PROPS}/Crat"),
    f"Tree is at {TREE}": lambda a: a.kind("/World/Tree"),
    f"Is it {TREE}": lambda a: a.kind("Tree"),
    "no material, file or prim 'Rad'": lambda a: a.users("Rad"),
    "no prim": lambda a: a.set_value(CAMERA, "lookAt", ["/World/Nobody"]),
    "Near: focalLength": lambda a: a.value(CAMERA, "focallenght"),
    "It has frame, start, end, fps": lambda a: a.value(SCENE, "gravity"),
    "no socket 'rgbx'": lambda a: a.connect(
        SocketLink("/World/Looks/Wood/Lost", "rgbx", f"{RED}/Surface", "normal")
    ),
    r"no type 'Spherelite'\. Near: SphereLight": lambda a: a.create("Spherelite", None, None),
    "no material 'Steal'": lambda a: a.assign(CRATE, "Steal"),
    "not a Camera": lambda a: a.viewpoint(TREE),
}


@pytest.mark.core
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


def test_items_come_in_order_and_know_their_parents(acts: Acts) -> None:
    below = list(acts.items(TREE))

    assert below == [f"{TREE}/Trunk", f"{TREE}/Crown"]
    assert (acts.kind(TREE), acts.name(TREE), acts.parent(TREE)) == ("Xform", "Tree", PROPS)
    assert acts.parent("/World") is None
    assert next(iter(acts.items())) == "/World"


def test_a_prim_is_told_in_parts(acts: Acts) -> None:
    values, links = acts.look_into(CAMERA, "values"), acts.look_into(RED, "inputs")

    assert values["focalLength"].value == 50
    assert values["lookAt"].value == [TREE]
    assert links == [SocketLink(f"{RED}/Surface", "surface", RED, "surface")]
    assert acts.look_into("/World/Odd/Keyed", "keys") == {
        "xformOp:translate": [[1.0, [0.0, 0.0, 0.0]], [25.0, [0.0, 0.0, 24.0]]]
    }
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


def test_bounds_are_of_the_world_and_follow_an_edit(acts: Acts) -> None:
    before = box(acts, f"{TREE}/Trunk")
    acts.place(TREE, (0, 100, 0))

    after = box(acts, f"{TREE}/Trunk")

    assert before == ((-51, -1, -1), (-49, 1, 1))
    assert after == ((-1, 99, -1), (1, 101, 1))
    assert acts.bounds("/World/Looks") is None


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


def test_what_is_keyed_or_connected_is_written_only_in_place_of_that(acts: Acts) -> None:
    keyed, wood = "/World/Odd/Keyed", "/World/Looks/Wood/Surface"
    link = SocketLink("/World/Looks/Wood/Lost", "rgb", wood, "diffuseColor")
    acts.connect(link)
    held = acts.value(keyed, "xformOp:translate"), acts.value(wood, "inputs:diffuseColor")

    for item, prop in ((keyed, "xformOp:translate"), (wood, "inputs:diffuseColor")):
        with pytest.raises(ValueError, match=r"is (keyed|connected)"):
            acts.set_value(item, prop, [1, 0, 0])
        acts.set_value(item, prop, [1, 0, 0], replace=True)

    assert [it.held for it in held] == [
        "keyed, 2 keys",
        f"connected to {link.source}.outputs:rgb",
    ]
    now = acts.value(keyed, "xformOp:translate"), acts.value(wood, "inputs:diffuseColor")
    assert [(it.value, it.held) for it in now] == [([1, 0, 0], "")] * 2


def test_the_scene_has_values(session: UsdSession, acts: Acts) -> None:
    for prop, value in {
        "start": 101, "end": 120, "fps": 25, "units": "m", "camera": CAMERA,
        "size": [640, 360], "up": "Z", "default_prim": PROPS,
    }.items():  # fmt: skip
        acts.set_value(SCENE, prop, value)
        assert acts.value(SCENE, prop).value == value

    assert (session.stage.GetStartTimeCode(), session.stage.GetTimeCodesPerSecond()) == (
        101,
        25,
    )
    assert acts.up == "Z"


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


def test_keys_are_added_replaced_and_cleared(acts: Acts) -> None:
    item, prop = "/World/Odd/Keyed", "xformOp:translate"
    acts.set_keys(item, prop, [(13, [5, 0, 0])], "linear", clear=False)
    added = acts.keys(item, prop)
    acts.set_keys(item, prop, [(2, [7, 0, 0])], "linear", clear=True)
    replaced = acts.keys(item, prop)
    acts.set_keys(item, prop, [], "linear", clear=True)

    assert [at for at, _ in added] == [1, 13, 25]
    assert replaced == [(2, [7, 0, 0])]
    assert acts.keys(item, prop) == []
    assert acts.value(item, prop).value == [7, 0, 0]


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


def test_a_network_is_connected_and_cut(acts: Acts) -> None:
    reader = acts.create("UsdUVTexture", "Grain", RED)
    link = SocketLink(reader, "rgb", f"{RED}/Surface", "diffuseColor")
    acts.connect(link)
    connected = acts.look_into(f"{RED}/Surface", "inputs")
    acts.cut(link)

    assert connected == [link]
    assert acts.look_into(f"{RED}/Surface", "inputs") == []


# ---- building


def test_a_prim_is_made_below_the_default_prim_under_a_free_name(acts: Acts) -> None:
    made = [acts.create("SphereLight", "Key light", None) for _ in range(2)]

    assert made == ["/World/Key_light", "/World/Key_light_1"]
    assert [acts.kind(it) for it in made] == ["SphereLight"] * 2


def test_names_go_on_counting(acts: Acts) -> None:
    copies = [acts.duplicate(f"{PROPS}/Placeholder_07", linked=False) for _ in range(3)]

    assert copies == [f"{PROPS}/Placeholder_{number}" for number in (41, 42, 43)]


def test_a_linked_copy_shares_its_data_and_has_a_place_of_its_own(
    session: UsdSession, acts: Acts
) -> None:
    copy = acts.duplicate(TREE, linked=True)
    again = acts.duplicate(copy, linked=True)
    acts.place(again, (0, 0, 90))
    prims = [session.stage.GetPrimAtPath(it) for it in (copy, again)]

    assert [prim.IsInstance() for prim in prims] == [True, True]
    assert prims[0].GetPrototype() == prims[1].GetPrototype()
    assert box(acts, again) == ((-1, -1, 89), (1, 1, 91))
    assert box(acts, copy) == box(acts, TREE)


def test_a_linked_copy_follows_when_its_source_is_renamed(acts: Acts) -> None:
    copy = acts.duplicate(TREE, linked=True)
    before = acts.bounds(copy)
    acts.rename(TREE, "Oak")

    assert acts.bounds(copy) == before


def test_a_plain_copy_is_its_own(session: UsdSession, acts: Acts) -> None:
    copy = acts.duplicate(TREE, linked=False)
    acts.set_value(f"{copy}/Trunk", "size", 10)

    assert box(acts, TREE) == ((-51, -1, -1), (-49, 1, 1))
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


def test_prims_are_collected(session: UsdSession, acts: Acts) -> None:
    name = acts.collect([CRATE, TREE], "heroes", "set")

    members = Usd.CollectionAPI(session.stage.GetPrimAtPath("/World"), "heroes")
    assert name == "/World.collection:heroes"
    assert members.ComputeMembershipQuery().IsPathIncluded(f"{TREE}/Crown")


def test_a_material_is_made_changed_and_assigned(session: UsdSession, acts: Acts) -> None:
    values = {"base_color": [0.2, 0.3, 0.4], "metallic": 1, "texture": "./a.png"}
    made = acts.material("Steel", values)
    acts.material("Steel", {"roughness": 0.1, "texture": "./b.png"})
    acts.assign(CRATE, "Steel")

    bound = UsdShade.MaterialBindingAPI(session.stage.GetPrimAtPath(CRATE))
    surface = UsdShade.Material(session.stage.GetPrimAtPath(made)).ComputeSurfaceSource()[0]
    assert made == "/World/Looks/Steel"
    assert str(bound.ComputeBoundMaterial()[0].GetPath()) == made
    assert surface.GetInput("roughness").Get() == pytest.approx(0.1)
    assert acts.value(f"{made}/diffuseColor_texture", "inputs:file").value == "./b.png"


def test_a_plain_colour_takes_the_place_of_a_texture(acts: Acts) -> None:
    made = acts.material("Steel", {"texture": "./a.png"})
    acts.material("Steel", {"base_color": [1, 1, 1]})

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


def test_a_part_that_is_not_given_stays(acts: Acts) -> None:
    before = acts.placement(CRATE)
    acts.place(CRATE, rotation=(0, 0, 90))
    now = acts.placement(CRATE)

    assert (now.at, now.scale) == (before.at, before.scale)
    assert now.rotation == (0, 0, 90)


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


def test_another_parent_keeps_the_place_or_not(acts: Acts) -> None:
    item = f"{PROPS}/Placeholder_01"
    before = box(acts, item)
    kept = acts.set_parent(item, TREE, keep_place=True)
    moved_to = acts.bounds(kept)
    moved = acts.set_parent(kept, "/World/Rig", keep_place=False)
    top = acts.set_parent(moved, None, keep_place=True)

    assert (kept, moved, top) == (
        f"{TREE}/Placeholder_01", "/World/Rig/Placeholder_01", "/Placeholder_01"
    )  # fmt: skip
    assert moved_to == before
    assert box(acts, top)[0][0] == before[0][0] + 50


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


def test_what_usd_cannot_read_is_refused(acts: Acts, tmp_path: Path) -> None:
    (tmp_path / "bad.usda").write_text("#usda 1.0\ndef {")
    for name, why in (("bad.usda", "not a file that USD can read"), ("no.usda", "no file")):
        with pytest.raises(ValueError, match=why):
            acts.import_file(tmp_path / name, "reference", None, 1.0, None)
    assert set(acts.import_formats()) == {".usd", ".usda", ".usdc", ".usdz"}


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


def test_what_used_a_twin_uses_the_one_that_stays(acts: Acts) -> None:
    acts.clean("duplicate_materials", ["/World/Looks/Red_twin"])
    acts.clean("dead_links", acts.junk("dead_links"))

    assert acts.look_into(f"{TREE}/Crown", "uses") == [RED]
    assert acts.value(TREE, "guide").value == [f"{TREE}/Crown"]
    assert acts.junk("dead_links") == acts.junk("duplicate_materials") == []


def test_what_a_deletion_takes_along_is_counted(acts: Acts) -> None:
    assert acts.below([TREE, f"{TREE}/Crown"]) == 1
    assert acts.delete([TREE]) == []
    assert TREE not in set(acts.items())


def test_a_save_names_its_files_before(session: UsdSession, acts: Acts, tmp_path: Path) -> None:
    acts.set_value(SCENE, "end", 99)

    assert acts.save_files(None) == [session.path]
    assert acts.save_files(tmp_path / "b.usda") == [tmp_path / "b.usda"]
    assert acts.save(None) == session.path
    assert not session.modified


# ---- pictures


def test_a_camera_has_a_view(acts: Acts) -> None:
    shot = acts.viewpoint(CAMERA)

    assert shot.eye == (0, 10, 100)
    assert shot.target[2] < 100
    assert shot.angle == pytest.approx(17.35, abs=0.1)


def test_a_picture_needs_no_window_and_shows_what_there_is(session: UsdSession, acts: Acts) -> None:
    before = session.scene_digest()
    front = Shot((0, 30, 300), (0, 0, 0), (0, 1, 0), 40.0)
    over = Shot((0, 500, 0), (0, 0, 0), (0, 0, -1), 0.0, 200.0)
    one, four, wire = (
        acts.draw([front], 320, 240, "solid"),
        acts.draw([front, over, acts.viewpoint(CAMERA), front], 320, 240, "material"),
        acts.draw([front], 320, 240, "wire"),
    )

    assert acts.draw([acts.viewpoint(CAMERA)], 320, 240, "solid") != acts.draw(
        [replace(acts.viewpoint(CAMERA), camera="")], 320, 240, "solid"
    )  # which shows the lights
    sizes = [Image.open(BytesIO(each)).size for each in (one, four, wire)]
    assert sizes == [(320, 240), (640, 480), (320, 240)]
    assert all(each[:2] == b"\xff\xd8" and len(each) < 100_000 for each in (one, four, wire))
    assert len({one, four, wire}) == 3
    assert (session.scene_digest(), session.undo_mark().label) == (before, None)


def test_a_picture_of_a_frame_shows_it(acts: Acts) -> None:
    shots = [Shot((0, 30, 90), (0, 0, 0), (0, 1, 0), 40.0, frame=at) for at in (1, 25)]

    assert acts.draw(shots[:1], 320, 240, "solid") != acts.draw(shots[1:], 320, 240, "solid")
