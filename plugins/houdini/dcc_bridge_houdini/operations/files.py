"""Importing and exporting files of shapes. Main thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import hou

from dcc_bridge.spi import Building, Exported, FileExchange, Imported

from .reading import descendants, find, geometry_of
from .values import explained

_SUFFIXES: Final = (".bgeo", ".geo", ".obj", ".ply", ".stl")


class _Files(Building, FileExchange):
    """The operations on files, except the scene's own."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the formats of a File node, which stores a copy or reads the file each time."""
        return dict.fromkeys(_SUFFIXES, ("copy", "reference"))

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Make an object with a File node; the object's transform has the scale and the axes.

        Args:
            path: The file.
            how: "copy" or "reference".
            under: The parent object or the network, if any.
            scale: The factor of the sizes.
            up: The axis that is up in the file; None for Y.

        Raises:
            ValueError: The file cannot be read, or has no shape.
        """
        item = self.create("geo", path.stem, None)
        node = find(item).createNode("file")
        parm = node.parm("file")
        assert parm is not None
        assert isinstance(node, hou.SopNode)
        parm.set(path.as_posix())
        shape = node.geometry()  # cooks the node, so that its errors are about this file
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
        """Return the formats that Houdini writes without a plug-in."""
        return _SUFFIXES

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Write the shapes that objects display, in their places in the world.

        Args:
            path: The file.
            items: The objects; none for all.
            frames: Not used: the present frame is written.

        Returns:
            The objects in the file, and sentences about the things that are not in it.

        Raises:
            ValueError: No item displays a shape, or Houdini cannot write the file.
        """
        left_out = ["It holds one frame, the present one."] if frames else []
        nodes = dict[str, Any]()
        for item in items or ["/obj"]:
            inside = (find(item), *descendants(find(item)))
            shown = [each for each in inside if _has_shape(each)]
            if not shown:
                left_out.append(f"{item} displays no shape.")
            for each in shown:
                nodes[each.path()] = each
        if not nodes:
            raise ValueError(" ".join(left_out))
        whole = hou.Geometry()
        for node in nodes.values():
            shape = geometry_of(node)
            assert shape is not None
            part = hou.Geometry()
            part.merge(shape)
            part.transform(node.worldTransform())
            whole.merge(part)
        with explained(f"{path} was not written"):
            whole.saveToFile(path.as_posix())
        left_out.append("How the shapes are made, and materials, are not in the file.")
        return Exported(list(nodes), left_out)


def _has_shape(node: Any) -> bool:
    """Return whether a node is an object that displays a shape; nodes in it are its parts."""
    if not isinstance(node, hou.ObjNode):
        return False
    shape = geometry_of(node)
    if shape is None:
        return False
    return bool(shape.intrinsicValue("pointcount"))
