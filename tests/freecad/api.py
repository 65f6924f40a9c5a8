"""What `find_api` answers in FreeCAD, run by FreeCAD's own Python.

`tests/freecad/test_operations.py` starts it, in freecadcmd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import FreeCAD
import pytest

from dcc_bridge.verbs import api_verbs
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations as freecad_operations
from dcc_bridge_freecad.operations.said import SAID
from tests.verbs.api_cards import Asked, questions, run_example
from tests.verbs.every_port import EveryPort


@pytest.fixture(scope="module")
def asked() -> Asked:
    document = FreeCAD.newDocument("Asked", hidden=True)
    answers = Asked(cast("EveryPort", freecad_operations(FreeCADHost())), "freecad")
    FreeCAD.closeDocument(document.Name)
    return answers


@pytest.fixture
def operations(tmp_path: Path) -> Iterator[EveryPort]:
    document = FreeCAD.newDocument("Scene", hidden=True)
    document.UndoMode = 1
    yield cast("EveryPort", freecad_operations(FreeCADHost()))
    for name in FreeCAD.listDocuments():
        FreeCAD.closeDocument(name)


@pytest.mark.parametrize("question", questions("freecad"))
def test_a_question_has_the_right_first_card_and_its_example_runs(
    question: str, asked: Asked, operations: EveryPort
) -> None:
    asked.check(question)
    run_example(operations, asked.first(question)["example"])
    assert not _broken()


def test_what_people_say_is_said_of_names_that_there_are(operations: EveryPort) -> None:
    """A name with a slip would say nothing."""
    names = {entry.name for entry in [*api_verbs.cards(operations), *operations.api()]}
    assert SAID.keys() <= names


@pytest.mark.parametrize("name", [name for name, said in SAID.items() if said.example])
def test_each_line_that_a_card_gives_runs(name: str, operations: EveryPort) -> None:
    run_example(operations, SAID[name].example)
    assert not _broken()


def test_the_examples_of_types_and_properties_run(operations: EveryPort) -> None:
    """Those are made from what FreeCAD says of them."""
    examples = [entry.example for entry in operations.api() if entry.example]
    assert len(examples) > 500
    for example in examples:
        document = FreeCAD.newDocument("Example", hidden=True)
        run_example(operations, example)
        FreeCAD.closeDocument(document.Name)


def _broken() -> list[str]:
    """Return the objects that an example made and that cannot be computed."""
    documents = FreeCAD.listDocuments().values()
    objects = [obj for document in documents for obj in document.Objects]
    return [obj.Name for obj in objects if "Invalid" in obj.State]


def run() -> int:
    """Run the tests; give pytest's exit code."""
    sys.dont_write_bytecode = True
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, *os.environ.get("ACTS", "").split(), __file__]))
