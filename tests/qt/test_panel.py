"""The panel shows what goes on, and lets the person act on it, by mouse or by keyboard alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QLineEdit, QPushButton, QWidget

from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import Effect
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Question, Route
from dcc_bridge.elicitation.types import Answered
from dcc_bridge.panel.state import Port, State, is_due, read
from dcc_bridge.qt.panel import panel
from dcc_bridge.qt.panel.cards import Card, Cards
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.panel.widgets import Action
from dcc_bridge.server.start_problem import StartProblem
from tests.stand_ins import Person

from .desk import CLAUDE, CURSOR, YES, Desk
from .stage import LIMIT, click, delete, elsewhere, press, until, words

Key = Qt.Key
AccessibleText = Qt.ItemDataRole.AccessibleTextRole


def activate(window: QWidget) -> None:
    """Give a window the keyboard, as the person does, once a dialog that just came has had it."""
    for _ in range(100):
        window.activateWindow()
        QTest.qWait(20)  # Qt tells the windows in turns of its loop; asked more often it never does
        if window.isActiveWindow():
            return
    raise AssertionError("the window did not become active")


def docked(desk: Desk) -> QDockWidget:
    dock = QDockWidget(desk.window)
    dock.setWidget(desk.panel)
    desk.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    return dock


def tip(desk: Desk, row: int = 0) -> str:
    """Give the tooltip of a row of the history."""
    return str(desk.panel.history.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole))


def titles(cards: Cards) -> list[str]:
    return [card.row.title for card in cards.cards]


def shown(desk: Desk) -> State:
    assert desk.panel.state is not None
    return desk.panel.state


def card(cards: Cards, title: str) -> Card:
    return next(one for one in cards.cards if one.row.title == title)


def button(cards: Cards, title: str, caption: str) -> Action:
    return next(one for one in card(cards, title).buttons if one.text() == caption)


def ended(panel: Panel) -> list[str]:
    model = panel.history.model
    return [str(model.index(row, 0).data(AccessibleText)) for row in range(model.rowCount())]


def test_where_nothing_is_it_says_what_will_be_there(desk: Desk) -> None:
    assert desk.panel.banner.text == "Ready for agents"
    assert titles(desk.panel.clients) == ["Connect a client"]
    for page in (desk.panel.now, desk.panel.grants, desk.panel.history):
        (sentence,) = [label for label in page.findChildren(QLabel) if label.isVisibleTo(page)]
        assert sentence.text().endswith(".")


def test_what_wants_the_person_stands_first_then_what_runs_then_what_waits(desk: Desk) -> None:
    desk.furnish()

    assert desk.panel.banner.text == "A question for you"
    assert titles(desk.panel.now) == [
        "Delete 127 cameras?",
        "What should Lamp_08_Glow be called?",
        "Render preview",
        "Set attribute",
        "Rename prim",
    ]
    first, second, *_ = desk.panel.now.cards
    assert first.row.stands_out
    assert not second.row.stands_out
    assert card(desk.panel.now, "Render preview").row.done == pytest.approx(37 / 90)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda desk: setattr(desk, "address", None), "Agents cannot connect"),
        (lambda desk: setattr(desk, "address", ""), "Starting: agents can connect in a moment"),
        (lambda desk: desk.pause(), "Paused: agents may only read"),
        (lambda desk: desk.call("Render")[1].begin(), "claude-code is working"),
    ],
)
def test_the_headline_says_how_things_are(desk: Desk, change: object, said: str) -> None:
    change(desk)  # type: ignore[operator]  # what is given above
    desk.panel.refresh()

    assert desk.panel.banner.text == said


def test_the_panel_says_why_agents_cannot_connect_and_what_to_do(desk: Desk) -> None:
    desk.address = None
    desk.problem = StartProblem("The port is taken.", "Restart Maya.")
    desk.panel.refresh()

    assert desk.panel.banner.text == "Agents cannot connect"
    assert "The port is taken.\nRestart Maya." in words(desk.panel)


def test_the_address_is_shown_and_copied_without_any_token(desk: Desk) -> None:
    assert "127.0.0.1:41234/mcp" in words(desk.panel)

    click(desk.panel.banner.copy)

    assert QApplication.clipboard().text() == "http://127.0.0.1:41234/mcp"


def test_who_is_connected_is_shown_as_proved_and_as_they_call_themselves(desk: Desk) -> None:
    desk.meet(CURSOR, 340)
    desk.meet(CLAUDE)
    until(lambda: titles(desk.panel.clients)[:-1] == ["claude-code", "cursor"])

    assert "calls itself Claude Code 2.1" in card(desk.panel.clients, "claude-code").row.detail
    assert "6 min ago" in card(desk.panel.clients, "cursor").row.detail


def test_the_switch_pauses_and_shows_a_pause_from_elsewhere(desk: Desk) -> None:
    click(desk.panel.banner.pause)
    assert desk.is_paused
    assert desk.panel.banner.pause.text() == "Resume"

    desk.resume()

    until(lambda: desk.panel.banner.pause.text() == "Pause")
    assert not desk.panel.banner.pause.isChecked()


def test_a_mute_stands_in_the_head_and_says_what_it_quiets_and_ends_there(desk: Desk) -> None:
    desk.panel.show()
    assert not desk.panel.banner.unmute.isVisible()
    limits = desk.broker.audience.limits
    for label in ("cursor", "claude-code"):
        limits.mute(label)
    desk.panel.refresh()
    said = [label.text() for label in desk.panel.banner.findChildren(QLabel) if label.isVisible()]
    assert (
        "Muted for 10 min: claude-code, cursor. Their questions are declined. Other edits continue."
        in said
    )

    desk.panel.banner.unmute.click()

    assert limits.muted == {}
    assert not desk.panel.banner.unmute.isVisible()


def test_a_question_at_its_client_is_answered_here(desk: Desk) -> None:
    call, _ = desk.call("Rename prim")
    call.route = Route(Person())
    question = desk.ask("What is it called?", call, consent=False)
    desk.panel.refresh()
    assert not desk.presenter.dialogs

    click(button(desk.panel.now, "What is it called?", "Answer here"))

    assert desk.dialog.question.id == question.id
    until(lambda: desk.panel.now.cards[0].row.stands_out)


def test_a_question_that_expired_is_opened_from_its_row_and_its_answer_is_listed(
    desk: Desk,
) -> None:
    call, _ = desk.call("Delete prims")
    call.repeat_key = "same"
    desk.ask("Delete cam1?", call, consent=False)
    desk.dialog.countdown.expired.emit()
    until(lambda: not desk.presenter.dialogs)
    desk.panel.refresh()
    expired = card(desk.panel.now, "Delete cam1?").row.detail
    button(desk.panel.now, "Delete cam1?", "Answer here").click()
    until(lambda: desk.presenter.dialogs)
    opened = words(desk.dialog)
    desk.dialog.submit()
    until(lambda: not desk.presenter.dialogs)
    desk.panel.refresh()

    assert expired == "Expired: claude-code gets your answer when it asks again"
    assert "It gets your answer when it makes the same call again." in opened
    answered = card(desk.panel.now, "Delete cam1?")
    assert answered.row.detail == "Answered: claude-code gets the answer when it asks again"
    assert [one.text() for one in answered.buttons] == ["Cancel"]


def test_a_grant_for_the_session_says_what_it_covers(desk: Desk) -> None:
    call = Call("rename", "Rename", "edit", CLAUDE, digest="x")
    given = (("path", "/World/Cube\n"), ("name", "a», axis: «x"))
    for arguments, items in ((given, ()), ((), ()), ((), ("a", "b"))):
        question = Question("Rename?", call, YES, consent=Consent(items, arguments=arguments))
        desk.broker.audience.grants.allow(question)
    desk.panel.refresh()

    details = [card.row.detail.split(" · ")[1] for card in desk.panel.grants.cards]

    assert details == [
        "only with path: «/World/Cube‹U+000A›», name: «a‹U+00BB›, axis: «x»",  # noqa: RUF001 - ours
        "only for the same arguments",
        "up to 2 items",
    ]


def test_a_change_on_another_thread_is_seen(desk: Desk) -> None:
    elsewhere(lambda: desk.call("Set attribute"))

    until(lambda: titles(desk.panel.now) == ["Set attribute"])


def test_a_call_that_is_over_at_once_does_not_flicker(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)
    desk.call("List prims", "read", ago=0.3)
    desk.panel.refresh()

    assert not titles(desk.panel.now)


def test_fifty_questions_are_listed_and_one_dialog_is_shown(desk: Desk) -> None:
    """By keyboard alone: the last one is shown and declined, and another one is cancelled."""
    calls = [desk.call("Delete", "destructive", Client(f"agent{n}"))[0] for n in range(50)]
    asked = [desk.ask(f"Question {n}?", call) for n, call in enumerate(calls)]
    until(lambda: desk.presenter.questions.waiting == 49)
    desk.panel.refresh()
    assert desk.panel.banner.text == "50 questions for you"
    assert titles(desk.panel.now) == [f"Question {n}?" for n in range(50)]
    assert len(desk.presenter.dialogs) == 1

    activate(desk.panel)
    desk.panel.enter()
    for _ in range(49):
        press(focused(), Key.Key_Down)
    press(focused(), Key.Key_Return)
    (dialog,) = desk.presenter.dialogs
    assert dialog.question.id == asked[49].id
    press(dialog.exits.decline, Key.Key_Space)
    until(lambda: titles(desk.panel.now)[48:] == ["Question 48?", "Delete"])

    activate(desk.panel)
    desk.panel.enter()
    press(focused(), Key.Key_Tab)
    assert focused().text() == "Cancel"
    press(focused(), Key.Key_Return)
    until(lambda: titles(desk.panel.now)[:48] == [f"Question {n}?" for n in range(1, 49)])
    assert len(desk.presenter.dialogs) == 1


def test_the_keyboard_goes_to_the_tabs_where_no_question_waits(desk: Desk) -> None:
    """Not to *Pause*: whoever looks for a question presses Space next."""
    activate(desk.panel)

    desk.panel.enter()

    assert desk.panel.focusWidget() is desk.panel.tabs.tabBar()


def test_of_a_client_that_asks_much_at_a_time_all_is_listed_and_some_can_be_shown(
    desk: Desk,
) -> None:
    """What waits for its turn can be cancelled, and says why it cannot be shown."""
    calls = [desk.call("Delete", "destructive")[0] for _ in range(8)]
    for number, call in enumerate(calls):
        desk.ask(f"Question {number}?", call)
    until(lambda: desk.presenter.questions.waiting == 2)
    desk.panel.refresh()

    assert desk.panel.banner.text == "3 questions for you"
    assert titles(desk.panel.now) == [f"Question {n}?" for n in range(8)]
    captions = [[one.text() for one in card.buttons] for card in desk.panel.now.cards]
    assert captions == [["Show", "Cancel"]] * 3 + [["Cancel"]] * 5
    click(button(desk.panel.now, "Question 0?", "Cancel"))
    until(lambda: card(desk.panel.now, "Question 3?").row.stands_out)


def focused() -> QPushButton:
    found = QApplication.focusWidget()
    assert isinstance(found, QPushButton)
    return found


def test_tab_goes_through_the_panel_in_the_order_in_which_it_is_read(desk: Desk) -> None:
    desk.furnish()
    activate(desk.panel)
    desk.panel.banner.pause.setFocus()
    seen = []
    for _ in range(8):
        press(focused(), Key.Key_Tab)
        seen.append(focused().text())

    assert seen == ["Copy", "Show", "Cancel", "Answer here", *["Cancel"] * 4]


def test_only_the_step_on_top_can_be_undone(desk: Desk) -> None:
    first = desk.ended("Rename prim", "done", ago=20)
    second = desk.ended("Delete prims", "done", "destructive", by="host", ago=10)
    desk.panel.refresh()
    undo = desk.panel.history.undo
    assert desk.host.labels == [first, second]
    assert (undo.text(), undo.isEnabled()) == ("Undo: Delete prims", True)

    desk.panel.history.list.setCurrentIndex(desk.panel.history.model.index(1, 0))
    assert not undo.isEnabled()
    assert "Use the undo of fake" in undo.toolTip()

    desk.panel.history.list.clearSelection()
    click(undo)
    assert desk.host.labels == [first]
    assert (undo.text(), undo.isEnabled()) == ("Undo: Rename prim", True)


def test_an_error_that_looks_like_markup_is_none_in_the_tooltip(desk: Desk) -> None:
    desk.ended("Save scene", "failed", error="Save scene failed: <img src='x'>")
    desk.panel.refresh()

    assert "&lt;img src" in tip(desk)


def test_the_history_says_who_answered_and_leaves_reads_out(desk: Desk) -> None:
    desk.furnish()
    assert ended(desk.panel) == [
        "Delete prims. claude-code · done · approved in the app",
        "Rename prim. claude-code · done · approved in advance",
        "Save scene. claude-code · failed, nothing was changed",
        "Delete prims. claude-code · declined in the app",
        "Set attribute. cursor · done · no question needed",
    ]
    assert "the disk is full" in tip(desk, 2)

    desk.panel.history.reads.click()

    assert "List prims. claude-code · done · no question needed" in ended(desk.panel)


def test_an_undone_step_is_shown_as_undone_and_as_done_after_a_redo(desk: Desk) -> None:
    desk.ended("Rename prim", "done", ago=20)
    desk.panel.refresh()
    history = desk.panel.history

    desk.host.undo()
    desk.panel.refresh()
    undone, why = ended(desk.panel), history.undo.toolTip()
    desk.host.redo()
    desk.panel.refresh()

    assert undone == ["Rename prim. claude-code · undone in the app"]
    assert why == "It is already undone."
    assert ended(desk.panel) == ["Rename prim. claude-code · done · no question needed"]
    assert history.undo.isEnabled()


def test_a_call_that_goes_on_without_its_answer_is_not_shown_as_agreed(desk: Desk) -> None:
    call, trail = desk.call("List prims", "read")
    trail.question_opened()
    trail.question_closed(Answered("Which ones?", "declined", "host"))
    trail.end("done")
    desk.panel.refresh()

    assert ended(desk.panel) == ["List prims. claude-code · completed anyway · declined in the app"]
    assert "Which ones? · declined in the app" in tip(desk)
    assert call.id in tip(desk)


def test_of_a_save_the_history_says_where_the_copy_is(desk: Desk) -> None:
    _, trail = desk.call("Save scene", "destructive")
    trail.end("done", effect=Effect(lasting=True, copy=Path("/shots/shot.usda.checkpoints/0001")))
    desk.panel.refresh()
    history = desk.panel.history

    assert "done, a copy is kept" in ended(desk.panel)[0]
    assert "/shots/shot.usda.checkpoints/0001" in history.undo.toolTip()
    assert not history.undo.isEnabled()


def test_the_id_of_a_call_can_be_read_and_copied_by_mouse_and_by_key(
    desk: Desk, app: QApplication
) -> None:
    """By it the record and the log find the call."""
    desk.ended("Rename prim", "failed", ago=30)
    desk.ended("Delete prims", "failed", ago=10)
    desk.panel.refresh()
    history = desk.panel.history
    assert not history.menu.copy.isEnabled()
    for row, copy in enumerate((_copy_by_menu, _copy_by_key)):
        history.list.setCurrentIndex(history.model.index(row, 0))

        copy(desk)

        call = history.model.records[row].id
        assert app.clipboard().text() == call
        assert f"Call {call}" in tip(desk, row)


def _copy_by_menu(desk: Desk) -> None:
    menu, shown = desk.panel.history.menu, desk.panel.history.list
    activate(desk.panel)
    shown.customContextMenuRequested.emit(shown.rect().center())
    until(menu.isVisible)
    menu.copy.trigger()
    menu.hide()


def _copy_by_key(desk: Desk) -> None:
    activate(desk.panel)
    desk.panel.history.list.setFocus()
    press(desk.panel.history.list, Key.Key_C, Qt.KeyboardModifier.ControlModifier)


def test_what_is_selected_stays_selected_as_more_ends(desk: Desk) -> None:
    desk.ended("Rename prim", "failed", ago=30)
    desk.panel.refresh()
    history = desk.panel.history
    history.list.setCurrentIndex(history.model.index(0, 0))
    chosen = history.chosen

    desk.ended("Set attribute", "failed", ago=10)
    desk.panel.refresh()

    assert history.chosen == chosen
    assert ended(desk.panel)[0].startswith("Set attribute")


@pytest.mark.long
def test_ten_thousand_calls_stay_fast(app: QApplication) -> None:
    desk = Desk(most=10_000)
    for number in range(10_000):
        desk.recent.follow(Call(f"skill{number}", f"Skill {number}", "edit", CLAUDE)).end("failed")
    desk.panel.resize(340, 760)
    began = time.thread_time()
    desk.panel.show()
    desk.panel.grab()
    shown = time.thread_time() - began
    began = time.thread_time()
    desk.panel.refresh()
    again = time.thread_time() - began
    desk.close()

    assert desk.panel is not None
    assert shown < 0.5
    assert again < 0.15


def test_at_rest_it_reads_nothing_and_still_sees_what_nobody_tells_of(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looks, refresh = time.time() // 10 * 10, list[int](), desk.panel.refresh
    monkeypatch.setattr("time.time", lambda: now)

    def look() -> None:
        looks.append(1)
        refresh()

    monkeypatch.setattr(desk.panel, "refresh", look)

    def looked() -> bool:
        looks.clear()
        desk.panel._refresh_if_due()
        return bool(looks)

    def is_seen_once() -> bool:
        return looked() and not looked()

    desk.ended("Rename prim", "done")
    refresh()
    assert not looked()
    desk.host.undo()
    assert is_seen_once()
    desk.meet(CLAUDE)
    assert is_seen_once()
    desk.meet(CLAUDE, ago=-0.5)
    assert is_seen_once()
    desk.address = None
    assert is_seen_once()
    now += 10.0
    assert is_seen_once()


def test_at_rest_it_counts_down_and_shows_a_call_that_has_become_long(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time() // 10 * 10
    monkeypatch.setattr("time.time", lambda: now)
    _, trail = desk.call("List prims", "read", ago=0.0)
    desk.panel.refresh()
    assert not titles(desk.panel.now)

    now += 1.0
    desk.panel._refresh_if_due()

    assert titles(desk.panel.now) == ["List prims"]
    trail.end("done")
    desk.panel.refresh()
    assert not is_due(desk, shown(desk))
    desk.broker.audience.limits.mute(CLAUDE.label)
    desk.panel.refresh()
    assert is_due(desk, shown(desk))


def test_a_change_on_another_thread_while_the_panel_reads_is_seen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_slowly(port: Port) -> State:
        state = read(port)
        if len(state.ended) == 1:  # what is told now is not in it
            elsewhere(lambda: desk.ended("Second", "failed")).result(LIMIT)
        return state

    monkeypatch.setattr(panel, "read", read_slowly)
    desk.panel._clock.stop()
    elsewhere(lambda: desk.ended("First", "failed")).result(LIMIT)

    until(lambda: len(desk.panel.history.model.records) == 2)


def test_a_storm_of_changes_is_drawn_a_few_times(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[State] = []
    monkeypatch.setattr(desk.panel.banner, "show_state", looks.append)
    call, trail = desk.call("Render")
    trail.begin()
    began = time.monotonic()

    def storm() -> None:
        while time.monotonic() - began < 1:
            desk.change(call, progress=(time.monotonic() - began, 1.0, ""))

    over = elsewhere(storm)
    until(lambda: over.done() and looks)

    assert len(looks) <= 2 + 11 * (time.monotonic() - began)


def test_it_takes_no_focus_whatever_happens(desk: Desk) -> None:
    editor = QLineEdit()
    desk.window.setCentralWidget(editor)
    docked(desk)
    activate(desk.window)
    editor.setFocus()
    until(editor.hasFocus)

    call, trail = desk.call("Render")
    trail.begin()
    desk.ended("Delete prims", "done", "destructive", by="host")
    desk.meet(CLAUDE)
    desk.panel.refresh()
    click(desk.panel.banner.pause)
    click(button(desk.panel.now, "Render", "Cancel"))
    trail.end("cancelled")
    desk.panel.refresh()

    assert editor.hasFocus()
    assert desk.cancelled == [call.id]


def test_the_focus_stays_on_a_button_while_others_come_and_go(desk: Desk) -> None:
    desk.call("First")
    _, trail = desk.call("Second")
    desk.call("Third")
    desk.panel.refresh()
    activate(desk.panel)
    third = button(desk.panel.now, "Third", "Cancel")
    third.setFocus()

    trail.end("cancelled")
    question = desk.ask("Sure?", desk.call("Fourth", "destructive")[0])
    desk.panel.refresh()

    assert titles(desk.panel.now) == ["Sure?", "First", "Third"]
    assert QApplication.focusWidget() is third
    desk.broker.dismiss(question)


def test_hidden_it_costs_nothing_and_shown_again_it_is_right(desk: Desk) -> None:
    desk.panel.hide()
    assert desk.watching == 0
    desk.call("Set attribute")

    desk.panel.show()

    assert desk.watching == 1
    assert titles(desk.panel.now) == ["Set attribute"]


def test_deleted_by_its_host_it_is_forgotten(app: QApplication) -> None:
    desk = Desk()
    dock = docked(desk)
    desk.panel.show()

    delete(dock)
    desk.call("Set attribute")

    until(lambda: desk.watching == 0)
    desk.close()


def test_it_follows_the_palette_of_its_host(desk: Desk) -> None:
    desk.furnish()
    light, dark = QColor("#fafafa"), QColor("#202020")

    grounds = []
    for ground, text in ((light, dark), (dark, light)):
        palette = QPalette(ground, ground)
        palette.setColor(QPalette.ColorRole.WindowText, text)
        desk.panel.setPalette(palette)
        picture = desk.panel.grab().toImage()
        grounds.append(picture.pixelColor(1, 1).name())

    assert grounds == [light.name(), dark.name()]


def test_what_agents_say_is_plain_text_on_one_line(desk: Desk) -> None:
    evil = "<b>Delete</b>\u202eeverything?\nand more"
    desk.ask(evil, desk.call("<i>Skill</i>", "destructive")[0])
    desk.panel.refresh()

    (one,) = desk.panel.now.cards
    assert "\u202e" not in one.row.title
    assert "\n" not in one.row.title
    assert "<b>Delete</b>" in words(one)
    labels = [label for label in one.findChildren(QLabel) if label.text()]
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)


def test_every_control_has_a_name_for_who_cannot_see_it(desk: Desk) -> None:
    desk.furnish()

    for one in desk.panel.now.findChildren(QPushButton):
        assert ": " in one.accessibleName()
