"""A step that makes, moves or deletes prims keeps those prims, and is undone to the letter."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from random import Random
from typing import Any

import pytest
from pxr import Sdf, Tf, Usd

from dcc_bridge_usd import layer_copies, prims
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import Failed, check_undo, fail_after, state
from tests.usd.test_history import EDITS, NOT_IN_A_BLOCK, edit_some

SCENE = """#usda 1.0
def Xform "World"
{
    def Xform "a"
    {
        double x = 1
        def Sphere "b" {}
        over "c" {}
        def "d"
        {
            rel r = </World/b>
        }
    }
    def Sphere "b"
    {
        double x.timeSamples = { 1: 24, 10: 48 }
    }
    def "c" ( prepend references = </World/a> ) {}
    over "d" {}
}
class "b" {}
over "a" {}
"""
BELOW = """#usda 1.0
over "World"
{
    def Camera "e" {}
    over "a"
    {
        def Cube "b" {}
        def Cube "f" {}
    }
}
"""
# Those change the scene's layers, or what is not undone.
STRUCTURAL = sorted(EDITS.keys() - {"stack", "replace"})
Edit = Callable[[Any], object]


@pytest.fixture
def scene() -> UsdSession:
    """A session with a sublayer; both are in memory."""
    return _scene()


def _scene() -> UsdSession:
    below = Sdf.Layer.CreateAnonymous("below.usda")
    below.ImportFromString(BELOW)
    session = UsdSession()
    root = session.stage.GetRootLayer()
    root.ImportFromString(SCENE)
    root.subLayerPaths.append(below.identifier)
    assert session.undo_labels  # the mirror is up to date
    return session


def _run_steps(session: UsdSession, random: Random) -> None:
    """Edit a few times, in steps, in steps that fail, and by hand; in blocks or not."""
    for way in random.choices(["step", "hand", "failing step"], [6, 2, 1], k=random.randint(1, 2)):
        in_block = random.random() < 0.4
        names = [it for it in STRUCTURAL if not (in_block and it in NOT_IN_A_BLOCK)]
        some = [
            (random.choice(names), random.randrange(10**6)) for _ in range(random.randint(1, 4))
        ]

        def edit(stage: Usd.Stage, some: list[Any] = some, in_block: bool = in_block) -> None:
            with Sdf.ChangeBlock() if in_block else nullcontext():
                edit_some(stage, some)

        match way:
            case "step":
                with session.undo_step("Step"):
                    edit(session.stage)
            case "hand":
                edit(session.stage)
            case _:
                with pytest.raises(Failed):
                    fail_after(session, edit)


@pytest.mark.parametrize("programs", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_of_what_was_lost_only_what_was_agreed_to_and_what_is_below_it_is_left_out(
    programs: int,
) -> None:
    sizes = set[tuple[bool, bool]]()
    for seed in range(programs):
        session = _scene()
        random = Random(seed)
        paths = [str(it.GetPath()) for it in session.stage.Traverse(Usd.PrimAllPrimsPredicate)]
        agreed = random.sample(paths, random.randint(1, 4))

        _run_steps(session, random)
        told = {len(asked): session.lost(asked) for asked in random.sample([agreed, []], 2)}
        beside = told[len(agreed)]
        lost = told[0]

        items = {it: Sdf.Path(it.rpartition(" ")[2]) for it in lost}  # "2 keys of x of /World/a"
        others = [it for it in lost if not any(map(items[it].HasPrefix, map(Sdf.Path, agreed)))]
        # a part is called by where its prim is now, which was agreed to by where it was
        assert {*beside} <= {*others}, seed
        assert [it for it in beside if it[0] == "/"] == [it for it in others if it[0] == "/"], seed
        sizes.add((bool(others), len(others) < len(lost)))
    assert len(sizes) == 4  # some, all or nothing of it was agreed to, or nothing was lost


def _layer(stage: Usd.Stage) -> Any:
    return stage.GetRootLayer()


def _remove(stage: Usd.Stage, path: str) -> None:
    spec = _layer(stage).GetPrimAtPath(path)
    del spec.nameParent.nameChildren[spec.name]


def _in_namespace(stage: Usd.Stage, old: str, new: str) -> None:
    editor = Usd.NamespaceEditor(stage)
    editor.MovePrimAtPath(old, new)
    editor.ApplyEdits()


def _apply(stage: Usd.Stage, *edits: tuple[str, str, int]) -> None:
    batch = Sdf.BatchNamespaceEdit()
    for edit in edits:
        batch.Add(*edit)
    assert _layer(stage).Apply(batch)


def _set(stage: Usd.Stage, path: str, field: str, value: object) -> object:
    setattr(_layer(stage).GetPrimAtPath(path), field, value)
    return path


def _reorder(stage: Usd.Stage) -> None:
    children = _layer(stage).GetPrimAtPath("/World").nameChildren
    children[:] = [children[name] for name in "dbca"]


PLAIN_EDITS: dict[str, Edit] = {
    "define a prim": lambda it: it.DefinePrim("/World/new", "Cube"),
    "define prims below each other": lambda it: it.DefinePrim("/World/new/deep/deeper", "Cube"),
    "override what is not there": lambda it: it.OverridePrim("/World/new/deep"),
    "remove the first prim": lambda it: it.RemovePrim("/World/a"),
    "remove an over": lambda it: _remove(it, "/World/d"),
    "remove all": lambda it: _layer(it).GetPrimAtPath("/World").nameChildren.clear(),
    "remove and make again": lambda it: (it.RemovePrim("/World/b"), it.DefinePrim("/World/b")),
    "rename": lambda it: _set(it, "/World/a", "name", "z"),
    "rename twice": lambda it: (_set(it, "/a", "name", "y"), _set(it, "/y", "name", "z")),
    "rename with all its users": lambda it: _in_namespace(it, "/World/b", "/World/z"),
    "move to another parent": lambda it: _in_namespace(it, "/World/b", "/World/a/z"),
    "swap": lambda it: _apply(
        *(it, ("/World/a", "/t", -1), ("/World/b", "/World/a", 0), ("/t", "/World/b", 1))
    ),
    "edit, then rename": lambda it: (
        _set(it, "/World/a/b", "typeName", "Cube"),
        _set(it, "/World/a", "name", "z"),
    ),
    "bring in another order": _reorder,
    "retype": lambda it: it.GetPrimAtPath("/World/b").SetTypeName("Cone"),
    "hide": lambda it: it.GetPrimAtPath("/World/a").SetActive(False),
    "refer to another prim": lambda it: (
        it.GetPrimAtPath("/World/b").GetReferences().AddInternalReference("/World/a")
    ),
    "copy": lambda it: Sdf.CopySpec(_layer(it), "/World/a", _layer(it), "/World/copy"),
    "copy over another": lambda it: Sdf.CopySpec(_layer(it), "/World/a", _layer(it), "/World/b"),
    "set a value": lambda it: it.GetAttributeAtPath("/World/a.x").Set(85.0),
    "move the frame range": lambda it: (it.SetStartTimeCode(12), it.SetEndTimeCode(240)),
    "keep facts": lambda it: it.GetPrimAtPath("/World/a").SetCustomDataByKey("n", 1),
}


@pytest.mark.parametrize("edit", PLAIN_EDITS.values(), ids=PLAIN_EDITS)
def test_a_step_on_some_prims_copies_no_layer(
    scene: UsdSession, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(layer_copies, "copy_of")

    check_undo(scene, edit)


def test_what_is_edited_below_a_prim_that_has_become_an_instance_is_undone(
    scene: UsdSession,
) -> None:
    """From then on USD tells of edits below it at another path, if at all."""

    def edit(stage: Usd.Stage) -> None:
        for name in ("one", "two"):
            prim = stage.DefinePrim(f"/World/{name}")
            prim.GetReferences().AddInternalReference("/World/a")
            prim.SetInstanceable(True)
        Sdf.CreatePrimInLayer(_layer(stage), "/World/two/b/deep")
        with Sdf.ChangeBlock():
            Sdf.CreatePrimInLayer(_layer(stage), "/World/one/b/deep")
            _set(stage, "/World/b", "typeName", "Cone")

    check_undo(scene, edit)


def test_what_is_edited_in_a_variant_beside_another_edit_is_undone(scene: UsdSession) -> None:
    """Of a block, USD tells only what is not in a variant."""
    stage = scene.stage
    with scene.undo_step("Variants"):
        sets = stage.GetPrimAtPath("/World/b").GetVariantSets().AddVariantSet("v")
        sets.AddVariant("one")
    before = state(scene)

    with scene.undo_step("Inside"), Sdf.ChangeBlock():
        variant = _layer(stage).GetPrimAtPath("/World/b{v=one}")
        Sdf.PrimSpec(variant, "inside", Sdf.SpecifierDef)
        _set(stage, "/World/a", "typeName", "Cone")
    scene.undo()

    assert state(scene) == before


def test_a_value_beside_variants_is_edited_without_a_copy_of_the_layer(
    scene: UsdSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those, what they hold is compared; only what is another one is kept."""
    stage = scene.stage
    with scene.undo_step("Variants"):
        sets = stage.GetPrimAtPath("/World/b").GetVariantSets().AddVariantSet("v")
        sets.AddVariant("one")
    before = state(scene)
    monkeypatch.delattr(layer_copies, "copy_of")

    with scene.undo_step("Value"):
        stage.GetAttributeAtPath("/World/a.x").Set(7.0)
    with scene.undo_step("Both"), Sdf.ChangeBlock():
        Sdf.PrimSpec(_layer(stage).GetPrimAtPath("/World/b{v=one}"), "inside", Sdf.SpecifierDef)
        _layer(stage).GetAttributeAtPath("/World/a.x").default = 8.0
    scene.undo()
    scene.undo()

    assert state(scene) == before


def test_a_prim_that_a_step_deleted_in_every_layer_is_listed_as_lost(scene: UsdSession) -> None:
    with scene.undo_step("Delete"):
        for layer in filter(lambda it: it.GetPrimAtPath("/World/a"), scene.stage.GetLayerStack()):
            world: Any = layer.GetPrimAtPath("/World")
            del world.nameChildren["a"]

    assert scene.lost([]) == [f"/World/a{it}" for it in ("", "/b", "/c", "/d", "/f")]
    assert scene.lost(["/World/a"]) == []


def test_what_is_hidden_in_every_prim_that_refers_to_it_is_listed_there_too(
    scene: UsdSession,
) -> None:
    with scene.undo_step("Hide"):
        scene.stage.GetPrimAtPath("/World/a/b").SetActive(False)

    assert scene.lost([]) == ["/World/a/b", "/World/c/b"]


def test_what_a_step_made_and_somebody_took_away_is_not_lost(scene: UsdSession) -> None:
    with scene.undo_step("Make"):
        scene.stage.DefinePrim("/World/new")
    scene.stage.RemovePrim("/World/new")

    assert scene.lost([]) == []


def _crowd(size: int) -> UsdSession:
    session = UsdSession()
    with Sdf.ChangeBlock():
        world = Sdf.PrimSpec(session.stage.GetRootLayer(), "World", Sdf.SpecifierDef)
        for number in range(size):
            Sdf.PrimSpec(world, f"p{number}", Sdf.SpecifierDef, "Sphere")
    assert session.undo_labels
    return session


def test_the_parent_of_a_crowd_that_goes_counts_as_no_change() -> None:
    session = _crowd(1200)
    paths = [f"/World/p{number}" for number in range(1200)]

    with session.undo_step("Delete"), session.changes() as count:
        prims.remove(session.stage, paths)
        changes = count()

    assert changes.changed == []
    assert changes.deleted == sorted(paths)


@pytest.mark.parametrize("kept", [0, 10])
def test_a_crowd_goes_with_its_parent_told_once_and_comes_back(kept: int) -> None:
    """USD looks up each of those that it is told of among its siblings: it takes their square."""
    session = _crowd(1200)
    resynced = list[Any]()
    before = state(session)
    paths = [f"/World/p{number}" for number in range(kept, 1200)]
    listener = Tf.Notice.Register(
        Usd.Notice.ObjectsChanged,
        lambda it, _: resynced.append(list(map(str, it.GetResyncedPaths()))),
        session.stage,
    )

    with session.undo_step("Delete"):
        assert prims.remove(session.stage, paths) == []
    after = state(session)
    lost = session.lost([])
    session.undo()
    undone = state(session)
    session.redo()

    listener.Revoke()
    assert resynced[0] == resynced[2] == ["/World"]
    assert lost == sorted(paths)
    assert undone == before
    assert state(session) == after
    assert "active" not in str(after)


def test_what_stands_in_several_layers_is_deleted_with_one_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = _crowd(1200)
    reports = list[tuple[float, float | None]]()
    paths = [f"/World/p{number}" for number in range(1200)]
    below = Sdf.Layer.CreateAnonymous()
    for path in paths[:600]:
        Sdf.CreatePrimInLayer(below, path)
    session.stage.GetRootLayer().subLayerPaths.append(below.identifier)

    def report(done: float, total: float | None = None, message: str = "") -> None:
        if message == "Deleting":
            reports.append((done, total))

    monkeypatch.setattr("dcc_bridge.skills.skill.report_progress", report)
    with session.undo_step("Delete"):
        assert prims.remove(session.stage, paths) == []

    assert reports[0] == (0, 2)
    assert reports[-1] == (2, 2)
    assert reports == sorted(reports)
    assert not below.GetPrimAtPath(paths[0])


def test_some_values_of_many_are_undone_without_a_copy_of_the_layer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = _crowd(9000)
    monkeypatch.delattr(layer_copies, "copy_of")

    with session.undo_step("Size"), Sdf.ChangeBlock():
        for prim in session.stage.GetPrimAtPath("/World").GetChildren()[:250]:
            prim.SetMetadata("comment", "large")

    assert len(session.undo_labels) == 2


@pytest.mark.parametrize("programs", [150, pytest.param(3_000, marks=pytest.mark.long)])
def test_a_step_that_is_reverted_leaves_the_scene_undo_and_redo_as_they_were(programs: int) -> None:
    for seed in range(programs):
        session = _scene()
        random = Random(seed)
        _run_steps(session, random)
        session.undo()
        before = state(session), session.undo_labels, session.redo_labels, session.modified

        with session.undo_step("Tried"):
            trial = session.trial()
            assert trial is not None
            edit_some(session.stage, [(random.choice(STRUCTURAL), seed) for _ in range(3)])
            session.lost([])
            trial.broken()
            assert trial.revert() == []
            assert (trial.is_edited(), session.lost([])) == (False, []), seed

        after = state(session), session.undo_labels, session.redo_labels, session.modified
        assert after == before, seed
