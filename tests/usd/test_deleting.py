"""Before a deletion is agreed to: what breaks is named, and what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations.drawing import UsdOperations

SCENE = """#usda 1.0
def Xform "W"
{
    def Material "Mat" {}
    def Cube "a" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        rel material:binding = </W/Mat>
        def Cube "in" {}
    }
    def "plain" {}
    def Xform "ref" ( references = </W/a> ) {}
    def Xform "deep" ( references = </W/a/in> ) {}
    def Xform "instance" ( instanceable = true; references = </W/a> ) {}
    def Camera "cam"
    {
        float focusDistance.connect = </W/a/in.size>
    }
}
"""


@pytest.fixture
def operations(tmp_path: Path) -> UsdOperations:
    """A scene in which prims lead to others."""
    (tmp_path / "s.usda").write_text(SCENE)
    return UsdOperations(UsdSession(tmp_path / "s.usda"))


def test_what_cannot_be_deleted_is_refused_before_anybody_is_asked(
    operations: UsdOperations,
) -> None:
    operations.check_deletable(["/W/a", "/W/a/in"])
    with pytest.raises(ValueError, match="inside an instance"):
        operations.check_deletable(["/W/instance/in"])
    with pytest.raises(LookupError):
        operations.check_deletable(["/W/none"])

    operations.stage.GetRootLayer().SetPermissionToEdit(False)
    with pytest.raises(ValueError, match="is locked; unlock it first"):
        operations.check_deletable(["/W/a"])


def test_a_name_that_no_file_can_have_is_refused(operations: UsdOperations) -> None:
    with pytest.raises(ValueError, match="null character"):
        operations.save_files(Path("/tmp/a\0b.usda"))


def test_a_check_finds_what_leads_to_nothing(operations: UsdOperations) -> None:
    operations.delete(["/W/a/in", "/W/Mat"])

    found = {
        item: why
        for item, why in operations.failures("dead_links", ["/W/a", "/W/deep", "/W/plain"])
        if why
    }

    assert found == {
        "/W/a": "material:binding leads to /W/Mat",
        "/W/deep": "its reference to /W/a/in",
    }


def test_a_prim_without_a_type_is_called_a_prim(operations: UsdOperations) -> None:
    assert operations.kind("/W/plain") == "prim"


def test_a_removed_property_of_a_variant_comes_back() -> None:
    session = UsdSession()
    prim = session.stage.DefinePrim("/W")
    variants = prim.GetVariantSets().AddVariantSet("v")
    variants.AddVariant("a")
    variants.SetVariantSelection("a")
    with variants.GetVariantEditContext():
        prim.CreateAttribute("x", Sdf.ValueTypeNames.Double).Set(1.0)
    before = session.scene_digest()

    with session.undo_step("Remove"), variants.GetVariantEditContext():
        prim.RemoveProperty("x")
    session.undo()

    assert session.scene_digest() == before
