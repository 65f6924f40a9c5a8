"""A double click is one answer, to the question that it was made on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.qt import buttons

from .stage import Stage, armed, consent, drawn, until

NOTHING_TO_FILL_IN = parse({"type": "object", "properties": {}})
OPTIONAL = parse({"type": "object", "properties": {"note": {"type": "string"}}})
LEFT = Qt.MouseButton.LeftButton


def double_click(button: QWidget) -> None:
    """Click twice, as a mouse does: the second press is the double click."""
    QTest.mouseClick(button, LEFT)
    QTest.mouseDClick(button, LEFT)


@pytest.mark.parametrize(
    "question",
    [consent(), consent(form=NOTHING_TO_FILL_IN), consent(consent=None, form=OPTIONAL)],
    ids=["consent", "nothing to fill in", "form"],
)
def test_a_double_click_on_the_verb_is_one_answer(question: Question) -> None:
    dialog, heard = drawn(question)
    verb = armed(dialog)

    double_click(verb)
    until(lambda: not dialog.isVisible())

    assert [event.action for event in heard if isinstance(event, Reply)] == ["accept"]
    assert len(heard) == 1


@pytest.mark.parametrize("name", ["decline", "cancel"])
def test_a_double_click_beside_the_verb_is_one_answer_too(name: str) -> None:
    dialog, heard = drawn(consent())
    armed(dialog)

    double_click(getattr(dialog.exits, name))

    assert [event.action for event in heard if isinstance(event, Reply)] == [name]


def test_the_second_click_does_not_answer_the_next_question(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stage.broker.ask(consent("One?")), stage.broker.ask(consent("Two?"))
    dialog = stage.dialog
    verb = armed(dialog)
    place = dialog.pos()
    monkeypatch.setattr(buttons, "ARM_DELAY_MS", 60_000)

    QTest.mouseClick(verb, LEFT)
    until(lambda: stage.presenter.dialogs and stage.presenter.dialogs[0] is not dialog)
    stage.dialog.move(place)
    double_click(stage.dialog.exits.verb)

    assert first.result().action == "accept"
    assert stage.dialog.question.message == "Two?"
    assert not second.done()
