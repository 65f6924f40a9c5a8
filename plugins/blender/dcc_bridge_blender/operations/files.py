"""The operations on files: import, export, save. Main thread."""

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

from dcc_bridge.spi import Exported, FileExchange, Imported, Saving

from ..loop import in_window, view_kept
from ..names import UNREADABLE, is_in, name_of
from ..objects import identity, item_of, lists
from .deleting import _Deleting
from .items import require, scene

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
    ".dae": ("wm.collada_import",),
    ".dxf": ("import_scene.dxf",),
    ".svg": ("import_curve.svg",),
}
"""The operators that read a format, the newest first: each version of Blender has some of them."""
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
"""The operators that write a format, the newest first."""
_SELECTED: Final = ("export_selected_objects", "selected_objects_only", "use_selection", "selected")
"""The options of the exporters that write only what is selected."""
_ANIMATED: Final = ("export_animation", "bake_anim", "export_animations")
"""The options of the exporters that write animation."""
_FRAME: Final = re.compile(r'File "([^"\n]+)", line (\d+), in ')
"""A line of a traceback: script and line."""
_RAISED: Final = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.MULTILINE)
"""The end of a traceback, after its frames: the error and its message."""
_BROKEN: Final = (
    *("AttributeError", "IndexError", "KeyError", "NameError", "ReferenceError", "TypeError"),
    *("AssertionError", "RecursionError", "UnboundLocalError", "ZeroDivisionError"),
)
"""The errors that no script raises to say something."""
_MAX_NAMED: Final = 5  # items in an error
_MAX_LEFT: Final = 20  # items that a format has no place for, in a warning
_SURFACES: Final = ("MESH", "CURVE", "SURFACE", "FONT", "META")
_HELD: Final = {
    ".obj": _SURFACES,
    ".stl": _SURFACES,
    ".ply": _SURFACES,
    ".fbx": (*_SURFACES, "EMPTY", "CAMERA", "LIGHT", "ARMATURE"),
    ".glb": ("MESH", "CURVE", "SURFACE", "FONT", "EMPTY", "CAMERA", "LIGHT", "ARMATURE"),
}
"""The types of objects that are in a file, measured in 3.4; in others all are taken to be."""
_WHOLE: Final = ("export_cameras", "export_lights")
"""The options without which an exporter leaves cameras and lights out."""


class _Files(_Deleting, FileExchange, Saving):
    """The operations on files."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        formats: dict[str, tuple[str, ...]] = {}
        for suffix, names in _IMPORTERS.items():
            if _operator(names):
                formats[suffix] = ("copy",)
        formats[".blend"] = ("copy", "link")
        return formats

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Import a file; its topmost objects go below `under`. The selection stays."""
        before = {identity(thing) for thing in bpy.data.objects}
        warnings: list[str] = []
        if path.suffix.lower() == ".blend":
            _read_blend(path, link=how == "link")
        else:
            warnings += _read(path, up)
        self.touch()
        new = [thing for thing in bpy.data.objects if identity(thing) not in before]
        tops = [thing for thing in new if thing.parent is None or thing.parent not in new]
        if how != "link":
            for thing in tops:
                warnings += self._put(thing, under, scale)
        if not new:
            warnings.append(f"There is no object in {path.name}.")
        return Imported([item_of(thing) for thing in new], warnings)

    def _put(self, thing: Any, under: str | None, scale: float) -> list[str]:
        """Scale an imported object and parent it; return warnings."""
        warnings = []
        if scale != 1.0:
            thing.matrix_basis = Matrix.Scale(scale, 4) @ thing.matrix_basis
            warnings = self._apply_scale(thing)
        if under is not None:
            self.set_parent(item_of(thing), under, keep_place=True)
        return warnings

    def _apply_scale(self, thing: Any) -> list[str]:
        """Put a scale into the data; return a warning where that is not possible."""
        try:
            if thing.data is not None and thing.data.users > 1:
                raise ValueError("others share its data")
            self.apply(item_of(thing), ["scale"])
        except ValueError as error:
            return [f"{item_of(thing)} has the scale itself, not its data: {error}"]
        return []

    def export_formats(self) -> Sequence[str]:
        formats = [suffix for suffix, names in _EXPORTERS.items() if _operator(names)]
        return [*formats, ".blend"]

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Write objects, and what is in collections; hidden objects cannot be written."""
        things = self._exported(path, items)
        suffix = path.suffix.lower()
        if suffix == ".blend":
            _write_blend(path, set(things) or {scene()})
            return Exported([item_of(thing) for thing in things or scene().objects])
        operator = _operator(_EXPORTERS.get(suffix, ()))
        if operator is None:
            raise ValueError(f"{path.suffix} cannot be written.")
        frame_range = (round(frames[0]), round(frames[1])) if frames else None
        things = things or list(scene().objects)
        others = []
        held = _HELD.get(suffix)
        if held is not None:
            others = [item_of(thing) for thing in things if thing.type not in held]
        # What is selected is evaluated, and an exporter leaves edit mode: no edit of the scene.
        with (
            self.host.unnoticed(),
            view_kept([], lambda: True),
            _selected(things) as hidden,
            _frames(frame_range),
        ):
            missing = {*hidden, *others}
            written = [item for item in map(item_of, things) if item not in missing]
            if items and not written:
                which = ", ".join(items[:_MAX_NAMED])
                why = f"it is hidden or {path.suffix} has no such."
                raise ValueError(f"Nothing of {which} can be written: {why}")
            _run(operator, path, _export_options(operator, frame_range, is_all=not items))
        warnings = [f"{item} is hidden or not in the view layer." for item in hidden]
        if others:
            warnings.append(f"{path.suffix} has no such: {', '.join(others[:_MAX_LEFT])}.")
        return Exported(written, warnings)

    def _exported(self, path: Path, items: Sequence[str]) -> list[Any]:
        """Return what is written of items: objects with what is below, and a collection's."""
        things: list[Any] = []
        for item in items:
            thing = require(item)
            if isinstance(thing, bpy.types.Object):
                things += [thing, *self._below(thing)]
            elif isinstance(thing, bpy.types.ID) and path.suffix.lower() == ".blend":
                things.append(thing)
            elif isinstance(thing, bpy.types.Collection) and thing.all_objects:
                things += thing.all_objects
            else:
                raise ValueError(f"{item} is no object, and has none that could be exported.")
        return list(dict.fromkeys(things))

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
            # Paths follow the file that is saved, which is no entry of Blender's list either.
            with in_window(), self.host.unnoticed():
                done = bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
        except RuntimeError as error:
            why = str(error).strip().removeprefix("Error: ")
            raise ValueError(f"{file} was not written: {why}.") from error
        if "FINISHED" not in done:
            raise ValueError(f"{file} was not written.")
        return file


def _operator(names: Sequence[str]) -> Any:
    """Return the first of these operators that this Blender has, or None."""
    for name in names:
        module_name, own = name.split(".")
        module = getattr(bpy.ops, module_name)
        if own in dir(module):
            return getattr(module, own)
    return None


def _run(operator: Any, path: Path, options: Mapping[str, Any]) -> list[str]:
    """Run an operator on a file with those options that the operator knows.

    Returns:
        The names of these options.

    Raises:
        ValueError: The operator failed, or gave up.
    """
    properties = operator.get_rna_type().properties
    known = {name: value for name, value in options.items() if name in properties}
    try:
        with in_window():
            done = operator(filepath=str(path), **known)
    except RuntimeError as error:
        raise ValueError(f"{path.name}: {_why(error)}") from error
    if "FINISHED" not in done:
        raise ValueError(f"{path.name}: Blender gave up without saying why.")
    if operator.idname_py().endswith("gltf") and not bpy.app.binary_path:
        atexit.unregister(_forget_gltf)
        atexit.register(_forget_gltf)
    return list(known)


def _why(error: RuntimeError) -> str:
    """Return why an operator failed; of one in Python what it raised, or where it is broken."""
    text = str(error).strip().removeprefix("Error: ")
    frames = list(_FRAME.finditer(text))
    raised = _RAISED.search(text, frames[-1].end()) if frames else None
    if raised is None:
        return text
    kind, message = raised.groups("")
    if kind != "UnicodeDecodeError":
        if message and kind not in _BROKEN:
            return f"Blender's own script failed: {message}"
        own = [frame for frame in frames if "/scripts/" in Path(frame[1]).as_posix()]
        script, line = (own or frames)[-1].groups()
        return f"Blender's own script is broken, in line {line} of {Path(script).name}"
    items = []
    for name in lists().values():
        for thing in getattr(bpy.data, name):
            if name_of(thing).endswith(UNREADABLE):
                items.append(item_of(thing))
    which = ", ".join(items[:_MAX_NAMED]) or "one of a part of the file"
    return f"Blender's own script needs names that can be read; rename {which}."


def _forget_gltf() -> None:
    """Drop what the glTF add-on keeps of `bpy`, which hangs 4.5 as a module when it quits."""
    for name in list(sys.modules):
        if name.startswith("io_scene_gltf2.blender.exp"):
            vars(sys.modules[name]).clear()


def _read(path: Path, up: str | None) -> list[str]:
    """Import a file of another format; return warnings."""
    operator = _operator(_IMPORTERS[path.suffix.lower()])
    options: dict[str, Any] = {}
    if up == "Y":
        options = {"up_axis": "Y", "axis_up": "Y"}
        options |= {"forward_axis": "NEGATIVE_Z", "axis_forward": "-Z"}
    elif up == "Z":
        options = {"up_axis": "Z", "axis_up": "Z", "forward_axis": "Y", "axis_forward": "Y"}
    with _selected([]):
        used = _run(operator, path, options)
    if up and not used:
        return [f"{path.suffix} says itself which axis is up: `up` was not used."]
    return []


def _write_blend(path: Path, things: set[Any]) -> None:
    """Write things, with all that they use, to another Blender file.

    Raises:
        ValueError: The file cannot be written.
    """
    try:
        bpy.data.libraries.write(str(path), things, fake_user=True)
    except (OSError, RuntimeError) as error:
        why = str(error).strip().removeprefix("Error: ")
        raise ValueError(f"{path} was not written: {why}.") from error


def _read_blend(path: Path, *, link: bool) -> None:
    """Append the objects of another Blender file, or link them."""
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


@contextmanager
def _selected(things: Sequence[Any]) -> Iterator[list[str]]:
    """Select objects in the block; yields the items of those that cannot be selected."""
    layer: Any = bpy.context.view_layer
    before = list(layer.objects.selected)
    active = layer.objects.active
    hidden = []
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
    """Have the scene last from one frame to another in the block."""
    own = scene()
    before = (own.frame_start, own.frame_end)
    current = own.frame_current
    if frames:
        own.frame_start, own.frame_end = frames
    try:
        yield
    finally:
        if (own.frame_start, own.frame_end) != before:
            own.frame_start, own.frame_end = before
        if own.frame_current != current:
            own.frame_set(current)


def _export_options(
    operator: Any, frames: tuple[int, int] | None, *, is_all: bool
) -> dict[str, Any]:
    """Return the options by all the names that exporters have for them."""
    options = {"check_existing": False}
    for name in _SELECTED:
        options[name] = not is_all
    for name in _ANIMATED:
        options[name] = frames is not None
    for name in _WHOLE:
        options[name] = True
    if frames is None and operator.idname_py() == "wm.alembic_export":
        frames = (scene().frame_current, scene().frame_current)
    if frames is None:
        return options
    return {**options, "start": frames[0], "end": frames[1]}
