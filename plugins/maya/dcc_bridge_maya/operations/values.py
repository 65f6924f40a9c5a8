"""Reading, writing, connecting and keying attributes of Maya. Main thread.

Traps in Maya's reference: An attribute that only keys drive can be set, and has another value with
the next frame. `setKeyframe` on a driven attribute inserts a node that blends.
"""

from __future__ import annotations

from typing import Any, Final

from maya import cmds

from dcc_bridge.spi import (
    SCENE,
    Connections,
    Keyframes,
    Keys,
    Shape,
    SocketLink,
    Value,
    readable,
)

from . import dg
from .dg import ask
from .plug_values import is_default, numbers_of, plain, raw, type_of_plug, write
from .scene_settings import read_setting, write_setting

# The in and out tangents of a key. A step is only possible as an out tangent.
_TANGENTS: Final = {"linear": ("linear", "linear"), "smooth": ("auto", "auto")}
_STEP: Final = ("clamped", "step")
_MAX_KEYS: Final = 100  # of each property, for the verb `inspect`


class _Values(Connections, Keyframes):
    """The operations on values, connections and keys."""

    def value(self, item: str, prop: str) -> Value:
        """Return the value of an attribute, or of a setting of the scene.

        Raises:
            LookupError: There is no such node, attribute or setting.
            ValueError: The attribute has no value.
        """
        if item == SCENE:
            return Value(read_setting(prop))
        plug = dg.plug(item, prop)
        value = raw(plug)
        lock = dg.lock_reason(plug)
        at_default = not lock and is_default(plug, value)
        return Value(plain(plug, value), type_of_plug(plug), lock, is_default=at_default)

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write an attribute, or a setting of the scene.

        Args:
            item: The node, or `SCENE`.
            prop: The attribute or setting.
            value: The value in the types of JSON, angles in degrees.
            replace: Whether to remove locks, keys and connections of the attribute.

        Raises:
            LookupError: There is no such node, attribute or setting.
            ValueError: The attribute is locked, or does not take the value.
        """
        with dg.restored_selection():
            if item == SCENE:
                write_setting(prop, value)
                return
            plug = dg.plug(item, prop)
            if replace:
                dg.release(plug)
            dg.check_free(plug)
            write(plug, value)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return an item's inputs and outputs, those of its most specific type first."""
        inputs: list[str] = []
        outputs: list[str] = []
        for owner in dg.attribute_nodes(dg.node(item)):
            inputs += _sockets(owner, write=True)
            outputs += _sockets(owner, read=True)
        return inputs, outputs

    def connect(self, link: SocketLink) -> None:
        """Connect an output to an input, replacing the input's connection.

        Raises:
            LookupError: There is no such node or attribute.
            ValueError: The input is locked, or does not take the output.
        """
        output = dg.plug(link.source, link.out)
        target = dg.plug(link.target, link.into)
        locked = ask.connectionInfo(target, getLockedAncestor=True)
        if locked:
            raise ValueError(f"{locked} is locked, so nothing can be connected to it.")
        with dg.restored_selection():
            if not ask.isConnected(output, target, ignoreUnitConversion=True):
                cmds.connectAttr(output, target, force=True)

    def cut(self, link: SocketLink) -> None:
        """Remove the connections into an attribute: from one output, or all without a source.

        Raises:
            LookupError: There is no such node or attribute.
            ValueError: There is no such connection.
        """
        target = dg.plug(link.target, link.into)
        output = dg.plug(link.source, link.out) if link.source else ""
        flags = {"destination": False, "plugs": True, "connections": True}
        names = ask.listConnections(target, **flags) or []
        connections = []
        for into, origin in zip(names[::2], names[1::2], strict=True):
            if not output or _is_same_plug(output, dg.source(into)):
                connections.append((into, origin))
        if not connections:
            from_output = f" from {output}" if output else ""
            raise ValueError(f"Nothing{from_output} leads into {target}.")
        with dg.restored_selection():
            for into, origin in connections:
                cmds.disconnectAttr(origin, into)

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        """Return the keys of an attribute; for a compound, only frames where all parts have a key.

        Returns:
            The frame and the value of each key, angles in degrees.
        """
        columns = [keys_of_plug(part) for part in dg.parts(dg.plug(item, prop))]
        if len(columns) == 1:
            return list(columns[0].items())
        keys = list[tuple[float, Any]]()
        for frame in columns[0]:
            if all(frame in column for column in columns):
                values = [column[frame] for column in columns]
                keys.append((frame, values))
        return keys

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Set keys of an attribute.

        Args:
            item: The node.
            prop: The attribute.
            keys: The frame and the value of each key, angles in degrees.
            shape: "linear", "smooth" or "step".
            clear: Whether to remove the present keys first.

        Raises:
            LookupError: There is no such node or attribute.
            ValueError: The attribute is locked or driven, or does not take a value.
        """
        plug = dg.plug(item, prop)
        parts = dg.parts(plug)
        if dg.lock_reason(plug) != "keyed":
            dg.check_free(plug, "keyed")
        with dg.restored_selection():
            if clear:
                for part in parts:
                    dg.cut_keys(part)
            for frame, value in keys:
                for part, number in zip(parts, numbers_of(plug, value), strict=True):
                    _set_key(part, frame, number, _TANGENTS.get(shape, _STEP))

    # ---- for look_into

    def _inputs(self, path: str) -> list[SocketLink]:
        """Return the connections into an item's attributes."""
        names: list[str] = []
        for owner in dg.attribute_nodes(path):
            names += dg.links(owner, destination=False, plugs=True, connections=True)
        connections = []
        for target, source in zip(names[::2], names[1::2], strict=True):  # a plug and its source
            output = source.partition(".")[2]
            into = target.partition(".")[2]
            connections.append(SocketLink(_item_of(source), output, _item_of(target), into))
        return connections

    def _keys(self, path: str) -> dict[str, list[list[Any]]]:
        """Return the first keys of each keyed attribute of a node."""
        plugs: list[str] = []
        for curve in ask.keyframe(path, query=True, name=True) or []:
            plugs += dg.links(curve, source=False, plugs=True)
        keys_by_name: dict[str, list[list[Any]]] = {}
        for plug in plugs:
            owner, _, prop = plug.partition(".")
            name = prop
            compounds = dg.about(plug, listParent=True)
            if compounds and set(dg.parts(f"{owner}.{compounds[0]}")) <= set(plugs):
                name = compounds[0]  # all parts of the compound are keyed
            keys = self.keys(owner, name)[:_MAX_KEYS]
            keys_by_name[name] = [[*key] for key in keys]
        return keys_by_name

    def _values(self, path: str) -> dict[str, Value]:
        """Return the values that the Channel Box shows, and the values that name files."""
        values: dict[str, Value] = {}
        for owner in dg.attribute_nodes(path):
            names: list[str] = []
            for flag in ("keyable", "channelBox", "usedAsFilename"):
                names += ask.listAttr(owner, **{flag: True}) or []
            for name in names:
                value = None
                if "." not in name:
                    value = readable(name, self._value_if_any, owner, name)
                if value is not None:
                    values.setdefault(name, value)
        return values

    def _value_if_any(self, owner: str, name: str) -> Value | None:
        """Return the value of an attribute; None for an array without an element."""
        try:
            return self.value(owner, name)
        except (ValueError, LookupError) as error:
            if isinstance(error, UnicodeError):
                raise
            return None


def _sockets(node: str, **way: bool) -> list[str]:
    """Return the attributes of a node that can be connected in one way, `read` or `write`."""
    names = ask.listAttr(node, connectable=True, **way) or []
    sockets = []
    for name in reversed(names):  # Maya lists the attributes of a type after those of its bases
        sockets += _elements(node, name)
    return sockets


def _elements(node: str, name: str) -> list[str]:
    """Return an attribute, or for an array its elements and the next free element."""
    if not cmds.attributeQuery(name, node=node, multi=True):
        return [name]
    numbers = ask.getAttr(f"{node}.{name}", multiIndices=True) or []
    following = max(numbers, default=-1) + 1
    return [f"{name}[{number}]" for number in [*numbers, following]]


def _item_of(plug: str) -> str:
    """Return the item with a plug's attribute: for a shape's attribute the shape's transform."""
    name, _, prop = plug.partition(".")
    path = dg.long_path(name)
    if not ask.ls(path, shapes=True):
        return path
    transform = dg.parent_of(path)
    if transform and dg.plug(transform, prop) == f"{path}.{prop}":
        return transform
    return path


def _is_same_plug(plug: str, other: str) -> bool:
    """Return whether two names mean the same plug: commands return short names."""
    name, _, prop = plug.partition(".")
    other_name, _, other_prop = other.partition(".")
    if prop != other_prop:
        return False
    return dg.long_path(name) == dg.long_path(other_name)


def keys_of_plug(plug: str) -> dict[float, Any]:
    """Return the values of a simple plug's keys, by their frames."""
    times = ask.keyframe(plug, query=True, timeChange=True) or []
    values = ask.keyframe(plug, query=True, valueChange=True) or []
    factor = dg.unit(plug)
    return {float(time): value * factor for time, value in zip(times, values, strict=True)}


def _set_key(plug: str, frame: float, value: Any, tangents: tuple[str, str]) -> None:
    path, _, prop = plug.partition(".")
    count = ask.setKeyframe(
        path,
        attribute=prop,
        time=frame,
        value=value / dg.unit(plug),
        inTangentType=tangents[0],
        outTangentType=tangents[1],
    )
    if not count:
        raise ValueError(f"{plug} cannot be keyed: Maya set no key at frame {frame:g}.")
