"""The table of the kinds of loss, in USD."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt

from dcc_bridge.spi import NotUndoable
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import remove
from tests.hosts.losses_contract import Kind, Losing, TrialsContract

SCENE = """#usda 1.0
(
    customLayerData = {
        string studio = "ours"
    }
    defaultPrim = "World"
    subLayers = [@./below.usda@]
    upAxis = "Z"
)

def Xform "World" (
    kind = "group"
)
{
    def Camera "cam"
    {
        float focalLength.timeSamples = { 1: 24, 10: 48, 20: 50 }
        float fStop = 2
        custom string note = "mine"
        float focusDistance = 3
        float focusDistance.connect = </World/box.size>
        custom rel lookAt = [</World/box>, </World/ball>]
    }
    def Cube "box" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        double size = 3
        rel material:binding = </World/Look>
        def Xform "in" {
            def Sphere "deep" {}
        }
    }
    def Sphere "ball"
    {
        double radius = 4
    }
    def Material "Look"
    {
        token outputs:surface.connect = </World/Look/Shader.outputs:surface>
        def Shader "Shader"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (1, 0, 0)
            color3f inputs:diffuseColor.connect = </World/Look/Texture.outputs:rgb>
            token outputs:surface
        }
        def Shader "Texture"
        {
            uniform token info:id = "UsdUVTexture"
            float3 outputs:rgb
        }
        def NodeGraph "Graph"
        {
            def Shader "Add" {}
        }
    }
    def DistantLight "sun" {}
    def DomeLight "dome" {}
    def Mesh "mesh"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        rel skel:blendShapeTargets = </World/mesh/smile>
        def GeomSubset "left" {}
        def BlendShape "smile" {}
    }
    def Xform "ref" ( references = @./asset.usda@</Asset> )
    {
        over "part" {
            double radius = 9
        }
    }
    def Xform "paid" ( payload = @./asset.usda@</Asset> ) {}
    def Xform "inner" ( references = </World/ball> ) {}
    def Xform "Var" (
        prepend variantSets = "v"
        variants = { string v = "a" }
    )
    {
        variantSet "v" = {
            "a" {
                custom double depth = 1
                def Cube "A" {}
            }
            "b" {
                def Cube "B" {}
            }
        }
    }
    def Scope "Sets" (
        prepend apiSchemas = ["CollectionAPI:lit"]
    )
    {
        rel collection:lit:includes = [</World/ball>, </World/box>]
    }
}
"""
BELOW = """#usda 1.0
over "World"
{
    def Cube "low"
    {
        double size = 2
    }
}
"""
ASSET = """#usda 1.0
def Xform "Asset"
{
    def Sphere "part" {
        double radius = 2
    }
}
"""
CONTENTS = """#usda 1.0
(
    customLayerData = {
        dictionary show = {
            string code = "abc"
            dictionary shot = {
                int first = 1
                int last = 99
            }
            int[] takes = [1, 2, 3]
        }
    }
    subLayers = [@./lower.usda@]
)

def Mesh "Big" (
    assetInfo = {
        dictionary rights = {
            string owner = "us"
        }
    }
    doc = "Approved"
)
{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)]
    point3f[] points.timeSamples = {
        1: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)],
        5: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)],
    }
    int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)]
    double tall = 2 (
        doc = "Measured"
    )
    rel likes = [</One>, </Two>]
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    double3 xformOp:translate = (1, 2, 3)
    float3 xformOp:scale = (1, 1, 1)
}
def Xform "One" ( references = @./one.usda@ ) {}
def Xform "Two" ( payload = @./one.usda@ ) {}
def Xform "Gone" ( references = @./not_there.usda@ ) {}
def Xform "Inner" ( references = </One> ) {}
def Xform "Var" (
    prepend variantSets = "v"
    variants = { string v = "a" }
)
{
    variantSet "v" = {
        "a" {
            custom int[] sizes = [1, 2, 3]
            def Cube "A" {}
        }
        "b" {
            def Cube "B" {}
        }
    }
}
"""
FILES = {
    "one.usda": '#usda 1.0\n(defaultPrim = "P")\ndef Xform "P" {\n    def Cube "c" {}\n}\n',
    "two.usda": '#usda 1.0\n(defaultPrim = "P")\ndef Xform "P" {\n    def Cone "d" {}\n}\n',
    "lower.usda": '#usda 1.0\ndef Cube "Low" {}\n',
    "other.usda": '#usda 1.0\ndef Cone "Else" {\n    double height = 3\n}\n',
}
Edit = Callable[[Usd.Stage], object]


def _prim(stage: Usd.Stage, path: str) -> Any:
    return stage.GetRootLayer().GetPrimAtPath(path)


def _remove(path: str) -> Edit:
    return lambda stage: stage.RemovePrim(path)


def _call(path: str, method: str, *arguments: object) -> Edit:
    """Call a method of a prim or of an attribute."""
    return lambda stage: getattr(stage.GetObjectAtPath(path), method)(*arguments)


def _specifier(path: str, specifier: Any) -> Edit:
    return lambda stage: setattr(_prim(stage, path), "specifier", specifier)


def _move(old: str, new: str) -> Edit:
    """Move a prim as the application does: what leads to it follows."""

    def edit(stage: Usd.Stage) -> None:
        editor = Usd.NamespaceEditor(stage)
        editor.MovePrimAtPath(old, new)
        editor.ApplyEdits()

    return edit


def _batch(*moves: tuple[str, str]) -> Edit:
    """Move prims of one layer, of which USD only tells that some went and others came."""

    def edit(stage: Usd.Stage) -> None:
        edits = Sdf.BatchNamespaceEdit()
        for old, new in moves:
            edits.Add(old, new)
        assert stage.GetRootLayer().Apply(edits)

    return edit


def _both(*edits: Edit) -> Edit:
    return lambda stage: [edit(stage) for edit in edits]


def _make_again(stage: Usd.Stage) -> None:
    stage.RemovePrim("/World/ball")
    UsdGeom.Sphere.Define(stage, "/World/ball").CreateRadiusAttr(1)


def _in_variant(edit: Edit) -> Edit:
    return _in_variant_of("/World/Var", edit)


def _in_variant_of(path: str, edit: Edit) -> Edit:
    def edit_in(stage: Usd.Stage) -> None:
        with stage.GetPrimAtPath(path).GetVariantSet("v").GetVariantEditContext():
            edit(stage)

    return edit_in


def _drop_variant_set(stage: Usd.Stage) -> None:
    spec = _prim(stage, "/World/Var")
    spec.variantSetNameList.ClearEdits()
    del spec.variantSets["v"]


def _drop_variant(stage: Usd.Stage) -> None:
    variants = _prim(stage, "/World/Var").variantSets["v"]
    variants.RemoveVariant(variants.variants["b"])


def _remove_property(path: str) -> Edit:
    prop = Sdf.Path(path)
    return lambda stage: stage.GetPrimAtPath(prop.GetPrimPath()).RemoveProperty(prop.name)


def _drop_collection(stage: Usd.Stage) -> None:
    sets = stage.GetPrimAtPath("/World/Sets")
    sets.RemoveProperty("collection:lit:includes")
    sets.RemoveAPI("CollectionAPI", "lit")


def _drop_member(stage: Usd.Stage) -> None:
    includes = stage.GetRelationshipAtPath("/World/Sets.collection:lit:includes")
    includes.RemoveTarget("/World/ball")


def _unbind(stage: Usd.Stage) -> None:
    UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/box")).UnbindDirectBinding()


def _make(stage: Usd.Stage) -> None:
    stage.DefinePrim("/World/new", "Cube").SetActive(False)


def _make_and_delete(stage: Usd.Stage) -> None:
    stage.DefinePrim("/World/new/child", "Cube")
    stage.RemovePrim("/World/new")


def _place(stage: Usd.Stage) -> None:
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath("/World/ball")).SetTranslate(Gf.Vec3d(1, 2, 3))


def _set_values(stage: Usd.Stage) -> None:
    stage.GetAttributeAtPath("/World/box.size").Set(9)
    stage.GetAttributeAtPath("/World/cam.focalLength").Set(9, 10)
    stage.GetAttributeAtPath("/World/cam.focalLength").Set(9)
    stage.GetAttributeAtPath("/World/ref/part.radius").Set(1)
    UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/box")).Bind(
        UsdShade.Material.Define(stage, "/World/Other")
    )
    stage.GetPrimAtPath("/World/Var").GetVariantSet("v").SetVariantSelection("b")


def _shift(stage: Usd.Stage) -> None:
    focal = stage.GetAttributeAtPath("/World/cam.focalLength")
    keys = {at: focal.Get(at) for at in focal.GetTimeSamples()}
    focal.Clear()
    for at, value in keys.items():
        focal.Set(value, at + 5)


_open: list[UsdSession] = []  # the one of the test


def _row(edit: Edit, *lost: str, broken: tuple[str, ...] = ()) -> Kind:
    return Kind(lambda: edit(_open[0].stage), *lost, broken=broken)


LED_TO_BALL = ("collection:lit:includes of /World/Sets", "lookAt of /World/cam")
LOOK = tuple(f"/World/Look{it}" for it in ("", "/Graph", "/Graph/Add", "/Shader", "/Texture"))
BALL = ("/World/ball",)
BROKEN_BALL = (*LED_TO_BALL, "reference of /World/inner")
BOX = (
    "collection:lit:includes of /World/Sets",
    "focusDistance of /World/cam",
    "lookAt of /World/cam",
)


KINDS: dict[str, Kind] = {
    "nothing": _row(lambda stage: None),
    "deleted": _row(lambda stage: remove(stage, ["/World/ball"]), *BALL, broken=BROKEN_BALL),
    "parent_deleted": _row(
        _remove("/World/box"), "/World/box", "/World/box/in", "/World/box/in/deep", broken=BOX
    ),
    "made_again": _row(_make_again, *BALL),
    "name_taken": _row(_both(_remove("/World/ball"), _move("/World/sun", "/World/ball")), *BALL),
    "group": _row(
        _drop_collection,
        "/World/Sets.collection:lit:includes",
        "schema CollectionAPI:lit of /World/Sets",
    ),
    "group_member": _row(
        _drop_member, "target /World/ball of collection:lit:includes of /World/Sets"
    ),
    "inactive": _row(_call("/World/ball", "SetActive", False), *BALL, broken=BROKEN_BALL),
    "undefined": _row(_specifier("/World/ball", Sdf.SpecifierOver), *BALL, broken=BROKEN_BALL),
    "abstract": _row(_specifier("/World/ball", Sdf.SpecifierClass), *BALL, broken=BROKEN_BALL),
    "type": _row(_call("/World/ball", "ClearTypeName"), "type Sphere of /World/ball"),
    "material": _row(_remove("/World/Look"), *LOOK, broken=("material:binding of /World/box",)),
    "material_slot": _row(_unbind, "target /World/Look of material:binding of /World/box"),
    "geometry": _row(_call("/World/mesh.points", "Set", []), "value of points of /World/mesh"),
    "image": _row(
        _remove("/World/Look/Texture"),
        "/World/Look/Texture",
        broken=("inputs:diffuseColor of /World/Look/Shader",),
    ),
    "world": _row(_remove("/World/dome"), "/World/dome"),
    "camera": _row(_remove("/World/cam"), "/World/cam"),
    "light": _row(_remove("/World/sun"), "/World/sun"),
    "node": _row(
        _remove("/World/Look/Shader"),
        "/World/Look/Shader",
        broken=("outputs:surface of /World/Look",),
    ),
    "node_group": _row(_remove("/World/Look/Graph"), "/World/Look/Graph", "/World/Look/Graph/Add"),
    "link": _row(
        _call("/World/cam.focusDistance", "ClearConnections"),
        "connection /World/box.size of focusDistance of /World/cam",
    ),
    "animation": _row(_remove_property("/World/cam.focalLength"), "/World/cam.focalLength"),
    "keys": _row(_call("/World/cam.focalLength", "Clear"), "3 keys of focalLength of /World/cam"),
    "one_key": _row(
        _call("/World/cam.focalLength", "ClearAtTime", 10), "1 key of focalLength of /World/cam"
    ),
    "vertex_group": _row(_remove("/World/mesh/left"), "/World/mesh/left"),
    "shape_key": _row(
        _remove("/World/mesh/smile"),
        "/World/mesh/smile",
        broken=("skel:blendShapeTargets of /World/mesh",),
    ),
    "custom_property": _row(_remove_property("/World/cam.note"), "/World/cam.note"),
    "attribute": _row(_remove_property("/World/ball.radius"), "/World/ball.radius"),
    "value": _row(_call("/World/ball.radius", "Clear"), "value of radius of /World/ball"),
    "relationship": _row(_remove_property("/World/cam.lookAt"), "/World/cam.lookAt"),
    "reference": _row(
        lambda stage: stage.GetPrimAtPath("/World/ref").GetReferences().ClearReferences(),
        "reference asset.usda of /World/ref",
    ),
    "payload": _row(
        lambda stage: stage.GetPrimAtPath("/World/paid").GetPayloads().ClearPayloads(),
        "payload asset.usda of /World/paid",
    ),
    "variant": _row(_drop_variant, "variant b of /World/Var"),
    "layer": _row(
        lambda stage: stage.GetRootLayer().subLayerPaths.clear(),
        "/World/low",
        "layer below.usda of the scene",
    ),
    "layer_content": _row(
        lambda stage: Sdf.Layer.FindRelativeToLayer(stage.GetRootLayer(), "./below.usda").Clear(),
        "/World/low",
    ),
    "scene_metadata": _row(
        lambda stage: stage.ClearMetadata("customLayerData"), "custom data studio of the scene"
    ),
    "made": _row(_make),
    "made_and_deleted": _row(_make_and_delete),
    "renamed": _row(_move("/World/ball", "/World/sphere")),
    "names_swapped": _row(
        _batch(
            ("/World/ball", "/World/x"), ("/World/sun", "/World/ball"), ("/World/x", "/World/sun")
        )
    ),
    "parent_changed": _row(_move("/World/ball", "/World/box/ball")),
    "moved": _row(_place),
    "value_set": _row(_set_values),
    "hidden": _row(
        lambda stage: UsdGeom.Imageable(stage.GetPrimAtPath("/World/ball")).MakeInvisible()
    ),
    "muted": _row(lambda stage: stage.Unload("/World/paid")),
    "selected": Kind(lambda: _open[0].select(["/World/cam"])),
}


def _set(path: str, *arguments: object) -> Edit:
    return _call(path, "Set", *arguments)


def _in_session_layer(edit: Edit) -> Edit:
    def edit_in(stage: Usd.Stage) -> None:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            edit(stage)

    return edit_in


def _make_property_again(stage: Usd.Stage, type_name: Any, value: object = None) -> None:
    big = stage.GetPrimAtPath("/Big")
    big.RemoveProperty("tall")
    attribute = big.CreateAttribute("tall", type_name)
    attribute.SetDocumentation("Measured")
    if value is not None:
        attribute.Set(value)


def _make_variant_again(stage: Usd.Stage) -> None:
    variants = _prim(stage, "/Var").variantSets["v"]
    variants.RemoveVariant(variants.variants["b"])
    stage.GetPrimAtPath("/Var").GetVariantSet("v").AddVariant("b")


def _swap_sublayer(stage: Usd.Stage) -> None:
    stage.GetRootLayer().subLayerPaths[0] = "./other.usda"


def _refer(path: str, file: str, prim: str = "") -> Edit:
    reference = Sdf.Reference(file, prim)
    return lambda stage: stage.GetPrimAtPath(path).GetReferences().SetReferences([reference])


def _pay(path: str, file: str) -> Edit:
    return lambda stage: stage.GetPrimAtPath(path).GetPayloads().SetPayloads([Sdf.Payload(file)])


def _edit_data(stage: Usd.Stage, key: str, value: object) -> None:
    """Set an entry of the data of the scene, or remove it with None."""
    layer = stage.GetRootLayer()
    data = dict(layer.customLayerData)
    *outer, last = key.split(":")
    inner = data
    for name in outer:
        inner[name] = dict(inner[name])
        inner = inner[name]
    inner[last] = value
    if value is None:
        del inner[last]
    layer.customLayerData = data


def _data(key: str, value: object = None) -> Edit:
    return lambda stage: _edit_data(stage, key, value)


POINTS = [(9, 9, 9)] * 4
CONTENT_KINDS: dict[str, tuple[Edit, list[str]]] = {
    "array_cut_short": (
        _set("/Big.faceVertexIndices", [0, 1, 2]),
        ["3 of 6 values of faceVertexIndices of /Big"],
    ),
    "primvar_cut_short": (
        _set("/Big.primvars:displayColor", [(1, 1, 1)]),
        ["1 of 2 values of primvars:displayColor of /Big"],
    ),
    "array_of_an_animation_cut_short": (
        _set("/Big.points", POINTS[:1], 5),
        ["3 of 4 values at 1 key of points of /Big"],
    ),
    "array_emptied": (
        _set("/Big.faceVertexIndices", []),
        ["value of faceVertexIndices of /Big"],
    ),
    "array_hidden_by_a_stronger_layer": (
        _in_session_layer(_set("/Big.faceVertexIndices", [0])),
        ["5 of 6 values of faceVertexIndices of /Big"],
    ),
    "array_of_a_variant_cut_short": (
        _in_variant_of("/Var", _set("/Var.sizes", [1])),
        ["2 of 3 values of sizes of /Var"],
    ),
    "keys_replaced_by_fewer": (
        _both(_call("/Big.points", "Clear"), _set("/Big.points", POINTS, 7)),
        ["2 keys of points of /Big"],
    ),
    "key_replaced_by_another": (
        _both(_call("/Big.points", "ClearAtTime", 5), _set("/Big.points", POINTS, 7)),
        ["1 key of points of /Big"],
    ),
    "keys_hidden_by_a_stronger_layer": (
        _in_session_layer(_set("/Big.points", POINTS, 1)),
        ["1 key of points of /Big"],
    ),
    "nested_data": (_data("show:shot:last"), ["custom data show:shot:last of the scene"]),
    "nested_dictionary": (_data("show:shot"), ["custom data show:shot of the scene"]),
    "dictionary_made_a_value": (
        _data("show:shot", 3),
        ["custom data show:shot of the scene"],
    ),
    "nested_array": (
        _data("show:takes", Vt.IntArray([1])),
        ["2 of 3 values of custom data show:takes of the scene"],
    ),
    "asset_info": (
        _call("/Big", "ClearAssetInfoByKey", "rights:owner"),
        ["asset info rights of /Big"],
    ),
    "documentation": (
        _call("/Big", "ClearMetadata", "documentation"),
        ["documentation of /Big"],
    ),
    "target": (
        lambda stage: stage.GetRelationshipAtPath("/Big.likes").RemoveTarget("/One"),
        ["target /One of likes of /Big"],
    ),
    "targets_blocked": (
        lambda stage: stage.GetRelationshipAtPath("/Big.likes").SetTargets([]),
        ["target /One of likes of /Big", "target /Two of likes of /Big"],
    ),
    "retyped": (
        lambda stage: _make_property_again(stage, Sdf.ValueTypeNames.String, "high"),
        ["value of tall of /Big"],
    ),
    "retyped_without_a_value": (
        lambda stage: _make_property_again(stage, Sdf.ValueTypeNames.Int),
        ["value of tall of /Big"],
    ),
    "made_again_without_a_value": (
        lambda stage: _make_property_again(stage, Sdf.ValueTypeNames.Double),
        ["value of tall of /Big"],
    ),
    "variant_made_again": (_make_variant_again, ["B of variant b of /Var"]),
    "variant_content_swapped": (
        _both(
            _in_variant_of("/Var", _remove("/Var/A")),
            _in_variant_of("/Var", lambda stage: stage.DefinePrim("/Var/Else", "Cone")),
        ),
        ["/Var/A"],
    ),
    "reference_swapped": (
        _refer("/One", "./two.usda"),
        ["reference one.usda of /One"],
    ),
    "reference_to_another_prim": (
        _refer("/Inner", "", "/Var"),
        ["reference /One of /Inner"],
    ),
    "payload_swapped": (_pay("/Two", "./two.usda"), ["payload one.usda of /Two"]),
    "sublayer_swapped": (_swap_sublayer, ["/Low", "layer lower.usda of the scene"]),
}
NO_CONTENT_LOST: dict[str, Edit] = {
    "array_of_as_many": _set("/Big.faceVertexIndices", [3, 2, 1, 0, 1, 2]),
    "array_of_more": _set("/Big.faceVertexIndices", [0] * 9),
    "keys_set": _set("/Big.points", POINTS, 5),
    "key_added": _set("/Big.points", POINTS[:1], 9),
    "entry_set": _data("show:code", "a"),
    "entry_added": _data("show:shot:length", 3),
    "texts_shortened": _call("/Big", "SetDocumentation", "No"),
    "retyped_with_its_value": lambda stage: _make_property_again(
        stage, Sdf.ValueTypeNames.Float, 2
    ),
    "made_again_with_a_value": lambda stage: _make_property_again(
        stage, Sdf.ValueTypeNames.Double, 5
    ),
    "targets_swapped": lambda stage: stage.GetRelationshipAtPath("/Big.likes").SetTargets(
        ["/Var", "/Two"]
    ),
    "steps_made_one_matrix": lambda stage: (
        UsdGeom.Xformable(stage.GetPrimAtPath("/Big")).MakeMatrixXform().Set(Gf.Matrix4d(1))
    ),
    "reference_mended": _refer("/Gone", "./one.usda"),
    "reference_by_another_path": _refer("/One", "one.usda"),
    "reference_offset": lambda stage: (
        stage.GetPrimAtPath("/One")
        .GetReferences()
        .SetReferences([Sdf.Reference("./one.usda", layerOffset=Sdf.LayerOffset(5))])
    ),
    "reference_added": lambda stage: (
        stage.GetPrimAtPath("/One").GetReferences().AddReference("./two.usda")
    ),
    "reference_follows": _move("/One", "/Renamed"),
}


class TestLossesOfContent:
    """Contents that are gone, although what held them is there still."""

    @pytest.fixture
    def scene(self, tmp_path: Path) -> UsdSession:
        for name, text in {**FILES, "s.usda": CONTENTS}.items():
            (tmp_path / name).write_text(text)
        return UsdSession(tmp_path / "s.usda")

    @pytest.mark.parametrize("kind", CONTENT_KINDS)
    def test_content_that_goes_is_named_and_comes_back(self, scene: UsdSession, kind: str) -> None:
        edit, lost = CONTENT_KINDS[kind]
        before = scene.scene_digest()

        with scene.undo_step("Tried"):
            trial = scene.trial()
            edit(scene.stage)
            inside = scene.lost([])
            trial.revert()
            reverted = scene.lost([])
        with scene.undo_step("Edit"):
            edit(scene.stage)
        after = scene.lost([])
        agreed = scene.lost(after)
        scene.undo()

        assert inside == lost
        assert after == lost
        assert (reverted, agreed) == ([], [])
        assert scene.scene_digest() == before

    @pytest.mark.parametrize("kind", NO_CONTENT_LOST)
    def test_as_much_content_as_before_is_no_loss(self, scene: UsdSession, kind: str) -> None:
        before = scene.scene_digest()

        with scene.undo_step("Edit"):
            NO_CONTENT_LOST[kind](scene.stage)
        after = scene.scene_digest()

        assert scene.lost([]) == []
        assert after != before


class TestLosses(TrialsContract):
    """USD says what an edit took away."""

    KINDS = KINDS
    HAS_NOT: ClassVar[Any] = {
        "scene": "a stage is one scene",
        "driver": "USD computes nothing from other values",
        "expression": "the same",
        "text": "a text is a value of an attribute",
        "text_content": "it is a value",
        "sketch_geometry": "it has no sketches",
        "sketch_constraint": "it has no sketches",
        "cell": "it has no tables",
        "geometry_data": "geometry is in a prim, and never without one",
        "action": "animation is in the attributes, and never without them",
        "constraint": "it has no constraints",
        "modifier": "it has no modifiers",
        "marker": "it has no markers",
        "unused": "USD itself purges nothing",
        "out_of_every_scene": "a prim is in the scene that its layer belongs to",
        "group_out_of_scene": "the same",
    }

    @pytest.fixture
    def losing(self, tmp_path: Path) -> Losing:
        for name, text in (("s.usda", SCENE), ("below.usda", BELOW), ("asset.usda", ASSET)):
            (tmp_path / name).write_text(text)
        session = UsdSession(tmp_path / "s.usda")
        _open[:] = [session]
        stage = session.stage

        def edit() -> None:
            prim = stage.GetPrimAtPath("/World/sun")
            attribute = prim.GetAttribute("inputs:intensity")
            attribute.Set((attribute.Get() or 0) + 1)

        return Losing(session, edit)

    @pytest.fixture
    def scene(self, losing: Losing) -> UsdSession:
        """The same scene, as our own."""
        return _open[0]

    @pytest.mark.parametrize(
        ("edit", "lost"),
        [
            (_in_variant(_remove("/World/Var/A")), ["/World/Var/A"]),
            (
                lambda stage: _prim(stage, "/World/Var{v=b}").nameChildren.clear(),
                ["B of variant b of /World/Var"],
            ),
            (
                _in_variant(_remove_property("/World/Var.depth")),
                ["/World/Var.depth"],
            ),
            (_drop_variant_set, ["variant set v of /World/Var"]),
            (_batch(("/World/ball", "/World/sphere")), []),
            (_batch(("/World/box/in", "/World/in")), []),
            (
                _both(_batch(("/World/ball", "/World/x")), _batch(("/World/x", "/World/sphere"))),
                [],
            ),
            (
                _both(
                    _batch(("/World/box/in", "/World/in")),
                    _remove("/World/box"),
                ),
                ["/World/box"],
            ),
            (
                _both(
                    _move("/World/cam", "/World/shot"),
                    _call("/World/shot.focalLength", "ClearAtTime", 1),
                ),
                ["1 key of focalLength of /World/cam"],
            ),
            (
                lambda stage: (
                    _prim(stage, "/World/cam").properties["note"].__setattr__("name", "n")
                ),
                [],
            ),
            (
                _call("/World/ref/part.radius", "Clear"),
                ["value of radius of /World/ref/part"],
            ),
            (
                _call("/World/ref/part", "SetActive", False),
                ["/World/ref/part"],
            ),
            (
                lambda stage: (
                    Sdf.Layer.FindRelativeToLayer(stage.GetRootLayer(), "./below.usda")
                    .GetAttributeAtPath("/World/low.size")
                    .ClearDefaultValue()
                ),
                ["value of size of /World/low"],
            ),
            (
                _shift,
                [],
            ),
            (
                _both(
                    _move("/World/ball", "/World/box/ball"),
                    _remove("/World/box"),
                ),
                ["/World/ball", "/World/box", "/World/box/in", "/World/box/in/deep"],
            ),
            (_both(_make_again, _move("/World/ball", "/World/other")), ["/World/ball"]),
            (
                _both(
                    _move("/World/ball", "/World/box/ball"),
                    _call("/World/box", "SetActive", False),
                ),
                ["/World/ball", "/World/box"],
            ),
            (
                _both(
                    _call("/World/box", "SetActive", False),
                    _move("/World/ball", "/World/box/ball"),
                ),
                ["/World/ball", "/World/box"],
            ),
            (
                _both(
                    _move("/World/ball", "/World/box/ball"),
                    _specifier("/World/box", Sdf.SpecifierClass),
                ),
                ["/World/ball", "/World/box"],
            ),
            (
                _both(
                    _move("/World/ball", "/World/other"),
                    lambda stage: stage.GetRootLayer().ImportFromString(
                        stage.GetRootLayer().ExportToString().replace('"other"', '"another"')
                    ),
                ),
                ["/World/ball"],
            ),
            (
                _both(
                    _specifier("/World/ref/part", Sdf.SpecifierClass),
                    _move("/World/ref/part", "/World/ref/other"),
                ),
                ["/World/ref/part"],
            ),
            (
                _both(
                    _specifier("/World/ref/part", Sdf.SpecifierClass),
                    _move("/World/ref", "/World/other"),
                ),
                ["/World/ref/part"],
            ),
        ],
    )
    def test_what_else_goes_is_named_as_a_person_reads_it(
        self, scene: UsdSession, edit: Edit, lost: list[str]
    ) -> None:
        with scene.undo_step("Edit"):
            edit(scene.stage)
            inside = scene.lost([])

        assert inside == lost
        assert scene.lost([]) == lost
        assert scene.lost(lost) == []

    def test_what_is_referred_to_is_named_where_it_is_relocated(self, scene: UsdSession) -> None:
        with scene.undo_step("Edit"):
            _move("/World/ref/part", "/World/cam/part")(scene.stage)
            scene.stage.GetPrimAtPath("/World/cam").SetActive(False)

            assert scene.lost([]) == ["/World/cam", "/World/ref/part"]

    def test_what_is_not_loaded_is_named_where_another_prim_takes_its_place(
        self, scene: UsdSession
    ) -> None:
        """USD refuses that where it sees the prim."""
        with scene.guard([], read=False), scene.undo_step("Edit"):
            scene.stage.Unload("/World/paid")
            _move("/World/ref/part", "/World/paid/part")(scene.stage)

            assert scene.lost([]) == ["/World/paid/part"]
            assert scene.lost(["/World/paid/part"]) == []

        assert scene.stage.GetPrimAtPath("/World/paid").IsLoaded()

    def test_a_prim_takes_a_free_place_where_a_payload_is_not_loaded(
        self, scene: UsdSession
    ) -> None:
        with scene.guard([], read=False), scene.undo_step("Edit"):
            scene.stage.Unload("/World/paid")
            _move("/World/ref/part", "/World/paid/other")(scene.stage)

            assert scene.lost([]) == []

    def test_a_layer_that_a_body_mutes_hides_nothing(self, scene: UsdSession) -> None:
        layer = Sdf.Layer.FindRelativeToLayer(scene.stage.GetRootLayer(), "./below.usda")

        with scene.guard([], read=False), scene.undo_step("Edit"):
            layer.GetPrimAtPath("/World/low").active = False
            scene.stage.MuteLayer(layer.identifier)

            assert scene.lost([]) == ["/World/low"]
            assert scene.stage.GetMutedLayers() == [layer.identifier]

    def test_a_layer_that_is_cleared_after_a_relocation_is_named_whole(
        self, scene: UsdSession
    ) -> None:
        with scene.undo_step("Before"):
            scene.stage.DefinePrim("/Other")

        with scene.undo_step("Edit"):
            _move("/World/ref/part", "/World/box/part")(scene.stage)
            scene.stage.GetRootLayer().Clear()

            assert {"/Other", "/World", "/World/cam"} <= {*scene.lost([])}

    def test_parts_in_words_are_no_paths(
        self, scene: UsdSession, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert scene.kinds(["1 key of focalLength of /World/cam"]) == ["gone"]
        assert capfd.readouterr().err == ""

    def test_what_the_application_cuts_loose_as_it_deletes_is_broken(
        self, scene: UsdSession
    ) -> None:
        """`Usd.NamespaceEditor` takes targets and references away with what they led to."""
        with scene.undo_step("Delete"):
            editor = Usd.NamespaceEditor(scene.stage)
            editor.DeletePrimAtPath("/World/ball")
            editor.ApplyEdits()
            lost = scene.lost([])
            broken = scene.trial().broken()

        assert lost == ["/World/ball"]
        assert broken == list(BROKEN_BALL)

    @pytest.mark.parametrize("is_first", [True, False])
    def test_what_is_deleted_is_lost_though_another_edit_makes_one_just_like_it(
        self, scene: UsdSession, is_first: bool
    ) -> None:
        """Nothing else tells it from a rename than that this would be one edit."""
        scene.stage.DefinePrim("/World/old", "Cone")

        with scene.undo_step("Exchange"):
            if is_first:
                scene.stage.DefinePrim("/World/new", "Cone")
            scene.stage.RemovePrim("/World/old")
            if not is_first:
                scene.stage.DefinePrim("/World/new", "Cone")
            inside = scene.lost([])

        assert inside == ["/World/old"]
        assert scene.lost([]) == ["/World/old"]

    def test_a_muted_layer_is_no_loss_and_the_guard_puts_it_back(self, scene: UsdSession) -> None:
        before = scene.scene_digest()
        put_back = list[str]()

        with scene.guard(put_back, read=False), scene.undo_step("Mute"):
            scene.stage.MuteLayer(scene.stage.GetLayerStack(False)[1].identifier)
            inside = scene.lost([])

        assert inside == []
        assert scene.lost([]) == []
        assert put_back == ["which layers are muted"]
        assert scene.scene_digest() == before

    def test_a_step_that_changed_nothing_says_nothing_of_the_one_before(
        self, scene: UsdSession
    ) -> None:
        with scene.undo_step("Delete"):
            scene.stage.RemovePrim("/World/ball")
        with scene.undo_step("Nothing"):
            inside = scene.lost([])

        assert inside == []
        assert scene.lost([]) == []

    def test_a_revert_selects_what_was_selected_and_edits_a_layer_that_was_locked(
        self, scene: UsdSession
    ) -> None:
        scene.selection = ["/World/ball", "/World/cam"]
        layer = scene.stage.GetRootLayer()
        before = scene.scene_digest()

        with scene.undo_step("Delete"):
            trial = scene.trial()
            scene.stage.RemovePrim("/World/ball")
            scene.selection = ["/World/box"]
            layer.SetPermissionToEdit(False)
            trial.revert()

        assert scene.scene_digest() == before
        assert scene.selection == ["/World/ball", "/World/cam"]
        assert not layer.permissionToEdit
        assert not scene.modified

    def test_a_scene_that_was_opened_in_the_step_is_not_reverted(self, scene: UsdSession) -> None:
        with scene.undo_step("Open"):
            trial = scene.trial()
            scene.open(str(scene.path))

            assert trial.is_edited()
            with pytest.raises(NotUndoable):
                trial.revert()
