"""The promises of every host, and Blender's own, to be run where ``bpy`` is.

`tests.blender.test_bpy` runs it in an interpreter of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import pytest

from dcc_bridge.errors import LostAnyway, NotUndoable
from dcc_bridge_blender.census import census, has_few_inner
from dcc_bridge_blender.host import BlenderHost
from tests.blender.things import cube, scene, thing
from tests.hosts.contract import HostContract, Stand, careless, folder_named
from tests.hosts.digests import scene_digest

MOST_INNER = f"{census.__module__}._MAX_INNER"


def nodes() -> Any:
    material: Any = bpy.data.materials[0]
    return material.node_tree.nodes


def furnish() -> None:
    """Give the scene what has parts: keys, drivers, groups of vertices, a rig, a ramp."""
    for frame in (1, 9):
        cube().keyframe_insert("location", frame=frame)
    cube().driver_add("scale", 0)
    cube().vertex_groups.new(name="Top").add([0, 1], 1.0, "ADD")
    material: Any = bpy.data.materials[0]
    material.use_nodes = True
    nodes().new("ShaderNodeValToRGB").name = "Ramp"
    if bpy.app.version < (5, 0):
        scene().use_nodes = True
    group: Any = bpy.data.node_groups.new("Group", "GeometryNodeTree")
    if hasattr(group, "interface"):
        group.interface.new_socket("Height", socket_type="NodeSocketFloat")
    else:  # up to 3.6
        group.inputs.new("NodeSocketFloat", "Height")
    modifier = cube().modifiers.new("Group", "NODES")
    modifier.node_group = group
    line = bpy.data.objects.new("Line", bpy.data.curves.new("Line", "CURVE"))
    scene().collection.objects.link(line)
    bones = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene().collection.objects.link(bones)
    scene().view_layers[0].objects.active = bones
    bpy.ops.object.mode_set(mode="EDIT")
    thing("Rig").data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")


def curve() -> Any:
    data: Any = bpy.data.curves["Line"]
    return data


UNTOLD: dict[str, Callable[[], object]] = {
    "a variable of a driver": lambda: cube().animation_data.drivers[0].driver.variables.new(),
    "cleared vertex groups": lambda: cube().vertex_groups.clear(),
    "a new vertex group": lambda: cube().vertex_groups.new(name="Side"),
    "a custom property of a bone": lambda: thing("Rig").pose.bones["Bone"].__setitem__("weight", 1),
    "a custom property of a node": lambda: nodes()["Ramp"].__setitem__("note", "dark"),
    "a point of a ramp": lambda: nodes()["Ramp"].color_ramp.elements.new(0.5),
    "a spline": lambda: curve().splines.new("POLY"),
    "the camera of a marker": lambda: setattr(
        scene().timeline_markers.new("cut"), "camera", thing("Camera")
    ),
    "an asset": lambda: cube().asset_mark(),
}

if bpy.app.version < (5, 0):  # it is one of the modifier's properties since then

    def set_input() -> None:
        """Set the input of a group of nodes that changes an object."""
        modifier = cube().modifiers["Group"]
        modifier[next(iter(modifier.keys()))] = 7.0

    UNTOLD["an input of a modifier"] = set_input

TOLD: list[Any] = [
    ("scene:Scene", lambda: setattr(scene().render, "resolution_x", 77)),
    ("scene:Scene", lambda: setattr(scene().view_settings, "exposure", 2)),
    ("scene:Scene", lambda: scene().__setitem__("shot", "sh010")),
    ("scene:Scene", lambda: scene().timeline_markers.new("cut")),
    ("world:World", lambda: setattr(bpy.data.worlds[0], "color", (1, 0, 0))),
    ("Cube", lambda: cube().__setitem__("shot", "sh010")),
    ("Light", lambda: setattr(bpy.data.lights[0], "energy", 7)),
]
if bpy.app.version < (5, 0):  # a scene has no nodes of its own since then

    def blur() -> None:
        """Add a node to the compositor, which the scene has."""
        scene().node_tree.nodes.new("CompositorNodeBlur")

    TOLD.append(("scene:Scene", blur))

tells_files = pytest.mark.skipif(
    bpy.app.version < (4, 0), reason="Blender tells no handler before 4.0 which file it writes"
)
EDITS: dict[str, Callable[[], object]] = {
    "data that nothing uses": lambda: bpy.data.objects.new("Loose", None),
    "a text": lambda: bpy.data.texts.new("Notes").write("hello"),
    "a vertex": lambda: setattr(bpy.data.meshes["Cube"].vertices[0], "co", (9, 9, 9)),
    "the frames": lambda: setattr(scene(), "frame_end", 7),
    "a modifier": lambda: cube().modifiers.new("Bend", "SIMPLE_DEFORM"),
    "a collection": lambda: bpy.data.collections.new("Set"),
    "a key": lambda: cube().keyframe_insert("location"),
}


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    bpy.ops.wm.read_factory_settings()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "set.blend"))
    host = BlenderHost()
    shifts = iter(range(1, 100))

    def edit() -> None:
        thing("Camera").location.x += next(shifts)
        if not host.is_in_step:  # what a person does is an entry of its own
            bpy.ops.ed.undo_push(message="Move")

    yield Stand(host, ("Cube", "Light"), edit, delete, lambda: bpy.ops.wm.save_mainfile())
    host.close()


class Kept(bpy.types.PropertyGroup):
    """What an add-on keeps in a group within its own."""

    number: bpy.props.IntProperty()  # type: ignore[valid-type]  # how Blender declares one


class Settings(bpy.types.PropertyGroup):
    """What an add-on keeps beside each object and scene."""

    kept: bpy.props.PointerProperty(type=Kept)  # type: ignore[valid-type]  # the same


@pytest.fixture
def addon() -> Iterator[None]:
    """Have an add-on that keeps settings, as Cycles does."""
    owners: list[Any] = [bpy.types.Object, bpy.types.Scene]
    for kind in (Kept, Settings):
        bpy.utils.register_class(kind)
    for owner in owners:
        owner.addon = bpy.props.PointerProperty(type=Settings)
    yield
    for owner in owners:
        del owner.addon
    for kind in (Settings, Kept):
        bpy.utils.unregister_class(kind)


def replace() -> None:
    delete("Cube")
    bpy.data.objects.new("Cube", None)


@contextmanager
def forgetful(item: str, times: int, *, removes: bool = False) -> Iterator[None]:
    """Leave an object that an undo has brought back in no collection, so often, or take it away."""
    left = iter(range(times))

    def leave_out(*_: object) -> None:
        found = bpy.data.objects.get(item)
        if found is None or next(left, None) is None:
            return
        for group in found.users_collection:
            group.objects.unlink(found)
        if removes:
            bpy.data.objects.remove(found)

    bpy.app.handlers.undo_post.append(leave_out)
    yield
    bpy.app.handlers.undo_post.remove(leave_out)


def save_differently(file: Path) -> None:
    cube().location.x = 9
    bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True)


def delete(item: str) -> None:
    bpy.data.objects.remove(thing(item))


class TestBlender(HostContract):
    @pytest.mark.parametrize("kind", EDITS)
    def test_every_kind_of_edit_is_an_entry_that_undo_takes_back(
        self, stand: Stand, kind: str
    ) -> None:
        """Those too that Blender does not tell of."""
        before = scene_digest(stand.host)

        with stand.host.undo_step("Ours"):
            EDITS[kind]()
        label = stand.host.undo_mark().label
        after = scene_digest(stand.host)
        stand.host.undo()

        assert label == "Ours"
        assert scene_digest(stand.host) == before
        assert after != before

    @pytest.mark.parametrize("kind", UNTOLD)
    def test_what_blender_tells_nobody_of_is_an_entry_that_undo_takes_back(
        self, stand: Stand, kind: str
    ) -> None:
        """Else an agent's undo would take back the call before."""
        host = stand.host
        furnish()
        with host.undo_step("Before"):
            stand.edit()
        before = census()

        with host.undo_step("Ours"):
            UNTOLD[kind]()
        label = host.undo_mark().label
        after = census()
        host.undo()

        assert label == "Ours"
        assert host.undo_mark().label == "Before"
        assert after != before
        assert census() == before

    @pytest.mark.parametrize("kind", ["a custom property of a node", "a custom property of a bone"])
    def test_nodes_and_bones_are_compared_only_while_they_are_few(
        self, stand: Stand, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """To look at each one of a large file would hold up whoever works in it."""
        furnish()
        stand.host.undo_mark()
        few = census()
        monkeypatch.setattr(MOST_INNER, 2)
        many = census()

        UNTOLD[kind]()
        among_many = census()
        monkeypatch.undo()
        among_few = census()

        assert among_many == many
        assert among_few != few

    def test_a_file_of_many_nodes_has_the_custom_properties_of_its_objects_compared(
        self, stand: Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(MOST_INNER, 2)
        furnish()

        with stand.host.undo_step("Ours"):
            cube()["shot"] = "sh010"

        assert stand.host.undo_mark().label == "Ours"

    def test_after_a_read_no_node_or_bone_is_compared(self, stand: Stand) -> None:
        """A read is often asked for, and changes nothing as a rule."""
        furnish()
        stand.host.undo_mark()
        before = census(read=True)

        nodes()["Ramp"]["note"] = "dark"
        thing("Rig").pose.bones["Bone"]["weight"] = 1

        assert census(read=True) == before

    def test_code_that_makes_the_nodes_too_many_changes_no_more_than_it_did(
        self, stand: Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is compared before and after is the same."""
        furnish()
        with stand.host.undo_step("Before"):
            stand.edit()
        nodes()["Ramp"]["note"] = "dark"
        monkeypatch.setattr(MOST_INNER, 0)
        limits = iter(range(10_000))
        while not has_few_inner():
            monkeypatch.setattr(MOST_INNER, next(limits))

        with stand.host.undo_step("Code"), stand.host.changes() as count:
            bpy.data.node_groups["Group"].nodes.new("NodeReroute")
            changes = count()

        assert changes.changed == ["nodetree:Group"]

    def test_what_was_no_change_in_one_file_is_one_in_the_next(self, stand: Stand) -> None:
        """What Blender makes for itself is known by what the file was before."""
        host: Any = stand.host
        file = bpy.data.filepath
        bpy.ops.wm.open_mainfile(filepath=file)
        with host.unnoticed():
            cube()["shot"] = "sh010"
        bpy.ops.wm.open_mainfile(filepath=file)

        with host.undo_step("Ours"):
            cube()["shot"] = "sh010"

        assert host.undo_mark().label == "Ours"

    @pytest.mark.parametrize(("item", "edit"), TOLD)
    def test_what_code_changes_that_is_no_object_is_counted_by_its_name(
        self, stand: Stand, item: str, edit: Callable[[], object]
    ) -> None:
        furnish()
        stand.host.undo_mark()
        with stand.host.undo_step("Before"):
            stand.edit()

        with stand.host.undo_step("Code"), stand.host.changes() as count:
            edit()
            changes = count()

        assert changes.created == []
        assert changes.changed == [item]
        assert changes.deleted == []
        assert not changes.is_exact
        assert stand.host.undo_mark().label == "Code"

    def test_what_code_only_reads_is_no_change(self, stand: Stand) -> None:
        with stand.host.undo_step("Code"), stand.host.changes() as count:
            assert scene().render.resolution_x
            changes = count()

        assert changes.created == []
        assert changes.changed == []
        assert changes.deleted == []

    def test_a_label_that_is_too_long_for_blender_is_known_again(self, stand: Stand) -> None:
        """It cuts off the end, which is what makes ours unique."""
        labels = [f"{'Delete all of the cameras ' * 4}[{n:06x}]" for n in range(2)]

        for label in labels:
            with stand.host.undo_step(label):
                stand.edit()
        top = stand.host.undo_mark().label
        stand.host.undo()

        assert [stand.host.undo_mark().label, top] == labels

    def test_the_persons_undo_and_redo_are_seen(self, stand: Stand) -> None:
        """The label is Blender's own, not a copy that may be wrong."""
        with stand.host.undo_step("First"):
            stand.edit()
        with stand.host.undo_step("Second"):
            stand.edit()

        bpy.ops.ed.undo()
        undone = stand.host.undo_mark().label
        bpy.ops.ed.redo()

        assert undone == "First"
        assert stand.host.undo_mark().label == "Second"

    def test_a_step_works_in_every_file_that_is_opened(self, stand: Stand, tmp_path: Path) -> None:
        """Another file has a stack of its own, and our listeners stay."""
        told: list[int] = []
        stand.host.watch(lambda: told.append(1))
        with stand.host.undo_step("In the first"):
            stand.edit()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))

        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
        opened = len(told)
        at_first = stand.host.undo_mark().label
        with stand.host.undo_step("In the other"):
            stand.edit()

        assert at_first is None
        assert stand.host.undo_mark().label == "In the other"
        assert 0 < opened < len(told)
        assert stand.host.scene() == "other.blend"

    def test_a_step_is_refused_where_undo_is_off(self, stand: Stand) -> None:
        assert bpy.context.preferences is not None
        edit = bpy.context.preferences.edit
        edit.use_global_undo = False
        try:
            with pytest.raises(RuntimeError, match="Global Undo"), stand.host.undo_step("Ours"):
                pass
        finally:
            edit.use_global_undo = True

    def test_another_object_of_the_same_name_is_another_one(self, stand: Stand) -> None:
        """A person agreed to delete the one that they saw; so do its locks and what is below."""
        prints = [stand.host.fingerprint(["Cube"])]
        changes: tuple[Callable[[], object], ...] = (
            lambda: setattr(thing("Light"), "parent", cube()),
            lambda: setattr(cube(), "lock_location", (True, False, False)),
            lambda: setattr(cube(), "parent", thing("Camera")),
            replace,
            lambda: delete("Cube"),
        )

        for change in changes:
            change()
            prints.append(stand.host.fingerprint(["Cube"]))

        assert len(set(prints)) == 6

    def test_a_linked_object_is_told_from_a_local_one_of_its_name(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        """Its library is part of its name here, as it is of its identity in Blender."""
        library = str(tmp_path / "lib.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)

        libraries: Any = bpy.data.libraries  # the stubs' load gives nothing
        with libraries.load(library, link=True) as (_, wanted):
            wanted.objects = ["Cube"]

        linked = f"Cube [{wanted.objects[0].library.filepath}]"
        assert stand.host.describe(linked)["library"] == wanted.objects[0].library.filepath
        assert stand.host.describe("Cube")["library"] is None
        assert stand.host.kinds([linked, "Cube [nowhere]"]) == ["MESH", "gone"]

    def test_what_was_below_an_agreed_object_may_go_with_it(self, stand: Stand) -> None:
        thing("Light").parent = cube()
        stand.host.fingerprint(["Cube"])

        with stand.host.undo_step("Delete"):
            bpy.data.batch_remove([cube(), thing("Light")])

        assert stand.host.lost(["Cube"]) == []
        assert stand.host.lost(["Light"]) == ["Cube"]

    def test_a_file_that_a_skill_opens_is_another_place_and_what_was_unsaved_is_kept(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        """Blender cannot be kept from it, and undo does not bring it back."""
        host = stand.host
        other = str(tmp_path / "other.blend")
        bpy.ops.wm.save_as_mainfile(filepath=other, copy=True)
        with host.undo_step("Unsaved"):
            stand.edit()
        before = host.undo_mark()

        with pytest.raises(LostAnyway, match=r"set\.blend") as told, careless(host):
            bpy.ops.wm.open_mainfile(filepath=other)

        assert (folder_named(told.value) / "set.unsaved.blend").stat().st_size > 0
        assert host.undo_mark().depth == before.depth + 1
        with pytest.raises(NotUndoable, match="checkpoints"):
            host.take_back()

    def test_a_save_is_no_entry_and_what_came_before_can_be_undone(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        host = stand.host
        before = scene_digest(host)
        with host.undo_step("Edit"):
            stand.edit()

        with host.undo_step("Save"):
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
        label = host.undo_mark().label
        host.undo()

        assert label == "Edit"
        assert scene_digest(host) == before

    @pytest.mark.parametrize("undo", ["take_back", "undo"])
    @pytest.mark.parametrize("removes", [False, True])
    def test_what_an_undo_does_not_bring_back_is_named(
        self, stand: Stand, removes: bool, undo: str
    ) -> None:
        host = stand.host
        with host.undo_step("Delete"):
            delete("Light")

        with (
            forgetful("Light", 9, removes=removes),
            pytest.raises(NotUndoable, match="did not restore Light, although"),
        ):
            getattr(host, undo)()

    @pytest.mark.parametrize("undo", ["take_back", "undo"])
    def test_what_an_undo_leaves_out_is_brought_back_by_another_one(
        self, stand: Stand, undo: str
    ) -> None:
        host = stand.host
        before = stand.host.undo_mark()
        digest = scene_digest(stand.host)
        with host.undo_step("Delete"):
            delete("Light")

        with forgetful("Light", 2):
            getattr(host, undo)()

        assert host.undo_mark() == before
        assert scene_digest(host) == digest

    def test_an_object_that_was_in_no_collection_is_not_missed(self, stand: Stand) -> None:
        host = stand.host
        with host.undo_step("Make"):
            bpy.data.objects.new("Loose", None)
        with host.undo_step("Link"):
            scene().collection.objects.link(thing("Loose"))

        host.take_back()

        assert thing("Loose").users == 0

    @tells_files
    def test_another_file_that_a_skill_writes_over_is_put_back(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(other), copy=True)
        old = other.read_bytes()

        with pytest.raises(LostAnyway, match="was restored") as told, careless(stand.host):
            save_differently(other)

        assert other.read_bytes() == old == (folder_named(told.value) / other.name).read_bytes()

    @pytest.mark.usefixtures("addon")
    def test_to_read_the_settings_of_an_addon_is_no_edit_and_to_set_them_is(
        self, stand: Stand
    ) -> None:
        """Blender makes their group when it is read."""
        host = stand.host
        owners = list[Any]([cube(), scene()])
        host.undo_mark()
        with host.undo_step("Base"):
            stand.edit()
        before = host.undo_mark()

        with host.guard([], read=True):
            read = [owner.addon.kept.number for owner in owners]
        with host.undo_step("Read"):
            read += [owner.addon.kept.number for owner in owners]
        after = host.undo_mark()
        with host.undo_step("Set"):
            owners[0].addon.kept.number = 7

        assert read == [0] * 4
        assert after == before
        assert host.undo_mark().label == "Set"

    @pytest.mark.parametrize(
        "edit",
        [
            lambda: delete("Light"),
            lambda: setattr(cube(), "location", (1, 2, 3)),
            lambda: setattr(cube(), "name", "Box"),
            lambda: cube().__setitem__("shot", "sh010"),
        ],
    )
    def test_what_a_read_edits_can_be_taken_back(
        self, stand: Stand, edit: Callable[[], object]
    ) -> None:
        host = stand.host
        with host.undo_step("Mine"):
            stand.edit()
        before = host.undo_mark()
        digest = scene_digest(host)

        with host.guard([], read=True):
            edit()
        after = host.undo_mark()
        host.take_back()

        assert after.depth == before.depth + 1
        assert host.undo_mark() == before
        assert scene_digest(host) == digest

    def test_a_read_may_show_another_frame_and_set_what_a_render_needs(self, stand: Stand) -> None:
        before = stand.host.undo_mark()

        with stand.host.guard([], read=True):
            scene().frame_set(7)
            scene().render.resolution_x += 1
            scene().render.resolution_x -= 1
            bpy.data.images.new("Render Result", 8, 8)

        assert stand.host.undo_mark() == before

    def test_undo_that_a_body_turns_off_is_on_again_and_holds_what_it_did(
        self, stand: Stand
    ) -> None:
        """Else what it did could not be taken back, nor what the person does next."""
        put_back = list[str]()
        before = scene_digest(stand.host)
        preferences: Any = bpy.context.preferences

        with stand.host.guard(put_back, read=False), stand.host.undo_step("Careless"):
            delete("Cube")
            preferences.edit.use_global_undo = False
        label = stand.host.undo_mark().label
        is_on = preferences.edit.use_global_undo
        stand.host.undo()

        assert label == "Careless"
        assert is_on
        assert put_back == ["that undo is on"]
        assert scene_digest(stand.host) == before

    @tells_files
    def test_another_file_that_a_skill_goes_on_in_is_told_of(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        """Blender cannot be kept from it; a copy is another matter."""
        path = tmp_path / "new.blend"

        with careless(stand.host):
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
        told = pytest.raises(LostAnyway, match=r"new\.blend.*Save as .*set\.blend")
        with told, careless(stand.host):
            bpy.ops.wm.save_as_mainfile(filepath=str(path))

    def test_the_mode_and_the_scene_that_is_shown_are_put_back(self, stand: Stand) -> None:
        """Undo holds neither; what was edited in the mode is part of the step."""
        window: Any = bpy.context.window_manager
        window = window.windows[0]
        put_back = list[str]()
        before = scene_digest(stand.host)

        with stand.host.guard(put_back, read=False), stand.host.undo_step("Careless"):
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.mesh.delete(type="VERT")
            window.scene = bpy.data.scenes.new("Elsewhere")
        found = window.scene.name, bpy.context.mode, len(bpy.data.meshes["Cube"].vertices)
        stand.host.undo()

        assert found == ("Scene", "OBJECT", 0)
        assert put_back == ["which scene is shown", "the mode"]
        assert scene_digest(stand.host) == before

    def test_a_host_that_is_closed_leaves_no_listener(self, stand: Stand) -> None:
        def listeners() -> int:
            lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
            return sum(len(each) for each in lists if isinstance(each, list))

        before = listeners()
        for _ in range(20):
            BlenderHost().close()

        assert listeners() == before
