"""Every text of ours that a person reads can be said in their language."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication, QWidget

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Offers, Question
from dcc_bridge.elicitation.text import safe_text
from dcc_bridge.qt.editors import EXAMPLES, Line
from dcc_bridge.qt.labels import Mnemonics, tr

from .stage import Stage, ask_name, consent, delete, drawn, form, until
from .texts import Brackets, literal, makers, readable, ts, unbracketed

TOOLS = str(Path(sys.executable).parent)
LRELEASE = shutil.which("pyside6-lrelease", path=os.pathsep.join([TOOLS, os.environ["PATH"]]))
CLIENT = Client("q-asker", "Q Client", "2.1")
HOST_SAYS = {"fake.scene", "fake", "1.0"}
CALL_SAYS = {"q-asker", "Q Client 2.1", "Claude Code 2.1", "claude-code", "Delete cameras"}
MANY = [f"q{n}" for n in range(40)]
FIELDS: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "description": "q explained"},
    "number": {"type": "number", "minimum": 1, "maximum": 5},
    "whole": {"type": "integer", "minimum": 3},
    "small": {"type": "integer", "maximum": 3},
    "tick": {"type": "boolean"},
    "long": {"type": "boolean", "title": "q " * 40},
    "one": {"type": "string", "enum": ["q"]},
    "searched": {"type": "string", "enum": MANY},
    "some": {"type": "array", "items": {"enum": MANY}, "minItems": 1},
    "hiding": {"type": "string", "default": "q\u202eq"},
    **{name.replace("-", ""): {"type": "string", "format": name} for name in EXAMPLES},
}


@pytest.fixture
def language(app: QApplication) -> Iterator[Brackets]:
    """A language with brackets; every text asked for in it was collected."""
    brackets = Brackets()
    app.installTranslator(brackets)
    yield brackets
    app.removeTranslator(brackets)
    assert brackets.unknown == set()


def assert_translated(theirs: set[str], *tops: QWidget) -> None:
    everything = {*HOST_SAYS, *CALL_SAYS, *EXAMPLES.values(), *theirs}

    assert [left for text in readable(*tops) if (left := unbracketed(text, everything))] == []


def test_each_text_can_be_collected() -> None:
    """Each is written out where it is made, as the tools of translators need it."""
    assert [where for where, call in makers() if literal(call) is None] == []


@pytest.mark.parametrize("required", [[], [*FIELDS]])
def test_a_form_of_every_field_is_translated(language: Brackets, required: list[str]) -> None:
    titles = {name: f"q {name}" for name in FIELDS}
    fields = {name: {"title": titles[name], **part} for name, part in FIELDS.items()}
    dialog, _ = drawn(ask_name("q?", form=form(required, **fields)))
    for row in dialog.form.rows:
        if isinstance(row.editor, Line) and row.field.name != "text":
            row.editor.setText("q")
    dialog.submit()

    errors = {row.error.text for row in dialog.form.rows}
    messages = {error for error in errors if not error.endswith("⟧")}
    assert_translated({"q?", "q", *MANY, *titles.values(), "q explained", *messages}, dialog)


@pytest.mark.parametrize(
    "question",
    [
        consent("q" * 10_000, items=tuple(MANY), kinds=tuple("abcdefgh" * 5)),
        consent("q?", items=tuple(MANY), kinds=("", "q") * 20, undoable=False),
        consent("q?", items=("q",), undoable=False, reason="q"),
        consent("q?", items=("q",) * 3, title="q " * 40, form=None),
        consent("q?", offers=Offers(hand_over="q", remember=1, mute="q")),
        consent("q?", offers=Offers(remember=20)),
        consent("q?", call=Call("q", "q")),
        consent("q?", details=Details("q", ((1, "q"),))),
        consent("q?", details=Details("q\n" * 9, ((1, "q"),), "q\n" * 12)),
        ask_name("q?", call=Call("q", "q", client=CLIENT), title=None),
        ask_name("q?", reason="q"),
    ],
)
def test_a_dialog_is_translated(language: Brackets, question: Question) -> None:
    dialog, _ = drawn(question)

    counted = {f"{kind}s" for kind in "qabcd"}
    assert_translated(
        {"q", *counted, "Name", "q" * 8192, "Delete 127 cameras", *MANY, *"abcd"}, dialog
    )


def test_what_is_said_in_the_corner_is_translated(language: Brackets, stage: Stage) -> None:
    stage.presenter.chip(ask_name("q?"), "q", lambda: None, lambda: None)
    stage.presenter.notice("q", delete, "q")
    stage.presenter.notice("q")
    until(lambda: len(stage.presenter.notifications.visible) == 3)

    assert_translated({"q"}, *stage.presenter.notifications.visible)
    assert {"Answer here", "Cancel", "Undo"} <= language.shown


def test_what_skills_say_stays_as_it_is(language: Brackets) -> None:
    assert safe_text("Cancel {n}", tr=tr) == "Cancel {n}"


class Polish(QTranslator):
    """Has three plurals, and a slip."""

    TEXTS: Final[dict[str, Callable[[int], str]]] = {
        "{n:,} items": lambda n: "{n} obiekty" if 1 < n % 10 < 5 else "{n} obiektów",
        "Type {word} to continue": lambda _: "Wpisz {slowo}",
    }

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> Any:
        return self.TEXTS[text](n) if text in self.TEXTS else None


@pytest.fixture
def polish(app: QApplication) -> Iterator[None]:
    translator = Polish()
    app.installTranslator(translator)
    yield
    app.removeTranslator(translator)


def test_a_language_may_have_several_plurals(polish: None) -> None:
    assert [tr("{n:,} items", n=n) for n in (3, 7)] == ["3 obiekty", "7 obiektów"]


def test_a_slip_of_the_translator_costs_the_translation_and_no_dialog(
    polish: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert tr("Type {word} to continue", word="x") == "Type x to continue"
    assert "does not have the places" in caplog.text


@pytest.mark.skipif(LRELEASE is None, reason="Qt's lrelease is not installed")
def test_a_translation_made_with_qts_own_tools_is_used(app: QApplication, tmp_path: Path) -> None:
    plurals = ["{n} obiekt", "{n} obiekty", "{n} obiektów"]
    source, compiled = tmp_path / "pl.ts", tmp_path / "pl.qm"
    source.write_text(ts("pl", {"Decline": ["Odmów"], "{n:,} items": plurals}), encoding="utf-8")
    subprocess.run([str(LRELEASE), "-silent", source, "-qm", compiled], check=True, timeout=50)
    translator = QTranslator()
    assert translator.load(str(compiled))

    app.installTranslator(translator)
    dialog, _ = drawn(consent())
    shown = [dialog.exits.decline.text(), *(tr("{n:,} items", n=n) for n in (3, 7, 22))]
    app.removeTranslator(translator)

    assert shown == ["&Odmów", "3 obiekty", "7 obiektów", "22 obiekty"]
    assert dialog.exits.cancel.text() == "&Not now"


def test_without_a_translator_it_is_english(app: QApplication) -> None:
    assert tr("{n:,} items", n=1234) == "1,234 items"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Отклонить", "&Отклонить"),
        ("取消", "取消"),
        ("Größe", "&Größe"),
        ("7", "&7"),
        ("R&D", "&R&&D"),
    ],
)
def test_alt_reaches_the_letters_of_any_keyboard(text: str, marked: str) -> None:
    assert Mnemonics().mark(text) == marked
