"""The outliner shows the stage, and goes along with whoever changes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pxr import Sdf
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QLineEdit

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.window import scene
from dcc_bridge_usd.window.main_window import MainWindow
from dcc_bridge_usd.window.outliner import Outliner
from dcc_bridge_usd.window.prims import Column
from tests.tiers import repeated


@pytest.fixture
def outliner(window: MainWindow) -> Outliner:
    QAbstractItemModelTester(window.outliner.model, window)
    return window.outliner


def below(outliner: Outliner, parent: QModelIndex | None = None) -> Iterator[QModelIndex]:
    """Give every index of the first column, parents first."""
    parent = parent or QModelIndex()
    for row in range(outliner.model.rowCount(parent)):
        index = outliner.model.index(row, Column.NAME, parent)
        yield index
        yield from below(outliner, index)


def shown(outliner: Outliner) -> list[str]:
    return [outliner.model.path(index) for index in below(outliner)]


def prims(session: UsdSession) -> list[str]:
    return [str(prim.GetPath()) for prim in session.stage.TraverseAll()]


def cameras(session: UsdSession) -> list[str]:
    stage = session.stage
    return [str(prim.GetPath()) for prim in stage.Traverse() if prim.GetTypeName() == "Camera"]


def remove(session: UsdSession, *paths: str) -> None:
    with session.undo_step("Remove"):
        for path in paths:
            session.stage.RemovePrim(path)


def selected(outliner: Outliner) -> set[str]:
    return set(outliner.model.paths(outliner.view.selectionModel().selection()))


def test_an_agents_edit_its_undo_and_its_redo_are_shown(
    outliner: Outliner, session: UsdSession
) -> None:
    before = prims(session)

    remove(session, *cameras(session)[::4])
    after = prims(session)
    assert shown(outliner) == after

    session.undo()
    assert shown(outliner) == before
    session.redo()
    assert shown(outliner) == after


def test_a_new_order_of_siblings_is_shown(outliner: Outliner, session: UsdSession) -> None:
    world = session.stage.GetPrimAtPath("/World")
    names = [child.GetName() for child in world.GetAllChildren()]

    with session.undo_step("Reorder"):
        world.SetChildrenReorder(names[::-1])

    assert shown(outliner) == prims(session)


def test_expansion_survives_an_agents_edit(outliner: Outliner, session: UsdSession) -> None:
    (index,) = outliner.model.indexes(["/World/Props"])
    outliner.view.expand(index)

    remove(session, "/World/Looks", "/World/Cameras")

    assert outliner.view.isExpanded(outliner.model.indexes(["/World/Props"])[0])


def test_an_edit_outside_any_step_is_shown_at_the_next_turn(
    outliner: Outliner, session: UsdSession
) -> None:
    session.stage.DefinePrim("/World/Stray", "Scope")
    QTest.qWait(1)

    assert "/World/Stray" in shown(outliner)


def test_what_a_skill_selects_is_selected_and_seen(outliner: Outliner, session: UsdSession) -> None:
    wanted = cameras(session)[30:50]

    session.selection = wanted

    assert selected(outliner) == set(wanted)
    place = outliner.view.visualRect(outliner.model.indexes(wanted)[0])
    assert outliner.view.viewport().rect().contains(place)


def test_what_the_person_selects_is_the_sessions_selection_the_last_click_first(
    outliner: Outliner, session: UsdSession
) -> None:
    first, second = outliner.model.indexes(cameras(session)[:2])
    flags = QItemSelectionModel.SelectionFlag
    selection = outliner.view.selectionModel()

    selection.setCurrentIndex(first, flags.Select | flags.Rows)
    selection.setCurrentIndex(second, flags.Select | flags.Rows)

    assert session.selection == cameras(session)[1::-1]


def test_the_selection_survives_an_edit_elsewhere(outliner: Outliner, session: UsdSession) -> None:
    kept = cameras(session)[5:8]
    session.selection = kept

    remove(session, "/World/Props", cameras(session)[0])

    assert session.selection == kept
    assert selected(outliner) == set(kept)


def test_an_agents_edit_does_not_scroll_away_from_what_the_person_looks_at(
    outliner: Outliner, session: UsdSession
) -> None:
    session.selection = cameras(session)[100:101]
    outliner.view.scrollToTop()

    remove(session, "/World/Props")
    QTest.qWait(1)

    assert outliner.view.verticalScrollBar().value() == 0
    assert selected(outliner) == set(session.selection)


def test_deleting_the_selection_and_undoing_it_breaks_nothing(
    window: MainWindow, outliner: Outliner, session: UsdSession
) -> None:
    before = prims(session)
    session.selection = cameras(session)[10:20]

    window.commands.delete.trigger()
    assert len(cameras(session)) == 117
    assert session.selection == []
    assert session.undo_labels == ["Delete 10 prims"]

    window.commands.undo.trigger()
    assert shown(outliner) == before
    window.commands.redo.trigger()
    assert len(cameras(session)) == 117


def test_f2_renames_in_one_undo_step_and_keeps_the_selection(
    window: MainWindow, outliner: Outliner, session: UsdSession
) -> None:
    path = cameras(session)[3]
    session.selection = [path]
    (row,) = (index.row() for index in outliner.model.indexes([path]))

    window.commands.rename.trigger()
    editor = outliner.view.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("hero_cam")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.qWait(1)  # Qt commits at the next turn of its loop

    renamed = f"{path.rpartition('/')[0]}/hero_cam"
    assert session.undo_labels == [f"Rename {path.rpartition('/')[2]} to hero_cam"]
    assert session.selection == [renamed]
    assert [index.row() for index in outliner.model.indexes([renamed])] == [row]


def test_a_rename_in_progress_survives_an_agents_edit(
    window: MainWindow, outliner: Outliner, session: UsdSession
) -> None:
    path = cameras(session)[3]
    session.selection = [path]
    window.commands.rename.trigger()
    editor = outliner.view.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("hero_cam")

    remove(session, "/World/Props", cameras(session)[1], cameras(session)[5])
    QTest.qWait(1)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.qWait(1)

    assert session.undo_labels[1:] == [f"Rename {path.rpartition('/')[2]} to hero_cam"]


@pytest.mark.parametrize("name", ["7up", "two words", "", "Looks"])
def test_a_name_that_cannot_be_is_refused_with_a_sentence(
    outliner: Outliner, session: UsdSession, name: str
) -> None:
    said: list[str] = []
    outliner.refused.connect(said.append)

    assert not outliner.model.setData(outliner.model.indexes(["/World/Set"])[0], name)

    assert len(said) == 1
    assert session.undo_labels == []
    assert session.stage.GetPrimAtPath("/World/Set")


def test_the_filter_leaves_what_fits_and_its_ancestors(outliner: Outliner) -> None:
    outliner.filter.setText("lamp light")

    left = [path for path in shown(outliner) if "Lamp" in path]
    assert set(shown(outliner)) - set(left) == {"/World", "/World/Lights"}
    assert len(left) == 8


def test_the_filter_hides_but_does_not_deselect(outliner: Outliner, session: UsdSession) -> None:
    session.selection = ["/World/Props"]

    outliner.filter.setText("sky")
    assert session.selection == ["/World/Props"]
    outliner.filter.clear()

    assert selected(outliner) == {"/World/Props"}


def test_clearing_the_filter_brings_the_old_expansion_back(outliner: Outliner) -> None:
    before = outliner.view.isExpanded(outliner.model.indexes(["/World/Props"])[0])

    outliner.filter.setText("bench")
    outliner.filter.clear()

    assert outliner.view.isExpanded(outliner.model.indexes(["/World/Props"])[0]) == before
    assert outliner.view.isExpanded(outliner.model.indexes(["/World"])[0])


def test_a_click_on_the_eye_hides_in_one_undo_step(outliner: Outliner, session: UsdSession) -> None:
    (index,) = outliner.model.indexes(["/World/Set"])

    outliner.view.clicked.emit(index.siblingAtColumn(Column.EYE))

    assert not outliner.model.is_visible("/World/Set/Buildings")
    assert session.undo_labels == ["Hide Set"]


@pytest.mark.parametrize("count", repeated(2_000, 10_000))
def test_thousands_of_prims_open_and_go_in_a_moment(count: int, window: MainWindow) -> None:
    session = window.session
    outliner = window.outliner
    layer = session.stage.GetRootLayer()
    with session.undo_step("Many"), Sdf.ChangeBlock():
        for number in range(count):
            prim = Sdf.CreatePrimInLayer(layer, f"/World/Many/prim_{number:05d}")
            prim.specifier = Sdf.SpecifierDef
            prim.typeName = "Camera"
    outliner.view.expand(outliner.model.indexes(["/World/Many"])[0])

    scene.delete(session, [f"/World/Many/prim_{number:05d}" for number in range(0, count, 4)])

    # One signal a row took two minutes of ten thousand: the test's own limit is what fails then.
    assert len(shown(outliner)) == len(prims(session)) > 0.75 * count
