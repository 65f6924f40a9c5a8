"""The ports of a host for the verbs beside `HostOperations`: one class for each ability.

A host's operations implement the ports whose verbs the application has; the verbs of the others are
not listed there. The words of `dcc_bridge.verbs.operations` hold here too: what an item is, units,
errors, and that an operation changes only the things it is told to. Main thread.

====================  ============================================================================
port                  needed by
====================  ============================================================================
`Building`            the verbs create, duplicate, transform, group, rename
`AppliedTransforms`   apply of transform, and a rule of check
`CheckedValues`       values that belong together, of create and set_values
`Computing`           errors of items, of inspect
`Materials`           the verb assign_material
`Connections`         the verb connect
`Keyframes`           the verb set_keys
`FileExchange`        the verbs import_file, export_file
`Saving`              the verb save
`Deleting`            the verb delete
`Cleaning`            the verb clean, and two rules of check
`Checking`            the host's own rules of check, and those of files
`ApiSearch`           the verb find_api
`Drawing`             the verbs look and render
`Rendering`           a renderer of the application's own, for render
`Marking`             pictures in questions about a loss
`Frames`              frames of look
`CodeContext`         the tool run_python
====================  ============================================================================
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.operations import (
    ApiEntry,
    At,
    Axes,
    Exported,
    HostOperations,
    Imported,
    Junk,
    Keys,
    Render,
    Rule,
    Said,
    Shape,
    Shot,
    SocketLink,
    Vector,
)
from dcc_bridge.verbs.plain_names import PlainNames


class Building(HostOperations):
    """Items can be made, copied, placed, parented and named.

    For the verbs create, duplicate, transform, group and rename.
    """

    @abstractmethod
    def types(self) -> Iterable[str]:
        """Return the types that `create` takes. Raises nothing.

        Returns:
            Types: "Camera", "AREA_LIGHT".
        """

    @abstractmethod
    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Make an item at the origin of its parent.

        By the application's data, not by an operator that goes by what is selected.

        Args:
            kind: One of `types`.
            name: The wanted name; where it is taken the host gives a free one that is near. None
                for the application's own.
            under: The item below which it comes; None for the top of the scene.

        Returns:
            The new item.

        Raises:
            LookupError: There is no such type, or nothing to put it below.
            ValueError: It cannot be there.
        """

    @abstractmethod
    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy an item with all below it, beside itself.

        Args:
            item: One item.
            linked: The copies share their data, where the application has that.

        Returns:
            The copy.

        Raises:
            LookupError: There is no such item.
            ValueError: It cannot be copied.
        """

    @abstractmethod
    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Place an item; a part that is None stays as it is.

        Args:
            item: One item.
            at: Its origin.
            rotation: Degrees about X, then Y, then Z, about fixed axes.
            scale: Along its own axes.
            space: Of the world, or of its parent.

        Raises:
            LookupError: There is no such item.
            ValueError: It is locked, keyed or driven, or is nothing that has a place.
        """

    def path(self, item: str) -> Sequence[Vector]:
        """Return the points of a curve, along which others can be put. For repeat.

        Args:
            item: One item.

        Returns:
            Points of the world, at least two, close enough that straight lines between them are
            the curve; the last is the first one where it is closed.

        Raises:
            LookupError: There is no such item.
            ValueError: It is no curve, which is the default for all items.
        """
        self.kind(item)
        raise ValueError(f"{item} is no curve: give along a list of points.")

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return which axes of an item look ahead and up: a camera's look_at turns them.

        Args:
            item: One item.

        Returns:
            The axis that is turned to the target, and the one that is kept up; by default those of
            a camera, -Z and Y.

        Raises:
            LookupError: There is no such item.
        """
        return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)

    @abstractmethod
    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Put an item below another one.

        Args:
            item: One item.
            under: The new parent; None for the top of the scene.
            keep_place: It stays where it is in the world; else its place is of its new parent.

        Returns:
            The item, as it is called now.

        Raises:
            LookupError: There is no such item.
            ValueError: It cannot be there: below itself, below an item that takes no children.
        """

    @abstractmethod
    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put items into a collection, set, layer or folder, made if there is none of that name.

        Args:
            items: Which ones.
            into: Its name or item.
            kind: "collection", "set", "layer" or "folder".

        Returns:
            The item of the collection.

        Raises:
            LookupError: There is no such item.
            ValueError: This host has no such kind; the sentence says which it has.
        """

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the item that a rename would lead to. For hosts of unique names.

        Args:
            item: One item.
            name: The new name.

        Returns:
            The item as it would be, and the others that are called so now. By default the new name
            takes the place of the old one at the end of the item.

        Raises:
            LookupError: There is no such item.
        """
        own = self.name(item)
        new = name
        if item.endswith(own):
            new = item.removesuffix(own) + name
        if self.host.kinds([new]) == ["gone"]:
            return new, []
        return new, [new]

    @abstractmethod
    def rename(self, item: str, name: str) -> str:
        """Rename an item; references to it follow.

        Args:
            item: One item.
            name: The new name.

        Returns:
            The item, as it is called now.

        Raises:
            LookupError: There is no such item.
            ValueError: The name is taken or not valid, or the item cannot be renamed.
        """


class AppliedTransforms(HostOperations):
    """An item's transform can be put into its data: "apply" in Blender, "freeze" in Maya.

    For apply of the verb transform, and the rule scale_applied of check.
    """

    @abstractmethod
    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        """Put parts of the transform into the data, so that nothing moves and they are unit.

        Args:
            item: One item.
            parts: Which parts.

        Raises:
            LookupError: There is no such item.
            ValueError: Its data cannot take them in: other items share it, it is a camera.
        """


class CheckedValues(HostOperations):
    """Values that belong together are checked once a call has written them all."""

    @abstractmethod
    def check_written(self, written: Sequence[tuple[str, str]]) -> None:
        """Check values that belong together.

        Args:
            written: Each item and property that was written.

        Raises:
            ValueError: Values do not fit each other, and which.
        """


class Computing(HostOperations):
    """The application computes items from others, and tells which it cannot."""

    @abstractmethod
    def fault(self, item: str) -> str:
        """Return why the application cannot compute an item, so that its shape is out of date.

        Args:
            item: One item.

        Returns:
            A sentence without its full stop; "" for an item that is in order.

        Raises:
            LookupError: There is no such item.
        """


class Materials(HostOperations):
    """Materials can be made and assigned. For the verb assign_material.

    Their names are told by `HostOperations.materials`.
    """

    @abstractmethod
    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make a material, or change the one of that name.

        Args:
            name: One of `materials`, or a new one; None makes one with the application's name.
            values: Of base_color and emission ([r, g, b], linear), metallic, roughness, opacity (0
                to 1), normal and texture (files).

        Returns:
            The name.

        Raises:
            ValueError: There is another value among them, or one that the material cannot have.
        """

    @abstractmethod
    def assign(self, item: str, material: str) -> None:
        """Assign a material to an item, in place of its former one.

        Args:
            item: One item.
            material: One of `materials`.

        Raises:
            LookupError: There is no such item or material.
            ValueError: It is nothing that has one.
        """


class Connections(HostOperations):
    """Items have inputs and outputs: node networks, shaders, drivers. For the verb connect."""

    @abstractmethod
    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return the inputs and the outputs of an item.

        Args:
            item: One item.

        Returns:
            The names of its inputs, and those of its outputs.

        Raises:
            LookupError: There is no such item.
        """

    @abstractmethod
    def connect(self, link: SocketLink) -> None:
        """Make a connection; a former connection of its input is cut.

        Args:
            link: Its sockets are known to be there.

        Raises:
            ValueError: The two do not go together, or would be a circle.
        """

    @abstractmethod
    def cut(self, link: SocketLink) -> None:
        """Cut a connection.

        Args:
            link: The connection; without a `SocketLink.source`, any that leads into the input.

        Raises:
            ValueError: There is no such connection, or it cannot be cut.
        """


class Keyframes(HostOperations):
    """Properties can be keyed. For the verb set_keys.

    Attributes:
        usual_shape: The shape of the curve between keys where none is asked for.
    """

    usual_shape: Shape = "smooth"

    @abstractmethod
    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        """Return the keys of a property.

        Args:
            item: One item.
            prop: One of its properties.

        Returns:
            A frame and a value each, by frame; none where it is not keyed.

        Raises:
            LookupError: There is no such item or property.
        """

    @abstractmethod
    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Add keys to a property; one that is there at a frame gets the new value.

        Args:
            item: One item.
            prop: One of its properties.
            keys: A frame and a value each.
            shape: Of the curve between the new keys.
            clear: All others go, and without keys all of them.

        Raises:
            LookupError: There is no such item or property.
            ValueError: It cannot be keyed, or a value is not of its type.
        """


class FileExchange(HostOperations):
    """Files of other formats can be read and written. For the verbs import_file, export_file."""

    @abstractmethod
    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the formats that can be imported. Raises nothing.

        Returns:
            By suffix (".obj") the ways: "copy", "reference", "payload", "link".
        """

    @abstractmethod
    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Read a file in.

        Args:
            path: A file that is there, of one of the formats.
            how: One of its ways.
            under: The item below which it comes; None for the top of the scene.
            scale: By which all lengths are multiplied.
            up: The axis that is up in it, where the format does not say; None for its usual one.

        Returns:
            The new items and the warnings.

        Raises:
            LookupError: There is nothing to put it below.
            ValueError: The file cannot be read, and what is wrong with it.
        """

    @abstractmethod
    def export_formats(self) -> Sequence[str]:
        """Return the formats that can be exported. Raises nothing.

        Returns:
            Suffixes: ".obj".
        """

    @abstractmethod
    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Write items to a file; the scene and its own file stay as they are.

        Args:
            path: The file. The person has agreed to write over it; call `Host.losing` before.
            items: Which ones; none of them stands for the scene.
            frames: The first and the last frame of an animation; None for the person's frame.

        Returns:
            The items in the file, and sentences on the things that were left out.

        Raises:
            ValueError: It was not written, and why.
        """


class Saving(HostOperations):
    """The scene can be saved. For the verb save."""

    @abstractmethod
    def save_files(self, path: Path | None) -> list[Path]:
        """Return the files that a save would write, for the question to the person.

        Args:
            path: Another file; None for the scene's own.

        Returns:
            The scene's own first, then those that are saved with it.

        Raises:
            ValueError: It cannot be saved: it never was, and no path is given; the suffix.
        """

    @abstractmethod
    def save(self, path: Path | None) -> Path:
        """Save the scene, which is of that file then.

        Call `Host.losing` before a file is written over.

        Args:
            path: Another file; None for the scene's own.

        Returns:
            The file.

        Raises:
            ValueError: It was not written, and why.
        """


class Deleting(HostOperations):
    """Items can be deleted. For the verb delete, which asks the person before."""

    @abstractmethod
    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete items, and the items below them where the application does.

        Args:
            items: Which ones; some may be below others of them.

        Returns:
            Those that were only hidden, because they cannot go: a reference brought them.

        Raises:
            LookupError: There is no such item.
            ValueError: One of them cannot be deleted, and why.
        """

    def check_deletable(self, items: Sequence[str]) -> None:
        """Check that items can be deleted, before anybody is asked. By default all can.

        Args:
            items: Which ones.

        Raises:
            LookupError: There is no such item.
            ValueError: One of them cannot be deleted, and why.
        """
        return

    def still_there(self, items: Sequence[str]) -> Sequence[str]:
        """Return which items are there although they were deleted. Raises nothing.

        Args:
            items: The items that were deleted.

        Returns:
            By default those whose name still stands for an item.
        """
        return [item for item in track(items) if self.host.kinds([item]) != ["gone"]]

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """Return the further items that are deleted with items, for the question.

        Args:
            items: Which ones.

        Returns:
            Items, the nearest first; nothing where children stay.

        Raises:
            LookupError: There is no such item.
        """
        return ()

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """Return the items that stay without their parent if items are deleted, for the question.

        Args:
            items: Which ones.

        Returns:
            Items; nothing where children go along.

        Raises:
            LookupError: There is no such item.
        """
        return ()

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Return the things that break if items are deleted, by the application's references.

        Args:
            items: Which ones.

        Returns:
            What a person reads for each that refers to one of them, or to what is below it, and
            stays: "Cut", "Boolean of Cube".

        Raises:
            LookupError: There is no such item.
        """
        return ()

    def remark(self, items: Sequence[str]) -> str:
        """Return a sentence on how items are deleted, for the question. Raises nothing.

        Args:
            items: Which ones.

        Returns:
            Such as which files a deletion edits; "" by default, and where there is nothing to say.
        """
        del items
        return ""


class Cleaning(HostOperations):
    """Junk can be found and cleaned away. For the verb clean, and two rules of check."""

    @abstractmethod
    def junk(self, what: Junk) -> list[str]:
        """Return the items that `clean` would take away.

        Args:
            what: The kind of junk.

        Returns:
            Items, or what the host calls other data.

        Raises:
            ValueError: This host has no such.
        """

    @abstractmethod
    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Clean junk away.

        Args:
            what: The kind of junk.
            items: The items of `junk` to which the person agreed.

        Raises:
            ValueError: This host has no such.
        """


class Checking(HostOperations):
    """The host knows its files, and has rules of its own. For the verb check."""

    @abstractmethod
    def files(self) -> Iterable[tuple[str, str, str]]:
        """Return each file that the scene refers to. Raises nothing.

        Returns:
            The item, its property, and the path as it is written there.
        """

    @abstractmethod
    def rules(self) -> Iterable[Rule]:
        """Return this host's rules, beside those that are the same for all. Raises nothing.

        Returns:
            Rules; one of the name of a common rule takes its place.
        """

    @abstractmethod
    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Judge items by a rule, lazily, so that the host paints meanwhile.

        Args:
            rule: The name of one of `rules`.
            items: Which ones.

        Returns:
            An item, and why it fails; "" for one that passes. It yields often.

        Raises:
            LookupError: There is no such item.
            ValueError: The rule cannot be tried.
        """


class ApiSearch(HostOperations):
    """This version's API can be listed. For the verb find_api."""

    @abstractmethod
    def api(self) -> Iterator[ApiEntry]:
        """Return the entries of this version's API, from introspection alone. Raises nothing.

        Returns:
            Entries, lazily, in pieces of 5 ms at most.
        """

    def said(self) -> Mapping[str, Said]:
        """Return what people say for entries of `api`. Raises nothing.

        Returns:
            The phrases and the example by the name of the entry. A name that this version does not
            have does no harm.
        """
        return {}


class Drawing(HostOperations):
    """Pictures of the scene can be drawn. For the verb look."""

    def is_shown(self, item: str) -> bool:
        """Return whether the scene shows an item, wherever it is looked at from.

        Args:
            item: One item.

        Returns:
            False for one that is hidden, or below a hidden one.

        Raises:
            LookupError: There is no such item.
        """
        return True

    @abstractmethod
    def viewpoint(self, view: str) -> Shot:
        """Return the shot of a view.

        Args:
            view: "person" for the window's own view, or a camera's item.

        Returns:
            The shot.

        Raises:
            LookupError: There is no such camera.
            ValueError: There is no window to look through.
        """

    @abstractmethod
    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw up to four shots, several in two columns.

        The person's view, camera, selection, frame and settings are as before afterwards, and no
        undo step is left.

        Args:
            shots: From where.
            width: Pixels of each.
            height: Pixels of each.
            shading: "solid", "wire" or "material", or what is next to it here.

        Returns:
            One JPEG.

        Raises:
            ValueError: Nothing can be drawn, and why.
        """


class Rendering(HostOperations):
    """The application has a renderer, in a process of its own. For the verb render."""

    @abstractmethod
    def render_formats(self) -> Sequence[str]:
        """Return the formats of the files that can be rendered. Raises nothing.

        Returns:
            Their suffixes: ".png".
        """

    @abstractmethod
    def rendering(self, wanted: Render) -> Callable[[Callable[[float], None]], list[str]]:
        """Prepare to render the scene as it is now.

        What changes in the scene afterwards is not in the pictures. A shot through a camera
        follows the camera to the shot's frame.

        Args:
            wanted: The pictures.

        Returns:
            A function that renders them, to be called once, on another thread, and that returns
            sentences about what is not as the scene says. It calls the function that it is given
            several times a second, with the number of pictures that are done: 1.5 is the half of
            the second one. If that raises, the renderer is ended. It raises ValueError if the
            renderer fails, and says why.

        Raises:
            LookupError: There is no such camera.
            ValueError: The application cannot render now, and why.
        """


class Marking(HostOperations):
    """Places in a picture can be marked. With `Drawing`, for questions about a loss."""

    @abstractmethod
    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        """Draw one shot as `Drawing.draw` does, with a rectangle around each mark.

        It may be called while an undo step is open that is reverted later.

        Args:
            shot: From where; its camera and its frame are not set.
            width: Pixels.
            height: Pixels.
            marks: The left, upper, right and lower edge of each, in pixels inside of the picture.

        Returns:
            One PNG.

        Raises:
            ValueError: Nothing can be drawn, and why.
        """


class Frames(HostOperations):
    """The scene can be read as it is at another frame. For frames of the verb look."""

    @abstractmethod
    def at_frame(self, frame: float) -> AbstractContextManager[None]:
        """Return a block in which the scene is evaluated at a frame.

        That holds for `bounds`, `is_shown`, `placement`, `viewpoint` and the scene's camera. The
        person's own frame, and what they changed there and did not key, are as before afterwards.

        Args:
            frame: In the scene's frames.

        Returns:
            The block.

        Raises:
            ValueError: The scene has no such frame.
        """


class CodeContext(HostOperations):
    """Code of an agent can be run. For the tool run_python, which asks the person before."""

    @abstractmethod
    def namespace(self) -> dict[str, Any]:
        """Return the names that code of an agent gets, as this application's scripts have them.

        Called before each run: what stood in one is dead after an undo, in some hosts. It raises
        nothing.

        Returns:
            A new dict: {"cmds": cmds}.
        """

    def in_context(self, warnings: list[str]) -> AbstractContextManager[Any]:
        """Enter what that code needs around it. Raises nothing.

        Args:
            warnings: Gets what the application warns of, in sentences.

        Returns:
            A block that gives None, or a function that is called after a take-back, which returns
            "" if all is as before, and else what is not: ", but ...".
        """
        return nullcontext()

    def plain_names(self) -> PlainNames:
        """Return the names that plain code may use. Raises nothing.

        Returns:
            By default nothing of the application, so that its every use is marked in the question.
        """
        return PlainNames()

    def writers(self) -> Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]]:
        """Return what writes files in C++, past Python's own `open`. Raises nothing.

        Returns:
            Its owner (a module or class), its name there, and what tells the paths from the
            arguments that it is called with.
        """
        return ()
