"""What a host does for the verbs: the port between what is the same everywhere and its own API.

A host's operations are a package ``<host>_verbs`` in its folder of skills, with a function
``operations`` that gives a `HostOperations`. A verb is not listed where the host does not override
the operations that it needs.

An item is a string that names one thing, as in `dcc_bridge.host`: a prim's path, an object's name.
`SCENE` stands for the scene itself where values are read and set. Values are what JSON carries.
Lengths are in the scene's own units, angles in degrees, frames in the scene's frames, axes those of
the scene. Points and matrices are of the world unless something else is said.

An operation raises `LookupError` for what is not there, with a sentence that names it, and
`ValueError` for what cannot be done, with a sentence that says why; what was edited until then the
bridge takes back, so no operation tidies up after itself. Operations never ask, never touch the
selection, the view or the mode, and change nothing that they are not told to. All of it runs on the
main thread.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from typing import Any, Final, Literal, cast

from dcc_bridge.host import Host
from dcc_bridge.skills.trust import check_folder, read_trusted

SCENE: Final = "@scene"
Vector = tuple[float, float, float]
At = Vector | None  # None for what stays
Axes = Literal["world", "local"]
Keys = Sequence[tuple[float, Any]]  # a frame and a value each
Shape = Literal["linear", "smooth", "step"]  # of the curve between keys
Bounds = tuple[Vector, Vector]  # the lowest and the highest corner
Part = Literal["values", "inputs", "uses", "keys", "bounds", "counts", "text"]
Junk = Literal["unused", "empty_groups", "duplicate_materials", "dead_links", "history"]


def triple(numbers: Any) -> Vector:
    """Give three numbers, whatever an application has them in."""
    x, y, z = map(float, numbers)
    return x, y, z


@dataclass(frozen=True, slots=True)
class Value:
    """A property as the scene has it."""

    value: Any  # as JSON carries it
    type: str = ""  # as the host calls it
    held: str = ""  # why a plain write is refused or lost: "driven by X.rotate", "keyed", "locked"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an item is."""

    at: Vector
    rotation: Vector  # degrees about X, then Y, then Z, about fixed axes
    scale: Vector


@dataclass(frozen=True, slots=True)
class SocketLink:
    """A connection between two sockets."""

    source: str  # the item that gives
    out: str  # its output
    target: str  # the item that takes
    into: str  # its input


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """What `find_api` tells of one thing of this version's API."""

    name: str  # as it is written: "create type Camera", "bpy.ops.mesh.bevel", "xformOp:translate"
    kind: str  # "type", "property", "operator", "function", "socket"
    text: str = ""  # one line, the application's own
    signature: str = ""  # types, ranges and enum values


@dataclass(frozen=True, slots=True)
class Rule:
    """What `check` looks for."""

    name: str
    text: str  # what is wrong with an item that fails, in a few words
    mend: str = ""  # the verb that mends it, as it would be called: 'transform(apply=["scale"])'


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture of `look`: from where it is taken."""

    eye: Vector
    target: Vector  # the point in the middle
    up: Vector
    angle: float = 0.0  # degrees from top to bottom; 0 for a view without perspective
    height: float = 1.0  # units from top to bottom, without perspective
    camera: str = ""  # the camera that it is taken through, or ""
    frame: float | None = None  # None for the frame that the person has
    aspect: float = 0.0  # of a camera, where the scene does not say how wide and high it renders


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in with a file."""

    items: list[str]
    warnings: list[str] = field(default_factory=list)


class HostOperations:
    """A host's side of the verbs."""

    host: Host  # whose they are: selection, undo, files, fingerprints
    instructions: str = ""
    """What an agent must know of this host, in 600 characters: how items are named, units, axes."""
    up: Literal["Y", "Z"] = "Y"  # where up is; may be a property
    is_experimental: bool = False  # nobody has run them in the application itself

    # ---- what there is: list_items, inspect, check

    @abstractmethod
    def items(self, under: str | None = None) -> Iterable[str]:
        """Give the items below one, or all of the scene, in its order, lazily, itself not."""

    @abstractmethod
    def kind(self, item: str) -> str:
        """Give an item's type, as the application calls it. LookupError names what is near."""

    @abstractmethod
    def name(self, item: str) -> str:
        """Give an item's own name, without where it is."""

    @abstractmethod
    def parent(self, item: str) -> str | None:
        """Give the item above one, or None."""

    @abstractmethod
    def users(self, thing: str) -> Iterable[str]:
        """Give the items that use a material, a file or an item; LookupError if there is none."""

    @abstractmethod
    def look_into(self, item: str, part: Part) -> Any:
        """Tell one part of an item; None where it has no such part.

        values: {property: `Value`} that `set_value` can set; inputs: [`SocketLink`]; uses: [item or
        file]; keys: {property: [[frame, value]]}, 100 at most of each; counts: {"faces": n, ...};
        text: what a text or an expression says. `bounds` is asked of `bounds`.
        """

    @abstractmethod
    def bounds(self, item: str) -> Bounds | None:
        """Give the box of an item with all below it, evaluated; None for what has no size."""

    @abstractmethod
    def types(self) -> Iterable[str]:
        """Give the types that `create` takes."""

    def materials(self) -> Iterable[str]:
        """Give the names of the materials, as `assign` takes them."""
        return ()

    def files(self) -> Iterable[tuple[str, str, str]]:
        """Give each file that the scene refers to: the item, its property, the path as written."""
        return ()

    def rules(self) -> Iterable[Rule]:
        """Give this host's rules, beside those that are the same for all."""
        return ()

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Give each item that fails a rule of `rules`, of those given, and why. It yields often."""
        raise NotImplementedError

    def api(self) -> Iterator[ApiEntry]:
        """Give what this version's API has, from introspection alone, in pieces of 5 ms at most."""
        raise NotImplementedError

    # ---- values: set_values, set_keys, connect

    @abstractmethod
    def value(self, item: str, prop: str) -> Value:
        """Read a property; of `SCENE` "frame", "start", "end", "fps", "camera", "size", "units"."""

    @abstractmethod
    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a property of an item or `SCENE`. ValueError says which type or range it takes.

        With `replace` what holds it (keys, a driver, a connection, a lock) is taken away before.
        """

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Give the inputs and the outputs of an item."""
        raise NotImplementedError

    def connect(self, link: SocketLink) -> None:
        """Make a connection; one that its input had goes. Sockets are known to be there."""
        raise NotImplementedError

    def cut(self, link: SocketLink) -> None:
        """Take a connection away; without a `SocketLink.source` whatever leads into the input."""
        raise NotImplementedError

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        """Give the keys of a property, by frame."""
        raise NotImplementedError

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Add keys; with `clear` all others of the property go, and without keys all of them."""
        raise NotImplementedError

    # ---- building: create, duplicate, group, assign_material, rename, transform

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Make an item of a type at the origin of its parent, and give it. No operators.

        A host gives it a free name where the wanted one is taken. LookupError: no such type.
        """
        raise NotImplementedError

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy an item with all below it, beside itself; `linked` copies share their data."""
        raise NotImplementedError

    @abstractmethod
    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Tell where an item is. ValueError for what cannot be placed."""

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Put an item somewhere; what is None stays. ValueError if it is locked or driven."""
        raise NotImplementedError

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Give the axis of an item that `look_at` turns to the target, and the one kept up."""
        return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        """Put parts of the transform into the data, so that nothing moves and they are unit."""
        raise NotImplementedError

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Put an item below another, or below none, and give it as it is called now."""
        raise NotImplementedError

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put items into a collection, set, layer or folder, made if there is none; gives it.

        ValueError says which kinds this host has.
        """
        raise NotImplementedError

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make a material, or change the one of that name, and give its name; None makes a new one.

        The values are of base_color ([r, g, b], linear), metallic, roughness, emission ([r, g, b]),
        opacity, normal and texture (files). ValueError names others.
        """
        raise NotImplementedError

    def assign(self, item: str, material: str) -> None:
        """Give an item a material, in place of what it had."""
        raise NotImplementedError

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Give what an item would be called with another name, and the others called so now."""
        own = self.name(item)
        new = (item.removesuffix(own) if item.endswith(own) else "") + name
        return new, [new] if self.host.kinds([new]) != ["gone"] else []

    def rename(self, item: str, name: str) -> str:
        """Rename an item; what refers to it follows. ValueError: the name is taken or not valid."""
        raise NotImplementedError

    # ---- files and losses: import_file, export_file, clean, delete, save

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Give the suffixes that can be read (".obj"), and how: "copy", "reference", "link"."""
        raise NotImplementedError

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Read a file in. ValueError says what is wrong with it."""
        raise NotImplementedError

    def export_formats(self) -> Sequence[str]:
        """Give the suffixes that can be written."""
        raise NotImplementedError

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write items, or the scene, to a file; gives what was left out, in sentences."""
        raise NotImplementedError

    def junk(self, what: Junk) -> list[str]:
        """Give the items that `clean` would take away. ValueError: this host has no such."""
        raise NotImplementedError

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Take away what `junk` gave and the person agreed to."""
        raise NotImplementedError

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete items, and what is below them where the host does; gives what only was hidden."""
        raise NotImplementedError

    def below(self, items: Sequence[str]) -> int:
        """Count what is deleted with items without being one of them."""
        return 0

    def orphans(self, items: Sequence[str]) -> int:
        """Count what stays without its parent if items are deleted."""
        return 0

    def save_files(self, path: Path | None) -> list[Path]:
        """Give the files that a save would write, the scene's own first. ValueError: it cannot."""
        raise NotImplementedError

    def save(self, path: Path | None) -> Path:
        """Save the scene, and give its file. ValueError: it was not written, and why."""
        raise NotImplementedError

    # ---- run_python

    def namespace(self) -> dict[str, Any]:
        """Give the names that code of an agent gets, as this application's own scripts have them.

        Called before each run: what stood in one is dead after an undo, in some hosts.
        """
        raise NotImplementedError

    def in_context(self, warnings: list[str]) -> AbstractContextManager[Any]:
        """Enter what that code needs around it; `warnings` gets what the application warns of.

        Gives None, or what says after a take-back: "" if all is as before, ", but ..." if not.
        """
        return nullcontext()

    def writers(self) -> Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]]:
        """Give what writes files in C++: its owner, its name, what tells the paths, called so."""
        return ()

    # ---- look

    def at_frame(self, frame: float) -> AbstractContextManager[None]:
        """Have what is read in the block be as the scene is evaluated at a frame.

        That holds for `bounds`, `is_shown`, `placement`, `viewpoint` and the scene's camera. The
        person's own frame, and what they changed there and did not key, are as before afterwards.
        """
        raise NotImplementedError

    def is_shown(self, item: str) -> bool:
        """Return whether the scene shows an item, wherever it is looked at from."""
        return True

    def viewpoint(self, view: str) -> Shot:
        """Give the shot of "person" (the window's own view) or of a camera's item. LookupError."""
        raise NotImplementedError

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw up to four shots of so many pixels each as one JPEG, several in two columns.

        The person's view, camera, selection, frame and settings are as before afterwards, and no
        undo step is left. `shading` is "solid", "wire" or "material", or what is next to it here.
        """
        raise NotImplementedError

    def has(self, *operations: str) -> bool:
        """Whether the host does all of these: it overrides the methods of these names."""
        return all(
            getattr(type(self), name) is not getattr(HostOperations, name) for name in operations
        )


def load(folder: Path, host: Host) -> HostOperations | None:
    """Import the operations that stand in a host's folder of skills; None where there are none.

    Raises:
        SkillError: Others may write there.
    """
    file = next(folder.glob("*_verbs/__init__.py"), None)
    if file is None:
        return None
    root = check_folder(folder)
    for source in file.parent.glob("*.py"):
        read_trusted(source, root)
    name = file.parent.name
    module = sys.modules.get(name)
    if module is None or getattr(module, "__file__", None) != str(file):
        inside = [str(file.parent)]
        spec = util.spec_from_file_location(name, file, submodule_search_locations=inside)
        assert spec is not None
        assert spec.loader is not None
        module = util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return cast("HostOperations", module.operations(host))
