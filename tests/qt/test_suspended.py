"""A skill that asks in mid-body waits without freezing its host, and goes on with the answer."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialog, QPushButton

from dcc_bridge.elicitation.types import ElicitationResponse

from .stage import Stage, armed, click, consent, delete, elsewhere, until


def wait(stage: Stage, message: str = "Delete 127 cameras?") -> ElicitationResponse:
    return stage.main.wait(stage.broker.ask(consent(message)))


@pytest.mark.core
def test_timers_tick_while_a_skill_waits_and_it_goes_on_with_the_answer(stage: Stage) -> None:
    ticks: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(1))
    timer.start(1)
    skill = elsewhere(lambda: stage.main.submit(lambda: (wait(stage).data, len(ticks))))
    dialog = stage.dialog

    until(lambda: len(ticks) > 50)
    assert not skill.result().done()
    click(armed(dialog))
    until(lambda: skill.result().done())

    data, ticked = skill.result().result()
    assert data == {"confirm": True}
    assert ticked > 50


def test_a_skill_asks_five_times_and_keeps_its_stack(stage: Stage) -> None:
    def skill() -> list[str]:
        return [wait(stage, f"{number}?").action for number in range(5)]

    def is_open(number: int) -> bool:
        return any(dialog.question.message == f"{number}?" for dialog in stage.presenter.dialogs)

    job = stage.main.submit(skill)
    for number in range(5):
        until(partial(is_open, number))
        click(stage.dialog.exits.decline if number % 2 else armed(stage.dialog))
        until(lambda n=number: job.done() or not is_open(n))  # type: ignore[misc]  # n is bound now

    until(job.done)
    assert job.result() == ["accept", "decline", "accept", "decline", "accept"]


def test_a_shelf_button_spins_and_gets_its_answer(stage: Stage) -> None:
    heard: list[ElicitationResponse] = []
    shelf = QPushButton("Shelf", stage.window)
    shelf.clicked.connect(lambda: heard.append(wait(stage)))
    QTimer.singleShot(0, lambda: _answer_when_shown(stage))

    click(shelf)

    assert [(answer.action, answer.answered_by) for answer in heard] == [("accept", "host")]


def _answer_when_shown(stage: Stage) -> None:
    dialogs = stage.presenter.dialogs
    if dialogs and dialogs[0].exits.verb.isEnabled():
        click(dialogs[0].exits.verb)
    else:
        QTimer.singleShot(2, lambda: _answer_when_shown(stage))


def test_in_the_hosts_own_modal_dialog_a_question_comes_and_the_skill_goes_on_after_it(
    stage: Stage,
) -> None:
    job = stage.main.submit(lambda: wait(stage).action)
    dialog = stage.dialog
    modal = QDialog(stage.window)
    QTimer.singleShot(0, dialog.exits.decline.click)
    seen: list[bool] = []
    modal.finished.connect(lambda: seen.append(job.done()))
    QTimer.singleShot(200, modal.accept)

    modal.exec()
    until(job.done)
    delete(modal)

    assert seen == [False]
    assert job.result() == "decline"
