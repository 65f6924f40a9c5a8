"""The edges of shapes as items, by words that say where they are. Main thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from dcc_bridge.spi import Value

from ..document import document, edge_parts, find
from ..edges import PART, Edges, edges_of, names_in
from ..shape_edges import Edge
from ..transactions import transactions

_COMPUTED: Final = "computed with the shape of {}"


class EdgeItem(NamedTuple):
    """An edge that an item names.

    Attributes:
        obj: The object.
        edges: All edges of the object.
        edge: The edge.
    """

    obj: Any
    edges: Edges
    edge: Edge

    @property
    def name(self) -> str:
        """The words that are the edge's name."""
        return self.edges.name(self.edge.number) or ""


def edge_item(item: str) -> EdgeItem | None:
    """Return the edge that an item names; None for an item that is an object.

    Raises:
        LookupError: There is no such object, or not exactly one such edge.
        ValueError: A word says nothing of an edge.
    """
    parts = edge_parts(item)
    if parts is None:
        return None
    obj, edges = _edges(parts[0])
    return EdgeItem(obj, edges, edges.one(parts[1]))


def edges_below(under: str) -> Iterator[str] | None:
    """Yield the edges below an object, ``Pad/edge:`` or ``Pad/``, or those of which words are true.

    Returns:
        None for an item that is an object.

    Raises:
        LookupError: There is no such object, or no such edge.
        ValueError: A word says nothing of an edge.
    """
    parts = edge_parts(under)
    if parts is None:
        if not under.endswith("/") or document().getObjectsByLabel(under):
            return None
        parts = under.removesuffix("/"), ""
    _, edges = _edges(parts[0])
    found = edges.select(parts[1]) if parts[1].strip() else edges.edges
    return names_in(edges, [edge.number for edge in found])


def selected(items: Sequence[str]) -> list[tuple[Any, list[int]]]:
    """Return objects with the numbers of those of their edges that items select, each edge once.

    Raises:
        LookupError: There is no such object, or no such edge.
        ValueError: An item is no edge, or a word says nothing of one.
    """
    numbers: dict[str, dict[int, None]] = {}
    objects: dict[str, Any] = {}
    for item in items:
        parts = edge_parts(item)
        if parts is None:
            raise ValueError(f"{item!r} is no edge: name edges as Pad{PART}vertical does")
        obj, edges = _edges(parts[0])
        objects[obj.Name] = obj
        found = dict.fromkeys(edge.number for edge in edges.select(parts[1]))
        numbers.setdefault(obj.Name, {}).update(found)
    return [(obj, list(numbers[name])) for name, obj in objects.items()]


def values_of(found: EdgeItem) -> dict[str, Value]:
    """Return what tells an edge from others; none of it can be set."""
    edge = found.edge
    facts: dict[str, Any] = {"curve": edge.curve, "length": round(edge.length, 6)}
    if edge.radius:
        facts["radius"] = round(edge.radius, 6)
    facts["center" if edge.curve == "circle" else "middle"] = _rounded(edge.place)
    if any(edge.direction):
        facts["axis" if edge.radius else "direction"] = _rounded(edge.direction)
    facts["sides"] = list(edge.sides)
    if edge.faces:
        facts["between"] = list(edge.faces)
    facts["element"] = f"Edge{edge.number}"
    held = _COMPUTED.format(found.obj.Name)
    return {name: Value(value, held=held, is_fixed=True) for name, value in facts.items()}


def sized_edges(user: Any, value: Any) -> list[tuple[int, float, float]]:
    """Return the edges that a fillet or chamfer outside of bodies takes, with two sizes each.

    Args:
        user: The fillet or the chamfer, which has a Base.
        value: A list of edges, each an item, or an item with one size or two. Without a size it is
            that of the first edge now, or 1 mm. "vertical" is an edge of Base.

    Raises:
        LookupError: There is no such edge.
        ValueError: Base is empty, an edge is one of another object, or the value is no such list.
    """
    base = user.Base
    if base is None:
        raise ValueError("Base is empty: set it to an object first")
    usual = user.Edges[0][1:] if user.Edges else (1.0, 1.0)
    found: dict[int, tuple[float, float]] = {}
    for entry in value if isinstance(value, list) else [value]:
        words, sizes = _entry(entry, usual)
        item = words if PART in words else f"{base.Name}{PART}{words}"
        ((obj, numbers),) = selected([item])
        if obj != base:
            raise ValueError(f"{item} is no edge of its Base, {base.Name}")
        found.update(dict.fromkeys(numbers, sizes))
    return [(number, *sizes) for number, sizes in found.items()]


def _entry(entry: Any, usual: tuple[float, float]) -> tuple[str, tuple[float, float]]:
    """Return the words and the two sizes of an entry."""
    match entry:
        case str():
            return entry, usual
        case [str() as words]:
            return words, usual
        case [str() as words, size] if _is_size(size):
            return words, (float(size), float(size))
        case [str() as words, first, second] if _is_size(first) and _is_size(second):
            return words, (float(first), float(second))
    raise ValueError(f'{entry!r} is not like ["vertical", 2], an edge with its size above 0')


def _is_size(value: Any) -> bool:
    """Return whether a value is a number above 0, which true is not."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf


def _edges(owner: str) -> tuple[Any, Edges]:
    """Return an object by name or label, and the edges of its shape as it is after all edits."""
    obj = find(owner)
    transactions().compute()
    return obj, edges_of(obj)


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(each, 6) + 0.0 for each in numbers]
