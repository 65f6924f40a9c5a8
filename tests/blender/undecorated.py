"""A scene in Blender in which each thing has a mark, for undecorated bodies.

Run as a module where ``bpy`` is one, and by Blender itself; see `undecorated_oracle.main`. What is
left out is left out of `tests.blender.bad_skills` too.
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

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_blender.operations import BlenderOperations
from tests.blender import bad_skills
from tests.blender.bad_skills import thing
from tests.hosts import undecorated_oracle
from tests.hosts.bad_port import Edit
from tests.hosts.undecorated_port import MARK, Field

_LISTS: Final = ("collections", "materials", "texts", "actions")


def out_of_all(blender: BlenderField, at: str, other: str) -> None:
    """Take an object out of every collection."""
    for each in [*thing(at).users_collection]:
        each.objects.unlink(thing(at))


def out_of_scene(blender: BlenderField, at: str, other: str) -> None:
    bpy.data.scenes[0].collection.children.unlink(bpy.data.collections["Set"])


_EDITS: Final[dict[str, Edit]] = {
    **bad_skills.EDITS,
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


class BlenderField(bad_skills.BlenderPort, Field):
    """Blender, on a scene with files."""

    edits = _EDITS
    own = {  # noqa: RUF012 - as in `Port`
        name: bad_skills.OWN[name] for name in ("save", "save_as", "save_over", "copy_over")
    }
    pushing = frozenset({"push", "operator", "purge"})
    export_name = "other.blend"

    def __init__(self, folder: Path) -> None:
        source = folder.parent.parent / "source"
        if not (source / "scene.blend").is_file():
            _write(source)
        (folder.parent / "source").symlink_to(source)
        self._theirs = 0
        super().__init__(folder)

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for each in {it for scene in bpy.data.scenes for it in scene.objects}:
            if mark := each.get(MARK):
                self._add(each, mark, found)
        for name in _LISTS:
            every = getattr(bpy.data, name)
            found |= {f"{name} {it[MARK]}": it.name for it in every if it.get(MARK)}
        found |= {f"{it.name}|vert": "a" for it in bpy.data.meshes if len(it.vertices)}
        found |= {f"{it.name}|line": it.name for it in bpy.data.texts if it.as_string()}
        return found

    def _add(self, each: Any, mark: str, found: dict[str, str]) -> None:
        found[mark] = each.name
        for name in ("modifiers", "constraints"):
            for part in getattr(each, name):
                found[f"{mark} {name}|{part.name}"] = each.name
        if each.get("own"):
            found[f"{mark}|own"] = each.name
        action = each.animation_data and each.animation_data.action
        if action:
            found[f"{mark}|anim"] = each.name

    def above(self, item: str) -> Iterable[str]:
        each = bpy.data.objects.get(item)
        while each is not None and each.parent is not None:
            each = each.parent
            yield each.name

    def is_called(self, item: str, name: str) -> bool:
        return _named(name) == item

    def covered(self, items: Sequence[str]) -> set[str]:
        """With a collection goes what is in it."""
        named = [_named(it) for it in items if " of " not in it]
        groups = [it for it in bpy.data.collections if it.name in named]
        held = [each.name for group in groups for each in group.all_objects]
        found = super().covered([*items, *named, *held])
        if any(item.startswith("action:") for item in items):
            found |= {mark for mark in self.things() if mark.endswith("|anim")}
        return found

    def export(self) -> None:
        bpy.data.libraries.write(self.at(self.export_name), {thing("a")})

    def writers(self) -> Sequence[Writer]:
        return BlenderOperations(self.host).writers()

    def work(self) -> None:
        bad_skills.link(f"theirs{self._theirs}")
        thing(f"theirs{self._theirs}")[MARK] = f"theirs{self._theirs}"
        bpy.ops.ed.undo_push(message="The person's edit")
        self._theirs += 1


def _named(item: str) -> str:
    """Return the name in an item: that of what is no object has its kind before it."""
    return item.rpartition(":")[2]


def _write(folder: Path) -> None:
    """Make the files, once for all programs."""
    bad_skills._write(folder)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))
    thing("a").modifiers.new("Bevel", "BEVEL")
    thing("c").constraints.new("TRACK_TO")
    thing("c").keyframe_insert("location", frame=1)
    thing("b")["own"] = 1
    for name in ("objects", *_LISTS):
        for each in getattr(bpy.data, name):
            each[MARK] = each.name
    bpy.ops.wm.save_mainfile()


def main(words: Sequence[str]) -> str | None:
    """Run programs; return what is wrong, or None."""
    return undecorated_oracle.main(BlenderField, words) or None


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    wrong = main(given)
    sys.modules.pop("__mp_main__", None)  # Blender frees this file, and crashes as it quits with it
    sys.exit(wrong)
