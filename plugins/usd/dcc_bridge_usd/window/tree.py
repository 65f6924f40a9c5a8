"""What the outliner shows of a stage: one small record a prim, all of it or what a filter leaves.

No Qt in here. Main thread, as everything that reads the stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import count

from pxr import Tf, Usd, UsdGeom, UsdLux, UsdShade


class Kind(Enum):
    """How a prim is drawn, counted and found."""

    ROOT = "stage"
    GROUP = "group"
    SCOPE = "scope"
    CAMERA = "camera"
    LIGHT = "light"
    GEOMETRY = "mesh"
    CURVES = "curves"
    MATERIAL = "material"
    SHADER = "shader"
    OTHER = "prim"


# The first that fits wins: a mesh light is a light.
_SCHEMAS = (
    (UsdLux.BoundableLightBase, Kind.LIGHT),
    (UsdLux.NonboundableLightBase, Kind.LIGHT),
    (UsdGeom.Camera, Kind.CAMERA),
    (UsdGeom.Curves, Kind.CURVES),
    (UsdGeom.Gprim, Kind.GEOMETRY),
    (UsdGeom.PointInstancer, Kind.GEOMETRY),
    (UsdGeom.Xform, Kind.GROUP),
    (UsdGeom.Scope, Kind.SCOPE),
    (UsdShade.Material, Kind.MATERIAL),
    (UsdShade.Shader, Kind.SHADER),
    (UsdShade.NodeGraph, Kind.SHADER),
)


@cache
def kind_of(type_name: str) -> Kind:
    """Tell the kind from a prim's type name; a prim without a type is a group."""
    if not type_name:
        return Kind.GROUP
    type_ = Usd.SchemaRegistry.GetTypeFromName(type_name)
    return next((kind for schema, kind in _SCHEMAS if type_.IsA(Tf.Type.Find(schema))), Kind.OTHER)


_ids = count(1)


@dataclass(slots=True, eq=False)
class Node:
    """A prim in the tree."""

    name: str
    type_name: str
    matches: bool  # whether the filter means this one, not only something below it
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    row: int = 0
    id: int = field(default_factory=_ids.__next__)
    """Its name towards Qt; no two prims have the same."""

    @property
    def path(self) -> str:
        """Its path in the stage."""
        if self.parent is None:
            return ""
        return f"{self.parent.path}/{self.name}"

    @property
    def kind(self) -> Kind:
        """What it is to an artist."""
        return kind_of(self.type_name)

    def adopt(self, children: Sequence[Node]) -> None:
        """Take children in."""
        self.children = list(children)
        for row, child in enumerate(self.children):
            child.parent, child.row = self, row

    def inherit(self, old: Node) -> bool:
        """Take the ids of an older reading, here and below, for the prims that are still there.

        Gives whether the rows are the same ones in the same places.
        """
        self.id = old.id
        pairs = _pairs(old.children, self.children)
        is_same = len(pairs) == len(old.children) == len(self.children)
        for before, after in pairs:
            is_same &= before.row == after.row
            is_same &= after.inherit(before)
        return is_same

    def walk(self) -> Iterator[Node]:
        """Give this node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Reading:
    """A stage as it was read."""

    root: Node
    census: Counter[Kind]  # how many prims of each kind the stage has, shown or not


def _pairs(old: Sequence[Node], new: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Find the same prims in two readings; another name in the same place is a renamed one."""
    before = {node.name: node for node in old}
    after = {node.name for node in new}
    if len(old) == len(new):
        renamed = {
            theirs.name: mine
            for mine, theirs in zip(old, new, strict=True)
            if mine.name not in after and theirs.name not in before
        }
        before |= renamed
    return [(before[node.name], node) for node in new if node.name in before]


def read(stage: Usd.Stage, wanted: str = "") -> Reading:
    """Read every prim of a stage, inactive ones too.

    The words wanted must all occur in a prim's name or type. Ancestors of what fits stay.
    """
    census: Counter[Kind] = Counter()
    words = wanted.lower().split()
    root = Node("", "", False)
    root.adopt(_below(stage.GetPseudoRoot(), words, census))
    return Reading(root, census)


def _below(prim: Usd.Prim, words: Sequence[str], census: Counter[Kind]) -> list[Node]:
    nodes = (_node(child, words, census) for child in prim.GetAllChildren())
    return [node for node in nodes if node.matches or node.children]


def _node(prim: Usd.Prim, words: Sequence[str], census: Counter[Kind]) -> Node:
    node = Node(prim.GetName(), str(prim.GetTypeName()), True)
    if words:
        text = f"{node.name} {node.type_name}".lower()
        node.matches = all(word in text for word in words)
    census[node.kind] += 1
    node.adopt(_below(prim, words, census))
    return node
