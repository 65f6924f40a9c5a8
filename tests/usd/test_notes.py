"""Documentation, comment, custom data and asset info are values of a prim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf

from tests.usd.test_verbs import studio
from tests.verbs.studio import NO, YES, Studio

TREE = "/World/Props/Tree"
DATA = {"take": 3, "tags": ["hero", "wet"], "shot": {"name": "sh010", "cut": 1.5, "is_final": True}}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene whose tree has custom data, and a person who says yes."""
    with studio(tmp_path, YES) as scene:
        set_tree(scene, custom_data=DATA)
        yield scene


def set_tree(scene: Studio, **values: Any) -> Any:
    """Set values of the tree."""
    return scene.do("set_values", items=[TREE], values=values)


def values_of(scene: Studio, **more: Any) -> Any:
    """Return what `inspect` tells of the tree's values."""
    return scene.do("inspect", items=[TREE], **more)["items"][0]["values"]


@pytest.mark.parametrize("prop", ["documentation", "comment"])
def test_a_text_is_set_read_cleared_and_undone(scene: Studio, prop: str) -> None:
    before = scene.host.scene_digest()

    set_tree(scene, **{prop: "An old oak."})
    assert values_of(scene)[prop] == "An old oak."
    set_tree(scene, **{prop: ""})
    assert prop not in values_of(scene)

    assert scene.host.scene_digest() == before
    scene.do("undo_last")
    assert values_of(scene)[prop] == "An old oak."
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_custom_data_are_read_as_they_were_set(scene: Studio) -> None:
    assert values_of(scene)["custom_data"] == DATA
    assert values_of(scene, names=["custom_data:shot:cut"]) == {"custom_data:shot:cut": 1.5}
    assert scene.asked == []


def test_one_entry_is_set_and_the_others_stay(scene: Studio) -> None:
    before = scene.host.scene_digest()

    set_tree(scene, **{"custom_data:shot:name": "sh020", "custom_data:note": "wet"})

    shot = {**DATA["shot"], "name": "sh020"}  # type: ignore[dict-item]
    assert values_of(scene)["custom_data"] == {**DATA, "shot": shot, "note": "wet"}
    assert scene.asked == []
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_entries_that_new_custom_data_drop_are_named(scene: Studio) -> None:
    before = scene.host.scene_digest()

    set_tree(scene, custom_data={"take": 4, "shot": {"name": "sh010"}}, kind="component")

    asked = str(scene.person.shown[0].consent)
    for entry in ("tags", "shot:cut", "shot:is_final"):
        assert f"custom data {entry} of {TREE}" in asked
    assert "custom data take" not in asked
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_custom_data_stay_where_the_person_refuses(tmp_path: Path) -> None:
    with studio(tmp_path, NO) as scene:
        set_tree(scene, custom_data=DATA)

        scene.fails("set_values", items=[TREE], values={"custom_data": None})


def test_one_entry_is_cleared_by_nothing(scene: Studio) -> None:
    set_tree(scene, **{"custom_data:tags": None})

    assert "tags" not in values_of(scene)["custom_data"]


def test_asset_info_keep_the_types_of_their_entries(scene: Studio) -> None:
    tree = scene.host.stage.GetPrimAtPath(TREE)
    tree.SetAssetInfo({"identifier": Sdf.AssetPath("./tree.usda"), "version": "1"})

    set_tree(scene, **{"asset_info:identifier": "./oak.usda", "asset_info:version": "2"})

    assert tree.GetAssetInfo()["identifier"] == Sdf.AssetPath("./oak.usda")
    assert values_of(scene)["asset_info"] == {"identifier": "./oak.usda", "version": "2"}


def test_what_the_type_of_a_prim_says_is_none_of_its_own(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Plain", "under": "/World"}])

    told = scene.do("inspect", items=["/World/Plain"])["items"][0]

    assert not told.get("values")


@pytest.mark.parametrize(
    ("prop", "value", "why"),
    [
        ("documentation", 3, "is a text"),
        ("custom_data", "text", "an object of entries"),
        ("custom_data", {"a": [1, "b"]}, "custom_data:a is a list of"),
        ("custom_data", {"a": {"b": None}}, "custom_data:a:b cannot be None"),
        ("custom_data", {"a": []}, "one at least"),
        ("custom_data", {"a": 2**70}, "custom_data:a cannot be"),
        ("custom_data", {"a": {"": 1}}, "An entry of custom_data:a has no name"),
        ("custom_dota", {}, "custom_data"),
    ],
)
def test_what_cannot_be_a_note_is_refused(scene: Studio, prop: str, value: Any, why: str) -> None:
    assert why in scene.fails("set_values", items=[TREE], values={prop: value})


def test_a_value_that_another_layer_holds_is_refused(scene: Studio) -> None:
    session = scene.host.stage.GetSessionLayer()
    Sdf.CreatePrimInLayer(session, TREE).comment = "held"

    why = scene.fails("set_values", items=[TREE], values={"comment": "mine"})

    assert "held by another layer: 'held'" in why


def test_entries_of_a_referenced_file_follow_it_when_another_entry_is_set(
    scene: Studio, tmp_path: Path
) -> None:
    file = Sdf.Layer.CreateNew(str(tmp_path / "file.usda"))
    prim = Sdf.CreatePrimInLayer(file, "/Tree")
    prim.SetInfo("customData", {"take": 1, "shot": {"cut": 2}})
    file.defaultPrim = "Tree"
    file.Save()
    values = {"references": [{"file": "./file.usda"}]}
    scene.do("create", things=[{"type": "Xform", "name": "R", "under": "/", "values": values}])

    entries = {"custom_data:note": "wet", "custom_data:shot:name": "sh010"}
    scene.do("set_values", items=["/R"], values=entries)
    prim.SetInfo("customData", {"take": 5, "shot": {"cut": 2}})

    told = scene.do("inspect", items=["/R"])["items"][0]["values"]["custom_data"]
    assert told == {"note": "wet", "shot": {"name": "sh010", "cut": 2}, "take": 5}
    own = scene.host.stage.GetRootLayer().GetPrimAtPath("/R").customData
    assert dict(own) == {"note": "wet", "shot": {"name": "sh010"}}


def test_an_entry_of_a_referenced_file_is_not_cleared(scene: Studio, tmp_path: Path) -> None:
    file = Sdf.Layer.CreateNew(str(tmp_path / "file.usda"))
    Sdf.CreatePrimInLayer(file, "/Tree").SetInfo("customData", {"take": 1})
    file.Save()
    values = {"references": [{"file": "./file.usda", "prim": "/Tree"}]}
    scene.do("create", things=[{"type": "Xform", "name": "R", "under": "/", "values": values}])

    why = scene.fails("set_values", items=["/R"], values={"custom_data:take": None})

    assert "custom_data:take of /R is held by another layer: 1" in why
