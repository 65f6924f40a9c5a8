"""Files of shapes, in and out. Main thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import hou

from dcc_bridge.spi import Building, FileExchange, Imported

from .reading import below, find, geometry_of
from .values import explained

_SUFFIXES: Final = (".bgeo", ".geo", ".obj", ".ply", ".stl")


class _Files(Building, FileExchange):
    """The operations on files, but for the scene's own."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return what a File node reads: a copy is locked into it, a reference read each time."""
        return dict.fromkeys(_SUFFIXES, ("copy", "reference"))

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Make an object with a File node in it; scale and axes are the object's transform."""
        item = self.create("geo", path.stem, None)
        node = find(item).createNode("file")
        parm = node.parm("file")
        assert parm is not None
        assert isinstance(node, hou.SopNode)
        parm.set(path.as_posix())
        shape = node.geometry()  # now it has cooked, and its errors are those of this file
        if node.errors() or shape is None or not shape.intrinsicValue("pointcount"):
            why = " ".join(node.errors()) or "There is no shape in it."
            raise ValueError(f"{path} cannot be read: {why}")
        if how == "copy":
            node.setHardLocked(True)
        turn = (-90.0, 0.0, 0.0) if up == "Z" else None
        self.place(item, rotation=turn, scale=(scale, scale, scale))
        if under is not None:
            item = self.set_parent(item, under, keep_place=False)
        return Imported([item])

    def export_formats(self) -> Sequence[str]:
        """Return what Houdini writes by itself."""
        return _SUFFIXES

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write the shapes that objects display, where they are in the world."""
        left_out = ["It holds one frame, the present one."] if frames else []
        whole, nodes = hou.Geometry(), dict[str, Any]()
        for item in items or ["/obj"]:
            found = [each for each in (find(item), *below(find(item))) if _has_shape(each)]
            nodes |= {each.path(): each for each in found}
            left_out += [] if found else [f"{item} displays no shape."]
        for node in nodes.values():
            shape = geometry_of(node)
            assert shape is not None
            part = hou.Geometry()
            part.merge(shape)
            part.transform(_world(node))
            whole.merge(part)
        if not nodes:
            raise ValueError(" ".join(left_out))
        with explained(f"{path} was not written"):
            whole.saveToFile(path.as_posix())
        return [*left_out, "How the shapes are made, and materials, are not in the file."]


def _has_shape(node: Any) -> bool:
    """Return whether an object displays a shape; nodes in one are parts of that."""
    shape = geometry_of(node) if isinstance(node, hou.ObjNode) else None
    return shape is not None and bool(shape.intrinsicValue("pointcount"))


def _world(node: Any) -> hou.Matrix4:
    matrix: hou.Matrix4 = node.worldTransform()
    return matrix
