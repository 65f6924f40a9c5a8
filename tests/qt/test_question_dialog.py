"""A question's dialog has three ways out, and Enter never agrees to a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QWidget,
)

from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import (
    Expired,
    HandOver,
    Offers,
    Page,
    Picture,
    Question,
    Reply,
)
from dcc_bridge.qt.buttons import ARM_DELAY_MS, Exits
from dcc_bridge.qt.editors import Line
from dcc_bridge.qt.labels import Notice
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog

from .contrasts import png
from .measure import is_cut
from .stage import CALL, HOST, armed, ask_name, click, consent, form, go_to, press, until, words

MOST = {
    "form": ask_name(form=form(**{f"f{n}": {"type": "string"} for n in range(32)})),
    "consent": consent("Delete?\n" + "All of it. " * 700, offers=Offers(900, 900, mute="claude")),
    "card": consent(
        "Delete " + "every camera of the shot, " * 4,
        items=tuple(f"/World/Cameras/sq{n % 9}/{n}" for n in range(500)),
        may_take_fewer=True,
        pictures=(Picture(png("#8a7050"), "Now: 500 cameras, marked"), Picture(png("#777"), "x")),
        offers=Offers(45, 300, hand_over="Claude Code", remember=200, mute="claude-code"),
    ),
    "items": consent(items=tuple(f"/World/Cameras/{n}" for n in range(500)), undoable=False),
    "code": consent(details=Details("delete(everything, everywhere, at_once)\n" * 300)),
    "a page": ask_name(form=None, page=Page(f"https://studio.example/{'x' * 8000}")),
}
"""The largest question of each kind."""
Shown = tuple[Any, list[Reply | Expired | HandOver]]
Show = Callable[[Question], Shown]
CONTROL = Qt.KeyboardModifier.ControlModifier
TEXT = {"type": "string"}
TWENTY = {f"field_{n}": {"type": ["string", "boolean"][n % 2]} for n in range(20)}


@pytest.fixture
def window(app: QApplication) -> QMainWindow:
    window = QMainWindow()
    window.show()
    return window


@pytest.fixture
def show(window: QMainWindow) -> Show:
    def make(question: Question) -> Shown:
        heard: list[Reply | Expired | HandOver] = []
        kind = QuestionDialog if question.page is None else UrlDialog
        dialog = kind(question, HOST, window, heard.append)
        dialog.show()
        return dialog, heard

    return make


def name_line(dialog: Any) -> Line:
    line: Line = dialog.form.rows[0].editor
    return line


def with_reason() -> Question:
    both = form(["sure"], sure={"type": "boolean"}, reason=TEXT)
    return consent(form=both, title="Delete cameras")


@pytest.mark.core
def test_the_verb_agrees_by_mouse_and_by_key(show: Show) -> None:
    for agree in (click, lambda verb: press(verb, Qt.Key.Key_Space)):
        dialog, heard = show(consent())

        agree(armed(dialog))

        assert heard == [Reply("accept", {"confirm": True})]
        assert not dialog.isVisible()


def test_decline_says_no_by_mouse_and_by_key(show: Show) -> None:
    for question in (consent(), ask_name()):
        for decline in (click, lambda button: press(button, Qt.Key.Key_Space)):
            dialog, heard = show(question)

            decline(dialog.exits.decline)

            assert heard == [Reply("decline")]
            assert not dialog.isVisible()


@pytest.mark.parametrize(
    "send",
    [lambda exits: press(exits.reason, Qt.Key.Key_Return), lambda exits: click(exits.decline)],
)
def test_decline_may_say_why_by_keys_alone(show: Show, send: Callable[[Exits], None]) -> None:
    """The line comes only when it is asked for; Enter in it declines, and never agrees."""
    for question in (consent(), ask_name()):
        dialog, heard = show(question)
        exits = dialog.exits
        assert not exits.reason.isVisible()

        press(exits.ways, Qt.Key.Key_Space)
        until(exits.menu.isVisible)
        press(exits.menu, Qt.Key.Key_Down)
        press(exits.menu, Qt.Key.Key_Return)
        assert dialog.focusWidget() is exits.reason
        QTest.keyClicks(exits.reason, "not the hero ")
        send(exits)

        assert heard == [Reply("decline", reason="not the hero")]
        assert not dialog.isVisible()


def test_enter_in_an_empty_reason_is_a_plain_decline_and_escape_a_cancel(show: Show) -> None:
    for key, action in ((Qt.Key.Key_Enter, "decline"), (Qt.Key.Key_Escape, "cancel")):
        dialog, heard = show(consent())
        dialog.exits.with_reason.trigger()

        press(dialog.exits.reason, key)

        assert [(one.action, one.reason) for one in heard if isinstance(one, Reply)] == [
            (action, None)
        ]


@pytest.mark.parametrize(
    "leave",
    [
        lambda dialog: click(dialog.exits.cancel),
        lambda dialog: press(dialog.exits.cancel, Qt.Key.Key_Space),
        lambda dialog: press(dialog, Qt.Key.Key_Escape),
        lambda dialog: dialog.close(),
        lambda dialog: dialog.reject(),
        lambda dialog: dialog.accept(),
        lambda dialog: dialog.done(1),
        lambda dialog: dialog.hide(),
    ],
    ids=["mouse", "key", "esc", "frame", "reject", "accept", "done", "hidden"],
)
def test_every_other_way_out_is_a_cancel(
    show: Show, leave: Callable[[QuestionDialog], object]
) -> None:
    for question in (consent(), ask_name()):
        dialog, heard = show(question)

        leave(dialog)

        assert heard == [Reply("cancel")]
        assert not dialog.isVisible()


def test_a_dismissed_dialog_answers_nothing(show: Show) -> None:
    dialog, heard = show(consent())

    dialog.dismiss()
    dialog.exits.verb.click()
    dialog.close()

    assert heard == []


def test_a_consent_of_one_yes_or_no_has_no_check_box_but_a_verb(show: Show) -> None:
    dialog, _ = show(consent())

    assert dialog.exits.verb.text() == "Delete 127 cameras"
    assert dialog.findChildren(QCheckBox) == []


def test_an_input_of_one_yes_or_no_has_a_check_box(show: Show) -> None:
    dialog, heard = show(consent(consent=None, title="Set up"))

    assert len(dialog.findChildren(QCheckBox)) == 1
    dialog.exits.verb.click()

    assert heard == [Reply("accept", {"confirm": False})]


def test_otherwise_the_verb_is_the_title_or_send(show: Show) -> None:
    verbs = [show(q)[0].exits.verb.text() for q in (ask_name(title="Rename"), ask_name())]

    assert [text.replace("&", "") for text in verbs] == ["Rename", "Send"]


def test_a_verb_too_long_for_its_button_is_said_whole_above(show: Show) -> None:
    title = "Delete every camera, light, mesh, curve, group and material in the whole shot"
    lone = form(["yes"], yes={"type": "boolean", "title": title})

    dialog, _ = show(consent(form=lone))

    assert dialog.exits.verb.text().endswith("…")
    assert f"If you agree: {title}" in words(dialog.body)


@pytest.mark.parametrize("question", [consent(), with_reason()], ids=["verb", "fields"])
def test_five_hundred_enters_agree_to_nothing(show: Show, question: Question) -> None:
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    for focused in ("cancel", "decline", "verb", "first", "dialog"):
        dialog, heard = show(question)
        armed(dialog)
        target = _widget(dialog, focused)
        target.setFocus()
        for number in range(500):
            modifiers = CONTROL if number % 3 == 0 else Qt.KeyboardModifier.NoModifier
            press(dialog.focusWidget() or dialog, keys[number % 2], modifiers)

        assert "accept" not in _actions(heard)
        dialog.close()


def _actions(heard: list[Reply | Expired | HandOver]) -> list[str]:
    return [one.action if isinstance(one, Reply) else "expired" for one in heard]


def _widget(dialog: QuestionDialog, name: str) -> QWidget:
    if name == "first" and dialog.form is not None:
        return dialog.form.rows[-1].editor
    return getattr(dialog.exits, name, dialog)


@pytest.mark.core
def test_enter_on_a_fresh_consent_cancels(show: Show) -> None:
    dialog, heard = show(consent())
    assert dialog.focusWidget() is dialog.exits.cancel
    assert dialog.exits.cancel.isDefault()

    press(dialog.exits.cancel, Qt.Key.Key_Return)

    assert heard == [Reply("cancel")]


def test_enter_in_a_text_of_a_consent_loses_nothing(show: Show) -> None:
    dialog, heard = show(with_reason())
    reason = dialog.form.rows[1].editor
    assert isinstance(reason, Line)
    reason.setFocus()
    QTest.keyClicks(reason, "old takes")

    press(reason, Qt.Key.Key_Return)

    assert (heard, reason.text()) == ([], "old takes")
    assert dialog.focusWidget() is not reason


def test_the_verb_of_a_consent_takes_no_click_in_its_first_moment(show: Show) -> None:
    dialog, heard = show(consent())

    for _ in range(10):
        click(dialog.exits.verb)
    assert heard == []

    assert ARM_DELAY_MS == 250
    click(armed(dialog))
    assert heard == [Reply("accept", {"confirm": True})]


def test_the_verb_of_an_input_can_be_clicked_at_once(show: Show) -> None:
    dialog, heard = show(ask_name())
    name_line(dialog).setText("shot_010")

    click(dialog.exits.verb)

    assert heard == [Reply("accept", {"name": "shot_010"})]


@pytest.mark.parametrize("modifiers", [CONTROL, Qt.KeyboardModifier.NoModifier], ids=["ctrl", ""])
def test_enter_sends_a_form_that_loses_nothing(show: Show, modifiers: Qt.KeyboardModifier) -> None:
    dialog, heard = show(ask_name())
    assert dialog.focusWidget() is name_line(dialog)
    QTest.keyClicks(name_line(dialog), "shot_010")

    press(name_line(dialog), Qt.Key.Key_Return, modifiers)

    assert heard == [Reply("accept", {"name": "shot_010"})]


def test_enter_on_cancel_cancels_a_form_and_control_enter_sends_it(show: Show) -> None:
    for modifiers, action in ((Qt.KeyboardModifier.NoModifier, "cancel"), (CONTROL, "accept")):
        dialog, heard = show(ask_name())
        name_line(dialog).setText("shot_010")
        dialog.exits.cancel.setFocus()

        press(dialog.exits.cancel, Qt.Key.Key_Return, modifiers)

        assert _actions(heard) == [action]


def test_a_form_with_an_error_is_not_sent_and_its_field_has_the_focus(show: Show) -> None:
    dialog, heard = show(ask_name())
    dialog.exits.verb.setFocus()

    click(dialog.exits.verb)

    assert (heard, dialog.isVisible()) == ([], True)
    assert dialog.focusWidget() is name_line(dialog)
    assert "Please fill this in." in words(dialog)


def test_the_dialog_grows_for_an_error_and_never_over_the_screen(show: Show) -> None:
    dialog, _ = show(ask_name())
    before = dialog.height()

    dialog.exits.verb.click()

    until(lambda: dialog.height() > before)
    assert dialog.height() < dialog.screen().availableGeometry().height()


def test_what_is_wrong_is_scrolled_to(show: Show) -> None:
    """Else pressing the verb of a long form would seem to do nothing."""
    many = {f"field{n}": {"type": "string"} for n in range(20)}
    dialog, heard = show(ask_name(form=form(["field19"], **many)))
    last = dialog.form.rows[-1]
    assert last.visibleRegion().isEmpty()

    dialog.exits.verb.click()

    until(lambda: last.error.visibleRegion().boundingRect() == last.error.rect())
    assert not heard


def test_why_it_is_asked_again_is_said(show: Show) -> None:
    dialog, _ = show(ask_name(reason="name: at least 3 characters, please."))

    assert "name: at least 3 characters, please." in words(dialog)


def test_a_form_without_fields_is_a_message_to_send(show: Show) -> None:
    dialog, heard = show(ask_name(form=form()))

    dialog.exits.verb.click()

    assert heard == [Reply("accept", {})]


def test_without_a_window_of_the_hosts_it_stays_on_top(app: QApplication) -> None:
    dialog = QuestionDialog(consent(), HOST, None, lambda _: None)

    assert dialog.windowFlags() & Qt.WindowType.WindowStaysOnTopHint


OFFERED = Offers(900, 1800, hand_over="Claude Code", remember=200, mute="claude-code")


def hit(dialog: QuestionDialog, key: Qt.Key) -> None:
    """Press a key as a keyboard does: it reaches what has the focus, through the window."""
    QTest.keyClick(dialog.windowHandle(), key)


def test_tab_goes_from_the_fields_to_the_answers_and_to_who_asks_last(
    show: Show,
) -> None:
    """Twenty fields are in the order of the schema."""
    dialog, heard = show(ask_name(form=form(["field_3"], **TWENTY), offers=OFFERED))
    go_to(dialog)
    exits, offers = dialog.exits, dialog.offers_bar
    order = [*(row.editor for row in dialog.form.rows), offers.remember, exits.verb, exits.cancel]
    order += [exits.decline, exits.ways, offers.hand_over]
    order += [dialog.countdown.more, dialog.header.about]

    seen = []
    for _ in order:
        seen.append(dialog.focusWidget())
        hit(dialog, Qt.Key.Key_Tab)

    assert seen == order
    assert dialog.focusWidget() is order[0]
    assert heard == []


def test_tab_goes_from_the_list_of_what_goes_to_what_loses_nothing(show: Show) -> None:
    dialog, heard = show(consent(items=tuple("abc"), offers=OFFERED))
    go_to(dialog)
    exits = dialog.exits
    armed(dialog)
    order = [dialog.offers_bar.remember, exits.cancel, exits.decline, exits.ways, exits.verb]

    dialog.preview.list.setFocus()
    seen = []
    for _ in order:
        hit(dialog, Qt.Key.Key_Tab)
        seen.append(dialog.focusWidget())

    assert seen == order
    assert heard == []


def test_tab_goes_from_the_list_to_the_word_that_is_to_be_typed(show: Show) -> None:
    dialog, _ = show(consent(items=tuple("abc"), undoable=False))
    go_to(dialog)
    dialog.preview.list.setFocus()

    hit(dialog, Qt.Key.Key_Tab)

    assert dialog.focusWidget() is dialog.name.editor


KINDS: dict[str, Any] = {
    "line": TEXT,
    "tick": {"type": "boolean"},
    "choice": {"type": "string", "enum": ["a", "b"]},
    "choices": {"type": "array", "items": {"enum": ["a", "b"]}},
}


@pytest.mark.parametrize(
    "question", [ask_name(form=form(**KINDS), offers=OFFERED), consent(offers=OFFERED)]
)
def test_what_has_the_focus_is_seen_to_have_it(show: Show, question: Question) -> None:
    dialog, _ = show(question)
    go_to(dialog)
    QApplication.setCursorFlashTime(0)
    first, seen = dialog.focusWidget(), set[QWidget]()

    while first not in seen:
        hit(dialog, Qt.Key.Key_Tab)
        focused = dialog.focusWidget()
        assert focused is not None
        framed = focused.grab().toImage()
        focused.clearFocus()
        assert framed != focused.grab().toImage(), focused
        focused.setFocus(Qt.FocusReason.TabFocusReason)
        seen.add(focused)

    assert len(seen) >= 8


def test_enter_beside_decline_opens_the_menu_and_only_its_entry_mutes(show: Show) -> None:
    for question in (ask_name(offers=OFFERED), consent(offers=OFFERED)):
        dialog, heard = show(question)
        go_to(dialog)
        exits = dialog.exits
        assert "Edits that need no question continue" in exits.mute.toolTip()
        exits.ways.setFocus()

        hit(dialog, Qt.Key.Key_Return)
        until(exits.menu.isVisible)
        assert (heard, dialog.isVisible()) == ([], True)

        for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
            press(exits.menu, key)
        assert heard == [Reply("decline", mute=True)]


@pytest.mark.parametrize(("mute", "is_shown"), [(None, False), ("claude-code", True)])
def test_no_button_is_left_that_opens_an_empty_menu(
    show: Show, mute: str | None, is_shown: bool
) -> None:
    dialog, _ = show(consent(offers=Offers(mute=mute)))

    dialog.exits.with_reason.trigger()

    assert dialog.exits.ways.isVisible() is is_shown


def test_the_menu_of_a_question_closes_with_it(show: Show) -> None:
    dialog, heard = show(consent(offers=OFFERED))
    go_to(dialog)
    click(dialog.exits.ways)
    until(dialog.exits.menu.isVisible)

    dialog.close()

    assert heard == [Reply("cancel")]
    assert not dialog.exits.menu.isVisible()


@pytest.mark.parametrize(
    ("question", "is_red", "has_sign"),
    [
        (consent(items=("a",)), True, False),
        (consent(items=("a",), undoable=False), True, True),
        (consent(undoable=False), True, True),
        (consent(undoable=False, files=(Path("new.usd"),)), False, False),
        (consent(arguments=(("name", "x"),)), True, False),
        (consent(details=Details("x = 1")), False, False),
        (consent(call=replace(CALL, risk="edit")), False, False),
        (ask_name(), False, False),
    ],
    ids=["items", "for good", "all for good", "new file", "skill", "code", "edit", "form"],
)
def test_red_is_what_loses_and_a_sign_warns_where_undo_does_not_help(
    show: Show, question: Question, is_red: bool, has_sign: bool
) -> None:
    dialog, _ = show(question)

    verb = dialog.exits.verb

    assert verb.is_losing is is_red
    assert verb.icon().isNull() is not has_sign
    assert bool(dialog.findChildren(Notice)) is has_sign or question.consent is None


@pytest.fixture
def large_type(app: QApplication) -> Iterator[None]:
    before = app.font()
    large = app.font()
    large.setPointSizeF(1.5 * before.pointSizeF())
    app.setFont(large)
    yield
    app.setFont(before)


@pytest.mark.parametrize("direction", ["LeftToRight", "RightToLeft"])
@pytest.mark.parametrize("kind", MOST)
def test_in_large_type_the_header_and_the_answers_are_whole_on_a_screen_of_1024_by_600(
    app: QApplication,
    large_type: None,
    monkeypatch: pytest.MonkeyPatch,
    show: Show,
    kind: str,
    direction: str,
) -> None:
    small = SimpleNamespace(availableSize=lambda: QSize(1024, 600))
    monkeypatch.setattr(QuestionDialog, "screen", lambda _: small)
    app.setLayoutDirection(Qt.LayoutDirection[direction])

    dialog, _ = show(MOST[kind])
    for _ in range(3):  # a layout takes some turns
        QCoreApplication.processEvents()
    app.setLayoutDirection(Qt.LayoutDirection.LeftToRight)

    assert dialog.width() <= 1024 - 12  # what a window manager's frame leaves
    assert dialog.height() <= 600 - 48
    parts = [*dialog.header.findChildren(QLabel), *dialog.exits.findChildren(QLabel)]
    parts += dialog.exits.findChildren(QAbstractButton)
    shown = [part for part in parts if part.isVisible()]
    assert len(shown) > 5
    assert [part for part in shown if is_cut(part)] == []
    assert dialog.body.height() >= 3 * dialog.fontMetrics().lineSpacing()


@pytest.mark.parametrize("kind", MOST)
def test_every_dialog_fits_a_screen_of_1024_by_600_and_its_buttons_stay_in_sight(
    show: Show, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    small = SimpleNamespace(availableSize=lambda: QSize(1024, 600))
    monkeypatch.setattr(QuestionDialog, "screen", lambda _: small)

    dialog, _ = show(MOST[kind])
    for _ in range(3):  # a layout takes some turns
        QCoreApplication.processEvents()

    assert dialog.width() <= 1024 - 12  # what a window manager's frame leaves
    assert dialog.height() <= 600 - 48
    assert dialog.rect().contains(dialog.exits.geometry())


@pytest.mark.parametrize("size", [(1024, 600), (600, 600), (512, 400)])
@pytest.mark.parametrize("kind", ["card", "items"])
def test_what_undo_brings_back_is_whole_below_the_longest_list(
    show: Show, monkeypatch: pytest.MonkeyPatch, kind: str, size: tuple[int, int]
) -> None:
    small = SimpleNamespace(availableSize=lambda: QSize(*size))
    monkeypatch.setattr(QuestionDialog, "screen", lambda _: small)

    dialog, _ = show(MOST[kind])
    for _ in range(3):  # a layout takes some turns
        QCoreApplication.processEvents()

    (line,) = [one for one in dialog.exits.findChildren(QLabel) if "undo" in one.text().lower()]
    assert line.text().replace("\u200b", "") == dialog.view.undo
    assert not is_cut(line)
    assert dialog.height() <= size[1]
    assert dialog.rect().contains(line.mapTo(dialog, line.rect().bottomRight()))
    if dialog.name is not None:  # without the word nobody can agree
        editor = dialog.name.editor
        assert dialog.rect().contains(editor.mapTo(dialog, editor.rect().bottomRight()))


@pytest.mark.parametrize("word", ["|group" * 60, "x" * 2000, "\u202e" * 500])
def test_a_word_longer_than_the_window_is_wrapped(show: Show, word: str) -> None:
    dialog, _ = show(consent(f"Delete?\n{word}"))
    QCoreApplication.processEvents()

    assert dialog.body.horizontalScrollBar().maximum() == 0


def test_the_page_keys_scroll_a_long_message(show: Show) -> None:
    dialog, _ = show(consent("Delete?\n" + "all of it\n" * 200))
    QCoreApplication.processEvents()
    bar = dialog.body.verticalScrollBar()

    press(dialog.exits.cancel, Qt.Key.Key_PageDown)
    assert bar.value() > 0

    press(dialog.exits.cancel, Qt.Key.Key_PageUp)
    assert bar.value() == 0


def test_a_key_that_is_held_since_before_is_not_heard(show: Show) -> None:
    dialog, heard = show(consent())
    go_to(dialog)

    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        none = Qt.KeyboardModifier.NoModifier
        held = QKeyEvent(QEvent.Type.KeyPress, key, none, "", True)
        QApplication.sendEvent(dialog.windowHandle(), held)

    assert heard == []


def test_every_control_has_a_name_and_its_mnemonic_alone(show: Show) -> None:
    dialog, _ = show(ask_name(form=form(**TWENTY, cancel=TEXT, decline=TEXT)))

    texts = [b.text() for b in (dialog.exits.verb, dialog.exits.decline, dialog.exits.cancel)]
    texts += [one.text() for one in dialog.body.findChildren(QLabel)]
    texts += [one.text() for one in dialog.body.findChildren(QCheckBox)]
    letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
    assert len(letters) == len(set(letters)) > 10
    assert all(line.accessibleName() for line in dialog.findChildren(QLineEdit))


def test_an_ampersand_of_a_verb_is_no_mnemonic(show: Show) -> None:
    lone = form(["yes"], yes={"type": "boolean", "title": "Delete R&D"})

    dialog, _ = show(consent(form=lone))

    assert dialog.exits.verb.text() == "Delete R&&D"


def test_a_font_in_pixels_is_scaled_too(app: QApplication, show: Show) -> None:
    before = app.font()
    font = app.font()
    font.setPixelSize(20)
    app.setFont(font)
    try:
        dialog, _ = show(consent())
        sizes = {label.font().pixelSize() for label in dialog.header.findChildren(QWidget)}
    finally:
        app.setFont(before)

    assert {28, 20, 18} <= sizes
