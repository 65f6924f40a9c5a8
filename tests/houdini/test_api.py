"""The answers of `find_api` in Houdini, over a Houdini that is as its documents say."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.hosts.fakes.houdini import Houdini
from tests.houdini.test_operations import connected
from tests.verbs.api_cards import Asked, questions, run_and_undo
from tests.verbs.every_port import EveryPort


@pytest.fixture(scope="module")
def operations() -> Iterator[EveryPort]:
    with pytest.MonkeyPatch.context() as patch:
        Houdini(patch)
        yield connected()


@pytest.fixture(scope="module")
def asked(operations: EveryPort) -> Asked:
    return Asked(operations, "houdini")


@pytest.mark.parametrize("question", questions("houdini"))
def test_a_question_has_the_right_first_card_with_an_example(question: str, asked: Asked) -> None:
    asked.check(question)


def test_an_example_of_a_type_runs(operations: EveryPort) -> None:
    examples = [entry.example for entry in operations.api() if entry.kind == "type"]

    assert len(examples) > 50
    for example in examples:
        run_and_undo(operations, example)


def test_of_several_versions_of_a_type_the_newest_is_meant(operations: EveryPort) -> None:
    said_of = import_module("dcc_bridge_houdini.operations.said").said_of

    said = said_of(["scatter", "scatter::10.0", "scatter::2.0", "box"])

    assert {name for name in said if name.startswith("create type ")} == {
        "create type scatter::10.0",
        "create type box",
    }
