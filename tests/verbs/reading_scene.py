"""A small scene in memory whose acts only read, draw and tell of an API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dcc_bridge.verbs.acts import (
    SCENE,
    Acts,
    ApiEntry,
    Bounds,
    Junk,
    Part,
    Placement,
    Rule,
    Shot,
    Value,
    Vector,
)
from tests.stand_ins import FakeHost


@dataclass
class Thing:
    """One item."""

    kind: str
    values: dict[str, Value] = field(default_factory=dict)
    at: Vector = (0.0, 0.0, 0.0)
    scale: Vector = (1.0, 1.0, 1.0)
    half: Vector | None = None  # half of its size; None for what has no form
    parts: dict[str, Any] = field(default_factory=dict)


class ReadingActs(Acts):
    """The acts of a scene of `Thing`; an item is a path."""

    up: Literal["Y", "Z"] = "Z"

    def __init__(self, things: dict[str, Thing], file: Path | None = None) -> None:
        self.host = FakeHost(things, file=file)
        self.things = things
        self.scene: dict[str, Any] = {"fps": 24.0, "units": "m", "size": [1920, 1080]}
        self.entries: list[ApiEntry] = []
        self.read = 0  # entries of the API that were read
        self.drawn: list[tuple[list[Shot], int, int, str]] = []
        self.bytes_of_a_pixel = 0.1
        self.paths: list[tuple[str, str, str]] = []
        self.material_names: list[str] = []
        self.searches = 0  # for materials

    def _thing(self, item: str) -> Thing:
        if item not in self.things:
            raise LookupError(f"There is no item {item!r}.")
        return self.things[item]

    def items(self, under: str | None = None) -> Iterable[str]:
        return (it for it in self.things if under is None or it.startswith(f"{under}/"))

    def kind(self, item: str) -> str:
        return self._thing(item).kind

    def name(self, item: str) -> str:
        return item.rpartition("/")[2]

    def parent(self, item: str) -> str | None:
        return item.rpartition("/")[0] or None

    def users(self, thing: str) -> Iterable[str]:
        return (it for it, one in self.things.items() if thing in one.parts.get("uses", ()))

    def look_into(self, item: str, part: Part) -> Any:
        thing = self._thing(item)
        return thing.values if part == "values" else thing.parts.get(part)

    def bounds(self, item: str) -> Bounds | None:
        thing = self._thing(item)
        if thing.half is None:
            return None
        (x, y, z), (a, b, c) = thing.at, thing.half
        return (x - a, y - b, z - c), (x + a, y + b, z + c)

    def types(self) -> Iterable[str]:
        return ["Mesh", "Light", "Camera", "Group"]

    def materials(self) -> Iterable[str]:
        self.searches += 1
        return self.material_names

    def files(self) -> Iterable[tuple[str, str, str]]:
        return self.paths

    def rules(self) -> Iterable[Rule]:
        return [Rule("lights_are_on", "a light is off", "set_values")]

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            power = self.things[item].values.get("power")
            yield item, "its power is 0" if power and not power.value else ""

    def api(self) -> Iterator[ApiEntry]:
        for entry in self.entries:
            self.read += 1
            yield entry

    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            if prop not in self.scene:
                raise LookupError(prop)
            return Value(self.scene[prop])
        values = self._thing(item).values
        if prop not in values:
            raise LookupError(f"{item} has no property {prop!r}.")
        return values[prop]

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        raise NotImplementedError

    def placement(self, item: str, space: Literal["world", "local"] = "world") -> Placement:
        thing = self._thing(item)
        return Placement(thing.at, (0.0, 0.0, 0.0), thing.scale)

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        raise NotImplementedError

    def junk(self, what: Junk) -> list[str]:
        if what == "unused":
            return ["Gold", "old_action"]
        raise ValueError("There is no such.")

    def viewpoint(self, view: str) -> Shot:
        if view == "person":
            return Shot((0.0, -10.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angle=40.0)
        raise LookupError(f"There is no camera {view!r}.")

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        self.drawn.append((list(shots), width, height, shading))
        return b"\xff\xd8\xff" + bytes(int(width * height * self.bytes_of_a_pixel))
