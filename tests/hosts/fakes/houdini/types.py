"""The types of nodes that the stand-in Houdini has, and their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final


@dataclass(frozen=True)
class Template:
    """A parameter template, such as ``t`` with three parts."""

    title: str
    default: Any
    size: int = 1
    letters: str = "xyz"

    def name(self) -> str:
        return self.title

    def label(self) -> str:
        return self.title.title()

    def defaultValue(self) -> tuple[Any, ...]:
        return (self.default,) * self.size

    def numComponents(self) -> int:
        return self.size

    def type(self) -> Any:
        form = "String" if isinstance(self.default, str) else "Float"
        return FORMS[form]

    def parms(self) -> dict[str, Any]:
        if self.size == 1:
            return {self.title: self.default}
        return {f"{self.title}{axis}": self.default for axis in self.letters[: self.size]}


class _OfFloats(type):
    def __instancecheck__(cls, template: object) -> bool:
        return isinstance(template, Template) and template.type().name() == "Float"


class FloatTemplate(metaclass=_OfFloats):
    """`hou.FloatParmTemplate`: a template of numbers."""


FORMS: Final = {
    name: SimpleNamespace(name=lambda name=name: name)
    for name in ("Int", "Float", "String", "Toggle", "Menu", "Button")
}
_PLACE: Final = (Template("t", 0.0, 3), Template("r", 0.0, 3), Template("s", 1.0, 3))
TEMPLATES: Final[dict[str, tuple[Template, ...]]] = {
    "geo": (*_PLACE, Template("shop_materialpath", "")),
    "null": _PLACE,
    "subnet": _PLACE,
    "cam": (
        *(*_PLACE, Template("focal", 50.0), Template("near", 0.001), Template("focus", 5.0)),
        *(Template("aperture", 41.4214), Template("orthowidth", 2.0)),
        *(Template("resx", 1280), Template("resy", 720), Template("projection", "perspective")),
    ),
    "hlight": (*_PLACE, Template("light_intensity", 1.0)),
    "box": (Template("size", 1.0, 3),),
    "merge": (),
    "file": (Template("file", ""),),
    "xform": (*_PLACE, Template("shear", 0.0, 3)),
    "material": (Template("shop_materialpath1", ""),),
    "principledshader::2.0": (
        *(Template(name, 0.2, 3, "rgb") for name in ("basecolor", "emitcolor")),
        *(Template(name, 0.0) for name in ("metallic", "rough", "opac")),
        *(Template(f"base{name}", 0.0) for name in ("color_useTexture", "BumpAndNormal_enable")),
        *(Template(f"base{name}", "") for name in ("color_texture", "Normal_texture")),
        Template("baseBumpAndNormal_type", "bump"),
    ),
    "mtlxstandard_surface": (Template("base", 1.0),),
}
INPUTS: Final = {"box": 1, "merge": 4, "file": 0}  # of objects one, the parent
_CATEGORIES: Final = {
    "Object": ("geo", "null", "subnet", "cam", "hlight", "envlight"),
    "Sop": (
        *("box", "merge", "file", "null", "xform", "material", "sphere", "grid", "tube", "torus"),
        *("line", "curve", "font", "alembic", "polyextrude", "polyextrude::2.0", "polybevel::2.0"),
        *("polybevel::3.0", "boolean::2.0", "subdivide", "remesh::2.0", "polyreduce::2.0"),
        *("mountain::2.0", "attribnoise", "attribwrangle", "attribrandomize", "scatter::2.0"),
        *("copytopoints::2.0", "copyxform", "blast", "groupcreate", "fuse::2.0", "normal"),
        *("mirror", "sweep::2.0", "resample", "polyfill", "uvunwrap", "uvflatten::3.0"),
        *("vdbfrompolygons", "convertvdb", "voronoifracture::2.0", "color", "timeshift"),
        *("filecache::2.0", "switch"),
    ),
    "Vop": ("principledshader::2.0", "mtlxstandard_surface"),
    "Manager": (),
}


@dataclass(frozen=True)
class Category:
    """A node type category."""

    title: str

    def name(self) -> str:
        return self.title

    def nodeTypes(self) -> dict[str, NodeType]:
        return {name: NodeType(name, self) for name in _CATEGORIES[self.title]}


@dataclass(frozen=True)
class NodeType:
    """A node type."""

    title: str
    of: Category

    def name(self) -> str:
        return self.title

    def category(self) -> Category:
        return self.of

    def description(self) -> str:
        return self.title.partition("::")[0].title()

    def parmTemplates(self) -> tuple[Template, ...]:
        return TEMPLATES.get(self.title, ())


def categories() -> dict[str, Category]:
    return {name: Category(name) for name in _CATEGORIES}


def category_of(path: str) -> Category:
    """Give what a node at a path is: an object in /obj and its subnets, below that a shape."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and parts[0] == "mat":
        return Category("Vop")
    if len(parts) < 2 or parts[0] != "obj":
        return Category("Manager")
    return Category("Object" if len(parts) == 2 or "subnet" in parts[1] else "Sop")
