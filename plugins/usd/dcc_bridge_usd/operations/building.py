"""The operations that create, copy, rename and collect prims. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from pxr import Sdf, Usd, UsdShade, UsdUtils

from dcc_bridge.spi import Building

from .. import prims
from ..host import UsdSession
from . import names, schemas
from .items import refusing
from .placing import _Placing

_COLLECTIONS: Final = ("collection", "set")


class _Building(_Placing, Building):
    """The operations that create prims."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Define a prim, and return its path.

        Args:
            kind: The type, or the id of a shader for a prim of type Shader.
            name: The name of the prim; None for the kind.
            under: See `new_path`.

        Raises:
            LookupError: There is no such type or shader, or no prim `under`.
            ValueError: The prim cannot be made there.
        """
        shader = schemas.shaders().GetShaderNodeByIdentifier(kind)
        if kind not in schemas.types():
            raise LookupError(f"There is no type {kind!r}.{names.near(kind, schemas.types())}")
        is_schema = bool(Usd.SchemaRegistry().FindConcretePrimDefinition(kind))
        type_name = "Shader"
        if is_schema:
            type_name = kind
        path = self.new_path(name or kind, under)
        with refusing(f"{kind} cannot be made at {path}"):
            prim = self.stage.DefinePrim(path, type_name)
            if shader and not is_schema:
                UsdShade.Shader(prim).CreateIdAttr(kind)
        if not prim or prim.GetTypeName() != type_name:
            raise ValueError(f"{path} was not made: a stronger layer makes something else of it.")
        return str(path)

    def new_path(self, name: str, under: str | None) -> Sdf.Path:
        """Return a free path below a prim.

        Args:
            name: The name of the new prim; a number is added if the name is taken.
            under: The prim; None for the default prim, or the top if there is none.

        Raises:
            LookupError: There is no prim `under`.
            ValueError: The prim is an instance.
        """
        above = self.root(under)
        if under is None and self.stage.GetDefaultPrim():
            above = self.stage.GetDefaultPrim()
        if above.IsInstance() or above.IsInstanceProxy():
            raise ValueError(f"{above.GetPath()} is an instance: nothing can be made below it.")
        free_name = names.free(above, names.valid(name))
        return above.GetPath().AppendChild(free_name)

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy a prim beside itself, and return the path of the copy.

        A linked copy refers to the prim, and is an instance if the prim has children.
        """
        prim = self.prim(item)
        if prim.IsInstanceProxy():
            raise ValueError(f"{item} is inside an instance: duplicate the instance instead.")
        above = prim.GetParent()
        path = above.GetPath().AppendChild(names.free(above, prim.GetName()))
        target = self.stage.GetEditTarget().GetLayer()
        layers = [layer for layer in self.stage.GetLayerStack() if layer.GetPrimAtPath(item)]
        with refusing(f"{item} cannot be copied"):
            if not layers or (linked and not prim.IsInstance()):
                copy = self.stage.DefinePrim(path)
                copy.GetReferences().AddInternalReference(prim.GetPath())
                copy.SetInstanceable(linked and bool(prim.GetAllChildrenNames()))
            else:
                source = layers[0]
                if len(layers) > 1:  # several layers have specs of the prim
                    source = UsdUtils.FlattenLayerStack(self.stage, lambda _, path: path)
                Sdf.CreatePrimInLayer(target, path.GetParentPath())
                Sdf.CopySpec(source, prim.GetPath(), target, path)
        if not self.stage.GetPrimAtPath(path):
            raise ValueError(f"{item} was not copied to {path}.")
        return str(path)

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the path that a rename leads to; ValueError for what cannot be a name.

        A prim that the scene only does not show is in the way, too.
        """
        prims.check_name(name)
        new, others = super().called(item, name)
        if not others and names.is_hidden(self.stage, Sdf.Path(new)):
            return new, [new]
        return new, others

    def rename(self, item: str, name: str) -> str:
        """Rename a prim, which keeps its position among its siblings; return its new path."""
        prim = self.prim(item)
        selected = self.host.selection
        prims.check_name(name)
        old = prim.GetPath()
        with cast("UsdSession", self.host).moving(old, old.ReplaceName(name)):
            new = prims.rename(self.stage, prim, name)
        self.follow(selected, Sdf.Path(item), new)
        return str(new)

    def _holder(self, path: str) -> Usd.Prim:
        """Return the prim at a path; for "" the default prim, or the first if there is none.

        Raises:
            LookupError: There is no prim at the path.
            ValueError: The scene has no prims.
        """
        if path:
            return self.prim(path)
        tops = self.stage.GetPseudoRoot().GetChildren()
        if not tops:
            raise ValueError("The scene has no prim to hold a collection: create one first.")
        return self.stage.GetDefaultPrim() or tops[0]

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put prims into a collection, and return its path.

        Args:
            items: The prims.
            into: The collection: "heroes" for one of the default prim, or "/World/Sets.heroes".
            kind: "collection" or "set".

        Raises:
            LookupError: One of the prims does not exist.
            ValueError: The collection cannot be made, or does not take one of the prims.
        """
        if kind not in _COLLECTIONS:
            raise ValueError(f"USD has no {kind}: it has a collection, and a parent.")
        where, _, name = into.rpartition(".")
        name = name.removeprefix("collection:")
        prim = self._holder(where)
        if not Sdf.Path.IsValidNamespacedIdentifier(name):
            raise ValueError(f"{name!r} cannot be a collection's name: use letters, digits and _.")
        with refusing(f"There can be no collection {name} at {prim.GetPath()}"):
            collection = Usd.CollectionAPI.Apply(prim, name)
            targets = [self.prim(item).GetPath() for item in items]
            for path in targets:
                collection.IncludePath(path)
        query = collection.ComputeMembershipQuery()
        missing = [str(path) for path in targets if not query.IsPathIncluded(path)]
        if missing:
            raise ValueError(f"{', '.join(missing[:5])} did not come into {into}.")
        return str(collection.GetCollectionPath())
