"""Blender on a scene with files, in which each thing has a mark; and what bodies do to it.

Run as a module where ``bpy`` is one, and by Blender itself: the kind of body, a folder, and what
`tests.hosts.bodies.judge.run` takes. Left out of the table (measured with bpy 4.5.15 and 5.2.3; see
`dcc_bridge_blender.host`):

=========================  ======================================================================
``ed.undo``, ``ed.redo``   what the person had done is undone by then: it is told
``app.timers``             never fire in background
``scenes.remove``          where that is undone Blender crashes now and then, by itself
``objects.unlink``         an object in no collection is there until the file is saved: no loss yet
another scene is shown     what was edited just before may not be told of: an edit that stands
a fake user, folds         neither evaluated nor compared: no edit that Blender tells of
``frame_set``              the frame that is shown is no edit, as in Blender itself
=========================  ======================================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

if paths := os.environ.get("BLENDER_PATH"):  # it does not look at PYTHONPATH
    sys.path[:0] = paths.split(os.pathsep)

import bpy

import bmesh  # isort: skip  # it is there once bpy is

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from dcc_bridge_blender.orphans import SUFFIX
from dcc_bridge_blender.undo import Stack
from tests.blender.things import group, thing
from tests.hosts.bodies import JUDGES, judge
from tests.hosts.bodies.port import MARK, Edit, MarkedPort, Scene, in_files
from tests.hosts.digests import scene_digest

FILES: Final = ("scene.blend", "other.blend")
_LISTS: Final = ("collections", "materials", "texts", "actions")


def layer() -> Any:
    return bpy.context.view_layer


def preferences() -> Any:
    assert bpy.context.preferences is not None
    return bpy.context.preferences.edit


def link(name: str) -> None:
    bpy.data.scenes[0].collection.objects.link(bpy.data.objects.new(name, None))


def value(blender: BlenderPort, at: str, other: str) -> None:
    thing(at).location.x += 1


def custom(blender: BlenderPort, at: str, other: str) -> None:
    thing(at)["note"] = str(thing(at).get("note", "")) + "!"


def shape(blender: BlenderPort, at: str, other: str) -> None:
    bpy.data.meshes["mesh"].vertices[0].co.x += 1


def operator(blender: BlenderPort, at: str, other: str) -> None:
    for each in bpy.data.objects:
        each.select_set(each.name == at)
    bpy.ops.object.delete()


def take_name(blender: BlenderPort, at: str, other: str) -> None:
    """Give an object the name of another one, which may have been agreed to."""
    second = thing(other)
    thing(at).name = "away"
    second.name = at


def move(blender: BlenderPort, at: str, other: str) -> None:
    if thing(other) in (thing(at), *thing(at).children_recursive):
        raise ValueError("It would be its own parent, of which Blender crashes.")
    thing(at).parent = thing(other)


def make_anew(blender: BlenderPort, at: str, other: str) -> None:
    bpy.data.objects.remove(thing(at))
    link(at)


def push(blender: BlenderPort, at: str, other: str) -> None:
    """Make an entry of its own, as an operator does."""
    value(blender, at, other)
    bpy.ops.ed.undo_push(message="Its own")


def in_mode(blender: BlenderPort, at: str, other: str) -> None:
    """Edit a mesh in its own mode, and stay there."""
    layer().objects.active = thing("a")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.delete(type="VERT")


def undo_off(blender: BlenderPort, at: str, other: str) -> None:
    value(blender, at, other)
    preferences().use_global_undo = False


def out_of_all(blender: BlenderPort, at: str, other: str) -> None:
    """Take an object out of every collection."""
    for each in [*thing(at).users_collection]:
        each.objects.unlink(thing(at))


def out_of_scene(blender: BlenderPort, at: str, other: str) -> None:
    bpy.data.scenes[0].collection.children.unlink(bpy.data.collections["Set"])


EDITS: Final[dict[str, Edit]] = {
    "create": lambda *_: link("new"),
    "value": value,
    "custom": custom,
    "shape": shape,
    "marker": lambda *_: bpy.data.scenes[0].timeline_markers.new("cut"),
    "delete": lambda _, at, __: bpy.data.objects.remove(thing(at)),
    "delete_family": lambda _, at, __: bpy.data.batch_remove(
        [thing(at), *thing(at).children_recursive]
    ),
    "wipe": lambda *_: bpy.data.batch_remove(list(bpy.data.objects)),
    "operator": operator,
    "call_it": lambda _, at, __: setattr(thing(at), "name", "named"),
    "take_name": take_name,
    "move": move,
    "make_anew": make_anew,
    "drop_material": lambda *_: bpy.data.materials.remove(bpy.data.materials["Red"]),
    "drop_group": lambda *_: bpy.data.collections.remove(group("Set")),
    "drop_text": lambda *_: bpy.data.texts.remove(bpy.data.texts["Notes"]),
    "push": push,
    "purge": lambda *_: bpy.ops.outliner.orphans_purge(do_recursive=True),
}
OWN: Final[dict[str, Edit]] = {
    "in_mode": in_mode,
    "undo_off": undo_off,
    "open_other": lambda it, *_: bpy.ops.wm.open_mainfile(filepath=it.at("other.blend")),
    "open_again": lambda it, *_: bpy.ops.wm.open_mainfile(filepath=it.at("scene.blend")),
    "new": lambda *_: bpy.ops.wm.read_homefile(use_empty=True),
    "save": lambda *_: bpy.ops.wm.save_mainfile(),
    "save_as": lambda it, *_: bpy.ops.wm.save_as_mainfile(filepath=it.at("new.blend")),
    "save_over": lambda it, *_: bpy.ops.wm.save_as_mainfile(filepath=it.at("other.blend")),
    "copy_over": lambda it, *_: bpy.ops.wm.save_as_mainfile(
        filepath=it.at("other.blend"), copy=True
    ),
}


TRIED: Final[dict[str, Edit]] = {
    "out_of_all": out_of_all,
    "out_of_scene": out_of_scene,
    "empty_mesh": lambda *_: bpy.data.meshes["mesh"].clear_geometry(),
    "empty_text": lambda *_: bpy.data.texts["Notes"].clear(),
    "drop_modifier": lambda *_: thing("a").modifiers.clear(),
    "drop_constraint": lambda *_: thing("c").constraints.remove(thing("c").constraints[0]),
    "drop_keys": lambda *_: thing("c").animation_data_clear(),
    "drop_slot": lambda *_: bpy.data.meshes["mesh"].materials.clear(),
    "drop_property": lambda *_: thing("b").pop("own"),
}


def window() -> Any:
    windows: Any = bpy.context.window_manager
    return windows.windows[0]


class BlenderPort(MarkedPort):
    """Blender, on a scene with files."""

    items = ("a", "b", "b.below", "c", "light", "first", "loose", "top")
    edits = EDITS
    own = OWN
    tried_edits = TRIED
    pushing = frozenset({"push", "operator", "purge"})
    export_name = "other.blend"
    is_told_late = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._theirs = 0
        source = folder.parents[1] / "source"
        if not source.is_dir():
            write_files(source)
        for name in FILES:
            (folder / name).write_bytes((source / name).read_bytes())
        preferences().use_global_undo = True
        bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))
        self._opened = 0

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def opened(*_: object) -> None:
            self._opened += 1

        self._handler = opened
        bpy.app.handlers.load_post.append(opened)
        self.host: BlenderHost = BlenderHost()
        for name in ("first", "second"):
            with self.host.undo_step(f"The person's {name}"):
                link(name)
        self.host.undo()

    def at(self, name: str) -> str:
        return str(self.folder / name)

    @property
    def which(self) -> int:
        return self._opened

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for each in {it for scene in bpy.data.scenes for it in scene.objects}:
            if mark := each.get(MARK):
                self._add(each, mark, found)
        for name in _LISTS:
            every = getattr(bpy.data, name)
            found |= {f"{name} {it[MARK]}": it.name for it in every if it.get(MARK)}
        found |= {f"{it.name}|vert": "a" for it in bpy.data.meshes if _count_vertices(it)}
        found |= {f"{it.name}|line": it.name for it in bpy.data.texts if it.as_string()}
        return found

    def _add(self, each: Any, mark: str, found: dict[str, str]) -> None:
        found[mark] = each.name
        for name in ("modifiers", "constraints"):
            for part in getattr(each, name):
                found[f"{mark} {name}|{part.name}"] = each.name
        if each.get("own"):
            found[f"{mark}|own"] = each.name
        if _name_of_action(each):
            found[f"{mark}|anim"] = each.name

    def above(self, item: str) -> Iterable[str]:
        each = bpy.data.objects.get(item)
        while each is not None and each.parent is not None:
            each = each.parent
            yield each.name

    def is_called(self, item: str, name: str) -> bool:
        return _named(name) == item

    def covered(self, items: Sequence[str]) -> set[str]:
        """With a collection goes what is in it, and with an action what it animates."""
        items = [_plain(item) for item in items]
        named = [_named(it) for it in items if " of " not in it]
        groups = [it for it in bpy.data.collections if it.name in named]
        held = [each.name for group in groups for each in group.all_objects]
        found = super().covered([*items, *named, *held])
        actions = [_named(item) for item in items if item.startswith("action:")]
        for mark, name in self.things().items():
            if mark.endswith("|anim") and _name_of_action(thing(name)) in actions:
                found.add(mark)
        return found

    def export(self) -> None:
        bpy.data.libraries.write(self.at(self.export_name), {thing("a")})

    def writers(self) -> Sequence[Writer]:
        return BlenderOperations(self.host).writers()

    def state(self) -> str:
        return scene_digest(self.host)

    def look(self) -> Scene:
        active = layer().objects.active
        return Scene(
            self.which,
            self.host.file(),
            self.state(),
            (
                window().scene.name,
                active.mode if active else "OBJECT",
                preferences().use_global_undo,
            ),
            self.objects(),
            self._labels(),
            files=in_files(self.folder, FILES),
        )

    def _labels(self) -> tuple[str, ...]:
        """Blender's own entries up to the one on top."""
        if self._opened:  # 4.5 crashes where nothing was pushed since
            return ()
        entries = Stack._entries()
        top = next((at for at, (mark, *_) in enumerate(entries) if mark == "*"), 0)
        return tuple(name for *_, name in entries[: top + 1])

    def work(self) -> None:
        link(f"theirs{self._theirs}")
        thing(f"theirs{self._theirs}")[MARK] = f"theirs{self._theirs}"
        bpy.ops.ed.undo_push(message="The person's edit")
        self._theirs += 1

    def close(self) -> None:
        self.host.close()
        bpy.app.handlers.load_post.remove(self._handler)


def _named(item: str) -> str:
    """Return the name in an item: that of what is no object has its kind before it."""
    return item.rpartition(":")[2]


def _plain(item: str) -> str:
    """Return the words for an action that nothing uses any more as those for what it animated."""
    words = item.removesuffix(SUFFIX)
    what, _, owner = words.rpartition(" of ")
    if words != item and what.startswith("action "):
        return f"animation of {owner}"
    return words


def _name_of_action(each: Any) -> str | None:
    if each.animation_data is None or each.animation_data.action is None:
        return None
    return str(each.animation_data.action.name)


def _count_vertices(mesh: Any) -> int:
    """Count the vertices as they are, also where the mesh is edited in its own mode."""
    if mesh.is_editmode:
        return len(bmesh.from_edit_mesh(mesh).verts)
    return len(mesh.vertices)


def write_files(folder: Path) -> None:
    """Make the files, once for all programs."""
    folder.mkdir()
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.data.scenes[0]
    data = bpy.data
    mesh = data.meshes.new("mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.materials.append(data.materials.new("Red"))
    group = data.collections.new("Set")
    scene.collection.children.link(group)
    made = {name: data.objects.new(name, mesh if name == "a" else None) for name in "abc"}
    made |= {name: data.objects.new(name, None) for name in ("b.below", "loose", "top")}
    made["light"] = data.objects.new("light", data.lights.new("light", "POINT"))
    made["b.below"].parent = made["b"]
    for name, each in made.items():
        (group if name == "top" else scene.collection).objects.link(each)
    data.texts.new("Notes").write("to be kept")
    data.texts["Notes"].use_fake_user = True
    data.scenes.new("Second")
    thing("a").modifiers.new("Bevel", "BEVEL")
    thing("c").constraints.new("TRACK_TO")
    thing("c").keyframe_insert("location", frame=1)
    thing("b")["own"] = 1
    for name in ("objects", *_LISTS):
        for each in getattr(data, name):
            each[MARK] = each.name
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    data.objects.remove(made["light"])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "other.blend"), copy=True)


def main(words: Sequence[str]) -> str | None:
    """Run bodies; return what is wrong, or None."""
    kind, place, *seeds = words
    folder = Path(place)
    return judge.run(JUDGES[kind](BlenderPort, folder), folder, seeds) or None


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    wrong = main(given)
    sys.modules.pop("__mp_main__", None)  # Blender frees this file, and crashes as it quits with it
    sys.exit(wrong)
