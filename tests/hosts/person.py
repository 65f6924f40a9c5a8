"""Somebody who sits at a Qt application, and does what a file tells them, line by line.

An order is the name of a button of the dialog ("accept", "decline", "cancel"), for which they wait
until it can be pressed, "read", for which they wait until there is a dialog, "listen", for which
they wait until keys count in it, "typed", for which they write down what was typed, or one of the
words that the application's own script knows, which is done again for as long as it gives False.
What is done is written down in another file. Inside of the application, main thread.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from dcc_bridge.qt.binding import QAbstractButton, QApplication, QObject, QTimer, Slot
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.hosts.orders import DONE, ORDERS, TYPED

_EVERY: Final = 10


class WindowPerson(QObject):
    """Looks at the orders every 10 ms."""

    def __init__(
        self,
        presenter: Callable[[], DialogPresenter | None],
        words: Mapping[str, Callable[[], object]],
    ) -> None:
        """Sit down; the words are what else they can be told than to answer dialogs."""
        super().__init__()
        folder = Path(os.environ["HOME"])
        self._orders, self._done = folder / ORDERS, folder / DONE
        self._presenter = presenter
        self._words = words
        self._count = 0
        self._is_busy = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(_EVERY)

    @Slot()
    def _look(self) -> None:
        orders = (
            self._orders.read_text(encoding="utf-8").splitlines() if self._orders.exists() else []
        )
        if self._is_busy or len(orders) <= self._count:
            return
        self._is_busy = True
        try:
            if self._obey(orders[self._count]):
                self._note(orders[self._count])
        except Exception:  # noqa: BLE001 - the test reads what went wrong, and this process goes on
            traceback.print_exc()
        finally:
            self._is_busy = False

    def _note(self, order: str) -> None:
        self._count += 1
        with open(self._done, "a", encoding="utf-8") as out:
            out.write(f"{order}\n")

    def _obey(self, order: str) -> bool:
        if order == "read":
            return self._button("cancel") is not None
        if order == "listen":
            return any(dialog.gate.is_open for dialog in self._dialogs())
        if order == "typed":
            self._note_typed()
            return True
        if order in self._words:
            return self._words[order]() is not False
        button = self._button(order)
        if button is None or not button.isEnabled():
            return False
        button.click()
        return True

    def _note_typed(self) -> None:
        """Write down what stands in the fields of the dialog, and in the host's."""
        forms = [dialog.form for dialog in self._dialogs()]
        filled = [form.content() if form is not None else None for form in forms]
        there = QApplication.focusWidget()
        text: Any = getattr(there, "toPlainText", getattr(there, "text", None))
        typed = {"dialogs": filled, "host": text() if text is not None else None}
        file = Path(os.environ["HOME"]) / TYPED
        file.write_text(json.dumps(typed), encoding="utf-8")

    def _dialogs(self) -> list[QuestionDialog]:
        presenter = self._presenter()
        return presenter.dialogs if presenter is not None else []

    def _button(self, order: str) -> QAbstractButton | None:
        dialogs = self._dialogs()
        if not dialogs:
            return None
        exits = dialogs[0].exits
        return {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[order]
