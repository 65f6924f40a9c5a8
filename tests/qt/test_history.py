"""The history reads like a log for people: filtered, copied, and undone as far as agents' steps go.

Each test plays on the panel with its own widgets, over a host with a real undo stack.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetrics, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Picture, Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.errors import LostAnyway, NoConsent
from dcc_bridge.panel.view import PanelView
from dcc_bridge.skills import call_history
from dcc_bridge.skills.call_history import Status

from .desk import CURSOR, YES, Desk
from .stage import click, press, until
from .test_panel import activate, ended, tip


def png(colour: str = "#d02020") -> bytes:
    picture = QPixmap(160, 90)
    picture.fill(QColor(colour))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return bytes(buffer.data().data())


def asked(
    desk: Desk,
    message: str,
    *,
    agrees: bool = False,
    reason: str | None = None,
    items: tuple[str, ...] = (),
    pictures: tuple[Picture, ...] = (),
    error: str | None = None,
) -> str:
    """Have a call end whose question a person answered at the host; give the call's id."""
    call, trail = desk.call("Delete prims", "destructive")
    question = Question(message, call, YES, consent=Consent(items, pictures=pictures))
    trail.question_opened()
    answer = ElicitationResponse(agrees, {"ok": agrees}, None, "decline", "host", reason)
    trail.question_closed(question.answered(answer))
    trail.end("done" if agrees else "refused", error)
    desk.panel.refresh()
    return call.id


def choose(desk: Desk, row: int) -> None:
    history = desk.panel.history
    history.list.setCurrentIndex(history.model.index(row, 0))


def facts(desk: Desk) -> list[str]:
    return desk.panel.history.card.facts.toPlainText().split("\n")


def edit_by_hand(desk: Desk, label: str = "Move Cube") -> None:
    with desk.host.undo_step(label):
        desk.host.items.append(label)


def test_a_row_says_what_was_asked_and_the_answer_with_its_reason(desk: Desk) -> None:
    asked(desk, "Delete 2 lamps?\nAll of them.", reason="I need them", items=("Key", "Fill"))

    assert ended(desk.panel) == ["Delete 2 lamps? claude-code · declined in the app: “I need them”"]


def test_a_click_on_a_refusal_opens_a_card_with_how_many_items_and_the_number(desk: Desk) -> None:
    call = asked(desk, "Delete 120 lamps?", items=tuple(f"Lamp{n}" for n in range(120)))
    history = desk.panel.history

    QApplication.processEvents()
    rect = history.list.visualRect(history.model.index(0, 0))

    QTest.mouseClick(
        history.list.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        rect.center(),
    )

    assert history.card.isVisible()
    assert facts(desk)[0] == "Delete 120 lamps?"
    (items,) = [fact for fact in facts(desk) if fact.startswith("Items 120: Lamp0, Lamp1, ")]
    assert items.endswith("Lamp49, 70 more")
    assert facts(desk)[-1] == f"Call {call}"


def test_in_a_low_panel_what_a_click_opens_is_scrolled_into_sight(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "done", ago=60)
    desk.panel.resize(340, 330)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 1)

    history.list.clicked.emit(history.model.index(1, 0))
    until(lambda: not history.card.visibleRegion().isEmpty())
    click(history.undo_back)

    assert history.steps is not None
    until(lambda: history.steps and not history.steps.buttons[0].visibleRegion().isEmpty())


def test_a_read_and_a_failure_have_a_card_too(desk: Desk) -> None:
    desk.ended("List prims", "done", "read", ago=30)
    desk.ended("Save scene", "failed", ago=60, error="Save scene failed: the disk is full.")
    desk.panel.history.reads.setChecked(True)
    desk.panel.refresh()
    seen = []

    for row in range(2):
        choose(desk, row)
        seen.append((desk.panel.history.card.isVisible(), facts(desk)[0]))

    assert seen == [(True, "List prims"), (True, "Save scene")]
    assert "Reason: the disk is full." in facts(desk)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("save_scene failed: the disk is full. Nothing was changed.", "Reason: the disk is full."),
        (
            "move: nothing is called Cub. Call list_items, and pass the name as it is there.",
            "Reason: nothing is called Cub.",
        ),
        (
            'edit: the argument "items" must be a list, not {"a": 1}.',
            "Reason: The agent's request could not be carried out.",
        ),
        ("run failed: RuntimeError: no camera. Try again later.", "Reason: no camera."),
        (
            "Export failed: OSError: [Errno 28] No space left on device. Nothing was changed.",
            "Reason: No space left on device.",
        ),
        ("Export failed: [Errno 28] No space left on device", "Reason: No space left on device"),
        (
            "open: [Errno 13] Permission denied: '/shots/cut (a)/{1}.obj'.",
            "Reason: Permission denied: '/shots/cut (a)/{1}.obj'.",
        ),
        ("rename: Lamp[3] is locked.", "Reason: Lamp[3] is locked."),
        ("save: shot(1).blend is read-only.", "Reason: shot(1).blend is read-only."),
    ],
)
def test_a_failure_is_told_to_a_person_without_the_words_for_the_agent(
    desk: Desk, error: str, said: str
) -> None:
    desk.ended("Save scene", "failed", error=error)
    desk.panel.refresh()

    choose(desk, 0)

    assert facts(desk)[2] == said
    assert error not in tip(desk)


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        (
            "failed",
            "Paint failed: no brush. Its changes to these remain: the pixels of skin.png.",
            "no brush. Its changes to these remain: the pixels of skin.png.",
        ),
        (
            "failed",
            "Paint failed: no brush. Its changes to these remain: the pixels of Mr. Skin, "
            "the preferences.",
            "no brush. Its changes to these remain: the pixels of Mr. Skin, the preferences.",
        ),
        (
            "failed",
            "Paint failed: no brush. Nothing was changed. The skill also changed the mode. "
            "That was restored.",
            "no brush. The skill also changed the mode. That was restored.",
        ),
        (
            "failed",
            'edit: the argument "items" must be a list. Nothing was changed, except for what undo '
            "cannot reverse: write out.obj.",
            "The agent's request could not be carried out. Nothing was changed, except for what "
            "undo cannot reverse: write out.obj.",
        ),
        (
            "failed",
            f"Paint failed: {'no brush, ' * 60}sorry. Its changes to these remain: skin.png.",
            "Its changes to these remain: skin.png.",
        ),
        (
            "timed_out",
            "paint exceeded its time limit. Nothing was changed. Its changes to these remain: "
            "skin.png.",
            "Its changes to these remain: skin.png.",
        ),
        (
            "partly_applied",
            "move failed in the middle of an edit and could not be rolled back completely: "
            "another change was made after it. Use the host's own undo to go back.",
            "move failed in the middle of an edit and could not be rolled back completely: "
            "another change was made after it. Use the host's own undo to go back.",
        ),
        (
            "no_consent",
            str(NoConsent("tidy", "deleted Lamp")),
            "tidy deleted Lamp without approval, so its changes were undone.",
        ),
        (
            "no_consent",
            str(LostAnyway("Blender", "open b.blend", "Its unsaved changes are in /copies/1.")),
            "The skill went on to open b.blend. Nobody approved this, but Blender cannot refuse it "
            "and undo cannot reverse it. Its unsaved changes are in /copies/1.",
        ),
        (
            "unknown_outcome",
            "move has run for more than its 60 s and cannot be stopped. It may still change the "
            "scene. Before you go on, see its outcome with recent_calls.",
            "move has run for more than its 60 s and cannot be stopped. It may still change the "
            "scene.",
        ),
        (
            "unknown_outcome",
            "The skill could not be run.",
            "The skill could not be run. It may have changed the scene.",
        ),
    ],
)
def test_what_remains_and_what_may_still_change_is_told_to_a_person(
    desk: Desk, state: Status, error: str, said: str
) -> None:
    desk.ended("Paint", state, error=error)
    desk.panel.refresh()

    choose(desk, 0)

    told = "\n".join(facts(desk))
    assert said in told
    assert "Reason: " in told
    assert "recent_calls" not in told
    assert "confirm_sync" not in told


@pytest.mark.parametrize("state", ["failed", "cancelled", "timed_out"])
def test_the_outcome_does_not_say_that_nothing_was_changed_where_changes_remain(
    desk: Desk, state: Status
) -> None:
    error = "paint failed. Nothing was changed. Its changes to these remain: skin.png."
    desk.ended("Paint", state, error=error)
    desk.panel.refresh()

    choose(desk, 0)

    told = "\n".join(facts(desk))
    assert "some changes remain" in told
    assert "nothing was changed" not in told


def test_what_is_asked_of_an_agent_in_a_refusal_is_not_told_to_the_person(desk: Desk) -> None:
    asked(desk, "Delete 2 lamps?", error="Declined in the app. Do not try another way.")

    choose(desk, 0)

    assert not [fact for fact in facts(desk) if "another way" in fact]


def test_search_looks_at_the_cards_and_filters_by_client_and_kind(desk: Desk) -> None:
    desk.ended("Set attribute", "done", ago=90, client=CURSOR)
    desk.ended("Rename prim", "failed", ago=60, error="rename: the layer is locked.")
    desk.ended("Add lamp", "done", ago=30)
    desk.panel.refresh()
    bar = desk.panel.history.filter
    titles = {}

    bar.search.setText("LOCKED layer")
    titles["search"] = [text.partition(".")[0] for text in ended(desk.panel)]
    bar.search.clear()
    bar.client.setCurrentIndex(bar.client.findData("cursor"))
    titles["client"] = [text.partition(".")[0] for text in ended(desk.panel)]
    bar.client.setCurrentIndex(0)
    bar.kind.setCurrentIndex(bar.kind.findData("done"))
    titles["kind"] = [text.partition(".")[0] for text in ended(desk.panel)]

    assert titles == {
        "search": ["Rename prim"],
        "client": ["Set attribute"],
        "kind": ["Add lamp", "Set attribute"],
    }


def test_a_search_that_finds_nothing_says_so_and_keeps_the_line_to_search_in(desk: Desk) -> None:
    desk.ended("Add lamp", "done")
    desk.panel.refresh()

    desk.panel.history.filter.search.setText("nothing like this")

    assert desk.panel.history._empty.text() == "Nothing in the history fits."
    assert desk.panel.history.filter.search.isVisible()


def test_the_choice_of_clients_comes_with_the_second_client(desk: Desk) -> None:
    client = desk.panel.history.filter.client
    desk.ended("Add lamp", "done", ago=90)
    desk.panel.refresh()
    before = client.isVisible()

    desk.ended("Set attribute", "done", client=CURSOR)
    desk.panel.refresh()

    assert not before
    assert client.isVisible()
    assert [client.itemText(n) for n in range(3)] == ["All clients", "claude-code", "cursor"]


def test_a_row_and_all_rows_are_copied_as_text(desk: Desk, app: QApplication) -> None:
    first = asked(desk, "Delete 2 lamps?", reason="no", items=("Key", "Fill"))
    desk.ended("Add lamp", "done", client=CURSOR, ago=0)
    desk.panel.refresh()
    menu = desk.panel.history.menu
    choose(desk, [record.id for record in desk.panel.history.model.records].index(first))

    menu.copy_row.trigger()
    row = app.clipboard().text()
    menu.copy_all.trigger()
    every = app.clipboard().text().split("\n")

    assert "Delete 2 lamps?" in row
    assert "Items 2: Key, Fill" in row
    assert f"Call {first}" in row
    assert len(every) == 2
    assert sorted(line.split("\t")[1] for line in every) == ["Add lamp", "Delete 2 lamps?"]


def test_undo_of_this_and_all_after_it_lists_them_asks_once_and_undoes_them(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "done", ago=60, client=CURSOR)
    desk.ended("Third", "done", ago=30)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 1)
    assert history.undo_back.isVisible()

    click(history.undo_back)
    assert history.steps is not None
    row = history.steps.row
    click(history.steps.buttons[0])

    assert row.title == "Undo 2 steps?"
    assert row.detail.split("\n") == ["Third · claude-code", "Second · cursor"]
    assert [label.split(" [")[0] for label in desk.host.labels] == ["First"]
    until(lambda: "undone in the app" in ended(desk.panel)[0])
    assert history.steps is None


def test_the_list_of_steps_is_shut_without_an_undo(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "done", ago=60)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 1)
    click(history.undo_back)
    assert history.steps is not None

    click(history.steps.buttons[-1])

    assert history.steps is None
    assert len(desk.host.labels) == 2


def test_a_step_of_the_person_in_between_is_named_and_stops_the_undo(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    edit_by_hand(desk)
    desk.ended("Second", "done", ago=60)
    desk.ended("Third", "done", ago=30)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 2)

    click(history.undo_back)
    assert history.steps is not None
    lines = history.steps.row.detail.split("\n")
    click(history.steps.buttons[0])

    assert lines == [
        "Third · claude-code",
        "Second · claude-code",
        "It stops at your own step “Move Cube”. What lies below stays.",
    ]
    assert [label.split(" [")[0] for label in desk.host.labels] == ["First", "Move Cube"]


def test_a_step_of_the_person_on_top_is_named_and_nothing_is_undone(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    edit_by_hand(desk)
    desk.panel.refresh()
    history = desk.panel.history

    choose(desk, 0)

    assert not history.undo_back.isVisible()
    assert not history.undo.isEnabled()
    said = history._refusal.text().replace("\N{ZERO WIDTH SPACE}", "")
    assert said == "Undo your own step “Move Cube” in fake first: it came after."


def test_a_step_that_comes_while_the_list_is_open_shuts_the_list(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "done", ago=60)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 1)
    click(history.undo_back)

    desk.ended("Third", "done", ago=1)
    desk.panel.refresh()

    assert history.steps is None
    assert len(desk.host.labels) == 3


def test_a_picture_of_what_was_asked_stands_in_its_row_and_in_its_card(desk: Desk) -> None:
    pair = (Picture(png(), "The lamps now"), Picture(png("#20d020"), "Without the lamps"))
    asked(desk, "Delete 2 lamps?", pictures=pair)
    history = desk.panel.history
    choose(desk, 0)

    picture = history.model.index(0, 1).data(Qt.ItemDataRole.DecorationRole)
    labels = history.card.pictures.labels

    assert not picture.isNull()
    assert picture.height() <= 2 * QFontMetrics(history.font()).lineSpacing()
    assert [label.accessibleName() for label in labels] == ["The lamps now", "Without the lamps"]
    assert all(not label.pixmap().isNull() for label in labels)


def test_only_the_newest_calls_keep_their_pictures(desk: Desk) -> None:
    pair = (Picture(png(), "The lamps now"),)
    most = call_history._MAX_PICTURED
    for number in range(most + 5):
        asked(desk, f"Delete lamp {number}?", pictures=pair)

    pictured = [bool(record.pictures) for record in desk.panel.history.model.records]

    assert sum(pictured) == most
    assert {bool(record.pictures) for record in desk.recent.records()} == {True, False}


def test_a_picture_that_is_too_large_is_not_kept(desk: Desk) -> None:
    large = Picture(b"x" * (call_history._MAX_PICTURE_BYTES + 1), "The lamps now")

    asked(desk, "Delete 2 lamps?", pictures=(large,))

    (record,) = desk.recent.records()
    assert record.pictures == ()


def test_the_list_shows_whole_rows_at_any_height(desk: Desk) -> None:
    for number in range(20):
        desk.ended(f"Step {number}", "failed", ago=100 - number)
    desk.panel.refresh()
    shown = desk.panel.history.list
    cut = []

    for height in (760, 771, 782, 793):
        desk.panel.resize(340, height)
        QApplication.processEvents()
        cut.append(shown.viewport().height() % shown.sizeHintForRow(0))

    assert cut == [0, 0, 0, 0]


def test_in_a_dock_of_a_window_900_px_high_ten_rows_are_in_sight_while_much_goes_on(
    desk: Desk,
) -> None:
    """The window of our own application leaves the panel 500 px."""
    for number in range(20):
        desk.ended(f"Step {number}", "done", ago=9000 - number)
    desk.furnish()
    until(lambda: desk.presenter.dialogs)
    desk.presenter.dialogs[0].set_aside()
    desk.ended("Turned 12 boxes", "done", ago=1)
    desk.panel.resize(400, 500)
    desk.panel.refresh()
    QApplication.processEvents()
    shown = desk.panel.history.list

    seen = shown.viewport().visibleRegion().boundingRect().height() // shown.sizeHintForRow(0)

    assert desk.panel.pending.isVisible()
    assert seen >= 10


def test_a_row_that_is_too_long_ends_with_an_ellipsis_and_its_tooltip_is_whole(
    desk: Desk,
) -> None:
    message = f"Delete {'all the lamps of the street and ' * 3}the moon?"
    asked(desk, message, reason="I need them")
    row = f"{message} claude-code · declined in the app: “I need them”"

    assert ended(desk.panel) == [row]
    assert message in tip(desk)
    assert "I need them" in tip(desk)


def test_a_card_says_what_was_asked_once(desk: Desk) -> None:
    asked(desk, "Delete 2 lamps?\nAll of them.", reason="no", items=("Key", "Fill"))

    choose(desk, 0)

    assert facts(desk)[:-1] == [
        "Delete 2 lamps?",
        "claude-code · declined in the app: “no”",
        "All of them.",
        "Items 2: Key, Fill",
    ]


def test_a_screen_reader_gets_the_names_of_columns_fields_and_rows(desk: Desk) -> None:
    desk.ended("Add lamp", "done")
    desk.panel.refresh()
    history = desk.panel.history
    header = [history.model.headerData(section, Qt.Orientation.Horizontal) for section in range(2)]

    assert header == ["Call", "Time"]
    assert ended(desk.panel) == ["Add lamp. claude-code · done · no question needed"]
    assert all(field.accessibleName() for field in history.filter.fields)
    assert history.list.accessibleName() == "What agents did"


def test_by_keyboard_alone_a_row_is_chosen_and_all_after_it_is_undone(desk: Desk) -> None:
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "done", ago=60)
    desk.panel.refresh()
    history = desk.panel.history
    activate(desk.panel)
    history.list.setFocus()
    press(history.list, Qt.Key.Key_Down)
    press(history.list, Qt.Key.Key_Down)
    assert history.chosen is not None
    assert history.chosen.title == "First"

    history.undo_back.setFocus()
    press(history.undo_back, Qt.Key.Key_Return)
    assert history.steps is not None
    on_way_out = history.steps.buttons[-1].hasFocus()
    press(history.steps.buttons[0], Qt.Key.Key_Return)

    assert on_way_out
    assert desk.host.labels == []


def test_blenders_panel_gets_the_same_list_from_the_view(desk: Desk) -> None:
    """It draws rows without Qt."""
    desk.ended("First", "done", ago=90)
    desk.ended("Second", "failed", ago=60, client=Client("cursor"), error="move: no prim.")
    desk.ended("Third", "done", ago=30)
    view = PanelView.read(desk)
    calls = view.history(10, client="claude-code")
    first = calls[-1]

    row = view.undo_list(first.id)
    assert row is not None
    PanelView.press(desk, row.key, row.acts[0].verb, lambda _: None)

    assert [call.title for call in calls] == ["Third", "First"]
    assert view.history_clients == {"claude-code": "claude-code", "cursor": "cursor"}
    assert row.title == "Undo 2 steps?"
    assert desk.host.labels == []


def test_assistive_technology_reads_columns_rows_fields_and_buttons(desk: Desk) -> None:
    """By the interfaces that AT-SPI and the screen readers of other systems read."""
    desk.ended("Add lamp", "done", ago=60)
    desk.ended("Move lamp", "done", ago=30)
    desk.panel.refresh()
    history = desk.panel.history
    choose(desk, 1)
    table = QAccessible.queryAccessibleInterface(history.list)

    def name(widget: QWidget) -> str:
        return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)

    cells = [table.child(n).text(QAccessible.Text.Name) for n in range(table.childCount())]
    assert cells[:2] == ["Call", "Time"]
    assert cells[2::2] == [
        "Move lamp. claude-code · done · no question needed",
        "Add lamp. claude-code · done · no question needed",
    ]
    assert [name(field) for field in history.filter.fields] == [
        "Search the history",
        "All clients",  # Qt names a choice by what is chosen
        "All kinds",
    ]
    assert name(history.card.facts) == "About the chosen call"
    assert name(history.undo_back) == "Undo this and all after it…"
