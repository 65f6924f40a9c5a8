"""What there is of prims and properties at one moment. Main thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from pxr import Sdf, Usd

from .prims import READING, branch, is_path, is_plain, tracked

# Of the class, for one of a prim costs four times as much: USD looks whether the prim is there.
_path, _type, _children = Usd.Prim.GetPath, Usd.Prim.GetTypeName, Usd.Prim.GetAllChildren
_is_active, _is_defined = Usd.Prim.IsActive, Usd.Prim.IsDefined
_has = Usd.Prim.HasAuthoredMetadata


class Snapshot(NamedTuple):
    """What there is of some items at one moment."""

    fingerprint: str  # what they and all below them are, not their values; in no order
    kinds: list[str]  # the type of each, "gone" for what is no prim
    below: list[str]  # the prims that are below them and none of them


def take_snapshot(
    stage: Usd.Stage, items: Sequence[str], locked: Collection[Sdf.Layer] = ()
) -> Snapshot:
    """Look at prims or properties, and at each prim below them once.

    In another scene's file, the same path is another thing.
    """
    facts = sha256()
    kinds = dict[str, str]()
    below = list[str]()
    top = "none"
    facts.update(stage.GetRootLayer().identifier.encode())
    for item in tracked(sorted(dict.fromkeys(tracked(items, READING))), READING):
        thing = stage.GetPrimAtPath(item) if is_plain(item) else _odd(stage, item)
        kinds[item] = fact = "gone"
        if isinstance(thing, Usd.Prim) and thing:
            kinds[item] = kind = _type(thing)
            fact = f"{_fact(thing, kind)} {_locks(thing, locked)}"
            was_seen = item.startswith(top) and not thing.IsInstanceProxy()
            if _children(thing) and not was_seen:
                top = f"{item.rstrip('/')}/"
                for it in tracked(list(branch(thing))[1:], READING):
                    path = str(_path(it))
                    facts.update(f"{path} {_fact(it, _type(it))}\n".encode())
                    below.append(path)
        elif thing:
            fact = f"{_property(thing)} {_locks(thing.GetPrim(), locked)}"
        facts.update(f"{item!r} {fact}\n".encode())
    found = [*map(kinds.__getitem__, tracked(items, READING))]
    beside = [path for path in below if path not in kinds]
    return Snapshot(facts.hexdigest(), found, beside)


def _odd(stage: Usd.Stage, item: str) -> Any:
    path = Sdf.Path(item) if is_path(item) else Sdf.Path.emptyPath
    return stage.GetObjectAtPath(path) if path.IsAbsolutePath() else None


def _fact(prim: Usd.Prim, kind: str) -> str:
    return f"{kind!r} {_is_active(prim)} {_is_defined(prim)}"


def _property(it: Any) -> str:
    is_value = isinstance(it, Usd.Attribute)
    return f"{it.GetTypeName()} {it.GetVariability()}" if is_value else "a relationship"


def _locks(prim: Usd.Prim, locked: Collection[Sdf.Layer]) -> list[object]:
    """USD locks whole layers, and forbids edits of a prim by its permission."""
    if not locked and not _has(prim, "permission"):
        return []
    states = [(spec.layer in locked, spec.permission) for spec in prim.GetPrimStack()]
    return [it for it in enumerate(states) if it[1] != (False, Sdf.PermissionPublic)]
