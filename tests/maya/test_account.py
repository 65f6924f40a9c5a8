"""The account of an edit in Maya: what is different, with the values before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import pytest

from dcc_bridge.consent.account import told
from dcc_bridge.host import Host
from tests.hosts.accounts import account_of
from tests.hosts.fakes.maya import Maya
from tests.hosts.losses_contract import stretch
from tests.maya.test_losses import (
    KINDS,
    build,
    cut,
    delete,
    do,
    made_again,
    made_and_deleted,
    material_changed,
    names_swapped,
)


def _cmds() -> Any:
    return sys.modules["maya.cmds"]


def key_twice() -> None:
    tangents = {"inTangentType": "spline", "outTangentType": "spline"}
    for time, value in ((1.0, 0.0), (9.0, 90.0)):
        _cmds().setKeyframe("|other", attribute="rotateX", time=time, value=value, **tangents)


def rename_and_set() -> None:
    _cmds().rename("|group", "props_grp")
    _cmds().setAttr("|props_grp|child.translateX", 2.0)


ACCOUNTS: Final[dict[str, Callable[[], object]]] = {
    "": lambda: None,
    "created: |crate; polyCube2": do("polyCube", name="crate"),
    "deleted: |group (and 2 below)": delete("|group"),
    "deleted: |other. created: |other": made_again,
    "deleted: |box|boxShape": delete("|box|boxShape"),
    "changed: |other is |another": do("rename", "|other", "another"),
    "changed: |other is |group; |group is |other": names_swapped,
    "changed: |other is |group|other": do("parent", "|other", "|group"),
    "changed: |group is |props_grp; |props_grp|child, translateX: 0 -> 2": rename_and_set,
    "changed: |other, translate: [0, 0, 0] -> [1, 2, 3.5]": do(
        "setAttr", "|other.translate", 1.0, 2.0, 3.5
    ),
    "changed: |camera1, focalLength: 35 -> 50": do("setAttr", "shot.focalLength", 50.0),
    "changed: paint, color: [0.5, 0.5, 0.5] -> [1, 0, 0]": do(
        "setAttr", "paint.color", 1.0, 0.0, 0.0
    ),
    'changed: wood, fileTextureName: "" -> "oak.png"': do(
        "setAttr", "wood.fileTextureName", "oak.png", type="string"
    ),
    "changed: |box, weight: 2 -> none": do("deleteAttr", "|box.weight"),
    "changed: |box, mass: none -> 1": do(
        "addAttr", "|box", longName="mass", attributeType="double", defaultValue=1.0
    ),
    'changed: |box, translateX: "keys 1: 1, 10: 10" -> 10': cut("translateX"),
    'changed: |other, rotateX: 0 -> "keys 1: 0, 9: 90"': key_twice,
    'changed: |box, scaleX: "connected to times.output" -> 0': do(
        "disconnectAttr", "times.output", "|box.scaleX"
    ),
    'changed: |box, sets: ["props", "faces"] -> ["faces"]': do(
        "sets", "|box", edit=True, remove="props"
    ),
    'changed: |box, layer: ["layer1"] -> none': do(
        "editDisplayLayerMembers", "defaultLayer", "|box"
    ),
    "changed: @scene, end: 120 -> 96": do("playbackOptions", maxTime=96.0),
    'changed: @scene, units: "cm" -> "m"': do("currentUnit", linear="m"),
}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    build(Maya(monkeypatch))
    made: Host = import_module("dcc_bridge_maya.host").MayaHost()
    return made


@pytest.mark.parametrize("now", ACCOUNTS)
def test_what_is_different_is_told_with_the_values_before(host: Host, now: str) -> None:
    assert account_of(host, ACCOUNTS[now]) == now


def test_another_material_is_told(host: Host) -> None:
    _cmds().sets("|box|boxShape", edit=True, forceElement="initialShadingGroup")

    now = account_of(host, material_changed)

    assert now == 'changed: |box, material: ["lambert1"] -> ["paint"]'


@pytest.mark.parametrize("unit", ["deg", "rad"])
def test_angles_are_told_in_degrees(host: Host, unit: str) -> None:
    cmds = _cmds()
    cmds.currentUnit(angle=unit)
    turned = 90.0 if unit == "deg" else 1.5707963267948966

    now = account_of(host, do("setAttr", "|other.rotateY", turned))

    assert now == "changed: |other, rotateY: 0 -> 90"


def test_what_was_made_and_deleted_again_is_not_told(host: Host) -> None:
    assert account_of(host, made_and_deleted) == ""


def test_of_nodes_beyond_a_limit_only_the_change_is_told(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("dcc_bridge_maya.account"), "_MAX_READ", 1)

    assert account_of(host, KINDS["moved"].edit) == "changed: |other"


def test_beyond_both_limits_nothing_is_told(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    account = import_module("dcc_bridge_maya.account")
    monkeypatch.setattr(account, "_MAX_READ", 1)
    monkeypatch.setattr(account, "_MAX_WATCHED", 1)

    assert account_of(host, KINDS["moved"].edit) == ""


def test_of_another_scene_nothing_is_told(host: Host) -> None:
    host.losing = lambda what, files=(): None  # type: ignore[method-assign]  # a person agreed

    with stretch(host, "Ours"):
        _cmds().file(new=True, force=True)

    assert host.account() is None


def test_a_step_that_only_reads_tells_nothing(host: Host) -> None:
    with host.guard([], read=True):
        _cmds().getAttr("|other.translateX")

    assert host.account() is None


@pytest.mark.parametrize("command", ["listAttr", "ls"])
def test_what_maya_cannot_read_ends_no_edit(
    host: Host, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A node that fails is passed over; where nothing can be listed, nothing is told."""
    whole = getattr(_cmds(), command)

    def fails(*names: Any, **flags: Any) -> Any:
        if names == ("|box",) or flags.get("showType"):
            raise RuntimeError("Unexpected Internal Failure")
        return whole(*names, **flags)

    monkeypatch.setattr(_cmds(), command, fails)
    with stretch(host, "Ours"):
        KINDS["moved"].edit()
        KINDS["value_set"].edit()

    account = host.account()

    if command == "ls":
        assert account is None
    else:
        assert account is not None
        assert told(account) == "changed: |other, translateX: 0 -> 4"
