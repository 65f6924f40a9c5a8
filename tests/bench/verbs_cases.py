"""The calls of verbs that are measured, in the words of each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MANY: Final = 500  # what is not asked for at once
_HUNDRED: Final = 100
_FRAMES: Final = 48
_INSPECTED: Final = 20


@dataclass(frozen=True)
class Case:
    """A call that is measured.

    Attributes:
        verb: What is called.
        arguments: With what.
        shown: The arguments in short.
        job: What the host's own API does for the same, by its name in the scene's table.
        count: To how many items it does that.
        status: How the call ends.
        stands: What it did stands for the next call, which undoes it.
    """

    verb: str
    arguments: Mapping[str, Any]
    shown: str = ""
    job: str = ""
    count: int = 1
    status: str = "done"
    stands: bool = False


@dataclass(frozen=True)
class Terms:
    """The names of the things in a large scene, as its host has them.

    Attributes:
        boxes: The items of which there are many.
        type: Their type.
        pattern: The names of all of them.
        new_names: What they are renamed to, as a pattern.
        new_type: The type of what is created.
        move: How an item is moved.
        values: What is set of boxes.
        new_values: What is set of new things.
        group: An item with many boxes below it.
        heroes: The kind of group into which many are put.
        links: Items can be linked, found by what they use, and have a material and keys.
        parent: What boxes are put under, and at how many of them that is measured.
        material: The one of all boxes.
        key: The property that is animated.
        connection: A link between two nodes of the material.
        look: How pictures are taken.
        suffixes: Of a file that is imported, and of one that is exported.
    """

    boxes: Sequence[str]
    type: str
    pattern: str
    new_names: str
    new_type: str
    move: Sequence[float]
    values: Mapping[str, Any]
    new_values: Mapping[str, Any]
    group: str
    heroes: str
    links: bool = True
    parent: tuple[str, int] = ("", 0)
    material: str = ""
    key: str = ""
    connection: Mapping[str, str] | None = None
    look: Mapping[str, Any] | None = None
    suffixes: tuple[str, str] = ("", "")


def cases(terms: Terms, folder: Path) -> list[Case]:
    """Return the calls that are measured in a scene, whose files are in a folder."""
    found = [*_reads(terms), *_edits(terms), *_values(terms)]
    if terms.links:
        found += [*_linked(terms), *_files(terms, folder), *_batches(terms)]
    return [*found, *_losses(terms)]


def _reads(terms: Terms) -> list[Case]:
    where = dict.fromkeys(terms.values, ">1")
    found = [
        Case("summary", {}, job="walk"),
        Case("list_items", {}, job="walk"),
        Case("list_items", {"type": terms.type, "limit": 1000}, "of a type, limit=1000"),
        Case("list_items", {"name": f"{terms.pattern}7"}, "by name", "walk"),
        Case("list_items", {"where": where}, "by a value", "read"),
        Case("inspect", {"items": [terms.group, terms.boxes[0], "@scene"]}, "3 items, one a group"),
        Case("inspect", {"items": terms.boxes[:_INSPECTED]}, f"{_INSPECTED} items"),
        Case("check", {}, "all rules"),
    ]
    if not terms.links:
        return found
    columns = {"type": terms.type, "fields": ["at"], "sort": "-name"}
    return [
        *found,
        Case("list_items", columns, "with a column, sort=-name"),
        Case("list_items", {"uses": terms.material}, "by what they use", "users"),
        Case("list_items", {"type": "Lite"}, "of a type that is none"),
        Case("find_api", {"query": "camera focal length"}, "camera focal length, the first"),
        Case("find_api", {"query": "intensity of a light"}, "intensity of a light"),
        Case("look", {**(terms.look or {})}, "the whole scene"),
        Case("look", {"items": [terms.boxes[0]], **(terms.look or {})}, "one item"),
    ]


def _edits(terms: Terms) -> list[Case]:
    box = terms.boxes[0]
    many = [*terms.boxes[:MANY]]
    more = [*terms.boxes[: MANY + 1]]
    moved = {"move": terms.move}
    things = [{"type": terms.new_type}] * MANY
    heroes = {"into": "heroes", "kind": terms.heroes}
    repeat = {"count": [10, 10, 1], "step": [2, 2, 0]}
    grid = {"type": terms.new_type, "name": "Cell_###", "repeat": repeat}
    preview = {"pattern": terms.pattern, "to": terms.new_names, "preview": True}
    return [
        Case("select", {"items": [box]}, "1", "select"),
        Case("create", {"things": things[:1]}, "1", "create"),
        Case("create", {"things": things}, f"{MANY}", "create", MANY),
        Case("create", {"things": _cells(terms)}, f"{_HUNDRED} in a grid, each told"),
        Case("create", {"things": [grid]}, f"{_HUNDRED} in a grid, as a repeat"),
        Case("transform", {"items": [terms.pattern], **moved}, "move all by a glob, asks"),
        Case("transform", {"items": [box], **moved}, "move 1", "move"),
        Case("transform", {"items": many, **moved}, f"move {len(many)}", "move", len(many)),
        Case("transform", {"items": more, **moved}, f"move {_asks(more)}", "move", len(more)),
        Case("group", {"items": many, **heroes}, f"{len(many)} into one", "collect", len(many)),
        Case("rename", {"names": {box: "crate"}}, "1", "rename"),
        Case("rename", preview, "preview of all"),
    ]


def _cells(terms: Terms) -> list[dict[str, Any]]:
    """Return the things of a grid, each by itself."""
    cells = []
    for number in range(_HUNDRED):
        at = [number % 10 * 2, number // 10 * 2, 0]
        cells.append({"type": terms.new_type, "name": f"Cell_{number + 1:03}", "at": at})
    return cells


def _values(terms: Terms) -> list[Case]:
    box = terms.boxes[0]
    many = [*terms.boxes[:MANY]]
    more = [*terms.boxes[: MANY + 1]]
    values = {"values": terms.values}
    return [
        Case("set_values", {"items": [box], **values}, "1", "set"),
        Case("set_values", {"items": many, **values}, f"{len(many)}", "set", len(many)),
        Case("set_values", {"items": more, **values}, _asks(more), "set", len(more)),
    ]


def _linked(terms: Terms) -> list[Case]:
    box = terms.boxes[0]
    many = [*terms.boxes[:MANY]]
    parent, few = terms.parent
    under = [*terms.boxes[:few]]
    names = {item: f"crate_{number}" for number, item in enumerate(under)}
    points = [[0.0, 0.0, float(number)] for number in range(MANY)]
    whole = {"items": [terms.group], "linked": False}
    red = {"values": {"base_color": [1, 0, 0]}}
    keys = [[frame, [0, frame, 0]] for frame in range(1, _FRAMES + 1)]
    (name, value) = next(iter(terms.values.items()))
    changes = [{"item": item, "prop": name, "value": value} for item in many]
    changes[-1] = {**changes[-1], "value": "wide"}
    of_scene = [{"item": "@scene", "prop": "end", "value": 48}]
    keyed = {"item": box, "prop": terms.key, "keys": keys, "shape": "linear"}
    return [
        Case("transform", {"items": many, "look_at": terms.group}, f"{len(many)} look at a group"),
        Case("transform", {"items": many, "on": "ground"}, f"{len(many)} on the ground"),
        Case("group", {"items": [box], "under": parent}, "1", "parent"),
        Case("group", {"items": under, "under": parent}, f"{len(under)}", "parent", len(under)),
        Case("assign_material", {"items": many, **red}, f"{len(many)}, new", "bind", len(many)),
        Case("rename", {"names": names}, f"{len(names)}", "rename", len(names)),
        Case("set_keys", keyed, f"{_FRAMES}", "key"),
        Case("set_values", {"changes": changes}, f"{len(many)}, the last bad", status="failed"),
        Case("set_values", {"changes": of_scene}, "of the scene"),
        Case("connect", {"links": [terms.connection]}, "1"),
        Case("duplicate", {"items": [box]}, "1 linked", "instance"),
        Case("duplicate", {"items": [box], "to": points}, f"1 to {MANY} points", "instance", MANY),
        Case("duplicate", whole, "a group, whole"),
    ]


def _files(terms: Terms, folder: Path) -> list[Case]:
    imported, exported = terms.suffixes
    out = str(folder / f"out.{exported}")
    return [
        Case("import_file", {"path": f"lid.{imported}"}, "a small file"),
        Case("export_file", {"path": out, "items": [terms.boxes[0]]}, "1 item"),
        Case("export_file", {"path": out}, "all", "export"),
    ]


def _batches(terms: Terms) -> list[Case]:
    hundred = [*terms.boxes[:_HUNDRED]]
    made = {"items": ["$made"]}
    rig: list[dict[str, Any]] = [
        {"id": "made", "do": "create", "with": {"things": [{"type": terms.new_type}] * _HUNDRED}},
        {"do": "transform", "with": {**made, "move": terms.move}},
        {"do": "set_values", "with": {**made, "values": terms.new_values}},
        {"do": "assign_material", "with": {**made, "material": terms.material}},
        {"do": "rename", "with": {"names": {hundred[0]: "first"}}},
    ]
    bad = {"do": "set_values", "with": {"items": hundred[:1], "values": terms.values}}
    loss = {"do": "delete", "with": {"items": hundred[1:]}}
    return [
        Case("batch", {"steps": rig}, "5 steps on 100 items"),
        Case("batch", {"steps": [*rig, bad]}, "the same, the last one bad", status="failed"),
        Case("batch", {"steps": [*rig, loss]}, "the same, and delete 99"),
    ]


def _losses(terms: Terms) -> list[Case]:
    many = [*terms.boxes[:MANY]]
    move = f"move {len(many)}"
    every = {"pattern": terms.pattern}
    return [
        Case("clean", {"what": ["empty_groups"]}, "empty groups"),
        Case("clean", {"what": ["unused"]}, "unused data"),
        Case("delete", {"items": many[:1]}, "1", "delete"),
        Case("delete", {"items": many}, f"{len(many)}", "delete", len(many)),
        Case("delete", every, "all", "delete", len(terms.boxes)),
        Case("save", {}, "over the file", "save"),
        Case("transform", {"items": many, "move": terms.move}, f"{move}, again", stands=True),
        Case("undo_last", {}, move),
        Case("recent_calls", {}),
    ]


def _asks(items: Sequence[str]) -> str:
    """Say how many there are, and whether that is more than are edited unasked."""
    return f"{len(items)}, asks" if len(items) > MANY else f"{len(items)}"
