"""The window tells of its scene and server, and asks before it loses anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Gf
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.window.main_window import MainWindow
from dcc_bridge_usd.window.space import Eye

Button = QMessageBox.StandardButton


@pytest.fixture
def closed(window: MainWindow) -> list[str]:
    """Grows when the window was closed for good."""
    calls: list[str] = []
    window.closed.connect(lambda: calls.append("closed"))
    return calls


def change(session: UsdSession) -> None:
    with session.undo_step("Hide the set"):
        session.stage.GetAttributeAtPath("/World/Set.visibility").Set("invisible")


def answer(window: MainWindow, button: Button) -> None:
    assert window.documents.question
    window.documents.question.button(button).click()


def test_the_title_names_the_scene_and_marks_changes(
    window: MainWindow, session: UsdSession
) -> None:
    assert window.windowTitle() == "shot_010_layout.usda[*] \N{EN DASH} dcc_bridge"
    assert not window.isWindowModified()

    change(session)
    assert window.isWindowModified()
    session.undo()
    assert not window.isWindowModified()


def test_it_fits_the_screen_with_its_frame(window: MainWindow) -> None:
    room = window.screen().availableGeometry()

    assert window.width() < room.width()
    assert window.height() < room.height()


def test_the_status_bar_counts_and_says_where_the_server_is(window: MainWindow) -> None:
    assert window.server_text == "MCP: starting…"
    assert "127 cameras" in window.summary_text

    window.set_server("MCP: 127.0.0.1:41234", True)

    assert window.server_text == "MCP: 127.0.0.1:41234"


def test_undo_and_redo_are_named_after_their_steps(window: MainWindow, session: UsdSession) -> None:
    assert not window.commands.undo.isEnabled()

    change(session)
    assert window.commands.undo.text() == "&Undo Hide the set"
    window.commands.undo.trigger()

    assert window.commands.redo.text() == "&Redo Hide the set"
    assert not window.commands.undo.isEnabled()


def test_a_click_in_the_history_goes_there(window: MainWindow, session: UsdSession) -> None:
    for name in ("one", "two", "three"):
        with session.undo_step(name):
            session.stage.DefinePrim(f"/World/{name}")
    shown = [window.history.item(row).text() for row in range(window.history.count())]
    assert shown == ["Start", "one", "two", "three"]

    window.history.itemClicked.emit(window.history.item(1))
    assert session.undo_labels == ["one"]
    assert window.history.currentRow() == 1

    window.history.itemClicked.emit(window.history.item(3))
    assert session.undo_labels == ["one", "two", "three"]


def test_a_clean_window_closes_without_a_question(window: MainWindow, closed: list[str]) -> None:
    window.close()

    assert closed == ["closed"]
    assert window.documents.question is None


@pytest.mark.parametrize(
    ("button", "told", "is_saved"),
    [
        (Button.Cancel, [], False),
        (Button.Discard, ["closed"], False),
        (Button.Save, ["closed"], True),
    ],
)
def test_closing_with_unsaved_changes_asks(
    window: MainWindow,
    session: UsdSession,
    closed: list[str],
    button: Button,
    told: list[str],
    is_saved: bool,
) -> None:
    change(session)

    window.close()
    window.close()
    was_open = window.isVisible()
    answer(window, button)

    assert was_open
    assert closed == told
    assert window.isVisible() == (told == [])
    assert session.modified != is_saved
    assert session.path
    assert ('visibility = "invisible"' in session.path.read_text()) == is_saved


def test_a_save_that_fails_does_not_close(
    window: MainWindow,
    session: UsdSession,
    closed: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(path: Path | None = None) -> Path:
        raise OSError("The disk is full.")

    monkeypatch.setattr(session, "save", full)
    change(session)

    window.close()
    answer(window, Button.Save)

    assert closed == []
    boxes = [box.informativeText() for box in window.findChildren(QMessageBox)]
    assert "The disk is full." in boxes


def test_saving_under_another_name_keeps_the_outliner_as_it_was(
    window: MainWindow, session: UsdSession, tmp_path: Path
) -> None:
    (index,) = window.outliner.model.indexes(["/World/Props"])
    window.outliner.view.expand(index)
    window.viewport.grab()
    eye = window.viewport.eye = window.viewport.eye.orbit(0.3, 0.1).zoom(0.5)

    session.save(tmp_path / "other.usda")

    assert window.windowTitle().startswith("other.usda")
    assert window.outliner.view.isExpanded(window.outliner.model.indexes(["/World/Props"])[0])
    assert window.viewport.eye == eye


def test_another_scene_is_shown_whole(
    window: MainWindow, session: UsdSession, tmp_path: Path
) -> None:
    other = tmp_path / "other.usda"
    other.write_text(
        '#usda 1.0\ndef Xform "Elsewhere"\n{\n    def Camera "only"\n    {\n    }\n}\n'
    )

    window.documents.open_file(other)

    assert "1 camera " in f"{window.summary_text} "
    assert window.outliner.model.indexes(["/Elsewhere/only"])
    assert window.commands.undo.isEnabled() is False


def test_no_markup_of_a_files_name_is_drawn(
    window: MainWindow, session: UsdSession, tmp_path: Path
) -> None:
    """Neither in the question about a scene nor in what is said of a file."""
    session.save(tmp_path / "<b>shot<img src='x'>.usda")
    change(session)

    window.documents.leave(lambda: None)
    window.documents.open_file(tmp_path / "<a href='https://x'>y.usda")

    boxes = window.findChildren(QMessageBox)
    texts = [label for box in boxes for label in box.findChildren(QLabel) if label.text()]
    assert len(boxes) == 2
    assert any("<b>shot<img" in label.text() for label in texts)
    assert any("<a href" in label.text() for label in texts)
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in texts)
    answer(window, Button.Cancel)


def test_a_file_that_is_none_is_complained_of_and_the_scene_stays(
    window: MainWindow, session: UsdSession, tmp_path: Path
) -> None:
    window.documents.open_file(tmp_path / "nowhere.usda")

    assert window.findChildren(QMessageBox)
    assert session.scene() == "shot_010_layout.usda"


def test_a_click_in_the_viewport_selects_what_is_there(
    window: MainWindow, session: UsdSession
) -> None:
    viewport = window.viewport
    viewport.grab()
    drawn = next(each for each in viewport.projections if each.shape.path.endswith("House_04/Roof"))

    QTest.mouseClick(
        viewport,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        drawn.place.toPoint(),
    )
    assert session.selection == [drawn.shape.path]

    QTest.mouseClick(
        viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(2, 2)
    )
    assert session.selection == []


def test_a_drag_turns_the_eye_and_selects_nothing(window: MainWindow, session: UsdSession) -> None:
    session.selection = ["/World/Props"]
    before = window.viewport.eye

    QTest.mousePress(window.viewport, Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    QTest.mouseMove(window.viewport, QPoint(360, 320))
    QTest.mouseRelease(window.viewport, Qt.MouseButton.LeftButton, pos=QPoint(360, 320))

    assert window.viewport.eye.target == before.target
    assert session.selection == ["/World/Props"]


def test_what_is_hidden_is_not_drawn(window: MainWindow, session: UsdSession) -> None:
    change(session)

    paths = [shape.path for shape in window.viewport.scenery.shapes]
    assert not [path for path in paths if path.startswith("/World/Set")]
    assert window.viewport.path_at(QPointF(-5, -5)) == ""


def test_a_line_is_cut_at_the_eye_whichever_end_is_behind() -> None:
    screen = Eye(distance=10.0, pitch=0.0, yaw=0.0).screen(100, 100)
    ahead = screen.from_eye(Gf.Vec3d(1, 0, 0))
    behind = screen.from_eye(Gf.Vec3d(1, 0, 50))

    for line in ([ahead, behind], [behind, ahead]):
        xs = sorted(x for x, _, depth in screen.outline(line)[-2:] if depth > 0)
        assert xs[0] == pytest.approx(screen.on_screen(ahead)[0])
        assert xs[1] > 1000
    assert screen.outline([behind, behind]) == []


@pytest.mark.parametrize("plan", [False, True])
def test_framing_puts_everything_into_the_picture(window: MainWindow, plan: bool) -> None:
    viewport = window.viewport
    viewport.set_plan(plan)
    viewport.frame_all()
    viewport.grab()

    houses = [each for each in viewport.projections if "/House_" in each.shape.path]
    assert houses
    assert all(viewport.rect().contains(each.place.toPoint()) for each in houses)


def test_what_a_skill_wants_shown_is_shown(window: MainWindow, session: UsdSession) -> None:
    """The viewport looks at it, and the selection stays."""
    camera = "/World/Cameras/sq010/sh0010_cam"
    before = window.viewport.eye

    session.frame([camera])
    shown = window.viewport.eye
    session.selection = [camera]
    window.viewport.frame_selected()

    assert before != shown == window.viewport.eye
