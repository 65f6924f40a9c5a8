"""No question takes the keyboard: keys count in it once the person has gone there, and paused."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Offers, Page, Question, Reply
from dcc_bridge.qt import key_gate

from .stage import Stage, ask_name, click, consent, drawn, form, go_to, until

ALT = Qt.KeyboardModifier.AltModifier
EACH: dict[str, Any] = {
    "line": {"type": "string"},
    "count": {"type": "integer"},
    "tick": {"type": "boolean"},
    "choice": {"type": "string", "enum": ["a", "b"]},
    "choices": {"type": "array", "items": {"enum": ["a", "b"]}},
}
NAMED = form(name={"type": "string", "default": "shot_010"})
CAMERAS = tuple(f"cam{n}" for n in range(12))
KINDS: dict[str, Question] = {
    "a name": ask_name(),
    "a name that may be sent as it is": ask_name(form=NAMED),
    "nothing but a yes": ask_name(form=form()),
    "every field": ask_name(form=form(**EACH)),
    "consent": consent(offers=Offers(900, 900, hand_over="Claude", remember=9, mute="claude")),
    "consent with a form": consent(
        form=form(["sure"], sure={"type": "boolean"}, why={"type": "string"}), title="Delete"
    ),
    "consent to what cannot be undone": consent(items=CAMERAS, undoable=False),
    "consent to long paths": consent(items=tuple(f"/{'deep/' * 40}{n}" for n in range(9))),
    "code": consent(details=Details("del cameras\n" * 30)),
    "a page": ask_name(form=None, page=Page("https://studio.example/login")),
}
TYPED = "rename the glow key, decline it and send it to my yard "  # all mnemonics are among them


class Typist:
    """Somebody who types in a host's window."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.field, self.console = QLineEdit(), QPlainTextEdit()
        column = QVBoxLayout(middle := QWidget())
        for editor in (self.field, self.console):
            column.addWidget(editor)
        stage.window.setCentralWidget(middle)
        self.sit(self.field)

    def sit(self, editor: QWidget) -> None:
        """Go to the host's window."""
        self.stage.window.activateWindow()
        until(self.stage.window.isActiveWindow)
        editor.setFocus()

    @staticmethod
    def strike(
        key: Qt.Key | str, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """Press a key: it goes to whatever window has the keyboard."""
        window: QWindow | None = QGuiApplication.focusWindow()
        assert window is not None
        QTest.keyClick(window, key, modifiers)  # type: ignore[arg-type]  # a letter will do

    def type(self, text: str) -> None:
        for letter in text:
            self.strike(letter)
            QCoreApplication.processEvents()


@pytest.fixture
def typist(stage: Stage) -> Typist:
    return Typist(stage)


@pytest.mark.parametrize("kind", KINDS)
def test_who_types_in_the_host_answers_no_question_and_loses_no_letter(
    typist: Typist, kind: str
) -> None:
    """Five seconds of typing: before, as and after the question comes.

    A window system that gives a new window the keyboard, as this platform's does, changes nothing.
    """
    half = len(TYPED) // 2
    typist.type(TYPED[:half])
    heard, _ = typist.stage.show(KINDS[kind])
    while not typist.stage.presenter.dialogs:
        typist.stage.main.drain()
    (dialog,) = typist.stage.presenter.dialogs
    draft = dialog.form.content() if dialog.form is not None else None
    typist.strike(TYPED[half])  # as it appears, before the window system hears of anything
    typist.type(TYPED[half + 1 :])
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space, Qt.Key.Key_Enter):
        typist.strike(key)
    field = typist.field.text()
    typist.sit(typist.console)
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Space):
        typist.strike(key)
    typist.type(TYPED)

    assert (heard, dialog.isVisible()) == ([], True)
    assert field == f"{TYPED} "
    assert typist.console.toPlainText() == f"\n {TYPED}"
    assert (dialog.form.content() if dialog.form is not None else None) == draft


def test_keys_count_once_the_person_went_there_and_pressed_none_for_a_moment(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment is 500 ms, and each key begins it anew; here it ends when the test says so."""
    assert key_gate.KEY_DELAY_MS == 500
    heard, _ = typist.stage.show(ask_name(form=NAMED))
    dialog = typist.stage.dialog
    monkeypatch.setattr(key_gate, "KEY_DELAY_MS", 60_000)

    assert typist.stage.presenter.enter()
    until(dialog.isActiveWindow)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_X):
        typist.strike(key)
    typist.strike("s", ALT)  # Send

    assert (heard, typist.field.text()) == ([], "")
    assert dialog.form.content() == {"name": "shot_010"}
    monkeypatch.setattr(key_gate, "KEY_DELAY_MS", 0)
    typist.strike(Qt.Key.Key_X)
    until(lambda: dialog.gate.is_open)
    typist.strike(Qt.Key.Key_Tab)
    assert dialog.focusWidget() is dialog.exits.verb
    typist.strike("s", ALT)
    until(lambda: heard)
    assert heard == [Reply("accept", {"name": "shot_010"})]


def test_a_click_leads_into_a_question(typist: Typist) -> None:
    heard, _ = typist.stage.show(ask_name())
    dialog = typist.stage.dialog
    line = dialog.form.rows[0].editor
    at = line.mapTo(dialog, line.rect().center())

    QTest.mouseClick(dialog.windowHandle(), Qt.MouseButton.LeftButton, pos=at)
    until(lambda: dialog.gate.is_open)
    typist.type("key")
    typist.strike(Qt.Key.Key_Return)
    until(lambda: heard)

    assert heard == [Reply("accept", {"name": "key"})]
    assert typist.field.text() == ""


def test_the_window_systems_own_keys_lead_into_a_question_once_it_has_appeared(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alt+Tab: all that is seen of it is that the window has the keyboard."""
    monkeypatch.setattr(key_gate, "KEY_DELAY_MS", 0)  # it has appeared in the next turn
    heard, _ = typist.stage.show(consent())
    dialog = typist.stage.dialog
    until(typist.stage.window.isActiveWindow)

    def press_alt_tab() -> bool:
        dialog.windowHandle().requestActivate()
        return bool(dialog.gate.is_open)

    until(press_alt_tab)
    typist.strike(Qt.Key.Key_Escape)
    until(lambda: heard)

    assert heard == [Reply("cancel")]


def test_who_goes_back_to_the_host_is_there_until_they_come_again(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, _ = typist.stage.show(consent())
    dialog = typist.stage.dialog
    go_to(dialog)
    monkeypatch.setattr(key_gate, "KEY_DELAY_MS", 60_000)

    typist.sit(typist.field)
    typist.type(TYPED)
    typist.stage.presenter.enter()
    until(dialog.isActiveWindow)
    typist.strike(Qt.Key.Key_Escape)

    assert (heard, dialog.isVisible(), typist.field.text()) == ([], True, TYPED)


def test_a_list_that_drops_down_in_a_question_does_not_lead_out_of_it(typist: Typist) -> None:
    choice = form(["choice"], choice=EACH["choice"])
    heard, _ = typist.stage.show(ask_name(form=choice))
    dialog = typist.stage.dialog
    combo = dialog.form.rows[0].editor
    go_to(dialog)

    typist.strike(Qt.Key.Key_Space)
    until(combo.view().isVisible)
    typist.strike(Qt.Key.Key_Down)
    typist.strike(Qt.Key.Key_Return)
    until(lambda: not combo.view().isVisible())
    typist.strike(Qt.Key.Key_Return)
    until(lambda: heard)

    assert [type(one) for one in heard] == [Reply]
    assert heard[0].action == "accept"  # type: ignore[union-attr]  # a reply, as was said


def test_a_question_does_not_cover_the_text_in_which_the_person_types(typist: Typist) -> None:
    window, field = typist.stage.window, typist.field
    window.move(0, 0)
    window.resize(800, 800)
    field.setParent(window)
    field.setGeometry(200, 400, 400, 30)
    field.show()
    typist.sit(field)

    typist.stage.show(ask_name())
    dialog = typist.stage.dialog

    text = QRect(field.mapToGlobal(QPoint()), field.size())
    assert not dialog.frameGeometry().intersects(text)
    assert window.screen().availableGeometry().contains(dialog.frameGeometry())


def test_the_task_bar_and_a_notice_say_that_there_is_a_question(
    typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dialog need not have a place of its own in the task bar, so the host's is marked too."""
    marked: list[QWidget] = []
    said: list[tuple[object, str]] = []
    monkeypatch.setattr(QApplication, "alert", marked.append)
    monkeypatch.setattr(
        QAccessible,
        "updateAccessibility",
        lambda event: said.append((event.object(), event.message())),
    )
    typist.stage.show(consent())
    dialog = typist.stage.dialog

    (notice,) = typist.stage.presenter.notifications.visible
    assert marked == [dialog, typist.stage.window]
    assert notice.text == "A question for you: Delete 127 cameras?"
    assert said == [(notice, notice.text)]
    assert QApplication.activeWindow() is not notice
    click(notice.buttons[0])
    until(dialog.isActiveWindow)
    assert typist.stage.presenter.notifications.visible == []


def test_the_notice_goes_with_its_question_and_comes_again_with_it(typist: Typist) -> None:
    def notices() -> list[str]:
        return [one.text for one in typist.stage.presenter.notifications.visible]

    second = ask_name("Second?")
    typist.stage.show(ask_name("First?"))
    _, take_down = typist.stage.show(second)
    until(lambda: typist.stage.presenter.questions.waiting)
    assert notices() == ["A question for you: First?"]

    typist.stage.presenter.bring(second)
    assert notices() == []  # they went to it
    take_down("cancelled")
    until(lambda: notices() == ["A question for you: First?"])
    click(typist.stage.dialog.exits.decline)

    until(lambda: notices() == [])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a page"])
def test_a_question_that_nobody_holds_goes_without_the_collector(
    app: QApplication, kind: str
) -> None:
    """A collector that deletes it in an order of its own takes the screen of the host along."""
    gc.disable()
    try:
        dialog, heard = drawn(KINDS[kind])
        gone = weakref.ref(dialog)
        del dialog, heard

        assert gone() is None
    finally:
        gc.enable()
