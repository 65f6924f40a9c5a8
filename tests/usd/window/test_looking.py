"""Pictures for an agent while a person looks at the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from pxr import UsdGeom
from PySide6.QtGui import QImage

from dcc_bridge.verbs.operations import Shot
from dcc_bridge.verbs.previews import Previews
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations as usd_operations
from dcc_bridge_usd.window.main_window import MainWindow
from tests.verbs.every_port import EveryPort

LAMP = "/World/Props/Lamp_01"


@pytest.fixture
def operations(session: UsdSession) -> EveryPort:
    return cast("EveryPort", usd_operations(session))


def drawn(operations: EveryPort, shots: Sequence[Shot], width: int, height: int) -> QImage:
    return QImage.fromData(operations.draw(shots, width, height, "solid"))


def difference(one: QImage, other: QImage) -> float:
    """Give how far the pictures are apart, of 255, on the average of a coarse grid."""
    spots = [(x, y) for x in range(8, one.width(), 16) for y in range(8, one.height(), 16)]
    pairs = [(one.pixelColor(x, y), other.pixelColor(x, y)) for x, y in spots]
    return sum(abs(a.lightness() - b.lightness()) for a, b in pairs) / len(pairs)


@pytest.mark.core
@pytest.mark.parametrize("axis", ["Y", "Z"])
@pytest.mark.parametrize("is_plan", [False, True])
def test_an_agent_sees_what_the_person_sees_and_moves_nothing(
    window: MainWindow, session: UsdSession, operations: EveryPort, axis: str, is_plan: bool
) -> None:
    """The window's own picture and ours are the same but for the frame of what is selected."""
    with session.undo_step("Stand it up"):
        UsdGeom.SetStageUpAxis(session.stage, axis)
    viewport = window.viewport
    viewport.resize(640, 480)
    viewport.frame_all()
    viewport.set_plan(is_plan)
    seen = viewport.grab().toImage()
    session.selection = [LAMP]
    eye = viewport.eye
    digest = session.scene_digest()

    ours = drawn(operations, [operations.viewpoint("person")], viewport.width(), viewport.height())

    assert difference(ours, seen) < 2
    assert viewport.eye == eye
    assert session.selection == [LAMP]
    assert session.scene_digest() == digest
    turned = drawn(operations, [Shot((0, 300, 3000), (0, 0, 0), (0, 1, 0), 40)], *size_of(seen))
    assert difference(turned, seen) > 5


def size_of(image: QImage) -> tuple[int, int]:
    return image.width(), image.height()


def test_an_agent_sees_its_own_edits_before_the_window_does(
    window: MainWindow, session: UsdSession, operations: EveryPort
) -> None:
    """The window is told of the edits of a step once that is closed."""
    size = size_of(window.viewport.grab().toImage())
    view = [operations.viewpoint("person")]
    before = drawn(operations, view, *size)

    with session.undo_step("Clear"):
        session.stage.RemovePrim("/World")
        after = drawn(operations, view, *size)

    assert difference(before, after) > 5


def test_the_pictures_of_a_question_are_what_the_person_sees_now_and_after(
    window: MainWindow, session: UsdSession, operations: EveryPort
) -> None:
    eye = window.viewport.eye
    every = Previews(operations, operations, lambda: 0.0)
    preview = every.of_call()
    preview.expect_loss()
    with session.undo_step("Try"):
        trial = session.trial()
        session.stage.RemovePrim("/World/Set")
        preview.draw_after(["/World/Set"])
        trial.revert()

    now, after = preview.pictures(["/World/Set"])

    pictures = [QImage.fromData(each.png) for each in (now, after)]
    assert now.says == "Now: 1 xform, marked"
    assert difference(*pictures) > 1
    assert window.viewport.eye == eye
