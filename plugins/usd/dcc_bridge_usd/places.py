"""The places where two layers differ, and how one comes to hold there what the other does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pxr import Sdf

from .prims import child_names, drop_children

_FEW: Final = 8  # of as many siblings one is put in its place without them
_ASIDE: Final = "/dcc_bridge_undo_"  # where a prim is for a moment that gets another place


class Places(NamedTuple):
    """The places where two layers differ.

    Attributes:
        properties: Properties of prims that are in both.
        branches: The names of children that differ, or what is below them, by their parent. A
            parent whose children only stand in another order has none.
        frames: The `FRAMES` of the layer itself.
    """

    properties: set[Sdf.Path]
    branches: dict[Sdf.Path, set[str]]
    frames: frozenset[str]

    def roots(self) -> frozenset[Sdf.Path]:
        """Return the paths of the branches."""
        every = self.branches.items()
        return frozenset(above.AppendChild(name) for above, names in every for name in names)


def put(
    source: Sdf.Layer, target: Sdf.Layer, places: Places, orders: Mapping[Sdf.Path, list[str]]
) -> None:
    """Have one layer hold at some places what another one does, its children in some orders."""
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
    """Have one layer say of its frames what another one says."""
    for name in frames:
        target.pseudoRoot.ClearInfo(name)
        if source.pseudoRoot.HasInfo(name):
            target.pseudoRoot.SetInfo(name, source.pseudoRoot.GetInfo(name))


def _make_room(old: Any, new: Any) -> None:
    """Remove a property that is not of the kind of the new one: a copy would mix the two."""
    if old and type(old) is not type(new):
        # its owner may be a variant, and only the prim in that can
        old.layer.GetPrimAtPath(old.path.GetParentPath()).RemoveProperty(old)


def _copy(source: Sdf.Layer, target: Sdf.Layer, root: Sdf.Path) -> None:
    """Have a prim and all below it be what they are in another layer."""
    old = below(target, root)
    for path in filter(Sdf.Path.IsPropertyPath, old):
        _make_room(target.GetPropertyAtPath(path), source.GetPropertyAtPath(path))
    Sdf.CopySpec(source, root, target, root)
    if not old:
        return
    for path in filter(Sdf.Path.IsPrimPath, below(source, root)):
        _arrange(target, path, child_names(source, path))  # a copy does not do that


def below(layer: Sdf.Layer, root: Sdf.Path) -> list[Sdf.Path]:
    """List what a layer holds at a path and below it."""
    paths: list[Sdf.Path] = []
    if layer.GetObjectAtPath(root):
        layer.Traverse(root, paths.append)  # type: ignore[arg-type]  # gives paths
    return paths


def _arrange(layer: Sdf.Layer, parent: Sdf.Path, order: list[str]) -> None:
    """Bring the children of a prim in an order; all of them are composed anew then."""
    if child_names(layer, parent) != order:
        prim: Any = layer.GetPrimAtPath(parent)
        children = {it.name: it for it in prim.nameChildren}
        prim.nameChildren[:] = [children[name] for name in order]


def _graft(
    source: Sdf.Layer, target: Sdf.Layer, parent: Sdf.Path, names: set[str], order: list[str]
) -> None:
    """Have some children of a prim be what they are in another layer, in an order of all."""
    there = {name for name in names if target.GetPrimAtPath(parent.AppendChild(name))}
    wanted = [name for name in order if name in names]
    if gone := there.difference(wanted):
        drop_children(target.GetPrimAtPath(parent), gone)
    # The others stay: of an over that is removed and made in one block USD says nothing, and its
    # stage goes on with what was below it (a crash, measured, 26.11).
    for name in wanted:
        _copy(source, target, parent.AppendChild(name))
    new = [name for name in wanted if name not in there]
    if child_names(target, parent) == order:
        return
    if _FEW * len(new) < len(order):
        edits = Sdf.BatchNamespaceEdit()  # a child cannot be moved to a place among its siblings
        for name in new:
            edits.Add(parent.AppendChild(name), f"{_ASIDE}{name}")
        for name in new:
            edits.Add(f"{_ASIDE}{name}", parent.AppendChild(name), order.index(name))
        target.Apply(edits)
    _arrange(target, parent, order)
