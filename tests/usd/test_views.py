"""What is muted and what is loaded are values, which an undo puts back, and lose nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge.verbs.operations import SCENE
from dcc_bridge_usd.views import StageView
from tests.usd.test_verbs import studio
from tests.verbs.steps import step
from tests.verbs.studio import YES, Studio

HERO = "/World/Hero"
BODY = f"{HERO}/Body"
ANIM = "./anim.usda"
_FILE = """#usda 1.0
(
    defaultPrim = "Hero"
)

def Xform "Hero"
{
    def Sphere "Body"
    {
    }
}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A scene with a payload and a layer of animation, and a person who says yes."""
    (tmp_path / "hero.usda").write_text(_FILE)
    with studio(tmp_path, YES) as scene:
        scene.do("import_file", path=str(tmp_path / "hero.usda"), how="payload")
        set_scene(scene, sublayers=[ANIM], edit_target="anim.usda")
        scene.do("set_values", items=[BODY], values={"radius": 3})
        set_scene(scene, edit_target="shot.usda")
        yield scene


def set_scene(scene: Studio, **values: Any) -> Any:
    """Set values of the scene."""
    return scene.do("set_values", items=[SCENE], values=values)


def load(scene: Studio, *, loaded: bool) -> Any:
    """Load or unload the hero."""
    return scene.do("set_values", items=[HERO], values={"loaded": loaded})


def with_unloaded(scene: Studio, path: str) -> StageView:
    """Return the view of the scene with one prim and all below it not loaded."""
    rules = Usd.StageLoadRules()
    rules.AddRule(path, rules.NoneRule)
    return StageView.of(scene.host.stage)._replace(rules=rules)


def value(scene: Studio, prop: str, item: str = SCENE) -> Any:
    """Return a value as `inspect` tells it."""
    return scene.do("inspect", items=[item], names=[prop])["items"][0]["values"][prop]


def radius(scene: Studio) -> Any:
    """Return the radius that the scene shows; None where the body is not there."""
    prim = scene.host.stage.GetPrimAtPath(BODY)
    if not prim or not prim.IsDefined():
        return None
    return prim.GetAttribute("radius").Get()


def test_a_muted_layer_shows_nothing_and_comes_back_by_undo(scene: Studio) -> None:
    before = scene.host.scene_digest()

    told = set_scene(scene, muted_layers=["anim.usda"])

    assert (radius(scene), value(scene, "muted_layers")) == (1.0, ["anim.usda"])
    assert told["now"] == 'changed: @scene, muted_layers: [] -> ["anim.usda"]'
    scene.do("undo_last")
    assert (radius(scene), scene.host.scene_digest()) == (3.0, before)
    scene.host.redo()
    assert radius(scene) == 1.0
    set_scene(scene, muted_layers=[])
    assert radius(scene) == 3.0


def test_an_unloaded_payload_is_there_and_comes_back_by_undo(scene: Studio) -> None:
    before = scene.host.scene_digest()

    told = load(scene, loaded=False)

    assert radius(scene) is None
    assert (value(scene, "loaded", HERO), value(scene, "unloaded")) == (False, [HERO])
    assert told["now"] == f'changed: @scene, unloaded: [] -> ["{HERO}"]'
    scene.do("undo_last")
    assert (radius(scene), scene.host.scene_digest()) == (3.0, before)
    assert value(scene, "loaded", HERO) is True


def test_a_payload_is_loaded_again_by_its_value_and_by_the_scene_s(scene: Studio) -> None:
    set_scene(scene, unloaded=[HERO])
    assert radius(scene) is None

    load(scene, loaded=True)
    assert (radius(scene), value(scene, "unloaded")) == (3.0, [])

    set_scene(scene, unloaded=[HERO])
    set_scene(scene, unloaded=[])
    assert radius(scene) == 3.0


def test_nothing_is_believed_lost_that_is_only_not_shown(scene: Studio) -> None:
    with scene.host.changes() as count:
        steps = [
            step("set_values", items=[BODY], values={"radius": 4}),
            step("create", things=[{"type": "Cube", "name": "Hat", "under": HERO}]),
            step("set_values", items=[HERO], values={"loaded": False}),
            step("set_values", items=[SCENE], values={"muted_layers": ["anim.usda"]}),
        ]
        told = scene.do("batch", steps=steps)

        assert not count().deleted
    assert "deleted" not in told["now"].lower()
    assert scene.asked == []


def test_a_loss_is_found_although_the_payload_is_unloaded_in_the_same_batch(tmp_path: Path) -> None:
    (tmp_path / "hero.usda").write_text(_FILE)
    with studio(tmp_path, YES) as scene:
        scene.do("import_file", path=str(tmp_path / "hero.usda"), how="payload")
        scene.do("create", things=[{"type": "Cube", "name": "Hat", "under": HERO}])

        steps = [
            step("delete", items=[f"{HERO}/Hat"]),
            step("set_values", items=[HERO], values={"loaded": False}),
        ]
        scene.do("batch", steps=steps)

        assert len(scene.asked) == 1
        scene.do("undo_last")
        assert scene.host.kinds([f"{HERO}/Hat"]) == ["Cube"]


def test_edits_of_a_layer_that_is_muted_are_saved(scene: Studio, tmp_path: Path) -> None:
    set_scene(scene, muted_layers=["anim.usda"])

    scene.do("save")

    written = Sdf.Layer.OpenAsAnonymous(str(tmp_path / "anim.usda"))
    assert written.GetAttributeAtPath(f"{BODY}.radius").default == 3.0


def test_a_batch_that_fails_leaves_what_is_muted_and_loaded(scene: Studio) -> None:
    steps = [
        step("set_values", items=[HERO], values={"loaded": False}),
        step("set_values", items=[SCENE], values={"muted_layers": ["anim.usda"]}),
        step("create", things=[{"type": "Cube", "under": "/Nowhere"}]),
    ]

    scene.fails("batch", steps=steps)

    assert radius(scene) == 3.0


def test_code_that_mutes_has_it_put_back_to_what_a_verb_set(scene: Studio) -> None:
    host = scene.host
    stage: Usd.Stage = host.stage
    set_scene(scene, muted_layers=["anim.usda"])
    put_back: list[str] = []

    with host.guard(put_back, read=False):
        stage.UnmuteLayer(stage.GetMutedLayers()[0])
        stage.Unload(HERO)

    assert value(scene, "muted_layers") == ["anim.usda"]
    assert put_back == ["what is loaded", "which layers are muted"]


@pytest.mark.parametrize(
    ("item", "prop", "wrong", "why"),
    [
        (SCENE, "muted_layers", ["shot.usda"], "some of anim.usda"),
        (SCENE, "muted_layers", "anim.usda", "in a list"),
        (SCENE, "unloaded", [BODY], 'how="payload"'),
        (SCENE, "unloaded", ["/World/None"], "no prim at"),
        (HERO, "loaded", "no", "true or false"),
        ("/World/Props", "loaded", False, 'how="payload"'),
    ],
)
def test_what_cannot_be_muted_or_unloaded_is_refused(
    scene: Studio, item: str, prop: str, wrong: Any, why: str
) -> None:
    assert why in scene.fails("set_values", items=[item], values={prop: wrong})


def test_the_edit_target_is_not_muted(scene: Studio) -> None:
    set_scene(scene, edit_target="anim.usda")

    why = scene.fails("set_values", items=[SCENE], values={"muted_layers": ["anim.usda"]})

    assert "is the edit_target" in why


@pytest.mark.parametrize("items", [[], ["/World/Props", HERO]])
def test_an_export_says_what_it_leaves_out_and_has_what_is_shown(
    scene: Studio, tmp_path: Path, items: list[str]
) -> None:
    set_scene(scene, muted_layers=["anim.usda"], unloaded=[HERO])

    told = scene.do("export_file", path=str(tmp_path / "copy.usda"), items=items)

    assert told["left_out"][:2] == [
        "The layer anim.usda, which is muted.",
        f"The payload of {HERO}, which is not loaded.",
    ]
    assert "Body" not in (tmp_path / "copy.usda").read_text()


def test_a_layer_below_a_sublayer_is_muted_and_edited_too(scene: Studio, tmp_path: Path) -> None:
    inner = '#usda 1.0\nover "World"\n{\n    def Cube "Inner"\n    {\n    }\n}\n'
    (tmp_path / "inner.usda").write_text(inner)
    (tmp_path / "deep.usda").write_text("#usda 1.0\n(\n    subLayers = [@./inner.usda@]\n)\n")
    set_scene(scene, sublayers=[ANIM, "./deep.usda"])

    set_scene(scene, muted_layers=["inner.usda"])

    assert scene.host.kinds(["/World/Inner"]) == ["gone"]
    scene.do("undo_last")
    assert scene.host.kinds(["/World/Inner"]) == ["Cube"]
    set_scene(scene, edit_target="inner.usda")
    assert value(scene, "edit_target") == "inner.usda"
    why = scene.fails("set_values", items=[SCENE], values={"muted_layers": ["deep.usda"]})
    assert "deep.usda is the edit_target, or has it" in why
    why = scene.fails("set_values", items=[SCENE], values={"sublayers": [ANIM]})
    assert "deep.usda is the edit_target, or has it" in why


def test_a_muted_sublayer_is_asked_about_before_it_goes(scene: Studio) -> None:
    set_scene(scene, muted_layers=["anim.usda"])

    set_scene(scene, sublayers=[])

    assert "layer anim.usda of the scene" in str(scene.person.shown[0].consent)


def test_an_unloaded_payload_stays_unloaded_under_another_name(scene: Studio) -> None:
    load(scene, loaded=False)

    answer = scene.do("rename", names={HERO: "Star"})

    assert value(scene, "unloaded") == ["/World/Star"]
    assert not scene.host.stage.GetPrimAtPath("/World/Star").IsLoaded()
    assert f"{HERO} is /World/Star" in answer["now"]
    scene.do("undo_last")
    assert value(scene, "unloaded") == [HERO]
    scene.host.redo()
    assert value(scene, "unloaded") == ["/World/Star"]


def test_a_payload_stays_unloaded_that_leaves_what_is_unloaded(scene: Studio) -> None:
    scene.do("create", things=[{"type": "Xform", "name": "Group", "under": "/World"}])
    scene.do("group", items=[HERO], under="/World/Group")
    scene.host.set_view(with_unloaded(scene, "/World/Group"))

    scene.do("group", items=["/World/Group/Hero"], under="/World/Props")

    assert not scene.host.stage.GetPrimAtPath("/World/Props/Hero").IsLoaded()
    assert value(scene, "unloaded") == ["/World/Group", "/World/Props/Hero"]


def test_a_loaded_payload_stays_loaded_under_another_name(scene: Studio) -> None:
    scene.do("rename", names={HERO: "Star"})

    assert scene.host.stage.GetPrimAtPath("/World/Star").IsLoaded()
    assert value(scene, "unloaded") == []


def test_a_prim_does_not_take_the_name_of_one_in_a_muted_layer(scene: Studio) -> None:
    set_scene(scene, edit_target="anim.usda")
    scene.do("create", things=[{"type": "Xform", "name": "Late", "under": "/World"}])
    set_scene(scene, edit_target="shot.usda", muted_layers=["anim.usda"])

    answer = scene.do("create", things=[{"type": "Cube", "name": "Late", "under": "/World"}])
    why = scene.fails("rename", names={"/World/Props": "Late"})

    assert answer["made"] == [{"item": "/World/Late_1", "type": "Cube"}]
    assert "/World/Late is taken" in why
    assert scene.asked == []


def test_a_prim_does_not_take_the_name_of_one_in_a_payload_that_is_not_loaded(
    scene: Studio, tmp_path: Path
) -> None:
    (tmp_path / "other.usda").write_text(_FILE)
    values = {"payloads": ["./other.usda"]}
    scene.do("create", things=[{"type": "Xform", "name": "Pay", "under": "/", "values": values}])
    scene.do("set_values", items=["/Pay"], values={"loaded": False})
    things = [{"type": "Cube", "name": name, "under": "/Pay"} for name in ("Body", "Hat")]

    answer = scene.do("create", things=things)
    why = scene.fails("rename", names={"/Pay/Hat": "Body"})

    assert [made["item"] for made in answer["made"]] == ["/Pay/Body_1", "/Pay/Hat"]
    assert "/Pay/Body is taken" in why
    scene.do("set_values", items=["/Pay"], values={"loaded": True})
    kinds = scene.host.kinds(["/Pay/Body", "/Pay/Body_1", "/Pay/Hat"])
    assert kinds == ["Sphere", "Cube", "Cube"]


def test_a_name_beside_those_of_an_unloaded_payload_is_found_without_what_is_below_them(
    scene: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep.usda").write_text(_FILE)
    payload = '    def Sphere "Body" (\n        payload = @./deep.usda@\n    )\n'
    (tmp_path / "other.usda").write_text(_FILE.replace('    def Sphere "Body"\n', payload))
    values = {"payloads": ["./other.usda"]}
    scene.host.set_view(with_unloaded(scene, "/Pay"))
    scene.do("create", things=[{"type": "Xform", "name": "Pay", "under": "/", "values": values}])
    opened = list[Usd.Stage]()
    open_masked = Usd.Stage.OpenMasked

    def kept(*arguments: Any) -> Usd.Stage:
        opened.append(open_masked(*arguments))
        return opened[-1]

    monkeypatch.setattr(Usd.Stage, "OpenMasked", kept)

    answer = scene.do("create", things=[{"type": "Cube", "name": "Body", "under": "/Pay"}])

    assert answer["made"] == [{"item": "/Pay/Body_1", "type": "Cube"}]
    assert opened
    assert Sdf.Layer.Find(str(tmp_path / "deep.usda")) is None
