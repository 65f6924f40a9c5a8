"""Edits of agents in a real scene go back by the bar and the history, a person's step never.

A bridge, its panel and its bar over our own application's scene, and a real client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from dcc_bridge import skill
from dcc_bridge_usd.host import UsdSession
from tests.qt.pump import LiveDesk
from tests.qt.stage import click
from tests.qt.test_panel import ended


class SceneDesk(LiveDesk):
    """One with edits of a real scene, of which nobody is asked."""

    def skills(self) -> list[Callable[..., Any]]:
        host = self.host

        @skill(risk="edit", title="Add a box")
        def add_box() -> str:
            """Add a box."""
            return self.add("Box")

        @skill(risk="edit", title="Add a cone")
        def add_cone() -> str:
            """Add a cone."""
            return self.add("Cone")

        assert isinstance(host, UsdSession)
        return [add_box, add_cone]

    def add(self, name: str) -> str:
        self.host.stage.DefinePrim(f"/World/{name}", "Xform")
        return name

    def has(self, name: str) -> bool:
        return bool(self.host.stage.GetPrimAtPath(f"/World/{name}"))

    def do(self, *tools: str) -> None:
        for tool in tools:
            calling = self.go(tool)
            self.running.until(calling.done)
        self.panel.refresh()


@pytest.fixture
def desk(app: QApplication, session: UsdSession, tmp_path: Path) -> Iterator[SceneDesk]:
    desk = SceneDesk(tmp_path / "bridge", host=session)
    yield desk
    desk.close()


def by_hand(desk: SceneDesk) -> None:
    with desk.host.undo_step("Move the camera"):
        desk.add("Moved")


def test_all_of_a_task_goes_back_from_the_foot_of_the_panel(desk: SceneDesk) -> None:
    desk.do("add_box", "add_cone")
    keep, undo, undo_all = desk.panel.pending.buttons
    captions = [keep.text(), undo.text(), undo_all.text()]
    before = desk.has("Box"), desk.has("Cone")

    click(undo_all)

    assert captions == ["Keep all", "Undo last", "Undo all"]
    assert before == (True, True)
    assert (desk.has("Box"), desk.has("Cone")) == (False, False)
    desk.running.until(lambda: not desk.panel.pending.isVisible())


def test_the_bar_is_there_while_the_panel_is_closed(desk: SceneDesk) -> None:
    desk.panel.hide()
    desk.do("add_box")
    desk.running.until(lambda: desk.keep_bar.window is not None)
    assert desk.keep_bar.window is not None
    card = desk.keep_bar.window.card

    click(card.buttons[1])

    assert card.row.title == "Add a box"
    assert not desk.has("Box")
    desk.running.until(lambda: desk.keep_bar.window is None)


def test_back_to_a_call_in_the_history_stops_at_the_step_of_the_person(desk: SceneDesk) -> None:
    desk.do("add_box")
    by_hand(desk)
    desk.do("add_cone")
    history = desk.panel.history
    history.list.setCurrentIndex(history.model.index(1, 0))

    click(history.undo_back)
    assert history.steps is not None
    lines = history.steps.row.detail.split("\n")
    click(history.steps.buttons[0])

    assert lines == [
        "Add a cone · claude-code",
        "It stops at your own step “Move the camera”. What lies below stays.",
    ]
    assert (desk.has("Box"), desk.has("Moved"), desk.has("Cone")) == (True, True, False)


def test_what_went_back_comes_again_by_the_redo_of_the_application(desk: SceneDesk) -> None:
    desk.do("add_box", "add_cone")
    history = desk.panel.history
    history.list.setCurrentIndex(history.model.index(1, 0))
    click(history.undo_back)
    assert history.steps is not None
    click(history.steps.buttons[0])
    gone = desk.has("Box"), desk.has("Cone")

    desk.host.redo()
    desk.host.redo()
    desk.panel.refresh()

    assert gone == (False, False)
    assert (desk.has("Box"), desk.has("Cone")) == (True, True)
    assert all("done" in row for row in ended(desk.panel))


def test_with_a_step_of_the_person_on_top_there_is_no_bar(desk: SceneDesk) -> None:
    """It would undo that step."""
    desk.do("add_box")
    was_there = desk.panel.pending.isVisible()
    by_hand(desk)
    desk.panel.refresh()
    is_there = desk.panel.pending.isVisible()
    desk.host.undo()
    desk.panel.refresh()

    assert (was_there, is_there) == (True, False)
    assert desk.panel.pending.isVisible()
    assert (desk.has("Box"), desk.has("Moved")) == (True, False)
