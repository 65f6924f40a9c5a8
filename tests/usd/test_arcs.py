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
    return scene.do("inspect", items=[item])["items"][0]["values"]


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
