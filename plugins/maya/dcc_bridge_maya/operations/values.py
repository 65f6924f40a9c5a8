"""Attributes of Maya: read, written, connected and keyed; and what is the scene's own. Main thread.

Traps of the reference: `getAttr` gives a compound as a list of one tuple, and an angle in the unit
of the interface; an attribute that only keys drive can be set, and is another one with the next
frame; `setKeyframe` on what is driven inserts a node that blends; `currentUnit` moves all keys
unless it is told not to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from maya import cmds

from dcc_bridge.spi import SCENE, Connections, Keyframes, Keys, Shape, SocketLink, Value

from . import dg
from .dg import ask

_FPS: Final = {"game": 15.0, "film": 24.0, "pal": 25.0, "ntsc": 30.0} | {
    "show": 48.0,
    "palf": 50.0,
    "ntscf": 60.0,
}
# A step is a way out of a key, and none into it.
_TANGENTS: Final = {"linear": ("linear", "linear"), "smooth": ("auto", "auto")}
_STEP: Final = ("clamped", "step")
_SETTINGS: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
_RANGE: Final = ("animationStartTime", "animationEndTime")


class _Values(Connections, Keyframes):
    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            return Value(_setting(prop))
        plug = dg.plug(item, prop)
        return Value(read(plug), _type(plug), dg.held(plug))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        with dg.kept():
            if item == SCENE:
                _put_setting(prop, value)
                return
            plug = dg.plug(item, prop)
            if replace:
                dg.let_go(plug)
            dg.free(plug)
            write(plug, value)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        sides: tuple[list[str], list[str]] = [], []
        for place in dg.places(dg.node(item)):
            for side, way in zip(sides, ("write", "read"), strict=True):
                names = ask.listAttr(place, connectable=True, **{way: True}) or []
                # What a type adds to what it derives from comes last in Maya, and first here.
                side += [socket for name in reversed(names) for socket in _elements(place, name)]
        return sides

    def connect(self, link: SocketLink) -> None:
        out, into = dg.plug(link.source, link.out), dg.plug(link.target, link.into)
        if locked := ask.connectionInfo(into, getLockedAncestor=True):
            raise ValueError(f"{locked} is locked, so nothing can be connected to it.")
        with dg.kept():
            if not ask.isConnected(out, into, ignoreUnitConversion=True):
                cmds.connectAttr(out, into, force=True)

    def cut(self, link: SocketLink) -> None:
        into = dg.plug(link.target, link.into)
        out = dg.plug(link.source, link.out) if link.source else ""
        names = ask.listConnections(into, destination=False, plugs=True, connections=True) or []
        ends = list(zip(names[::2], names[1::2], strict=True))
        ends = [(to, origin) for to, origin in ends if not out or _same(out, dg.source(to))]
        if not ends:
            raise ValueError(f"Nothing{f' from {out}' if out else ''} leads into {into}.")
        with dg.kept():
            for to, origin in ends:
                cmds.disconnectAttr(origin, to)

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        columns = [_column(part) for part in dg.parts(dg.plug(item, prop))]
        if len(columns) == 1:
            return list(columns[0].items())
        times = [time for time in columns[0] if all(time in column for column in columns)]
        return [(time, [column[time] for column in columns]) for time in times]

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        plug = dg.plug(item, prop)
        parts = dg.parts(plug)
        if dg.held(plug) != "keyed":
            dg.free(plug, "keyed")
        with dg.kept():
            for part in parts if clear else ():
                dg.cut_keys(part)
            for frame, value in keys:
                for part, number in zip(parts, _numbers(plug, value), strict=True):
                    _set_key(part, frame, number, _TANGENTS.get(shape, _STEP))

    # ---- for look_into

    def _inputs(self, path: str) -> list[SocketLink]:
        flags = {"destination": False, "plugs": True, "connections": True}
        names = [name for place in dg.places(path) for name in dg.links(place, **flags)]
        ends = [name.partition(".") for name in names]
        pairs = zip(ends[1::2], ends[::2], strict=True)
        return [SocketLink(_owner(*a), a[2], _owner(*b), b[2]) for a, b in pairs]

    def _keys(self, path: str) -> dict[str, list[list[Any]]]:
        curves = ask.keyframe(path, query=True, name=True) or []
        plugs = [plug for one in curves for plug in dg.links(one, source=False, plugs=True)]
        keyed: dict[str, list[list[Any]]] = {}
        for owner, _, prop in (plug.partition(".") for plug in plugs):
            whole = (dg.about(f"{owner}.{prop}", listParent=True) or [prop])[0]
            if not set(dg.parts(f"{owner}.{whole}")) <= set(plugs):
                whole = prop  # only some parts of it are keyed
            keyed[whole] = [[*key] for key in self.keys(owner, whole)[:100]]
        return keyed

    def _values(self, path: str) -> dict[str, Value]:
        """Read what the Channel Box shows, and what names files."""
        values: dict[str, Value] = {}
        for place in dg.places(path):
            lists = [
                ask.listAttr(place, **{which: True}) or []
                for which in ("keyable", "channelBox", "usedAsFilename")
            ]
            for name in (name for names in lists for name in names if "." not in name):
                try:
                    values.setdefault(name, self.value(place, name))
                except (ValueError, LookupError):  # of an array that has no element
                    continue
        return values


def read(plug: str) -> Any:
    """Read a plug as JSON carries it: angles in degrees, an enumeration by its label."""
    try:
        value = ask.getAttr(plug)
    except RuntimeError as error:
        raise ValueError(f"{plug} has no value: {str(error).strip()}") from error
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | tuple):
        value = list(value[0])
    if labels := _labels(plug):
        return next((label for label, number in labels.items() if number == value), value)
    if (factor := dg.unit(plug)) != 1.0:
        return [n * factor for n in value] if isinstance(value, list) else value * factor
    return value


def write(plug: str, value: Any) -> None:
    """Write a plug; ValueError says what it takes."""
    labels = _labels(plug)
    if labels and isinstance(value, str):
        if value not in labels:
            raise ValueError(f"{plug} takes {_type(plug)}.{dg.near(value, labels)}")
        value = labels[value]
    try:
        if isinstance(value, str):
            cmds.setAttr(plug, value, type="string")
        else:
            cmds.setAttr(plug, *(number / dg.unit(plug) for number in _numbers(plug, value)))
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{plug} takes {_type(plug)}, not {value!r}: {error}") from error


def _numbers(plug: str, value: Any) -> list[Any]:
    numbers = list(value) if isinstance(value, list | tuple) else [value]
    if len(numbers) != len(dg.parts(plug)):
        raise ValueError(f"{plug} takes {len(dg.parts(plug))} numbers, not {value!r}.")
    return numbers


def _labels(plug: str) -> dict[str, int]:
    """Return an enumeration's labels with their numbers: "a:b=4:c" counts on from each number."""
    labels: dict[str, int] = {}
    is_enum = dg.about(plug, attributeType=True) == "enum"
    for entry in dg.about(plug, listEnum=True)[0].split(":") if is_enum else ():
        label, _, number = entry.partition("=")
        labels[label] = int(number) if number else max(labels.values(), default=-1) + 1
    return labels


def _type(plug: str) -> str:
    """Name a plug's type, with its labels or its range."""
    if labels := _labels(plug):
        return f"enum: {', '.join(labels)}"
    ends = [
        f"{dg.about(plug, **{end: True})[0]:g}" if dg.about(plug, **{is_there: True}) else ""
        for end, is_there in (("minimum", "minExists"), ("maximum", "maxExists"))
    ]
    name = str(ask.getAttr(plug, type=True) or dg.about(plug, attributeType=True))
    return f"{name} {ends[0]}..{ends[1]}" if any(ends) else name


def _elements(place: str, name: str) -> list[str]:
    """Return an attribute, or of an array the elements that there are and the next one."""
    if not cmds.attributeQuery(name, node=place, multi=True):
        return [name]
    numbers = ask.getAttr(f"{place}.{name}", multiIndices=True) or []
    return [f"{name}[{number}]" for number in [*numbers, max(numbers, default=-1) + 1]]


def _owner(name: str, _: str, prop: str) -> str:
    """Return the item by which a node's attribute is found: of a shape its transform."""
    path = dg.long(name)
    top = dg.above(path) if ask.ls(path, shapes=True) else None
    return top if top and dg.plug(top, prop) == f"{path}.{prop}" else path


def _same(plug: str, other: str) -> bool:
    """Return whether two names mean one plug: a command gives the short one."""
    ends = [(dg.long(name), prop) for name, _, prop in (plug.partition("."), other.partition("."))]
    return ends[0] == ends[1]


def _column(plug: str) -> dict[float, Any]:
    """Return the keys of one plug: their values by their frames."""
    times = ask.keyframe(plug, query=True, timeChange=True) or []
    values = ask.keyframe(plug, query=True, valueChange=True) or []
    factor = dg.unit(plug)
    return {float(time): value * factor for time, value in zip(times, values, strict=True)}


def _set_key(plug: str, frame: float, value: Any, tangents: tuple[str, str]) -> None:
    path, _, prop = plug.partition(".")
    into, out = tangents
    ways = {"inTangentType": into, "outTangentType": out}
    if not ask.setKeyframe(path, attribute=prop, time=frame, value=value / dg.unit(plug), **ways):
        raise ValueError(f"{plug} cannot be keyed: Maya set no key at frame {frame:g}.")


# ---- the scene's own


def _setting(prop: str) -> Any:
    if prop in ("start", "end"):
        return ask.playbackOptions(
            query=True, **{"minTime" if prop == "start" else "maxTime": True}
        )
    if prop == "frame":
        return ask.currentTime(query=True)
    if prop == "fps":
        unit = str(cmds.currentUnit(query=True, time=True))
        return _FPS.get(unit) or float(unit.removesuffix("fps"))
    if prop == "camera":
        return next((path for path, is_on in _cameras() if is_on), None)
    if prop == "size":
        return [ask.getAttr(f"defaultResolution.{way}") for way in ("width", "height")]
    if prop == "units":
        return cmds.currentUnit(query=True, linear=True)
    raise LookupError(f"The scene has no {prop!r}; it has {', '.join(_SETTINGS)}.")


def _put_setting(prop: str, value: Any) -> None:
    _setting(prop)  # LookupError
    writers: dict[str, Callable[[Any], object]] = {
        "frame": lambda frame: ask.currentTime(float(frame)),
        "start": lambda frame: _put_range(frame, max(frame, _setting("end"))),
        "end": lambda frame: _put_range(min(frame, _setting("start")), frame),
        "fps": _put_fps,
        "units": lambda unit: cmds.currentUnit(linear=str(unit)),
        "size": _put_size,
        "camera": _put_camera,
    }
    writers[prop](value)


def _put_range(start: float, end: float) -> None:
    first, last = (ask.playbackOptions(query=True, **{n: True}) for n in _RANGE)
    ends = dict(zip(_RANGE, (min(first, start), max(last, end)), strict=True))
    cmds.playbackOptions(minTime=float(start), maxTime=float(end), **ends)


def _put_fps(rate: float) -> None:
    names = {number: name for name, number in _FPS.items()}
    # Without the flag it moves every key, so that it stays at its second.
    cmds.currentUnit(time=names.get(rate, f"{rate:g}fps"), updateAnimation=False)


def _put_size(size: Sequence[int]) -> None:
    width, height = size
    # Without the ratio pictures are squeezed.
    ratio = width / height * ask.getAttr("defaultResolution.pixelAspect")
    for name, number in (("width", width), ("height", height), ("deviceAspectRatio", ratio)):
        write(f"defaultResolution.{name}", number)


def _put_camera(item: str) -> None:
    cameras, wanted = dict(_cameras()), dg.node(item)
    if wanted not in cameras:
        raise ValueError(f"{wanted} is no camera.")
    for path, is_on in cameras.items():
        if is_on != (path == wanted):
            write(dg.plug(path, "renderable"), path == wanted)


def _cameras() -> list[tuple[str, bool]]:
    """List the cameras' transforms, and whether each is rendered through."""
    every = ask.ls(cameras=True, long=True) or []
    return [(path.rpartition("|")[0], bool(ask.getAttr(f"{path}.renderable"))) for path in every]
