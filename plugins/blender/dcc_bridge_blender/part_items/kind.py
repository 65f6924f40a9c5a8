"""The description of one kind of part: how it is found, created, removed and set. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import bpy

from ..names import name_of


class Access(NamedTuple):
    """A value of a part that no property of Blender's holds in the form that agents set.

    Attributes:
        read: Returns the value of a part, as JSON carries it.
        write: Sets the value of a part; ValueError says what it takes.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any, Any], None]


class PartKind(NamedTuple):
    """A kind of part.

    Attributes:
        structs: The types of Blender's that such a part has.
        parts: Returns the parts of an owner by their names; none of an owner without any.
        type_of: Returns the type of a part, as agents create it: "BEVEL_MODIFIER".
        types: Returns the types that can be created, each with Blender's own word for it.
        make: Creates a part and returns its name, given the owner, Blender's word for the type, and
            the name that is wanted or None. None for parts that Blender alone creates.
        remove: Removes parts of an owner. None for parts that Blender alone removes.
        home: Returns the owner of a part that is created without one; None where there is none.
        owners: The types of Blender's that such a part is made under.
        owner_words: What that is in words, with an example: "an object, such as Cube".
        words: Returns how a loss names a part, without its owner: "modifier Bevel".
        values: The values beside Blender's own properties, by name.
        copy: Gives a new part the values of another one, in place of `values`. None where each of
            these is read as a whole.
        clone: Copies a part of an owner as Blender itself does, and returns the name of the copy.
            None where it is made and given the values.
        naming: The properties of modifiers and constraints that name a part of this kind.
        called: The property that a part is named by.
    """

    structs: tuple[type, ...]
    parts: Callable[[Any], Mapping[str, Any]]
    type_of: Callable[[Any], str]
    words: Callable[[Any], str]
    types: Callable[[], Mapping[str, str]] = dict
    make: Callable[[Any, str, str | None], str] | None = None
    remove: Callable[[Any, Sequence[Any]], None] | None = None
    home: Callable[[], Any] | None = None
    owners: tuple[type, ...] = ()
    owner_words: str = ""
    values: Mapping[str, Access] = {}
    copy: Callable[[Any, Any], None] | None = None
    clone: Callable[[Any, Any], str] | None = None
    naming: frozenset[str] = frozenset()
    called: str = "name"


def by_name(parts: Iterable[Any]) -> dict[str, Any]:
    """Return parts by their names."""
    return {name_of(part): part for part in parts}


def numbered(parts: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return parts by names of which several may be the same: from the second on with a number.

    A part that has such a number in its own name keeps it.
    """
    every = list(parts)
    names = {name for name, _ in every}
    found: dict[str, Any] = {}
    for name, part in every:
        unique = name
        number = 1
        while unique in found or (number > 1 and unique in names):
            number += 1
            unique = f"{name} {number}"
        found[unique] = part
    return found


def ending(struct: str, end: str) -> Callable[[], dict[str, str]]:
    """Return a function that returns the choices of a struct's `type`, each with an end."""

    def types() -> dict[str, str]:
        rna: Any = getattr(bpy.types, struct).bl_rna
        choices = rna.properties["type"].enum_items_static
        return {f"{choice.identifier}{end}": choice.identifier for choice in choices}

    return types


def named(label: str) -> Callable[[Any], str]:
    """Return a function that returns a label and the name of a part."""
    return lambda part: f"{label} {name_of(part)}"


def of_type(end: str) -> Callable[[Any], str]:
    """Return a function that returns the `type` of a part, with an end."""
    return lambda part: f"{part.type}{end}"
