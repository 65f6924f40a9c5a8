"""A dry run tells what a skill would change, asks nobody, and leaves the scene as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation.question import Reply
from tests.live import ERAS, live, status, text
from tests.stand_ins import FakeHost, Person

YES = Reply("accept", {"confirm": True})
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}


class Stage:
    """A scene of three cameras, and a person who would agree to anything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.host = FakeHost(["cam1", "cam2", "cam3"], has_ui=True)
        self.person = Person(then=YES)

    def dry_run(self, fn: Callable[..., Any], **client: Any) -> tuple[str, str]:
        """Return how it ended, and what the client was told."""
        with live(self._folder, fn, host=self.host, presenter=self.person) as running:
            result = running.dry_run(fn.__name__, **client)

        return status(result), text(result)

    @property
    def is_untouched(self) -> bool:
        """Whether the scene is as it was, without an undo step, and nobody was asked."""
        same = self.host.items == ["cam1", "cam2", "cam3"]
        return same and not self.host.labels and not self.person.shown


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "run")


@pytest.mark.parametrize("era", ERAS)
def test_it_tells_what_would_be_made_and_lost(era: str, stage: Stage) -> None:
    def swap() -> None:
        """Swap the cameras for a light."""
        stage.host.items.remove("cam1")
        stage.host.items.append("light1")

    ended, told = stage.dry_run(swap, era=era)

    assert ended == "tried"
    assert "Tried and taken back. Nothing was changed." in told
    assert "It makes 1 light: light1." in told
    assert "It deletes 1 cam: cam1." in told
    assert "A person would be asked first: Delete 1 cam?" in told
    assert stage.is_untouched


def test_it_tells_that_nothing_would_change(stage: Stage) -> None:
    def look() -> int:
        """Look."""
        return len(stage.host.items)

    assert stage.dry_run(look) == ("tried", "It would change nothing in the scene.")
    assert stage.is_untouched


def test_a_skill_that_reads_just_runs(stage: Stage) -> None:
    @skill(risk="read")
    def count() -> int:
        """Count."""
        return len(stage.host.items)

    assert stage.dry_run(count) == ("done", "3")


def test_what_reaches_outside_the_scene_is_named_and_not_done(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))  # where files may be made
    target = tmp_path / "names.txt"

    def write() -> None:
        """Write a file."""
        stage.host.items.pop()
        target.write_text("a", encoding="utf-8")

    ended, told = stage.dry_run(write)

    assert ended == "not_started"
    assert "cannot be tried. Undo cannot reverse this: write the new file" in told
    assert not target.exists()
    assert stage.is_untouched


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"confirms": True}, "It asks the person before it edits."),
        ({"confirms": True, "thread": "any"}, "It asks the person before it edits."),
        ({"undo": False}, "Undo does not bring back what it does."),
        ({"tried": False}, "It declares tried=False."),
        ({"thread": "any"}, "It does not run on the application's main thread."),
    ],
)
def test_a_skill_that_cannot_be_tried_does_not_begin_and_says_why(
    declared: dict[str, Any], why: str, stage: Stage
) -> None:
    @skill(risk="destructive", **declared)
    def clear() -> None:
        """Clear."""
        stage.host.items.clear()

    ended, told = stage.dry_run(clear)

    assert ended == "not_started"
    assert told == f"Clear cannot be tried. {why} Nothing was changed."
    assert stage.is_untouched


def test_a_skill_that_asks_a_question_is_not_tried_and_nobody_is_asked(stage: Stage) -> None:
    def name_one() -> None:
        """Name one."""
        stage.host.items.append("light1")
        elicit_form_sync("Which name?", NAME)

    @skill(risk="edit", ask_missing=True)
    def turn(axis: Literal["x", "y"]) -> None:
        """Turn."""

    @skill(risk="read")
    def find() -> None:
        """Find one."""
        elicit_form_sync("Which name?", NAME)

    ends = [stage.dry_run(fn) for fn in (name_one, turn, find)]

    assert [ended for ended, _ in ends] == ["not_started"] * 3
    assert [told.partition(" cannot be tried. ")[2] for _, told in ends] == [
        "It asks a question: 'Which name?'. Nothing was changed.",
        "It asks the person to choose what the arguments leave out: axis. Nothing was changed.",
        "It asks a question: 'Which name?'. Nothing was changed.",
    ]
    assert stage.is_untouched


def test_a_skill_that_calls_what_is_asked_about_first_is_not_tried(stage: Stage) -> None:
    @skill(risk="destructive", tried=False)
    def publish() -> None:
        """Publish."""

    def finish() -> None:
        """Finish."""
        publish()

    ended, told = stage.dry_run(finish)

    assert ended == "not_started"
    assert "It calls Publish, about which the person is asked before." in told


def test_a_host_that_takes_no_step_back_runs_nothing(stage: Stage) -> None:
    stage.host.tries = False

    def clear() -> None:
        """Clear."""
        stage.host.items.clear()

    ended, told = stage.dry_run(clear)

    assert ended == "not_started"
    assert "The application cannot revert an edit without a trace." in told
    assert stage.is_untouched
