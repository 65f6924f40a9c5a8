r"""Names and texts of Blender's data, those too that are not UTF-8. Main thread.

A file of an old Blender, or one that was cut or translated elsewhere, may hold a name in another
encoding. Python cannot read it: `ID.name` raises UnicodeDecodeError, `keys()` of its list
SystemError, and `repr` of it ends Blender 3.4. Such a name is told with its unreadable bytes as
escapes, and with a word that says so: ``M\xf6bel (unreadable name)``.

Source of the facts: measured with Debian's Blender 3.4.1 and bpy 4.5.15.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import bpy

UNREADABLE: Final = " (unreadable name)"
"""The end of each name that is told in place of one that cannot be read."""
UNREADABLE_TEXT: Final = "(unreadable: it is not UTF-8)"
_TOLD: Final = re.compile(r'\("(.*)"\) at ', re.DOTALL)
_HEAD: Final = 128  # bytes at the beginning of a data-block, which is longer; its name begins there


def name_of(thing: Any) -> str:
    """Return the name of a data-block, modifier or other struct, told as far as it can be read."""
    try:
        return str(thing.name)
    except UnicodeDecodeError:
        return _readable_part(thing) + UNREADABLE


def names_of(things: Iterable[Any]) -> list[str]:
    """Return the names in a list of Blender's, quickly where all of them can be read."""
    if isinstance(things, list):
        return [name_of(thing) for thing in things]
    listed: Any = things
    try:
        names: list[str] = listed.keys()
    except (SystemError, UnicodeDecodeError):
        return [name_of(thing) for thing in things]
    return names


def is_in(thing: Any, things: Any) -> bool:
    """Return whether a data-block is in a list of Blender's: found by its name where it can be."""
    try:
        return thing.name in things
    except UnicodeDecodeError:
        return thing in list(things)


def named(things: Iterable[Any], name: str) -> Any:
    """Return the first of the structs that has a name, also one that cannot be read, or None."""
    return next((thing for thing in things if name_of(thing) == name), None)


def value_of(thing: Any, prop: str) -> Any:
    """Return what a struct has under a name, or that it is a text that cannot be read."""
    try:
        return getattr(thing, prop)
    except UnicodeDecodeError:
        return UNREADABLE_TEXT


def text_of(thing: Any, prop: str) -> str:
    """Return a text that a struct has, such as a path, or that it cannot be read."""
    return str(value_of(thing, prop))


def custom_keys(thing: Any) -> list[str]:
    """Return the names of custom properties; none where one of them cannot be read.

    Nor of a struct that cannot have any, which raises TypeError.
    """
    try:
        return list(thing.keys())
    except (SystemError, UnicodeDecodeError, TypeError):
        return []


def custom_keys_of(blocks: Sequence[Any]) -> list[list[str]]:
    """Return the same of each data-block, quickly where all of them can be read."""
    keys: Any = bpy.types.bpy_struct.keys
    try:
        return [*map(list, map(keys, blocks))]  # else some are read only when they are compared
    except (SystemError, UnicodeDecodeError):
        return [*map(custom_keys, blocks)]


def custom_value(thing: Any, key: str) -> Any:
    """Return a custom property's value as plain Python, or that it cannot be read."""
    try:
        value = thing[key]
        if isinstance(value, bpy.types.ID):
            return f"{type(value).__name__} {name_of(value)}"
        for name in ("to_dict", "to_list"):
            if hasattr(value, name):
                return getattr(value, name)()
    except (SystemError, UnicodeDecodeError):
        return UNREADABLE_TEXT
    return value


def body_of(text: bpy.types.Text) -> str:
    """Return what stands in a text of Blender's, or that it cannot be read."""
    try:
        return text.as_string()
    except UnicodeDecodeError:
        return UNREADABLE_TEXT


def _readable_part(thing: Any) -> str:
    start = _name_offset()
    if isinstance(thing, bpy.types.ID) and start:
        # Its bytes, since two names may differ in nothing but what cannot be read.
        data = ctypes.string_at(thing.as_pointer() + start)
        return data.decode(errors="backslashreplace")
    told = _TOLD.search(str(thing))
    return told[1] if told else ""


@cache
def _name_offset() -> int:
    """Return where in a data-block its name begins, in bytes; 0 where that cannot be found.

    Blender has the name in the struct itself, after two letters for the kind. It is looked for in
    a data-block whose name is always the same.
    """
    manager = bpy.data.window_managers[0]
    name = f"WM{manager.name}\0".encode()
    head = ctypes.string_at(manager.as_pointer(), _HEAD)
    return head.find(name) + len("WM") if name in head else 0
