"""The places where two layers differ, and how one comes to hold there what the other does.

Main thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pxr import Sdf

from .prims import child_names, drop_children

_SIBLINGS_A_MOVE: Final = 8  # a new child; with more, each new child is moved to its place alone
_ASIDE: Final = "/dcc_bridge_undo_"  # where a prim is for a moment that gets another place


class Places(NamedTuple):
    """The places where two layers differ.

    Attributes:
        properties: Properties of prims that are in both layers.
        branches: By the parent, the names of children that differ themselves or in what is below
            them. A parent whose children only stand in another order has no names.
        frames: The `FRAMES` of the layer itself.
    """

    properties: set[Sdf.Path]
    branches: dict[Sdf.Path, set[str]]
    frames: frozenset[str]

    def roots(self) -> frozenset[Sdf.Path]:
        """Return the paths of the branches."""
        roots = set[Sdf.Path]()
        for parent, names in self.branches.items():
            roots.update(parent.AppendChild(name) for name in names)
        return frozenset(roots)


def put(
    source: Sdf.Layer, target: Sdf.Layer, places: Places, orders: Mapping[Sdf.Path, list[str]]
) -> None:
    """Copy what a layer holds at some places to another layer.

    Args:
        source: The layer that is copied from.
        target: The layer that holds the same at these places afterwards.
        places: The places.
        orders: The order of the children of each parent in `places.branches`.
    """
    with Sdf.ChangeBlock():
        put_frames(source, target, places.frames)
        for path in places.properties:
            new = source.GetPropertyAtPath(path)
            _make_room(target.GetPropertyAtPath(path), new)
            if new:
                Sdf.CopySpec(source, path, target, path)
        for parent, names in places.branches.items():
            _graft(source, target, parent, names, orders[parent])


def put_frames(source: Sdf.Layer, target: Sdf.Layer, frames: frozenset[str]) -> None:
    """Copy fields of a layer's frame range to another layer."""
    for name in frames:
        target.pseudoRoot.ClearInfo(name)
        if source.pseudoRoot.HasInfo(name):
            target.pseudoRoot.SetInfo(name, source.pseudoRoot.GetInfo(name))


def _make_room(old: Any, new: Any) -> None:
    """Remove a property that is not of the kind of the new one: a copy would mix the two."""
    if old and type(old) is not type(new):
        # The owner may be a variant, and only the prim in a variant can remove properties.
        old.layer.GetPrimAtPath(old.path.GetParentPath()).RemoveProperty(old)


def _copy(source: Sdf.Layer, target: Sdf.Layer, root: Sdf.Path) -> None:
    """Copy a prim and all below it from one layer to another."""
    old = below(target, root)
    for path in old:
        if path.IsPropertyPath():
            _make_room(target.GetPropertyAtPath(path), source.GetPropertyAtPath(path))
    Sdf.CopySpec(source, root, target, root)
    if not old:
        return
    for path in below(source, root):
        if path.IsPrimPath():
            _arrange(target, path, child_names(source, path))  # a copy leaves the old order


def below(layer: Sdf.Layer, root: Sdf.Path) -> list[Sdf.Path]:
    """List what a layer holds at a path and below it."""
    paths: list[Sdf.Path] = []
    if layer.GetObjectAtPath(root):
        layer.Traverse(root, paths.append)  # type: ignore[arg-type]  # gives paths
    return paths


def _arrange(layer: Sdf.Layer, parent: Sdf.Path, order: list[str]) -> None:
    """Bring the children of a prim into an order; all of them are composed anew then."""
    if child_names(layer, parent) == order:
        return
    prim: Any = layer.GetPrimAtPath(parent)
    children = {child.name: child for child in prim.nameChildren}
    prim.nameChildren[:] = [children[name] for name in order]


def _graft(
    source: Sdf.Layer, target: Sdf.Layer, parent: Sdf.Path, names: set[str], order: list[str]
) -> None:
    """Copy some children of a prim from one layer to another.

    Args:
        source: The layer that is copied from.
        target: The layer that is copied to.
        parent: The path of the prim.
        names: The children that are copied, or removed where `source` has none.
        order: All children of the prim, in the order that they have afterwards.
    """
    present = {name for name in names if target.GetPrimAtPath(parent.AppendChild(name))}
    wanted = [name for name in order if name in names]
    gone = present.difference(wanted)
    if gone:
        drop_children(target.GetPrimAtPath(parent), gone)
    # The others stay: of an over that is removed and made in one block USD says nothing, and its
    # stage goes on with what was below it (a crash, measured, 26.11).
    for name in wanted:
        _copy(source, target, parent.AppendChild(name))
    new = [name for name in wanted if name not in present]
    if child_names(target, parent) == order:
        return
    if _SIBLINGS_A_MOVE * len(new) < len(order):
        edits = Sdf.BatchNamespaceEdit()  # a child cannot be moved to a place among its siblings
        for name in new:
            edits.Add(parent.AppendChild(name), f"{_ASIDE}{name}")
        for name in new:
            edits.Add(f"{_ASIDE}{name}", parent.AppendChild(name), order.index(name))
        target.Apply(edits)
    _arrange(target, parent, order)
