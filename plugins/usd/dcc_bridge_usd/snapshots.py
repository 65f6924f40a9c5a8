"""Snapshots: the state of prims and properties at one moment. Main thread.

A fact is a text about one prim or property that goes into the fingerprint: type, whether a prim is
active and defined, and which of its specs are locked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from pxr import Sdf, Usd

from .prims import READING, branch, is_path, is_plain, tracked
from .variants import kind_of, prims_in, specs_of

_GONE: Final = "gone"
# Functions of the class cost a quarter of the methods of a prim: USD checks at each use of a method
# that the prim is there.
_path = Usd.Prim.GetPath
_type = Usd.Prim.GetTypeName
_children = Usd.Prim.GetAllChildren
_is_active = Usd.Prim.IsActive
_is_defined = Usd.Prim.IsDefined
_has = Usd.Prim.HasAuthoredMetadata


class Snapshot(NamedTuple):
    """The state of some items at one moment.

    Attributes:
        fingerprint: Digest of the items and of all prims below them, without their values. The
            order of the items does not count.
        kinds: The type of each item; "gone" for an item that is no prim, and no part of one.
        below: The prims below the items that are not items themselves.
    """

    fingerprint: str
    kinds: list[str]
    below: list[str]


def take_snapshot(
    stage: Usd.Stage, items: Sequence[str], locked: Collection[Sdf.Layer] = ()
) -> Snapshot:
    """Return the snapshot of prims, their parts or properties, and of the prims below them.

    The items are visited in the order of their paths. An item below the one before it comes right
    after it, so `top` tells that the prims below it have been visited. That is not so below
    instances: their prims are visited for each item.

    Args:
        stage: The scene. The fingerprint has the identifier of its file: the same path stands for
            another prim in another scene.
        items: Paths of prims, of variants or of properties.
        locked: The layers that nobody may edit.
    """
    digest = sha256()
    digest.update(stage.GetRootLayer().identifier.encode())
    kinds: dict[str, str] = {}
    below: list[str] = []
    top = "none"  # the path of the last item whose prims below were visited, with a slash
    for item in tracked(sorted(dict.fromkeys(tracked(items, READING))), READING):
        thing = stage.GetPrimAtPath(item) if is_plain(item) else _object_at(stage, item)
        kind = _GONE
        fact = _GONE
        if isinstance(thing, Usd.Prim) and thing:
            kind = _type(thing)
            fact = f"{_prim_fact(thing, kind)} {_locks(thing, locked)}"
            was_seen = item.startswith(top) and not thing.IsInstanceProxy()
            if _children(thing) and not was_seen:
                top = f"{item.rstrip('/')}/"
                for prim in tracked(list(branch(thing))[1:], READING):
                    path = str(_path(prim))
                    digest.update(f"{path} {_prim_fact(prim, _type(prim))}\n".encode())
                    below.append(path)
        elif thing:
            fact = f"{_property_fact(thing)} {_locks(thing.GetPrim(), locked)}"
        elif kind_of(stage, item):
            kind = kind_of(stage, item)
            inside = prims_in(stage, Sdf.Path(item))
            fact = f"{kind} {inside} {_locked_specs(stage, item, locked)}"
            below += inside
        kinds[item] = kind
        digest.update(f"{item!r} {fact}\n".encode())
    kinds_in_order = [kinds[item] for item in tracked(items, READING)]
    beside = [path for path in below if path not in kinds]
    return Snapshot(digest.hexdigest(), kinds_in_order, beside)


def _locked_specs(stage: Usd.Stage, item: str, locked: Collection[Sdf.Layer]) -> list[int]:
    """List which specs of a variant set or a variant are in locked layers, by their index."""
    specs = specs_of(stage, Sdf.Path(item))
    return [index for index, spec in enumerate(specs) if spec.layer in locked]


def _object_at(stage: Usd.Stage, item: str) -> Any:
    """Return the prim or property at a path that is not a plain prim path; None for no path."""
    if not is_path(item):
        return None
    path = Sdf.Path(item)
    if not path.IsAbsolutePath():
        return None
    return stage.GetObjectAtPath(path)


def _prim_fact(prim: Usd.Prim, kind: str) -> str:
    """Return the fact of a prim of some type."""
    return f"{kind!r} {_is_active(prim)} {_is_defined(prim)}"


def _property_fact(prop: Any) -> str:
    """Return the fact of an attribute, or of a relationship."""
    if isinstance(prop, Usd.Attribute):
        return f"{prop.GetTypeName()} {prop.GetVariability()}"
    return "a relationship"


def _locks(prim: Usd.Prim, locked: Collection[Sdf.Layer]) -> list[object]:
    """List the locked specs of a prim, each with its index in the prim's stack and the reason.

    A spec is locked if its layer is, or if its permission forbids edits.
    """
    if not locked and not _has(prim, "permission"):
        return []
    states = []
    for index, spec in enumerate(prim.GetPrimStack()):
        is_locked = spec.layer in locked
        if is_locked or spec.permission != Sdf.PermissionPublic:
            states.append((index, (is_locked, spec.permission)))
    return list(states)
