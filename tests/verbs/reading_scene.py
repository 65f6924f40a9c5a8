"""The scene in memory with an API, files, rules and pictures, and how often they were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from dcc_bridge.verbs.operations import SCENE, ApiEntry, Junk, Rule, Said, Shot, Value
from dcc_bridge.verbs.ports import Checking, Frames
from tests.verbs.memory import MemoryHost, MemoryOperations


class ReadingOperations(MemoryOperations, Checking, Frames):
    """The operations of a scene that is read; an item is a path."""

    up: Literal["Y", "Z"] = "Z"

    def __init__(self, nodes: Mapping[str, Any], file: Path | None = None) -> None:
        super().__init__(MemoryHost(nodes, file=file))
        self.scene: dict[str, Any] = {"fps": 24.0, "units": "m", "size": [1920, 1080]}
        self.entries: list[ApiEntry] = []
        self.spoken: dict[str, Said] = {}
        self.read = 0  # entries of the API that were read
        self.drawn: list[tuple[list[Shot], int, int, str]] = []
        self.bytes_of_a_pixel = 0.1
        self.paths: list[tuple[str, str, str]] = []
        self.material_names: list[str] = []
        self.searches = 0  # for materials

    def materials(self) -> Iterable[str]:
        self.searches += 1
        return self.material_names

    def files(self) -> Iterable[tuple[str, str, str]]:
        return self.paths

    def rules(self) -> Iterable[Rule]:
        mend = 'set_values(items, values={"power": 1})'
        return [Rule("lights_are_on", f"These lights are off; {mend} turns them on.", mend)]

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            yield item, "" if self.nodes[item]["values"].get("power", 1) else "its power is 0"

    def said(self) -> dict[str, Said]:
        return self.spoken

    def api(self) -> Iterator[ApiEntry]:
        for entry in self.entries:
            self.read += 1
            yield entry

    def value(self, item: str, prop: str) -> Value:
        return Value(self.scene[prop]) if item == SCENE else super().value(item, prop)

    def junk(self, what: Junk) -> list[str]:
        if what == "unused":
            return ["Gold", "old_action"]
        raise ValueError("There is no such.")

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Have what has places by frame be there."""
        before = {item: facts["at"] for item, facts in self.nodes.items()}
        for facts in self.nodes.values():
            facts["at"] = facts.get("places", {}).get(f"{frame:g}", facts["at"])
        yield
        for item, at in before.items():
            self.nodes[item]["at"] = at

    def is_shown(self, item: str) -> bool:
        return not self.nodes[item]["values"].get("hidden")

    def viewpoint(self, view: str) -> Shot:
        if view == "Cam":
            return Shot(tuple(self.nodes[view]["at"]), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angle=40.0)
        if view == "person":
            return Shot((0.0, -10.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angle=40.0)
        raise LookupError(f"There is no camera {view!r}.")

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        self.drawn.append((list(shots), width, height, shading))
        return b"\xff\xd8\xff" + bytes(int(width * height * self.bytes_of_a_pixel))
