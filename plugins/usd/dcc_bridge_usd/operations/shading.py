"""Materials, and connections of shaders. Main thread."""

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
    """Makes materials of UsdPreviewSurface, assigns them, and connects shaders."""

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make a material or change one, and return its path.

        Args:
            name: The path or the name of the material; None makes a new one.
            values: See `looks.set_look`.

        Raises:
            ValueError: A value does not fit, or several materials have that name.
        """
        with refusing(f"The material {name or ''} cannot be made or changed"):
            material = self._named(name) or self._new(name or "Material")
            set_look(material, values)
        return str(material.GetPath())

    def _named(self, name: str | None) -> UsdShade.Material | None:
        """Return the material at a path or with a name; None if there is none."""
        if name is None:
            return None
        prim = prim_at(self.stage, name)
        if prim is None:
            paths = self.looks_called(name)
            if len(paths) > 1:
                raise ValueError(f"There are several materials {name}: {', '.join(paths[:5])}.")
            if not paths:
                return None
            prim = self.prim(paths[0])
        material = UsdShade.Material(prim)
        if not material:
            path = str(prim.GetPath())
            raise ValueError(f"{path} is no material, but a {self.kind(path)}.")
        return material

    def _new(self, name: str) -> UsdShade.Material:
        if name.startswith("/"):
            return UsdShade.Material.Define(self.stage, name)
        path = self.new_path(name, str(self._looks_scope()))
        return UsdShade.Material.Define(self.stage, path)

    def _looks_scope(self) -> Sdf.Path:
        """Return where new materials go: beside the first material, or below a new scope."""
        materials = self.looks()
        if materials and not self.prim(materials[0]).IsInstanceProxy():
            return Sdf.Path(materials[0]).GetParentPath()
        top = self.stage.GetDefaultPrim() or self.stage.GetPseudoRoot()
        path = top.GetPath().AppendChild("Looks")
        if not self.stage.GetPrimAtPath(path):
            self.stage.DefinePrim(path, "Scope")
        return path

    def assign(self, item: str, material: str) -> None:
        """Bind a material to a prim; what is bound to prims below it stays."""
        prim = self.prim(item)
        wanted = self._named(material)
        if wanted is None:
            raise LookupError(
                f"There is no material {material!r}.{names.near(material, self.materials())}"
            )
        with refusing(f"{item} cannot be given a material"):
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(wanted)
        bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if bound.GetPath() != wanted.GetPath():
            raise ValueError(f"{item} keeps {bound.GetPath()}, which is bound more strongly.")

    # ---- connections

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return the names of the inputs and of the outputs, those of the shader's kind too."""
        prim = self.prim(item)
        node = UsdShade.ConnectableAPI(prim)
        if not node:
            attributes = prim.GetAuthoredAttributes()
            return [attribute.GetName() for attribute in attributes if targets(attribute)], []
        inputs = _names_in(prim, "inputs:")
        outputs = _names_in(prim, "outputs:")
        if node.IsContainer():  # inside, the inputs of a container give and its outputs take
            both = sorted(inputs | outputs)
            return both, both
        kind = schemas.shader_kind(prim)
        if kind:
            inputs |= set(kind.GetShaderInputNames())
            outputs |= set(kind.GetShaderOutputNames())
        return sorted(inputs), sorted(outputs)

    def connect(self, link: SocketLink) -> None:
        source = self.prim(link.source)
        target = self.prim(link.target)
        with refusing(f"{link.into} of {link.target} cannot take {link.out} of {link.source}"):
            giving = _socket(source, link.out, ("outputs", "inputs"))
            taking = _socket(target, link.into, ("inputs", "outputs"))
            is_output = UsdShade.Output.IsOutput(taking)
            end: Any = UsdShade.Output(taking) if is_output else UsdShade.Input(taking)
            if not UsdShade.ConnectableAPI.CanConnect(end, giving):
                raise ValueError(
                    f"{link.into} of {link.target} cannot take {link.out} of {link.source}: "
                    "shaders are connected to those beside them, and to what they stand in."
                )
            taking.SetConnections([giving.GetPath()])
        if taking.GetConnections() != [giving.GetPath()]:
            raise ValueError(f"{taking.GetPath()} is held by a stronger layer.")

    def cut(self, link: SocketLink) -> None:
        prim = self.prim(link.target)
        for name in (link.into, f"inputs:{link.into}", f"outputs:{link.into}"):
            attribute = prim.GetAttribute(name)
            sources = attribute.GetConnections() if attribute else []
            kept = [source for source in sources if not _is_from(source, link)]
            if len(kept) == len(sources):
                continue
            with refusing(f"{link.into} of {link.target} cannot be cut off"):
                if kept:
                    attribute.SetConnections(kept)
                else:
                    cut(attribute)
            return
        raise LookupError(f"Nothing of that kind leads into {link.into} of {link.target}.")


def _is_from(source: Sdf.Path, link: SocketLink) -> bool:
    """Return whether a source is the one that a link names; "" in the link stands for any."""
    if link.source not in ("", str(source.GetPrimPath())):
        return False
    return link.out in ("", source.name, socket(source.name))


def _names_in(prim: Usd.Prim, space: str) -> set[str]:
    """Return the names of the properties in a namespace, without the namespace."""
    names = [name for name in prim.GetPropertyNames() if name.startswith(space)]
    return {name.removeprefix(space) for name in names}


def _socket(prim: Usd.Prim, name: str, spaces: tuple[str, ...]) -> Usd.Attribute:
    """Return a socket; it is made where only the shader's kind has it.

    Args:
        prim: The shader, or what contains shaders.
        name: The name of the socket, with or without its namespace.
        spaces: The namespaces in which to look; a socket is made in the first.

    Raises:
        LookupError: There is no such socket.
    """
    for full in (name, *(f"{space}:{name}" for space in spaces)):
        attribute = prim.GetAttribute(full)
        if attribute and attribute.IsDefined():
            return attribute
    is_input = spaces[0] == "inputs"
    kind = schemas.shader_kind(prim)
    socket_of_kind = None
    if kind:
        socket_of_kind = kind.GetShaderInput(name) if is_input else kind.GetShaderOutput(name)
    node = UsdShade.ConnectableAPI(prim)
    if not socket_of_kind or not node:
        raise LookupError(f"{prim.GetPath()} has no socket {name!r}.")
    value_type = socket_of_kind.GetTypeAsSdfType().GetSdfType()
    if is_input:
        return node.CreateInput(name, value_type).GetAttr()
    return node.CreateOutput(name, value_type).GetAttr()
