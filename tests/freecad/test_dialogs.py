"""In FreeCAD every kind of question is drawn and answered, with the Qt 5 that it brings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.freecad import launch

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("freecad")


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    """What a person did in FreeCAD, and what came of it."""
    done = launch.run("tests.freecad.dialogs", folder, SEEN_IN=str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    assert "error" not in seen, seen["error"]
    return seen


def test_freecads_own_binding_is_used_and_no_other_one_imported(seen: dict[str, Any]) -> None:
    assert seen["binding"] == "PySide2"
    assert seen["others"] == []


def test_jobs_of_other_threads_are_served_and_a_spin_ends(seen: dict[str, Any]) -> None:
    assert seen["lanes"] == [1000, True, "spun"]


def test_jobs_wait_while_freecad_shows_a_modal_dialog(seen: dict[str, Any]) -> None:
    assert seen["modal"] == [False, True, False, "later"]


def test_a_form_of_every_field_is_filled_in_and_sent(seen: dict[str, Any]) -> None:
    said, revealed, (heard,) = seen["form"]

    assert said == "At most 1, please."
    assert revealed
    assert heard["action"] == "accept"
    assert heard["content"] == {"name": "layout_v012", "scale": 0.5, "step": 1, "burn_in": False}


def test_a_thousand_items_are_filtered_looked_at_and_kept(seen: dict[str, Any]) -> None:
    rows, selected, (heard,) = seen["destructive"]

    assert rows == 11
    assert selected == 11
    assert heard["action"] == "cancel"


def test_a_text_is_read_and_searched(seen: dict[str, Any]) -> None:
    line, has_scrolled, lines, (heard,) = seen["text"]

    assert line == "App.ActiveDocument.removeObject('Part')"
    assert has_scrolled
    assert lines == 40
    assert heard["action"] == "cancel"


def test_chips_and_toasts_act(seen: dict[str, Any]) -> None:
    assert seen["corner"] == ["here", "undo"]


def test_a_studios_translation_is_used(seen: dict[str, Any]) -> None:
    assert seen["language"] == [["⟦Choose…⟧", "⟦1,234 items⟧"], "Cancel"]


def test_a_choice_that_is_to_be_made_says_so(seen: dict[str, Any]) -> None:
    assert seen["hint"]


def test_everything_can_be_seen(seen: dict[str, Any], folder: Path) -> None:
    pictures = {file.stem for file in folder.glob("*.png") if file.stat().st_size > 1000}

    assert pictures == {"form", "fields", "destructive", "text", "chip", "toast"}
