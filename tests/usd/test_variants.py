"""Variant sets and variants are items: the verbs create, list, set and delete them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge_usd.operations.drawing import UsdOperations
from tests.usd.test_verbs import studio
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, Studio

TREE = "/World/Props/Tree"
LOOK = f"{TREE}{{look=}}"
RED = f"{TREE}{{look=red}}"
BLUE = f"{TREE}{{look=blue}}"
LOOKS: dict[str, Any] = {
    "type": "VariantSet",
    "name": "look",
    "under": TREE,
    "values": {"variants": ["red", "blue"], "selection": "red"},
}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene whose tree has two looks, and a person who says yes."""
    with studio(tmp_path, YES, YES) as scene:
        scene.do("create", things=[LOOKS])
        yield scene


def inspected(scene: Studio, item: str) -> Any:
    """Return what `inspect` tells of one item."""
    return scene.do("inspect", items=[item])["items"][0]


def test_a_variant_set_is_created_with_its_variants(scene: Studio) -> None:
    told = scene.do("create", things=[{"type": "Variant", "name": "green", "under": LOOK}])

    assert told["made"] == [{"item": f"{TREE}{{look=green}}", "type": "Variant"}]
    assert inspected(scene, LOOK)["values"] == {
        "variants": ["blue", "green", "red"],
        "selection": "red",
    }


def test_a_variant_of_a_new_set_is_created_in_one_call(scene: Studio) -> None:
    names = ("size=small", "size=large")
    things = [{"type": "Variant", "name": name, "under": TREE} for name in names]

    told = scene.do("create", things=things)

    assert [row["item"] for row in told["made"]] == [f"{TREE}{{{name}}}" for name in names]
    assert "names_taken" not in told


def test_variants_are_listed_below_their_set_and_their_prim(scene: Studio) -> None:
    below_set = scene.do("list_items", under=LOOK)
    below_prim = scene.do("list_items", under=TREE + "{}", type="Variant*")

    assert [row["item"] for row in below_set["rows"]] == [BLUE, RED]
    assert [row["type"] for row in below_prim["rows"]] == ["VariantSet", "Variant", "Variant"]


def test_a_variant_is_chosen_by_a_property_of_the_prim(scene: Studio) -> None:
    scene.do("set_values", items=[TREE], values={"variant:look": "blue"})

    assert inspected(scene, TREE)["values"]["variant:look"] == "blue"


@pytest.mark.parametrize("item", [TREE, "/World/Props/Crate"])
def test_a_wrong_spelling_of_the_selection_is_answered_with_the_right_one(
    scene: Studio, item: str
) -> None:
    why = scene.fails("set_values", items=[item], values={"variants.look": "blue"})

    assert "variant:" in why


def test_values_and_prims_come_into_the_variant_that_is_selected(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])
    scene.do("set_values", items=[RED], values={"visibility": "invisible"})
    assert inspected(scene, RED)["values"] == {"visibility": "invisible"}

    scene.do("set_values", items=[TREE], values={"variant:look": "blue"})

    assert "visibility" not in inspected(scene, TREE).get("values", {})
    assert scene.host.kinds([f"{TREE}/Hat"]) == ["gone"]
    why = scene.fails("set_values", items=[RED], values={"visibility": "inherited"})
    assert f"set variant:look of {TREE} to red first" in why


def test_a_prim_below_has_other_values_in_each_variant(scene: Studio) -> None:
    trunk = f"{TREE}/Trunk"
    steps = []
    for variant, size in (("red", 3.0), ("blue", 4.0)):
        inside = f"{TREE}{{look={variant}}}Trunk"
        steps.append(step("set_values", items=[TREE], values={"variant:look": variant}))
        steps.append(step("set_values", items=[inside], values={"size": size}))
    before = scene.host.scene_digest()

    scene.do("batch", steps=steps)

    assert inspected(scene, trunk)["values"]["size"] == 4.0
    scene.do("set_values", items=[TREE], values={"variant:look": "red"})
    assert inspected(scene, trunk)["values"]["size"] == 3.0
    scene.do("undo_last")
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_path_in_a_variant_is_for_values_alone(scene: Studio) -> None:
    inside = f"{RED}Trunk"
    assert f"that takes {TREE}/Trunk" in scene.fails("duplicate", items=[inside])
    assert f"that takes {TREE}/Trunk" in scene.fails("delete", items=[inside])
    why = scene.fails("set_values", items=[f"{BLUE}Trunk"], values={"size": 1})
    assert f"set variant:look of {TREE} to blue first" in why


def test_a_value_outside_the_variant_that_goes_before_it_is_named(scene: Studio) -> None:
    scene.do("set_values", items=[TREE], values={"visibility": "invisible"})

    why = scene.fails("set_values", items=[RED], values={"visibility": "inherited"})

    assert "the prim itself, outside the variant" in why


@pytest.mark.parametrize("item", [LOOK, RED, BLUE])
def test_a_variant_is_deleted_once_the_person_agrees_and_comes_back(
    scene: Studio, item: str
) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])
    before = scene.host.scene_digest()

    told = scene.do("delete", items=[item])

    assert told["items"] == [item]
    assert told.get("still_there", []) == []
    assert len(scene.asked) == 1
    assert scene.host.kinds([item]) == ["gone"]
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_the_question_tells_of_the_prims_in_a_variant(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])

    scene.do("delete", items=[RED])

    assert scene.asked == [f'Delete the variant "{RED}" and 1 more below it?']


def test_nothing_of_a_variant_goes_where_the_person_refuses(tmp_path: Path) -> None:
    with studio(tmp_path, NO) as scene:
        scene.do("create", things=[LOOKS])

        scene.fails("delete", items=[RED])


def test_a_deleted_prim_does_not_take_a_question_about_its_variants(scene: Studio) -> None:
    scene.do("delete", items=[TREE])

    assert len(scene.asked) == 1
    assert scene.host.kinds([LOOK]) == ["gone"]


def test_the_loss_of_a_variant_is_named(scene: Studio) -> None:
    host = scene.host
    with host.undo_step("Remove"):
        spec = host.stage.GetRootLayer().GetObjectAtPath(RED)
        spec.owner.RemoveVariant(spec)
        lost = host.lost([])
        agreed = host.lost([RED])

    assert lost == [f"variant red of {TREE}"]
    assert agreed == []


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        ({**LOOKS}, "has a variant set look already"),
        ({"type": "VariantSet", "name": "a b", "under": TREE}, "cannot be a variant set"),
        ({"type": "VariantSet", "name": "size"}, "name the prim in `under`"),
        ({"type": "Variant", "name": "red", "under": LOOK}, "has a variant red already"),
        ({"type": "Variant", "name": "a b", "under": LOOK}, "cannot be a variant"),
        ({"type": "Variant", "name": "red", "under": TREE}, "belongs to a variant set"),
        ({"type": "Cube", "under": BLUE}, "is not selected"),
    ],
)
def test_what_cannot_be_a_variant_is_refused(
    scene: Studio, thing: dict[str, Any], why: str
) -> None:
    assert why in scene.fails("create", things=[thing])


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("rename", {"names": {RED: "blue"}}),
        ("rename", {"names": {RED: "a b"}}),
        ("rename", {"names": {LOOK: "a b"}}),
        ("duplicate", {"items": [RED]}),
        ("transform", {"items": [RED], "move": [1, 0, 0]}),
        ("set_values", {"items": [LOOK], "values": {"variants": ["red"]}}),
        ("set_values", {"items": [LOOK], "values": {"selection": "green"}}),
        ("set_values", {"items": [LOOK], "values": {"color": "green"}}),
    ],
)
def test_what_a_variant_cannot_do_is_refused_with_the_scene_as_before(
    scene: Studio, verb: str, arguments: dict[str, Any]
) -> None:
    scene.fails(verb, **arguments)


def test_a_variant_is_renamed_with_its_selection_and_nobody_is_asked(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])
    before = scene.host.scene_digest()

    told = scene.do("rename", names={RED: "crimson"})

    assert told["pairs"] == [[RED, f"{TREE}{{look=crimson}}"]]
    assert inspected(scene, LOOK)["values"] == {
        "variants": ["blue", "crimson"],
        "selection": "crimson",
    }
    assert scene.host.kinds([f"{TREE}/Hat"]) == ["Cube"]
    assert scene.asked == []
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_variant_set_is_renamed_with_its_variants(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])
    before = scene.host.scene_digest()

    told = scene.do("rename", names={LOOK: "colour"})

    assert told["pairs"] == [[LOOK, f"{TREE}{{colour=}}"]]
    assert inspected(scene, TREE)["values"]["variant:colour"] == "red"
    assert "variant:look" not in inspected(scene, TREE)["values"]
    assert scene.host.kinds([f"{TREE}/Hat"]) == ["Cube"]
    assert scene.asked == []
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_what_a_variant_loses_as_it_is_renamed_is_found(scene: Studio) -> None:
    host = scene.host
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])

    with host.undo_step("Rename and remove"):
        UsdOperations(host).rename(RED, "crimson")
        layer = host.stage.GetRootLayer()
        del layer.GetPrimAtPath(f"{TREE}{{look=crimson}}").nameChildren["Hat"]
        lost = host.lost([])

    assert lost == [f"variant red of {TREE}"]


def test_a_variant_of_a_referenced_file_cannot_be_deleted(scene: Studio, tmp_path: Path) -> None:
    scene.host.stage.GetRootLayer().Export(str(tmp_path / "tree.usda"))
    scene.do("import_file", path=str(tmp_path / "tree.usda"), how="reference")
    own = "/World/World/Props/Tree{look=red}"

    why = scene.fails("delete", items=[own])

    assert "a referenced file or another variant holds it" in why


def test_a_batch_sets_a_value_in_each_variant(scene: Studio) -> None:
    steps = []
    for variant, item in (("red", RED), ("blue", BLUE)):
        steps.append(step("set_values", items=[TREE], values={"variant:look": variant}))
        steps.append(step("set_values", items=[item], values={"purpose": "render"}))

    scene.do("batch", steps=steps)

    assert inspected(scene, RED)["values"] == inspected(scene, BLUE)["values"]


@pytest.mark.parametrize("query", ["add variant set", "edit in variant"])
def test_find_api_leads_to_the_call_of_a_verb(scene: Studio, query: str) -> None:
    first = scene.do("find_api", query=query)["cards"][0]

    assert first["name"].startswith("create type Variant")
    assert first["example"].startswith("create {")


def test_a_value_in_a_variant_is_told_at_length(scene: Studio) -> None:
    told = scene.do("inspect", items=[f"{RED}Trunk"], names=["size"])["items"][0]

    assert told["values"] == {"size": 2.0}


def test_the_prims_in_a_variant_are_listed_while_it_is_selected(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": RED}])

    rows = scene.do("list_items", under=RED)["rows"]

    assert rows == [{"item": f"{RED}Hat", "type": "Cube"}]
    scene.do("set_values", items=[TREE], values={"variant:look": "blue"})
    assert scene.do("list_items", under=RED)["rows"] == []


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (f"{BLUE}Trunk", f"set variant:look of {TREE} to blue first"),
        (BLUE, f"set variant:look of {TREE} to blue first"),
        (f"{TREE}{{look=green}}", "has no variant 'green' of look. It has blue, red."),
        (f"{TREE}{{look=green}}Trunk", "has no variant 'green' of look. It has blue, red."),
        (f"{TREE}{{lok=red}}Trunk", "has no variant set 'lok'. It has look."),
    ],
)
def test_what_is_in_no_selected_variant_says_what_to_do(scene: Studio, item: str, why: str) -> None:
    values = {"visibility": "invisible"}

    assert why in scene.fails("set_values", items=[item], values=values)


def test_a_prim_that_is_created_in_a_variant_has_its_place_and_its_values_there(
    scene: Studio,
) -> None:
    before = scene.host.scene_digest()
    hat = {"type": "Cube", "name": "Hat", "under": RED, "at": [0, 9, 0], "values": {"size": 4}}

    told = scene.do("create", things=[hat])
    scene.do("transform", items=[f"{RED}Hat"], move=[1, 0, 0])

    assert [row["item"] for row in told["made"]] == [f"{RED}Hat"]
    layer = scene.host.stage.GetRootLayer()
    assert not layer.GetPrimAtPath(f"{TREE}/Hat")
    assert layer.GetAttributeAtPath(f"{RED}Hat.xformOp:translate").default == (51, 9, 0)
    assert layer.GetAttributeAtPath(f"{RED}Hat.size").default == 4
    scene.do("undo_last")
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_prim_is_created_below_one_in_a_variant(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Xform", "name": "Hat", "under": RED}])

    told = scene.do("create", things=[{"type": "Cube", "name": "Brim", "under": f"{RED}Hat"}])

    assert [row["item"] for row in told["made"]] == [f"{RED}Hat/Brim"]
    assert scene.host.stage.GetRootLayer().GetPrimAtPath(f"{RED}Hat/Brim")


def test_a_selection_in_a_variant_that_a_stronger_one_hides_is_refused(scene: Studio) -> None:
    shapes = {"variants": ["x", "y"], "selection": "x"}
    scene.do(
        "create",
        things=[{"type": "VariantSet", "name": "shape", "under": TREE, "values": shapes}],
    )

    why = scene.fails("set_values", items=[RED], values={"variant:shape": "y"})

    assert f"shape of {TREE} stays x" in why


def test_a_variant_set_in_a_variant_has_variants_and_values(scene: Studio) -> None:
    before = scene.host.scene_digest()
    sizes = {"variants": ["big", "small"], "selection": "big"}
    big = f"{RED}{{size=big}}"

    told = scene.do(
        "create",
        things=[{"type": "VariantSet", "name": "size", "under": RED, "values": sizes}],
    )
    scene.do("create", things=[{"type": "Variant", "name": "huge", "under": f"{RED}{{size=}}"}])
    scene.do("set_values", items=[f"{big}Trunk"], values={"size": 8})

    assert told["made"][0]["item"] == f"{RED}{{size=}}"
    layer = scene.host.stage.GetRootLayer()
    assert layer.GetAttributeAtPath(f"{big}Trunk.size").default == 8
    assert layer.GetPrimAtPath(f"{RED}{{size=huge}}")
    assert "size" not in layer.GetPrimAtPath(TREE).variantSets
    assert inspected(scene, f"{TREE}/Trunk")["values"]["size"] == 8
    scene.do("set_values", items=[TREE], values={"variant:look": "blue"})
    assert "variant:size" not in inspected(scene, TREE)["values"]
    for _ in range(4):
        scene.do("undo_last")
    assert scene.host.scene_digest() == before


def test_a_variant_set_in_a_variant_is_renamed_and_deleted(scene: Studio) -> None:
    sizes = {"variants": ["big", "small"], "selection": "big"}
    thing = {"type": "VariantSet", "name": "size", "under": RED, "values": sizes}
    scene.do("create", things=[thing])
    before = scene.host.scene_digest()

    scene.do("rename", names={f"{RED}{{size=}}": "scale"})
    assert inspected(scene, TREE)["values"]["variant:scale"] == "big"
    assert scene.asked == []
    scene.do("delete", items=[f"{RED}{{scale=}}"])

    assert scene.host.kinds([f"{RED}{{scale=}}"]) == ["gone"]
    assert len(scene.asked) == 1
    scene.do("undo_last")
    scene.do("undo_last")
    assert scene.host.scene_digest() == before


@pytest.mark.parametrize("selection", ["big", None])
def test_a_variant_set_is_read_with_and_without_a_selection(
    scene: Studio, selection: str | None
) -> None:
    values: dict[str, Any] = {"variants": ["big"]}
    if selection:
        values["selection"] = selection
    thing = {"type": "VariantSet", "name": "size", "under": TREE, "values": values}
    scene.do("create", things=[thing])

    told = inspected(scene, f"{TREE}{{size=}}")

    assert told["values"] == {"variants": ["big"], "selection": selection or ""}
    assert told.keys() == {"item", "type", "parent", "values"}


def test_a_variant_set_in_a_variant_has_one_name(scene: Studio) -> None:
    sizes = {"variants": ["big"], "selection": "big"}
    thing = {"type": "VariantSet", "name": "size", "under": RED, "values": sizes}

    made = scene.do("create", things=[thing])["made"][0]["item"]

    rows = [row["item"] for row in scene.do("list_items", under=f"{TREE}{{}}")["rows"]]
    assert made == f"{RED}{{size=}}"
    assert rows == [LOOK, BLUE, RED, made, f"{RED}{{size=big}}"]
