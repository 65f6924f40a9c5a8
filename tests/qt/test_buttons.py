"""A question says how long it waits, waits for who types, and gives more time."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QVBoxLayout

from dcc_bridge.qt.buttons import Countdown
from dcc_bridge.qt.labels import Mnemonics

from .stage import Stage, ask_name, consent, delete, drawn, until


def see(countdown: Countdown) -> None:
    """Show a countdown, and wait until its window is on the screen."""
    countdown.show()
    until(lambda: countdown.window().windowHandle().isExposed())
    countdown.grab()  # paints it


class Clock:
    """A clock, and a countdown on it."""

    def __init__(self, soon: float, latest: float) -> None:
        self.now = 1000.0
        self.countdown = Countdown(soon, latest, Mnemonics(), now=lambda: self.now)
        self.expired: list[float] = []
        self.countdown.expired.connect(lambda: self.expired.append(self.now))
        see(self.countdown)

    def go(self, seconds: int) -> str:
        for _ in range(seconds):
            self.now += 1
            self.countdown.tick()
        return self.countdown.left.text()


@pytest.fixture
def clock(app: QApplication) -> Clock:
    return Clock(45, 300)


def test_it_counts_down_and_expires_once(clock: Clock) -> None:
    assert clock.countdown.left.text() == "Closes in 0:45"
    assert clock.go(44) == "Closes in 0:01"
    assert clock.expired == []

    assert clock.go(1) == "Closes in 0:00"
    assert clock.expired == [1045.0]


def test_it_stands_still_while_the_person_types(clock: Clock) -> None:
    clock.go(20)
    for _ in range(30):
        clock.countdown.touch()
        clock.go(1)

    assert clock.countdown.left.text() == "Closes in 0:25"
    clock.go(60)
    assert len(clock.expired) == 1


def test_the_time_begins_once_it_can_be_seen(app: QApplication) -> None:
    now = [1000.0]
    countdown = Countdown(45, 300, Mnemonics(), now=lambda: now[0])
    now[0] += 40
    countdown.tick()
    assert countdown.left.text() == "Closes in 0:45"

    see(countdown)
    now[0] += 40
    countdown.tick()

    assert countdown.left.text() == "Closes in 0:05"


@pytest.mark.parametrize("part", ["dialog", "window"])
@pytest.mark.parametrize("act", ["hide", "showMinimized"])
def test_the_time_stands_still_while_the_dialog_or_the_hosts_window_is_away(
    part: str, act: str, app: QApplication
) -> None:
    now, expired = [1000.0], list[float]()
    window = QMainWindow()
    window.show()
    dialog = QDialog(window)
    countdown = Countdown(45, 3600, Mnemonics(), now=lambda: now[0])
    countdown.expired.connect(lambda: expired.append(now[0]))
    QVBoxLayout(dialog).addWidget(countdown)
    dialog.show()
    see(countdown)

    for _ in range(100):
        getattr({"dialog": dialog, "window": window}[part], act)()
        now[0] += 1
        countdown.tick()
    away = countdown.left.text()
    window.showNormal()
    dialog.showNormal()
    see(countdown)
    for _ in range(45):
        now[0] += 1
        countdown.tick()

    assert away == "Closes in 0:45"
    assert expired == [1145.0]
    delete(dialog, window)


def test_more_time_begins_anew(clock: Clock) -> None:
    clock.go(40)

    clock.countdown.more.click()

    assert clock.countdown.left.text() == "Closes in 0:45"


@pytest.mark.parametrize("act", ["touch", "begin_anew"])
def test_no_typing_and_no_asking_goes_beyond_the_latest(clock: Clock, act: str) -> None:
    for _ in range(400):
        if not clock.expired:
            getattr(clock.countdown, act)()
            clock.go(1)

    assert clock.expired == [1300.0]


def test_where_there_is_no_more_time_none_is_offered(app: QApplication) -> None:
    fixed, long = Clock(45, 45), Clock(45, 300)

    assert (fixed.countdown.more.isVisible(), long.countdown.more.isVisible()) == (False, True)
    for _ in range(7):
        long.go(40)
        long.countdown.more.click()
    assert not long.countdown.more.isVisible()


def test_typing_in_a_dialog_stops_the_clock(
    app: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[bool] = []
    monkeypatch.setattr(Countdown, "touch", lambda _: touched.append(True))
    dialog, _ = drawn(ask_name())

    dialog.form.rows[0].editor.setText("shot")

    assert touched


def test_the_brokers_answer_to_an_expired_question_is_timed_out(stage: Stage) -> None:
    asked = stage.broker.ask(consent(timeout=0.1))

    until(asked.done)

    assert asked.result().message == "timed_out"
    assert asked.result().action == "cancel"
