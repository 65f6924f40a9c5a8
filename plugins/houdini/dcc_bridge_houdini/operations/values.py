"""Parameters, keys, and the wires between nodes. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import hou

from dcc_bridge.spi import SCENE, Connections, Keyframes, Keys, Shape, SocketLink, Value, no_such

from .. import host as houdini
from ..losses import WAYS

_SHAPES: Final = {"linear": "linear()", "smooth": "bezier()", "step": "constant()"}


def record(redo: Callable[[], Any], undo: Callable[[], Any], label: str) -> None:
    """Do what Houdini does not say that it records, as an operation of our own on its stack."""
    with hou.undos.disabler():  # else one that it does record would be taken back twice
        redo()
    hou.undos.add(SimpleNamespace(redo=redo, undo=undo), label)


class Playbar(NamedTuple):
    """The properties of the scene as a whole."""

    frame: float
    start: float
    end: float
    fps: float

    @classmethod
    def now(cls) -> Playbar:
        """Read it."""
        first, last = hou.playbar.frameRange()
        return cls(hou.frame(), first, last, hou.fps())

    def restore(self) -> None:
        """Have it so again."""
        if self.fps != hou.fps():  # else the range would last as long as before, in other frames
            hou.setFps(self.fps, modify_frame_count=False, preserve_frame_start=True)
        hou.playbar.setFrameRange(self.start, self.end)
        hou.setFrame(self.frame)


class _Values(Connections, Keyframes):
    """The operations on values."""

    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            known = Playbar.now()._asdict()
            if prop not in known:
                raise LookupError(f"A scene of Houdini has no {prop!r}: it has {', '.join(known)}.")
            return Value(known[prop], "float")
        parms = parms_of(item, prop)
        why = next((text for parm in parms if (text := held(parm))), "")
        return Value(value_of(parms), parms[0].parmTemplate().type().name(), why)

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a parameter, or all of a tuple; of the scene what the playbar shows."""
        if item == SCENE:
            self.value(item, prop)
            is_number = isinstance(value, int | float) and math.isfinite(value)
            if not is_number or (prop == "fps" and value <= 0):
                raise ValueError(f"{prop} of the scene cannot be {value!r}: give a number.")
            wanted = Playbar.now()._replace(**{prop: float(value)})
            if wanted.start > wanted.end:  # of the two the other one follows, until it is set too
                wanted = wanted._replace(start=float(value), end=float(value))
            record(wanted.restore, Playbar.now().restore, f"Set {prop}")
            return
        parms = parms_of(item, prop)
        given = list(value) if isinstance(value, list | tuple) else [value]
        if len(given) != len(parms):
            raise ValueError(f"{item}, {prop}: give {len(parms)} values, and not {len(given)}.")
        for parm, new in zip(parms, given, strict=True):
            if replace:
                parm.lock(False)
                parm.deleteAllKeyframes()
            if why := held(parm):
                raise ValueError(f"{item}, {parm.name()} cannot be set: {why}.")
            _set(parm, new)

    # ---- wires

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        node = houdini.find(item)
        return list(node.inputNames()), list(node.outputNames())

    def connect(self, link: SocketLink) -> None:
        source, target = houdini.find(link.source), houdini.find(link.target)
        if source.parent() != target.parent():
            raise ValueError(f"{link.source} and {link.target} are in two networks.")
        with explained(f"{link.target}, {link.into}"):
            target.setNamedInput(link.into, source, link.out)

    def cut(self, link: SocketLink) -> None:
        target = houdini.find(link.target)
        with explained(f"{link.target}, {link.into}"):
            target.setInput(target.inputIndex(link.into), None)

    # ---- keys

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        parms = parms_of(item, prop)
        frames = sorted({key.frame() for parm in parms for key in _keyframes(parm)})
        if len(parms) == 1:
            return [(frame, parms[0].evalAtFrame(frame)) for frame in frames]
        return [(frame, [parm.evalAtFrame(frame) for parm in parms]) for frame in frames]

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        parms = parms_of(item, prop)
        for place, parm in enumerate(parms):
            if clear:
                parm.deleteAllKeyframes()
            for frame, value in keys:
                values = list(value) if isinstance(value, list | tuple) else [value]
                if len(values) != len(parms):
                    raise ValueError(f"{item}, {prop}: a key has {len(parms)} values.")
                _key(parm, frame, values[place], _SHAPES[shape])


def parms_of(item: str, prop: str) -> list[hou.Parm]:
    """Return a parameter, or those of a tuple; LookupError names what is near."""
    node = houdini.find(item)
    if (parm := node.parm(prop)) is not None:
        return [parm]
    if (parms := node.parmTuple(prop)) is not None:
        return list(parms)
    names = [parm.name() for parm in node.parms()]
    raise LookupError(f"{item} ({node.type().name()}): {no_such('parameter', prop, names)}")


def held(parm: hou.Parm) -> str:
    """Say why a plain write would be refused or lost; nothing where it would not."""
    if parm.isLocked():
        return "locked"
    try:
        text = parm.expression()
    except hou.OperationFailed:  # it has no keys, and so no expression
        return ""
    return "keyed" if text in WAYS else f"driven by the expression {text}"


def value_of(parms: Iterable[hou.Parm]) -> Any:
    """Return what parameters hold, as JSON can carry it; of one alone no list."""
    values = [parm.eval() for parm in parms]
    plain = [it if isinstance(it, int | float | str) else str(it) for it in values]
    return plain[0] if len(plain) == 1 else plain


def reason(error: hou.Error) -> str:
    """Return what Houdini says of an error."""
    return error.instanceMessage() or type(error).__name__


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise Houdini's own errors as ValueErrors that say what could not be done."""
    try:
        yield
    except hou.Error as error:
        raise ValueError(f"{what}: {reason(error)}") from error


def _keyframes(parm: hou.Parm) -> list[hou.Keyframe]:
    return [each for each in parm.keyframes() if isinstance(each, hou.Keyframe)]


def _set(parm: hou.Parm, value: Any) -> None:
    try:
        parm.set(value)
    except (hou.Error, TypeError) as error:
        why = reason(error) if isinstance(error, hou.Error) else str(error)
        form = parm.parmTemplate().type().name()
        text = f"{parm.path()} cannot be {value!r}: {why} It takes a {form}."
        raise ValueError(text) from error


def _key(parm: hou.Parm, frame: float, value: Any, expression: str) -> None:
    if not isinstance(value, int | float):
        raise ValueError(f"{parm.path()} cannot be keyed with {value!r}: give a number.")
    key = hou.Keyframe()
    key.setFrame(frame)
    key.setValue(float(value))
    key.setExpression(expression, hou.exprLanguage.Hscript)
    with explained(f"{parm.path()} cannot be keyed"):
        parm.setKeyframe(key)
