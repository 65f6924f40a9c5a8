"""The panel beside a real bridge: what is pressed there is what agents meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from dcc_bridge import confirm_sync, skill, track
from tests.live import status, text

from .pump import LiveDesk
from .stage import click
from .test_panel import button, card, ended, titles


class Session(LiveDesk):
    """One whose person is asked before each edit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, edit="ask")

    def skills(self) -> list[Callable[..., Any]]:
        @skill(risk="edit", title="Rename", confirms=True, undo="Rename")
        def rename() -> str:
            """Rename it."""
            confirm_sync("Rename it?", items=["cam0"], verb="Rename")
            self.host.items.append("renamed")
            return "renamed"

        @skill(risk="read", title="Count", thread="any")
        def count() -> str:
            """Count for ever."""
            for _ in track(range(10**9)):
                pass
            return "counted"

        return [rename, count]

    def answer(self, *, remember: bool = False) -> None:
        dialog = self.dialog()
        if remember:
            dialog.offers_bar.remember.setChecked(True)
        click(dialog.exits.verb)


@pytest.fixture
def session(app: QApplication, tmp_path: Path) -> Iterator[Session]:
    session = Session(tmp_path)
    yield session
    session.close()


def test_after_a_revoke_the_next_edit_asks_again(session: Session) -> None:
    panel, until = session.panel, session.running.until
    first = session.go("rename")
    session.answer(remember=True)
    until(first.done)
    second = session.go("rename")
    until(second.done)
    assert not session.presenter.dialogs
    panel.tabs.setCurrentIndex(1)
    until(lambda: titles(panel.grants) == ["Rename"])
    assert "claude-code · 1 item · for" in card(panel.grants, "Rename").row.detail

    click(button(panel.grants, "Rename", "Revoke"))
    third = session.go("rename")
    session.answer()
    until(third.done)

    assert [status(one.result()) for one in (first, second, third)] == ["done"] * 3
    until(lambda: len(ended(session.panel)) == 3)
    assert ended(session.panel) == [
        "Rename it? claude-code · done · approved in the app",
        "Rename it? claude-code · done · approved in advance",
        "Rename it? claude-code · done · approved in the app",
    ]


def test_while_it_is_paused_an_agent_is_told_and_nothing_is_asked(session: Session) -> None:
    click(session.panel.banner.pause)

    refused = session.go("rename")
    session.running.until(refused.done)

    assert "Agents are paused in the application; nothing was changed." in text(refused.result())
    assert not session.presenter.dialogs
    click(session.panel.banner.pause)
    again = session.go("rename")
    session.answer()
    session.running.until(again.done)
    assert status(again.result()) == "done"


def test_a_muted_client_is_refused_until_it_is_heard_again(session: Session) -> None:
    panel, until = session.panel, session.running.until
    first = session.go("rename")
    session.answer()
    until(lambda: first.done() and bool(titles(panel.clients)))
    panel.tabs.setCurrentIndex(2)

    click(button(panel.clients, "claude-code", "Mute"))
    refused = session.go("rename")
    until(refused.done)
    until(lambda: card(panel.clients, "claude-code").buttons[0].text() == "Unmute")
    assert card(panel.clients, "claude-code").row.detail == "Muted for 10 min more"
    click(button(panel.clients, "claude-code", "Unmute"))
    again = session.go("rename")
    session.answer()
    until(again.done)

    assert status(refused.result()) == "refused"
    assert status(again.result()) == "done"


@pytest.mark.core
def test_what_an_agent_did_is_undone_from_the_history(session: Session) -> None:
    done = session.go("rename")
    session.answer()
    session.running.until(done.done)
    session.running.until(session.panel.history.undo.isEnabled)

    click(session.panel.history.undo)

    assert session.host.items == ["cam0"]
    assert not session.panel.history.undo.isEnabled()


def test_what_runs_is_cancelled(session: Session) -> None:
    panel, until = session.panel, session.running.until
    future = session.go("count")
    until(lambda: titles(panel.now) == ["Count"])

    click(button(panel.now, "Count", "Cancel"))
    until(future.done)

    assert future.result().is_error
    until(lambda: not titles(panel.now))


def test_as_the_bridge_stops_it_says_so(session: Session) -> None:
    assert session.panel.banner.text == "Ready for agents"

    session.running.stop()

    session.running.until(lambda: session.panel.banner.text == "Agents cannot connect")
    assert not session.panel.banner.copy.isVisible()
