"""What goes is seen in Maya, as far as its stand-in has it: the nodes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import fill
from tests.hosts.losses_contract import ROWS, Kind, Losing, LossesContract


def cmds() -> Any:
    return sys.modules["maya.cmds"]


def delete_and(then: Any) -> None:
    cmds().delete("|key")
    then()


def swap() -> None:
    cmds().rename("|key", "aside")
    cmds().rename("|cameras", "key")
    cmds().rename("|aside", "cameras")


KINDS = {
    "nothing": Kind(lambda: None),
    "deleted": Kind(lambda: cmds().delete("|key"), ("|key",)),
    "made_again": Kind(
        lambda: delete_and(lambda: cmds().createNode("transform", name="key")), ("|key",)
    ),
    "name_taken": Kind(lambda: delete_and(lambda: cmds().rename("|cameras", "key")), ("|key",)),
    "made": Kind(lambda: cmds().createNode("transform", name="new")),
    "made_and_deleted": Kind(lambda: cmds().delete(cmds().createNode("transform", name="passing"))),
    "renamed": Kind(lambda: cmds().rename("|key", "lamp")),
    "names_swapped": Kind(swap),
    "moved": Kind(lambda: cmds().setAttr("key.translateX", 7.0)),
}


class TestLosses(LossesContract):
    KINDS = KINDS
    HAS_NOT = dict.fromkeys(ROWS.keys() - KINDS.keys(), "not seen: the stand-in has none to lose")

    @pytest.fixture
    def losing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Losing:
        maya = Maya(monkeypatch, batch=True)
        fill(maya, tmp_path)
        host = import_module("dcc_bridge_maya.host").MayaHost()

        def edit() -> None:
            cmds().setAttr("key.translateX", cmds().getAttr("key.translateX") + 1)

        return Losing(host, edit)
