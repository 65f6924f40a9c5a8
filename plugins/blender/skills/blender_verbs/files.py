"""Files in and out, and what goes: import, export, clean, delete, save. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import bpy
from mathutils import Matrix

from dcc_bridge.hosts.blender import in_window
from dcc_bridge.hosts.blender.objects import block, identity, item_of, tree_of
from dcc_bridge.verbs.acts import Imported, Junk

from . import properties
from .items import require, require_own
from .shading import Shading

_IMPORTERS: Final[dict[str, tuple[str, ...]]] = {
    ".obj": ("wm.obj_import", "import_scene.obj"),
    ".stl": ("wm.stl_import", "import_mesh.stl"),
    ".ply": ("wm.ply_import", "import_mesh.ply"),
    ".fbx": ("wm.fbx_import", "import_scene.fbx"),
    ".gltf": ("import_scene.gltf",),
    ".glb": ("import_scene.gltf",),
    ".usd": ("wm.usd_import",),
    ".usda": ("wm.usd_import",),
    ".usdc": ("wm.usd_import",),
    ".usdz": ("wm.usd_import",),
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
    ".usd": ("wm.usd_export",),
    ".usda": ("wm.usd_export",),
    ".usdc": ("wm.usd_export",),
    ".abc": ("wm.alembic_export",),
}
_SELECTED: Final = (
    "export_selected_objects",
    "selected_objects_only",
    "use_selection",
    "selected",
)
_ONLY_MESHES: Final = (".obj", ".stl", ".ply")
_KEPT: Final = ("EMPTY", "ARMATURE")


class Files(Shading):
    """The acts on files and losses."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Those that this Blender has an operator for, and its own files."""
        found = {end: ("copy",) for end, names in _IMPORTERS.items() if _operator(names)}
        return found | {".blend": ("copy", "link")}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """What is on top of it goes below `under`; the selection stays."""
        before = {identity(it) for it in bpy.data.objects}
        warnings: list[str] = []
        if path.suffix.lower() == ".blend":
            _read_blend(path, link=how == "link")
        else:
            warnings = _read(path, up)
        self.touch()
        new = [it for it in bpy.data.objects if identity(it) not in before]
        tops = [it for it in new if it.parent is None or it.parent not in new]
        for thing in tops if how != "link" else []:
            if scale != 1.0:
                thing.matrix_basis = Matrix.Scale(scale, 4) @ thing.matrix_basis
            if under is not None:
                self.set_parent(item_of(thing), under, keep_place=True)
        if not new:
            warnings.append(f"There is no object in {path.name}.")
        return Imported([item_of(it) for it in new], warnings)

    def export_formats(self) -> Sequence[str]:
        """Those that this Blender has an operator for, and its own files."""
        return [*(end for end, names in _EXPORTERS.items() if _operator(names)), ".blend"]

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write what can be selected; hidden objects cannot."""
        things = [require(it) for it in items] or list(_scene().objects)
        things = [it for it in things if isinstance(it, bpy.types.Object)]
        if items:
            things += [it for thing in things for it in self._below(thing)]
        if path.suffix.lower() == ".blend":
            bpy.data.libraries.write(str(path), set(things) or {_scene()}, fake_user=True)
            return []
        name = _operator(_EXPORTERS.get(path.suffix.lower(), ()))
        if name is None:
            raise ValueError(f"{path.suffix} cannot be written.")
        with _selected(things) as hidden, _frames(frames) as now:
            _run(name, str(path), _export_options(name, now, is_all=not items))
        left = [f"{it} is hidden or not in the view layer." for it in hidden]
        if path.suffix.lower() in _ONLY_MESHES:
            others = [item_of(it) for it in things if it.type in ("LIGHT", "CAMERA", *_KEPT)]
            left += [f"{path.suffix} has no such: {', '.join(others[:20])}."] if others else []
        return left

    # ---- losses

    def junk(self, what: Junk) -> list[str]:
        """Data that nothing uses, empty collections, equal materials, dead libraries and images."""
        if what == "history":
            raise ValueError("Blender keeps no history of how an object was made.")
        return [item_of(it) for it in _JUNK[what]()]

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
        """Children stay without their parent; what was in a collection goes to the one above."""
        things: list[Any] = [require(it) for it in items]
        for item, thing in zip(items, things, strict=True):
            require_own(item, thing)
            if isinstance(thing, bpy.types.Scene) and len(bpy.data.scenes) == 1:
                raise ValueError(f"{item} is the only scene.")
        for thing in things:
            if isinstance(thing, bpy.types.Node):
                tree: Any = thing.id_data
                tree.nodes.remove(thing)
            elif isinstance(thing, bpy.types.Collection):
                self._empty(thing, set(things))
        bpy.data.batch_remove([it for it in things if isinstance(it, bpy.types.ID)])
        self.touch()
        return ()

    def _empty(self, collection: Any, gone: set[Any]) -> None:
        above = [it for it in bpy.data.collections if collection in list(it.children)]
        home = next((it for it in above if it not in gone), _scene().collection)
        for kind in ("objects", "children"):
            for each in list(getattr(collection, kind)):
                users = each.users_collection if kind == "objects" else ()
                if (
                    each not in gone
                    and not set(users) - gone
                    and each.name not in getattr(home, kind)
                ):
                    getattr(home, kind).link(each)

    def orphans(self, items: Sequence[str]) -> int:
        """All that is below objects, without what goes itself."""
        things = {it for it in map(block, items) if isinstance(it, bpy.types.Object)}
        return len({each for it in things for each in self._below(it)} - things)

    def save_files(self, path: Path | None) -> list[Path]:
        """One file."""
        if path is None and not bpy.data.filepath:
            raise ValueError("This file was never saved: give the path of one to save it in.")
        file = Path(path or bpy.data.filepath).absolute()
        if file.suffix != ".blend" or not file.parent.is_dir():
            raise ValueError(f"{file} cannot be written: name a .blend in a folder that is there.")
        return [file]

    def save(self, path: Path | None) -> Path:
        """It is the open file from then on."""
        file = self.save_files(path)[0]
        try:
            with in_window():
                done = bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
        except RuntimeError as error:
            raise ValueError(f"{file} was not written: {str(error).strip()}") from error
        if "FINISHED" not in done:
            raise ValueError(f"{file} was not written.")
        return file


def _scene() -> Any:
    return bpy.context.scene


def _operator(names: Sequence[str]) -> str | None:
    """Give the first operator that is there."""
    split = [(name, *name.split(".")) for name in names]
    return next((it for it, module, name in split if name in dir(getattr(bpy.ops, module))), None)


def _run(name: str, path: str, options: Mapping[str, Any]) -> None:
    module, _, own = name.partition(".")
    operator = getattr(getattr(bpy.ops, module), own)
    known = operator.get_rna_type().properties
    try:
        with in_window():
            done = operator(filepath=path, **{it: options[it] for it in options if it in known})
    except RuntimeError as error:
        raise ValueError(f"{Path(path).name}: {str(error).strip()}") from error
    if "FINISHED" not in done:
        raise ValueError(f"{Path(path).name}: Blender gave up without saying why.")


def _read(path: Path, up: str | None) -> list[str]:
    name = _operator(_IMPORTERS.get(path.suffix.lower(), ()))
    if name is None:
        raise ValueError(f"{path.suffix} cannot be read.")
    axes = {"Y": {"up_axis": "Y", "axis_up": "Y"}, "Z": {"up_axis": "Z", "axis_up": "Z"}}
    ahead = {"Y": {"forward_axis": "NEGATIVE_Z", "axis_forward": "-Z"}}
    ahead["Z"] = {"forward_axis": "Y", "axis_forward": "Y"}
    module, _, own = name.partition(".")
    known = getattr(getattr(bpy.ops, module), own).get_rna_type().properties
    options = {**axes[up], **ahead[up]} if up else {}
    with _selected([]):
        _run(name, str(path), options)
    if up and not set(options) & set(known.keys()):
        return [f"{path.suffix} says itself which axis is up: `up` was not used."]
    return []


def _read_blend(path: Path, *, link: bool) -> None:
    libraries: Any = bpy.data.libraries  # its stub gives nothing to enter
    with libraries.load(str(path), link=link) as (source, target):
        target.objects = list(source.objects)
    for thing in target.objects:
        if thing is not None and thing.name not in _scene().objects:
            _scene().collection.objects.link(thing)
            thing.select_set(False)


@contextmanager
def _selected(things: Sequence[Any]) -> Iterator[list[str]]:
    """Select objects as long as the block lasts; gives those that cannot be."""
    layer: Any = bpy.context.view_layer
    before, active, hidden = list(layer.objects.selected), layer.objects.active, []
    for thing in before:
        thing.select_set(False)
    for thing in things:
        if thing.name in layer.objects and thing.visible_get():
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
def _frames(frames: tuple[float, float] | None) -> Iterator[tuple[int, int] | None]:
    """Have the scene last so long while a file is written."""
    scene = _scene()
    before = scene.frame_start, scene.frame_end, scene.frame_current
    if frames is not None:
        scene.frame_start, scene.frame_end = round(frames[0]), round(frames[1])
    try:
        yield None if frames is None else (round(frames[0]), round(frames[1]))
    finally:
        scene.frame_start, scene.frame_end = before[:2]
        if scene.frame_current != before[2]:
            scene.frame_set(before[2])


def _export_options(name: str, frames: tuple[int, int] | None, *, is_all: bool) -> dict[str, Any]:
    options: dict[str, Any] = dict.fromkeys(_SELECTED, not is_all)
    options |= {"check_existing": False, "export_animation": frames is not None}
    options |= {"bake_anim": frames is not None, "export_animations": frames is not None}
    if frames is not None:
        options |= {"start": frames[0], "end": frames[1]}
    elif name == "wm.alembic_export":
        options |= {"start": _scene().frame_current, "end": _scene().frame_current}
    return options


# ---- junk


def _materials() -> list[Any]:
    return [it for it in bpy.data.materials if not it.library]


def _unused() -> Iterator[Any]:
    for rna in bpy.types.BlendData.bl_rna.properties:
        if rna.type == "COLLECTION" and rna.identifier not in _NEVER:
            yield from (it for it in getattr(bpy.data, rna.identifier) if _is_unused(it))


_NEVER: Final = {
    "scenes",
    "window_managers",
    "screens",
    "workspaces",
    "brushes",
    "palettes",
    "all_ids",
    "libraries",
    "texts",
    "collections",
    "linestyles",
}


def _is_unused(thing: Any) -> bool:
    return not thing.users and not thing.use_fake_user and not thing.library


def _empty_groups() -> Iterator[Any]:
    for it in bpy.data.collections:
        if not it.library and not it.all_objects and not it.use_fake_user:
            yield it


def _duplicates() -> Iterator[Any]:
    seen: set[object] = set()
    for material in sorted(_materials(), key=lambda it: (len(it.name), it.name)):
        look = _look_of(material)
        if look in seen:
            yield material
        seen.add(look)


def _look_of(material: Any) -> object:
    """Tell what a material looks like: two with the same are equal."""
    tree, left_out = tree_of(material), {"name", "name_full", "session_uid", "is_evaluated"}
    own = [
        (k, repr(s.read())) for k, s in properties.slots("", material).items() if k not in left_out
    ]
    if tree is None:
        return tuple(own)
    nodes = [
        (n.name, k, repr(s.read()))
        for n in tree.nodes
        for k, s in properties.slots("", n).items()
        if not k.startswith(("location", "select", "width", "height"))
    ]
    links = [
        (it.from_node.name, it.from_socket.identifier, it.to_node.name, it.to_socket.identifier)
        for it in tree.links
    ]
    return (tuple(own), tuple(nodes), tuple(sorted(links)))


def _dead() -> Iterator[Any]:
    for thing in [*bpy.data.libraries, *bpy.data.images]:
        path = thing.filepath
        is_file = path and not getattr(thing, "packed_file", None)
        is_file = is_file and getattr(thing, "source", "FILE") in ("FILE", "MOVIE")
        if is_file and "<" not in path and not Path(bpy.path.abspath(path)).exists():
            yield thing


_JUNK: Final[dict[str, Callable[[], Iterator[Any]]]] = {
    "unused": _unused,
    "empty_groups": _empty_groups,
    "duplicate_materials": _duplicates,
    "dead_links": _dead,
}
