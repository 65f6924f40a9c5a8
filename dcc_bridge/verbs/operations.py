"""The port between the verbs, which are the same everywhere, and an application's own API.

`HostOperations` is what every host does: it tells what there is, reads values and sets them. What a
host can do beside that are the classes of `dcc_bridge.verbs.ports`, each a few methods: a host's
operations are one object of a class that implements those it can, and a verb is listed where the
host implements the port that the verb needs.

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

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from dcc_bridge.host import Host

SCENE: Final = "@scene"
Vector = tuple[float, float, float]
At = Vector | None  # None for a part that stays as it is
Axes = Literal["world", "local"]
Keys = Sequence[tuple[float, Any]]  # a frame and a value each
Shape = Literal["linear", "smooth", "step"]  # of the curve between keys
Bounds = tuple[Vector, Vector]  # the lowest and the highest corner
Part = Literal["values", "inputs", "uses", "keys", "bounds", "counts", "text"]
Junk = Literal["unused", "empty_groups", "duplicate_materials", "dead_links", "history"]
SCENE_PROPS: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
"""The properties that `SCENE` has in most applications."""


def triple(numbers: Any) -> Vector:
    """Return three numbers as the verbs take a point, whatever an application has them in.

    Args:
        numbers: Anything that yields three numbers: a vector or an array of the application.

    Returns:
        The three as floats.

    Raises:
        ValueError: There are not three, or one is no number.
    """
    x, y, z = map(float, numbers)
    return x, y, z


@dataclass(frozen=True, slots=True)
class Value:
    """A property as the scene has it.

    Attributes:
        value: As JSON carries it: a number, a text, a list. An enum is its name.
        type: As the host calls it: "float", "enum: OPEN, CLOSED".
        held: Why a plain write is refused or lost: "driven by X.rotate", "keyed", "locked"; "" for
            a value that can be written.
        is_fixed: Nothing that a person agrees to makes it writable; `held` says why.
        is_default: It is what a new item of this type has, so `inspect` leaves it out; False where
            the application does not tell.
    """

    value: Any
    type: str = ""
    held: str = ""
    is_fixed: bool = False
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """The placement of an item.

    Attributes:
        at: Its origin.
        rotation: Degrees about X, then Y, then Z, about fixed axes.
        scale: Along its own axes.
    """

    at: Vector
    rotation: Vector
    scale: Vector


@dataclass(frozen=True, slots=True)
class SocketLink:
    """A connection between two sockets.

    Attributes:
        source: The item whose output it is; "" where that does not matter.
        out: Its output.
        target: The item whose input it is.
        into: Its input.
    """

    source: str
    out: str
    target: str
    into: str


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """A card of `find_api`: one thing of this version's API.

    Attributes:
        name: As code has it: "create type Camera", "bpy.ops.mesh.bevel", "xformOp:translate".
        kind: "type", "property", "operator", "function", "socket", "class", or "gone" for a name
            that this version does not have any more.
        text: One line, the application's own.
        signature: Types, ranges and enum values.
        example: A call of a verb, such as 'create {"things": [{"type": "Camera"}]}', or a line of
            code for `run_python`. "<Camera>" in it is an item of that type, "<Camera|Light>" of one
            of two, "<item>" any one: the card names one of the scene. It runs in any scene that has
            such an item.
        label: Its name in the application's own window: "Focal Length".
        weight: How likely it is that somebody means this one, beside others alike: 1, or less.
    """

    name: str
    kind: str
    text: str = ""
    signature: str = ""
    example: str = ""
    label: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Said:
    """The words that people say for something that an API calls otherwise.

    Attributes:
        words: Phrases, between commas: "softbox, panel light".
        example: As that of an `ApiEntry`, in its place; "" to keep it.
    """

    words: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of `check`.

    Attributes:
        name: By which an agent asks for it: "scale_applied".
        text: A sentence for the agent: what is wrong, where, and which call mends it.
        mend: That call: 'transform(apply=["scale"])'.
    """

    name: str
    text: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Shot:
    """The viewpoint of one picture of `look`.

    Attributes:
        eye: The point from which it is taken.
        target: The point in the middle of the picture.
        up: The direction that is up in it.
        angle: Degrees from top to bottom; 0 for a view without perspective.
        height: Units from top to bottom, without perspective.
        camera: The camera's item that it is taken through, or "".
        frame: None for the frame that the person has.
        aspect: Width by height of a camera, where the scene does not say how it renders; else 0.
        is_render: Whether the picture is one of `render`, without signs of cameras and lights.
    """

    eye: Vector
    target: Vector
    up: Vector
    angle: float = 0.0
    height: float = 1.0
    camera: str = ""
    frame: float | None = None
    aspect: float = 0.0
    is_render: bool = False


@dataclass(frozen=True, slots=True)
class Render:
    """The pictures that `Rendering.rendering` renders.

    Attributes:
        shots: The viewpoints, one for each picture, each with its frame.
        files: The file of each picture; none is there yet. The suffix says the format.
        width: Pixels of each.
        height: Pixels of each.
        samples: Of each pixel; 0 for as many as the scene says.
        max_bytes: The size of a JPEG at most, which has less quality then; 0 for any size.
    """

    shots: Sequence[Shot]
    files: Sequence[Path]
    width: int
    height: int
    samples: int = 0
    max_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes:
        items: The topmost new items.
        warnings: The sentences of the importer.
    """

    items: list[str]
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        items: The items in the file.
        left_out: Sentences on what is not in it.
    """

    items: list[str]
    left_out: list[str] = field(default_factory=list)


class HostOperations(ABC):
    """The operations of every host for the verbs: list items, read and set values.

    The verbs `summary`, `list_items`, `inspect`, `check`, `select`, `set_values` and `batch` need
    no more. A host's class names the ports that it implements as its bases, each of which is a
    `HostOperations`: ``class AcmeOperations(Building, Deleting)``. An abstract method of one that
    is not written is an error when the operations are made.

    Attributes:
        host: Whose they are: selection, undo, files, fingerprints.
        instructions: What an agent must know of this host, in 600 characters: how items are named,
            units, axes.
        instruction_folder: The folder of the texts on how to work in this host, each a folder with
            a SKILL.md; None where there are none.
        up: The axis that is up. May be a property.
        is_experimental: Nobody has run them in the application itself; agents and people are told.
    """

    host: Host
    instructions: str = ""
    instruction_folder: Path | None = None
    up: Literal["Y", "Z"] = "Y"
    is_experimental: bool = False

    @abstractmethod
    def items(self, under: str | None = None) -> Iterable[str]:
        """Return the items of the scene, in its order, lazily: there may be 100,000.

        Args:
            under: Only those below this item, itself not.

        Returns:
            Items; children follow their parent.

        Raises:
            LookupError: There is no such item.
        """

    @abstractmethod
    def kind(self, item: str) -> str:
        """Return an item's type, as the application calls it: "Camera", "mesh".

        Args:
            item: One item.

        Returns:
            A type.

        Raises:
            LookupError: There is no such item; the sentence names what is near.
        """

    def noun(self, item: str) -> str:
        """Return what people call an item's type, for a sentence.

        Args:
            item: One item.

        Returns:
            One of them, in small letters: "sphere light". By default as `Host.nouns` has it.

        Raises:
            LookupError: There is no such item.
        """
        self.kind(item)
        return self.host.nouns([item])[0]

    @abstractmethod
    def name(self, item: str) -> str:
        """Return an item's own name, without where it is.

        Args:
            item: One item.

        Returns:
            A name, which need not be unique.

        Raises:
            LookupError: There is no such item.
        """

    @abstractmethod
    def parent(self, item: str) -> str | None:
        """Return the item above one.

        Args:
            item: One item.

        Returns:
            An item; None for one at the top of the scene.

        Raises:
            LookupError: There is no such item.
        """

    @abstractmethod
    def users(self, thing: str) -> Iterable[str]:
        """Return the items that use a material, a file or another item.

        Args:
            thing: An item, a name of `materials`, or a file's path as it is written.

        Returns:
            Items.

        Raises:
            LookupError: There is no such thing, or the host does not know who uses it.
        """

    @abstractmethod
    def look_into(self, item: str, part: Part) -> Any:
        """Return one part of an item.

        Args:
            item: One item.
            part: Which one; "bounds" is asked of `bounds`.

        Returns:
            None where it has no such part. Else, by part: values: {property: `Value`} that
            `set_value` can set; inputs: [`SocketLink`]; uses: [item or file]; keys: {property:
            [[frame, value]]}, 100 at most of each; counts: {"faces": n, ...}; text: what a text or
            an expression says.

        Raises:
            LookupError: There is no such item.
        """

    @abstractmethod
    def bounds(self, item: str) -> Bounds | None:
        """Return the box of an item with all below it, in world space, after modifiers and rigs.

        Args:
            item: One item.

        Returns:
            The lowest and the highest corner; None for what has no size: a light, a null.

        Raises:
            LookupError: There is no such item.
        """

    def materials(self) -> Iterable[str]:
        """Return the names of the materials, as `Materials.assign` takes them. Raises nothing.

        Returns:
            Names; none by default.
        """
        return ()

    def named_like(self) -> Sequence[str]:
        """Return how items and their parts are named, for the summary. Raises nothing.

        Returns:
            One item of each kind that the scene has, and one property of each kind of part:
            "material:Steel/Bump", "Cube/modifier:Bevel"; none by default.
        """
        return ()

    def scene_props(self) -> Sequence[str]:
        """Return the properties of `SCENE` that `value` reads. Raises nothing.

        Returns:
            Those that agents want most first; `value` may know others.
        """
        return SCENE_PROPS

    @abstractmethod
    def value(self, item: str, prop: str) -> Value:
        """Read a property.

        Args:
            item: One item, or `SCENE`, whose properties are, as far as the application has them,
                "frame", "start", "end", "fps", "camera" (an item), "size" ([width, height] in
                pixels) and "units" ("m", "cm"), and others of its own.
            prop: As `look_into` names it.

        Returns:
            The value, its type, and what holds it.

        Raises:
            LookupError: There is no such item, or it has no such property; the sentence names
                those that are near.
        """

    def elements(
        self, item: str, prop: str, offset: int, most: int
    ) -> tuple[int, Sequence[Any]] | None:
        """Read a part of a long array, of which `value` returns the beginning alone.

        Args:
            item: One item.
            prop: As `look_into` names it.
            offset: The first element.
            most: How many elements are read at most.

        Returns:
            How many elements there are, and those; None for any other value, which is the default.

        Raises:
            LookupError: There is no such item, or it has no such property.
        """
        return None

    @abstractmethod
    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a property.

        Args:
            item: One item, or `SCENE`.
            prop: As `look_into` names it.
            value: As `value` tells it.
            replace: What holds it (keys, a driver, a connection, a lock) is taken away before;
                the person has agreed.

        Raises:
            LookupError: There is no such item or property.
            ValueError: The value is not of its type or range, and which those are; or the property
                is held.
        """

    @abstractmethod
    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return the placement of an item.

        Args:
            item: One item.
            space: Of the world, or of its parent.

        Returns:
            Place, rotation and scale.

        Raises:
            LookupError: There is no such item.
            ValueError: It is nothing that has a place.
        """
