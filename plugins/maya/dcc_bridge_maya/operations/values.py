"""Reading, writing, connecting and keying attributes, and the scene's own settings. Main thread.

Traps in Maya's reference: `getAttr` returns a compound as a list of one tuple, and an angle in the
unit of the interface. An attribute that only keys drive can be set, and has another value with the
next frame. `setKeyframe` on a driven attribute inserts a node that blends. `currentUnit` moves all
keys unless a flag says not to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from maya import cmds

from dcc_bridge.spi import SCENE, Connections, Keyframes, Keys, Shape, SocketLink, Value

from . import dg
from .dg import ask

_FPS: Final = {
    "game": 15.0,
    "film": 24.0,
    "pal": 25.0,
    "ntsc": 30.0,
    "show": 48.0,
    "palf": 50.0,
    "ntscf": 60.0,
}
"""Maya's names of units of time, with their frames per second."""
# The tangents into a key and out of it. A step is a way out of a key, and none into it.
_TANGENTS: Final = {"linear": ("linear", "linear"), "smooth": ("auto", "auto")}
_STEP: Final = ("clamped", "step")
_SETTINGS: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
_RANGE_FLAGS: Final = {"start": "minTime", "end": "maxTime"}
_MAX_KEYS: Final = 100  # of each property, when an agent looks into an item


class _Values(Connections, Keyframes):
    """The operations on values, connections and keys."""

    def value(self, item: str, prop: str) -> Value:
        """Return the value of an attribute, or of a setting of the scene.

        Raises:
            LookupError: There is no such node, attribute or setting.
            ValueError: The attribute has no value.
        """
        if item == SCENE:
            return Value(_setting(prop))
        plug = dg.plug(item, prop)
        return Value(read(plug), _type(plug), dg.lock_reason(plug))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write an attribute, or a setting of the scene.

        Args:
            item: The node, or `SCENE`.
            prop: The attribute or setting.
            value: The value as JSON carries it, angles in degrees.
            replace: Whether to remove locks, keys and connections of the attribute.

        Raises:
            LookupError: There is no such node, attribute or setting.
            ValueError: The attribute is locked, or does not take the value.
        """
        with dg.restored_selection():
            if item == SCENE:
                _put_setting(prop, value)
                return
            plug = dg.plug(item, prop)
            if replace:
                dg.release(plug)
            dg.check_free(plug)
            write(plug, value)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return an item's inputs and outputs, those of its most special type first."""
        inputs: list[str] = []
        outputs: list[str] = []
        for owner in dg.attribute_nodes(dg.node(item)):
            inputs += _sockets(owner, write=True)
            outputs += _sockets(owner, read=True)
        return inputs, outputs

    def connect(self, link: SocketLink) -> None:
        """Connect an output to an input, in place of the connection that the input has.

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
        """Remove the connections into an attribute: from one output, or without a source all.

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
        """Return the keys of an attribute; of a compound only the frames where all parts have one.

        Returns:
            The frame and the value of each key, angles in degrees.
        """
        columns = [_keys_of_plug(part) for part in dg.parts(dg.plug(item, prop))]
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
            clear: Whether to remove the keys that are there.

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
                for part, number in zip(parts, _numbers(plug, value), strict=True):
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
        """Return the values that the Channel Box shows, and those that name files."""
        values: dict[str, Value] = {}
        for owner in dg.attribute_nodes(path):
            names: list[str] = []
            for flag in ("keyable", "channelBox", "usedAsFilename"):
                names += ask.listAttr(owner, **{flag: True}) or []
            for name in names:
                if "." in name:
                    continue
                try:
                    values.setdefault(name, self.value(owner, name))
                except (ValueError, LookupError):  # of an array without an element
                    continue
        return values


def read(plug: str) -> Any:
    """Return a plug's value as JSON carries it: angles in degrees, an enumeration by its label.

    Raises:
        ValueError: The plug has no value.
    """
    try:
        value = ask.getAttr(plug)
    except RuntimeError as error:
        raise ValueError(f"{plug} has no value: {str(error).strip()}") from error
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | tuple):
        value = list(value[0])
    labels = _labels(plug)
    if labels:
        for label, number in labels.items():
            if number == value:
                return label
        return value
    factor = dg.unit(plug)
    if factor == 1.0:
        return value
    if isinstance(value, list):
        return [number * factor for number in value]
    return value * factor


def write(plug: str, value: Any) -> None:
    """Write a plug's value, as `read` returns it.

    Raises:
        ValueError: The plug does not take the value. The message says what it takes.
    """
    labels = _labels(plug)
    if labels and isinstance(value, str):
        if value not in labels:
            raise ValueError(f"{plug} takes {_type(plug)}.{dg.near(value, labels)}")
        value = labels[value]
    try:
        if isinstance(value, str):
            cmds.setAttr(plug, value, type="string")
        else:
            numbers = [number / dg.unit(plug) for number in _numbers(plug, value)]
            cmds.setAttr(plug, *numbers)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{plug} takes {_type(plug)}, not {value!r}: {error}") from error


def _numbers(plug: str, value: Any) -> list[Any]:
    """Return a value as a list with a number for each part of a plug; else ValueError."""
    numbers = list(value) if isinstance(value, list | tuple) else [value]
    count = len(dg.parts(plug))
    if len(numbers) != count:
        raise ValueError(f"{plug} takes {count} numbers, not {value!r}.")
    return numbers


def _labels(plug: str) -> dict[str, int]:
    """Return an enumeration's labels with their numbers; of any other plug none.

    In "a:b=4:c" a label without a number has the next number after the highest before it.
    """
    labels: dict[str, int] = {}
    if dg.about(plug, attributeType=True) != "enum":
        return labels
    for entry in dg.about(plug, listEnum=True)[0].split(":"):
        label, _, number = entry.partition("=")
        labels[label] = int(number) if number else max(labels.values(), default=-1) + 1
    return labels


def _type(plug: str) -> str:
    """Return a plug's type, with its labels or its range: "double 0..10"."""
    labels = _labels(plug)
    if labels:
        return f"enum: {', '.join(labels)}"
    low = ""
    high = ""
    if dg.about(plug, minExists=True):
        low = f"{dg.about(plug, minimum=True)[0]:g}"
    if dg.about(plug, maxExists=True):
        high = f"{dg.about(plug, maximum=True)[0]:g}"
    name = str(ask.getAttr(plug, type=True) or dg.about(plug, attributeType=True))
    if low or high:
        return f"{name} {low}..{high}"
    return name


def _sockets(node: str, **way: bool) -> list[str]:
    """Return the attributes of a node that can be connected in one way, `read` or `write`."""
    names = ask.listAttr(node, connectable=True, **way) or []
    sockets = []
    for name in reversed(names):  # Maya lists the attributes of a type after those of its bases
        sockets += _elements(node, name)
    return sockets


def _elements(node: str, name: str) -> list[str]:
    """Return an attribute, or of an array its elements and the next one."""
    if not cmds.attributeQuery(name, node=node, multi=True):
        return [name]
    numbers = ask.getAttr(f"{node}.{name}", multiIndices=True) or []
    following = max(numbers, default=-1) + 1
    return [f"{name}[{number}]" for number in [*numbers, following]]


def _item_of(plug: str) -> str:
    """Return the item that has a plug's attribute: of a shape's attribute its transform."""
    name, _, prop = plug.partition(".")
    path = dg.long_path(name)
    if not ask.ls(path, shapes=True):
        return path
    transform = dg.parent_of(path)
    if transform and dg.plug(transform, prop) == f"{path}.{prop}":
        return transform
    return path


def _is_same_plug(plug: str, other: str) -> bool:
    """Return whether two names mean one plug: a command returns short names."""
    name, _, prop = plug.partition(".")
    other_name, _, other_prop = other.partition(".")
    if prop != other_prop:
        return False
    return dg.long_path(name) == dg.long_path(other_name)


def _keys_of_plug(plug: str) -> dict[float, Any]:
    """Return the keys of a plug that is no compound: their values by their frames."""
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


# ---- the scene's own settings


def _setting(prop: str) -> Any:
    """Return a setting of the scene; LookupError if there is no such setting."""
    if prop in _RANGE_FLAGS:
        return ask.playbackOptions(query=True, **{_RANGE_FLAGS[prop]: True})
    if prop == "frame":
        return ask.currentTime(query=True)
    if prop == "fps":
        unit = str(cmds.currentUnit(query=True, time=True))
        if unit in _FPS:
            return _FPS[unit]
        return float(unit.removesuffix("fps"))
    if prop == "camera":
        renderable = [path for path, is_on in _cameras() if is_on]
        return renderable[0] if renderable else None
    if prop == "size":
        return [ask.getAttr(f"defaultResolution.{way}") for way in ("width", "height")]
    if prop == "units":
        return cmds.currentUnit(query=True, linear=True)
    raise LookupError(f"The scene has no {prop!r}; it has {', '.join(_SETTINGS)}.")


def _put_setting(prop: str, value: Any) -> None:
    """Write a setting of the scene; LookupError if there is no such setting."""
    _setting(prop)  # raises LookupError
    writers: dict[str, Callable[[Any], object]] = {
        "frame": _put_frame,
        "start": _put_start,
        "end": _put_end,
        "fps": _put_fps,
        "units": _put_units,
        "size": _put_size,
        "camera": _put_camera,
    }
    writers[prop](value)


def _put_frame(frame: float) -> None:
    ask.currentTime(float(frame))


def _put_start(frame: float) -> None:
    _put_range(frame, max(frame, _setting("end")))


def _put_end(frame: float) -> None:
    _put_range(min(frame, _setting("start")), frame)


def _put_range(start: float, end: float) -> None:
    """Set the range of the time slider, and extend the animation's range to hold it."""
    first = ask.playbackOptions(query=True, animationStartTime=True)
    last = ask.playbackOptions(query=True, animationEndTime=True)
    cmds.playbackOptions(
        minTime=float(start),
        maxTime=float(end),
        animationStartTime=min(first, start),
        animationEndTime=max(last, end),
    )


def _put_fps(rate: float) -> None:
    names = {number: name for name, number in _FPS.items()}
    # Without the flag Maya moves every key, so that each stays at its second.
    cmds.currentUnit(time=names.get(rate, f"{rate:g}fps"), updateAnimation=False)


def _put_units(unit: object) -> None:
    cmds.currentUnit(linear=str(unit))


def _put_size(size: Sequence[int]) -> None:
    width, height = size
    # Without the ratio pictures are squeezed.
    ratio = width / height * ask.getAttr("defaultResolution.pixelAspect")
    write("defaultResolution.width", width)
    write("defaultResolution.height", height)
    write("defaultResolution.deviceAspectRatio", ratio)


def _put_camera(item: str) -> None:
    """Render through one camera and through no other."""
    cameras = dict(_cameras())
    camera = dg.node(item)
    if camera not in cameras:
        raise ValueError(f"{camera} is no camera.")
    for path, is_on in cameras.items():
        if is_on != (path == camera):
            write(dg.plug(path, "renderable"), path == camera)


def _cameras() -> list[tuple[str, bool]]:
    """Return the cameras' transforms, and whether Maya renders through each."""
    cameras = []
    for shape in ask.ls(cameras=True, long=True) or []:
        transform = shape.rpartition("|")[0]
        is_renderable = bool(ask.getAttr(f"{shape}.renderable"))
        cameras.append((transform, is_renderable))
    return cameras
