"""Properties by name: where each is, its value as JSON carries it, what it takes. Main thread."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import bpy

from dcc_bridge.spi import SCENE

from ..names import UNREADABLE_TEXT, custom_keys, name_of
from ..objects import block, item_of
from .items import require, sockets_of

_Step = tuple[Any, ...]  # a name, an index or a key; None for the two others
_PLAIN: Final = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
_STEP: Final = re.compile(r"""\.?(?:([A-Za-z_]\w*)|\[(\d+)\]|\[["'](.*?)["']\])""")
_AXES: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_LEFT_OUT: Final = {"use_nodes", "use_extra_user", "is_runtime_data", "tag"}
_FIRST: Final = ("location", "rotation_euler", "scale", "hide_viewport", "hide_render", "parent")


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a property is: of which struct, under which name or key, and which element of it."""

    item: str
    owner: Any
    name: str
    index: int = -1
    is_custom: bool = False

    @property
    def rna(self) -> Any:
        """Its definition; None for a custom property."""
        return None if self.is_custom else self.owner.bl_rna.properties[self.name]

    @property
    def key(self) -> str:
        """What it is called below its owner."""
        return f'["{self.name}"]' if self.is_custom else self.name

    @property
    def path(self) -> str:
        """What it is called below its data-block, as curves name it; "" where it is unreadable."""
        try:
            return self._path()
        except UnicodeDecodeError:  # what it is part of has a name that cannot be read
            return ""

    def _path(self) -> str:
        if not self.is_custom:
            return str(self.owner.path_from_id(self.name))
        return (self.owner.path_from_id() if self.owner != self.owner.id_data else "") + self.key

    @property
    def is_angle(self) -> bool:
        """Whether Blender keeps it in radians."""
        return self.rna is not None and self.rna.unit == "ROTATION"

    def read(self) -> Any:
        """Give the value as JSON carries it."""
        try:
            value = self.owner[self.name] if self.is_custom else getattr(self.owner, self.name)
            return plain(value if self.index < 0 else value[self.index], angle=self.is_angle)
        except (SystemError, UnicodeDecodeError):
            return UNREADABLE_TEXT

    def write(self, value: Any) -> None:
        """Set a value, as JSON carries it."""
        if self.is_custom:
            self.owner[self.name] = value
            return
        value = _converted(self, value)
        try:
            if self.index < 0:
                setattr(self.owner, self.name, value)
            else:
                getattr(self.owner, self.name)[self.index] = value
        except (TypeError, ValueError, AttributeError) as error:
            what = f"{self.item}, {self.key}: {value!r} cannot be set: {error}."
            raise ValueError(what) from error


def plain(value: Any, *, angle: bool = False) -> Any:
    """Give a value of Blender's as JSON carries it."""
    if isinstance(value, bpy.types.ID):
        return item_of(value)
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, float):
        return float(f"{math.degrees(value) if angle else value:.7g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, set):
        return sorted(value)
    try:
        return [plain(part, angle=angle) for part in value]
    except TypeError:
        return str(value)


def slot(item: str, prop: str) -> Slot:
    """Find a property of an item; LookupError: there is no such, with near ones."""
    thing = bpy.context.scene if item == SCENE else require(item)
    if isinstance(thing, bpy.types.Node):
        socket = sockets_of(thing.inputs).get(prop)
        if socket is not None and not hasattr(socket, "default_value"):
            raise ValueError(f"{item}: the input {prop!r} has no value, only a connection.")
        if socket is not None:
            return Slot(item, socket, "default_value")
    tokens = [*_STEP.finditer(prop)]
    is_plain = "".join(it[0] for it in tokens) == prop != ""
    # what is no path may be a custom property without brackets
    steps: list[_Step] = [it.groups() for it in tokens] if is_plain else [(None, None, prop)]
    found = _resolved(item, thing, steps)
    if found is None or (not is_plain and prop not in found.owner):
        raise LookupError(_no_such(item, thing, prop))
    return found


def _resolved(item: str, owner: Any, steps: Sequence[_Step]) -> Slot | None:
    (name, index, key), *rest = steps
    if not rest:
        return _last(item, owner, name, key)
    element = _element(owner, name, rest[0]) if len(rest) == 1 else -1
    if element >= 0:
        return Slot(item, owner, str(name), element)
    try:
        below = getattr(owner, name) if name else owner[key if index is None else int(index)]
    except (AttributeError, KeyError, IndexError, TypeError):
        return None
    return _resolved(item, below, rest)


def _element(owner: Any, name: str | None, step: _Step) -> int:
    """Give which element of an array a step means, or -1."""
    known = getattr(owner, "bl_rna", None)
    rna: Any = known.properties.get(name) if known is not None and name else None
    index = int(step[1]) if step[1] else _AXES.get(step[0] or "", -1)
    return index if getattr(rna, "is_array", False) and index < rna.array_length else -1


def _last(item: str, owner: Any, name: str | None, custom: str | None) -> Slot | None:
    if not isinstance(owner, bpy.types.bpy_struct):
        return None
    if name is not None and name in owner.bl_rna.properties:
        return Slot(item, owner, name)
    keys = custom_keys(owner) if hasattr(owner, "keys") else None
    if keys is not None and (custom is not None or name in keys):
        return Slot(item, owner, str(custom or name), is_custom=True)
    return None


def _no_such(item: str, thing: Any, prop: str) -> str:
    names = list(dict.fromkeys(slots(item, thing)))
    last = prop.rpartition(".")[2]
    near = get_close_matches(prop, names, 4, 0.5) or [it for it in names if last in it][:4]
    hint = f" There is {', '.join(near)}." if near else " inspect lists them."
    return f"{item} has no property {prop!r}.{hint}"


def slots(item: str, thing: Any) -> dict[str, Slot]:
    """Give the properties of an item that can be set, those first that are asked for most."""
    own = _own(item, thing, "")
    listed = _inputs(item, thing) | {name: own[name] for name in _FIRST if name in own}
    if isinstance(thing, bpy.types.Object):
        listed |= _own(item, thing.data, "data.") if thing.data is not None else {}
        for kind in ("modifiers", "constraints"):
            for part in getattr(thing, kind):
                listed |= _own(item, part, f'{kind}["{name_of(part)}"].')
    for key in custom_keys(thing) if hasattr(thing, "keys") else ():
        listed[f'["{key}"]'] = Slot(item, thing, key, is_custom=True)
    return listed | own


def _inputs(item: str, thing: Any) -> dict[str, Slot]:
    sockets = sockets_of(thing.inputs) if isinstance(thing, bpy.types.Node) else {}
    valued = {name: it for name, it in sockets.items() if hasattr(it, "default_value")}
    return {name: Slot(item, it, "default_value") for name, it in valued.items()}


def _own(item: str, owner: Any, before: str) -> dict[str, Slot]:
    names = [rna.identifier for rna in owner.bl_rna.properties if _is_settable(rna)]
    return {before + name: Slot(item, owner, name) for name in names}


def _is_settable(rna: Any) -> bool:
    if rna.is_readonly or rna.identifier in _LEFT_OUT or rna.identifier.startswith("bl_"):
        return False
    return rna.type in _PLAIN or (rna.type == "POINTER" and "ID" in _bases(rna.fixed_type))


def _bases(rna: Any) -> Iterator[str]:
    while rna is not None:
        yield rna.identifier
        rna = rna.base


def _converted(slot: Slot, value: Any) -> Any:
    """Give what Blender takes for a value; ValueError says which type or range it is."""
    rna, where = slot.rna, f"{slot.item}, {slot.key}"
    if rna.is_readonly:
        raise ValueError(f"{where} cannot be set: Blender works it out itself.")
    if rna.type == "POINTER":
        return _pointed(rna, value, where)
    if rna.type == "ENUM":
        return _chosen(slot, value, where)
    if rna.type == "STRING" or rna.type not in _PLAIN:
        if not isinstance(value, str):
            raise ValueError(f"{where} takes text, and not {value!r}.")
        return value
    count = rna.array_length if rna.is_array and slot.index < 0 else 0
    if count == 4 and isinstance(value, list) and len(value) == 3 and "COLOR" in rna.subtype:
        value = [*value, 1.0]
    numbers = value if count else [value]
    if not isinstance(numbers, list | tuple) or (count and len(numbers) != count):
        raise ValueError(f"{where} takes a list of {count} numbers, and not {value!r}.")
    ready = [_number(rna, number, where) for number in numbers]
    return ready if count else ready[0]


def _number(rna: Any, value: Any, where: str) -> Any:
    if rna.type == "BOOLEAN":
        if not isinstance(value, bool):
            raise ValueError(f"{where} takes true or false, and not {value!r}.")
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or (rna.type == "INT" and value != int(value)):
        kind = "a whole number" if rna.type == "INT" else "a number"
        raise ValueError(f"{where} takes {kind}, and not {value!r}.")
    turned = rna.unit == "ROTATION"
    ready = math.radians(value) if turned else value
    if not rna.hard_min - 1e-6 <= ready <= rna.hard_max + 1e-6:
        low, high = (math.degrees(it) if turned else it for it in (rna.hard_min, rna.hard_max))
        raise ValueError(f"{where} takes {low:.6g} to {high:.6g}, and not {value!r}.")
    return int(value) if rna.type == "INT" else float(ready)


def _pointed(rna: Any, value: Any, where: str) -> Any:
    if value is None or value == "":
        return None
    kind = rna.fixed_type.identifier.lower()
    thing = block(str(value)) or block(f"{kind}:{value}")
    if thing is None or kind not in {it.lower() for it in _bases(thing.bl_rna)}:
        raise ValueError(f"{where} takes the name of a {kind}, and {value!r} is none.")
    return thing


def _chosen(slot: Slot, value: Any, where: str) -> Any:
    rna = slot.rna
    if rna.is_enum_flag:
        return set(value)
    names = [it.identifier for it in rna.enum_items_static]
    if names and value not in names and not _takes(slot, value):
        raise ValueError(f"{where} is one of {', '.join(names[:30])}, and not {value!r}.")
    return value


def _takes(slot: Slot, value: Any) -> bool:
    """Whether a choice that is made up as Blender runs has it: its definition does not tell."""
    before = getattr(slot.owner, slot.name)
    try:
        setattr(slot.owner, slot.name, value)
    except TypeError:
        return False
    setattr(slot.owner, slot.name, before)
    return True
