"""The names of an application that plain code may use, as its leaf lists them. Any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        or_number: It may as well be a number, or consist of numbers.
        is_end: The end of the string is enough, as in ``f"{node}.color"``.
        is_path: It is no string but of a module, and its path matches: ``Sdf.ValueTypeNames.Int``.
        most: How many arguments may have no keyword; None for any number.
    """

    pattern: str
    place: int | None = 0
    keywords: tuple[str, ...] = ()
    any_of: frozenset[str] = frozenset()
    or_number: bool = False
    is_end: bool = False
    is_path: bool = False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class PlainNames:
    """The parts of an application's interface that only read and edit the scene, within undo.

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
        assigned: The attributes that it may assign, and read, but not call.
        only_assigned: Those of them that it may not read, as others have a function of that name.
        numbers: Those of them to which it may assign numbers alone, as a text may name a file.
        fixed: Paths that it may not assign, though others that end so: ``doc.Label``.
        computes: Paths of what is made of numbers alone, such as vectors.
        literals: Arguments that it has to write out: by the name of what is called, or its path.
            The number has to be written out, as a larger one may freeze the application.
        closes_scene: Names of what opens, closes or reverts the scene, or switches undo off; one
            that does so with a keyword alone has that: ``file(open)``.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    only_assigned: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    computes: frozenset[str] = frozenset()
    literals: Mapping[str, Sequence[LiteralArgument]] = field(default_factory=dict)
    closes_scene: frozenset[str] = frozenset()
