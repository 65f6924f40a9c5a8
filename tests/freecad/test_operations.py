"""What FreeCAD does for the verbs, in freecadcmd and in a window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.freecad import launch
from tests.hosts.screen import Screen, missing, screen

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.fixture
def shown() -> Iterator[Screen]:
    with screen() as one:
        yield one


def test_each_act_does_what_it_says_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    operations = "from tests.freecad.operations import run; assert run() == 0"
    done = launch.in_console(operations, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_an_odd_item_spoils_no_answer_about_all(tmp_path: Path) -> None:
    odd = "from tests.freecad.odd_items import run; assert run() == 0"
    done = launch.in_console(odd, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_fillet_stays_on_the_edges_that_it_names(tmp_path: Path) -> None:
    edges = "from tests.freecad.edges import run; assert run() == 0"
    done = launch.in_console(edges, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_curves_sizes_and_aliases_are_set_read_and_undone(tmp_path: Path) -> None:
    drawn = "from tests.freecad.drawn import run; assert run() == 0"
    done = launch.in_console(drawn, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_undo_of_a_scripted_object_leaves_what_a_person_changed(tmp_path: Path) -> None:
    scripted = "from tests.freecad.scripted import run; assert run() == 0"
    done = launch.in_console(scripted, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_question_about_the_api_has_the_right_first_card_and_its_example_runs(
    tmp_path: Path,
) -> None:
    cards = "from tests.freecad.api import run; assert run() == 0"
    done = launch.in_console(cards, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
def test_in_a_window_it_draws_and_has_materials(shown: Screen, tmp_path: Path) -> None:
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    launch.in_window("tests.freecad.operations", tmp_path, **ours)

    for name in ("person", "sheet", "wire"):
        with Image.open(tmp_path / f"{name}.jpg") as picture:
            assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 200, name
