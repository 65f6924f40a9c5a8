"""Every verb over a scene with an odd item: it answers about all the others, and tells of that one.

A host gives the kinds of odd items that it can have; the verbs are the same in each. Applications
run it too: it needs pytest and no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.errors import NotUndoable
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.verbs import tools
from dcc_bridge.verbs.operations import HostOperations
from tests.one_run import OneRun, call_of, one_run
from tests.stand_ins import Person

RAW: Final = (
    *(
        "Error",
        "Exception: ",
        "Traceback",
        "StopIteration",
        "codec can't",
        "object has no attribute",
    ),
    *("embedded null", "failed on it; its log", "NoneType", "not subscriptable", "not iterable"),
    *("<class ", "unexpected"),
)
"""Words of an exception that nobody made a sentence of."""
_PARTS: Final = ["values", "inputs", "uses", "keys", "bounds", "counts", "text"]
_FIELDS: Final = ["name", "parent", "at", "scale", "bounds", "size", "uses", "material", "faces"]


@dataclass(frozen=True)
class Odd:
    """A scene with an odd item.

    Attributes:
        item: The odd item.
        plain: One that is as others are, with a size.
        told: What `inspect` names of the odd item as unreadable; "" where all can be read.
        listed: What `list_items` names, with its item; "" where all can be read.
        reason: A part of what they say of that.
        field: A property that `list_items` is asked for.
    """

    item: str
    plain: str
    told: str = ""
    listed: str = ""
    reason: str = ""
    field: str = "label"


Arguments = Callable[[Odd, Path], dict[str, Any]]
ABOUT_ALL: Final[Mapping[str, tuple[str, Arguments]]] = {
    "summary": ("summary", lambda odd, folder: {}),
    "list_items": ("list_items", lambda odd, folder: {}),
    "list_items, all fields": ("list_items", lambda odd, folder: {"fields": [*_FIELDS, odd.field]}),
    "list_items, sorted": ("list_items", lambda odd, folder: {"sort": "-size"}),
    "list_items, where": ("list_items", lambda odd, folder: {"where": {"faces": ">0"}}),
    "list_items, that use": ("list_items", lambda odd, folder: {"uses": odd.plain}),
    "inspect both": (
        "inspect",
        lambda odd, folder: {"items": [odd.plain, odd.item], "parts": _PARTS},
    ),
    "inspect the other": ("inspect", lambda odd, folder: {"items": [odd.plain]}),
    "check": ("check", lambda odd, folder: {}),
    "look": ("look", lambda odd, folder: {"size": 64}),
    "select both": ("select", lambda odd, folder: {"items": [odd.plain, odd.item]}),
    "transform the other": (
        "transform",
        lambda odd, folder: {"items": [odd.plain], "move": [1, 0, 0]},
    ),
    "duplicate the other": ("duplicate", lambda odd, folder: {"items": [odd.plain]}),
    "rename the other": ("rename", lambda odd, folder: {"names": {odd.plain: "Renamed"}}),
    "rename, preview of all": (
        "rename",
        lambda odd, folder: {"pattern": "*", "to": "x_*", "preview": True},
    ),
    "delete the other": ("delete", lambda odd, folder: {"items": [odd.plain]}),
    "save": ("save", lambda odd, folder: {}),
    "batch": (
        "batch",
        lambda odd, folder: {
            "steps": [{"do": "inspect", "with": {"items": [odd.plain, odd.item]}}],
            "check": {},
        },
    ),
}
"""What the odd item must not spoil."""
OF_THE_ODD: Final[Mapping[str, tuple[str, Arguments]]] = {
    "list_items, below it": ("list_items", lambda odd, folder: {"under": odd.item}),
    "list_items, that use it": ("list_items", lambda odd, folder: {"uses": odd.item}),
    "look at both": ("look", lambda odd, folder: {"items": [odd.item, odd.plain], "size": 64}),
    "select and frame it": ("select", lambda odd, folder: {"items": [odd.item], "frame": True}),
    "transform it": ("transform", lambda odd, folder: {"items": [odd.item], "move": [1, 0, 0]}),
    "duplicate it": ("duplicate", lambda odd, folder: {"items": [odd.item]}),
    "rename it": ("rename", lambda odd, folder: {"names": {odd.item: "Renamed"}}),
    "group both": (
        "group",
        lambda odd, folder: {"items": [odd.item, odd.plain], "into": "Both"},
    ),
    "assign a material": (
        "assign_material",
        lambda odd, folder: {"items": [odd.item], "values": {"base_color": [1, 0, 0]}},
    ),
    "export all": (
        "export_file",
        lambda odd, folder: {"path": str(folder / "out.obj")},
    ),
    "render it": (
        "render",
        lambda odd, folder: {"items": [odd.item], "view": "front", "size": [64, 48], "samples": 1},
    ),
    "export it": (
        "export_file",
        lambda odd, folder: {"path": str(folder / "out.obj"), "items": [odd.item]},
    ),
    "clean": (
        "clean",
        lambda odd, folder: {"what": ["unused", "empty_groups", "duplicate_materials"]},
    ),
    "clean dead links": ("clean", lambda odd, folder: {"what": ["dead_links"]}),
    "delete it": ("delete", lambda odd, folder: {"items": [odd.item]}),
    "delete by a pattern": ("delete", lambda odd, folder: {"pattern": "*"}),
}
"""What may be refused, in a sentence."""
CALLS: Final = {**ABOUT_ALL, **OF_THE_ODD}


class OddItems:
    """The promise of every host; its module has the fixture ``opened``."""

    @pytest.mark.parametrize("name", CALLS)
    def test_a_verb_answers_over_a_scene_with_an_odd_item(
        self, opened: tuple[HostOperations, Odd, Path], name: str
    ) -> None:
        operations, item, folder = opened

        wrong = faults(operations, item, name, folder)
        assert not wrong, wrong


@contextmanager
def desk(operations: HostOperations) -> Iterator[OneRun]:
    """Have a runner, before which a person agrees to all."""
    with one_run(operations.host, Person(then=_agree)) as one:
        yield one


def _agree(question: Question) -> Reply:
    fields = question.form.fields if question.form else ()
    return Reply("accept", {it.name: it.default for it in fields} | {"confirm": True})


def ask(operations: HostOperations, verb: str, arguments: Mapping[str, Any]) -> Outcome | None:
    """Call a verb as the bridge does; None where the host has no such verb."""
    verbs = {tool.name: tool for tool in tools(operations)}
    if verb not in verbs:
        return None
    tool = verbs[verb]
    with desk(operations) as one:
        run = one.runner.start(tool, dict(arguments), call_of(tool))
        while not run.outcome.done():
            one.main.drain()
        return run.outcome.result()


def text_of(outcome: Outcome) -> str:
    """Return an answer as it goes out, or its error; ValueError where it would be no JSON."""
    parts = outcome.value
    if not isinstance(parts, list):
        parts = [parts]
    shown = [part for part in parts if not isinstance(part, bytes)]
    return str(outcome.error or json.dumps(shown, allow_nan=False, ensure_ascii=False))


def faults(operations: HostOperations, odd: Odd, name: str, folder: Path) -> list[str]:
    """Call a verb, and return what is wrong with its answer; nothing where all is right."""
    verb, arguments = CALLS[name]
    host = operations.host
    depth = host.undo_mark().depth
    outcome = ask(operations, verb, arguments(odd, folder))
    with suppress(NotUndoable):  # it says so, where the file of what went is gone itself
        while host.undo_mark().depth > depth:
            host.undo()
    if outcome is None:
        return []
    wrong = []
    if outcome.error is not None and name in ABOUT_ALL:
        wrong.append(f"it answers nothing: {outcome.error}")
    try:
        text = text_of(outcome)
        text.encode()
    except ValueError as error:
        return [*wrong, f"it is no JSON: {error!r}"]
    found = [word for word in RAW if word in text]
    if found:
        wrong.append(f"it shows {', '.join(found)}: {text}")
    if name == "inspect both" and not wrong:
        wrong += _untold(outcome.value["items"][1], odd.told, odd.reason)
    if name == "list_items, all fields" and not wrong:
        wrong += _untold(outcome.value, odd.listed, odd.reason)
    return wrong


def _untold(facts: Mapping[str, Any], name: str, why: str) -> list[str]:
    """Return what an answer does not say of what cannot be read."""
    unreadable = facts.get("unreadable", {})
    if name and why not in unreadable.get(name, ""):
        return [f"it does not tell that {name} cannot be read, and why: {facts}"]
    return []
