"""Importing, exporting and saving files. Main thread."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

import FreeCAD

from dcc_bridge import track
from dcc_bridge.spi import Building, Exported, FileExchange, Imported, Saving

from ..document import document, find, label_of
from ..transactions import transactions
from .places import children, descendants, own_shape, parent_of, scratch_document, world_shape
from .properties import explained, reason
from .shown import ingredients, is_aid, is_shown

_SOLIDS: Final = (".step", ".stp", ".iges", ".igs", ".brep", ".brp")
_MESHES: Final = (".stl", ".obj", ".ply", ".off")
_DRAWING: Final = ".dxf"
_PAGE: Final = "TechDraw::DrawPage"
_PAGE_LEAVES_OUT: Final = "Of the page only views, dimensions and annotations are in the file."
_COLLADA: Final = ".dae"
_OWN: Final = ".fcstd"
_BROKEN: Final = (AttributeError, AssertionError, LookupError, NameError, TypeError)
"""The errors that no script raises to say something."""
_MAX_NAMED: Final = 50  # objects left out of a file, in the sentence for each reason
_NO_NAMES: Final = "FreeCAD reads no names and colours with these shapes: rename them."


class _Files(Building, FileExchange, Saving):
    """The operations on files."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the formats that freecadcmd reads as well."""
        return dict.fromkeys((*_SOLIDS, *_MESHES, _DRAWING, _COLLADA, _OWN), ("copy",))

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Import a file; each of its shapes or meshes becomes an object.

        Args:
            path: The file.
            how: "copy", the only way of FreeCAD.
            under: The group or part to put the objects into; None for none.
            scale: The factor of their sizes.
            up: The axis that is up in the file; None for Z.

        Raises:
            ValueError: The file cannot be read, or has no shape.
        """
        suffix = path.suffix.lower()
        before = {obj.Name for obj in document().Objects}
        if suffix == _OWN and (scale != 1 or up == "Y"):
            raise ValueError(f"A {_OWN} file is in mm and Z up as this one: leave that out.")
        with _reading(path):
            _read(path, suffix)
        new = [obj for obj in document().Objects if obj.Name not in before]
        if not new or (suffix != _OWN and any(own_shape(obj) is None for obj in new)):
            raise ValueError(f"{path} cannot be read: there is no shape in it.")
        if suffix != _OWN:
            for obj in new:
                _scale_and_turn(obj, scale, is_y_up=up == "Y")
        if under is not None:
            for obj in new:
                if parent_of(obj) is None:
                    self.set_parent(obj.Name, under, keep_place=False)
        transactions().stale.add(document().Name)
        warnings = [_NO_NAMES] if suffix in _SOLIDS else []
        return Imported([str(obj.Name) for obj in new], warnings)

    def export_formats(self) -> Sequence[str]:
        """Return the formats that freecadcmd writes as well."""
        return (*_SOLIDS, *_MESHES, ".3mf", _DRAWING, _OWN)

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Export the shapes of items, in their places in the world, or of all that is shown.

        A part or a group exports only the objects in it that are shown and go into no other shape.
        A .dxf file is of one drawing page.

        Args:
            path: The file.
            items: The objects; none for all that is shown.
            frames: Not used: FreeCAD has no frames.

        Returns:
            The objects in the file, and sentences that say what is not in it.

        Raises:
            ValueError: There is no shape for such a file, or FreeCAD did not write the file.
        """
        transactions().compute()
        suffix = path.suffix.lower()
        left_out = ["FreeCAD has no frames."] if frames else []
        if suffix == _OWN and items:
            raise ValueError(f"A {_OWN} file holds the whole document: leave items out.")
        with _check_written(path):
            if suffix == _OWN:
                document().saveCopy(str(path))
                return Exported([obj.Name for obj in document().Objects], left_out)
            if suffix == _DRAWING:
                return Exported([_write_page(path, items)], [*left_out, _PAGE_LEAVES_OUT])
            choice = _ExportChoice(suffix)
            if items:
                for item in track(items):
                    choice.add(find(item))
            else:
                choice.add_shown(document().Objects)
            if not choice.chosen:
                why = " ".join(choice.left_out())
                raise ValueError(f"There is no shape that a {suffix} file can hold. {why}".rstrip())
            _write(path, suffix, list(choice.chosen.values()))
        left_out += choice.left_out()
        left_out.append("How the shapes were made is not in the file.")
        return Exported(list(choice.chosen), left_out)

    def save_files(self, path: Path | None) -> list[Path]:
        """Return the file that saving would write.

        Raises:
            ValueError: The document has no file yet, or the path is not a good one.
        """
        if path is None and not document().FileName:
            raise ValueError("This document was never saved: give the path of a file.")
        target = path or Path(document().FileName)
        is_own = target.suffix.lower() == _OWN
        if not is_own or not target.is_absolute() or not target.parent.is_dir():
            raise ValueError(
                f"{target} cannot be written: name a .FCStd file by its whole path, in a folder "
                "that is there."
            )
        return [target]

    def save(self, path: Path | None) -> Path:
        """Save the document, and return its file.

        Raises:
            ValueError: FreeCAD did not write the file, or the path is not a good one.
        """
        (target,) = self.save_files(path)
        own = document()
        before = own.FileName, own.Label
        try:
            with _check_written(target):
                own.saveAs(str(target))
        except ValueError:
            # FreeCAD changes both before it writes, and would go on in the file that is not there.
            own.FileName, own.Label = before
            raise
        return target


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise ValueError for whatever an importer of FreeCAD raises in the block."""
    try:
        yield
    except Exception as error:  # an importer in Python may raise anything
        why = reason(error)
        script, line, _, _ = traceback.extract_tb(error.__traceback__)[-1]
        if isinstance(error, _BROKEN) and script != __file__:
            why = f"FreeCAD's own script is broken, in line {line} of {Path(script).name}"
        raise ValueError(f"{path} cannot be read: {why}.") from error


@contextmanager
def _check_written(path: Path) -> Iterator[None]:
    """Raise ValueError if the block does not write a file: FreeCAD may report no failure."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    try:
        yield
    except (OSError, FreeCAD.Base.FreeCADError) as error:
        raise ValueError(f"FreeCAD did not write {path}: {reason(error)}.") from error
    if not path.exists() or path.stat().st_mtime_ns == before:
        raise ValueError(f"FreeCAD did not write {path}.")


def _read(path: Path, suffix: str) -> None:
    name = document().Name
    if suffix == _OWN:
        document().mergeProject(str(path))
    elif suffix == _DRAWING:
        import Import

        # `importDXF.insert` reads it so too, but first shows its preferences in a window.
        Import.readDXF(str(path), name)
    elif suffix == _COLLADA:
        import importDAE

        if not importDAE.checkCollada():
            raise ValueError("FreeCAD needs pycollada for that, and its Python has none")
        importDAE.insert(str(path), name)
    elif suffix in _MESHES:
        import Mesh

        Mesh.insert(str(path), name)
    else:
        # `Import.insert`, which reads names and colours too, crashes 0.20 over several shapes.
        import Part

        Part.insert(str(path), name)


def _scale_and_turn(obj: Any, scale: float, *, is_y_up: bool) -> None:
    """Bring an imported object to the size and the axes of the document."""
    if scale != 1 and _is_mesh(obj):
        mesh = obj.Mesh.copy()
        matrix = FreeCAD.Matrix()
        matrix.scale(scale, scale, scale)
        mesh.transform(matrix)
        obj.Mesh = mesh
    elif scale != 1:
        shape = obj.Shape.copy()
        shape.scale(scale, FreeCAD.Vector())
        obj.Shape = shape
    if is_y_up:
        turn = FreeCAD.Placement(FreeCAD.Vector(), FreeCAD.Rotation(FreeCAD.Vector(1, 0, 0), 90))
        obj.Placement = turn.multiply(obj.Placement)


class _ExportChoice:
    """The objects of a document that are written to a file, and those that are left out.

    Attributes:
        chosen: The objects to write, by their names.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self.chosen: dict[str, Any] = {}
        self._ingredients: list[Any] = []
        self._hidden: list[Any] = []
        self._shapeless: list[Any] = []  # without a shape that such a file can hold

    def add(self, obj: Any) -> None:
        """Choose an object, hidden or not; of a part or a group the objects that it shows."""
        if own_shape(obj) is None and not obj.isDerivedFrom("Part::Feature") and children(obj):
            self.add_shown(list(descendants(obj)), among=obj)
        else:
            self._add(obj)

    def add_shown(self, objects: Sequence[Any], among: Any = None) -> None:
        """Choose the objects that are shown and are no ingredients of another one that is shown.

        Args:
            objects: The objects to choose from.
            among: A part above them that counts as shown; None for none.
        """
        candidates = [obj for obj in objects if not is_aid(obj)]
        shown = {obj.Name for obj in candidates if is_shown(obj, among)}
        used = ingredients(obj for obj in candidates if obj.Name in shown)
        for obj in candidates:
            if obj.Name in used:
                self._ingredients.append(obj)
            elif own_shape(obj) is not None and obj.Name not in shown:
                self._hidden.append(obj)
            elif own_shape(obj) is not None or not children(obj):
                self._add(obj)

    def _add(self, obj: Any) -> None:
        is_solid_only = self._suffix in _SOLIDS
        if own_shape(obj) is None or (is_solid_only and _is_mesh(obj)):
            self._shapeless.append(obj)
        else:
            self.chosen[obj.Name] = obj

    def left_out(self) -> list[str]:
        """Return a sentence for each reason for which objects are left out."""
        by_reason = {
            "Hidden": self._hidden,
            "Not on their own, for what is in the file is made of them": self._ingredients,
            f"Without a shape for a {self._suffix} file": self._shapeless,
        }
        return [
            f"{reason}: {_labels(objects)}." for reason, objects in by_reason.items() if objects
        ]


def _labels(objects: Sequence[Any]) -> str:
    labels = list(dict.fromkeys(label_of(obj) for obj in objects))
    text = ", ".join(labels[:_MAX_NAMED])
    if len(labels) > _MAX_NAMED:
        text += f" and {len(labels) - _MAX_NAMED} more"
    return text


def _is_mesh(obj: Any) -> bool:
    return bool(obj.isDerivedFrom("Mesh::Feature"))


def _write_page(path: Path, items: Sequence[str]) -> str:
    """Write a drawing page, and return its name."""
    pages = [find(item) for item in items]
    if len(pages) != 1 or not pages[0].isDerivedFrom(_PAGE):
        there = ", ".join(str(page.Name) for page in document().findObjects(_PAGE)) or "none yet"
        raise ValueError(
            f"A {_DRAWING} file holds one drawing page: give it as the only item; there is {there}."
        )
    import_module("TechDraw").writeDXFPage(pages[0], str(path))
    return str(pages[0].Name)


def _write(path: Path, suffix: str, objects: Sequence[Any]) -> None:
    """Write copies of objects in their world placements: FreeCAD leaves out the parents'."""
    import Import
    import Mesh
    import Part

    module = Import
    if suffix in (*_MESHES, ".3mf"):
        module = Mesh
    elif suffix in (".brep", ".brp"):
        module = Part
    with scratch_document() as scratch:
        for obj in objects:
            if _is_mesh(obj):
                copy = scratch.addObject("Mesh::Feature", obj.Name)
                copy.Label = obj.Label
                copy.Mesh = world_shape(obj)
            else:
                copy = scratch.addObject("Part::Feature", obj.Name)
                copy.Label = obj.Label
                copy.Shape = world_shape(obj)
        with explained(f"{path} cannot be written"):
            module.export(scratch.Objects, str(path))
