"""The account of an edit in Houdini: what is different, with the values before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge.host import Host
from tests.hosts.accounts import account_of
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.losses_contract import stretch
from tests.houdini.test_host import CAMERA, LIGHT
from tests.houdini.test_losses import build, fill_group, leave_group, make, node, parm, set_key


def hou() -> Any:
    return sys.modules["hou"]


def move_box() -> None:
    for axis, value in zip("xyz", (1.0, 2.0, 3.5), strict=True):
        node("/obj/geo1").parm(f"t{axis}").set(value)


def make_box() -> None:
    node("/obj").createNode("geo", "crate").createNode("box", "box1")


def make_and_delete() -> None:
    make("passing").destroy()


def rename_and_set() -> None:
    node("/obj/geo1").setName("board")
    node("/obj/board/box").parm("sizex").set(2.0)


def replace() -> None:
    node(LIGHT).destroy()
    make("key")


def end_earlier() -> None:
    hou().playbar.setFrameRange(1.0, 96.0)
    hou().setFps(25.0, modify_frame_count=False, preserve_frame_start=True)
    hou().setFrame(24.0)


def change_key() -> None:
    hou().node(LIGHT).parm("tz").deleteAllKeyframes()
    set_key("tz", 6.0, "bezier()")


ACCOUNTS: Final[dict[str, Callable[[], object]]] = {
    "": lambda: None,
    "created: /obj/crate (and 1 below)": make_box,
    "deleted: /obj/subnet1 (and 1 below)": lambda: node("/obj/subnet1").destroy(),
    "deleted: /obj/key. created: /obj/key. changed: /obj, group props": replace,
    "changed: /obj/geo1, t: [0, 0, 0] -> [1, 2, 3.5]": move_box,
    "changed: /obj/geo1 is /obj/board; /obj/board/box, sizex: 1 -> 2": (rename_and_set),
    "changed: @scene, end: 240 -> 96; @scene, fps: 24 -> 25": end_earlier,
    'changed: /obj/key, tx: "keys 1: 1, 10: 10" -> 10': (lambda: parm("tx").deleteAllKeyframes()),
    'changed: /obj/key, tz: "keys 5: 5" -> "keys 6: 6"': change_key,
    'changed: /obj/key, ty: "expression ch(\\"/obj/cam0/tx\\")" -> 0': (
        lambda: parm("ty").deleteAllKeyframes()
    ),
    'changed: /obj/geo1/merge, input2: "/obj/geo1/xform" -> none': (
        lambda: node("/obj/geo1/merge").setInput(1, None)
    ),
    "changed: /obj, group props": leave_group,
}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    build(Houdini(monkeypatch, batch=True), tmp_path)
    made: Host = import_module("dcc_bridge_houdini.host").HoudiniHost()
    return made


@pytest.mark.parametrize("now", ACCOUNTS)
def test_what_is_different_is_told_with_the_values_before(host: Host, now: str) -> None:
    assert account_of(host, ACCOUNTS[now]) == now


def test_what_was_made_and_deleted_again_is_not_told(host: Host) -> None:
    assert account_of(host, make_and_delete) == ""


def test_a_shape_that_is_not_locked_any_more_is_told(host: Host) -> None:
    now = account_of(host, lambda: node("/obj/geo1/file").setHardLocked(False))

    assert now.endswith("/obj/geo1/file, locked shape: true -> false")


def test_a_node_that_fails_now_and_did_not_before_is_broken(host: Host, tmp_path: Path) -> None:
    node("/obj/geo1/file").setHardLocked(False)
    gone = (tmp_path / "gone.json").as_posix()

    now = account_of(host, lambda: node("/obj/geo1/file").parm("file").set(gone))

    assert now.endswith(". broken: /obj/geo1/file")
    assert "broken" not in account_of(host, lambda: make("other"))


@pytest.mark.parametrize("limit", ["account._MAX_VALUES", "losses._MAX_WITH_PARTS"])
def test_beyond_a_limit_no_value_is_told(
    host: Host, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    module, _, name = limit.partition(".")
    monkeypatch.setattr(import_module(f"dcc_bridge_houdini.{module}"), name, 1)

    assert account_of(host, move_box) == ""


def test_of_another_scene_nothing_is_told(host: Host) -> None:
    with stretch(host, "Ours"):
        pass
    host.losing = lambda what, files=(): None  # type: ignore[method-assign]  # a person agreed

    with stretch(host, "Next"):
        hou().hipFile.clear(suppress_save_prompt=True)

    assert host.account() is None


def test_a_member_that_comes_in_is_told(host: Host) -> None:
    with stretch(host, "Out"):
        leave_group()

    assert account_of(host, fill_group) == "changed: /obj, group props"


def test_a_step_that_only_reads_tells_nothing(host: Host) -> None:
    with host.guard([], read=True):
        node(CAMERA).parm("tx").eval()

    assert host.account() is None


def test_a_node_that_cannot_be_read_spoils_no_other(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = hou().OpNode.errors

    def fails(of: Any) -> Any:
        if of.path() == CAMERA:
            raise hou().OperationFailed("It is being cooked.")
        return whole(of)

    monkeypatch.setattr(hou().OpNode, "errors", fails)

    assert account_of(host, move_box) == "changed: /obj/geo1, t: [0, 0, 0] -> [1, 2, 3.5]"


def test_no_expression_is_evaluated_as_it_may_cook_other_nodes(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated = []
    whole = type(parm("tx")).eval

    def noted(of: Any) -> Any:
        evaluated.append(of.path())
        return whole(of)

    monkeypatch.setattr(type(parm("tx")), "eval", noted)

    assert account_of(host, lambda: make("other")) == "created: /obj/other"
    assert f"{CAMERA}/tx" in evaluated
    assert f"{LIGHT}/ty" not in evaluated
