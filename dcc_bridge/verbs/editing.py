"""The verbs that change the scene: each one undo step, read back from it, all or nothing.

An error in any part of one goes on to the bridge, which takes back what was done until then. Main
thread.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final, Literal, NotRequired, TypedDict

from dcc_bridge.elicitation.text import plural
from dcc_bridge.geometry import add, frame_of, middle
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, refuse, result, shown
from dcc_bridge.verbs.consents import Consenting, OperationsT, cover
from dcc_bridge.verbs.items import by_depth, counted, lineage, point
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.operations import SCENE, HostOperations, Placement, Vector
from dcc_bridge.verbs.ports import AppliedTransforms, Building, Materials

_MOST_STARS: Final = 4  # of a pattern: each one more multiplies the ways to match
Numbers = list[float]
Part = Literal["at", "rotation", "scale"]


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
    """The verbs that make, place and name items."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.create, self.duplicate, self.transform, self.group, self.rename]

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
        placed = {"at": _rounded(operations.placement(item).at)} if at is not None else {}
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

    @skill(risk="edit")
    def transform(
        self,
        items: list[str],
        at: Numbers = [],
        move: Numbers = [],
        rotate: Numbers = [],
        scale: Numbers = [],
        look_at: str | Numbers = "",
        on: str = "",
        space: Literal["world", "local"] = "world",
        apply: list[Part] = [],
    ) -> Any:
        """Move, rotate, scale, aim, set down on others, apply transforms.

        rotate is the new rotation in degrees about x, y, z; look_at an item or a point to face; on
        an item to stand on, or "ground"; apply puts parts into the data; space is of at, move and
        rotate.
        """
        self._check(items, "Transform")
        if not (at or move or rotate or scale or look_at or on or apply):
            raise ValueError("Say what to do: at, move, rotate, scale, look_at, on or apply.")
        apply_to = self._applier(apply)
        operations = self._operations
        before = {item: operations.placement(item, space) for item in track(items)}
        offset, wanted = point(move, "move"), point(at, "at")
        turned, size = point(rotate, "rotate"), point(scale, "scale")
        seen = "" if isinstance(look_at, list) else look_at
        target = point(look_at, "look_at") if isinstance(look_at, list) else None
        moves = not {*items}.isdisjoint(
            lineage(operations, seen)
        )  # the target: it is measured each time
        for item in track(by_depth(operations, items), message="Moving"):
            place = add(wanted or before[item].at, offset) if offset else wanted
            if place or turned or size:
                operations.place(item, place, turned, size, space)
            if seen and (moves or target is None):
                box = operations.bounds(seen)
                target = operations.placement(seen).at if box is None else middle(box)
            if target:
                operations.place(item, rotation=self._aimed(item, target))
            if on:
                operations.place(item, at=self._set_down(item, on))
            apply_to(item)
        did = "Aimed" if look_at else "Moved" if place else "Transformed"
        rows = ({"item": item, "before": _told(before[item]),
                 "after": _told(operations.placement(item, space))}
                for item in items)  # fmt: skip
        return result(items, f"{did} {counted(operations, items)}", changed=rows)

    def _applier(self, parts: list[Part]) -> Callable[[str], None]:
        """Return what puts parts of an item's transform into its data."""
        operations = self._operations
        if not parts:
            return lambda item: None
        if not isinstance(operations, AppliedTransforms):
            raise ValueError("This application has no transforms to apply: leave apply empty.")
        return lambda item: operations.apply(item, parts)

    def _aimed(self, item: str, target: Vector) -> Vector:
        """Give the rotation in world space with which an item looks at a point."""
        operations, eye = self._operations, self._operations.placement(item).at
        axis, up = operations.aim(item)
        if math.dist(eye, target) < 1e-9:
            raise ValueError(f"{item} is at the point that it should look at. Move one of them.")
        world_up = (0.0, 1.0, 0.0) if operations.up == "Y" else (0.0, 0.0, 1.0)
        return aimed(axis, up, add(target, eye, -1.0), world_up)

    def _set_down(self, item: str, on: str) -> Vector:
        """Give the place where the lowest point of an item is on the top of another one."""
        operations, axis = self._operations, 1 if self._operations.up == "Y" else 2
        floor = ((0.0,) * 3, (0.0,) * 3) if on == "ground" else operations.bounds(on)
        box, at = operations.bounds(item), list(operations.placement(item).at)
        if floor is None or box is None:
            bare = on if floor is None else item
            raise ValueError(f"{bare} has no size, so nothing stands on it.")
        at[axis] += floor[1][axis] - box[0][axis]
        return at[0], at[1], at[2]

    @skill(risk="edit")
    def group(
        self,
        items: list[str],
        under: str = "",
        into: str = "",
        kind: Literal["parent", "collection", "set", "layer", "folder"] = "parent",
        keep_place: bool = True,
    ) -> Any:
        """Parent, unparent, collect items in a collection, set, layer or folder.

        Args:
            items: Which ones.
            under: The new parent; "@scene" for none.
            into: Or the collection, set, layer or folder; made if there is none.
            kind: What `into` is.
            keep_place: They stay where they are in the world.
        """
        self._check(items, "Group")
        if bool(under) == bool(into) or (kind == "parent") == bool(into):
            raise ValueError('Give under, or into with its kind: "collection", "set", ...')
        if into:
            where = self._operations.collect(items, into, kind)
            did = f"Put {counted(self._operations, items)} into {self._operations.name(where)}"
            return result(items, did, into=where)
        parent = None if under == SCENE else under
        if parent:
            self._operations.kind(parent)
        moved = {it: self._operations.set_parent(it, parent, keep_place=keep_place)
                 for it in track(by_depth(self._operations, items, deepest=True))}  # fmt: skip
        now = [_followed(moved[item], moved) for item in track(items)]
        where = f"under {self._operations.name(parent)}" if parent else "at the top of the scene"
        did = f"Put {counted(self._operations, now)} {where}"
        return result(now, did, under=self._operations.parent(now[0]))

    @skill(risk="edit")
    def rename(
        self,
        names: dict[str, str] = {},
        pattern: str = "",
        to: str = "",
        under: str = "",
        preview: bool = False,
    ) -> Any:
        """Rename items, by name or by pattern; what refers to them follows.

        Args:
            names: {item: new name}; goes before the pattern.
            pattern: Glob on the name, such as "Cube*".
            to: The new name: "*" is what it matched, "##" a number of two digits.
            under: Only items below this one.
            preview: Only tell the pairs and the collisions.
        """
        operations = self._operations
        for item in track(names):
            operations.kind(item)
        wanted = {**self._matching(pattern, to, under), **names}
        wanted = {it: name for it, name in track(wanted.items()) if name != operations.name(it)}
        if not wanted:
            raise ValueError("No item matches. See list_items for the names.")
        called = {it: operations.called(it, name) for it, name in track(wanted.items())}
        new = {it: name for it, (name, _) in called.items()}
        counts = Counter(new.values())
        collisions = [f"{it}: {name} is {'wanted twice' if counts[name] > 1 else 'taken'}."
                      for it, (name, others) in called.items()
                      if counts[name] > 1 or not wanted.keys() >= {*others}]  # fmt: skip
        if preview:
            preview_pairs = [(item, _followed(new[item], new)) for item in wanted]
            return result(list(wanted), pairs=preview_pairs, collisions=collisions)
        refuse(collisions)
        cover(list(wanted))
        self._consents.ask("Rename", len(wanted), operations.host.item_noun, list(wanted))
        moved: dict[str, str] = {}
        # The deepest first: until then no path changes. What still has a wanted name makes way.
        for item in track(by_depth(operations, wanted, deepest=True), message="Renaming"):
            for other in called[item][1]:
                if other not in moved:
                    moved[other] = operations.rename(other, f"{wanted[other]}_renaming")
            moved[item] = operations.rename(moved.get(item, item), wanted[item])
        now = [_followed(moved[item], moved) for item in track(wanted)]
        # An item that is no name stays what it was: then its name is told.
        every = zip(wanted, now, strict=True)
        pairs = ((it, new if new != it else operations.name(new)) for it, new in every)
        return result(now, f"Renamed {counted(operations, now)}", pairs=pairs)

    def _matching(self, pattern: str, to: str, under: str) -> dict[str, str]:
        """Give the new names of the items that match."""
        stars = pattern.count("*")
        if not pattern:
            return {}
        if not to or to.count("*") > stars or stars > _MOST_STARS:
            needs = "a name, with no more * than pattern"
            raise ValueError(f"to needs {needs}; {_MOST_STARS} at most.")
        glob = re.compile(re.escape(pattern).replace(r"\*", "(.*?)").replace(r"\?", "."))
        wanted: dict[str, str] = {}
        for item in track(self._operations.items(under or None), message="Reading names"):
            if match := glob.fullmatch(self._operations.name(item)):
                parts = iter(match.groups())
                name = re.sub(r"\*", lambda _: next(parts), to)  # noqa: B023 - used at once
                number = str(len(wanted) + 1)
                wanted[item] = re.sub("#+", lambda it: number.zfill(len(it[0])), name)  # noqa: B023
        return wanted


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


def _followed(item: str, moved: Mapping[str, str]) -> str:
    """Give an item as it is called now, where items above it got another path since."""
    at = len(item)
    while (at := max(item.rfind("/", 0, at), item.rfind("|", 0, at))) > 0:
        if (new := moved.get(item[:at])) is not None:
            item, at = new + item[at:], len(new)
    return item


def aimed(axis: Vector, up: Vector, to: Vector, world_up: Vector) -> Vector:
    """Give the degrees about fixed x, y, z that turn an axis to a direction, the other one up."""
    own, other = frame_of(axis, up), frame_of(to, world_up)
    # rows of the matrix that turns the one frame into the other
    m = [[sum(other[k][i] * own[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    y = math.asin(max(-1.0, min(1.0, -m[2][0])))
    if abs(m[2][0]) < 1 - 1e-9:
        x, z = math.atan2(m[2][1], m[2][2]), math.atan2(m[1][0], m[0][0])
    else:  # two of the three turn about one axis
        x, z = math.atan2(-m[1][2], m[1][1]), 0.0
    return math.degrees(x), math.degrees(y), math.degrees(z)


def _rounded(vector: Vector) -> Numbers:
    return [round(number, 5) + 0.0 for number in vector]


def _told(placement: Placement) -> Json:
    return {name: _rounded(getattr(placement, name)) for name in ("at", "rotation", "scale")}
