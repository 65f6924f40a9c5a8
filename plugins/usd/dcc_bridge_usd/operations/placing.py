"""The places of prims: their transforms, and the prims above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from pxr import Gf, Sdf, Usd, UsdGeom

from dcc_bridge.spi import AppliedTransforms, Placement, Vector

from ..host import UsdSession
from . import applying, curves, names, transforms
from .items import refusing
from .transforms import vector
from .values import _Values

Axes = Literal["world", "local"]
Parts = Sequence[Literal["at", "rotation", "scale"]]


class _Placing(_Values, AppliedTransforms):
    """Reads and writes transforms."""

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return where a prim is, by its pivot where it has one."""
        xform = self._xform(item)
        time = self._time
        pivot = transforms.pivot(xform, time)
        above = transforms.IDENTITY
        if space == "world":
            above = transforms.above(xform, time)
        if above == transforms.IDENTITY:
            numbers = transforms.exact(xform, time)
            if numbers is not None:
                return Placement(*numbers)
        matrix = transforms.local(xform, time) * above
        rotation, scale, _ = transforms.decompose(matrix)
        return Placement(vector(matrix.Transform(pivot)), rotation, scale)

    def path(self, item: str) -> list[Vector]:
        """Return points of the first curve of a prim, in world space."""
        return curves.points_of(self.prim(item), self._time)

    def place(
        self,
        item: str,
        at: Vector | None = None,
        rotation: Vector | None = None,
        scale: Vector | None = None,
        space: Axes = "world",
    ) -> None:
        """Put a prim somewhere.

        Args:
            item: The prim.
            at: Where its pivot shall be.
            rotation: Angles about X, Y and Z, in degrees.
            scale: The scale.
            space: What the values are relative to: the world, or what is above the prim.

        Raises:
            ValueError: The prim has no place of its own, is inside an instance, or would be
                sheared.
        """
        xform = self._xform(item)
        into_local = transforms.above(xform).GetInverse()
        point = None
        if at is not None:
            point = Gf.Vec3d(*at)
            if space == "world":
                point = into_local.Transform(point)
        if space == "world" and (rotation is not None or scale is not None):
            now = self.placement(item)
            wanted = transforms.compose(now.at, rotation or now.rotation, scale or now.scale)
            rotation, scale, is_sheared = transforms.decompose(wanted * into_local)
            if is_sheared:
                raise ValueError(
                    f"{item} would be sheared, for what is above it is scaled unevenly and turned: "
                    'place it with space="local".'
                )
        with refusing(f"{item} cannot be placed"):
            transforms.write(xform, point, rotation, scale)

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
        prim = self.prim(item)
        above = self.root(under)
        if above.GetPath().HasPrefix(prim.GetPath()):
            raise ValueError(f"{item} cannot be put below itself, {above.GetPath()}.")
        if prim.GetParent() == above:
            return item
        is_placed = bool(UsdGeom.Xformable(prim))
        kind = prim.GetTypeName()
        world = transforms.world(prim)
        name = names.free(above, prim.GetName())
        new = self._move(prim, above.GetPath().AppendChild(name))
        if not keep_place or transforms.is_near(transforms.world(self.prim(new)), world):
            return new
        if not is_placed:
            raise ValueError(
                f"{item} is a {kind} and has no place of its own to keep: give "
                "keep_place=False, and what is below it moves."
            )
        xform = UsdGeom.Xformable(self.prim(new))
        with refusing(f"{new} cannot be placed"):
            transforms.keep(xform, world * transforms.above(xform).GetInverse())
        return new

    def _move(self, prim: Usd.Prim, path: Sdf.Path) -> str:
        old = prim.GetPath()
        selected = self.host.selection
        editor = Usd.NamespaceEditor(self.stage)
        editor.MovePrimAtPath(old, path)
        can_apply = editor.CanApplyEdits()
        if not can_apply:
            raise ValueError(f"{old} cannot be moved to {path}: {can_apply.whyNot}.")
        with cast("UsdSession", self.host).moving(old, path):
            editor.ApplyEdits()
        self.follow(selected, old, path)
        return str(path)

    def follow(self, selected: list[str], old: Sdf.Path, new: Sdf.Path) -> None:
        """Select what the person had selected, after a prim got another path.

        Args:
            selected: The selection before.
            old: The old path of the prim.
            new: Its new path.
        """
        if selected == self.host.selection:
            return
        paths = [Sdf.Path(item).ReplacePrefix(old, new) for item in selected]
        self.host.select([str(path) for path in paths])

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
