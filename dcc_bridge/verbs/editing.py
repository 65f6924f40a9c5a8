"""The verbs that select, make and copy items, and give them materials.

Each is one undo step, read back from the scene, all or nothing: an error in any part of one goes on
to the bridge, which takes back what was done until then. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NotRequired, TypedDict

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, result, shown
from dcc_bridge.verbs.consents import Consenting, OperationsT, cover
from dcc_bridge.verbs.items import counted, point
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.operations import HostOperations, Vector
from dcc_bridge.verbs.ports import Building, Materials

Numbers = list[float]


class Thing(TypedDict):
    """What `create` makes one item from."""

    type: str
    name: NotRequired[str]
    under: NotRequired[str]
    at: NotRequired[Numbers]
    values: NotRequired[Json]


class SelectionVerbs(Consenting[HostOperations]):
    """The verb that selects."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.select]

    @skill(risk="read", idempotent=True)  # of the scene: it changes a view of it
    def select(self, items: list[str], frame: bool = False) -> Any:
        """Select items for the person; no other tool touches the selection or the view.

        Args:
            items: None of them clears the selection.
            frame: Show them in the viewport.
        """
        for item in track(items):
            self._operations.kind(item)
        self._operations.host.select(items)
        if frame:
            self._operations.host.frame(items)
        did = f"Selected {counted(self._operations, items)}" if items else "Cleared the selection"
        return result(self._operations.host.selection, did)


class ItemVerbs(Consenting[OperationsT]):
    """What verbs over given items have in common."""

    def _check(self, items: Sequence[str], verb: str, *, more: int = 1) -> None:
        """See that items are there, and ask for many at once."""
        if not items:
            raise ValueError("items: give at least one.")
        for item in track(items):
            self._operations.kind(item)
        cover(items)
        self._consents.ask(verb, len(items) * more, self._operations.host.item_noun, items)


class BuildingVerbs(ItemVerbs[Building]):
    """The verbs that make and copy items."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.create, self.duplicate]

    @skill(risk="edit")
    def create(self, things: list[Thing]) -> Any:
        """Create items: lights, cameras, meshes, groups, nodes.

        Args:
            things: Each with a type that find_api knows; at is [x, y, z] in world space, values
                are its properties.
        """
        if not things:
            raise ValueError("things: give at least one.")
        self._consents.ask("Create", len(things), "item")
        made = [self._made(number, thing) for number, thing in enumerate(track(things))]
        items = [str(row["item"]) for row in made]
        return result(items, f"Created {counted(self._operations, items)}", made=made)

    def _made(self, number: int, thing: Thing) -> Json:
        operations, kind = self._operations, thing["type"]
        try:
            if (under := thing.get("under")) is not None:
                operations.kind(under)
            types = list(operations.types())
            if kind not in types:
                raise LookupError(no_such("type", kind, types))
            item = operations.create(kind, thing.get("name"), under)
            if (at := point(thing.get("at", []), "at")) is not None:
                operations.place(item, at=at)
            for prop, value in thing.get("values", {}).items():
                operations.set_value(item, prop, value)
        except (LookupError, ValueError) as error:
            raise ValueError(f"things[{number}]: {error}") from error
        row = {"item": item, "type": operations.kind(item)}
        values = {prop: shown(operations.value(item, prop)) for prop in thing.get("values", {})}
        placed = {"at": rounded(operations.placement(item).at)} if at is not None else {}
        return row | placed | ({"values": values} if values else {})

    @skill(risk="edit")
    def duplicate(
        self, items: list[str], count: int = 1, to: list[str | Numbers] = [], linked: bool = True
    ) -> Any:
        """Copy items, as instances or whole; also to replace placeholders.

        Args:
            items: Each is copied with what is below it.
            count: Copies of each.
            to: A copy for each of these instead: a point, or an item whose place it takes.
            linked: Copies share their data.
        """
        if count < 1:
            raise ValueError(f"count is 1 or more, not {count}.")
        self._check(items, "Copy", more=len(to) or count)
        places = [self._place_of(place) for place in track(to)] or [(None, None, None)] * count
        copies = []
        for item, place in track(product(items, places), total=len(items) * len(places)):
            copies.append(self._operations.duplicate(item, linked=linked))
            if to:
                self._operations.place(copies[-1], *place)
        of = (
            self._operations.name(items[0]) if len(items) == 1 else counted(self._operations, items)
        )
        return result(copies, f"Made {plural(len(copies), 'copy')} of {of}")

    def _place_of(self, place: str | Numbers) -> tuple[Vector | None, Vector | None, Vector | None]:
        if isinstance(place, list):
            return point(place, "to"), None, None
        found = self._operations.placement(place)
        return found.at, found.rotation, found.scale


class MaterialVerbs(ItemVerbs[Materials]):
    """The verb that makes and assigns materials."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.assign_material]

    @skill(risk="edit")
    def assign_material(self, items: list[str] = [], material: str = "", values: Json = {}) -> Any:
        """Give items a material, an existing one or one made of values.

        Args:
            items: None of them only makes or changes it.
            material: Its name; without one it is new.
            values: base_color and emission [r, g, b], metallic, roughness, opacity, normal and
                texture (files).
        """
        if items:
            self._check(items, "Assign a material to")
        operations, known = self._operations, list(self._operations.materials())
        if material and material not in known and not values:
            raise ValueError(f"{no_such('material', material, known)} With values it is made.")
        name = operations.material(material or None, values) if values or not material else material
        if values and name in known:
            cover([name])  # what led into it gives way
        for item in track(items):
            operations.assign(item, name)
        did = f"{f'Gave {counted(operations, items)}' if items else 'Made'} the material {name}"
        is_new, users = name not in known, list(operations.users(name))
        return result(items, did, material=name, is_new=is_new, users=users)


def rounded(vector: Vector) -> Numbers:
    """Round a point for an answer, to five digits after the point and without a negative zero."""
    return [round(number, 5) + 0.0 for number in vector]
