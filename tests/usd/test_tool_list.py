"""The tools of a USD scene are described to agents in few words, and truly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from dcc_bridge.elicitation.question import Question, Reply
from tests.bench import listed_tools, verbs_usd
from tests.bench.listed_tools import tokens
from tests.bench.verbs_cases import Case, cases
from tests.live import Live
from tests.stand_ins import Person

ITEMS = 600
BOX = "/World/Set_00/box_00000"
MORE = (
    Case("look", {"view": "around", "size": 128}, "four pictures"),
    Case("check_connection", {"ask": True}),
    Case("run_python", {"code": "print(1)\n[1, 2]", "why": "To count."}),
    Case("run_python", {"code": "None", "why": "To look.", "look": {"size": 64}}, "a picture"),
    Case(
        "batch",
        {"steps": [{"do": "list_items"}, {"do": "check"}], "look": {"size": 64}},
        "two that read, and a picture",
    ),
    Case("render", {"view": "front", "size": [64, 64]}, "into the answer"),
    Case("render", {"path": "out.jpg", "view": "front", "size": [64, 64]}, "to a file"),
    Case("find_api", {"query": "xyzzy"}, "what nothing has"),
    Case("delete", {"pattern": "no_such_*"}, "nothing"),
    Case("clean", {"what": ["dead_links"]}, "nothing"),
    Case("rename", {"pattern": "box_*", "to": "box", "preview": True}, "all collide"),
)
"""Answers of other kinds than those of the cases that are measured."""
FAILING: dict[str, dict[str, Any]] = {
    "summary": {"more": 1},
    "recent_calls": {"limit": "many"},
    "check_connection": {"ask": "perhaps"},
    "undo_last": {"call_id": "no-such-call"},
    "list_items": {"limit": 0},
    "inspect": {"items": []},
    "find_api": {"query": "..."},
    "look": {"size": 1},
    "check": {"rules": ["no_such_rule"]},
    "select": {"items": ["/nowhere"]},
    "create": {"things": [{"type": "NoSuchType"}]},
    "duplicate": {"items": ["/nowhere"]},
    "transform": {"items": ["/nowhere"], "move": [0, 0, 1]},
    "group": {"items": ["/nowhere"], "under": "@scene"},
    "rename": {"names": {"/nowhere": "x"}},
    "assign_material": {"material": "NoSuchMaterial"},
    "set_values": {"items": ["@scene"], "values": {"nothing": 1}},
    "connect": {"links": [{"from": "/nowhere", "out": "a", "to": "/nowhere", "in": "b"}]},
    "set_keys": {"item": "/nowhere", "prop": "x", "keys": [[1, 2]]},
    "import_file": {"path": "no_such_file.usda"},
    "export_file": {"path": "out.nothing"},
    "render": {"path": "out.nothing"},
    "save": {"path": "."},
    "clean": {"what": ["dust"]},
    "delete": {"items": ["/nowhere"]},
    "batch": {"steps": []},
    "run_python": {"code": "1 / 0", "why": "To fail."},
}
"""A call of each tool that fails."""


def agree(question: Question) -> Reply:
    """Say yes, and leave a form as it is filled in."""
    fields = question.form.fields if question.form else ()
    return Reply("accept", {field.name: field.default for field in fields} | {"confirm": True})


@dataclass
class Stage:
    """A large scene with a bridge."""

    bridge: Live
    calls: list[Case]
    tools: dict[str, dict[str, Any]]

    def misfits(self, case: Case) -> list[str]:
        """Return what of an answer does not fit its schema; the edit of the call is undone."""
        host = self.bridge.host
        depth = host.undo_mark().depth
        result = self.bridge.call(case.verb, dict(case.arguments))
        while host.undo_mark().depth > depth and not case.stands:
            host.undo()
        name = f"{case.verb}({case.shown})"
        told = result.structured_content
        if result.is_error != (case.status == "failed"):
            return [f"{name}: {result.content}"]
        if result.is_error and told is None:
            return []
        check = jsonschema.Draft202012Validator(self.tools[case.verb]["outputSchema"])
        return [f"{name}: {error.message}" for error in check.iter_errors(told)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("many")
    scene = verbs_usd.Large(folder, ITEMS)
    operations = scene.operations()
    bridge = Live(
        folder / "runtime",
        host=scene.host,
        presenter=Person(then=agree),
        operations=lambda host: operations,
        dialogs_per_minute=10**6,
    )
    sent = [listed_tools.sent(tool) for tool in listed_tools.listed(bridge)]
    calls = [*MORE, *cases(scene.terms, folder)]
    yield Stage(bridge, calls, {tool["name"]: tool for tool in sent})
    bridge.stop()


def test_the_list_of_tools_takes_8000_tokens_at_most_and_a_tool_300(stage: Stage) -> None:
    sizes = {name: tokens(tool) for name, tool in stage.tools.items()}

    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert tokens(list(stage.tools.values())) <= 8000


def test_every_tool_names_the_parts_of_its_answer(stage: Stage) -> None:
    schemas = [tool["outputSchema"] for tool in stage.tools.values()]

    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema["properties"]


def test_every_answer_fits_what_was_told_of_it(stage: Stage) -> None:
    misfits = [misfit for case in stage.calls for misfit in stage.misfits(case)]

    assert misfits == []
    assert {case.verb for case in stage.calls} == stage.tools.keys()


def test_every_failure_is_told_as_one_and_fits_as_well(stage: Stage) -> None:
    calls = [Case(verb, arguments, status="failed") for verb, arguments in FAILING.items()]
    misfits = [misfit for case in calls for misfit in stage.misfits(case)]

    assert misfits == []
    assert FAILING.keys() == stage.tools.keys()
