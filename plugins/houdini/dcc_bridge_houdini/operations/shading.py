"""Materials of the /mat network, and who has them. Main thread."""

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
_BESIDE: Final[dict[str, dict[str, Any]]] = {  # what has to be set for another one to count
    "texture": {"basecolor_useTexture": 1},
    "normal": {"baseBumpAndNormal_enable": 1, "baseBumpAndNormal_type": "normal"},
}
_OBJECT: Final = "shop_materialpath"  # of an object; a Material node has a number behind it
_SHAPE: Final = "shop_materialpath1"


class _Shades(Building, Materials):
    """The operations on materials."""

    def materials(self) -> Iterator[str]:
        """Return the paths of what is in /mat."""
        return (node.path() for node in find(_NETWORK).children())

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make a principled shader, or change one."""
        if unknown := [it for it in values if it not in _VALUES]:
            raise ValueError(f"A material has no {unknown[0]}: it has {', '.join(_VALUES)}.")
        path = f"{_NETWORK}/{(name or 'material1').rpartition('/')[2]}"
        node = hou.node(path) if name else None
        if node is None:
            known = find(_NETWORK).childTypeCategory().nodeTypes()
            newest = max(it for it in known if it.partition("::")[0] == _PRINCIPLED)
            path = self.create(newest, path.rpartition("/")[2], _NETWORK)
        elif values and node.type().name().partition("::")[0] != _PRINCIPLED:
            raise ValueError(
                f"{path} is no principled shader but a {node.type().name()}: set its own "
                "parameters with set_values."
            )
        white = (
            {"base_color": [1.0] * 3} if "texture" in values else {}
        )  # it multiplies the texture
        for prop, value in (white | dict(values)).items():
            for parm, it in (_BESIDE.get(prop, {}) | {_VALUES[prop]: value}).items():
                self.set_value(path, parm, it)
        return path

    def assign(self, item: str, material: str) -> None:
        """Set the parameter of an object, or a Material node behind one that makes a shape."""
        node, shader = find(item), find(material)
        if isinstance(node, hou.SopNode):
            self.set_value(self._material_node(node), _SHAPE, shader.path())
            return
        if node.parm(_OBJECT) is None:
            raise ValueError(f"{item} ({node.type().name()}) takes no material: objects do (geo).")
        shape = geometry_of(node)
        if shape is not None and shape.findPrimAttrib(_OBJECT) is not None:
            raise ValueError(
                f"The shapes in {item} have materials of their own, which go before the object's: "
                "assign to the Material node in it."
            )
        self.set_value(item, _OBJECT, shader.path())

    def _material_node(self, node: hou.SopNode) -> str:
        """Return the Material node of a shape: itself, the one behind it, or a new one there."""
        links = node.outputConnections()
        behind = [node, *(it.outputNode() for it in links)]
        for known in behind if len(behind) < 3 else [node]:  # of several ways on, each gets it
            if known is not None and known.type().name() == "material":
                return known.path()
        network, _, name = node.path().rpartition("/")
        made = find(self.create("material", f"{name}_material", network))
        assert isinstance(made, hou.SopNode)
        made.setInput(0, node)
        for link in links:
            if (after := link.outputNode()) is not None:
                after.setInput(link.inputIndex(), made)
        if node.isDisplayFlagSet():
            made.setDisplayFlag(True)
        if node.isRenderFlagSet():
            made.setRenderFlag(True)
        return made.path()
