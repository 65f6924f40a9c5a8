"""Where prims are: transforms, and what is above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pxr import Gf, Sdf, Usd, UsdGeom

from dcc_bridge.spi import AppliedTransforms, Placement, Vector

from . import applying, names, transforms
from .items import refusing
from .transforms import vector
from .values import _Values

Axes = Literal["world", "local"]
Parts = Sequence[Literal["at", "rotation", "scale"]]


class _Placing(_Values, AppliedTransforms):
    """Reads and writes transforms."""

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Tell where a prim is, by its pivot where it has one."""
        xform = self._xform(item)
        time = self._time
        pivot = transforms.pivot(xform, time)
        above = transforms.above(xform, time) if space == "world" else Gf.Matrix4d(1)
        if above == Gf.Matrix4d(1) and (found := transforms.exact(xform, time)) is not None:
            return Placement(*found)
        matrix = transforms.local(xform, time) * above
        rotation, scale, _ = transforms.taken_apart(matrix)
        return Placement(vector(matrix.Transform(pivot)), rotation, scale)

    def place(
        self,
        item: str,
        at: Vector | None = None,
        rotation: Vector | None = None,
        scale: Vector | None = None,
        space: Axes = "world",
    ) -> None:
        """Put a prim somewhere."""
        xform = self._xform(item)
        above = transforms.above(xform)
        moved = None
        if at is not None:
            point = Gf.Vec3d(*at)
            moved = above.GetInverse().Transform(point) if space == "world" else point
        if space == "world" and (rotation is not None or scale is not None):
            now = self.placement(item)
            wanted = transforms.together(now.at, rotation or now.rotation, scale or now.scale)
            local = wanted * above.GetInverse()
            rotation, scale, is_sheared = transforms.taken_apart(local)
            if is_sheared:
                raise ValueError(
                    f"{item} would be sheared, for what is above it is scaled unevenly and turned: "
                    'place it with space="local".'
                )
        with refusing(f"{item} cannot be placed"):
            transforms.write(xform, moved, rotation, scale)

    def _xform(self, item: str) -> UsdGeom.Xformable:
        prim = self.prim(item)
        xform = UsdGeom.Xformable(prim)
        if not xform:
            raise ValueError(f"{item} has no place of its own: it is a {self.kind(item)}.")
        if prim.IsInstanceProxy():
            raise ValueError(f"{item} is inside an instance: place the instance instead.")
        return xform

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Put a prim below another; relationships and connections that point to it follow."""
        prim, above = self.prim(item), self.root(under)
        if above.GetPath().HasPrefix(prim.GetPath()):
            raise ValueError(f"{item} cannot be put below itself, {above.GetPath()}.")
        if prim.GetParent() == above:
            return item
        is_placed, kind, world = (
            bool(UsdGeom.Xformable(prim)),
            prim.GetTypeName(),
            transforms.world(prim),
        )
        new = self._moved(prim, above.GetPath().AppendChild(names.free(above, prim.GetName())))
        if keep_place and not transforms.is_near(transforms.world(self.prim(new)), world):
            if not is_placed:
                raise ValueError(
                    f"{item} is a {kind} and has no place of its own to keep: give "
                    "keep_place=False, and what is below it moves."
                )
            now = UsdGeom.Xformable(self.prim(new))
            with refusing(f"{new} cannot be placed"):
                transforms.keep(now, world * transforms.above(now).GetInverse())
        return new

    def _moved(self, prim: Usd.Prim, path: Sdf.Path) -> str:
        old, selected = prim.GetPath(), self.host.selection
        editor = Usd.NamespaceEditor(self.stage)
        editor.MovePrimAtPath(old, path)
        can = editor.CanApplyEdits()
        if not can:
            raise ValueError(f"{old} cannot be moved to {path}: {can.whyNot}.")
        editor.ApplyEdits()
        self.follow(selected, old, path)
        return str(path)

    def follow(self, selected: list[str], old: Sdf.Path, new: Sdf.Path) -> None:
        """Keep what the person selected, which has another path now."""
        if selected != self.host.selection:
            self.host.select([str(Sdf.Path(it).ReplacePrefix(old, new)) for it in selected])

    # ---- apply

    def apply(self, item: str, parts: Parts) -> None:
        """Put parts of a transform into the points, and into what is below."""
        xform = self._xform(item)
        if transforms.pivot(xform) != Gf.Vec3d(0):
            raise ValueError(f"{item} has a pivot, which would move: set xformOp:translate:pivot.")
        if xform.GetPrim().IsInstance():
            raise ValueError(f"{item} is an instance: its data are those of others.")
        now = self.placement(item, "local")
        at = (0.0, 0.0, 0.0) if "at" in parts else now.at
        rotation = (0.0, 0.0, 0.0) if "rotation" in parts else now.rotation
        scale = (1.0, 1.0, 1.0) if "scale" in parts else now.scale
        with refusing(f"The transform of {item} cannot be put into its data"):
            applying.apply(xform, at, rotation, scale)
