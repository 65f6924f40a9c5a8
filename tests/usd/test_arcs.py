"""References and payloads are values of a prim: told apart, added, led elsewhere and removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf

from tests.usd.test_verbs import studio
from tests.verbs.studio import NO, YES, Studio

SET = "/World/Set"
CHAIR = {"file": "./chair.usda"}
LAMP = {"file": "./lamp.usda", "prim": "/Lamp"}
TWICE = ["chair.usda", "./chair.usda"]
_FILE = """#usda 1.0
(
    defaultPrim = "{name}"
)

def Xform "{name}"
{{
    def Cube "{name}Body"
    {{
    }}
}}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene with an empty set beside two files, and a person who says yes."""
    with made(tmp_path, YES) as scene:
        yield scene


@contextmanager
def made(folder: Path, answer: Any) -> Iterator[Studio]:
    """Run a studio over a scene with an empty set, beside two files."""
    for name in ("Chair", "Lamp"):
        (folder / f"{name.lower()}.usda").write_text(_FILE.format(name=name))
    with studio(folder, answer) as scene:
        scene.do("create", things=[{"type": "Xform", "name": "Set", "under": "/World"}])
        yield scene


def put(scene: Studio, values: dict[str, Any], item: str = SET) -> Any:
    """Set values of the set, or of another item."""
    return scene.do("set_values", items=[item], values=values)


def told(scene: Studio, item: str = SET) -> Any:
    """Return what `inspect` tells of the values of an item."""
    return scene.do("inspect", items=[item])["items"][0].get("values", {})


def test_references_and_payloads_are_told_apart_with_file_and_prim(scene: Studio) -> None:
    put(scene, {"references": ["./chair.usda"], "payloads": [LAMP]})

    values = told(scene)

    assert (values["references"], values["payloads"]) == ([CHAIR], [LAMP])
    assert scene.host.kinds([f"{SET}/ChairBody", f"{SET}/LampBody"]) == ["Cube", "Cube"]
    assert scene.asked == []


@pytest.mark.parametrize("prop", ["references", "payloads"])
def test_one_is_added_led_elsewhere_removed_and_undone(scene: Studio, prop: str) -> None:
    before = scene.host.scene_digest()

    put(scene, {prop: [CHAIR]})
    put(scene, {prop: [CHAIR, LAMP]})
    put(scene, {prop: [LAMP]})

    assert told(scene)[prop] == [LAMP]
    assert f"{prop.removesuffix('s')} chair.usda of {SET}" in str(scene.person.shown[0].consent)
    for _ in range(3):
        scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_reference_stays_where_the_person_refuses(tmp_path: Path) -> None:
    with made(tmp_path, NO) as scene:
        put(scene, {"references": [CHAIR]})

        scene.fails("set_values", items=[SET], values={"references": [], "kind": "component"})


def test_a_time_offset_stays_with_a_reference_that_leads_elsewhere(scene: Studio) -> None:
    prim = scene.host.stage.GetPrimAtPath(SET)
    prim.GetReferences().AddReference("./none.usda", layerOffset=Sdf.LayerOffset(12))

    put(scene, {"references": [CHAIR]})

    (entry,) = prim.GetPrimStack()[0].referenceList.GetAddedOrExplicitItems()
    assert (entry.assetPath, entry.layerOffset.offset) == ("./chair.usda", 12.0)
    assert scene.asked == []


def test_a_file_that_is_there_twice_at_other_times_stays_so_and_is_led_elsewhere_once(
    scene: Studio,
) -> None:
    prim = scene.host.stage.GetPrimAtPath(SET)
    for start in (0, 10):
        prim.GetReferences().AddReference("./chair.usda", layerOffset=Sdf.LayerOffset(start))

    put(scene, {"references": [CHAIR, CHAIR]})
    put(scene, {"references": [CHAIR, LAMP]})

    entries = prim.GetPrimStack()[0].referenceList.GetAddedOrExplicitItems()
    files = [(entry.assetPath, entry.layerOffset.offset) for entry in entries]
    assert files == [("./chair.usda", 0.0), ("./lamp.usda", 10.0)]


def test_a_reference_may_lead_to_a_prim_of_the_scene(scene: Studio) -> None:
    put(scene, {"references": [{"prim": "/World/Props/Tree"}]})

    assert told(scene)["references"] == [{"prim": "/World/Props/Tree"}]
    assert scene.host.kinds([f"{SET}/Trunk"]) != ["gone"]


def test_a_variant_has_references_of_its_own(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Variant", "name": "look=chair", "under": SET}])
    chair = f"{SET}{{look=chair}}"
    put(scene, {"variant:look": "chair"})

    put(scene, {"references": [CHAIR]}, chair)

    assert told(scene, chair)["references"] == [CHAIR]
    assert "references" not in told(scene)
    assert scene.host.kinds([f"{SET}/ChairBody"]) == ["Cube"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("./chair.usda", "are a list"),
        ([{"path": "./chair.usda"}], '"file"'),
        ([{}], '"file"'),
        ([{"file": ""}], '"file"'),
        ([{"prim": "/World/None"}], "no prim /World/None"),
        ([{"prim": "/World"}], "above it"),
        ([{"prim": "Chair"}], "no path of a prim"),
    ],
)
def test_what_cannot_be_a_reference_is_refused(scene: Studio, value: Any, why: str) -> None:
    assert why in scene.fails("set_values", items=[SET], values={"references": value})


def layered(scene: Studio) -> tuple[Any, Any]:
    """Return the set in the root layer, and in a sublayer that is the edit target from now on."""
    values = {"sublayers": ["./below.usda"], "edit_target": "below.usda"}
    scene.do("set_values", items=["@scene"], values=values)
    stage = scene.host.stage
    below = Sdf.CreatePrimInLayer(stage.GetEditTarget().GetLayer(), SET)
    return stage.GetRootLayer().GetPrimAtPath(SET), below


def test_a_reference_that_a_stronger_layer_hides_is_not_told(scene: Studio) -> None:
    strong, weak = layered(scene)
    strong.SetInfo(
        "references", Sdf.ReferenceListOp.CreateExplicit([Sdf.Reference("./chair.usda")])
    )

    weak.referenceList.prependedItems.append(Sdf.Reference("./lamp.usda", "/Lamp"))

    assert told(scene)["references"] == [CHAIR]


@pytest.mark.parametrize("prop", ["references", "payloads"])
def test_the_order_of_a_list_is_kept_and_undone(scene: Studio, prop: str) -> None:
    put(scene, {prop: [CHAIR, LAMP]})
    before = scene.host.scene_digest()

    put(scene, {prop: [LAMP, CHAIR]})

    assert told(scene)[prop] == [LAMP, CHAIR]
    names = scene.host.stage.GetPrimAtPath(SET).GetChildrenNames()
    assert sorted(names) == ["ChairBody", "LampBody"]
    assert scene.asked == []
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_list_is_set_in_any_order_with_a_new_one(scene: Studio) -> None:
    tree = {"prim": "/World/Props/Tree"}
    put(scene, {"references": [CHAIR, LAMP]})

    put(scene, {"references": [tree, LAMP, CHAIR]})

    assert told(scene)["references"] == [tree, LAMP, CHAIR]


def test_the_strongest_reference_of_a_list_wins(scene: Studio) -> None:
    kept = []
    for name, size in (("Chair", 1), ("Lamp", 2)):
        file = Sdf.Layer.FindOrOpen(str(scene.host.file().with_name(f"{name.lower()}.usda")))
        both = Sdf.PrimSpec(file.GetPrimAtPath(f"/{name}"), "Both", Sdf.SpecifierDef, "Cube")
        Sdf.AttributeSpec(both, "size", Sdf.ValueTypeNames.Double).default = size
        kept.append(file)
    put(scene, {"references": [CHAIR, LAMP]})

    put(scene, {"references": [LAMP, CHAIR]})

    assert scene.host.stage.GetPrimAtPath(f"{SET}/Both").GetAttribute("size").Get() == 2


def test_a_reference_that_a_stronger_layer_keeps_out_is_refused(scene: Studio) -> None:
    strong, _ = layered(scene)
    strong.SetInfo(
        "references", Sdf.ReferenceListOp.CreateExplicit([Sdf.Reference("./chair.usda")])
    )

    why = scene.fails("set_values", items=[SET], values={"references": [CHAIR, LAMP]})

    assert "Set edit_target of @scene to shot.usda first" in why


def test_a_reference_of_a_stronger_layer_is_not_replaced(scene: Studio) -> None:
    put(scene, {"references": [CHAIR]})
    layered(scene)

    why = scene.fails("set_values", items=[SET], values={"references": [LAMP]})

    assert f"references of {SET} stay [{CHAIR}]: shot.usda holds them" in why


def test_a_reference_is_added_in_the_edit_target_alone(scene: Studio) -> None:
    put(scene, {"references": [CHAIR]})
    layered(scene)
    root = scene.host.stage.GetRootLayer().ExportToString()

    put(scene, {"references": [CHAIR, LAMP]})

    assert told(scene)["references"] == [CHAIR, LAMP]
    assert scene.host.stage.GetRootLayer().ExportToString() == root


@pytest.mark.parametrize(
    "wanted", [[], [CHAIR], [CHAIR, LAMP], [LAMP, CHAIR], [CHAIR, "./none.usda"]]
)
def test_a_reference_of_a_weaker_layer_is_taken_out_where_edits_go(
    scene: Studio, wanted: list[Any]
) -> None:
    _, weak = layered(scene)
    weak.referenceList.prependedItems.append(Sdf.Reference("./lamp.usda", "/Lamp"))
    held = weak.layer.ExportToString()
    put(scene, {"edit_target": "shot.usda"}, "@scene")

    answer = put(scene, {"references": wanted})

    rows = [{"file": each} if isinstance(each, str) else each for each in wanted]
    assert told(scene).get("references", []) == rows
    assert weak.layer.ExportToString() == held
    is_shown = scene.host.kinds([f"{SET}/LampBody"]) == ["Cube"]
    assert is_shown == (LAMP in wanted)
    asked = scene.person.shown[0].consent if scene.person.shown else ""
    assert ("reference lamp.usda of" in str(asked)) == (LAMP not in wanted)
    assert answer["now"].count("lamp.usda") == 1 + (LAMP in wanted)


def test_a_file_of_a_weaker_layer_is_named_in_another_way_taken_out_and_brought_back(
    scene: Studio,
) -> None:
    _, weak = layered(scene)
    weak.referenceList.prependedItems.append(Sdf.Reference("lamp.usda", "/Lamp"))
    put(scene, {"edit_target": "shot.usda"}, "@scene")

    for wanted in ([CHAIR, LAMP], [CHAIR], [CHAIR, LAMP]):
        put(scene, {"references": wanted})

    assert told(scene)["references"] == [CHAIR, {"file": "lamp.usda", "prim": "/Lamp"}]
    why = scene.fails("set_values", items=[SET], values={"references": TWICE})
    assert "name it once" in why


def test_a_list_grows_beside_a_reference_of_a_layer_in_another_folder(
    scene: Studio, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    put(scene, {"references": [CHAIR]})
    values = {"sublayers": ["./far/below.usda"], "edit_target": "below.usda"}
    put(scene, values, "@scene")

    put(scene, {"references": [CHAIR, "../lamp.usda"]})

    assert told(scene)["references"] == [CHAIR, {"file": "../lamp.usda"}]


def test_a_file_beside_another_layer_is_not_taken_for_one_beside_the_scene(
    scene: Studio, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    put(scene, {"sublayers": ["./far/below.usda"]}, "@scene")
    far = scene.host.stage.GetLayerStack()[-1]
    spec = Sdf.CreatePrimInLayer(far, SET)
    spec.referenceList.prependedItems.append(Sdf.Reference("./lamp.usda", "/Lamp"))

    why = scene.fails("set_values", items=[SET], values={"references": []})

    assert "./lamp.usda is held by below.usda, and would not be the same in shot.usda" in why


def test_references_of_a_prim_stay_when_those_of_its_variant_are_set(scene: Studio) -> None:
    put(scene, {"references": [LAMP]})
    scene.do("create", things=[{"type": "Variant", "name": "look=chair", "under": SET}])
    put(scene, {"variant:look": "chair"})

    put(scene, {"references": [CHAIR]}, f"{SET}{{look=chair}}")

    assert told(scene)["references"] == [LAMP]
    assert scene.asked == []
