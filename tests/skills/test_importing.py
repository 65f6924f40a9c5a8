"""Whatever a skill file does at its top level, importing it neither changes the scene nor asks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import BrokenSkill, NotUndoable
from tests.skills.shelf import Shelf, save
from tests.stand_ins import FakeTrial, Person

SKILL = '\ndef work() -> str:\n    """Work."""\n    return "done"\n'


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A scene with a step of the person's, and skill files that reach it as `scene.host`."""
    shelf = Shelf(tmp_path)
    with shelf.host.undo_step("Add a camera"):
        shelf.host.items.append("cam1")
    monkeypatch.setitem(sys.modules, "scene", SimpleNamespace(host=shelf.host))
    return shelf


@pytest.fixture
def person(shelf: Shelf) -> Iterator[Person]:
    """Somebody at the host who says no."""
    person = Person(Reply("decline"))
    remove = context.install(Broker(host=person), shelf.pump.main, shelf.host)
    yield person
    remove()


def why_broken(shelf: Shelf, tmp_path: Path, top_level: str) -> str:
    """Call a skill of a file with such a top level, and give what is said instead."""
    save(tmp_path / "careless.py", f"from scene import host\n{top_level}\n{SKILL}")
    shelf.look()
    with pytest.raises(BrokenSkill) as refusal:
        shelf.fetch("work")
    return str(refusal.value)


@pytest.mark.parametrize(
    "top_level",
    [
        "host.items.clear()",
        "host.items.clear()\nraise ValueError('too late')",
        "host.items.append('one')\nhost.undo_mark()\nhost.items.append('two')",
    ],
)
def test_a_file_that_edits_when_it_is_imported_is_broken_and_its_change_undone(
    top_level: str, shelf: Shelf, tmp_path: Path
) -> None:
    told = why_broken(shelf, tmp_path, top_level)

    assert told.startswith(
        "careless.py could not be loaded: it changes the scene when it is imported"
    )
    assert (shelf.host.items, shelf.host.labels) == (["cam1"], ["Add a camera"])
    assert shelf.registry.broken.keys() == {"work"}


def test_a_file_whose_edit_is_said_not_to_come_back_is_broken(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def revert(trial: FakeTrial) -> list[str]:
        shelf.host.items.append("cam1")
        raise NotUndoable("cam2 did not come back.")

    monkeypatch.setattr(FakeTrial, "revert", revert)

    told = why_broken(shelf, tmp_path, "host.items.clear()")

    assert "it changes the scene when it is imported" in told
    assert (shelf.host.items, shelf.host.labels) == (["cam1"], ["Add a camera"])


def test_the_persons_own_steps_are_left_where_an_import_undoes_one(
    shelf: Shelf, tmp_path: Path
) -> None:
    with shelf.host.undo_step("Add another"):
        shelf.host.items.append("cam2")

    told = why_broken(shelf, tmp_path, "host.undo()")

    assert "it changes the scene when it is imported" in told
    assert (shelf.host.items, shelf.host.labels) == (["cam1"], ["Add a camera"])


def test_a_file_that_only_looks_is_imported_also_where_no_step_can_be_opened(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undo_is_off(label: str) -> None:
        raise RuntimeError("undo is off")

    monkeypatch.setattr(shelf.host, "undo_step", undo_is_off)
    save(tmp_path / "careful.py", f"from scene import host\nITEMS = len(host.items)\n{SKILL}")
    shelf.look()

    assert shelf.call("work") == "done"


@pytest.mark.parametrize(
    "top_level",
    [
        "from dcc_bridge import confirm_sync\nconfirm_sync('Sure?', items=host.items)",
        "from dcc_bridge import elicit_form_sync\nelicit_form_sync('Which?', {'type': 'object'})",
        "import asyncio\nfrom dcc_bridge import confirm\nasyncio.run(confirm('Sure?'))",
    ],
)
def test_a_file_that_asks_when_it_is_imported_is_broken_and_nobody_is_asked(
    top_level: str, shelf: Shelf, person: Person, tmp_path: Path
) -> None:
    told = why_broken(shelf, tmp_path, top_level)

    line = 1 + len(top_level.splitlines())
    assert told.startswith(f"careless.py could not be loaded: line {line}: ")
    assert "asks when it is imported; ask inside the function" in told
    assert person.shown == []


def test_what_its_functions_ask_later_is_asked(
    shelf: Shelf, person: Person, tmp_path: Path
) -> None:
    asks = 'elicit_form_sync("Well?", {"type": "object"})'
    text = f'from dcc_bridge import elicit_form_sync\ndef work():\n    """Ask."""\n    {asks}\n'
    save(tmp_path / "asks.py", text)
    shelf.look()

    shelf.call("work")

    assert [question.message for question in person.shown] == ["Well?"]
