"""The properties of the scene itself, under "@scene" and in the words of `summary`. Main thread."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any, Final

from dcc_bridge.verbs.operations import SCENE, HostOperations, Value
from dcc_bridge.verbs.unreadable import readable

_FRAMES: Final = "frames"  # start and end together, as `summary` tells them
_UP: Final = "up"
_MAX_NAMED: Final = 16  # properties that an error lists


def scene_props(operations: HostOperations) -> list[str]:
    """Return the names of the scene's properties: those of the host, and those of `summary`."""
    props = list(operations.scene_props())
    if "start" in props and "end" in props:
        props.insert(props.index("end") + 1, _FRAMES)
    if _UP not in props:
        props.append(_UP)
    return props


def scene_values(operations: HostOperations) -> dict[str, Value]:
    """Return the properties of the scene that have a value now."""
    values = {}
    for prop in scene_props(operations):
        value = readable(prop, _read_if_there, operations, prop)
        if value is not None:
            values[prop] = value
    return values


def _read_if_there(operations: HostOperations, prop: str) -> Value | None:
    """Read a property of the scene; None where the host has no such property."""
    with suppress(LookupError, ValueError):
        return read(operations, SCENE, prop)
    return None


def scene_value(operations: HostOperations, prop: str) -> Any:
    """Return a property of the scene itself; None where the host has no such property."""
    with suppress(LookupError, ValueError):
        return operations.value(SCENE, prop).value
    return None


def read(operations: HostOperations, item: str, prop: str) -> Value:
    """Read a property of an item, or of the scene.

    Raises:
        LookupError: There is no such item or property; of the scene, all properties are listed.
    """
    if item != SCENE:
        return operations.value(item, prop)
    props = scene_props(operations)
    if prop == _FRAMES and prop in props:
        start = operations.value(SCENE, "start")
        end = operations.value(SCENE, "end")
        held = start.held or end.held
        return Value([start.value, end.value], "start and end", held, start.is_fixed)
    if prop == _UP and prop not in operations.scene_props():
        why = f"fixed: in {operations.host.name} {operations.up} is up"
        return Value(operations.up, "Y or Z", why, is_fixed=True)
    try:
        return operations.value(SCENE, prop)
    except LookupError as error:
        first = ", ".join(islice(props, _MAX_NAMED))
        raise LookupError(f"{error.args[0]} {SCENE} takes {first}.") from error


def write(
    operations: HostOperations, item: str, prop: str, value: Any, *, replace: bool = False
) -> None:
    """Write a property of an item, or of the scene.

    Raises:
        LookupError: There is no such item or property.
        ValueError: The property does not take the value.
    """
    if item != SCENE or prop != _FRAMES:
        operations.set_value(item, prop, value, replace=replace)
        return
    is_pair = isinstance(value, list) and len(value) == 2
    if not is_pair or not all(type(number) in (int, float) for number in value):
        raise ValueError(f"frames takes [start, end], and not {value!r}.")
    # Some applications keep the one from passing the other, so the end goes first where it grows.
    pairs = [("start", value[0]), ("end", value[1])]
    if value[1] > operations.value(SCENE, "end").value:
        pairs.reverse()
    for name, number in pairs:
        operations.set_value(SCENE, name, number, replace=replace)
