"""Undo holds what was edited and no more, and is as exact as if it held copies of all layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pxr import Sdf, Tf, Usd

from dcc_bridge_usd import prims
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import remove, rename
from tests.hosts.scenes import SMALL, Failed, check_undo, fail_after

ASSET = """#usda 1.0
def "Asset"
{
    def Xform "a"
    {
        def Sphere "b" {}
    }
}
"""
RICH = """#usda 1.0
(
    subLayers = [@./sub.usda@, @./empty.usda@]
)
def Xform "World" (
    prepend variantSets = "v"
    variants = { string v = "one" }
)
{
    def "a" ( instanceable = true; prepend references = @./asset.usda@</Asset> )
    {
        over "a" {
            over "b" {}
        }
    }
    def "b" ( instanceable = true; prepend references = @./asset.usda@</Asset> )
    {
        over "a" {}
    }
    def "c" ( active = false )
    {
        double x = 1
        double x.connect = </World/a.x>
        def "a" {}
    }
    variantSet "v" = {
        "one" {
            def "d"
            {
                double x = 1
            }
        }
        "two" {
            def "a" {
                custom rel r = </World/b>
            }
        }
    }
}
def "a" ( prepend payload = @./asset.usda@</Asset> )
{
    over "a" {}
}
class "b" {}
"""
FILES = {
    "asset.usda": ASSET,
    "sub.usda": SMALL.replace("@./sub.usda@", ""),
    "empty.usda": "#usda 1.0\n",
    "r.usda": RICH,
}
NAMES = ("a", "b", "c", "d")
Edit = Callable[[Usd.Stage, Sdf.Layer, Random], object]
States = list[dict[str, str]]  # what each layer holds, by its name, below each step


def _prims(layer: Sdf.Layer) -> list[Sdf.PrimSpec]:
    """List all prims of a layer, those in variants too."""
    paths: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)  # type: ignore[arg-type]
    prims = [layer.GetPrimAtPath(it) for it in paths if it.IsPrimPath()]
    return [prim for prim in prims if prim]


def _prim(layer: Sdf.Layer, random: Random) -> Any:
    prims = _prims(layer)
    return random.choice(prims) if prims else Sdf.CreatePrimInLayer(layer, "/World")


def _attribute(layer: Sdf.Layer, random: Random) -> Sdf.AttributeSpec:
    prim = _prim(layer, random)
    name = random.choice("xyz")
    return prim.attributes.get(name) or Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Double)


def _relationship(layer: Sdf.Layer, random: Random) -> Sdf.RelationshipSpec:
    prim = _prim(layer, random)
    return prim.relationships.get("r") or Sdf.RelationshipSpec(prim, "r")


def _do_one(random: Random, choices: Sequence[Callable[[], object]]) -> None:
    random.choice(choices)()


def _move(layer: Sdf.Layer, random: Random) -> None:
    """Rename, move, swap or delete a few prims or properties at once."""
    batch = Sdf.BatchNamespaceEdit()
    for _ in range(random.randint(1, 3)):
        prim = _prim(layer, random)
        thing = random.choice([prim, *prim.properties])
        new = random.choice(
            [
                Sdf.Path.emptyPath,
                thing.path.ReplaceName(random.choice(NAMES)),
                _prim(layer, random).path.AppendChild(random.choice(NAMES)),
                _prim(layer, random).path.AppendProperty(random.choice("xyz")),
            ]
        )
        batch.Add(thing.path, new, random.randint(-2, 3))
    layer.Apply(batch)


def _reparent(stage: Usd.Stage, prim: Sdf.PrimSpec, above: Sdf.PrimSpec) -> None:
    editor = Usd.NamespaceEditor(stage)
    editor.ReparentPrim(stage.GetPrimAtPath(prim.path), stage.GetPrimAtPath(above.path))
    if editor.CanApplyEdits():
        editor.ApplyEdits()


def _reorder(layer: Any, random: Random) -> None:
    prim = _prim(layer, random)
    names = random.sample(NAMES, 3)
    _do_one(
        random,
        [
            lambda: setattr(prim, "nameChildrenOrder", names),
            lambda: setattr(prim, "propertyOrder", names),
            lambda: setattr(layer, "rootPrimOrder", names),
            lambda: prim.nameChildren.insert(random.randint(0, 2), _prim(layer, random)),
        ],
    )


def _annotate(layer: Any, random: Random) -> None:
    prim = _prim(layer, random)
    value = f"note {random.randrange(99)}"
    spec = random.choice([prim, layer.pseudoRoot, *prim.properties])
    name = random.choice(["comment", "documentation", "customData", "displayName", "kind"])
    spec.SetInfo(name, {"note": value, "at": Sdf.AssetPath("./x")} if name[1] == "u" else value)
    if random.random() < 0.3:
        spec.ClearInfo(name)


def _switch(layer: Sdf.Layer, random: Random) -> None:
    prim = _prim(layer, random)
    _do_one(
        random,
        [
            lambda: setattr(prim, "active", random.random() < 0.5),
            lambda: setattr(prim, "instanceable", random.random() < 0.5),
            lambda: setattr(prim, "typeName", random.choice(["Xform", "Sphere", "Camera"])),
            lambda: setattr(prim, "specifier", random.choice(list(Sdf.Specifier.allValues[:3]))),
            lambda: setattr(prim, "hidden", random.random() < 0.5),
            lambda: prim.referenceList.Prepend(Sdf.Reference("./asset.usda", "/Asset")),
            lambda: prim.inheritPathList.Prepend("/b"),
            lambda: prim.referenceList.ClearEdits(),
            lambda: setattr(layer, "endTimeCode", float(random.randrange(99))),
            lambda: setattr(layer, "customLayerData", {"n": random.randrange(99)}),
            lambda: setattr(layer, "defaultPrim", random.choice(NAMES)),
        ],
    )


def _vary(layer: Any, random: Random) -> None:
    prim = _prim(layer, random)
    variant = random.choice(["one", "two", "three"])
    spec = Sdf.CreateVariantInLayer(layer, prim.path, random.choice("vw"), variant)
    _do_one(
        random,
        [
            lambda: Sdf.PrimSpec(spec.primSpec, random.choice(NAMES), Sdf.SpecifierDef),
            lambda: prim.variantSelections.__setitem__("v", variant),
        ],
    )


def _stack(stage: Usd.Stage, layer: Sdf.Layer, random: Random) -> None:
    """Change which layers the scene is made of, or which one is edited."""
    root = stage.GetRootLayer()
    names = ("sub.usda", "empty.usda", "asset.usda")
    below = root.subLayerPaths
    _do_one(
        random,
        [
            lambda: below.append(f"./{random.choice(names)}"),
            lambda: below.__delitem__(0),
            lambda: root.subLayerOffsets.__setitem__(0, Sdf.LayerOffset(random.randrange(9))),
            lambda: stage.SetEditTarget(layer),
            lambda: stage.MuteLayer(layer.identifier),
            lambda: stage.UnmuteLayer(layer.identifier),
        ],
    )


def _replace(layer: Any, random: Random) -> None:
    _do_one(
        random,
        [
            lambda: layer.ImportFromString(SMALL),
            lambda: layer.ImportFromString(RICH),
            lambda: layer.ImportFromString('#usda 1.0\ndef "b" {\n}\ndef "a" {\n}\n'),
            lambda: layer.TransferContent(Sdf.Layer.CreateAnonymous()),
            lambda: layer.Reload(force=True),
        ],
    )


EDITS: dict[str, Edit] = {
    "set": lambda _, it, r: setattr(_attribute(it, r), "default", r.random()),
    "key": lambda _, it, r: it.SetTimeSample(_attribute(it, r).path, r.randrange(5), r.random()),
    "no key": lambda _, it, r: it.EraseTimeSample(_attribute(it, r).path, r.randrange(5)),
    "add": lambda _, it, r: Sdf.PrimSpec(_prim(it, r), r.choice(NAMES), Sdf.SpecifierDef),
    "over": lambda _, it, r: Sdf.PrimSpec(_prim(it, r), r.choice(NAMES), Sdf.SpecifierOver),
    "insert": lambda _, it, r: Sdf.CopySpec(
        *(it, _prim(it, r).path, it, _prim(it, r).path.ReplaceName(r.choice(NAMES)))
    ),
    "delete": lambda _, it, r: _prim(it, r).nameChildren.clear(),
    "no properties": lambda _, it, r: _prim(it, r).properties.clear(),
    "rename": lambda _, it, r: setattr(_prim(it, r), "name", r.choice(NAMES)),
    "rename property": lambda _, it, r: setattr(_attribute(it, r), "name", r.choice("xyz")),
    "retype": lambda _, it, r: (
        (prim := _prim(it, r)).properties.clear(),
        Sdf.AttributeSpec(prim, "x", Sdf.ValueTypeNames.Asset),
    ),
    "target": lambda _, it, r: _relationship(it, r).targetPathList.Append(_prim(it, r).path),
    "no target": lambda _, it, r: _relationship(it, r).targetPathList.ClearEdits(),
    "connect": lambda _, it, r: _attribute(it, r).connectionPathList.Append(_prim(it, r).path),
    "by the stage": lambda stage, _, r: stage.DefinePrim(f"/World/{r.choice(NAMES)}", "Camera"),
    "removed by the stage": lambda stage, _, r: stage.RemovePrim(f"/World/{r.choice(NAMES)}"),
    "removed in all layers": lambda stage, it, r: remove(stage, [_prim(it, r).path]),
    "renamed with its users": lambda stage, it, r: rename(
        stage, stage.GetPrimAtPath(_prim(it, r).path), r.choice(NAMES)
    ),
    "put below another": lambda stage, it, r: _reparent(stage, _prim(it, r), _prim(it, r)),
    "move": lambda _, it, r: _move(it, r),
    "reorder": lambda _, it, r: _reorder(it, r),
    "annotate": lambda _, it, r: _annotate(it, r),
    "switch": lambda _, it, r: _switch(it, r),
    "vary": lambda _, it, r: _vary(it, r),
    "stack": _stack,
    "replace": lambda _, it, r: _replace(it, r),
}
# What USD itself does not do in a block without an end of the process, now and then (26.11).
NOT_IN_A_BLOCK = {
    *("by the stage", "removed by the stage", "stack", "replace", "move", "rename", "reorder"),
    *("insert", "vary", "rename property", "removed in all layers", "renamed with its users"),
    "put below another",
}
WAYS = ("step", "block", "failing step", "by hand", "by hand in a block", "look")


def edit_some(stage: Usd.Stage, some: Sequence[tuple[str, int]]) -> None:
    """Edit; what USD refuses may leave traces, which is as well."""
    for name, seed in some:
        random = Random(seed)
        layer = random.choice(stage.GetLayerStack(includeSessionLayers=True))
        with suppress(ValueError, RuntimeError, Tf.ErrorException, TypeError, IndexError, KeyError):
            EDITS[name](stage, layer, random)


def texts(session: UsdSession, layers: dict[str, Sdf.Layer]) -> dict[str, str]:
    """Copy what each layer holds that is or was part of the scene."""
    stack = session.stage.GetLayerStack(includeSessionLayers=True)
    layers.update({it.identifier: Sdf.Layer.FindOrOpen(it.identifier) or it for it in stack})
    return {name: layer.ExportToString() for name, layer in layers.items()}


def held(state: dict[str, str], layers: dict[str, Sdf.Layer]) -> dict[str, str]:
    """Copy what the layers of a state hold now."""
    return {name: layers[name].ExportToString() for name in state}


def run(session: UsdSession, way: str, some: Sequence[tuple[str, int]]) -> None:
    def edit(stage: Usd.Stage) -> None:
        with Sdf.ChangeBlock() if "block" in way else nullcontext():
            edit_some(
                stage, [it for it in some if it[0] not in NOT_IN_A_BLOCK or "block" not in way]
            )

    match way:
        case "step" | "block":
            with session.undo_step("Step"):
                edit(session.stage)
                assert session.modified in (True, False)
                edit(session.stage)
        case "failing step":
            with pytest.raises(Failed):
                fail_after(session, edit)
        case "look":
            assert session.modified in (True, False)
        case _:
            edit(session.stage)


def _states(session: UsdSession, layers: dict[str, Sdf.Layer], random: Random) -> States:
    """Edit here and there along the undo stack; return the texts of the layers below each step."""
    states = [texts(session, layers)]
    for _ in range(random.randint(2, 8)):
        if random.random() < 0.3:
            _wander(session, layers, random, states)
            continue
        before = len(session.undo_labels)
        way = random.choice(WAYS)
        names = random.choices(sorted(EDITS), k=random.randint(0, 4))
        run(session, way, [(name, random.randrange(10**6)) for name in names])
        depth = len(session.undo_labels)
        if depth > before:
            del states[before + 1 :]
        while depth >= len(states):
            states.append(texts(session, layers))
        assert held(states[depth], layers) == states[depth], way
    return states


def _wander(
    session: UsdSession, layers: dict[str, Sdf.Layer], random: Random, states: States
) -> None:
    for _ in range(random.randint(1, 4)):
        if session.undo_labels and random.random() < 0.6:
            session.undo()
        elif session.redo_labels:
            session.redo()
        depth = len(session.undo_labels)
        assert held(states[depth], layers) == states[depth]


@pytest.mark.core
@pytest.mark.parametrize("many", [500, 0])
@pytest.mark.parametrize("programs", [60, pytest.param(1_000, marks=pytest.mark.long)])
def test_any_edits_of_any_layers_are_undone_and_redone_to_the_letter(
    programs: int, many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps, in steps that fail and by hand; also where few prims go as a crowd does."""
    monkeypatch.setattr(prims, "CROWD_SIZE", many)
    for seed in range(programs):
        folder = tmp_path / str(seed)
        folder.mkdir()
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        session = UsdSession(folder / "r.usda")
        layers = dict[str, Sdf.Layer]()

        states = _states(session, layers, Random(seed))
        while session.redo_labels:
            session.redo()
        for state in reversed(states[:-1]):
            session.undo()
            assert held(state, layers) == state, seed
        assert not session.modified, seed
        for state in states[1:]:
            session.redo()
            assert held(state, layers) == state, seed


def test_a_value_in_the_place_of_a_relationship_is_undone(session: UsdSession) -> None:
    def retype(stage: Usd.Stage) -> None:
        prim = stage.GetRootLayer().GetPrimAtPath("/World/a")
        prim.RemoveProperty(prim.relationships["lookAt"])
        Sdf.AttributeSpec(prim, "lookAt", Sdf.ValueTypeNames.Asset)

    check_undo(session, retype)


def _rename(layer: Sdf.Layer) -> None:
    lens = layer.GetAttributeAtPath("/World/a.focalLength")
    lens.default = 99.0
    lens.name = "lens"


def _rename_over_another(layer: Sdf.Layer) -> None:
    lens = layer.GetAttributeAtPath("/World/a.focalLength")
    prim = layer.GetPrimAtPath("/World/a")
    lens.default = 99.0
    prim.RemoveProperty(prim.relationships["lookAt"])
    lens.name = "lookAt"


def _order(layer: Any) -> None:
    prim = layer.GetPrimAtPath("/World/a")
    prim.comment = "in order"
    prim.propertyOrder = ["lookAt", "focalLength"]


@pytest.mark.parametrize("edit", [_rename, _rename_over_another, _order])
def test_what_usd_leaves_out_of_a_notice_is_undone(
    session: UsdSession, edit: Callable[[Sdf.Layer], None]
) -> None:
    """One notice tells of a whole block, but of a name and of an order not beside a value."""

    def in_a_block(stage: Usd.Stage) -> None:
        with Sdf.ChangeBlock():
            edit(stage.GetRootLayer())

    check_undo(session, in_a_block)


def test_a_layer_that_was_taken_out_is_undone_with_those_of_the_scene(session: UsdSession) -> None:
    """USD tells of no edit of it, which in a block is no reason to be silent."""
    root = session.stage.GetRootLayer()
    below = Sdf.Layer.CreateAnonymous()
    Sdf.CreatePrimInLayer(below, "/World/a/deep")
    root.subLayerPaths.append(below.identifier)
    session.undo_labels  # noqa: B018  # it is a layer of the scene from now on
    root.subLayerPaths.remove(below.identifier)
    before = session.modified, below.ExportToString()

    with session.undo_step("Block"), Sdf.ChangeBlock():
        root.GetAttributeAtPath("/World/a.focalLength").default = 99.0
        below.GetPrimAtPath("/World/a/deep").specifier = Sdf.SpecifierDef
    session.undo()

    assert (session.modified, below.ExportToString()) == before


def test_a_note_on_a_layer_with_offset_sublayers_is_undone() -> None:
    """Not all that a layer holds beside the note can be read from Python."""
    session = UsdSession()
    below = Sdf.Layer.CreateAnonymous()
    root = session.stage.GetRootLayer()
    root.subLayerPaths.append(below.identifier)
    root.subLayerOffsets[0] = Sdf.LayerOffset(5)
    before = session.modified, session.scene_digest()

    with session.undo_step("Note"):
        root.comment = "approved"
    session.undo()

    assert (session.modified, session.scene_digest()) == before


@pytest.mark.parametrize("field", ["customData", "assetInfo", "customLayerData"])
def test_undo_keeps_the_types_in_a_dictionary(tmp_path: Path, field: str) -> None:
    """USD gives a dictionary to Python as Python's own types, which it writes as others."""
    facts = f"{field} = {{\n float a = 1.5\n token b = 'x'\n uint64 c = 18446744073709551615\n}}\n"
    of_layer, of_prim = (facts, "") if field == "customLayerData" else ("", facts)
    file = tmp_path / "facts.usda"
    file.write_text(f'#usda 1.0\n(\n{of_layer})\ndef "World" (\n{of_prim}) {{\n}}\n')
    session = UsdSession(file)
    spec = session.stage.GetRootLayer().GetObjectAtPath("/" if of_layer else "/World")
    before = session.scene_digest()

    with session.undo_step("Facts"):
        spec.ClearInfo(field)
    session.undo()

    assert session.scene_digest() == before
