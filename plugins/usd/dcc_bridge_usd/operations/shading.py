"""Materials, and what is connected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pxr import Sdf, Usd, UsdShade

from dcc_bridge.spi import Connections, Materials, SocketLink

from ..prims import prim_at
from . import names, schemas
from .building import _Building
from .items import refusing, socket
from .links import targets
from .looks import cut, set_look


class _Shading(_Building, Connections, Materials):
    """Makes materials of UsdPreviewSurface."""

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make a material or change one; gives its path."""
        with refusing(f"The material {name or ''} cannot be made or changed"):
            made = self._named(name) or self._new(name or "Material")
            set_look(made, values)
        return str(made.GetPath())

    def _named(self, name: str | None) -> UsdShade.Material | None:
        if name is None:
            return None
        prim = prim_at(self.stage, name)
        found = [str(prim.GetPath())] if prim else []
        if not found:
            found = [it for it in self.looks() if it.rpartition("/")[2] == name]
        if len(found) > 1:
            raise ValueError(f"There are several materials {name}: {', '.join(found[:5])}.")
        if not found:
            return None
        if not UsdShade.Material(self.prim(found[0])):
            raise ValueError(f"{found[0]} is no material, but a {self.kind(found[0])}.")
        return UsdShade.Material(self.prim(found[0]))

    def _new(self, name: str) -> UsdShade.Material:
        if name.startswith("/"):
            return UsdShade.Material.Define(self.stage, name)
        first = next(iter(self.looks()), None)
        if first is not None and not self.prim(first).IsInstanceProxy():
            looks = Sdf.Path(first).GetParentPath()
        else:
            top = self.stage.GetDefaultPrim() or self.stage.GetPseudoRoot()
            looks = top.GetPath().AppendChild("Looks")
            if not self.stage.GetPrimAtPath(looks):
                self.stage.DefinePrim(looks, "Scope")
        path = self.new_path(name, str(looks))
        return UsdShade.Material.Define(self.stage, path)

    def assign(self, item: str, material: str) -> None:
        """Bind a material to a prim; what is bound to prims below it stays."""
        prim, found = self.prim(item), self._named(material)
        if found is None:
            raise LookupError(
                f"There is no material {material!r}.{names.near(material, self.materials())}"
            )
        with refusing(f"{item} cannot be given a material"):
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(found)
        bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if bound.GetPath() != found.GetPath():
            raise ValueError(f"{item} keeps {bound.GetPath()}, which is bound more strongly.")

    # ---- connections

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Give the inputs and outputs by their names, those of the shader's kind too."""
        prim = self.prim(item)
        node, props = UsdShade.ConnectableAPI(prim), prim.GetPropertyNames()
        if not node:
            return [it.GetName() for it in prim.GetAuthoredAttributes() if targets(it)], []
        inputs = {it[7:] for it in props if it.startswith("inputs:")}
        outputs = {it[8:] for it in props if it.startswith("outputs:")}
        if node.IsContainer():  # inside, its inputs give and its outputs take
            inputs = outputs = inputs | outputs
        elif kind := _kind(prim):
            inputs |= set(kind.GetShaderInputNames())
            outputs |= set(kind.GetShaderOutputNames())
        return sorted(inputs), sorted(outputs)

    def connect(self, link: SocketLink) -> None:
        source, target = self.prim(link.source), self.prim(link.target)
        with refusing(f"{link.into} of {link.target} cannot take {link.out} of {link.source}"):
            gives = _socket(source, link.out, ("outputs", "inputs"))
            takes = _socket(target, link.into, ("inputs", "outputs"))
            make: Any = UsdShade.Output if UsdShade.Output.IsOutput(takes) else UsdShade.Input
            if not UsdShade.ConnectableAPI.CanConnect(make(takes), gives):
                raise ValueError(
                    f"{link.into} of {link.target} cannot take {link.out} of {link.source}: "
                    "shaders are connected to those beside them, and to what they stand in."
                )
            takes.SetConnections([gives.GetPath()])
        if takes.GetConnections() != [gives.GetPath()]:
            raise ValueError(f"{takes.GetPath()} is held by a stronger layer.")

    def cut(self, link: SocketLink) -> None:
        prim = self.prim(link.target)
        every_name = (link.into, f"inputs:{link.into}", f"outputs:{link.into}")
        every = [a for a in map(prim.GetAttribute, every_name) if a and a.GetConnections()]
        for attribute in every:
            gone = [
                path
                for path in attribute.GetConnections()
                if link.source in ("", str(path.GetPrimPath()))
                and link.out in ("", path.name, socket(path.name))
            ]
            kept = [path for path in attribute.GetConnections() if path not in gone]
            if gone:
                with refusing(f"{link.into} of {link.target} cannot be cut off"):
                    attribute.SetConnections(kept) if kept else cut(attribute)
                return
        raise LookupError(f"Nothing of that kind leads into {link.into} of {link.target}.")


def _kind(prim: Usd.Prim) -> Any:
    shader = UsdShade.Shader(prim)
    name = shader.GetShaderId() if shader else str(prim.GetTypeName())
    return schemas.shaders().GetShaderNodeByIdentifier(name) if name else None


def _socket(prim: Usd.Prim, name: str, spaces: tuple[str, ...]) -> Usd.Attribute:
    """Give a socket, made where only the shader's kind has it."""
    for full in (name, *(f"{space}:{name}" for space in spaces)):
        attribute = prim.GetAttribute(full)
        if attribute and attribute.IsDefined():
            return attribute
    kind, node = _kind(prim), UsdShade.ConnectableAPI(prim)
    is_input = spaces[0] == "inputs"
    found = kind and (kind.GetShaderInput(name) if is_input else kind.GetShaderOutput(name))
    if not (found and node):
        raise LookupError(f"{prim.GetPath()} has no socket {name!r}.")
    make: Any = node.CreateInput if is_input else node.CreateOutput
    made: Usd.Attribute = make(name, found.GetTypeAsSdfType().GetSdfType()).GetAttr()
    return made
