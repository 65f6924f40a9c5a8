"""The verbs that select, make and copy items, and give them materials.

Each is one undo step, read back from the scene, all or nothing: an error in any part of one goes on
to the bridge, which takes back what was done until then. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from math import isfinite
from typing import Annotated, Any, Final, NotRequired, TypedDict

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.described import TEXT, Described
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import Json, result, shown
from dcc_bridge.verbs.consents import ConsentingVerbs, OperationsT, cover
from dcc_bridge.verbs.items import counted, matching, point
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.operations import HostOperations, Vector
from dcc_bridge.verbs.ports import Building, CheckedValues, Materials
from dcc_bridge.verbs.repeats import Repeat, Spot, check_count, numbered, read_repeat, turn_to

Numbers = list[float]


class Thing(TypedDict):
    """A thing of a type that find_api knows, at [x, y, z] in the world, with its properties."""

    type: str
    name: NotRequired[str]
    under: NotRequired[str]
    at: NotRequired[Numbers]
    values: NotRequired[Json]
    repeat: NotRequired[Json]


_COLOR: Final = {"type": "array", "items": {"type": "number"}, "minItems": 3}
_SHARE: Final = {"type": "number"}
MaterialValues = Annotated[
    Json,
    Described(
        {
            "type": "object",
            "properties": {
                "base_color": _COLOR,
                "emission": _COLOR,
                "metallic": _SHARE,
                "roughness": _SHARE,
                "opacity": _SHARE,
                "normal": TEXT,
                "texture": TEXT,
            },
        }
    ),
]
"""The values of `Materials.material`, which checks them."""


class SelectionVerbs(ConsentingVerbs[HostOperations]):
    """The verb that selects."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.select]

    # "read" of the scene: the selection is a view of it.
    @skill(title="Select items", risk="read", idempotent=True)
    def select(self, items: list[str], frame: bool = False) -> outputs.Items:
        """Select items for the person; no other tool touches the selection or the view.

        Args:
            items: None of them clears the selection.
            frame: Show them in the viewport.
        """
        operations = self._operations
        items = matching(operations, items)
        operations.host.select(items)
        if frame:
            operations.host.frame(items)
        summary = "Cleared the selection"
        if items:
            summary = f"Selected {counted(operations, items)}"
        return result(operations.host.selection, summary)


class ItemVerbs(ConsentingVerbs[OperationsT]):
    """A base for verbs over given items: they must exist, and many need consent."""

    def _check(self, items: Sequence[str], verb: str, *, copies: int = 1) -> list[str]:
        """Return the items, and ask the person first where they are many.

        Args:
            items: The items that the verb edits; globs stand for those of that name.
            verb: What the verb does, as the question begins: "Copy".
            copies: How many changes the verb makes of each item.

        Raises:
            LookupError: One of the items does not exist.
            ValueError: There are no items, or too many.
        """
        if not items:
            raise ValueError("items: give at least one.")
        every = matching(self._operations, items)
        count = len(every) * copies
        if copies > 1:
            check_count(count)
        cover(every)
        noun = self._operations.host.item_noun
        self._consents.ask(verb, count, noun, every)
        return every


class BuildingVerbs(ItemVerbs[Building]):
    """The verbs that make and copy items."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.create, self.duplicate]

    @skill(title="Create items", risk="edit")
    def create(self, things: list[Thing]) -> outputs.Created:
        """Create items: lights, cameras, meshes, groups, nodes.

        Args:
            things: repeat makes many: a grid {count: [9, 9, 1], step: [2, 2, 0],
                name: "Box_###"}, a ring {count, radius, axis, turn}, or {count, along: a curve or
                points}.
        """
        if not things:
            raise ValueError("things: give at least one.")
        operations = self._operations
        repeats = [self._repeat_of(number, thing) for number, thing in enumerate(things)]
        count = _count(repeats)
        check_count(count)
        self._consents.ask("Create", count, "item")
        rows = []
        items = []
        names_taken: list[str] = []
        written: list[tuple[str, str]] = []
        for number, thing, spot in track(self._single(things, repeats), total=count):
            row = self._create_one(number, thing)
            item = str(row["item"])
            repeat = repeats[number]
            if repeat is not None:
                turn_to(operations, item, repeat, spot)
            rows.append(row)
            items.append(item)
            names_taken += self._taken_name(item, thing.get("name"))
            written += [(item, prop) for prop in thing.get("values", {})]
        if isinstance(operations, CheckedValues):
            operations.check_written(written)
        facts: Json = {"made": rows}
        if names_taken:
            facts["names_taken"] = names_taken
        return result(items, f"Created {counted(operations, items)}", **facts)

    def _taken_name(self, item: str, wanted: str | None) -> list[str]:
        """Return a sentence if a new item has another name because others have the wanted one."""
        operations = self._operations
        if not wanted or operations.name(item) == wanted:
            return []
        with suppress(LookupError, ValueError):  # the application does not allow such a name
            _, others = operations.called(item, wanted)
            if others:
                return [f"{wanted} is taken: this is {operations.name(item)}"]
        return []

    def _repeat_of(self, number: int, thing: Thing) -> Repeat | None:
        """Return the repeat of a thing, if it has one; an error names the thing by its number."""
        if "repeat" not in thing:
            return None
        operations = self._operations
        try:
            return read_repeat(thing["repeat"], operations.up, operations.path)
        except (LookupError, ValueError) as error:
            raise ValueError(f"things[{number}]: {error}") from error

    def _single(
        self, things: Sequence[Thing], repeats: Sequence[Repeat | None]
    ) -> Iterator[tuple[int, Thing, Spot]]:
        """Yield each item to create as a thing of its own, with the number of its thing."""
        for number, (thing, repeat) in enumerate(zip(things, repeats, strict=True)):
            if repeat is None:
                yield number, thing, Spot((0.0, 0.0, 0.0))
                continue
            base = point(thing.get("at", []), "at") or self._origin(thing.get("under"))
            pattern = repeat.name or thing.get("name", "")
            for count, spot in enumerate(repeat.spots, 1):
                single: Thing = {**thing, "at": list(spot.place(base))}
                if pattern:
                    single["name"] = numbered(pattern, count)
                yield number, single, spot

    def _origin(self, under: str | None) -> Vector:
        """Return the place of a parent; that of the world without one that has a place."""
        if under is not None:
            with suppress(LookupError, ValueError):  # `_create_one` says what is wrong with it
                return self._operations.placement(under).at
        return 0.0, 0.0, 0.0

    def _create_one(self, number: int, thing: Thing) -> Json:
        """Create one item and return its row; an error names the thing by its number."""
        operations = self._operations
        kind = thing["type"]
        values = thing.get("values", {})
        at = None
        try:
            item = self._make(kind, thing.get("name"), thing.get("under"))
            at = point(thing.get("at", []), "at")
            if at is not None:
                operations.place(item, at=at)
            for prop, value in values.items():
                operations.set_value(item, prop, value)
        except (LookupError, ValueError) as error:
            raise ValueError(f"things[{number}]: {error}") from error
        row: Json = {"item": item, "type": operations.kind(item)}
        if at is not None:
            row["at"] = rounded(operations.placement(item).at)
        if values:
            row["values"] = {prop: shown(operations.value(item, prop)) for prop in values}
        return row

    def _make(self, kind: str, name: str | None, under: str | None) -> str:
        """Create an item and return it."""
        operations = self._operations
        if under not in (None, "/"):  # some hosts have no item for the top
            operations.kind(str(under))
        types = list(operations.types())
        if kind not in types:
            raise LookupError(no_such("type", kind, types))
        return operations.create(kind, name, under)

    @skill(title="Duplicate items", risk="edit")
    def duplicate(
        self,
        items: list[str],
        count: int = 1,
        to: list[str | Numbers] = [],
        linked: bool = True,
        repeat: Json = {},
    ) -> outputs.Items:
        """Copy items, as instances or whole; also to replace placeholders.

        Args:
            items: Each is copied with what is below it.
            count: Copies of each.
            to: A copy for each of these instead: a point, or an item whose place it takes.
            linked: Copies share their data.
            repeat: As of create, from each item's place; the item is the first of a grid.
        """
        if count < 1:
            raise ValueError(f"count is 1 or more, not {count}.")
        if repeat:
            return self._duplicate_repeatedly(items, repeat, linked)
        operations = self._operations
        items = self._check(items, "Copy", copies=len(to) or count)
        places = [self._place_of(place) for place in track(to)]
        if not places:
            places = [(None, None, None)] * count
        copies = []
        for item, place in track(product(items, places), total=len(items) * len(places)):
            copy = operations.duplicate(item, linked=linked)
            copies.append(copy)
            if to:
                operations.place(copy, *place)
        return self._copied(items, copies)

    def _duplicate_repeatedly(self, items: list[str], told: Json, linked: bool) -> Any:
        """Copy items to the spots of a repeat, and return the answer."""
        operations = self._operations
        repeat = read_repeat(told, operations.up, operations.path)
        spots = [spot for spot in repeat.spots if not spot.is_start]
        items = self._check(items, "Copy", copies=len(spots))
        copies: list[str] = []
        for item, spot in track(product(items, spots), total=len(items) * len(spots)):
            copy = operations.duplicate(item, linked=linked)
            operations.place(copy, at=spot.place(operations.placement(item).at))
            turn_to(operations, copy, repeat, spot)
            if repeat.name:
                copy = operations.rename(copy, numbered(repeat.name, len(copies) + 1))
            copies.append(copy)
        return self._copied(items, copies)

    def _copied(self, items: Sequence[str], copies: Sequence[str]) -> Any:
        """Return the answer about copies of items."""
        originals = counted(self._operations, items)
        if len(items) == 1:
            originals = self._operations.name(items[0])
        return result(copies, f"Made {plural(len(copies), 'copy')} of {originals}")

    def _place_of(self, place: str | Numbers) -> tuple[Vector | None, Vector | None, Vector | None]:
        """Return the place, rotation and scale of an item, or a point alone."""
        if isinstance(place, list):
            return point(place, "to"), None, None
        placement = self._operations.placement(place)
        return placement.at, placement.rotation, placement.scale


class MaterialVerbs(ItemVerbs[Materials]):
    """The verb that makes and assigns materials."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.assign_material]

    @skill(risk="edit")
    def assign_material(
        self, items: list[str] = [], material: str = "", values: MaterialValues = {}
    ) -> outputs.Assigned:
        """Assign to items a material that is there, or one made of values.

        Args:
            items: None of them only makes or changes it.
            material: Its name; without one it is new.
            values: Colors are [r, g, b]; normal and texture are files.
        """
        if items:
            items = self._check(items, "Assign a material to")
        operations = self._operations
        known = list(operations.materials())
        if material and material not in known and not values:
            raise ValueError(f"{no_such('material', material, known)} With values it is made.")
        name = material
        if values or not material:
            name = operations.material(material or None, values)
        is_new = name not in known
        if values and not is_new:
            cover([name])  # what led into the material gives way to its new values
        for item in track(items):
            operations.assign(item, name)
        summary = f"Made the material {name}"
        if items:
            summary = f"Gave {counted(operations, items)} the material {name}"
        users = list(operations.users(name))
        return result(items, summary, material=name, is_new=is_new, users=users)


def _count(repeats: Sequence[Repeat | None]) -> int:
    """Return how many items things with these repeats make."""
    count = 0
    for repeat in repeats:
        if repeat is None:
            count += 1
        else:
            count += len(repeat.spots)
    return count


def rounded(vector: Vector) -> list[Any]:
    """Round a point for an answer, to five digits after the point and without a negative zero."""
    return [shown(number) if not isfinite(number) else round(number, 5) + 0.0 for number in vector]
