r"""Names and texts of Blender's data, also of those that are not UTF-8. Main thread.

A file of an old Blender, or one that was cut or translated elsewhere, may hold a name in another
encoding. Python cannot read such a name: `ID.name` raises UnicodeDecodeError, `keys()` of its list
SystemError, and `repr` of it ends Blender 3.4. Here it is returned with its unreadable bytes as
escapes, and with words that say so: ``M\xf6bel (unreadable name)``.

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
"""The end of each name that stands for one that cannot be read."""
UNREADABLE_TEXT: Final = "(unreadable: it is not UTF-8)"
"""Stands for a text that cannot be read."""
_NAME_IN_STR: Final = re.compile(r'\("(.*)"\) at ', re.DOTALL)  # in the `str` of a struct
_HEAD: Final = 128  # bytes at the beginning of a data-block, within which its name begins


def name_of(thing: Any) -> str:
    """Return the name of a data-block, modifier or other struct, as far as it can be read."""
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
    """Return whether a data-block is in a list of Blender's, by its name if that can be read."""
    try:
        return thing.name in things
    except UnicodeDecodeError:
        return thing in list(things)


def named(things: Iterable[Any], name: str) -> Any:
    """Return the first struct of that name, also of one that cannot be read, or None."""
    for thing in things:
        if name_of(thing) == name:
            return thing
    return None


def value_of(thing: Any, prop: str) -> Any:
    """Return a property of a struct, or `UNREADABLE_TEXT`."""
    try:
        return getattr(thing, prop)
    except UnicodeDecodeError:
        return UNREADABLE_TEXT


def text_of(thing: Any, prop: str) -> str:
    """Return a property of a struct that is a text, such as a path, or `UNREADABLE_TEXT`."""
    return str(value_of(thing, prop))


def custom_keys(thing: Any) -> list[str]:
    """Return the names of the custom properties of a struct.

    There are none where one of the names cannot be read, and of a struct that cannot have any,
    which raises TypeError.
    """
    try:
        return read_custom_keys(thing)
    except UnicodeError:
        return []


def read_custom_keys(thing: Any) -> list[str]:
    """Return the names of the custom properties of a struct; none of one that cannot have any.

    Raises:
        UnicodeError: One of the names cannot be read, so none can.
    """
    try:
        return list(thing.keys())
    except TypeError:
        return []
    except SystemError as error:
        raise UnicodeError("one of the names is not UTF-8") from error


def custom_keys_of(blocks: Sequence[Any]) -> list[list[str]]:
    """Return the names of each data-block's custom properties, quickly where all can be read."""
    keys: Any = bpy.types.bpy_struct.keys
    try:
        return list(map(list, map(keys, blocks)))  # `list`: some keys are only read when iterated
    except (SystemError, UnicodeDecodeError):
        return list(map(custom_keys, blocks))


def custom_value(thing: Any, key: str) -> Any:
    """Return a custom property's value as plain Python, or `UNREADABLE_TEXT`."""
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
    """Return the content of a text of Blender's, or `UNREADABLE_TEXT`."""
    try:
        return text.as_string()
    except UnicodeDecodeError:
        return UNREADABLE_TEXT


def _readable_part(thing: Any) -> str:
    """Return an unreadable name with escapes; for other structs than data-blocks, what is left."""
    start = _name_offset()
    if isinstance(thing, bpy.types.ID) and start:
        # The bytes of the name, since two names may differ only in what cannot be read.
        data = ctypes.string_at(thing.as_pointer() + start)
        return data.decode(errors="backslashreplace")
    match = _NAME_IN_STR.search(str(thing))
    return match[1] if match else ""


@cache
def _name_offset() -> int:
    """Return the offset of the name in a data-block, in bytes; 0 where that cannot be found.

    Blender has the name in the struct itself, after two letters for the kind. The offset is found
    in a data-block whose name can always be read.
    """
    manager = bpy.data.window_managers[0]
    name = f"WM{manager.name}\0".encode()
    head = ctypes.string_at(manager.as_pointer(), _HEAD)
    if name not in head:
        return 0
    return head.find(name) + len("WM")
