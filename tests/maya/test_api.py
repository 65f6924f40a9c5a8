"""The answers of `find_api` in Maya, over a Maya that is as its documents say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from dcc_bridge.verbs import api_verbs
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import furnish
from tests.maya.test_operations import connected
from tests.verbs.api_cards import Asked, questions, run_and_undo, verbs_of
from tests.verbs.every_port import EveryPort


@pytest.fixture(scope="module")
def operations() -> Iterator[EveryPort]:
    with pytest.MonkeyPatch.context() as patch:
        furnish(Maya(patch))
        yield connected()


@pytest.fixture(scope="module")
def asked(operations: EveryPort) -> Asked:
    return Asked(operations, "maya")


def stub() -> str:
    """Return the types of Maya's commands, as its reference has them."""
    spec = find_spec("maya-stubs")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "cmds.pyi").read_text(encoding="utf-8")


@pytest.mark.parametrize("question", questions("maya"))
def test_a_question_has_the_right_first_card_with_an_example(question: str, asked: Asked) -> None:
    asked.check(question)


def test_what_people_say_is_said_of_names_that_there_are(operations: EveryPort) -> None:
    """A name with a slip would say nothing."""
    names = {entry.name for entry in [*api_verbs.cards(operations), *operations.api()]}

    assert operations.said().keys() <= names


def test_an_example_of_a_type_or_attribute_runs(operations: EveryPort) -> None:
    operations.create("areaLight", "lamp", None)
    find = verbs_of(operations)["find_api"]
    names = [entry.name for entry in operations.api() if entry.example]

    assert len(names) > 60
    for name in names:
        (card,) = find(name, limit=1)["cards"]
        if card["example"].startswith(("create ", "set_values ")):
            run_and_undo(operations, card["example"])


def test_the_code_of_an_example_has_the_flags_that_maya_documents(operations: EveryPort) -> None:
    text = stub()
    for said in operations.said().values():
        if not said.example.startswith("cmds."):
            continue
        (call,) = [node for node in ast.walk(ast.parse(said.example)) if isinstance(node, ast.Call)]
        assert isinstance(call.func, ast.Attribute)
        signatures = re.findall(rf"^def {call.func.attr}\(.*$", text, re.MULTILINE)
        assert signatures, said.example
        for flag in call.keywords:
            assert any(f" {flag.arg}:" in each for each in signatures), (said.example, flag.arg)
