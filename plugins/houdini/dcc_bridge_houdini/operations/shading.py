"""Makes materials in the /mat network, and assigns them to objects and shapes. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import hou

from dcc_bridge.spi import Building, Materials

from .reading import find, geometry_of

_NETWORK: Final = "/mat"
_PRINCIPLED: Final = "principledshader"
_VALUES: Final = {  # the parameters of a principled shader
    "base_color": "basecolor",
    "metallic": "metallic",
    "roughness": "rough",
    "emission": "emitcolor",
    "opacity": "opac",
    "texture": "basecolor_texture",
    "normal": "baseNormal_texture",
}
_SWITCHES: Final[dict[str, dict[str, Any]]] = {  # parameters that enable a value
    "texture": {"basecolor_useTexture": 1},
    "normal": {"baseBumpAndNormal_enable": 1, "baseBumpAndNormal_type": "normal"},
}
_OBJECT_PARM: Final = "shop_materialpath"
_MATERIAL_NODE_PARM: Final = "shop_materialpath1"


class _Shades(Building, Materials):
    """The operations on materials."""

    def materials(self) -> Iterator[str]:
        """Return the paths of the nodes in /mat."""
        return (node.path() for node in find(_NETWORK).children())

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make or change a principled shader.

        Args:
            name: The name or path of the material; None for a new one.
            values: The values to set, by the names in `_VALUES`.

        Returns:
            The path of the material.

        Raises:
            ValueError: There is no such value, or the material is of another type.
        """
        unknown = [prop for prop in values if prop not in _VALUES]
        if unknown:
            raise ValueError(f"A material has no {unknown[0]}: it has {', '.join(_VALUES)}.")
        own_name = (name or "material1").rpartition("/")[2]
        path = f"{_NETWORK}/{own_name}"
        node = hou.node(path) if name else None
        if node is None:
            types = find(_NETWORK).childTypeCategory().nodeTypes()
            newest = max(each for each in types if _is_principled(each))
            path = self.create(newest, own_name, _NETWORK)
        elif values and not _is_principled(node.type().name()):
            raise ValueError(
                f"{path} is no principled shader but a {node.type().name()}: set its own "
                "parameters with set_values."
            )
        all_values = dict[str, Any]()
        if "texture" in values:  # the base colour multiplies the texture
            all_values["base_color"] = [1.0] * 3
        all_values.update(values)
        for prop, value in all_values.items():
            for parm, setting in _SWITCHES.get(prop, {}).items():
                self.set_value(path, parm, setting)
            self.set_value(path, _VALUES[prop], value)
        return path

    def assign(self, item: str, material: str) -> None:
        """Set the material of an object; for a node in an object, by a Material node after it.

        Raises:
            ValueError: The item takes no material, or its shapes have their own materials.
        """
        node = find(item)
        shader = find(material)
        if isinstance(node, hou.SopNode):
            self.set_value(self._material_node(node), _MATERIAL_NODE_PARM, shader.path())
            return
        if node.parm(_OBJECT_PARM) is None:
            raise ValueError(f"{item} ({node.type().name()}) takes no material: objects do (geo).")
        shape = geometry_of(node)
        if shape is not None and shape.findPrimAttrib(_OBJECT_PARM) is not None:
            raise ValueError(
                f"The shapes in {item} have materials of their own, which go before the object's: "
                "assign to the Material node in it."
            )
        self.set_value(item, _OBJECT_PARM, shader.path())

    def _material_node(self, node: hou.SopNode) -> str:
        """Return the Material node of a shape: the node itself, the next one, or a new one.

        A node with several outgoing connections gets a new Material node between.
        """
        connections = node.outputConnections()
        candidates: list[Any] = [node]
        if len(connections) == 1:
            candidates.append(connections[0].outputNode())
        for candidate in candidates:
            if candidate is not None and candidate.type().name() == "material":
                return str(candidate.path())
        network, _, name = node.path().rpartition("/")
        new = find(self.create("material", f"{name}_material", network))
        assert isinstance(new, hou.SopNode)
        new.setInput(0, node)
        for connection in connections:
            target = connection.outputNode()
            if target is not None:
                target.setInput(connection.inputIndex(), new)
        if node.isDisplayFlagSet():
            new.setDisplayFlag(True)
        if node.isRenderFlagSet():
            new.setRenderFlag(True)
        return new.path()


def _is_principled(type_name: str) -> bool:
    """Return whether a type is a version of the principled shader: "principledshader::2.0"."""
    return type_name.partition("::")[0] == _PRINCIPLED
