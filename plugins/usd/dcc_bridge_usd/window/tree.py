"""The rows of the outliner: one small record for each prim, or for those that a filter leaves.

No Qt in here. Main thread, like everything that reads the stage.
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


# The first schema that fits counts: a mesh light is a light.
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
    """Return the kind of prims with a type name; a prim without a type is a group."""
    if not type_name:
        return Kind.GROUP
    prim_type = Usd.SchemaRegistry.GetTypeFromName(type_name)
    for schema, kind in _SCHEMAS:
        if prim_type.IsA(Tf.Type.Find(schema)):
            return kind
    return Kind.OTHER


_ids = count(1)


@dataclass(slots=True, eq=False)
class Node:
    """A prim in the tree.

    Attributes:
        name: The name of the prim.
        type_name: The name of its type.
        matches: Whether the filter means this prim, not only a prim below it.
        children: The nodes below.
        parent: The node above; None for the root.
        row: The place among the children of the parent.
        id: What Qt knows the prim by; no two prims have the same.
    """

    name: str
    type_name: str
    matches: bool
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    row: int = 0
    id: int = field(default_factory=_ids.__next__)

    @property
    def path(self) -> str:
        """The path of the prim; "" for the root."""
        if self.parent is None:
            return ""
        return f"{self.parent.path}/{self.name}"

    @property
    def kind(self) -> Kind:
        """The kind of the prim."""
        return kind_of(self.type_name)

    def adopt(self, children: Sequence[Node]) -> None:
        """Make nodes the children of this node."""
        self.children = list(children)
        for row, child in enumerate(self.children):
            child.parent = self
            child.row = row

    def inherit(self, old: Node) -> bool:
        """Take over the ids of an older reading, for this prim and those below that remain.

        Args:
            old: The same prim in the older reading.

        Returns:
            Whether the same prims are in the same rows.
        """
        self.id = old.id
        pairs = _pairs(old.children, self.children)
        is_same = len(pairs) == len(old.children) == len(self.children)
        for before, after in pairs:
            is_same &= before.row == after.row
            is_same &= after.inherit(before)
        return is_same

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Reading:
    """A stage as it was read.

    Attributes:
        root: The root of the nodes that are shown.
        census: How many prims of each kind the stage has, shown or not.
    """

    root: Node
    census: Counter[Kind]


def _pairs(old: Sequence[Node], new: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Pair the same prims of two readings; another name in the same place is a new name."""
    by_name = {node.name: node for node in old}
    if len(old) == len(new):
        old_names = {node.name for node in old}
        new_names = {node.name for node in new}
        for before, after in zip(old, new, strict=True):
            if before.name not in new_names and after.name not in old_names:
                by_name[after.name] = before
    return [(by_name[node.name], node) for node in new if node.name in by_name]


def read(stage: Usd.Stage, wanted: str = "") -> Reading:
    """Read every prim of a stage, inactive prims too.

    Args:
        stage: The stage.
        wanted: Words that must all occur in a prim's name or type. Prims above a match stay.
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
