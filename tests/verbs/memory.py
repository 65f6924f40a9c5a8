"""A host in memory, with operations: a scene of plain dicts with undo, values, locks and keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any, Literal

from dcc_bridge.consent.agreed_ids import AgreedIds
from dcc_bridge.verbs.operations import (
    SCENE,
    ApiEntry,
    Bounds,
    Exported,
    Imported,
    Junk,
    Part,
    Placement,
    Shot,
    SocketLink,
    Value,
    Vector,
)
from dcc_bridge.verbs.ports import (
    ApiSearch,
    AppliedTransforms,
    Building,
    Cleaning,
    Connections,
    Deleting,
    Drawing,
    FileExchange,
    Keyframes,
    Marking,
    Materials,
    Saving,
)
from tests.stand_ins import FakeHost

KINDS = ("Camera", "Group", "Light", "Mesh", "Shader")
NODE: dict[str, Any] = {
    "at": [0.0, 0.0, 0.0],
    "rotation": [0.0, 0.0, 0.0],
    "scale": [1.0, 1.0, 1.0],
    "values": {"intensity": 1.0, "hidden": False},
    "held": {},
    "inputs": {},
    "keys": {},
    "material": "",
    "half": None,  # half of its size, where it is not that of all meshes
    "parts": {},
}


_ids = count()


def node(kind: str, **facts: Any) -> dict[str, Any]:
    """Make an item's facts."""
    return {**deepcopy(NODE), "kind": kind, "id": next(_ids), **facts}


class MemoryHost(FakeHost):
    """A host whose scene is a dict of items by their paths."""

    name = "memory"
    item_noun = "item"

    def __init__(self, nodes: Mapping[str, Any] = {}, **more: Any) -> None:
        self.nodes: dict[str, Any] = {}
        self._reach = AgreedIds()
        self.operations: StillOperations  # once they are loaded
        super().__init__([json.dumps([path, facts]) for path, facts in nodes.items()], **more)

    @property
    def items(self) -> list[str]:
        return [json.dumps(pair) for pair in self.nodes.items()]

    @items.setter
    def items(self, texts: Iterable[str]) -> None:
        self.nodes = dict(map(json.loads, texts))

    @property
    def undo_labels(self) -> list[str]:
        return self.labels

    def describe(self, item: str) -> dict[str, Any]:
        if item not in self.nodes:
            raise LookupError(f"There is no {item!r}.")
        return {"type": self.nodes[item]["kind"]}

    def kinds(self, items: Sequence[str]) -> list[str]:
        return [self.nodes[it]["kind"] if it in self.nodes else "gone" for it in items]

    def fingerprint(self, items: Sequence[str]) -> str:
        below = [[it for it in self.nodes if it.startswith(item)] for item in sorted(items)]
        for item, paths in zip(sorted(items), below, strict=True):
            self._reach.note(item, [self.nodes[path]["id"] for path in paths])
        return json.dumps([below, self.kinds(sorted(items))])

    def lost(self, agreed: Sequence[str]) -> list[str]:
        texts = self._undo[-1].items if self._undo else []
        if self._open is not None:
            texts = self._known
        before = dict(map(json.loads, texts))
        now = {facts["id"]: facts for facts in self.nodes.values()}
        may_go = {*agreed, *self._reach.of(agreed)}
        lost: list[str] = []
        for path, had in before.items():
            has = now.get(had["id"])
            if path in may_go and has is not None:  # its parts may go
                continue
            if has is not None:
                lost += _replaced(path, had, has)
            elif had["id"] not in may_go:
                lost.append(path)
        return lost


def _sources(facts: Mapping[str, Any]) -> list[str]:
    return [source for source, _ in facts["inputs"].values()]


def _replaced(item: str, had: Mapping[str, Any], has: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts of an item that are others now."""
    if had["material"] not in ("", has["material"]):
        yield f"material {had['material']} of {item}"
    for into, link in had["inputs"].items():
        if has["inputs"].get(into) != link:
            yield f"input {into} of {item}"


class StillOperations(
    Building,
    AppliedTransforms,
    Materials,
    Connections,
    FileExchange,
    Saving,
    Deleting,
    Cleaning,
    ApiSearch,
):
    """What the host does where nothing moves; each act that changes anything notes its name."""

    instructions = "Items are paths, such as /Set/Key. Y is up, lengths are metres."

    host: MemoryHost

    def __init__(self, host: MemoryHost) -> None:
        self.host = host
        self.done: list[str] = []
        self.fails_at = 0  # the number of the act that fails, from 1 on
        host.operations = self

    @property
    def nodes(self) -> dict[str, Any]:
        return self.host.nodes

    def items(self, under: str | None = None) -> Iterable[str]:
        return (it for it in list(self.nodes) if under is None or it.startswith(f"{under}/"))

    def kind(self, item: str) -> str:
        return str(self.host.describe(item)["type"])

    def name(self, item: str) -> str:
        return item.rpartition("/")[2]

    def parent(self, item: str) -> str | None:
        return item.rpartition("/")[0] or None

    def users(self, thing: str) -> Iterable[str]:
        used = {it: [facts["material"], *facts["parts"].get("uses", ())]
                for it, facts in self.nodes.items()}  # fmt: skip
        return [path for path, things in used.items() if thing in things]

    def look_into(self, item: str, part: Part) -> Any:
        facts = self.nodes[item]
        if part == "inputs":
            links = facts["inputs"].items()
            return [SocketLink(source, out, item, into) for into, (source, out) in links]
        values = {prop: self.value(item, prop) for prop in facts["values"]}
        return {"values": values, "keys": facts["keys"], **facts["parts"]}.get(part)

    def bounds(self, item: str) -> Bounds | None:
        if self.kind(item) != "Mesh":
            return None
        (x, y, z) = self.nodes[item]["at"]
        (a, b, c) = self.nodes[item]["half"] or (1, 1, 1)
        return (x - a, y - b, z - c), (x + a, y + b, z + c)

    def types(self) -> Iterable[str]:
        return KINDS

    def materials(self) -> Iterable[str]:
        return [self.name(it) for it, facts in self.nodes.items() if facts["kind"] == "Shader"]

    def api(self) -> Iterator[ApiEntry]:
        return (ApiEntry(kind, "type") for kind in KINDS)

    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            item = "/"
        facts = self.nodes[item] if item in self.nodes else self.host.describe(item)
        if prop not in facts["values"]:
            raise LookupError(f"{item} has no {prop!r}; it has {', '.join(facts['values'])}.")
        held = facts["held"].get(prop, "")
        return Value(facts["values"][prop], "float", held, facts.get("fixed", False))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        self._note("set_value")
        known = self.value(item, prop).value
        if isinstance(value, str) and not isinstance(known, str):
            raise ValueError(f"{prop} of {item} takes a {type(known).__name__}, not {value!r}.")
        facts = self.nodes["/" if item == SCENE else item]
        facts["values"][prop] = value
        if replace:
            facts["held"].pop(prop, None)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        self.kind(item)
        return ["color", "normal"], ["out"]

    def connect(self, link: SocketLink) -> None:
        self._note("connect")
        self.nodes[link.target]["inputs"][link.into] = [link.source, link.out]

    def cut(self, link: SocketLink) -> None:
        self._note("cut")
        self.nodes[link.target]["inputs"].pop(link.into, None)

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        return [(frame, value) for frame, value in self.nodes[item]["keys"].get(prop, [])]

    def set_keys(
        self,
        item: str,
        prop: str,
        keys: Sequence[tuple[float, Any]],
        shape: Literal["linear", "smooth", "step"],
        *,
        clear: bool,
    ) -> None:
        self._note("set_keys")
        old = {} if clear else dict(self.keys(item, prop))
        self.nodes[item]["keys"][prop] = sorted(map(list, {**old, **dict(keys)}.items()))

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        self._note("create")
        return self._add(f"{under or ''}/{name or kind}", node(kind))

    def duplicate(self, item: str, *, linked: bool) -> str:
        self._note("duplicate")
        return self._add(item, {**deepcopy(self.nodes[item]), "linked": linked})

    def placement(self, item: str, space: Literal["world", "local"] = "world") -> Placement:
        facts = self.nodes[item] if item in self.nodes else self.host.describe(item)
        return Placement(tuple(facts["at"]), tuple(facts["rotation"]), tuple(facts["scale"]))

    def place(
        self,
        item: str,
        at: Vector | None = None,
        rotation: Vector | None = None,
        scale: Vector | None = None,
        space: Literal["world", "local"] = "world",
    ) -> None:
        self._note("place")
        for name, vector in (("at", at), ("rotation", rotation), ("scale", scale)):
            if vector is not None:
                self.nodes[item][name] = list(vector)

    def apply(self, item: str, parts: Sequence[Literal["at", "rotation", "scale"]]) -> None:
        self._note("apply")
        for part in parts:
            self.nodes[item][part] = list(NODE[part])

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        self._note("set_parent")
        return self._move(item, f"{under or ''}/{self.name(item)}")

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        self._note("collect")
        if kind != "set":
            raise ValueError(f"There are no {kind}s here, only sets.")
        return self._add(f"/{into}", node("Group"))

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        self._note("material")
        shader = f"/{name or 'Material'}"
        if shader not in self.nodes:
            self._add(shader, node("Shader"))
        self.nodes[shader]["values"].update(values)
        return shader[1:]

    def assign(self, item: str, material: str) -> None:
        self._note("assign")
        self.nodes[item]["material"] = material

    def rename(self, item: str, name: str) -> str:
        self._note("rename")
        new = f"{self.parent(item) or ''}/{name}"
        if new in self.nodes:
            raise ValueError(f"{new} is taken.")
        return self._move(item, new)

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        return {".obj": ("copy",), ".ma": ("copy", "reference")}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        self._note("import_file")
        return Imported([self._add(f"{under or ''}/{path.stem}", node("Mesh"))], ["no normals"])

    def export_formats(self) -> Sequence[str]:
        return (".obj",)

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        if path.exists():
            self.host.losing(f"write over {path.name}", [path])
        path.write_text(json.dumps([*items]))
        return Exported([*items] or list(self.nodes), ["the lights"])

    def junk(self, what: Junk) -> list[str]:
        if what == "history":
            raise ValueError("There is no history here.")
        used = {facts["material"] for facts in self.nodes.values()}
        return [f"/{it}" for it in self.materials() if it not in used and what == "unused"]

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        self.delete(items)

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        self._note("delete")
        for path in list(self.nodes):
            if any(path == item or path.startswith(f"{item}/") for item in items):
                del self.nodes[path]
        return ()

    def below(self, items: Sequence[str]) -> Sequence[str]:
        every = dict.fromkeys(it for item in items for it in self.items(item))
        return [it for it in every if it not in items]

    def check_deletable(self, items: Sequence[str]) -> None:
        for item in items:
            if self.nodes[item].get("locked"):
                raise ValueError(f"{item} is locked, so it cannot be deleted.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        stay = [pair for pair in self.nodes.items() if pair[0] not in items]
        led = {it: [f"/{facts['material']}", *_sources(facts)] for it, facts in stay}
        return [item for item, things in led.items() if not {*things}.isdisjoint(items)]

    def save_files(self, path: Path | None) -> list[Path]:
        target = path or self.host.file()
        if target is None:
            raise ValueError("This scene was never saved: give the path of a file to save it in.")
        return [target]

    def save(self, path: Path | None) -> Path:
        target = self.save_files(path)[0]
        if target.exists():
            self.host.losing(f"save {target.name}", [target])
        self.host.save_copy(target)
        return target

    def viewpoint(self, view: str) -> Shot:
        return Shot((0.0, 0.0, 9.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 40.0)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        return b"\xff\xd8\xff" + bytes(99)

    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        """Return the items that the picture shows, and its marks, in place of a PNG."""
        return json.dumps({"items": list(self.nodes), "marks": marks}).encode()

    def _note(self, act: str) -> None:
        self.done.append(act)
        if len(self.done) == self.fails_at:
            raise RuntimeError("The application has had enough.")

    def _add(self, wanted: str, facts: dict[str, Any]) -> str:
        path = wanted
        number = 0
        while path in self.nodes:
            number += 1
            path = f"{wanted}_{number}"
        self.nodes[path] = {**facts, "id": next(_ids)}
        return path

    def _move(self, item: str, new: str) -> str:
        moved = {
            (new + path[len(item) :] if path == item or path.startswith(f"{item}/") else path): it
            for path, it in self.nodes.items()
        }
        self.host.nodes = moved
        return new


class MemoryOperations(StillOperations, Keyframes, Drawing, Marking):
    """What the host does for the verbs, with keys and pictures too."""
