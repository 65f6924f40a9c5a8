"""What is played inside of FreeCAD: every kind of question, with the Qt 5 that it brings.

FreeCAD imports this module when it starts; `tests/freecad/test_dialogs.py` reads what
it wrote. Main thread, in FreeCAD's own event loop.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import FreeCADGui

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.field_view import field_views
from dcc_bridge.elicitation.question import Consent, Offers, PresenterEvent, Question
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.qt import binding
from dcc_bridge.qt.binding import (
    QApplication,
    QDialog,
    QEvent,
    QEventLoop,
    QMouseEvent,
    QPointF,
    Qt,
    QTimer,
    QTranslator,
    QWidget,
    run,
)
from dcc_bridge.qt.editors import Choice
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.stand_ins import FakeHost

FOLDER = Path(os.environ["SEEN_IN"])
CLIENT = Client("claude-code", "Claude Code", "2.1")
FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Version", "minLength": 3, "default": "layout_v012"},
    "note": {"type": "string", "title": "Note to the supervisor"},
    "mail": {"type": "string", "format": "email", "title": "Tell"},
    "scale": {"type": "number", "title": "Resolution", "minimum": 0.1, "maximum": 1},
    "step": {"type": "integer", "title": "Every n-th frame", "minimum": 1, "default": 1},
    "quality": {"type": "string", "title": "Quality", "enum": ["draft", "final"]},
    "camera": {"type": "string", "title": "Camera", "enum": [f"cam_{n}" for n in range(40)]},
    "passes": {"type": "array", "title": "Passes", "items": {"enum": ["beauty", "depth"]}},
    "layers": {"type": "array", "title": "Layers", "items": {"enum": [f"l{n}" for n in range(20)]}},
    "burn_in": {"type": "boolean", "title": "Burn in the frame numbers"},
}
YES = parse(
    {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "title": "Delete 1,000 parts"}},
        "required": ["ok"],
    }
)


def until(condition: Callable[[], object], limit: float = 10.0) -> None:
    loop = QEventLoop()
    timer = QTimer()
    end = time.monotonic() + limit
    held: object = False

    def look() -> None:
        nonlocal held
        held = held or condition()
        if held or time.monotonic() > end:
            loop.quit()

    timer.timeout.connect(look)
    timer.start(5)
    run(loop)
    timer.stop()
    assert held, "it did not come true"


def click(widget: QWidget) -> None:
    """Press and release the left button in the middle of a widget, as a window system does."""
    at = QPointF(widget.rect().center())
    there = QPointF(widget.mapToGlobal(widget.rect().center()))
    left = Qt.MouseButton.LeftButton
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
        event = QMouseEvent(kind, at, there, left, left, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(widget, event)


class Scenes:
    """A host's window with what draws questions over it."""

    def __init__(self) -> None:
        self.window = FreeCADGui.getMainWindow()
        self.loop = HostLoop()
        self.host = FakeHost([f"Part{n}" for n in range(1000)], has_ui=True)
        self.host.name = "FreeCAD"
        self.host.version = "0.20"
        self.presenter = DialogPresenter(self.loop.main, self.host, lambda: self.window)

    def ask(self, question: Question) -> tuple[QuestionDialog, list[PresenterEvent]]:
        heard: list[PresenterEvent] = []
        self.presenter.show(question, heard.append)
        until(lambda: self.presenter.dialogs)
        return self.presenter.dialogs[0], heard

    def form(self) -> Any:
        required = ["name", "scale", "burn_in"]
        schema = {"type": "object", "properties": FIELDS, "required": required}
        call = Call("render_preview", "Render preview", "edit", CLIENT)
        offers = Offers(45, 300, hand_over="Claude Code", mute="claude-code")
        dialog, heard = self.ask(
            Question(
                "Render a preview?\nIt is sent on.", call, parse(schema), "Render", offers=offers
            )
        )
        assert dialog.form is not None
        scale = next(row for row in dialog.form.rows if row.field.name == "scale")
        scale.editor.setText("2")  # type: ignore[union-attr]  # it is a line
        said = scale.error.text
        click(dialog.exits.verb)
        save(dialog, "form")
        save(dialog.body.widget(), "fields")
        revealed = not scale.error.visibleRegion().isEmpty()
        scale.editor.setText("0.5")  # type: ignore[union-attr]  # it is a line
        click(dialog.exits.verb)
        until(lambda: heard)
        return said, revealed, heard

    def destructive(self) -> Any:
        call = Call("delete_parts", "Delete parts", "destructive", CLIENT)
        items = tuple(self.host.items)
        offers = Offers(45, 300, mute="claude-code")
        dialog, heard = self.ask(
            Question(
                "Delete these parts?",
                call,
                YES,
                consent=Consent(items, tuple(self.host.kinds(items)), undoable=False),
                offers=offers,
            )
        )
        assert dialog.preview is not None
        assert dialog.name is not None
        dialog.preview.search.setText("part99")
        rows = dialog.preview.items.rowCount()
        click(dialog.preview.look)
        until(lambda: not dialog.exits.verb.isEnabled())
        click(dialog.exits.verb)
        assert not heard
        dialog.name.editor.setText("1000")
        until(dialog.exits.verb.isEnabled)
        save(dialog, "destructive")
        click(dialog.exits.cancel)
        until(lambda: heard)
        return rows, len(self.host.selection), heard

    def text(self) -> Any:
        before = "\n".join(f"part_{n}.Length = {n}" for n in range(40))
        text = before.replace("part_30.Length = 30", "App.ActiveDocument.removeObject('Part')")
        details = Details(text, ((31, "removes objects"),), before)
        call = Call("run", "Run", "destructive", CLIENT)
        dialog, heard = self.ask(
            Question("Run 40 lines?", call, YES, consent=Consent(), details=details)
        )
        assert dialog.details is not None
        lines = dialog.details.lines
        save(dialog, "text")
        click(dialog.details.switch)
        dialog.details.search.setText("removeObject")
        dialog.details.find_next()
        current = lines.textCursor().block().text(), lines.verticalScrollBar().value() > 0
        click(dialog.exits.cancel)
        until(lambda: heard)
        return [*current, len(lines.rows), heard]

    def corner(self) -> Any:
        acted: list[str] = []
        question = Question("What is it called?", Call("x", "X", "edit", CLIENT))
        self.presenter.chip(question, "Claude Code", lambda: acted.append("here"), acted.clear)
        until(lambda: self.presenter.notifications.visible)
        (chip,) = self.presenter.notifications.visible
        save(chip, "chip")
        click(chip.buttons[0])
        self.presenter.notice("Delete parts: done for claude-code", lambda: acted.append("undo"))
        until(lambda: len(self.presenter.notifications.visible) == 2)
        toast = self.presenter.notifications.visible[1]
        save(toast, "toast")
        click(toast.buttons[0])
        until(lambda: len(self.presenter.notifications.visible) == 1)
        return acted

    def lanes(self) -> Any:
        main = self.loop.main
        made: list[Future[int]] = []
        threads = [
            threading.Thread(
                target=lambda: made.extend([main.submit(threading.get_ident) for _ in range(250)])
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(made) == 1000 and all(one.done() for one in made))
        answer: Future[str] = Future()
        threading.Timer(0.05, lambda: answer.set_result("spun")).start()
        here = {one.result() for one in made} == {threading.get_ident()}
        return len(made), here, main.wait(answer)

    def modal(self) -> Any:
        dialog = QDialog(self.window)
        dialog.setModal(True)
        before = self.loop.is_blocked()
        dialog.open()
        blocked = self.loop.is_blocked()
        held = self.loop.main.submit(lambda: "later")
        served = self.loop.main.post(lambda: "now")
        until(served.done)
        early = held.done()
        dialog.accept()
        until(held.done)
        binding.delete(dialog)
        return before, blocked, early, held.result()

    def close(self) -> None:
        self.loop.main.close()
        self.presenter.close()
        self.loop.close()


class Brackets(QTranslator):
    """A language in which every text has brackets."""

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> Any:
        return f"⟦{text}⟧" if context == "dcc_bridge" else None


def language() -> Any:
    translator = Brackets()
    app = QApplication.instance()
    assert app is not None
    app.installTranslator(translator)
    said = tr("Choose…"), tr("{n:,} items", n=1234)
    app.removeTranslator(translator)
    return said, tr("Cancel")


def hint() -> Any:
    field = {"type": "string", "enum": ["draft", "final"]}
    asked = parse({"type": "object", "properties": {"quality": field}, "required": ["quality"]})
    fusion = import_module(f"{binding.NAME}.QtWidgets").QStyleFactory.create("Fusion")
    combo = Choice(field_views(asked, False)[0])
    combo.setStyle(fusion)
    combo.resize(200, 30)
    with_hint = combo.grab().toImage()
    combo.setPlaceholderText(" ")
    return combo.grab().toImage() != with_hint


def save(widget: QWidget | None, name: str) -> None:
    for _ in range(3):  # a layout takes some turns
        QApplication.processEvents()
    assert widget is not None
    assert widget.grab().save(str(FOLDER / f"{name}.png"))


def play() -> dict[str, Any]:
    scenes = Scenes()
    seen: dict[str, Any] = {"binding": binding.NAME, "language": language(), "hint": hint()}
    plays = (scenes.lanes, scenes.modal, scenes.form, scenes.destructive, scenes.text)
    for scene in (*plays, scenes.corner):
        seen[scene.__name__] = scene()
    scenes.close()
    seen["others"] = [name for name in ("PySide6", "shiboken6") if name in sys.modules]
    return seen


def begin() -> None:
    """Play once FreeCAD's window is up, and close it."""
    window = FreeCADGui.getMainWindow()
    if not window.isVisible():
        QTimer.singleShot(50, begin)
        return
    try:
        seen = play()
    except BaseException:  # noqa: BLE001 - whatever it is, the test is told, and FreeCAD ends
        seen = {"error": traceback.format_exc()}
    (FOLDER / "seen.json").write_text(json.dumps(seen, default=asdict), encoding="utf-8")
    window.close()


QTimer.singleShot(0, begin)
