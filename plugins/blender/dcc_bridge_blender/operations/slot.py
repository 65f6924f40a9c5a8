"""One property of Blender's: read as JSON carries values, and written. Main thread."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

import bpy

from ..names import UNREADABLE_TEXT, names_of
from ..objects import block, item_of, lists
from ..part_items.kind import Access

PLAIN_TYPES: Final = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
# The types of data-blocks whose defaults are known, as the test compares them with new ones.
_WITH_DEFAULTS: Final = (
    bpy.types.Object,
    bpy.types.Mesh,
    bpy.types.Curve,
    bpy.types.Camera,
    bpy.types.Light,
    bpy.types.Material,
    bpy.types.Collection,
)
# Of these a new data-block has another value than Blender says (measured in 3.4 to 5.3).
_UNLIKE_NEW: Final = re.compile(
    "name|type|angle.*|visible_.*|is_shadow_catcher|show_(empty_image_|transparent_back).*|offset|"
    "use_(fake_user|remesh_preserve_.*|deform_bounds|grease_pencil_lights)|uv_layer_.*|texspace_.*|"
    "empty_image_offset|resolution.*|active_.*|track_axis|up_axis|diffuse_color|"
    "dimensions|matrix_.*|body|fisheye_.*|blend_method|color_tag|fill_.*"
)
_IDENTITY: Final = [[float(row == column) for column in range(4)] for row in range(4)]
# Of these, what a new data-block of any of the types has.
OF_NEW: Final[dict[str, Any]] = {
    **dict.fromkeys(("matrix_world", "matrix_local", "matrix_basis"), _IDENTITY),
    "matrix_parent_inverse": _IDENTITY,
    "use_fake_user": False,
    **{f"visible_{rays}": True for rays in ("diffuse", "glossy", "transmission", "shadow")},
    "visible_volume_scatter": True,
    "show_empty_image_perspective": True,
    "show_empty_image_orthographic": True,
    "show_empty_image_only_axis_aligned": False,
    "active_material_index": 0,
    **{f"use_remesh_preserve_{part}": True for part in ("volume", "paint_mask", "vertex_colors")},
    "use_remesh_preserve_sculpt_face_sets": True,
}
_MAX_CHOICES: Final = 30  # that an error lists
_MAX_COMPARED: Final = 5000  # names that are compared with one that is not found
_QUOTED: Final = re.compile("'([^']*)'")


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a property.

    Attributes:
        item: The item that has the property.
        owner: The struct of Blender's that has the property: the item's data-block or a part.
        name: The name of the property, or the key of a custom property.
        index: The element of an array; -1 for the whole property.
        is_custom: Whether this is a custom property.
    """

    item: str
    owner: Any
    name: str
    index: int = -1
    is_custom: bool = False

    @property
    def rna(self) -> Any:
        """The property's definition; None for a custom property."""
        if self.is_custom:
            return None
        return self.owner.bl_rna.properties[self.name]

    @property
    def key(self) -> str:
        """The property's name in a path below its owner."""
        if self.is_custom:
            return f'["{self.name}"]'
        return self.name

    @property
    def path(self) -> str:
        """The path below the data-block, as curves have it; "" where there is none."""
        try:
            return self._path()
        except ValueError:  # a name on it cannot be read, or the owner has none, as a vertex group
            return ""

    def _path(self) -> str:
        owner = self.owner
        if not self.is_custom:
            return str(owner.path_from_id(self.name))
        if owner == owner.id_data:
            return self.key
        return str(owner.path_from_id()) + self.key

    @property
    def is_angle(self) -> bool:
        """Whether Blender keeps the value in radians."""
        return self.rna is not None and self.rna.unit == "ROTATION"

    def is_default(self, value: Any) -> bool:
        """Return whether a value is that of a new data-block; False where that is not known.

        Args:
            value: The value as `read` returns it.
        """
        rna = self.rna
        if rna is None or self.index >= 0 or not isinstance(self.owner, _WITH_DEFAULTS):
            return False
        if rna.type == "POINTER":
            return value is None
        if self.name in OF_NEW:
            return bool(value == OF_NEW[self.name])
        if rna.type not in PLAIN_TYPES or _UNLIKE_NEW.fullmatch(self.name):
            return False
        return bool(value == plain(default_of(rna), angle=self.is_angle))

    def read(self) -> Any:
        """Return the value as JSON carries it; angles are in degrees."""
        try:
            value = self.owner[self.name] if self.is_custom else getattr(self.owner, self.name)
            if self.index >= 0:
                value = value[self.index]
            return plain(value, angle=self.is_angle)
        except (SystemError, UnicodeDecodeError):
            return UNREADABLE_TEXT

    def write(self, value: Any) -> None:
        """Set the value.

        Args:
            value: The value as JSON carries it; angles in degrees.

        Raises:
            ValueError: The property does not take the value; the error says what it takes.
        """
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


@dataclass(frozen=True, slots=True)
class ComputedSlot(Slot):
    """The place of a value that no property of Blender's holds in the form that agents set.

    Attributes:
        access: How it is read and written.
    """

    access: Access = field(kw_only=True)

    @property
    def rna(self) -> None:
        """None: Blender defines no such property."""
        return

    @property
    def key(self) -> str:
        """The name of the value."""
        return self.name

    @property
    def path(self) -> str:
        """Empty, as it cannot be keyed."""
        return ""

    def read(self) -> Any:
        """Return the value as JSON carries it."""
        return self.access.read(self.owner)

    def write(self, value: Any) -> None:
        """Set the value; ValueError says what it takes."""
        try:
            self.access.write(self.owner, value)
        except (ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise ValueError(f"{self.item}, {self.name}: {str(error).strip()}.") from error


def default_of(rna: Any) -> Any:
    """Return the default of a property of a plain type."""
    if rna.type == "ENUM" and rna.is_enum_flag:
        return rna.default_flag
    if getattr(rna, "is_array", False):
        return rna.default_array
    return rna.default


def plain(value: Any, *, angle: bool = False) -> Any:
    """Return a value of Blender's as JSON carries it.

    Args:
        value: The value.
        angle: Whether it is in radians, and becomes degrees.
    """
    if isinstance(value, bpy.types.ID):
        return item_of(value)
    if hasattr(value, "to_dict"):  # a group of custom properties
        return value.to_dict()
    if hasattr(value, "to_list"):  # a custom property that is an array
        return value.to_list()
    if isinstance(value, float):
        number = math.degrees(value) if angle else value
        return float(f"{number:.7g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, set):
        return sorted(value)
    try:
        return [plain(part, angle=angle) for part in value]
    except TypeError:
        return str(value)


def bases_of(rna: Any) -> Iterator[str]:
    """Yield the names of a type and of the types that it derives from."""
    while rna is not None:
        yield rna.identifier
        rna = rna.base


# ---- what a property takes


def _converted(slot: Slot, value: Any) -> Any:
    """Return what Blender takes for a value; ValueError says which type or range it takes."""
    rna = slot.rna
    where = f"{slot.item}, {slot.key}"
    if rna.is_readonly:
        raise ValueError(f"{where} cannot be set: Blender works it out itself.")
    if rna.type == "POINTER":
        return _pointed(rna, value, where)
    if rna.type == "ENUM":
        return _chosen(slot, value, where)
    if rna.type == "STRING" or rna.type not in PLAIN_TYPES:
        if not isinstance(value, str):
            raise ValueError(f"{where} takes text, and not {value!r}.")
        return value
    if rna.is_array and slot.index < 0:
        return _numbers(rna, value, where)
    return _number(rna, value, where)


def _numbers(rna: Any, value: Any, where: str) -> list[Any]:
    """Return the elements of an array; a color may lack its alpha."""
    count = rna.array_length
    if count == 4 and isinstance(value, list) and len(value) == 3 and "COLOR" in rna.subtype:
        value = [*value, 1.0]
    if not isinstance(value, list | tuple) or len(value) != count:
        raise ValueError(f"{where} takes a list of {count} numbers, and not {value!r}.")
    return [_number(rna, number, where) for number in value]


def _number(rna: Any, value: Any, where: str) -> Any:
    """Return a number, a whole number or a truth, as a property or its elements take it."""
    if rna.type == "BOOLEAN":
        if not isinstance(value, bool):
            raise ValueError(f"{where} takes true or false, and not {value!r}.")
        return value
    is_whole = rna.type == "INT"
    kind = "a whole number" if is_whole else "a number"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_valid = is_number and math.isfinite(value)
    if is_valid and is_whole:
        is_valid = value == int(value)
    if not is_valid:
        raise ValueError(f"{where} takes {kind}, and not {value!r}.")
    number = _in_range(rna, value, where)
    if is_whole:
        return int(value)
    return float(number)


def _in_range(rna: Any, value: float, where: str) -> float:
    """Return a number as Blender keeps it, an angle in radians; ValueError says the range."""
    low = rna.hard_min
    high = rna.hard_max
    number = value
    is_angle = rna.unit == "ROTATION"
    if is_angle:
        number = math.radians(value)
    if low - 1e-6 <= number <= high + 1e-6:
        return number
    if is_angle:
        low = math.degrees(low)
        high = math.degrees(high)
    raise ValueError(f"{where} takes {low:.6g} to {high:.6g}, and not {value!r}.")


def _pointed(rna: Any, value: Any, where: str) -> Any:
    """Return the data-block that a name means, or None for no name."""
    if value is None or value == "":
        return None
    kind = rna.fixed_type.identifier.lower()
    thing = block(str(value)) or block(f"{kind}:{value}")
    if thing is not None:
        kinds = [base.lower() for base in bases_of(thing.bl_rna)]
        if kind in kinds:
            return thing
    hint = _like_named(str(value), kind)
    raise ValueError(f"{where} takes the name of a {kind}, and {value!r} is none{hint}")


def _like_named(name: str, kind: str) -> str:
    """Return the end of a sentence about a name that no data-block of a kind has."""
    plural = lists().get(kind)
    if plural is None:
        return "."
    near = get_close_matches(name, names_of(getattr(bpy.data, plural))[:_MAX_COMPARED], 3)
    return f"; names like it: {', '.join(near)}." if near else "."


def _chosen(slot: Slot, value: Any, where: str) -> Any:
    """Return a choice of an enumeration, or a set of choices."""
    rna = slot.rna
    if rna.is_enum_flag:
        return set(value)
    names = [choice.identifier for choice in rna.enum_items_static]
    if names and value not in names:
        names = _refusing(slot, value) or names
        if value not in names:
            choices = ", ".join(names[:_MAX_CHOICES])
            raise ValueError(f"{where} is one of {choices}, and not {value!r}.")
    return value


def _refusing(slot: Slot, value: Any) -> list[str]:
    """Return the choices of an enumeration if it refuses one, else that one alone.

    The definition of an enumeration does not list choices that are computed as Blender runs, such
    as the engines of add-ons: Blender's own error does.
    """
    before = getattr(slot.owner, slot.name)
    try:
        setattr(slot.owner, slot.name, value)
    except TypeError as error:
        return _QUOTED.findall(str(error).rpartition(" not found in ")[2])
    setattr(slot.owner, slot.name, before)
    return [value]
