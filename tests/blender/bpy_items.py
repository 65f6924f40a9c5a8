"""The list of a question's items, run inside of Blender by ``test_operations.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from dcc_bridge.spi.drawing import Consent
from dcc_bridge_blender import plugin
from dcc_bridge_blender.ui import items

NAMES = ("Cube", "Light", "Camera")
KINDS = ("MESH", "LIGHT", "CAMERA")


@pytest.fixture(params=["first", "again"])
def rows() -> Iterator[Any]:
    """The rows of the list, of a plug-in that is registered, and taken out afterwards."""
    plugin.register()
    windows: Any = bpy.context.window_manager
    yield windows.dcc_bridge_items
    plugin.unregister()
    assert not hasattr(bpy.types.WindowManager, "dcc_bridge_items")
    assert not hasattr(bpy.types, "DCC_BRIDGE_OT_working")


def test_an_item_that_is_unticked_is_left_out(rows: Any) -> None:
    touched: list[bool] = []
    listed = items.Items(Consent(NAMES, KINDS, may_take_fewer=True), lambda: touched.append(True))
    listed.fill()
    rows["Light"].is_kept = False
    listed.fill()

    assert [row.icon for row in rows] == [f"OUTLINER_OB_{kind}" for kind in KINDS]
    assert listed.left_out() == ("Light",)
    assert listed.kept() == ["Cube", "Camera"]
    assert touched == [True]


def test_where_all_have_to_go_nothing_is_left_out(rows: Any) -> None:
    listed = items.Items(Consent(NAMES, KINDS), lambda: None)
    listed.fill()
    rows["Light"].is_kept = False

    assert listed.left_out() == ()
    assert listed.kept() == list(NAMES)


def test_the_rows_of_a_question_that_ended_are_dropped(rows: Any) -> None:
    listed = items.Items(Consent(NAMES, KINDS, may_take_fewer=True), lambda: None)
    listed.fill()
    items.clear()

    assert len(rows) == 0
    assert items.current is None
    assert listed.left_out() == ()


def test_what_was_unticked_stays_left_out_when_the_rows_are_gone(rows: Any) -> None:
    listed = items.Items(Consent(NAMES, KINDS, may_take_fewer=True), lambda: None)
    listed.fill()
    rows["Light"].is_kept = False

    rows.clear()

    assert listed.left_out() == ("Light",)
    listed.fill()
    assert [row.is_kept for row in rows] == [True, False, True]
    assert listed.left_out() == ("Light",)


def test_what_is_unticked_for_another_question_is_not_left_out_here(rows: Any) -> None:
    listed = items.Items(Consent(NAMES, KINDS, may_take_fewer=True), lambda: None)
    listed.fill()
    rows["Light"].is_kept = False
    other = items.Items(Consent(("Cube", "Rig"), may_take_fewer=True), lambda: None)
    other.fill()
    rows["Cube"].is_kept = False

    assert listed.left_out() == ("Light",)
    assert other.left_out() == ("Cube",)


def test_nothing_is_agreed_to_before_there_is_a_list_to_untick(rows: Any) -> None:
    listed = items.Items(Consent(NAMES, KINDS, may_take_fewer=True), lambda: None)

    assert listed.left_out() == NAMES
    assert listed.kept() == []
