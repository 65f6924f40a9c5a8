"""What goes is seen in Maya, as its documents say it is: the table of the kinds of loss."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import pytest

from dcc_bridge.host import Host
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import furnish
from tests.hosts.losses_contract import Kind, Losing, LossesContract, stretch

_NO_SCENES: Final = "a file has one scene, and everything is in it"
_DOCUMENTED: Final = "the stand-in has none: not seen"


def _cmds() -> Any:
    return sys.modules["maya.cmds"]


def do(command: str, /, *args: Any, **flags: Any) -> Callable[[], object]:
    """Be one command."""
    return lambda: getattr(_cmds(), command)(*args, **flags)


def delete(*names: str) -> Callable[[], object]:
    return do("delete", list(names))


def cut(*attributes: str, **flags: Any) -> Callable[[], object]:
    """Cut keys of the box."""

    def edit() -> None:
        for name in attributes:
            _cmds().cutKey("|box", attribute=name, clear=True, **flags)

    return edit


def made_again() -> None:
    _cmds().delete("|other")
    _cmds().createNode("transform", name="other", skipSelect=True)


def name_taken() -> None:
    _cmds().delete("|other")
    _cmds().rename("|group", "other")


def names_swapped() -> None:
    _cmds().rename("|other", "away")
    _cmds().rename("|group", "other")
    _cmds().rename("|away", "group")


def made_and_deleted() -> None:
    _cmds().createNode("transform", name="passing", skipSelect=True)
    _cmds().delete("|passing")


def material_changed() -> None:
    _cmds().sets("|box|boxShape", edit=True, forceElement="paintSG")


def build(maya: Maya) -> None:
    """Make a scene that has what the rows take away."""
    furnish(maya)
    cmds = _cmds()
    for name in ("other", "group"):
        cmds.createNode("transform", name=name)
    cmds.createNode("transform", name="child", parent="|group")
    cmds.createNode("parentConstraint", name="follow", parent="|group|child")
    cmds.createNode("camera", name="shot")
    cmds.shadingNode("directionalLight", name="sun", asLight=True)
    cmds.polyCube(name="box")
    cmds.addAttr("|box", longName="weight", attributeType="double", defaultValue=2.0)
    for kind, name in (
        *(("lambert", "paint"), ("file", "wood"), ("animCurveTL", "spare")),
        *(("multiplyDivide", "times"), ("skinCluster", "skin"), ("expression", "sine")),
        ("script", "note"),
    ):
        cmds.createNode(kind, name=name)
    cmds.connectAttr("times.output", "|box.scaleX")
    cmds.connectAttr("times.output", "|other.scaleX")
    cmds.sets(name="paintSG", renderable=True, empty=True)
    cmds.connectAttr("paint.outColor", "paintSG.surfaceShader")
    for name, member in (("props", "|box"), ("faces", "|box.f[0]")):
        cmds.sets(name=name, empty=True)
        cmds.sets(member, edit=True, addElement=name)
    for layer in ("layer1", "layer2"):
        cmds.createDisplayLayer(name=layer, empty=True)
    cmds.editDisplayLayerMembers("layer1", "|box")
    maya.commands.new("displayLayer", "defaultLayer").is_default = True
    tangents = {"inTangentType": "spline", "outTangentType": "spline"}
    for name, time in (("translateX", 1.0), ("translateX", 10.0), ("rotateY", 5.0)):
        cmds.setKeyframe("|box", attribute=name, time=time, value=time, **tangents)
    maya.undo.flush()


KINDS: Final = {
    "nothing": Kind(lambda: None),
    "deleted": Kind(delete("|other"), "|other"),
    "parent_deleted": Kind(delete("|group"), "|group", "|group|child", "|group|child|follow"),
    "made_again": Kind(made_again, "|other"),
    "name_taken": Kind(name_taken, "|other"),
    "group": Kind(delete("props"), "props"),
    "group_member": Kind(do("sets", "|box", edit=True, remove="props"), "member |box of props"),
    "material": Kind(delete("paint"), "paint"),
    "material_slot": Kind(
        do("sets", "|box|boxShape", edit=True, remove="initialShadingGroup"),
        "material lambert1 of |box|boxShape",
    ),
    "geometry": Kind(delete("|box|boxShape"), "|box|boxShape"),
    "image": Kind(delete("wood"), "wood"),
    "text": Kind(delete("note"), "note"),
    "action": Kind(delete("spare"), "spare"),
    "camera": Kind(delete("|camera1"), "|camera1", "|camera1|shot"),
    "light": Kind(delete("|sun"), "|sun", "|sun|sunShape"),
    "node": Kind(delete("times"), "times"),
    "link": Kind(
        do("disconnectAttr", "times.output", "|box.scaleX"), "connection to scaleX of |box"
    ),
    "modifier": Kind(delete("skin"), "skin"),
    "constraint": Kind(delete("|group|child|follow"), "|group|child|follow"),
    "driver": Kind(
        do("disconnectAttr", "times.output", "|other.scaleX"), "connection to scaleX of |other"
    ),
    "expression": Kind(delete("sine"), "sine"),
    "animation": Kind(
        cut("translateX", "rotateY"), "2 keys of translateX of |box", "1 key of rotateY of |box"
    ),
    "keys": Kind(cut("translateX"), "2 keys of translateX of |box"),
    "one_key": Kind(cut("translateX", time=(10.0, 10.0)), "1 key of translateX of |box"),
    "vertex_group": Kind(
        do("sets", "|box.f[0]", edit=True, remove="faces"), "components of |box of faces"
    ),
    "custom_property": Kind(do("deleteAttr", "|box.weight"), "attribute weight of |box"),
    "layer": Kind(delete("layer1"), "layer1"),
    "layer_content": Kind(
        do("editDisplayLayerMembers", "defaultLayer", "|box"), "member |box of layer1"
    ),
    "unused": Kind(delete("paintSG", "paint"), "paintSG", "paint"),
    "made": Kind(do("createNode", "transform", name="new", skipSelect=True)),
    "made_and_deleted": Kind(made_and_deleted),
    "renamed": Kind(do("rename", "|other", "another")),
    "names_swapped": Kind(names_swapped),
    "parent_changed": Kind(do("parent", "|other", "|group")),
    "moved": Kind(do("setAttr", "|other.translateX", 4.0)),
    "value_set": Kind(do("setAttr", "|box.weight", 4.0)),
    "hidden": Kind(do("setAttr", "|box.visibility", False)),
    "muted": Kind(do("setAttr", "skin.envelope", 0.0)),
    "selected": Kind(do("ls", selection=True)),
}


HAS_NOT: Final = {
    **dict.fromkeys(("scene", "out_of_every_scene", "group_out_of_scene"), _NO_SCENES),
    **dict.fromkeys(("marker", "shape_key", "world", "node_group"), _DOCUMENTED),
    **dict.fromkeys(("undefined", "abstract", "payload", "variant"), "that is of USD"),
    **dict.fromkeys(("sketch_geometry", "sketch_constraint", "cell"), "that is of CAD"),
    "scene_metadata": "fileInfo is not undoable, and nothing tells of it: not seen",
    "reference": "undo does not bring it back: the guard refuses it, or keeps a copy",
    "inactive": "no node can be switched off so that the scene has it no more",
    "type": "a node keeps its type",
    "geometry_data": "a shape is below a transform: geometry",
    "text_content": "that is a value set",
    "attribute": "only those that somebody added can go: custom_property",
    "value": "an attribute has no default to go back to",
    "relationship": "that is a connection: link",
}


class TestLosses(LossesContract):
    KINDS = KINDS
    HAS_NOT = HAS_NOT

    @pytest.fixture
    def losing(self, host: Host) -> Losing:
        return Losing(host, do("setAttr", "|other.translateY", 1.0))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    build(Maya(monkeypatch))
    made: Host = import_module("dcc_bridge_maya.host").MayaHost()
    return made


@pytest.mark.parametrize(
    "row", ["animation", "material_slot", "link", "custom_property", "one_key"]
)
def test_all_parts_go_with_what_was_agreed_to(host: Host, row: str) -> None:
    host.fingerprint(["|box"])

    with stretch(host, "Ours"):
        KINDS[row].edit()

    assert host.lost(["|box"]) == []
    assert host.lost(["|other"]) == list(KINDS[row].lost)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(material_changed, id="another material"),
        pytest.param(do("editDisplayLayerMembers", "layer2", "|box"), id="another layer"),
        pytest.param(
            do("connectAttr", "sine.message", "|group|child|follow.target[0]"), id="a new link"
        ),
    ],
)
def test_what_is_put_in_place_of_a_part_is_no_loss(host: Host, edit: Callable[[], object]) -> None:
    with stretch(host, "Ours"):
        edit()

    assert host.lost([]) == []


def test_what_another_connection_drives_from_now_on_is_no_loss(host: Host) -> None:
    cmds = _cmds()
    cmds.createNode("multiplyDivide", name="half")

    with stretch(host, "Ours"):
        cmds.connectAttr("half.output", "|box.scaleX", force=True)

    assert host.lost([]) == []


@pytest.mark.parametrize("is_replaced", [True, False])
def test_keys_that_drive_nothing_any_more_are_lost(host: Host, is_replaced: bool) -> None:
    """Their curve stays, and nobody sees it."""
    cmds = _cmds()
    (curve,) = cmds.keyframe("|box.translateX", query=True, name=True)

    with stretch(host, "Ours"):
        if is_replaced:
            cmds.connectAttr("times.output", "|box.translateX", force=True)
        else:
            cmds.disconnectAttr(f"{curve}.output", "|box.translateX")

    assert host.lost([]) == ["2 keys of translateX of |box"]


def test_a_part_that_the_step_itself_made_is_no_loss(host: Host) -> None:
    cmds = _cmds()
    with stretch(host, "Ours"):
        cmds.connectAttr("times.output", "|other.scaleY")
        cmds.disconnectAttr("times.output", "|other.scaleY")
        cmds.sets("|other", edit=True, addElement="props")
        cmds.sets("|other", edit=True, remove="props")
        cmds.addAttr("|other", longName="mass", attributeType="double", defaultValue=1.0)
        cmds.deleteAttr("|other.mass")

    assert host.lost([]) == []


@pytest.mark.parametrize("row", ["link", "custom_property", "group_member"])
def test_a_part_that_is_made_again_and_taken_again_is_lost(host: Host, row: str) -> None:
    again = {
        "link": do("connectAttr", "times.output", "|box.scaleX"),
        "custom_property": do(
            "addAttr", "|box", longName="weight", attributeType="double", defaultValue=2.0
        ),
        "group_member": do("sets", "|box", edit=True, addElement="props"),
    }
    with stretch(host, "Ours"):
        KINDS[row].edit()
        again[row]()
        made = host.lost([])
        KINDS[row].edit()

    assert made == []
    assert host.lost([]) == list(KINDS[row].lost)


def test_an_attribute_goes_with_its_connection(host: Host) -> None:
    cmds = _cmds()
    cmds.connectAttr("times.output", "|box.weight")

    with stretch(host, "Ours"):
        cmds.deleteAttr("|box.weight")

    assert host.lost([]) == ["attribute weight of |box"]


@pytest.mark.parametrize(
    "row", ["deleted", "keys", "one_key", "link", "custom_property", "group_member"]
)
def test_what_came_back_is_not_lost(host: Host, row: str) -> None:
    with host.guard([], read=False):
        KINDS[row].edit()
        _cmds().undo()

        assert host.lost([]) == []


def test_what_refers_to_a_node_that_goes_is_not_lost(host: Host) -> None:
    """Its curves, what makes it and its places in sets go along, and no part is named."""
    host.fingerprint(["|box"])

    with stretch(host, "Ours"):
        _cmds().delete("|box")

    assert host.lost(["|box"]) == []
    assert host.lost([])[:2] == ["|box", "|box|boxShape"]
    assert not [it for it in host.lost([]) if " of " in it]


@pytest.mark.parametrize("row", ["keys", "one_key", "custom_property", "group_member", "deleted"])
def test_the_next_step_says_nothing_of_the_one_before(host: Host, row: str) -> None:
    with stretch(host, "Ours"):
        KINDS[row].edit()
    with stretch(host, "Next"):
        pass

    assert host.lost([]) == []


def test_nothing_listens_once_a_step_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    maya = Maya(monkeypatch)
    build(maya)
    host = import_module("dcc_bridge_maya.host").MayaHost()

    with stretch(host, "Ours"):
        _cmds().delete("|box")
        assert maya.heard_by

    assert not maya.heard_by
