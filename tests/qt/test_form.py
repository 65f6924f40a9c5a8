"""A form is filled in with what it asks for, and what is shown is what is sent."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from dcc_bridge.elicitation.field_view import field_views
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.validation import FORMATS, InvalidAnswer
from dcc_bridge.qt.editors import Choice, Choices, Line, NumberLine, Tick
from dcc_bridge.qt.form import FieldRow, FormView
from dcc_bridge.qt.labels import Mnemonics
from tests.tiers import repeated

from .stage import ask_name, click, delete, drawn, form, words

Draw = Callable[..., FormView]
NUMBERS = {"type": "string", "enum": [str(n) for n in range(200)]}
TITLED = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]
EVERY_KIND: list[dict[str, Any]] = [
    {"type": "string"},
    *({"type": "string", "format": name} for name in FORMATS),
    {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
    {"type": "number"},
    {"type": "integer"},
    {"type": "boolean"},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
    {"type": "string", "oneOf": TITLED},
    NUMBERS,
    {"type": "array", "items": {"anyOf": TITLED}},
    {"type": "array", "items": NUMBERS},
]
"""The kinds of a field, each as it can be written, short and long."""


@pytest.fixture
def draw(app: QApplication) -> Draw:
    def make(asked: Form, *, consent: bool = False) -> FormView:
        view = FormView(field_views(asked, consent), Mnemonics())
        view.show()
        return view

    return make


def one(view: FormView) -> FieldRow:
    (row,) = view.rows
    return row


@pytest.mark.core
@pytest.mark.parametrize(
    "part",
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "string", "enum": ["a", "b"]},
        NUMBERS,
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    ],
)
def test_what_is_required_is_asked_for_and_nothing_is_chosen_beforehand(
    draw: Draw, part: dict[str, Any]
) -> None:
    view = draw(form(["it"], it=part))

    assert view.first_wrong() is not None
    assert one(view).error.isVisible()


def test_a_required_text_may_be_empty_where_the_form_says_so(draw: Draw) -> None:
    for part in ({"minLength": 0}, {"default": ""}):
        view = draw(form(["it"], it={"type": "string", **part}))

        assert view.first_wrong() is None
        assert view.content() == {"it": ""}


def test_a_consent_starts_without_a_yes(draw: Draw) -> None:
    yes = {"type": "boolean", "default": True}

    view = draw(form(["sure"], sure=yes, also=yes), consent=True)

    assert view.content() == {"sure": False, "also": False}


def test_a_click_answers_yes_or_no_and_leaving_out_is_an_act_of_its_own(draw: Draw) -> None:
    view = draw(form(sound={"type": "boolean", "title": "With sound"}))
    tick = one(view).editor
    assert isinstance(tick, Tick)

    def seen() -> tuple[object, str, bool]:
        text = tick.text().replace("&", "")
        return view.content().get("sound"), text, tick.leave.isVisible()

    assert seen() == (None, "With sound (left out)", False)
    for answer in (True, False, True, False):
        QTest.keyClick(tick, Qt.Key.Key_Space)
        assert seen() == (answer, "With sound", True)
    QTest.keyClick(tick.leave, Qt.Key.Key_Space)
    assert seen() == (None, "With sound (left out)", False)
    assert view.focusWidget() is tick


@pytest.mark.parametrize("default", [False, True])
def test_a_tick_with_a_default_is_off_or_on_and_cannot_be_left_out(
    draw: Draw, default: bool
) -> None:
    view = draw(form(sound={"type": "boolean", "default": default}))
    tick = one(view).editor
    assert isinstance(tick, Tick)

    seen = []
    for _ in range(3):
        seen.append((view.content()["sound"], tick.leave.isVisible()))
        click(tick)

    assert seen == [(default, False), (not default, False), (default, False)]


def test_a_choice_with_a_default_has_no_row_for_leaving_it_out(draw: Draw) -> None:
    part = {"type": "string", "enum": ["a", "b"]}
    view = draw(form(free=part, given={**part, "default": "b"}))

    free, given = (row.editor for row in view.rows)

    assert isinstance(free, Choice)
    assert isinstance(given, Choice)
    assert [free.itemText(at) for at in range(free.count())] == ["(left out)", "a", "b"]
    assert [given.itemText(at) for at in range(given.count())] == ["a", "b"]


@pytest.mark.parametrize("required", [[], ["it"]], ids=["optional", "required"])
@pytest.mark.parametrize("part", EVERY_KIND, ids=str)
def test_all_that_takes_the_focus_or_a_click_is_named_by_its_field(
    draw: Draw, part: dict[str, Any], required: list[str]
) -> None:
    view = draw(form(required, it={"title": "Its own title", **part}))
    row = one(view)
    parts = [row.editor, *row.findChildren(QWidget)]

    active = [
        part
        for part in parts
        if isinstance(part, QAbstractButton) or part.focusPolicy() != Qt.FocusPolicy.NoFocus
    ]

    assert active
    names = [part.accessibleName() for part in active]
    assert [name for name in names if "Its own title" not in name] == []
    if isinstance(row.editor, Choice):  # on Linux Qt says the value in place of the name
        assert "Its own title" in row.editor.accessibleDescription()


def test_what_is_wrong_is_said_under_the_field_as_it_is_typed(draw: Draw) -> None:
    view = draw(form(name={"type": "string", "minLength": 3}))
    row = one(view)
    assert isinstance(row.editor, Line)
    assert not row.error.isVisible()

    row.editor.setText("ab")
    assert (row.error.isVisible(), row.error.text) == (True, "At least 3 characters, please.")
    assert row.error.text in row.editor.accessibleDescription()

    row.editor.setText("abc")
    assert not row.error.isVisible()
    assert "At least 3 characters, please." not in row.editor.accessibleDescription()


def test_a_check_shows_every_error_and_goes_to_the_first(draw: Draw) -> None:
    text = {"type": "string"}
    view = draw(form(["b", "c"], a=text, b=text, c=text))

    assert view.first_wrong() is not None

    assert [row.error.isVisible() for row in view.rows] == [False, True, True]
    assert view.focusWidget() is view.rows[1].editor


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", " 1.5 ", 1.5),
        ("number", "-.5e1", -5.0),
        ("number", "12", 12),
        ("integer", "12345678901234567891", 12345678901234567891),
        ("integer", "5.0", 5),
        ("integer", "1e3", 1000),
        *[("number", text, None) for text in ("1,5", "1_000", "nan", "inf", "1e999", "٣", "0x10")],
        ("number", " ", None),
        *[("integer", text, None) for text in ("1.5", "9" * 5000, "ten")],
    ],
)
def test_a_number_is_read_as_it_is_written_and_what_is_none_is_refused(
    draw: Draw, kind: str, text: str, value: float | None
) -> None:
    asked = form(it={"type": kind})
    view = draw(asked)
    row = one(view)
    assert isinstance(row.editor, NumberLine)

    row.editor.setText(text)

    assert (view.first_wrong() is None) is (value is not None)
    assert value is None or asked.check(view.content()) == {"it": value}


def test_a_wheel_in_passing_changes_no_answer(draw: Draw) -> None:
    view = draw(form(it={"type": "string", "enum": ["a", "b"], "default": "a"}))
    combo = one(view).editor
    at, none = QPointF(5, 5), QPoint()

    wheel = QWheelEvent(
        at,
        at,
        none,
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(combo, wheel)

    assert view.content() == {"it": "a"}


def test_a_long_choice_is_searched_by_typing(draw: Draw) -> None:
    view = draw(form(["it"], it=NUMBERS))
    combo = one(view).editor
    assert isinstance(combo, Choice)
    completer = combo.completer()
    assert completer is not None
    assert completer.filterMode() == Qt.MatchFlag.MatchContains

    combo.setEditText("199")
    assert view.first_wrong() is None
    assert view.content() == {"it": "199"}

    combo.setEditText("1999")
    assert view.first_wrong() is not None


def test_long_names_to_tick_are_wrapped_and_can_be_read_whole(app: QApplication) -> None:
    """All rows are seen at once, also in the dialog as it opens."""
    vendor = "/World/Looks/a_name_of_a_vendor_that_has"
    names = [f"{vendor}_{n}_no_end_in_a_library_of_harbours_and_ships_v012" for n in "ab"]
    kinds = {"type": "array", "items": {"enum": names}, "default": names}
    question = ask_name(form=form(["unused", "twins"], unused=kinds, twins=kinds))

    dialog, _ = drawn(question)
    QApplication.processEvents()
    lists = [row.editor.list for row in dialog.form.rows]

    for each in lists:
        assert each.visualItemRect(each.item(0)).height() > 1.5 * each.fontMetrics().height()
        assert each.visualItemRect(each.item(1)).bottom() <= each.viewport().height()
        assert each.sizeHintForColumn(0) <= each.viewport().width()
    assert dialog.body.verticalScrollBar().maximum() == 0
    assert dialog.form.content() == {"unused": names, "twins": names}


def test_a_long_list_is_filtered_and_what_is_hidden_stays_ticked(draw: Draw) -> None:
    part = {"type": "array", "items": NUMBERS, "default": ["7"]}
    view = draw(form(it=part))
    choices = one(view).editor
    assert isinstance(choices, Choices)

    choices.filter.setText("19")

    shown = [row for row in range(200) if not choices.list.isRowHidden(row)]
    assert shown == [19, 119, *range(190, 200)]
    assert view.content() == {"it": ["7"]}


def test_a_suggestion_that_hides_something_is_shown_and_not_filled_in(draw: Draw) -> None:
    view = draw(form(it={"type": "string", "default": "safe\u202eelif"}))

    assert view.content() == {}
    assert "safe\u2039U+202E\u203aelif" in words(view)


@pytest.mark.parametrize("title", ["<b>R</b>&D", "R&D && <a href='x'>y</a>", "&lt;i&gt;"])
def test_titles_are_shown_as_they_are_written(draw: Draw, title: str) -> None:
    view = draw(form(it={"type": "string", "title": title, "description": title}))

    labels = view.findChildren(QLabel)
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in labels if label.text())
    shown = labels[0].text().replace("&&", "\0").replace("&", "").replace("\0", "&")
    assert shown.replace("\u200b", "") == title
    assert one(view).editor.accessibleName() == f"{title}, optional"


def test_a_title_too_long_for_a_check_box_is_wrapped_above_it(draw: Draw) -> None:
    title = "Overwrite everything that was rendered since the last time you looked"
    view = draw(form(["it"], it={"type": "boolean", "title": title}))

    assert title in words(view).replace("&", "")
    assert view.minimumSizeHint().width() < view.fontMetrics().averageCharWidth() * 60


@pytest.mark.parametrize("count", repeated(50, 300))
def test_whatever_is_filled_in_passes_the_forms_own_check_or_is_refused(
    count: int, draw: Draw
) -> None:
    chance = random.Random(7)
    passed = 0
    for _ in range(count):
        asked = form(["b"], a=_part(chance), b=_part(chance))
        view = draw(asked)
        for row in view.rows:
            _scribble(row, chance)
        if view.first_wrong() is None:
            passed += 1
            asked.check(view.content())
        else:
            with pytest.raises(InvalidAnswer):
                asked.check(view.content())
        delete(view)

    assert count / 6 < passed < count * 5 / 6


def _part(chance: random.Random) -> dict[str, Any]:
    return chance.choice(
        [
            {"type": "string", "minLength": 1, "maxLength": 4},
            {"type": "string", "format": "date"},
            {"type": "number", "minimum": 0, "maximum": 10},
            {"type": "integer", "maximum": 5},
            {"type": "boolean"},
            {"type": "string", "enum": ["a", "b"]},
            NUMBERS,
            {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
        ]
    )


def _scribble(row: FieldRow, chance: random.Random) -> None:
    editor = row.editor
    match editor:
        case Line():
            editor.setText(chance.choice(["", "x", "12", "3.5", "2026-11-20", "xxxxxxxxx", "-1"]))
        case Tick():
            editor.click()
        case Choice():
            editor.setCurrentIndex(chance.randrange(-1, editor.count()))
        case Choices():
            for number in range(editor.list.count()):
                state = chance.choice([Qt.CheckState.Checked, Qt.CheckState.Unchecked])
                editor.list.item(number).setCheckState(state)
