"""Files: read, written and saved. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import FreeCAD

from dcc_bridge import track
from dcc_bridge.spi import Building, FileExchange, Imported, Saving

from ..document import called, document, find
from ..transactions import transactions
from .places import below, children, own_shape, parent_of, scratch_document, world_shape
from .properties import explained
from .shown import ingredients, is_aid, is_shown

_SOLIDS: Final = (".step", ".stp", ".iges", ".igs", ".brep", ".brp")
_MESHES: Final = (".stl", ".obj", ".ply", ".off")
_OWN: Final = ".fcstd"
_MOST_NAMED: Final = 50  # objects that are left out of a file, of each kind
_NO_NAMES: Final = "FreeCAD reads no names and colours with these shapes: rename them."


class _Files(Building, FileExchange, Saving):
    """The operations on files."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the formats that freecadcmd reads as well."""
        return dict.fromkeys((*_SOLIDS, *_MESHES, _OWN), ("copy",))

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Read a file in; each shape or mesh of it is an object."""
        suffix, before = path.suffix.lower(), {obj.Name for obj in document().Objects}
        if suffix == _OWN and (scale != 1 or up == "Y"):
            raise ValueError(f"A {_OWN} file is in mm and Z up as this one: leave that out.")
        with explained(f"{path} cannot be read"):
            _read(path, suffix)
        new = [obj for obj in document().Objects if obj.Name not in before]
        if not new or (suffix != _OWN and any(own_shape(obj) is None for obj in new)):
            raise ValueError(f"{path} cannot be read: there is no shape in it.")
        for obj in new if suffix != _OWN else ():
            _turn(obj, scale, is_y_up=up == "Y")
        for obj in new if under is not None else ():
            if parent_of(obj) is None:
                self.set_parent(obj.Name, under, keep_place=False)
        transactions().stale.add(document().Name)
        return Imported([str(obj.Name) for obj in new], [_NO_NAMES] if suffix in _SOLIDS else [])

    def export_formats(self) -> Sequence[str]:
        """Return the formats that freecadcmd writes as well."""
        return (*_SOLIDS, *_MESHES, ".3mf", _OWN)

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write the shapes of items, where they are in the world, or all that is shown.

        Of what is in a part or a group, too, only what is shown and goes into no other shape there.
        """
        transactions().compute()
        suffix, left_out = path.suffix.lower(), ["FreeCAD has no frames."] if frames else []
        if suffix == _OWN and items:
            raise ValueError(f"A {_OWN} file holds the whole document: leave items out.")
        with _written(path):
            if suffix == _OWN:
                document().saveCopy(str(path))
                return left_out
            choice = _Choice(suffix)
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
        return [*left_out, "How the shapes were made is not in the file."]

    def save_files(self, path: Path | None) -> list[Path]:
        if path is None and not document().FileName:
            raise ValueError("This document was never saved: give the path of a file.")
        target = path or Path(document().FileName)
        is_good = target.suffix.lower() == _OWN and target.is_absolute()
        if not is_good or not target.parent.is_dir():
            raise ValueError(
                f"{target} cannot be written: name a .FCStd file by its whole path, in a folder "
                "that is there."
            )
        return [target]

    def save(self, path: Path | None) -> Path:
        (target,) = self.save_files(path)
        with _written(target):
            document().saveAs(str(target))
        return target


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """See that a file is written: FreeCAD does not tell."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    yield
    if not path.exists() or path.stat().st_mtime_ns == before:
        raise ValueError(f"FreeCAD did not write {path}.")


def _read(path: Path, suffix: str) -> None:
    name = document().Name
    if suffix == _OWN:
        document().mergeProject(str(path))
    elif suffix in _MESHES:
        import Mesh

        Mesh.insert(str(path), name)
    else:
        # What reads names and colours too, `Import.insert`, crashes 0.20 over more than one shape.
        import Part

        Part.insert(str(path), name)


def _turn(obj: Any, scale: float, *, is_y_up: bool) -> None:
    """Bring what was read to the size and the axes of the document."""
    if scale != 1 and _is_mesh(obj):
        mesh, matrix = obj.Mesh.copy(), FreeCAD.Matrix()
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


class _Choice:
    """The objects of a document that are written to a file, and those that are left out."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self.chosen: dict[str, Any] = {}  # the objects that are written, by their names
        self._ingredients: list[Any] = []
        self._hidden: list[Any] = []
        self._without: list[Any] = []
        """The objects without a shape that such a file can hold."""

    def add(self, obj: Any) -> None:
        """Choose an object, hidden or not; of a part or a group what it shows."""
        if own_shape(obj) is None and not obj.isDerivedFrom("Part::Feature") and children(obj):
            self.add_shown(list(below(obj)), among=obj)
        else:
            self._add(obj)

    def add_shown(self, objects: Sequence[Any], among: Any = None) -> None:
        """Choose what is shown of objects, and is no ingredient of something that is shown."""
        own = [obj for obj in objects if not is_aid(obj)]
        shown = {obj.Name for obj in own if is_shown(obj, among)}
        used = ingredients(obj for obj in own if obj.Name in shown)
        for obj in own:
            if obj.Name in used:
                self._ingredients.append(obj)
            elif own_shape(obj) is not None and obj.Name not in shown:
                self._hidden.append(obj)
            elif own_shape(obj) is not None or not children(obj):
                self._add(obj)

    def _add(self, obj: Any) -> None:
        is_solid_only = self._suffix in _SOLIDS
        if own_shape(obj) is None or (is_solid_only and _is_mesh(obj)):
            self._without.append(obj)
        else:
            self.chosen[obj.Name] = obj

    def left_out(self) -> list[str]:
        """Return what is not written, in a sentence for each reason."""
        reasons = {
            "Hidden": self._hidden,
            "Not on their own, for what is in the file is made of them": self._ingredients,
            f"Without a shape for a {self._suffix} file": self._without,
        }
        return [f"{reason}: {_named(them)}." for reason, them in reasons.items() if them]


def _named(objects: Sequence[Any]) -> str:
    names = list(dict.fromkeys(called(obj) for obj in objects))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _is_mesh(obj: Any) -> bool:
    return bool(obj.isDerivedFrom("Mesh::Feature"))


def _write(path: Path, suffix: str, objects: Sequence[Any]) -> None:
    """Write copies that are where the shapes are in the world: FreeCAD leaves parents out."""
    import Import
    import Mesh
    import Part

    with scratch_document() as scratch:
        for obj in objects:
            copy = scratch.addObject(f"{'Mesh' if _is_mesh(obj) else 'Part'}::Feature", obj.Name)
            copy.Label = obj.Label
            setattr(copy, "Mesh" if _is_mesh(obj) else "Shape", world_shape(obj))
        module = Mesh if suffix in (*_MESHES, ".3mf") else Import
        with explained(f"{path} cannot be written"):
            (Part if suffix in (".brep", ".brp") else module).export(scratch.Objects, str(path))
