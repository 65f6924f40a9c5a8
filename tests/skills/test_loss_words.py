"""The words in which a person is asked about what an edit lost, or made, or reaches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import skill
from dcc_bridge.consent import loss_questions
from dcc_bridge.consent.loss import Loss, counted, named
from dcc_bridge.elicitation.consent_view import undo_line
from dcc_bridge.elicitation.question import Question
from dcc_bridge.host import Trial
from tests.elicitation.brokers import YES
from tests.live import live, status
from tests.stand_ins import FakeHost, FakeTrial, Person

CAMERAS = ("Camera1", "Camera2", "Camera3")
LIGHTS = ("SphereLight1", "SphereLight2")
BEVEL = "modifier Bevel of Cube"
KEYS = "3 keys of location of Cube"


class Scene(FakeHost):
    """A scene of items that end in a digit; what has another name is a part of one."""

    item_noun = "prim"
    breaks: tuple[str, ...] = ()

    def kinds(self, items: Sequence[str]) -> list[str]:
        kinds = super().kinds(items)
        for place, item in enumerate(items):
            if item == kinds[place]:
                kinds[place] = "gone"
        return kinds

    def display_names(self, items: Sequence[str]) -> list[str]:
        return [f"«{item}»" for item in items]

    def trial(self) -> Trial:
        return BreakingTrial(self, self.breaks)


class BreakingTrial(FakeTrial):
    """A trial in which something breaks."""

    def __init__(self, host: FakeHost, breaks: Sequence[str]) -> None:
        super().__init__(host)
        self._breaks = list(breaks)

    def broken(self) -> list[str]:
        return self._breaks


@pytest.mark.parametrize(
    ("items", "says", "on_button"),
    [
        (CAMERAS, "Delete 3 cameras", "Delete 3 cameras"),
        (
            (*LIGHTS, *CAMERAS),
            "Delete 3 cameras and 2 sphere lights",
            "Delete 3 cameras and 2 sphere lights",
        ),
        ((*CAMERAS, *LIGHTS, "Mesh1"), "Delete 6 prims", "Delete 6 prims"),
        (CAMERAS[:1], "Delete camera «Camera1»", "Delete 1 camera"),
        ((BEVEL,), "Remove modifier Bevel of Cube", "Remove 1 part"),
        ((BEVEL, KEYS), "Remove modifier Bevel of Cube and 1 more", "Remove 2 parts"),
        (
            (*CAMERAS, BEVEL),
            "Delete 3 cameras and modifier Bevel of Cube",
            "Delete 3 cameras and 1 part",
        ),
        (
            (*CAMERAS, *LIGHTS, BEVEL, KEYS),
            "Delete 3 cameras, 2 sphere lights, modifier Bevel of Cube and 1 more",
            "Delete 3 cameras, 2 sphere lights and 2 parts",
        ),
        (("a key\nof Cube",), "Remove a key‹U+000A›of Cube", "Remove 1 part"),  # noqa: RUF001 - ours
    ],
)
def test_a_loss_is_named_as_a_person_would(
    items: tuple[str, ...], says: str, on_button: str
) -> None:
    loss = Loss(items)
    scene = Scene(items)

    assert f"{loss.verb(scene)} {loss.described(scene)}" == says
    assert f"{loss.verb(scene)} {loss.counted(scene)}" == on_button


def test_a_part_that_goes_is_listed_as_one_and_not_as_gone_already() -> None:
    loss = Loss((CAMERAS[0], BEVEL))

    assert loss.kinds(Scene()) == ("Camera", "part")


def test_items_that_are_too_many_to_compare_are_counted_together() -> None:
    many = [f"Camera{number}" for number in range(501)]

    assert counted(Scene(many), many) == "501 prims"
    assert counted(Scene(many), many[:500]) == "500 cameras"


def test_an_item_that_is_not_there_is_counted_by_the_host_s_own_noun() -> None:
    assert counted(Scene(), ["new", "newer"]) == "2 prims"


def test_a_name_in_a_sentence_cannot_begin_a_line_of_its_own() -> None:
    assert named(["Cube\nNothing is lost."]) == "Cube‹U+000A›Nothing is lost."  # noqa: RUF001 - ours


def asked(
    folder: Path, act: Callable[[Scene], object], scene: Scene, risk: Any, **settings: Any
) -> Question:
    """Run a skill of which a person is asked once, and says yes; gives the question."""
    person = Person(YES)

    @skill(risk=risk)
    def tidy() -> None:
        """Tidy the scene up."""
        act(scene)

    with live(folder, tidy, host=scene, presenter=person, **settings) as running:
        assert status(running.call("tidy")) == "done"
    (question,) = person.shown
    return question


def test_the_question_says_what_is_lost_and_its_button_the_same(tmp_path: Path) -> None:
    scene = Scene([*CAMERAS, *LIGHTS], has_ui=True)

    question = asked(tmp_path, lambda it: it.items.clear(), scene, "destructive")

    assert question.message == "Delete 3 cameras and 2 sphere lights?"
    assert question.confirmation is not None
    assert question.confirmation.title == "Delete 3 cameras and 2 sphere lights"
    assert question.items == (*CAMERAS, *LIGHTS)
    assert scene.items == []


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (("Pad",), "1 thing will break: Pad."),
        (tuple("ABCDEFG"), "7 things will break: A, B, C, D, E and 2 more."),
    ],
)
def test_the_question_says_what_will_break(
    breaks: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    scene = Scene(CAMERAS[:1], has_ui=True)
    scene.breaks = breaks

    question = asked(tmp_path, lambda it: it.items.clear(), scene, "destructive")

    assert question.message.splitlines() == ["Delete camera «Camera1»?", says]


def test_the_line_below_says_so_where_nothing_breaks(tmp_path: Path) -> None:
    intact = Scene(CAMERAS[:1], has_ui=True)
    broken = Scene(CAMERAS[:1], has_ui=True)
    broken.breaks = ("Pad",)

    lines = []
    for scene in (intact, broken):
        question = asked(tmp_path, lambda it: it.items.clear(), scene, "destructive")
        assert question.consent is not None
        lines.append(undo_line(question.consent))

    assert lines == [
        "One undo brings all of it back. No other item refers to them.",
        "One undo brings all of it back.",
    ]


def test_the_question_of_a_body_that_took_long_says_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_questions, "_LONG_S", -1.0)
    scene = Scene(CAMERAS[:1], has_ui=True)

    question = asked(tmp_path, lambda it: it.items.clear(), scene, "destructive")

    assert question.message.splitlines()[1:] == ["It will take about 0 s."]


def test_the_question_of_an_edit_says_what_becomes_of_what(tmp_path: Path) -> None:
    scene = Scene(CAMERAS, has_ui=True)

    def edit(it: Scene) -> None:
        it.items.remove("Camera2")
        it.items.append("Mesh1")

    question = asked(tmp_path, edit, scene, "edit", edit="ask")

    assert question.message.splitlines() == [
        "Tidy?",
        "It makes 1 mesh: «Mesh1».",
        "It deletes 1 camera: «Camera2».",
    ]


@pytest.mark.parametrize(
    ("is_there", "says"), [(False, "write the new file"), (True, "write to the existing file")]
)
def test_the_question_before_a_file_says_whether_it_is_there_already(
    is_there: bool, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "names.txt"
    if is_there:
        file.write_text("old")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    question = asked(tmp_path, lambda it: file.write_text("new"), Scene(has_ui=True), "edit")

    assert question.message.splitlines() == [
        "Tidy?",
        "Undo cannot reverse this:",
        f"- {says} {os.path.realpath(file)}",
        "The skill was stopped before it did this. It may do more of the same kind.",
    ]
    assert question.consent is not None
    copied = "A copy" if is_there else "A copy of the scene"
    assert f"{copied} is kept first" in undo_line(question.consent)
    assert file.read_text() == "new"
