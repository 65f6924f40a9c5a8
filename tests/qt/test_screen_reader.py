"""A screen reader is told what everything is, what is wrong, and that the time is nearly up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton

from dcc_bridge.qt import binding, screen_reader

from .spoken_card import AFTER, NOW, deletion, export
from .stage import Stage, drawn, go_to, press, until
from .test_buttons import Clock

ROOT: Final = Path(__file__).parents[2]
SYSTEM_PYTHON: Final = "/usr/bin/python3"
NEEDED: Final = ("xvfb-run", "dbus-run-session", "openbox", SYSTEM_PYTHON)
CONTROLS: Final = {
    "push button",
    "check box",
    "text",
    "combo box",
    "tree",
    "list",
    "table cell",
    "list item",
    "table column header",
    "image",
}
Part = dict[str, Any]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects the events for screen readers."""
    events: list[Any] = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", events.append)
    return events


def announced(told: list[Any]) -> list[str]:
    return [one.message() for one in told if one.type() == QAccessible.Event.Announcement]


def test_a_form_that_cannot_be_sent_announces_its_first_error(
    app: QApplication, told: list[Any]
) -> None:
    dialog, heard = drawn(export())

    dialog.submit()

    assert heard == []
    assert announced(told) == ["Name: Please fill this in."]
    assert "Please fill this in." in dialog.form.rows[0].editor.accessibleDescription()


def test_the_last_half_minute_is_announced_once_and_stands_in_words(
    app: QApplication, told: list[Any]
) -> None:
    clock = Clock(75, 300)
    countdown = clock.countdown
    warned = []
    for _ in range(70):
        clock.go(1)
        warned.append(countdown.warning.isVisible())

    assert warned == [False] * 44 + [True] * 26
    assert announced(told) == ["This question closes in 30 seconds."]
    countdown.more.click()
    assert not countdown.warning.isVisible()


@pytest.mark.parametrize(("soon", "latest"), [(20, 300), (300, 20), (20, 20)])
def test_of_a_short_time_only_the_second_half_is_warned_of(
    app: QApplication, soon: float, latest: float
) -> None:
    clock = Clock(soon, latest)
    warned = []
    for _ in range(18):
        clock.go(1)
        warned.append(clock.countdown.warning.isVisible())

    assert warned == [False] * 9 + [True] * 9


def test_a_line_of_text_selects_its_text_only_after_its_focus_is_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else Orca says nothing of the line."""
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    stage.show(export())
    go_to(stage.dialog)
    line = stage.dialog.form.rows[1].editor
    line.setText("12")
    order: list[str] = []
    line.selectionChanged.connect(lambda: order.append("cursor"))
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: order.append(event.type().name)
    )

    line.setFocus(Qt.FocusReason.TabFocusReason)
    before = list(order)
    until(line.hasSelectedText)

    assert (before, order) == ([], ["cursor"])


def test_a_key_that_comes_at_once_replaces_the_text(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    stage.show(export())
    go_to(stage.dialog)
    line = stage.dialog.form.rows[1].editor
    line.setText("12")

    line.setFocus(Qt.FocusReason.TabFocusReason)
    press(line, Qt.Key.Key_7)

    assert line.text() == "7"


def test_an_older_qt_is_told_that_a_widget_has_something_to_say(
    app: QApplication, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Older:
        QAccessible = binding.QAccessible
        QAccessibleEvent = binding.QAccessibleEvent

    monkeypatch.setattr(screen_reader, "qt", Older)
    widget = QLineEdit()

    screen_reader.announce(widget, "It is late.")

    assert [(one.object(), one.type()) for one in told] == [(widget, QAccessible.Event.Alert)]


def test_the_button_that_clears_a_line_has_a_name(app: QApplication) -> None:
    dialog, _ = drawn(deletion())
    assert dialog.preview is not None

    buttons = dialog.preview.search.findChildren(QToolButton)

    assert [button.accessibleName() for button in buttons] == ["Clear"]


def test_a_check_box_that_is_left_out_says_so(app: QApplication) -> None:
    """AT-SPI has no word for it: Orca says that the box is checked."""
    dialog, _ = drawn(export())
    assert dialog.form is not None
    box = dialog.form.rows[2].editor

    before = box.accessibleDescription()
    box.click()

    assert (before, box.accessibleDescription()) == ("Left out.", "")


def test_rows_that_are_unticked_and_what_is_left_are_said(
    app: QApplication, told: list[Any]
) -> None:
    dialog, _ = drawn(deletion())
    assert dialog.preview is not None
    items = dialog.preview.items
    group = items.index(0)
    item = items.index(0, 0, group)

    items.setData(item, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)

    spoken = [one.data(Qt.ItemDataRole.AccessibleTextRole) for one in (group, item)]
    assert spoken == [
        "/World/Cameras/sq000, partly left out",
        "/World/Cameras/sq000/sh0000_cam, left out",
    ]
    assert announced(told) == ["Delete 126 of 127 cameras"]


@cache
def reason_why_not() -> str:
    """Say what is missing for a screen reader; "" where nothing is."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"{missing[0]} is not installed"
    looks = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    done = subprocess.run([SYSTEM_PYTHON, "-c", looks], capture_output=True, check=False)
    if done.returncode:
        return "the system's Python has no bindings of AT-SPI (gir1.2-atspi-2.0)"
    return ""


def in_a_session(*command: str | Path, **more: str) -> str:
    """Run a command with a screen, a bus and a window manager of its own; return what it prints."""
    if reason_why_not():
        pytest.skip(reason_why_not())
    done = subprocess.run(
        ["xvfb-run", "-a", "dbus-run-session", "--", SYSTEM_PYTHON, *command],
        cwd=ROOT,
        env={**os.environ, **more, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def read(name: str, *, press: str = "", hear: str = "") -> dict[str, Any]:
    """Have a question read by AT-SPI, a button pressed, and the question read again."""
    reader = Path(__file__).with_name("atspi_reader.py")
    shown = (sys.executable, "-m", "tests.qt.spoken_card", name)
    printed = in_a_session(reader, press, hear, *shown, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    told: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return told


def named(parts: list[Part], role: str) -> list[str]:
    return [part["name"] for part in parts if part["role"] == role]


@pytest.mark.real
def test_at_spi_reads_a_deletion_of_127_and_answers_it() -> None:
    told = read("deletion", press="Not now")

    parts = told["before"]
    controls = [one for one in parts if one["role"] in CONTROLS or "focusable" in one["states"]]
    assert [one for one in controls if not one["name"] or one["role"] not in CONTROLS] == []
    assert named(parts, "dialog") == ["fake: a question for you"]
    assert named(parts, "image") == [NOW, AFTER]
    assert named(parts, "text") == ["Search by name or type"]
    assert named(parts, "tree") == ["Affected items"]
    assert named(parts, "table column header") == ["Item", "Number"]
    assert named(parts, "table cell")[:2] == ["/World/Cameras/sq000", "20 cameras"]
    rows = [one for one in parts if one["role"] == "table cell"]
    assert {"checkable", "checked", "expandable"} <= set(rows[0]["states"])
    assert "All that are shown" in named(parts, "check box")
    assert named(parts, "push button")[-4:] == [
        "Decline",
        "Other ways to decline",
        "Not now",
        "Delete 127 cameras",
    ]
    assert parts[-1]["description"] == "One undo brings all of it back."
    assert told["answer"].strip() == "answered cancel"


@pytest.mark.real
def test_at_spi_reads_a_form_and_hears_the_error_of_a_field() -> None:
    told = read("export", press="Send", hear="Please fill this in.")

    before, after = told["before"], told["after"]
    controls = [one for one in before if one["role"] in CONTROLS or "focusable" in one["states"]]
    assert [one for one in controls if not one["name"] or one["role"] not in CONTROLS] == []
    assert named(before, "text") == ["Name, required", "Frames, optional"]
    assert named(before, "check box")[-1] != ""
    assert named(before, "list item") == ["mesh", "camera"]
    (choice,) = [one for one in before if one["role"] == "combo box"]
    assert choice["description"] == "Format, optional"
    (name,) = [one for one in after if one["name"] == "Name, required" and one["role"] == "text"]
    assert name["description"] == "Of the file.\nPlease fill this in."
    assert "focused" in name["states"]
    assert told["heard"][-1] == ["Name: Please fill this in.", 2]


@pytest.mark.real
def test_at_spi_hears_that_the_time_is_nearly_up() -> None:
    told = read("ending", press="More time", hear="This question closes")

    assert told["heard"][-1] == ["This question closes in 20 seconds.", 2]


def orca_says(name: str, folder: Path, *keys: str) -> str:
    """Have Orca read a question aloud while keys are pressed, and return its words."""
    if shutil.which("orca") is None or shutil.which("xdotool") is None:
        pytest.skip("orca or xdotool is not installed")
    folder.chmod(0o700)
    session = Path(__file__).with_name("orca_session.py")
    shown = (sys.executable, "-m", "tests.qt.spoken_card", name)
    home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    return in_a_session(session, folder, ",".join(keys), *shown, **home)


@pytest.mark.real
@pytest.mark.long  # how much it says depends on how fast the machine is
def test_orca_reads_the_deletion_of_127_as_tab_goes_through_it(tmp_path: Path) -> None:
    said = orca_says("deletion", tmp_path, *["Tab"] * 12, "Down", "Tab")

    for words in (
        "fake: a question for you dialog Delete 127 cameras?",
        "claude-code asks, in fake.scene 127 cameras in 7 groups One undo brings all of it back.",
        "Not now push button.\nClose without an answer. Nothing is changed.",
        "Decline push button.",
        "Other ways to decline push button.",
        "Ask in Claude push button.",
        "More time push button.",
        "More about who asks check box not checked.",
        f"{NOW} image.\nEnter shows it large.\n{AFTER} image.",
        "All that are shown check box checked.",
        "Select in the scene push button.",
        "Search by name or type text.",
        "Affected items tree",
        "/World/Cameras/sq000 collapsed.",
        "/World/Cameras/sq001 collapsed.\n20 cameras.",
        "Delete 127 cameras push button.\nOne undo brings all of it back.",
    ):
        assert words in said


@pytest.mark.real
@pytest.mark.long  # how much it says depends on how fast the machine is
def test_orca_reads_each_field_of_a_form_and_the_error_of_one(tmp_path: Path) -> None:
    said = orca_says("export", tmp_path, *["Tab"] * 4, "ctrl+Return", "Tab")

    for words in (
        "Name, required text.\nOf the file.",
        "Frames, optional text.\nAt least 1.",
        "With what is hidden, optional check box checked.\nLeft out.",
        "Format, optional combo box.\n(left out)",
        "Parts, optional.\nList with 2 items.",
        "Name, required text.\nOf the file. Please fill this in.",
    ):
        assert words in said
