"""Sublayers and the layer that edits go to are values of the scene, which an undo puts back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge.verbs.operations import SCENE
from tests.usd.test_verbs import studio
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, Studio

ANIM = "./anim.usda"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene with a sublayer that lies on disk, and a person who says yes."""
    Usd.Stage.CreateNew(str(tmp_path / "set.usda")).Save()
    with studio(tmp_path, YES, YES) as scene:
        scene.do("set_values", items=[SCENE], values={"sublayers": ["./set.usda"]})
        yield scene


def set_scene(scene: Studio, **values: Any) -> Any:
    """Set values of the scene."""
    return scene.do("set_values", items=[SCENE], values=values)


def values_of(scene: Studio) -> Any:
    """Return the values of the scene."""
    return scene.do("inspect", items=[SCENE])["items"][0]["values"]


def target(scene: Studio) -> str:
    """Return the name of the layer that edits go to."""
    name: str = scene.host.stage.GetEditTarget().GetLayer().GetDisplayName()
    return name


def test_a_sublayer_is_listed_and_undone(scene: Studio) -> None:
    before = scene.host.scene_digest()
    assert values_of(scene)["sublayers"] == ["./set.usda"]

    set_scene(scene, sublayers=[ANIM, "./set.usda"])
    assert values_of(scene)["sublayers"] == [ANIM, "./set.usda"]

    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_new_sublayer_is_written_by_the_next_save(scene: Studio, tmp_path: Path) -> None:
    set_scene(scene, sublayers=[ANIM])
    assert not (tmp_path / "anim.usda").exists()

    scene.do("save")

    written = Sdf.Layer.OpenAsAnonymous(str(tmp_path / "anim.usda"))
    assert written.pseudoRoot.GetInfo("metersPerUnit") == 0.01


def test_a_new_sublayer_is_beside_the_scene_whatever_the_working_folder_is(
    scene: Studio, tmp_path: Path
) -> None:
    set_scene(scene, sublayers=["anim.usda", "./set.usda"])

    scene.do("save")

    assert (tmp_path / "anim.usda").is_file()
    assert values_of(scene)["sublayers"] == [ANIM, "./set.usda"]


def test_edits_go_to_the_edit_target_until_an_undo_puts_it_back(scene: Studio) -> None:
    root = scene.host.stage.GetRootLayer().ExportToString()

    told = set_scene(scene, edit_target="./set.usda")
    scene.do("create", things=[{"type": "Cube", "name": "New", "under": "/World"}])

    assert told["values"][0]["after"] == "set.usda"
    assert scene.host.stage.GetRootLayer().ExportToString() == root
    scene.do("undo_last")
    assert target(scene) == "set.usda"
    scene.do("undo_last")
    assert target(scene) == "shot.usda"
    scene.host.redo()
    assert target(scene) == "set.usda"


def test_the_edit_target_is_put_back_after_a_save_under_another_name(
    scene: Studio, tmp_path: Path
) -> None:
    set_scene(scene, edit_target="set.usda")
    scene.do("save", path=str(tmp_path / "other.usda"))

    scene.host.undo()

    assert target(scene) == "other.usda"


def test_code_that_sets_the_edit_target_has_it_put_back(scene: Studio) -> None:
    host = scene.host
    stage = host.stage
    set_scene(scene, edit_target="set.usda")
    put_back: list[str] = []

    with host.guard(put_back, read=False):
        stage.SetEditTarget(stage.GetRootLayer())

    assert (target(scene), put_back) == ("set.usda", ["which layer edits go to"])


def test_the_edit_target_is_put_back_with_a_batch_that_fails(scene: Studio) -> None:
    wanted = {"sublayers": [ANIM, "./set.usda"], "edit_target": "anim.usda"}
    labels = scene.host.undo_labels

    scene.fails(
        "batch",
        steps=[
            step("set_values", items=[SCENE], values=wanted),
            step("create", things=[{"type": "Cube", "under": "/Nowhere"}]),
        ],
    )

    assert (target(scene), scene.host.undo_labels) == ("shot.usda", labels)


def test_a_batch_makes_a_layer_and_edits_in_it_as_one_step(scene: Studio) -> None:
    before = scene.host.scene_digest()
    wanted = {"sublayers": [ANIM, "./set.usda"], "edit_target": "anim.usda"}

    scene.do(
        "batch",
        steps=[
            step("set_values", items=[SCENE], values=wanted),
            step("create", things=[{"type": "Cube", "name": "New", "under": "/World"}]),
        ],
    )

    assert scene.host.stage.GetPrimAtPath("/World/New").GetPrimStack()[0].layer == (
        scene.host.stage.GetEditTarget().GetLayer()
    )
    assert target(scene) == "anim.usda"
    scene.do("undo_last")
    assert (target(scene), scene.host.scene_digest()) == ("shot.usda", before)


def test_a_sublayer_is_removed_once_the_person_agrees(scene: Studio) -> None:
    set_scene(scene, sublayers=[])

    assert "layer set.usda of the scene" in str(scene.person.shown[0].consent)
    assert values_of(scene)["sublayers"] == []
    scene.do("undo_last")
    assert values_of(scene)["sublayers"] == ["./set.usda"]


def test_a_sublayer_stays_where_the_person_refuses(tmp_path: Path) -> None:
    Usd.Stage.CreateNew(str(tmp_path / "set.usda")).Save()
    with studio(tmp_path, NO) as scene:
        set_scene(scene, sublayers=["./set.usda"])

        scene.fails("set_values", items=[SCENE], values={"sublayers": []})


def test_a_layer_that_moves_keeps_its_time_offset(scene: Studio) -> None:
    root: Any = scene.host.stage.GetRootLayer()
    root.subLayerOffsets[0] = Sdf.LayerOffset(12.0)

    set_scene(scene, sublayers=[ANIM, "./set.usda"])

    assert [offset.offset for offset in root.subLayerOffsets] == [0.0, 12.0]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"sublayers": "./anim.usda"}, "in a list"),
        ({"sublayers": [ANIM, ANIM]}, "named once each"),
        ({"sublayers": ["./anim.txt"]}, "anim.txt"),
        ({"sublayers": ["./shot.usda"]}, "this scene itself"),
        ({"sublayers": ["x;:SDF_FORMAT_ARGS:y=1.usda"]}, "cannot be a sublayer"),
        ({"sublayers": ["./none/anim.usda"]}, "There is no folder"),
        ({"edit_target": "anim.usda"}, "edit_target is one of shot.usda, set.usda"),
        ({"edit_target": None}, "edit_target is one of shot.usda, set.usda"),
    ],
)
def test_what_cannot_be_a_layer_is_refused(scene: Studio, values: Any, why: str) -> None:
    assert why in scene.fails("set_values", items=[SCENE], values=values)


def test_the_edit_target_cannot_be_removed(scene: Studio) -> None:
    set_scene(scene, edit_target="set.usda")

    why = scene.fails("set_values", items=[SCENE], values={"sublayers": []})

    assert "is the edit_target" in why


def test_a_locked_layer_cannot_be_the_edit_target(scene: Studio) -> None:
    scene.host.stage.GetLayerStack()[-1].SetPermissionToEdit(False)

    why = scene.fails("set_values", items=[SCENE], values={"edit_target": "set.usda"})

    assert "unlock it first" in why


def test_a_deletion_in_another_layer_hides_there_what_other_layers_hold(scene: Studio) -> None:
    root = scene.host.stage.GetRootLayer().ExportToString()
    set_scene(scene, edit_target="set.usda")
    before = scene.host.scene_digest()

    told = scene.do("delete", items=["/World/Props/Tree"])

    assert told["only_hidden"] == ["/World/Props/Tree"]
    assert scene.host.stage.GetRootLayer().ExportToString() == root
    assert not scene.host.stage.GetPrimAtPath("/World/Props/Tree").IsActive()
    question = scene.person.shown[0].message
    assert "Only the layer set.usda is edited. What other layers hold becomes inactive" in question
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_what_one_layer_alone_holds_is_deleted_from_it(scene: Studio) -> None:
    set_scene(scene, edit_target="set.usda")
    before = scene.host.scene_digest()
    scene.do("create", things=[{"type": "Cube", "name": "New", "under": "/World"}])

    told = scene.do("delete", items=["/World/New"])

    assert not told["only_hidden"]
    assert "Only the layer set.usda is edited." in scene.person.shown[0].message
    assert scene.host.kinds(["/World/New"]) == ["gone"]
    scene.do("undo_last")
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_deletion_in_the_scene_s_own_layer_names_all_layers_that_it_edits(scene: Studio) -> None:
    set_scene(scene, edit_target="set.usda")
    scene.do("set_values", items=["/World/Props/Tree"], values={"comment": "old"})
    set_scene(scene, edit_target="shot.usda")

    scene.do("delete", items=["/World/Props/Tree"])

    assert "It goes from the layers shot.usda, set.usda." in scene.person.shown[0].message
    assert scene.host.kinds(["/World/Props/Tree"]) == ["gone"]


def test_a_variant_of_another_layer_than_the_edit_target_is_not_deleted(scene: Studio) -> None:
    looks = {"type": "Variant", "name": "look=red", "under": "/World/Props/Tree"}
    scene.do("create", things=[looks])
    set_scene(scene, edit_target="set.usda")

    why = scene.fails("delete", items=["/World/Props/Tree{look=red}"])

    assert "shot.usda holds it. Set edit_target of @scene to shot.usda first" in why


def test_values_of_the_scene_are_told_by_their_names(scene: Studio) -> None:
    told = scene.do("inspect", items=[SCENE], names=["sub*", "edit_target", "layer"])["items"][0]

    assert told["values"].keys() == {"sublayers", "edit_target", "layer"}
    assert told["values"]["sublayers"] == ["./set.usda"]
    assert "muted_layers" in told["values"]["layer"]["error"]


@pytest.fixture
def namesakes(tmp_path: Path) -> Iterator[Studio]:
    """A scene with two sublayers of one name in two folders."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
        Usd.Stage.CreateNew(str(tmp_path / folder / "anim.usda")).Save()
    with studio(tmp_path) as scene:
        set_scene(scene, sublayers=["./a/anim.usda", "./b/anim.usda"])
        yield scene


def folder_of(layer: str) -> str:
    """Return the name of the folder of a layer."""
    return Path(layer).parent.name


def test_the_edit_target_is_told_by_its_path_where_layers_share_a_name(namesakes: Studio) -> None:
    set_scene(namesakes, edit_target="./b/anim.usda")

    told = values_of(namesakes)["edit_target"]
    set_scene(namesakes, edit_target=told)

    assert told == "./b/anim.usda"
    edited = namesakes.host.stage.GetEditTarget().GetLayer().identifier
    assert folder_of(edited) == "b"


def test_muted_layers_are_told_by_their_paths_where_layers_share_a_name(namesakes: Studio) -> None:
    answer = set_scene(namesakes, muted_layers=["./b/anim.usda"])

    told = values_of(namesakes)["muted_layers"]
    set_scene(namesakes, muted_layers=told)

    assert told == ["./b/anim.usda"]
    assert '[] -> ["./b/anim.usda"]' in answer["now"]
    assert [folder_of(each) for each in namesakes.host.stage.GetMutedLayers()] == ["b"]


@pytest.mark.parametrize("values", [{"edit_target": "anim.usda"}, {"muted_layers": ["anim.usda"]}])
def test_a_name_that_layers_share_is_refused_with_their_paths(
    namesakes: Studio, values: Any
) -> None:
    why = namesakes.fails("set_values", items=[SCENE], values=values)

    assert "several layers: ./a/anim.usda, ./b/anim.usda" in why
