"""What the tests of the dialogs play on: a host, a window, questions, and a person's hands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import fields
from threading import Thread
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMainWindow, QPushButton, QWidget

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import CallEnding, Client
from dcc_bridge.elicitation.question import (
    Consent,
    Expired,
    HandOver,
    PresenterEvent,
    Question,
    Reply,
    TakeDown,
)
from dcc_bridge.elicitation.schema import Form, parse
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.stand_ins import FakeHost

T = TypeVar("T")
LIMIT = 60.0
HOST = FakeHost(has_ui=True)
CALL = Call(
    "delete_cameras", "Delete cameras", "destructive", Client("claude-code", "Claude Code", "2.1")
)


def until(condition: Callable[[], object], limit: float = LIMIT) -> None:
    """Run the host's event loop until a condition holds; fail after some seconds."""
    loop, timer, end = QEventLoop(), QTimer(), time.monotonic() + limit
    held: object = False

    def look() -> None:
        nonlocal held
        held = held or condition()  # what blinks may hold no more once the loop has ended
        if held or time.monotonic() > end:
            loop.quit()

    timer.timeout.connect(look)
    timer.start(2)
    loop.exec()
    timer.stop()
    assert held, f"it did not come true in {limit:g} s"


def elsewhere(fn: Callable[[], T]) -> Future[T]:
    """Run on another thread, as the worker does."""
    future: Future[T] = Future()
    Thread(target=lambda: future.set_result(fn()), daemon=True).start()
    return future


def form(required: Iterable[str] = (), **properties: dict[str, Any]) -> Form:
    return parse({"type": "object", "properties": properties, "required": list(required)})


def consent(message: str = "Delete 127 cameras?", **more: Any) -> Question:
    """Make a question that one button answers."""
    lone = form(["confirm"], confirm={"type": "boolean", "title": "Delete 127 cameras"})
    what = {field.name: more.pop(field.name) for field in fields(Consent) if field.name in more}
    defaults = {"message": message, "call": CALL, "form": lone, "consent": Consent(**what)}
    return Question(**{**defaults, **more})


def ask_name(message: str = "What is it called?", **more: Any) -> Question:
    """Make a question with one text to fill in."""
    name = form(["name"], name={"type": "string", "title": "Name"})
    return Question(**{"message": message, "call": CALL, "form": name, **more})


def drawn(question: Question) -> tuple[Any, list[Reply | Expired | HandOver]]:
    """Show a question on its own, and give what the person answers."""
    heard: list[Reply | Expired | HandOver] = []
    dialog = QuestionDialog(question, HOST, None, heard.append)
    dialog.show()
    return dialog, heard


def armed(dialog: QuestionDialog) -> QPushButton:
    """Wait until the verb can be pressed, and give it."""
    until(dialog.exits.verb.isEnabled)
    return dialog.exits.verb


def go_to(dialog: Any) -> None:
    """Go to a dialog with the keyboard, and wait until keys count in it."""
    dialog.enter()
    until(lambda: dialog.gate.is_open)


def click(button: QWidget) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def press(
    widget: QWidget,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    QTest.keyClick(widget, key, modifiers)


def words(widget: QWidget) -> str:
    """Give all that a widget's labels say, without the places where they may be wrapped."""
    text = "\n".join(label.text() for label in widget.findChildren(QLabel))
    return text.replace("\N{ZERO WIDTH SPACE}", "")


class Stage:
    """A host with a window, and a broker whose only surface are its dialogs."""

    def __init__(self) -> None:
        CALL.ending = CallEnding()  # an earlier stage ended it as it closed
        self.window = QMainWindow()
        self.window.resize(900, 700)
        self.window.show()
        self.loop = HostLoop()
        self.main = self.loop.main
        self.presenter = DialogPresenter(self.main, HOST, lambda: self.window)
        self.broker = Broker(Settings(dialogs_per_minute=1000), host=self.presenter)

    @property
    def dialog(self) -> Any:
        until(lambda: self.presenter.dialogs)
        return self.presenter.dialogs[0]

    def show(self, question: Question) -> tuple[list[PresenterEvent], TakeDown]:
        heard: list[PresenterEvent] = []
        return heard, self.presenter.show(question, heard.append)

    def close(self) -> None:
        self.broker.close()
        self.main.close()
        self.presenter.close()
        self.loop.close()
        if shiboken6.isValid(self.window):
            shiboken6.delete(self.window)


def delete(*widgets: QWidget) -> None:
    for widget in widgets:
        if shiboken6.isValid(widget):
            shiboken6.delete(widget)
