"""What `find_api` answers in our own application, on real USD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from dcc_bridge.verbs import api_verbs
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations as usd_operations
from dcc_bridge_usd.operations.said import SAID
from tests.verbs import usd_scene
from tests.verbs.api_cards import Asked, questions, run_and_undo
from tests.verbs.every_port import EveryPort

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EveryPort]:
    session = UsdSession(usd_scene.make(tmp_path_factory.mktemp("api") / "shot.usda"))
    uninstall = install(session)
    yield cast("EveryPort", usd_operations(session))
    uninstall()


@pytest.fixture(scope="module")
def asked(operations: EveryPort) -> Asked:
    return Asked(operations, "usd")


@pytest.mark.parametrize("question", questions("usd"))
def test_a_question_has_the_right_first_card_and_its_example_runs(
    question: str, asked: Asked, operations: EveryPort
) -> None:
    asked.check(question)
    run_and_undo(operations, asked.first(question)["example"])


def test_what_people_say_is_said_of_names_that_there_are_and_each_line_runs(
    operations: EveryPort,
) -> None:
    """A name with a slip would say nothing."""
    names = {entry.name for entry in [*api_verbs.cards(operations), *operations.api()]}
    assert SAID.keys() <= names
    for said in SAID.values():
        if said.example:
            run_and_undo(operations, said.example)


def test_an_example_of_a_type_property_or_socket_runs(operations: EveryPort) -> None:
    """Those are made from what USD says of them."""
    examples = [entry.example for entry in operations.api() if entry.example]
    assert len(examples) > 250
    for example in examples:
        run_and_undo(operations, example)
