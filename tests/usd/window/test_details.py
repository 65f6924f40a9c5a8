"""The details show an attribute's value and take a typed one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pxr import Gf, Sdf, Usd
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QLineEdit

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.window import values
from dcc_bridge_usd.window.attributes import PATH, Column
from dcc_bridge_usd.window.main_window import MainWindow

Names = Sdf.ValueTypeNames
CAMERA = "/World/Cameras/sq010/sh0010_cam"


@pytest.fixture
def camera(window: MainWindow, session: UsdSession) -> Usd.Prim:
    session.selection = [CAMERA]
    return session.stage.GetPrimAtPath(CAMERA)


def lines(window: MainWindow) -> Iterator[QModelIndex]:
    model = window.details.model
    for group in range(model.rowCount()):
        parent = model.index(group, Column.NAME)
        for row in range(model.rowCount(parent)):
            yield model.index(row, Column.NAME, parent)


def value(window: MainWindow, name: str) -> QModelIndex:
    for line in lines(window):
        if line.data(PATH).rpartition(".")[2] == name:
            return line.siblingAtColumn(Column.VALUE)
    raise LookupError(name)


def test_every_property_of_the_selected_prim_has_a_line(
    window: MainWindow, camera: Usd.Prim
) -> None:
    listed = {line.data(PATH) for line in lines(window)}

    assert listed == {str(each.GetPath()) for each in camera.GetProperties()}


def test_of_a_path_too_long_for_its_line_the_end_is_seen(
    window: MainWindow, session: UsdSession
) -> None:
    name = "a_name_that_is_longer_than_the_details_are_wide_" * 4
    width = window.width()
    session.stage.DefinePrim(f"/World/{name}/{name}/the_end")

    session.selection = [f"/World/{name}/{name}/the_end"]
    line = window.details.findChild(QLineEdit, "path")

    assert isinstance(line, QLineEdit)
    assert line.cursorPosition() == len(line.text())
    assert line.toolTip() == session.selection[0]
    session.selection = [f"/World/{name}"]
    assert window.minimumSizeHint().width() <= window.width() == width


def test_a_typed_value_is_one_undo_step(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    window.details.model.setData(value(window, "fStop"), "5.6")

    assert camera.GetAttribute("fStop").Get() == pytest.approx(5.6)
    assert session.undo_labels == ["Set sh0010_cam.fStop"]
    assert value(window, "fStop").data() == "5.6"


def test_the_same_value_again_is_no_step(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    index = value(window, "clippingRange")

    window.details.model.setData(index, index.data(2))

    assert session.undo_labels == []


def test_text_that_is_no_value_is_refused_with_a_sentence(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    window.details.model.setData(value(window, "fStop"), "long")

    assert "'long' is no float: give a number" in window.statusBar().currentMessage()
    assert session.undo_labels == []


def test_an_agents_edit_is_shown_at_once(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    with session.undo_step("Focus"):
        camera.GetAttribute("focusDistance").Set(123.0)

    assert value(window, "focusDistance").data() == "123"


def test_an_animated_value_cannot_be_typed_over(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    with session.undo_step("Animate"):
        camera.GetAttribute("focusDistance").Set(123.0, 1001)

    index = value(window, "focusDistance")
    assert not window.details.model.setData(index, "1")
    assert not index.flags() & index.flags().ItemIsEditable
    assert index.siblingAtColumn(Column.TYPE).data() == "1 key"


def test_a_prim_that_is_deleted_leaves_the_scenes_own_facts(
    window: MainWindow, camera: Usd.Prim, session: UsdSession
) -> None:
    with session.undo_step("Delete"):
        session.stage.RemovePrim(CAMERA)

    model = window.details.model
    assert [model.item(row).text() for row in range(model.rowCount())] == ["Scene"]


@pytest.mark.parametrize(
    ("type_name", "given"),
    [
        (Names.Bool, True),
        (Names.Int, -3),
        (Names.Float, 0.1),
        (Names.Double, 0.1),
        (Names.Token, "a b"),
        (Names.String, "“ä”"),
        (Names.Asset, Sdf.AssetPath("./x.png")),
        (Names.Float3, Gf.Vec3f(0.1, 1e-7, 3e8)),
        (Names.Double3, Gf.Vec3d(1 / 3, 2, 3)),
        (Names.Int2, Gf.Vec2i(4, 5)),
        (Names.Color3f, Gf.Vec3f(0.2, 0.4, 0.8)),
        (Names.Half4, Gf.Vec4h(1, 2, 3, 4)),
    ],
)
def test_what_is_written_for_editing_reads_as_the_same_value(
    type_name: Sdf.ValueTypeName, given: object
) -> None:
    stage = Usd.Stage.CreateInMemory()
    attribute = stage.DefinePrim("/a").CreateAttribute("x", type_name)
    attribute.Set(given)

    read = values.read(attribute)

    assert values.is_editable(attribute)
    attribute.Set(values.parse(attribute, values.exact(read)))
    assert values.read(attribute) == read


@pytest.mark.parametrize(
    ("type_name", "typed", "refusal"),
    [
        (Names.Float, "x", "'x' is no float: give a number"),
        (Names.Float, "1e40", "is no float: give a number up to"),
        (Names.Int, "1.5", "1.5 is no int: give a whole number"),
        (Names.Bool, "yes", "'yes' is no bool: give true or false"),
        (Names.Float3, "1, 2", "is no float3: give a list of 3 numbers"),
        (Names.Float3, "1, 2, x", "'x' is no float3: give a number"),
    ],
)
def test_what_does_not_read_is_refused_as_it_is_to_an_agent(
    type_name: Sdf.ValueTypeName, typed: str, refusal: str
) -> None:
    stage = Usd.Stage.CreateInMemory()
    attribute = stage.DefinePrim("/a").CreateAttribute("x", type_name)

    with pytest.raises(ValueError, match=refusal):
        values.parse(attribute, typed)
