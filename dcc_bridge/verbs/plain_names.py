"""The names of an application that plain code may use, as its leaf lists them. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LiteralArgument:
    """An argument that plain code writes out as a string, because others would reach beyond.

    Attributes:
        pattern: A regular expression that the whole string matches.
        place: The argument's place among those without a keyword; None where it has none.
        keywords: The argument's names.
        any_of: Names of attributes: what is called of one of them may take any argument there,
            such as "materials" in ``bpy.data.materials.new(name)``.
    """

    pattern: str
    place: int | None = 0
    keywords: tuple[str, ...] = ()
    any_of: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlainNames:
    """What of an application's interface only reads and edits the scene, and undo brings back.

    Code that uses nothing else is *plain*: a person may let it run without reading it. So nothing
    of this may take a path, read or write a file, run text, or leave something behind that is
    called later. A path is written with dots, and a star in it stands for any part of a name.

    Attributes:
        given: The modules that code finds without an import, by the name that it finds.
        modules: The modules that it may import.
        paths: What it may use of modules: ``bpy.data``, ``bpy.ops.mesh.primitive_*_add``. The
            modules themselves are not for use.
        types: The classes with which it may only compare: ``isinstance(it, bpy.types.Mesh)``.
        names: The attributes that it may read and call of all other objects.
        assigned: The attributes that it may assign.
        literals: Arguments that it has to write out: by the name of what is called, or its path.
        closes_scene: Names of what opens, closes or reverts the scene, or switches undo off; one
            that does so with a keyword alone has that: ``file(open)``.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    literals: Mapping[str, LiteralArgument] = field(default_factory=dict)
    closes_scene: frozenset[str] = frozenset()
