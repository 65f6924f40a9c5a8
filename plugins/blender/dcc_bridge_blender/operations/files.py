"""Files in and out, and what goes: import, export, clean, delete, save. Main thread."""

from __future__ import annotations

import atexit
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import bpy
from mathutils import Matrix

from dcc_bridge.spi import Cleaning, Deleting, FileExchange, Imported, Junk, Saving

from ..loop import in_window, view_kept
from ..names import UNREADABLE, is_in, name_of, text_of
from ..objects import block, data, identity, item_of, lists, tree_of
from ..references import references
from . import properties
from .items import collections_of, require, require_own, scene
from .shading import _Shading

_IMPORTERS: Final[dict[str, tuple[str, ...]]] = {
    ".obj": ("wm.obj_import", "import_scene.obj"),
    ".stl": ("wm.stl_import", "import_mesh.stl"),
    ".ply": ("wm.ply_import", "import_mesh.ply"),
    ".fbx": ("wm.fbx_import", "import_scene.fbx"),
    **dict.fromkeys((".gltf", ".glb"), ("import_scene.gltf",)),
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), ("wm.usd_import",)),
    ".abc": ("wm.alembic_import",),
    ".svg": ("import_curve.svg",),
}
"""The operators that read a format, the newest first: each Blender has some of them."""
_EXPORTERS: Final[dict[str, tuple[str, ...]]] = {
    ".obj": ("wm.obj_export", "export_scene.obj"),
    ".stl": ("wm.stl_export", "export_mesh.stl"),
    ".ply": ("wm.ply_export", "export_mesh.ply"),
    ".fbx": ("export_scene.fbx",),
    ".glb": ("export_scene.gltf",),
    **dict.fromkeys((".usd", ".usda", ".usdc"), ("wm.usd_export",)),
    ".abc": ("wm.alembic_export",),
}
_SELECTED: Final = ("export_selected_objects", "selected_objects_only", "use_selection", "selected")
_MOST_NAMED: Final = 5  # items in an error
_ONLY_SURFACES: Final = (".obj", ".stl", ".ply")
_NO_SURFACE: Final = ("LIGHT", "CAMERA", "EMPTY", "ARMATURE")


class _Files(_Shading, Cleaning, Deleting, FileExchange, Saving):
    """The operations on files and losses."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        found = {end: ("copy",) for end, names in _IMPORTERS.items() if _operator(names)}
        return found | {".blend": ("copy", "link")}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """What is on top of it goes below `under`; the selection stays."""
        before = {identity(it) for it in bpy.data.objects}
        is_blend = path.suffix.lower() == ".blend"
        warnings = _read_blend(path, link=how == "link") if is_blend else _read(path, up)
        self.touch()
        new = [it for it in bpy.data.objects if identity(it) not in before]
        tops = [it for it in new if it.parent is None or it.parent not in new]
        for thing in tops if how != "link" else []:
            if scale != 1.0:
                thing.matrix_basis = Matrix.Scale(scale, 4) @ thing.matrix_basis
                warnings += self._unapplied(thing)
            if under is not None:
                self.set_parent(item_of(thing), under, keep_place=True)
        if not new:
            warnings.append(f"There is no object in {path.name}.")
        return Imported([item_of(it) for it in new], warnings)

    def _unapplied(self, thing: Any) -> list[str]:
        """Put a scale into the data; where it cannot be, say so."""
        try:
            if thing.data is not None and thing.data.users > 1:
                raise ValueError("others share its data")
            self.apply(item_of(thing), ["scale"])
        except ValueError as error:
            return [f"{item_of(thing)} has the scale itself, not its data: {error}"]
        return []

    def export_formats(self) -> Sequence[str]:
        return [*(end for end, names in _EXPORTERS.items() if _operator(names)), ".blend"]

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write objects, and what is in collections; hidden objects cannot be written."""
        things, suffix = self._exported(path, items), path.suffix.lower()
        if suffix == ".blend":
            bpy.data.libraries.write(str(path), set(things) or {scene()}, fake_user=True)
            return []
        operator = _operator(_EXPORTERS.get(suffix, ()))
        if operator is None:
            raise ValueError(f"{path.suffix} cannot be written.")
        now = (round(frames[0]), round(frames[1])) if frames else None
        things = things or [*scene().objects]
        # What is selected is evaluated, and an exporter leaves edit mode: no edit of the scene.
        kept = self.host.unnoticed(), view_kept([], lambda: True)
        with kept[0], kept[1], _selected(things) as hidden, _frames(now):
            bare = _NO_SURFACE if suffix in _ONLY_SURFACES else ()
            others = [item_of(it) for it in things if it.type in bare]
            if items and not {*map(item_of, things)} - {*hidden, *others}:
                raise ValueError(f"Nothing of {', '.join(items[:5])} can be written: it is hidden "
                                 f"or {path.suffix} has no such.")  # fmt: skip
            _run(operator, path, _export_options(operator, now, is_all=not items))
        left = [f"{it} is hidden or not in the view layer." for it in hidden]
        left += [f"{path.suffix} has no such: {', '.join(others[:20])}."] if others else []
        return left

    def _exported(self, path: Path, items: Sequence[str]) -> list[Any]:
        """Give what is written of items: objects with what is below, and a collection's."""
        things = list[Any]()
        for item, thing in zip(items, map(require, items), strict=True):
            if isinstance(thing, bpy.types.Object):
                things += [thing, *self._below(thing)]
            elif isinstance(thing, bpy.types.ID) and path.suffix.lower() == ".blend":
                things.append(thing)
            elif isinstance(thing, bpy.types.Collection) and thing.all_objects:
                things += thing.all_objects
            else:
                raise ValueError(f"{item} is no object, and has none that could be exported.")
        return list(dict.fromkeys(things))

    # ---- losses

    def junk(self, what: Junk) -> list[str]:
        """Data that nothing uses, empty collections, equal materials, dead libraries and images."""
        match what:
            case "unused":
                things = _unused()
            case "empty_groups":
                own = [it for it in bpy.data.collections if not (it.library or it.use_fake_user)]
                things = (it for it in own if not it.all_objects)
            case "duplicate_materials":
                things = _duplicates()
            case "dead_links":
                things = _dead()
            case "history":
                raise ValueError("Blender keeps no history of how an object was made.")
        return [item_of(it) for it in things]

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """An equal material's users take the one that stays."""
        if what == "duplicate_materials":
            first = {_look_of(it): it for it in reversed(_materials()) if item_of(it) not in items}
            for item in items:
                material = require(item)
                material.user_remap(first[_look_of(material)])
        bpy.data.batch_remove([require(it) for it in items])
        self.touch()

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Children stay where they are; what was in a collection goes to the one above."""
        self.check_deletable(items)
        things: list[Any] = [require(it) for it in items]
        objects = [it for it in things if isinstance(it, bpy.types.Object)]
        blocks = [it for it in things if isinstance(it, bpy.types.ID)]  # a removed node has no type
        children = {it: self.world(it) for thing in objects for it in self._children(thing)
                    if it.library is None}  # fmt: skip
        for child in children.keys() - {*objects}:
            child.parent, child.matrix_basis = None, children[child]
        for thing in things:
            if isinstance(thing, bpy.types.Node):
                tree: Any = thing.id_data
                tree.nodes.remove(thing)
            elif isinstance(thing, bpy.types.Collection):
                self._empty(thing, set(things))
        bpy.data.batch_remove(blocks)
        self.touch()
        return ()

    def check_deletable(self, items: Sequence[str]) -> None:
        """What is linked from another file stays, the last scene, and the data of what stays."""
        scenes = set[Any]()
        going = {require(item) for item in items}
        users = {it.data: it for it in bpy.data.objects if it.data is not None and it not in going}
        for item in items:
            thing = require(item)
            require_own(item, thing)
            if thing in users:  # Blender would delete that with it
                raise ValueError(f"{item} is in use by {item_of(users[thing])}: delete that too.")
            if isinstance(thing, bpy.types.Scene):
                scenes.add(thing)
                if len(scenes) == len(bpy.data.scenes):
                    raise ValueError(f"{item} is the only scene.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Modifiers, constraints, drivers, nodes and slots of what stays."""
        going = {require(it) for it in items}
        found = (it for it in references() if it.target in going and it.owner not in going)
        return list(dict.fromkeys(it.words for it in found))

    def _empty(self, collection: Any, gone: set[Any]) -> None:
        above = collections_of(collection)
        home = next((it for it in above if it not in gone), scene().collection)
        for kind in ("objects", "children"):
            for each in list(getattr(collection, kind)):
                users = {*each.users_collection} if kind == "objects" else set()
                linked = getattr(home, kind)
                if each not in gone and not users - gone and not is_in(each, linked):
                    linked.link(each)

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """All that is below objects, without what goes itself."""
        things = {it for it in map(block, items) if isinstance(it, bpy.types.Object)}
        below = dict.fromkeys(each for it in things for each in self._below(it))
        return [item_of(each) for each in below if each not in things]

    def save_files(self, path: Path | None) -> list[Path]:
        if path is None and not bpy.data.filepath:
            raise ValueError("This file was never saved: give the path of one to save it in.")
        file = Path(path or bpy.data.filepath).absolute()
        if file.suffix != ".blend" or not file.parent.is_dir():
            raise ValueError(f"{file} cannot be written: name a .blend in a folder that is there.")
        return [file]

    def save(self, path: Path | None) -> Path:
        file = self.save_files(path)[0]
        try:
            with in_window():
                done = bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
        except RuntimeError as error:
            raise ValueError(f"{file} was not written: {str(error).strip()}") from error
        if "FINISHED" not in done:
            raise ValueError(f"{file} was not written.")
        return file


def _operator(names: Sequence[str]) -> Any:
    """Give the first operator that is there, or None."""
    split = [(getattr(bpy.ops, module), own) for module, own in (it.split(".") for it in names)]
    return next((getattr(module, own) for module, own in split if own in dir(module)), None)


def _run(operator: Any, path: Path, options: Mapping[str, Any]) -> list[str]:
    """Run an operator with the options that it knows, and give those."""
    known = [it for it in options if it in operator.get_rna_type().properties]
    try:
        with in_window():
            done = operator(filepath=str(path), **{it: options[it] for it in known})
    except RuntimeError as error:
        raise ValueError(f"{path.name}: {_why(error)}") from error
    if "FINISHED" not in done:
        raise ValueError(f"{path.name}: Blender gave up without saying why.")
    if operator.idname_py().endswith("gltf") and not bpy.app.binary_path:
        atexit.unregister(_forget_gltf)
        atexit.register(_forget_gltf)
    return known


def _why(error: RuntimeError) -> str:
    """Return what an operator says of its failure; of one in Python not the whole traceback."""
    text = str(error).strip()
    raised = re.findall(r"^\w+(?:Error|Exception)\b.*", text, re.MULTILINE)
    if "Traceback" not in text or not raised:
        return text
    if not raised[-1].startswith("UnicodeDecodeError"):
        return f"Blender's own script failed: {raised[-1]}"
    kinds = [getattr(bpy.data, name) for name in lists().values()]
    items = [item_of(it) for kind in kinds for it in kind if name_of(it).endswith(UNREADABLE)]
    which = ", ".join(items[:_MOST_NAMED]) or "one of a part of the file"
    return f"Blender's own script needs names that can be read; rename {which}."


def _forget_gltf() -> None:
    """Let go of what the add-on keeps of `bpy`: as a module 4.5 hangs as it quits, with that."""
    for name in [it for it in sys.modules if it.startswith("io_scene_gltf2.blender.exp")]:
        vars(sys.modules[name]).clear()


def _read(path: Path, up: str | None) -> list[str]:
    operator = _operator(_IMPORTERS[path.suffix.lower()])
    ahead = ("NEGATIVE_Z", "-Z") if up == "Y" else ("Y", "Y")
    axes = {"up_axis": up, "axis_up": up, "forward_axis": ahead[0], "axis_forward": ahead[1]}
    with _selected([]):
        used = _run(operator, path, axes if up else {})
    is_unused = up and not used
    return [f"{path.suffix} says itself which axis is up: `up` was not used."] * bool(is_unused)


def _read_blend(path: Path, *, link: bool) -> list[str]:
    libraries: Any = bpy.data.libraries  # its stub gives nothing to enter
    try:
        with libraries.load(str(path), link=link) as (source, target):
            target.objects = list(source.objects)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {str(error).strip()}") from error
    for thing in target.objects:
        if thing is not None and not is_in(thing, scene().objects):
            scene().collection.objects.link(thing)
            thing.select_set(False)
    return []


@contextmanager
def _selected(things: Sequence[Any]) -> Iterator[list[str]]:
    """Select objects as long as the block lasts; gives those that cannot be."""
    layer: Any = bpy.context.view_layer
    before, active, hidden = list(layer.objects.selected), layer.objects.active, []
    for thing in before:
        thing.select_set(False)
    for thing in things:
        if is_in(thing, layer.objects) and thing.visible_get():
            thing.select_set(True)
        else:
            hidden.append(item_of(thing))
    try:
        yield hidden
    finally:
        for thing in list(layer.objects.selected):
            thing.select_set(False)
        for thing in before:
            thing.select_set(True)
        layer.objects.active = active


@contextmanager
def _frames(frames: tuple[int, int] | None) -> Iterator[None]:
    """Have the scene last so long while a file is written."""
    own = scene()
    before, current = (own.frame_start, own.frame_end), own.frame_current
    if frames:
        own.frame_start, own.frame_end = frames
    try:
        yield
    finally:
        if (own.frame_start, own.frame_end) != before:
            own.frame_start, own.frame_end = before
        if own.frame_current != current:
            own.frame_set(current)


def _export_options(operator: Any, now: tuple[int, int] | None, *, is_all: bool) -> dict[str, Any]:
    moves = dict.fromkeys(("export_animation", "bake_anim", "export_animations"), bool(now))
    options = {"check_existing": False, **dict.fromkeys(_SELECTED, not is_all), **moves}
    if now is None and operator.idname_py() == "wm.alembic_export":
        now = (scene().frame_current,) * 2
    return options if now is None else {**options, "start": now[0], "end": now[1]}


# ---- junk


def _materials() -> list[Any]:
    return [it for it in bpy.data.materials if not it.library]


def _unused() -> Iterator[Any]:
    for rna in bpy.types.BlendData.bl_rna.properties:
        if rna.type == "COLLECTION" and rna.identifier not in _NEVER:
            every = data(rna.identifier)
            yield from (it for it in every if not (it.users or it.use_fake_user or it.library))


_NEVER: Final = {"scenes", "window_managers", "screens", "workspaces", "brushes", "palettes",
                 "all_ids", "libraries", "texts", "collections", "linestyles"}  # fmt: skip


def _duplicates() -> Iterator[Any]:
    """Give materials of which there is an equal one with a shorter name."""
    first: dict[object, Any] = {}
    every = sorted(_materials(), key=lambda it: (len(name_of(it)), name_of(it)))
    return (it for it in every if first.setdefault(_look_of(it), it) != it)


def _look_of(material: Any) -> object:
    """Tell what a material looks like: two with the same are equal."""
    left_out = {"name", "name_full", "session_uid", "is_evaluated"}
    facts = [(k, repr(s.read())) for k, s in properties.slots("", material).items()
             if k not in left_out]  # fmt: skip
    if (tree := tree_of(material)) is None:
        return tuple(facts)
    nodes = [(name_of(n), k, repr(s.read())) for n in tree.nodes
             for k, s in properties.slots("", n).items()
             if not k.startswith(("location", "select", "width", "height"))]  # fmt: skip
    links = [(name_of(it.from_node), it.from_socket.identifier, name_of(it.to_node),
              it.to_socket.identifier) for it in tree.links]  # fmt: skip
    return tuple(facts), tuple(nodes), tuple(sorted(links))


def _dead() -> Iterator[Any]:
    for thing in [*bpy.data.libraries, *bpy.data.images]:
        path = text_of(thing, "filepath")
        is_file = path and not getattr(thing, "packed_file", None)
        is_file = is_file and getattr(thing, "source", "FILE") in ("FILE", "MOVIE")
        if is_file and "<" not in path and not Path(bpy.path.abspath(path)).exists():
            yield thing
