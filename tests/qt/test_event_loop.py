"""The host's event loop is woken, spun and looked at as the main thread's queue wants it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QInputMethodEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget

from dcc_bridge.errors import StartError
from dcc_bridge.qt.event_loop import LIVE_PROPERTY, OURS_PROPERTY, HostLoop

from .stage import LIMIT, delete, elsewhere, until

NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def loop(app: QApplication) -> Iterator[HostLoop]:
    loop = HostLoop()
    yield loop
    loop.main.close()
    loop.close()


def test_a_thousand_jobs_of_eight_threads_all_run_on_the_main_thread(loop: HostLoop) -> None:
    def submit() -> list[Future[int]]:
        return [loop.main.submit(threading.get_ident) for _ in range(125)]

    threads = [elsewhere(submit) for _ in range(8)]
    until(lambda: all(thread.done() for thread in threads))
    jobs = [job for thread in threads for job in thread.result()]
    until(lambda: all(job.done() for job in jobs))

    assert [job.result() for job in jobs] == [threading.get_ident()] * 1000


def test_the_hosts_timers_tick_while_many_jobs_are_served(loop: HostLoop) -> None:
    ticks: list[int] = []
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(1))
    timer.start(0)

    jobs = [loop.main.submit(lambda: sum(range(20_000))) for _ in range(300)]
    until(lambda: all(job.done() for job in jobs))

    assert len(ticks) > 3


def test_a_spin_ends_when_the_answer_came_before(loop: HostLoop) -> None:
    future: Future[str] = Future()
    future.set_result("yes")

    loop.spin(future)

    assert loop.main.wait(future) == "yes"


def test_a_spin_ends_for_a_hundred_answers_at_any_moment(loop: HostLoop) -> None:
    for number in range(100):
        future: Future[int] = Future()
        thread = threading.Thread(target=future.set_result, args=(number,))
        thread.start()
        assert loop.main.wait(future) == number
        thread.join()


def test_the_hosts_timers_tick_in_a_spin(loop: HostLoop) -> None:
    ticks: list[int] = []
    future: Future[None] = Future()
    timer = QTimer()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 10:
            future.set_result(None)

    timer.timeout.connect(tick)
    timer.start(1)
    loop.main.wait(future)

    assert len(ticks) >= 10


def test_in_the_hosts_own_modal_dialog_jobs_are_held_and_the_ui_lane_is_served(
    loop: HostLoop,
) -> None:
    seen: list[str] = []
    modal = QDialog()
    QTimer.singleShot(0, lambda: loop.main.submit(lambda: seen.append("job")))
    QTimer.singleShot(0, lambda: loop.main.post(ui))
    modal.finished.connect(lambda: seen.append("closed"))

    def ui() -> None:
        seen.append("ui")
        QTimer.singleShot(300, modal.accept)

    modal.exec()
    until(lambda: "job" in seen)
    delete(modal)

    assert seen == ["ui", "closed", "job"]


def test_a_modal_dialog_of_ours_does_not_hold_anything(loop: HostLoop) -> None:
    modal = QDialog()
    modal.setProperty(OURS_PROPERTY, True)
    modal.open()

    job = loop.main.submit(lambda: "done")
    until(job.done)

    delete(modal)


def test_a_wake_after_the_close_does_nothing(app: QApplication) -> None:
    loop = HostLoop()
    loop.main.close()
    loop.close()
    loop.close()

    loop.wake(0)
    loop.wake(0.1)
    until(elsewhere(lambda: loop.wake(0)).done)


def test_threads_may_wake_it_while_it_closes(app: QApplication) -> None:
    for _ in range(50):
        loop = HostLoop()

        def wake(loop: HostLoop = loop) -> None:
            for _ in range(200):
                loop.wake(0)

        threads = [threading.Thread(target=wake) for _ in range(3)]
        for thread in threads:
            thread.start()
        loop.main.close()
        loop.close()
        for thread in threads:
            thread.join()
        QCoreApplication.processEvents()


def test_it_may_be_closed_by_what_it_runs(app: QApplication) -> None:
    loop = HostLoop()
    closed: list[bool] = []

    def close() -> None:
        loop.main.close()
        loop.close()
        closed.append(True)

    loop.main.when_unwound(close)

    until(lambda: closed)


def test_off_the_main_thread_it_cannot_be_made(app: QApplication) -> None:
    def make() -> str:
        with pytest.raises(StartError) as caught:
            HostLoop()
        return str(caught.value)

    refused = elsewhere(make)
    until(refused.done)

    assert "main thread" in refused.result()


class _Window(QWidget):
    def __init__(self, painted: list[int]) -> None:
        super().__init__()
        self._painted = painted

    def paintEvent(self, event: QPaintEvent) -> None:
        self._painted.append(1)


def test_a_job_that_repaints_paints_the_hosts_windows_and_deletes_nothing(loop: HostLoop) -> None:
    painted: list[int] = []
    window, doomed = _Window(painted), QDialog()
    window.show()
    until(lambda: bool(painted))

    def work() -> tuple[int, bool]:
        doomed.deleteLater()
        before = len(painted)
        end = time.monotonic() + LIMIT
        while len(painted) < before + 3 and time.monotonic() < end:
            window.update()
            loop.main.repaint()
        return len(painted) - before, shiboken6.isValid(doomed)

    job = loop.main.submit(work)
    until(job.done)
    delete(window)

    assert job.result() == (3, True)


def test_the_hosts_timers_tick_in_a_job_that_repaints_and_no_job_is_nested(loop: HostLoop) -> None:
    order: list[str] = []
    timer = QTimer()
    timer.timeout.connect(lambda: order.append("tick"))
    timer.start(1)

    def first() -> None:
        order.append("begin")
        while order.count("tick") < 3:
            loop.main.repaint()
        order.append("end")

    jobs = [loop.main.submit(first), loop.main.submit(lambda: order.append("second"))]
    until(lambda: all(job.done() for job in jobs))

    ours = [word for word in order if word != "tick"]
    assert ours == ["begin", "end", "second"]


class _Controls(QWidget):
    """A window with a button that stops a job, another button, and a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.live, self.other, self.line = QPushButton("Stop"), QPushButton("Other"), QLineEdit()
        column = QVBoxLayout(self)
        for widget in (self.live, self.other, self.line):
            column.addWidget(widget)
        self.live.setProperty(LIVE_PROPERTY, True)
        self.live.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.live.clicked.connect(lambda: self.seen.append("stop"))
        self.other.clicked.connect(lambda: self.seen.append("other"))
        self.line.textChanged.connect(self.seen.append)
        self._save = QShortcut(QKeySequence("Ctrl+S"), self)
        self._save.activated.connect(lambda: self.seen.append("shortcut"))
        self.show()
        self.activateWindow()
        self.line.setFocus()
        until(lambda: QApplication.focusWidget() is self.line)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.seen.append("closed")

    def key(self, key: Any, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.windowHandle(), key, modifiers)

    def press(self, widget: QWidget) -> None:
        at = widget.mapTo(self, widget.rect().center())
        QTest.mouseClick(self.windowHandle(), Qt.MouseButton.LeftButton, NONE, at)


def test_a_job_that_can_be_stopped_serves_its_stop_and_holds_the_rest_in_order(
    loop: HostLoop,
) -> None:
    controls = _Controls()

    def person() -> None:
        controls.key("a")
        controls.key(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        controls.windowHandle().close()
        controls.press(controls.other)
        controls.press(controls.live)

    def work() -> list[bool]:
        QTimer.singleShot(0, person)
        escaped = []
        while "stop" not in controls.seen:
            escaped.append(loop.main.repaint(True))
        controls.seen.append("end")
        return escaped

    job = loop.main.submit(work)
    until(lambda: "other" in controls.seen)
    seen = controls.seen
    delete(controls)

    assert not any(job.result())
    assert seen == ["stop", "end", "a", "shortcut", "closed", "other"]


def test_what_is_composed_in_a_job_does_not_reach_the_host(loop: HostLoop) -> None:
    controls = _Controls()

    def person() -> None:
        event = QInputMethodEvent()
        event.setCommitString("é")
        QApplication.sendEvent(controls.line, event)

    def work() -> None:
        QTimer.singleShot(0, person)
        for _ in range(3):
            loop.main.repaint(True)

    until(loop.main.submit(work).done)
    seen = controls.seen
    delete(controls)

    assert seen == []


def test_a_job_that_can_be_stopped_is_told_of_escape_and_the_window_is_not(loop: HostLoop) -> None:
    controls = _Controls()
    dialog = QDialog(controls)
    dialog.show()
    until(dialog.isActiveWindow)
    end = time.monotonic() + LIMIT

    def work() -> bool:
        QTimer.singleShot(0, lambda: QTest.keyClick(dialog.windowHandle(), Qt.Key.Key_Escape))
        while time.monotonic() < end:
            if loop.main.repaint(True):
                return True
        return False

    job = loop.main.submit(work)
    until(job.done)
    seen = dialog.isVisible()
    delete(controls)

    assert (job.result(), seen) == (True, True)
