"""What goes is seen in Houdini, as its documents say it is: the table of the kinds of loss."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge.host import Host
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.types import Template
from tests.hosts.losses_contract import Kind, Losing, LossesContract, stretch
from tests.houdini.test_host import CAMERA, LIGHT, fill

_NO_SCENES: Final = "a file has one scene, and everything is in it"
_NOT_SEEN: Final = "the stand-in has none: not seen"


def node(path: str) -> Any:
    return sys.modules["hou"].node(path)


def parm(name: str) -> Any:
    return node(LIGHT).parm(name)


def destroy(path: str) -> Any:
    return lambda: node(path).destroy()


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


def set_key(name: str, frame: float, expression: str) -> None:
    hou: Any = sys.modules["hou"]
    key = hou.Keyframe()
    key.setFrame(frame)
    key.setValue(frame)
    key.setExpression(expression, hou.exprLanguage.Hscript)
    parm(name).setKeyframe(key)


def record(redo: Any, undo: Any) -> None:
    """Do what Houdini does not say that it records, as the operations do."""
    import_module("dcc_bridge_houdini.operations.values").record(redo, undo, "Ours")


def props() -> Any:
    return node("/obj").nodeGroup("props")


def leave_group() -> None:
    light = node(LIGHT)
    record(lambda: props().removeNode(light), lambda: props().addNode(light))


def fill_group() -> None:
    node("/obj").addNodeGroup("props").addNode(node(LIGHT))


def delete_group() -> None:
    record(lambda: props().destroy(), fill_group)


def clear_keys() -> None:
    for name in ("tx", "tz"):
        parm(name).deleteAllKeyframes()


def remove_spare() -> None:
    light = node(LIGHT)
    light.removeSpareParmTuple(light.parmTuple("weight"))


def unparent() -> None:
    node("/obj/subnet1").setInput(0, None)


def build(houdini: Houdini, folder: Path) -> None:
    """Make a scene that has what the rows take away."""
    fill(houdini, folder)
    (folder / "shape.json").write_text(json.dumps([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    node("/obj").createNode("geo", "geo1")
    node("/obj").createNode("subnet", "subnet1").setInput(0, node("/obj/geo1"))
    node("/obj/subnet1").createNode("cam", "inner")
    for kind in ("box", "xform", "merge", "file"):
        node("/obj/geo1").createNode(kind, kind)
    node("/obj/geo1/file").parm("file").set((folder / "shape.json").as_posix())
    node("/obj/geo1/file").setHardLocked(True)
    node("/obj/geo1/xform").setInput(0, node("/obj/geo1/box"))
    for number, name in enumerate(("box", "xform")):
        node("/obj/geo1/merge").setInput(number, node(f"/obj/geo1/{name}"))
    node("/mat").createNode("principledshader", "paint")
    houdini.scene.nodes[node(LIGHT).sessionId()].parms |= {"ty": 0.0, "tz": 0.0}
    for name, frame in (("tx", 1.0), ("tx", 10.0), ("tz", 5.0)):
        set_key(name, frame, "bezier()")
    set_key("ty", 0.0, f'ch("{CAMERA}/tx")')
    node(LIGHT).addSpareParmTuple(Template("weight", 2.0))
    fill_group()
    houdini.undos.clear()


KINDS: Final = {
    "nothing": Kind(lambda: None),
    "deleted": Kind(destroy(LIGHT), LIGHT),
    "parent_deleted": Kind(destroy("/obj/subnet1"), "/obj/subnet1", "/obj/subnet1/inner"),
    "made_again": Kind(make_again, LIGHT),
    "name_taken": Kind(give_its_name_away, LIGHT),
    "group": Kind(delete_group, "group props of /obj"),
    "group_member": Kind(leave_group, "member key in group props of /obj"),
    "material": Kind(destroy("/mat/paint"), "/mat/paint"),
    "geometry": Kind(
        lambda: node("/obj/geo1/file").setHardLocked(False), "locked shape of /obj/geo1/file"
    ),
    "camera": Kind(destroy(CAMERA), CAMERA),
    "light": Kind(destroy(LIGHT), LIGHT),
    "node": Kind(destroy("/obj/geo1/box"), "/obj/geo1/box"),
    "link": Kind(
        lambda: node("/obj/geo1/merge").setInput(1, None), "connection to input2 of /obj/geo1/merge"
    ),
    "modifier": Kind(destroy("/obj/geo1/xform"), "/obj/geo1/xform"),
    "driver": Kind(lambda: parm("ty").deleteAllKeyframes(), "expression of ty of /obj/key"),
    "expression": Kind(lambda: set_key("ty", 0.0, "bezier()"), "expression of ty of /obj/key"),
    "animation": Kind(clear_keys, "2 keys of tx of /obj/key", "1 key of tz of /obj/key"),
    "keys": Kind(lambda: parm("tx").deleteAllKeyframes(), "2 keys of tx of /obj/key"),
    "one_key": Kind(lambda: parm("tx").deleteKeyframeAtFrame(10.0), "1 key of tx of /obj/key"),
    "custom_property": Kind(remove_spare, "spare parameter weight of /obj/key"),
    "made": Kind(lambda: make("new")),
    "made_and_deleted": Kind(lambda: make("passing").destroy()),
    "renamed": Kind(lambda: node(LIGHT).setName("lamp")),
    "names_swapped": Kind(swap),
    "parent_changed": Kind(unparent),
    "moved": Kind(lambda: node(CAMERA).parm("tx").set(7.0)),
    "value_set": Kind(lambda: node(CAMERA).parm("focal").set(20.0)),
    "hidden": Kind(lambda: node("/obj/geo1/xform").setDisplayFlag(True)),
}
HAS_NOT: Final = {
    **dict.fromkeys(("scene", "out_of_every_scene", "group_out_of_scene"), _NO_SCENES),
    **dict.fromkeys(("marker", "constraint", "muted", "scene_metadata", "text"), _NOT_SEEN),
    **dict.fromkeys(("undefined", "abstract", "payload", "variant", "layer"), "that is of USD"),
    **dict.fromkeys(("sketch_geometry", "sketch_constraint", "cell"), "that is of CAD"),
    **dict.fromkeys(("geometry_data", "vertex_group", "shape_key"), "they are what a node makes"),
    **dict.fromkeys(("image", "world", "node_group"), "a node as every other one: deleted"),
    **dict.fromkeys(("material_slot", "text_content"), "that is a value set: a parameter"),
    "action": "keys are in parameters: keys",
    "layer_content": "that is of USD",
    "reference": "a path in a parameter, which is a value set",
    "relationship": "a connection, or a path in a parameter: link",
    "inactive": "no node can be switched off so that the scene has it no more",
    "type": "changeNodeType makes another node: the stand-in has none",
    "attribute": "only a parameter that somebody added can go: custom_property",
    "value": "a parameter that is back at its default is a value set",
    "unused": "junk is found by the bridge itself, and deleted as every node: deleted",
    "selected": "a selection is no action of a step: `HoudiniHost.select` leaves none",
}


class TestLosses(LossesContract):
    KINDS = KINDS
    HAS_NOT = HAS_NOT

    @pytest.fixture
    def losing(self, host: Host) -> Losing:
        def edit() -> None:
            tx = node(CAMERA).parm("tx")
            tx.set(tx.eval() + 1)

        return Losing(host, edit)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    build(Houdini(monkeypatch, batch=True), tmp_path)
    made: Host = import_module("dcc_bridge_houdini.host").HoudiniHost()
    return made


@pytest.mark.parametrize("row", ["animation", "expression", "custom_property"])
def test_all_parts_go_with_what_was_agreed_to(host: Host, row: str) -> None:
    host.fingerprint([LIGHT])

    with stretch(host, "Ours"):
        KINDS[row].edit()

    assert host.lost([LIGHT]) == []
    assert host.lost([CAMERA]) == list(KINDS[row].lost)


def test_what_leads_in_at_another_place_is_not_lost(host: Host) -> None:
    """Of a merge the inputs after one that is taken out move up."""
    merge = node("/obj/geo1/merge")

    with stretch(host, "Ours"):
        merge.setInput(1, None)
        merge.setInput(0, node("/obj/geo1/xform"))

    assert host.lost([]) == ["connection to input1 of /obj/geo1/merge"]


def test_an_input_that_gets_another_source_is_no_loss(host: Host) -> None:
    with stretch(host, "Ours"):
        node("/obj/geo1/merge").setInput(0, node("/obj/geo1/file"))

    assert host.lost([]) == []


def test_what_refers_to_a_node_that_goes_is_not_lost(host: Host) -> None:
    """A wire from it, its place in a node group and an expression that asks it."""
    with stretch(host, "Ours"):
        for path in (LIGHT, CAMERA, "/obj/geo1/box"):
            node(path).destroy()

    assert host.lost([]) == [CAMERA, LIGHT, "/obj/geo1/box"]


def test_keys_that_an_expression_takes_the_place_of_are_lost(host: Host) -> None:
    with stretch(host, "Ours"):
        parm("tx").deleteAllKeyframes()
        set_key("tx", 0.0, f'ch("{CAMERA}/tx")')

    assert host.lost([]) == ["2 keys of tx of /obj/key"]


def test_a_part_that_came_back_is_not_lost(host: Host) -> None:
    with stretch(host, "Ours"):
        parm("tz").deleteAllKeyframes()
        set_key("tz", 5.0, "bezier()")

    assert host.lost([]) == []


def test_the_next_step_says_nothing_of_the_one_before(host: Host) -> None:
    with stretch(host, "Ours"):
        KINDS["keys"].edit()
    with stretch(host, "Next"):
        pass

    assert host.lost([]) == []


@pytest.mark.parametrize(("limit", "lost"), [("_MAX_WITH_PARTS", []), ("_MAX_PARMS", [])])
def test_beyond_a_limit_no_part_is_seen(
    host: Host, monkeypatch: pytest.MonkeyPatch, limit: str, lost: list[str]
) -> None:
    monkeypatch.setattr(import_module("dcc_bridge_houdini.losses"), limit, 1)

    with stretch(host, "Ours"):
        KINDS["keys"].edit()

    assert host.lost([]) == lost
