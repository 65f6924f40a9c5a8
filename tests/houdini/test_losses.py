"""What goes is seen in Houdini, as far as its stand-in has it: the nodes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.fakes.houdini import Houdini
from tests.hosts.losses_contract import ROWS, Kind, Losing, LossesContract
from tests.houdini.test_host import CAMERA, LIGHT, fill


def node(path: str) -> Any:
    return sys.modules["hou"].node(path)


def make(name: str) -> Any:
    return node("/obj").createNode("cam", name)


def make_again() -> None:
    node(LIGHT).destroy()
    make("key")


def give_its_name_away() -> None:
    node(LIGHT).destroy()
    node(CAMERA).setName("key")


def swap() -> None:
    node(LIGHT).setName("aside")
    node(CAMERA).setName("key")
    node("/obj/aside").setName("cam0")


KINDS = {
    "nothing": Kind(lambda: None),
    "deleted": Kind(lambda: node(LIGHT).destroy(), (LIGHT,)),
    "made_again": Kind(make_again, (LIGHT,)),
    "name_taken": Kind(give_its_name_away, (LIGHT,)),
    "made": Kind(lambda: make("new")),
    "made_and_deleted": Kind(lambda: make("passing").destroy()),
    "renamed": Kind(lambda: node(LIGHT).setName("lamp")),
    "names_swapped": Kind(swap),
    "moved": Kind(lambda: node(LIGHT).parm("tx").set(7.0)),
    "value_set": Kind(lambda: node(CAMERA).parm("focal").set(20.0)),
}


class TestLosses(LossesContract):
    KINDS = KINDS
    HAS_NOT = dict.fromkeys(ROWS.keys() - KINDS.keys(), "not seen: the stand-in has none to lose")

    @pytest.fixture
    def losing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Losing:
        houdini = Houdini(monkeypatch, batch=True)
        fill(houdini, tmp_path)
        host = import_module("dcc_bridge_houdini.host").HoudiniHost()

        def edit() -> None:
            parm = node(LIGHT).parm("tx")
            parm.set(parm.eval() + 1)

        return Losing(host, edit)
