"""The account of an undo step: what is different in the scene, with values before and now.

A `Snapshot` is taken as a step begins, and compared once the step is closed. Houdini reports no
value before it changes, so the values of the first nodes are read: of those whose parts `losses`
compares. Flags, and what is in locked assets, are not compared. All statements about Houdini come
from SideFX's reference of ``hou``; none was run in Houdini. Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import hou

from dcc_bridge.spi import SCENE, Account, path_changes, readable, value_change

from .losses import Parts, census_again, parts_of

_MAX_VALUES: Final = 20_000  # parameters of which the values are compared
_Values = dict[str, dict[str, Any]]


class _Driven(str):
    """The keys or the expression of a parameter, in place of its value."""


class Snapshot:
    """The values of a scene as a step began, as far as they are read."""

    def __init__(self, paths: Mapping[int, str], parts: Mapping[int, Parts]) -> None:
        """Read the values.

        Args:
            paths: The paths of the nodes, by session id.
            parts: The parts of the first of them.
        """
        self._paths = paths
        self._parts = parts
        self._playbar = _playbar()
        self._failing: set[int] = set()
        self._values: dict[int, _Values] = {}
        remaining = _MAX_VALUES
        for key in parts:
            values = readable(paths[key], self._begin, key, remaining > 0)
            if values is not None:
                self._values[key] = values
                remaining -= sum(map(len, values.values()))

    def _begin(self, key: int, has_room: bool) -> _Values | None:
        """Note whether a node fails, and return its values if there is room for them."""
        node = hou.nodeBySessionId(key)
        if not isinstance(node, hou.OpNode):
            return None
        if node.errors():
            self._failing.add(key)
        return _values_of(node, self._parts[key]) if has_room else None

    def account(self) -> Account:
        """Return what is different now."""
        items = path_changes(self._paths, census_again(self._paths), "/")
        changed = [*items.changed, *self._settings()]
        broken = []
        for key, before in self._parts.items():
            node = hou.nodeBySessionId(key)
            if not isinstance(node, hou.OpNode):
                continue
            path = self._paths[key]
            changed += readable(path, self._changes_of, node, key, before) or ()
            if readable(path, node.errors) and key not in self._failing:
                broken.append(node.path())
        return Account(items.created, changed, items.deleted, broken)

    def _settings(self) -> Iterator[str]:
        now = _playbar()
        for name, before in self._playbar.items():
            if now[name] != before:
                yield value_change(SCENE, name, before, now[name])

    def _changes_of(self, node: hou.OpNode, key: int, before: Parts) -> list[str]:
        """Return what changed in a node that was there before."""
        parms = node.parms() if key in self._values else ()
        now = parts_of(node, parms)
        changed: list[str] = []
        if key in self._values:
            changed += _value_changes(node.path(), self._values[key], _values_of(node, now))
        sources_before = self._sources(before)
        sources_now = self._sources(now)
        for name in {**sources_before, **sources_now}:
            old = sources_before.get(name)
            new = sources_now.get(name)
            if old != new:
                changed.append(value_change(node.path(), name, old, new))
        for name in {**before.groups, **now.groups}:
            if before.groups.get(name) != now.groups.get(name):
                changed.append(f"{node.path()}, group {name}")
        if before.is_locked != now.is_locked:
            is_locked = before.is_locked, now.is_locked
            changed.append(value_change(node.path(), "locked shape", *is_locked))
        return changed

    def _sources(self, parts: Parts) -> dict[str, str]:
        """Return the path of the source of each input: by its path before, if it had one."""
        sources = {}
        for name, key in parts.inputs:
            node = hou.nodeBySessionId(key)
            path = self._paths.get(key, "")
            sources[name] = node.path() if node is not None else path
        return sources


def _playbar() -> dict[str, float]:
    first, last = hou.playbar.frameRange()
    return {"frame": hou.frame(), "start": first, "end": last, "fps": hou.fps()}


def _values_of(node: hou.OpNode, parts: Parts) -> _Values:
    """Return the values of a node's parameters, by the names of their tuples and their own.

    No expression is evaluated: it may cook other nodes.

    Args:
        node: The node.
        parts: The parts of the node, which tell the driven parameters.
    """
    values: _Values = {}
    for parms in node.parmTuples():
        named = {}
        try:
            for parm in parms:
                named[parm.name()] = _keys_or_value(parm, parts)
        except hou.Error:  # a parameter without a value
            continue
        if all(isinstance(value, int | float | str) for value in named.values()):
            values[parms.name()] = named
    return values


def _keys_or_value(parm: hou.Parm, parts: Parts) -> Any:
    count = parts.keys.get(parm.name())
    if count is None:
        return parm.eval()
    if count == 0:
        return _Driven(f"expression {parm.expression()}")
    frames = [key.frame() for key in parm.keyframes()]
    return _Driven("keys " + ", ".join(f"{it:g}: {_short(parm.evalAtFrame(it))}" for it in frames))


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value_changes(path: str, before: _Values, now: _Values) -> Iterator[str]:
    """Yield the values that differ: of a tuple all of it, unless one differs or some are driven."""
    for name in {**before, **now}:
        old = before.get(name, {})
        new = now.get(name, {})
        differing = [parm for parm in {**old, **new} if old.get(parm) != new.get(parm)]
        is_driven = any(isinstance(value, _Driven) for value in (*old.values(), *new.values()))
        if len(differing) > 1 and not is_driven:
            yield value_change(path, name, [*old.values()] or None, [*new.values()] or None)
            continue
        for parm in differing:
            yield value_change(path, parm, old.get(parm), new.get(parm))
