"""Reading, writing and keying parameters, and wires between nodes. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import hou

from dcc_bridge.spi import SCENE, Connections, Keyframes, Keys, Shape, SocketLink, Value, no_such

from .. import host as houdini
from ..losses import INTERPOLATIONS

_SHAPES: Final = {"linear": "linear()", "smooth": "bezier()", "step": "constant()"}


def record(redo: Callable[[], Any], undo: Callable[[], Any], label: str) -> None:
    """Make an edit with its own entry on Houdini's undo stack.

    For edits that Houdini, by its reference, may not record.

    Args:
        redo: Makes the edit.
        undo: Reverses the edit.
        label: The name of the operation.
    """
    with hou.undos.disabler():  # else an edit that Houdini does record would be undone twice
        redo()
    hou.undos.add(SimpleNamespace(redo=redo, undo=undo), label)


class Playbar(NamedTuple):
    """The settings of the whole scene, which the playbar shows.

    Attributes:
        frame: The current frame.
        start: The first frame of the range.
        end: The last frame of the range.
        fps: The frames per second.
    """

    frame: float
    start: float
    end: float
    fps: float

    @classmethod
    def now(cls) -> Playbar:
        """Return the present settings of the playbar."""
        first, last = hou.playbar.frameRange()
        return cls(hou.frame(), first, last, hou.fps())

    def restore(self) -> None:
        """Set the playbar to these settings."""
        if self.fps != hou.fps():
            # Without the flags the range would keep its seconds and change its frames.
            hou.setFps(self.fps, modify_frame_count=False, preserve_frame_start=True)
        hou.playbar.setFrameRange(self.start, self.end)
        hou.setFrame(self.frame)


class _Values(Connections, Keyframes):
    """The operations on values."""

    def value(self, item: str, prop: str) -> Value:
        """Return the value of a parameter or of a tuple, or of a setting of the scene.

        Raises:
            LookupError: There is no such node, parameter or setting.
        """
        if item == SCENE:
            settings = Playbar.now()._asdict()
            if prop not in settings:
                names = ", ".join(settings)
                raise LookupError(f"A scene of Houdini has no {prop!r}: it has {names}.")
            return Value(settings[prop], "float")
        return value_with_lock(parms_of(item, prop))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a parameter or all of a tuple, or a setting of the scene.

        Args:
            item: The node, or `SCENE`.
            prop: The parameter, tuple or setting.
            value: The value, or a list with one for each parameter of a tuple.
            replace: Whether to remove locks, keys and expressions.

        Raises:
            LookupError: There is no such node, parameter or setting.
            ValueError: A parameter is locked, or does not take the value.
        """
        if item == SCENE:
            self._set_setting(prop, value)
            return
        parms = parms_of(item, prop)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if len(values) != len(parms):
            raise ValueError(f"{item}, {prop}: give {len(parms)} values, and not {len(values)}.")
        for parm, new in zip(parms, values, strict=True):
            if replace:
                parm.lock(False)
                parm.deleteAllKeyframes()
            lock = lock_reason(parm)
            if lock:
                raise ValueError(f"{item}, {parm.name()} cannot be set: {lock}.")
            _set(parm, new)

    def _set_setting(self, prop: str, value: Any) -> None:
        """Write a setting; raise LookupError for an unknown one, ValueError for a wrong value."""
        self.value(SCENE, prop)  # raises LookupError
        is_number = isinstance(value, int | float) and math.isfinite(value)
        if not is_number or (prop == "fps" and value <= 0):
            raise ValueError(f"{prop} of the scene cannot be {value!r}: give a number.")
        before = Playbar.now()
        after = before._replace(**{prop: float(value)})
        if after.start > after.end:  # the other end follows, until somebody sets it too
            after = after._replace(start=float(value), end=float(value))
        record(after.restore, before.restore, f"Set {prop}")

    # ---- wires

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return the names of a node's inputs and outputs."""
        node = houdini.find(item)
        return list(node.inputNames()), list(node.outputNames())

    def connect(self, link: SocketLink) -> None:
        """Connect an output to an input, replacing the input's connection.

        Raises:
            LookupError: There is no such node.
            ValueError: The nodes are in two networks, or there is no such input or output.
        """
        source = houdini.find(link.source)
        target = houdini.find(link.target)
        if source.parent() != target.parent():
            raise ValueError(f"{link.source} and {link.target} are in two networks.")
        with explained(f"{link.target}, {link.into}"):
            target.setNamedInput(link.into, source, link.out)

    def cut(self, link: SocketLink) -> None:
        """Remove the connection into an input; ValueError if there is no such input."""
        target = houdini.find(link.target)
        with explained(f"{link.target}, {link.into}"):
            target.setInput(target.inputIndex(link.into), None)

    # ---- keys

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        """Return the frame and the value of each key; for a tuple, the values of all parameters.

        Raises:
            LookupError: There is no such node or parameter.
        """
        parms = parms_of(item, prop)
        frames = set[float]()
        for parm in parms:
            frames.update(key.frame() for key in _keyframes(parm))
        keys = list[tuple[float, Any]]()
        for frame in sorted(frames):
            values = [parm.evalAtFrame(frame) for parm in parms]
            value = values[0] if len(parms) == 1 else values
            keys.append((frame, value))
        return keys

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Set keys of a parameter or of all parameters of a tuple.

        Args:
            item: The node.
            prop: The parameter or tuple.
            keys: The frame and the value of each key; of a tuple lists of values.
            shape: "linear", "smooth" or "step".
            clear: Whether to remove the present keys first.

        Raises:
            LookupError: There is no such node or parameter.
            ValueError: A value is no number, or Houdini does not take a key.
        """
        parms = parms_of(item, prop)
        for position, parm in enumerate(parms):
            if clear:
                parm.deleteAllKeyframes()
            for frame, value in keys:
                values = list(value) if isinstance(value, list | tuple) else [value]
                if len(values) != len(parms):
                    raise ValueError(f"{item}, {prop}: a key has {len(parms)} values.")
                _set_key(parm, frame, values[position], _SHAPES[shape])


def parms_of(item: str, prop: str) -> list[hou.Parm]:
    """Return a parameter, or the parameters of a tuple.

    Raises:
        LookupError: There is no such node or parameter. The message names near ones.
    """
    node = houdini.find(item)
    parm = node.parm(prop)
    if parm is not None:
        return [parm]
    parms = node.parmTuple(prop)
    if parms is not None:
        return list(parms)
    names = [each.name() for each in node.parms()]
    raise LookupError(f"{item} ({node.type().name()}): {no_such('parameter', prop, names)}")


def lock_reason(parm: hou.Parm) -> str:
    """Return why Houdini would refuse or lose a plain write; "" if a write lasts."""
    if parm.isLocked():
        return "locked"
    try:
        text = parm.expression()
    except hou.OperationFailed:  # it has no keys, and so no expression
        return ""
    return "keyed" if text in INTERPOLATIONS else f"driven by the expression {text}"


def value_with_lock(parms: Sequence[hou.Parm]) -> Value:
    """Return the value of parameters, their type, the first lock, and if it is the default."""
    lock = ""
    for parm in parms:
        lock = lock or lock_reason(parm)
    kind = parms[0].parmTemplate().type().name()
    # What a person chose as the default of new nodes is not the default of the type.
    at_default = all(parm.isAtDefault(compare_temporary_defaults=False) for parm in parms)
    return Value(value_of(parms), kind, lock, is_default=at_default and not lock)


def value_of(parms: Iterable[hou.Parm]) -> Any:
    """Return the values of parameters in the types of JSON; for one parameter no list."""
    values = [_plain(parm.eval()) for parm in parms]
    return values[0] if len(values) == 1 else values


def _plain(value: Any) -> int | float | str:
    if isinstance(value, int | float | str):
        return value
    return str(value)


def reason(error: hou.Error) -> str:
    """Return the reason in an error of Houdini."""
    return error.instanceMessage() or type(error).__name__


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise Houdini's errors in the block as ValueErrors.

    Args:
        what: What could not be done: "box1 cannot be copied". The reason follows.

    Raises:
        ValueError: The block raised a `hou.Error`.
    """
    try:
        yield
    except hou.Error as error:
        raise ValueError(f"{what}: {reason(error)}") from error


def _keyframes(parm: hou.Parm) -> list[hou.Keyframe]:
    return [each for each in parm.keyframes() if isinstance(each, hou.Keyframe)]


def _set(parm: hou.Parm, value: Any) -> None:
    """Write a parameter, or raise ValueError with the type that it takes."""
    try:
        parm.set(value)
    except (hou.Error, TypeError) as error:
        why = reason(error) if isinstance(error, hou.Error) else str(error)
        kind = parm.parmTemplate().type().name()
        raise ValueError(f"{parm.path()} cannot be {value!r}: {why} It takes a {kind}.") from error


def _set_key(parm: hou.Parm, frame: float, value: Any, expression: str) -> None:
    if not isinstance(value, int | float):
        raise ValueError(f"{parm.path()} cannot be keyed with {value!r}: give a number.")
    key = hou.Keyframe()
    key.setFrame(frame)
    key.setValue(float(value))
    key.setExpression(expression, hou.exprLanguage.Hscript)
    with explained(f"{parm.path()} cannot be keyed"):
        parm.setKeyframe(key)
