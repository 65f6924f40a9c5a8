"""A consent shows what it is about, and what else a person may do with it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QRect, Qt
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from dcc_bridge.elicitation.consent_view import item_counts
from dcc_bridge.elicitation.question import Consent, HandOver, Offers, Question, Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.view import fewer as fewer_of

from .stage import (
    CALL,
    HOST,
    Stage,
    armed,
    ask_name,
    click,
    consent,
    drawn,
    form,
    go_to,
    press,
    until,
    words,
)

CAMERAS = tuple(f"/World/Cameras/cam_{number:03}" for number in range(127))
KINDS = ("Camera",) * 127


FORGED = "xform\npath: /World/Sky\nvalue: 2"
GIVEN = (("path", "/World/Cube"), ("attribute", FORGED), ("code", "y" * 3000))


def cells(dialog: Any) -> list[tuple[int, str, str]]:
    """Give the rows of the arguments that are drawn: how high each is, its name and its value."""
    grid = dialog.arguments.grid
    rows = [row for row in range(grid.rowCount()) if grid.itemAtPosition(row, 1) is not None]
    parts = [[grid.itemAtPosition(row, column).widget() for column in (0, 1)] for row in rows]
    pairs = [(name, value) for name, value in parts if name is not value]
    return [(value.height(), name.text(), words(value)) for name, value in pairs]


def test_each_argument_is_a_row_and_a_value_is_none() -> None:
    dialog, _ = drawn(consent(arguments=GIVEN))

    rows = cells(dialog)

    assert [name for _, name, _ in rows] == ["path", "attribute", "code"]
    assert rows[0][2].startswith("/World/Cube")
    assert "\n" not in rows[1][2].rstrip("\n")
    assert "(2,800 more characters are not shown)" in rows[2][2]
    assert "One undo takes all of it back." in words(dialog)


def test_what_is_only_told_is_short_until_the_person_wants_all() -> None:
    call = replace(CALL, asked_for=tuple((f"{number}. set keys", "") for number in range(12)))
    dialog, heard = drawn(consent(call=call, items=CAMERAS))
    first = [name for _, name, _ in cells(dialog)]
    height = dialog.arguments.height()

    click(dialog.arguments.more)
    until(lambda: dialog.arguments.height() > height)

    assert first == ["0. set keys", "1. set keys", "2. set keys"]
    assert dialog.arguments.more.text() == "Show all 12"
    assert not dialog.arguments.more.isVisible()
    assert [name for _, name, _ in cells(dialog)] == [name for name, _ in call.asked_for]
    assert heard == []


def test_what_is_agreed_to_is_shown_whole_at_once() -> None:
    given = tuple((f"axis_{number}", "x") for number in range(12))
    dialog, _ = drawn(consent(arguments=given))

    assert len(cells(dialog)) == 12
    assert not dialog.arguments.more.isVisible()


def test_all_of_a_long_value_is_seen_on_a_click_and_stays_in_its_row() -> None:
    dialog, _ = drawn(consent(arguments=GIVEN))
    whole = [button for button in dialog.arguments.findChildren(QPushButton) if button.isVisible()]
    before = cells(dialog)

    for button in whole:
        click(button)

    assert len(whole) == 2
    until(lambda: cells(dialog)[2][0] > 5 * before[2][0])
    assert [(name, value.rstrip("\n")) for _, name, value in cells(dialog)[1:]] == [
        ("attribute", FORGED),
        ("code", "y" * 3000 + "\n(2,800 more characters are not shown)"),
    ]


def offering(**offers: Any) -> Question:
    return consent(offers=Offers(soon=45, latest=45, **offers))


def test_the_list_is_what_the_question_is_about() -> None:
    dialog, _ = drawn(consent(items=CAMERAS, kinds=KINDS))

    assert dialog.preview.items.rowCount() == 127
    assert "127 cameras" in words(dialog)
    assert "One undo brings all of it back." in words(dialog)


def test_the_kinds_are_counted_the_commonest_first() -> None:
    kinds = ("Mesh", "Camera", "Camera", "A", "gone", "C", "")

    counts = item_counts(Consent(tuple("abcdefg"), kinds))

    assert counts == "2 cameras · 1 mesh · 1 a · 1 no longer there · 2 of other types"


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("Sketcher::SketchObject", ("1 sketch", "3 sketches")),
        ("App::DocumentObjectGroup", ("1 group", "3 groups")),
        ("PartDesign::AdditiveBox", ("1 additive box", "3 additive boxes")),
        ("Part::Cylinder", ("1 cylinder", "3 cylinders")),
        ("LIGHT_PROBE", ("1 light probe", "3 light probes")),
        ("EMPTY", ("1 empty", "3 empties")),
        ("labs::tree::2.0", ("1 labs::tree::2.0", "3 labs::tree::2.0")),
        ("mesh", ("1 mesh", "3 meshes")),
        ("", ("1 item", "3 items")),
    ],
)
def test_a_kind_is_told_in_words_without_the_module_of_its_host(
    kind: str, told: tuple[str, str]
) -> None:
    assert item_counts(Consent(("it",), (kind,))) == told[0]
    assert item_counts(Consent(("it",) * 3, (kind,) * 3)) == told[1]


def test_the_search_narrows_by_name_and_by_kind_and_says_how_many_it_shows() -> None:
    items, kinds = (*CAMERAS, "/World/Box"), (*KINDS, "Cube")
    dialog, _ = drawn(consent(items=items, kinds=kinds))
    preview = dialog.preview

    found = {}
    for text in ("cam_12", "CUBE", "nothing", ""):
        preview.search.setText(text)
        found[text] = preview.items.count, preview.found.text(), preview.found.isVisible()

    assert found == {
        "cam_12": (7, "7 of 128 shown", True),
        "CUBE": (1, "1 of 128 shown", True),
        "nothing": (0, "0 of 128 shown", True),
        "": (128, "128 of 128 shown", False),
    }


def test_what_is_selected_is_selected_in_the_scene_and_else_all_that_match() -> None:
    dialog, heard = drawn(consent(items=CAMERAS, kinds=KINDS))
    preview = dialog.preview

    click(preview.look)
    everything = list(HOST.selection)
    preview.list.setCurrentIndex(preview.items.index(3))
    click(preview.look)

    assert everything == list(CAMERAS)
    assert HOST.selection == [CAMERAS[3]] == HOST.framed
    assert heard == []


DEEP = "/World/Sets/harbour_warehouse_district/quay_north/assembly_main/"
LONG = tuple(
    f"{DEEP}{'container_stack/' * 6}{side}/{'panels_and_frames/' * 6}old_door"
    for side in ("left", "right", "middle")
)


def seen_in(preview: Any, row: int) -> QImage:
    view = preview.list
    place = view.visualRect(preview.items.index(row))
    image: QImage = view.viewport().grab(place).toImage()
    return image


@pytest.mark.parametrize("width", [400, 640, 1200])
def test_paths_longer_than_a_line_are_told_apart_at_any_width_of_the_window(width: int) -> None:
    """They are wrapped and whole, but for the parents that all of them share."""
    dialog, _ = drawn(consent(items=LONG, kinds=("Mesh",) * 3))
    preview, shared = dialog.preview, f"{DEEP}{'container_stack/' * 6}"
    assert min(map(len, LONG)) > 160

    dialog.resize(width, 900)
    for _ in range(3):  # a layout takes some turns
        QCoreApplication.processEvents()

    rows = [preview.items.index(row) for row in range(3)]
    texts = [preview.items.data(row).replace("\N{ZERO WIDTH SPACE}", "") for row in rows]
    assert [shared + text for text in texts] == list(LONG)
    assert f"In {shared}" in words(dialog)
    pictures = [seen_in(preview, row) for row in range(3)]
    assert pictures[0] != pictures[1] != pictures[2] != pictures[0]
    for row in rows:
        place = preview.list.visualRect(row)
        metrics = preview.list.fontMetrics()
        wraps = int(Qt.TextFlag.TextWordWrap)
        text = metrics.boundingRect(QRect(0, 0, place.width(), 9999), wraps, row.data())
        assert place.height() >= text.height()
        assert place.width() <= preview.list.viewport().width()


def test_a_long_path_is_whole_to_a_screen_reader_in_its_tooltip_and_in_a_copy() -> None:
    dialog, _ = drawn(consent(items=LONG, kinds=("Mesh",) * 3))
    preview = dialog.preview
    first = preview.items.index(0)
    tip = preview.items.data(first, Qt.ItemDataRole.ToolTipRole)
    spoken = preview.items.data(first, Qt.ItemDataRole.AccessibleTextRole)

    go_to(dialog)
    preview.list.setFocus()
    preview.list.setCurrentIndex(first)
    copy_keys = QKeySequence(QKeySequence.StandardKey.Copy)
    QTest.keySequence(dialog.windowHandle(), copy_keys)
    one = QApplication.clipboard().text()
    preview.list.clearSelection()
    (copy,) = preview.list.actions()
    copy.trigger()

    assert spoken == one == LONG[0]
    assert LONG[0] in tip.replace("\N{ZERO WIDTH SPACE}", "")
    assert "Mesh" in tip
    assert QApplication.clipboard().text() == "\n".join(LONG)


def test_the_parent_of_all_items_is_named_once_above_them(app: QApplication) -> None:
    dialog, _ = drawn(consent(items=CAMERAS, kinds=KINDS))

    assert dialog.preview.items.data(dialog.preview.items.index(0)) == "cam_000"
    assert dialog.preview.parents.text() == "In /World/Cameras/"
    assert dialog.preview.parents.isVisible()


def test_a_few_paths_that_fit_in_a_line_are_whole_in_it(app: QApplication) -> None:
    paths = ("/World/Cameras/hero", "/World/Lights/key", "/World/Set/box")
    dialog, _ = drawn(consent(items=paths))
    items = dialog.preview.items

    assert [items.data(items.index(row)) for row in range(3)] == list(paths)
    assert not dialog.preview.parents.isVisible()


SHOTS = tuple(f"/World/Cameras/sq{n % 3}/sh{n:03}_cam" for n in range(12))


def rows_of(items: Any) -> list[tuple[str, str, list[str]]]:
    """Return each group of a model: its name, its number, and the names of its items."""
    groups = []
    for row in range(items.rowCount()):
        group = items.index(row)
        names = [items.data(items.index(n, 0, group)) for n in range(items.rowCount(group))]
        groups.append((items.data(group), items.data(items.index(row, 1)), names))
    return groups


def test_items_of_several_parents_stand_in_groups_and_each_parent_is_named_once() -> None:
    dialog, _ = drawn(consent(items=(*SHOTS, "/Sky"), kinds=(*("Camera",) * 12, "Dome")))

    groups = rows_of(dialog.preview.items)

    assert groups[0] == (
        "/World/Cameras/sq0",
        "4 cameras",
        ["sh000_cam", "sh003_cam", "sh006_cam", "sh009_cam"],
    )
    assert groups[3] == ("At the top", "1 dome", ["/Sky"])
    assert "12 cameras · 1 dome in 4 groups" in words(dialog)


def test_groups_with_long_parents_leave_out_what_all_of_them_share() -> None:
    items = tuple(f"{DEEP}container_stack/{side}/door_{n}" for side in "ab" for n in range(6))
    dialog, _ = drawn(consent(items=items))
    model = dialog.preview.items

    names = [name for name, _, _ in rows_of(model)]
    tip = model.data(model.index(1), Qt.ItemDataRole.ToolTipRole)

    assert names == ["a", "b"]
    assert f"In {DEEP}container_stack/" in words(dialog)
    assert f"{DEEP}container_stack/b" in tip.replace("\N{ZERO WIDTH SPACE}", "")


@pytest.mark.parametrize(
    "pattern", ["{DEEP}{n}/" + "far/" * 20 + "door_{m}", "{DEEP}{n}/" + "long_" * 13 + "{m}"]
)
def test_what_would_be_cut_in_a_group_stands_whole_in_a_list(pattern: str) -> None:
    """Two rows that are cut in their middle could look alike."""
    items = tuple(pattern.format(DEEP=DEEP, n=n, m=m) for n in range(3) for m in range(4))
    dialog, _ = drawn(consent(items=items))
    model = dialog.preview.items

    rows = [model.data(model.index(row)) for row in range(model.rowCount())]

    shown = [model.parents + row.replace("\N{ZERO WIDTH SPACE}", "") for row in rows]
    assert shown == list(items)


def test_a_name_in_a_group_is_whole_in_its_tooltip_to_a_screen_reader_and_in_a_copy() -> None:
    dialog, _ = drawn(consent(items=SHOTS, kinds=("Camera",) * 12))
    preview = dialog.preview
    group = preview.items.index(1)
    item = preview.items.index(2, 0, group)

    tip = preview.items.data(item, Qt.ItemDataRole.ToolTipRole)
    spoken = preview.items.data(item, Qt.ItemDataRole.AccessibleTextRole)
    preview.list.expandAll()
    preview.list.setCurrentIndex(item)
    preview.list.actions()[0].trigger()
    one = QApplication.clipboard().text()
    preview.list.setCurrentIndex(group)
    preview.list.actions()[0].trigger()

    assert SHOTS[7] == spoken == one
    assert SHOTS[7] in tip
    assert QApplication.clipboard().text() == "\n".join(SHOTS[1::3])


def test_a_search_opens_the_groups_of_what_it_found() -> None:
    dialog, _ = drawn(consent(items=SHOTS, kinds=("Camera",) * 12))
    preview = dialog.preview

    preview.search.setText("SH00")

    assert [len(names) for _, _, names in rows_of(preview.items)] == [4, 3, 3]
    assert preview.list.isExpanded(preview.items.index(2))
    assert preview.found.text() == "10 of 12 shown"


def fewer(**more: Any) -> Any:
    """Draw a question whose asker can take fewer of the twelve cameras."""
    lone = form(["confirm"], confirm={"type": "boolean", "title": "Delete 12 cameras"})
    kinds = ("Camera",) * 12
    return drawn(consent(form=lone, items=SHOTS, kinds=kinds, may_take_fewer=True, **more))


def tick(items: Any, index: Any, *, on: bool) -> None:
    state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
    assert items.setData(index, state, Qt.ItemDataRole.CheckStateRole)


def state(items: Any, index: Any) -> Qt.CheckState:
    return Qt.CheckState(items.data(index, Qt.ItemDataRole.CheckStateRole))


def test_items_that_are_unticked_are_not_agreed_to_and_the_verb_counts_the_rest() -> None:
    dialog, heard = fewer()
    items = dialog.preview.items
    first, second = items.index(0), items.index(1)
    verb = armed(dialog)

    tick(items, items.index(1, 0, first), on=False)
    tick(items, second, on=False)

    assert verb.text() == "Delete 7 of 12 cameras"
    assert state(items, first) == Qt.CheckState.PartiallyChecked
    assert state(items, second) == Qt.CheckState.Unchecked
    assert state(items, items.index(2)) == Qt.CheckState.Checked
    click(verb)
    left_out = tuple(item for item in SHOTS if "sq1" in item or item == SHOTS[3])
    assert heard == [Reply("accept", {"confirm": True}, left_out=left_out)]


def test_with_fewer_ticked_the_card_says_that_it_shows_all() -> None:
    dialog, _ = fewer()
    items = dialog.preview.items
    before = dialog.for_all.isVisible()

    tick(items, items.index(0), on=False)
    less = (dialog.for_all.isVisible(), dialog.for_all.text())
    tick(items, items.index(0), on=True)

    assert not before
    assert less == (True, "What is shown above is for all 12.")
    assert not dialog.for_all.isVisible()


def test_with_nothing_ticked_nothing_can_be_agreed_to() -> None:
    dialog, heard = fewer()
    verb = armed(dialog)
    everything = dialog.preview.everything

    click(everything)
    click(verb)
    held = verb.isEnabled()
    click(everything)

    assert (held, heard) == (False, [])
    assert verb.isEnabled()
    assert verb.text() == "Delete 12 cameras"


def test_what_a_search_hides_stays_as_it_was_ticked() -> None:
    dialog, heard = fewer()
    verb = armed(dialog)
    preview = dialog.preview

    preview.search.setText("sh00")
    click(preview.everything)
    preview.search.clear()

    assert preview.everything.checkState() == Qt.CheckState.PartiallyChecked
    assert verb.text() == "Delete 2 of 12 cameras"
    click(verb)
    assert heard[0].left_out == SHOTS[:10]


def test_the_word_to_type_counts_what_is_ticked() -> None:
    dialog, _ = fewer(undoable=False)
    items = dialog.preview.items
    until(lambda: dialog.exits._is_armed)
    dialog.name.editor.setText("12")

    tick(items, items.index(0), on=False)

    assert not dialog.exits.verb.isEnabled()
    assert "Type 8 to continue:" in words(dialog)
    dialog.name.editor.setText("8")
    assert dialog.exits.verb.isEnabled()


def test_space_in_the_list_unticks_and_agrees_to_nothing() -> None:
    dialog, heard = fewer()
    preview = dialog.preview
    go_to(dialog)
    preview.list.setFocus()
    preview.list.setCurrentIndex(preview.items.index(0))

    press(preview.list, Qt.Key.Key_Space)

    assert state(preview.items, preview.items.index(0)) == Qt.CheckState.Unchecked
    assert heard == []


def test_where_all_have_to_go_there_is_no_check_box() -> None:
    dialog, _ = drawn(consent(items=SHOTS))
    items = dialog.preview.items

    assert items.data(items.index(0), Qt.ItemDataRole.CheckStateRole) is None
    assert not items.setData(items.index(0), 0, Qt.ItemDataRole.CheckStateRole)
    assert not dialog.preview.everything.isVisible()


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("Delete 1,270 cameras", "Delete 3 of 1,270 cameras"),
        ("Delete 1270", "Delete 3 of 1,270"),
        ("Delete them", "Delete them (3 of 1,270)"),
        ("Delete v1270.5 and 12701", "Delete v1270.5 and 12701 (3 of 1,270)"),
    ],
)
def test_a_verb_says_how_many_of_all_items_would_go(verb: str, said: str) -> None:
    assert fewer_of(verb, 3, 1270) == said
    assert fewer_of(verb, 1270, 1270) == verb


@pytest.mark.long
@pytest.mark.parametrize("in_a_group", [2, 90, 110, 1000, 100_000])
def test_a_hundred_thousand_long_paths_open_at_once(in_a_group: int) -> None:
    items = tuple(f"{LONG[0]}/Group_{n // in_a_group}/prim_{n}" for n in range(100_000))
    drawn(consent(items=items[:10], kinds=("Mesh",) * 10))

    taken = []
    for _ in range(3):
        began = time.thread_time()
        drawn(consent(items=items, kinds=("Mesh",) * 100_000))
        taken.append(time.thread_time() - began)

    assert min(taken) < 0.15


def test_hostile_names_are_shown_as_they_are() -> None:
    hostile = "/World/\u202egpj.exe"
    dialog, _ = drawn(consent(items=(hostile, "<b>bold</b>"), kinds=("", "")))
    model = dialog.preview.items

    assert model.data(model.index(0), Qt.ItemDataRole.DisplayRole) == safe_line(hostile)
    assert model.data(model.index(1), Qt.ItemDataRole.DisplayRole) == "<b>bold</b>"


def test_a_path_begins_with_its_slash_where_text_runs_from_right_to_left(
    app: QApplication, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: app.setLayoutDirection(Qt.LayoutDirection.LeftToRight))
    app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)

    dialog, _ = drawn(consent(items=CAMERAS, kinds=KINDS))

    assert dialog.preview.layoutDirection() == Qt.LayoutDirection.RightToLeft
    assert dialog.preview.list.layoutDirection() == Qt.LayoutDirection.LeftToRight


@pytest.mark.parametrize(
    ("items", "word"), [(("/World/Hero",), "Hero"), (("a", "b", "c"), "3"), (("|rig|arm",), "arm")]
)
def test_what_cannot_be_undone_is_armed_by_typing(items: tuple[str, ...], word: str) -> None:
    dialog, heard = drawn(consent(items=items, undoable=False))
    verb = dialog.exits.verb

    until(lambda: dialog.exits._is_armed)
    before = verb.isEnabled()
    dialog.name.editor.setText(word[:-1])
    nearly = verb.isEnabled()
    dialog.name.editor.setText(word)
    click(verb)

    assert "This can NOT be undone." in words(dialog)
    assert (before, nearly) == (False, False)
    assert [getattr(event, "action", None) for event in heard] == ["accept"]


def test_a_list_shows_labels_and_its_search_finds_them_and_the_names_behind() -> None:
    """An application may show its person another name than the one that a skill works with."""
    names = tuple(f"Thing{number:03}" for number in range(9))
    labels = ("Bohrung_Größe_ß (Thing000)", *(f"Part {name} ({name})" for name in names[1:]))
    dialog, _ = drawn(consent(items=names, labels=labels))
    preview = dialog.preview

    found = {}
    for text in ("GRÖSSE", "thing000", ""):
        preview.search.setText(text)
        rows = range(preview.items.rowCount())
        found[text] = [preview.items.data(preview.items.index(row, 0)) for row in rows]

    assert found == {"GRÖSSE": [labels[0]], "thing000": [labels[0]], "": list(labels)}
    assert preview.items.at([preview.items.index(0)]) == ["Thing000"]


def test_enter_in_the_search_agrees_to_nothing() -> None:
    dialog, heard = drawn(consent(items=CAMERAS, kinds=KINDS))
    armed(dialog)

    dialog.preview.search.setFocus()
    for _ in range(50):
        press(dialog.preview.search, Qt.Key.Key_Return)

    assert all(isinstance(event, Reply) and event.action != "accept" for event in heard)


def test_a_question_can_be_handed_over() -> None:
    dialog, heard = drawn(offering(hand_over="Claude Code"))
    button = dialog.offers_bar.hand_over

    assert "Claude Code" in button.text().replace("&", "")
    click(button)
    assert heard == [HandOver()]


def test_a_client_is_muted_in_the_menu_beside_decline() -> None:
    dialog, heard = drawn(offering(mute="Claude Code"))
    mute = dialog.exits.mute

    assert "Claude Code" in mute.text()
    mute.trigger()
    assert heard == [Reply("decline", mute=True)]


def test_an_edit_can_be_agreed_to_for_the_session() -> None:
    dialog, heard = drawn(offering(remember=5))
    box = dialog.offers_bar.remember

    assert "up to 5 items" in box.accessibleName()
    assert not box.isChecked()
    box.setChecked(True)
    click(armed(dialog))
    assert heard == [Reply("accept", {"confirm": True}, remember=True)]


def test_what_was_done_can_be_taken_back_from_the_corner(stage: Stage) -> None:
    undone: list[str] = []

    stage.presenter.notice("Delete cameras: done for Claude Code", lambda: undone.append("yes"))
    until(lambda: stage.presenter.notifications.visible)
    (chip,) = stage.presenter.notifications.visible
    click(chip.buttons[0])
    until(lambda: not stage.presenter.notifications.visible)

    assert undone == ["yes"]


@pytest.mark.parametrize("question", [consent(), ask_name()])
def test_nothing_is_offered_that_the_question_does_not_offer(question: Question) -> None:
    dialog, _ = drawn(question)
    offers = dialog.offers_bar

    assert (offers.remember, offers.hand_over, dialog.exits.mute) == (None, None, None)
    assert (dialog.preview, dialog.name) == (None, None)


@pytest.mark.parametrize("items", [(), CAMERAS[:2]])
def test_what_cannot_be_undone_is_said_with_where_a_copy_is_kept(items: tuple[str, ...]) -> None:
    dialog, _ = drawn(consent(items=items, undoable=False, kept="/shots/sh010.checkpoints"))

    why = "This can NOT be undone. A copy of the scene is kept first, in /shots/sh010.checkpoints"
    assert why in words(dialog)


def test_writing_a_new_file_is_not_called_a_loss_and_nothing_has_to_be_typed() -> None:
    """A copy is kept of each file that is there, so where none is kept nothing is written over."""
    new = (Path("/shots/sh010/new.usdc"),)
    dialog, _ = drawn(consent(undoable=False, files=new))
    over, _ = drawn(consent(undoable=False, files=new, kept="/shots/sh010.checkpoints"))

    assert "Nothing is overwritten. Undo does not remove a new file." in words(dialog)
    assert "NOT" not in words(dialog)
    assert (dialog.name, over.name is None) == (None, False)
    assert dialog.focusWidget() is dialog.exits.cancel
