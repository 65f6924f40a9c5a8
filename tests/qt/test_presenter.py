"""Questions appear in the host one after the other, from any thread, and each one ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton

from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import CallEnding, Client
from dcc_bridge.elicitation.question import (
    Expired,
    Offers,
    Page,
    PresenterEvent,
    Question,
    Reply,
    Route,
    Unable,
)
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog
from tests.stand_ins import Person

from .stage import (
    CALL,
    HOST,
    Stage,
    armed,
    ask_name,
    click,
    consent,
    elsewhere,
    form,
    go_to,
    press,
    until,
    words,
)

GONE = Unable("bridge_closed", cancels=True)


@pytest.mark.core
def test_a_question_of_another_thread_is_drawn_and_answered_on_the_main_thread(
    stage: Stage,
) -> None:
    heard: list[tuple[PresenterEvent, int]] = []

    shown = elsewhere(
        lambda: stage.presenter.show(
            consent(), lambda reply: heard.append((reply, threading.get_ident()))
        )
    )
    click(armed(stage.dialog))
    until(lambda: heard)

    until(shown.done)
    assert heard == [(Reply("accept", {"confirm": True}), threading.get_ident())]


def test_a_take_down_of_another_thread_closes_the_dialog(stage: Stage) -> None:
    heard, take_down = stage.show(consent())
    dialog = stage.dialog

    elsewhere(partial(take_down, "cancelled"))
    until(lambda: not stage.presenter.dialogs)

    assert not shiboken6.isValid(dialog) or not dialog.isVisible()
    assert heard == []


def test_ten_questions_are_shown_one_after_the_other_in_their_order(stage: Stage) -> None:
    heard: list[int] = []
    for number in range(10):
        stage.presenter.show(consent(f"Question {number}?"), lambda _, n=number: heard.append(n))  # type: ignore[misc]  # n is bound now
    until(lambda: stage.presenter.questions.waiting == 9)

    for number in range(10):
        dialog = stage.dialog
        assert dialog.question.message == f"Question {number}?"
        assert len(stage.presenter.dialogs) == 1
        assert stage.presenter.questions.waiting == 9 - number
        click(dialog.exits.decline)
        until(lambda n=number: len(heard) == n + 1)  # type: ignore[misc]  # n is bound now

    assert heard == list(range(10))
    assert stage.presenter.dialogs == []


def test_a_question_that_waits_and_is_taken_down_is_never_shown(stage: Stage) -> None:
    first, _ = stage.show(consent("First?"))
    _, take_down = stage.show(consent("Second?"))
    third, _ = stage.show(consent("Third?"))
    dialog = stage.dialog
    until(lambda: stage.presenter.questions.waiting == 2)

    take_down("cancelled")
    click(dialog.exits.decline)
    until(lambda: first)

    assert stage.dialog.question.message == "Third?"
    assert third == []


def test_a_take_down_may_come_at_any_time_and_again(stage: Stage) -> None:
    heard, take_down = stage.show(consent())
    take_down("before it was drawn")
    take_down("again")
    other, _ = stage.show(consent("Other?"))

    click(stage.dialog.exits.decline)
    until(lambda: other)
    take_down("after an answer")
    until(elsewhere(lambda: take_down("from elsewhere")).done)

    assert (heard, other) == ([], [Reply("decline")])


def test_a_dialog_that_cannot_be_drawn_is_said_and_the_next_one_is(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(HOST, "scene", lambda: 1 / 0)
        heard, _ = stage.show(consent())
        until(lambda: heard)
    other, _ = stage.show(consent("Next?"))

    click(stage.dialog.exits.decline)
    until(lambda: other)

    assert (heard, other) == ([Unable()], [Reply("decline")])
    assert "could not be drawn" in caplog.text
    dispose()
    assert stage.window.findChildren(QuestionDialog) == []


def dispose() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_a_page_is_opened_and_its_answer_is_not_verified(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: True)
    asked = stage.broker.ask(ask_name(form=None, page=Page("https://studio.example/login")))
    dialog = stage.dialog
    assert isinstance(dialog, UrlDialog)
    click(armed(dialog))
    until(dialog.after.finished.isEnabled)
    click(dialog.after.finished)
    until(asked.done)

    answer = asked.result()
    assert (answer.accepted, answer.message, answer.answered_by) == (
        True,
        "completion_unverified",
        "host",
    )


def test_the_time_a_question_waits_for_its_turn_is_taken_from_the_latest(stage: Stage) -> None:
    first, _ = stage.show(consent())
    stage.show(consent(offers=Offers(soon=900.0, latest=900.0)))
    until(lambda: stage.presenter.questions.waiting == 1)
    since = time.monotonic()
    until(lambda: time.monotonic() - since > 0.6)

    click(stage.dialog.exits.decline)
    until(lambda: first)

    assert stage.dialog.question.offers.latest < 899.5


def test_a_dialog_that_goes_with_the_hosts_window_is_a_cancel(stage: Stage) -> None:
    asked = stage.broker.ask(consent())
    until(lambda: stage.presenter.dialogs)

    shiboken6.delete(stage.window)
    until(asked.done)

    assert (asked.result().action, asked.result().answered_by) == ("cancel", "nobody")


@pytest.mark.core
def test_close_ends_every_question_and_deletes_every_widget(stage: Stage) -> None:
    asked = [stage.broker.ask(consent(f"{number}?")) for number in range(3)]
    dialog = stage.dialog
    until(lambda: stage.presenter.questions.waiting == 2)

    stage.presenter.close()
    stage.presenter.close()

    assert not shiboken6.isValid(dialog)
    assert stage.window.findChildren(QuestionDialog) == []
    assert [one.result().action for one in asked] == ["cancel"] * 3


def test_close_deletes_what_was_answered_just_before(stage: Stage) -> None:
    heard, _ = stage.show(consent())
    dialog = stage.dialog
    dialog.exits.decline.click()
    stage.main.drain()

    stage.presenter.close()

    assert heard == [Reply("decline")]
    assert not shiboken6.isValid(dialog)


@pytest.mark.parametrize("close", ["presenter", "main"])
def test_after_the_close_a_question_ends_at_once(stage: Stage, close: str) -> None:
    getattr(stage, close).close()

    heard, take_down = stage.show(consent())
    take_down("cancelled")
    until(lambda: heard)

    assert heard == [GONE]


def test_a_question_steals_no_input_of_the_hosts_window(stage: Stage) -> None:
    pressed: list[bool] = []
    stage.show(consent())
    until(lambda: stage.presenter.dialogs)
    button = QPushButton("Orbit", stage.window)
    button.clicked.connect(lambda: pressed.append(True))
    button.show()

    click(button)

    assert QApplication.activeModalWidget() is None
    assert pressed == [True]


def test_a_broker_that_closes_takes_every_dialog_down(stage: Stage) -> None:
    broker = Broker(host=DialogPresenter(stage.main, HOST, lambda: stage.window))
    asked = broker.ask(consent())
    until(lambda: stage.window.findChildren(QuestionDialog))

    elsewhere(broker.close)
    until(asked.done)
    until(lambda: not stage.window.findChildren(QuestionDialog))

    assert asked.result().message == "bridge_closed"


def test_a_question_can_be_brought_before_the_one_that_is_shown(stage: Stage) -> None:
    """What was filled in there stays filled in, and each gets its own answer."""
    first, second = ask_name("First?"), ask_name("Second?")
    heard_first, _ = stage.show(first)
    heard_second, _ = stage.show(second)
    until(lambda: stage.presenter.questions.waiting)
    editor = stage.dialog.findChildren(QLineEdit)[0]
    editor.setText("typed")

    stage.presenter.bring(second)
    assert stage.dialog.question.id == second.id
    stage.dialog.exits.decline.click()
    until(lambda: heard_second)

    assert heard_second == [Reply("decline")]
    assert stage.dialog.question.id == first.id
    assert stage.dialog.isVisible()
    stage.dialog.submit()
    until(lambda: heard_first)
    assert heard_first == [Reply("accept", {"name": "typed"})]


def test_of_several_questions_each_says_which_one_it_is(stage: Stage) -> None:
    places = []
    stage.show(consent("First?"))
    assert stage.dialog.header.place.text() == ""
    for question in ("Second?", "Third?"):
        stage.show(consent(question))
    until(lambda: stage.presenter.questions.waiting == 2)

    for number in range(3):
        until(lambda n=number: stage.presenter.questions.waiting == 2 - n)  # type: ignore[misc]  # n is bound now
        places.append(stage.dialog.header.place.text())
        click(stage.dialog.exits.decline)
    until(lambda: not stage.presenter.dialogs)
    stage.show(consent("Another?"))

    assert places == ["1 of 3", "2 of 3", "3 of 3"]
    assert stage.dialog.header.place.text() == ""


def place(stage: Stage) -> str:
    return str(stage.dialog.header.place.text())


def test_the_second_of_two_says_so_also_when_it_is_looked_at_first(stage: Stage) -> None:
    first, second = consent("First?"), consent("Second?")
    stage.show(first)
    heard, _ = stage.show(second)
    until(lambda: stage.presenter.questions.waiting)

    stage.presenter.bring(second)
    brought = place(stage)
    click(stage.dialog.exits.decline)
    until(lambda: heard)

    assert brought == "2 of 2"
    assert stage.dialog.question.id == first.id
    assert place(stage) == "1 of 2"


def test_a_number_stays_true_when_others_end_and_counts_none_that_nobody_has_seen(
    stage: Stage,
) -> None:
    heard, _ = stage.show(consent("First?"))
    _, withdraw = stage.show(consent("Never seen?"))
    stage.show(consent("Second?"))
    _, withdraw_last = stage.show(consent("Last?"))
    until(lambda: stage.presenter.questions.waiting == 3)
    places = [place(stage)]

    withdraw("cancelled")
    until(lambda: stage.presenter.questions.waiting == 2)
    places.append(place(stage))
    click(stage.dialog.exits.decline)
    until(lambda: heard)
    places.append(place(stage))
    withdraw_last("cancelled")
    until(lambda: not stage.presenter.questions.waiting)
    places.append(place(stage))

    assert places == ["1 of 4", "1 of 3", "2 of 3", "2 of 2"]


def test_answer_here_brings_up_the_question_that_was_meant(stage: Stage) -> None:
    """Before all that wait here, and with the keyboard: the person went to it."""
    stage.broker.ask(consent("Delete the sky?"))
    stage.broker.ask(consent("Delete the ground?"))
    until(lambda: stage.presenter.questions.waiting)
    call = replace(CALL, route=Route(Person(None)))
    stage.broker.ask(ask_name("Which name?", call=call))
    until(lambda: chip(stage, "Which name?"))

    click(chip(stage, "Which name?").buttons[0])
    until(lambda: stage.dialog.question.message == "Which name?")

    assert stage.presenter.questions.waiting == 2
    assert stage.dialog.gate._is_entered
    assert place(stage) == "3 of 3"


def chip(stage: Stage, question: str) -> Any:
    """Return the notification of a question that waits in its client; None if there is none."""
    for notification in stage.presenter.notifications.visible:
        if question in notification.text and notification.buttons[0].text() == "Answer here":
            return notification
    return None


def test_an_enter_that_was_meant_for_one_question_does_not_answer_the_next(
    stage: Stage,
) -> None:
    named = form(name={"type": "string", "default": "shot_010"})
    heard = [stage.show(ask_name(f"{number}?", form=named))[0] for number in range(2)]
    first = stage.dialog
    until(lambda: stage.presenter.questions.waiting)
    go_to(first)

    QTest.keyClick(first.windowHandle(), Qt.Key.Key_Return)
    until(lambda: heard[0] and stage.presenter.dialogs != [first])
    second = stage.dialog
    QTest.keyClick(second.windowHandle(), Qt.Key.Key_Return)

    assert heard == [[Reply("accept", {"name": "shot_010"})], []]
    go_to(second)
    QTest.keyClick(second.windowHandle(), Qt.Key.Key_Return)
    until(lambda: heard[1])
    assert heard[1] == heard[0]


def line(stage: Stage) -> Any:
    return stage.dialog.findChildren(QLineEdit)[0]


@pytest.mark.parametrize("end", ["Esc", "Decline", "its client is gone", "its time is over"])
def test_what_was_typed_is_there_when_the_same_is_asked_again(stage: Stage, end: str) -> None:
    _, take_down = stage.show(ask_name(offers=Offers(soon=900, latest=900)))
    dialog = stage.dialog
    line(stage).setText("a long na")
    ends: dict[str, Callable[[], object]] = {
        "Esc": lambda: press(dialog, Qt.Key.Key_Escape),
        "Decline": lambda: click(dialog.exits.decline),
        "its client is gone": lambda: take_down("cancelled"),
        "its time is over": dialog.countdown.expired.emit,
    }
    ends[end]()
    until(lambda: not stage.presenter.dialogs)

    again, _ = stage.show(ask_name())

    assert line(stage).text() == "a long na"
    assert "Your earlier entries are filled in again." in words(stage.dialog)
    go_to(stage.dialog)
    QTest.keyClicks(line(stage), "me")
    click(stage.dialog.exits.verb)
    until(lambda: again)
    assert again == [Reply("accept", {"name": "a long name"})]
    stage.show(ask_name())
    assert line(stage).text() == ""  # it was sent


BOXES = ("/Box_1", "/Box_2", "/Box_3")


def delete_boxes(**more: Any) -> Question:
    """Make a question with boxes to untick, which its client can ask again."""
    call = replace(CALL, repeat_key="boxes", ending=CallEnding())
    return consent(
        "Delete 3 boxes?", call=call, items=BOXES, may_take_fewer=True, scene="shot_010", **more
    )


def untick_and_say_why(stage: Stage) -> Any:
    """Untick the second box, type a reason without sending it, and return the dialog."""
    dialog = stage.dialog
    rows = dialog.preview.items
    rows.setData(rows.index(1), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    dialog.exits.with_reason.trigger()
    dialog.exits.reason.setText("it is the hero")
    return dialog


@pytest.mark.parametrize("end", ["Esc", "its client is gone", "its time is over"])
def test_ticks_and_a_reason_are_there_when_the_same_is_asked_again(stage: Stage, end: str) -> None:
    _, take_down = stage.show(delete_boxes())
    dialog = untick_and_say_why(stage)
    ends: dict[str, Callable[[], object]] = {
        "Esc": lambda: press(dialog, Qt.Key.Key_Escape),
        "its client is gone": lambda: take_down("cancelled"),
        "its time is over": dialog.countdown.expired.emit,
    }
    ends[end]()
    until(lambda: not stage.presenter.dialogs)

    stage.show(delete_boxes())

    again = stage.dialog
    assert again.preview.items.left_out() == BOXES[1:2]
    assert again.exits.verb.text() == "Delete 127 cameras (2 of 3)"
    assert again.exits.reason.isVisible()
    assert again.exits.reason.text() == "it is the hero"
    assert "Your earlier entries are filled in again." in words(again)


def test_a_reason_that_was_sent_is_not_there_when_the_same_is_asked_again(stage: Stage) -> None:
    stage.show(delete_boxes())
    click(untick_and_say_why(stage).exits.decline)
    until(lambda: not stage.presenter.dialogs)

    stage.show(delete_boxes())

    assert stage.dialog.exits.reason.text() == ""
    assert not stage.dialog.exits.reason.isVisible()


def test_ticks_that_were_set_again_are_no_draft_any_more(stage: Stage) -> None:
    _, take_down = stage.show(delete_boxes())
    rows = untick_and_say_why(stage).preview.items
    rows.tick_all(True)
    stage.dialog.exits.reason.clear()
    take_down("cancelled")
    until(lambda: not stage.presenter.dialogs)

    stage.show(delete_boxes())

    assert stage.dialog.preview.items.left_out() == ()
    assert "Your earlier entries" not in words(stage.dialog)


def test_what_was_typed_stays_where_only_a_reason_is_typed_the_next_time(stage: Stage) -> None:
    _, take_down = stage.show(ask_name())
    line(stage).setText("a long name")
    take_down("cancelled")
    until(lambda: not stage.presenter.dialogs)
    _, take_down = stage.show(ask_name())
    stage.dialog.exits.with_reason.trigger()
    stage.dialog.exits.reason.setText("not today")
    take_down("cancelled")
    until(lambda: not stage.presenter.dialogs)

    stage.show(ask_name())

    assert line(stage).text() == "a long name"
    assert stage.dialog.exits.reason.text() == "not today"


def test_a_card_that_is_opened_after_its_time_has_the_ticks_and_the_reason(stage: Stage) -> None:
    stage.broker.ask(delete_boxes())
    untick_and_say_why(stage).countdown.expired.emit()
    until(lambda: not stage.presenter.dialogs)
    ((expired, _),) = stage.broker.asked

    stage.broker.bring(expired)
    opened = stage.dialog
    typed = opened.exits.reason.text()
    click(armed(opened))
    until(lambda: stage.broker.asked[0][0].late == "answered")
    answer = stage.broker.ask(delete_boxes()).result(0)

    assert typed == "it is the hero"
    assert answer.left_out == BOXES[1:2]


def test_what_was_typed_is_not_there_for_another_client_skill_form_or_message(stage: Stage) -> None:
    other_client = replace(CALL, client=Client("cursor"))
    other_skill = replace(CALL, skill="rename_prims")
    other_form = form(["name"], name={"type": "string", "title": "Name", "maxLength": 9})
    _, take_down = stage.show(ask_name())
    line_of_first = line(stage)
    line_of_first.setText("typed")
    take_down("cancelled")
    until(lambda: not stage.presenter.dialogs)

    others = ({"call": other_client}, {"call": other_skill}, {"form": other_form})
    for other in (*others, {"message": "What is the camera called?"}):
        _, take_down = stage.show(ask_name(**other))
        assert line(stage).text() == ""
        take_down("cancelled")
        until(lambda: not stage.presenter.dialogs)


def test_a_yes_a_hidden_value_and_what_nobody_touched_are_not_kept(stage: Stage) -> None:
    asked = form(
        ["sure"],
        sure={"type": "boolean"},
        note={"type": "string"},
        code={"type": "string", "x-redact": True},
        mode={"type": "string", "enum": ["a", "b"], "default": "a"},
    )
    question = consent(form=asked, title="Delete")

    for touched in (False, True):
        _, take_down = stage.show(question)
        editors: list[Any] = [row.editor for row in stage.dialog.form.rows]
        sure, note, code, mode = editors
        assert stage.dialog.form.content() == {"sure": False, "mode": "a"}
        if touched:
            sure.click()
            note.setText("old takes")
            code.setText("4711")
            mode.setCurrentIndex(1)
        take_down("cancelled")
        until(lambda: not stage.presenter.dialogs)
    stage.show(question)

    assert stage.dialog.form.content() == {"sure": False, "note": "old takes", "mode": "b"}


def test_one_that_was_set_aside_still_ends_by_its_time_or_with_its_call(stage: Stage) -> None:
    expired, _ = stage.show(ask_name(offers=Offers(soon=3.0, latest=3.0)))
    second, last = ask_name("Second?"), ask_name("Last?")
    until(lambda: stage.presenter.dialogs)
    withdrawn, take_down = stage.show(second)
    stage.show(last)
    until(lambda: stage.presenter.questions.waiting == 2)

    stage.presenter.bring(second)
    stage.presenter.bring(last)
    take_down("not needed")
    until(lambda: expired)

    assert expired == [Expired()]
    assert withdrawn == []
    assert [dialog.question.id for dialog in stage.presenter.dialogs] == [last.id]
    assert stage.presenter.questions.waiting == 0
