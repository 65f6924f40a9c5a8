"""What leads to a prim is known beforehand, from what the layers hold, and it stays right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pxr import Sdf, Usd

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations.drawing import UsdOperations

Edit = Callable[[Usd.Stage], object]
LIBRARY = """#usda 1.0
def "Root"
{
    rel to = </Root/plain>
    def "plain"
    {
    }
    def "in"
    {
        rel to = </Root/plain>
    }
    def "off" (active = false)
    {
        float x.connect = </Root/plain.y>
    }
}
"""
SCENE = """#usda 1.0
(
    relocates = { </W/inside>: </W/moved> }
)
def "W" (
    prepend variantSets = "v"
    variants = { string v = "a" }
)
{
    def "plain"
    {
        float y = 1
    }
    def "before"
    {
        prepend rel to = </W/plain>
    }
    def "after"
    {
        append rel to = </W/plain>
    }
    def "off" (active = false)
    {
        float x.connect = </W/plain.y>
    }
    def "ref" (references = @library.usda@</Root>)
    {
    }
    def "copy" (instanceable = true; references = </W/before>)
    {
    }
    def "instance" (instanceable = true; references = @library.usda@</Root>)
    {
        over "in"
        {
            rel to = </W/instance/plain>
        }
    }
    over "moved"
    {
        rel to
    }
    variantSet "v" = {
        "a" {
            rel chosen = </W/plain>
            def "deep"
            {
                rel to = </W/plain>
            }
            def "inside"
            {
                rel to = </W/plain>
            }
        }
        "b" {
            rel other = </W/plain>
        }
    }
}
"""
PLAIN = [
    "chosen of /W",
    "reference of /W/new",
    "to of /W/after",
    "to of /W/before",
    "to of /W/deep",
    "to of /W/moved",
    "x of /W/off",
]


def _choose(variant: str) -> Edit:
    return lambda stage: stage.GetPrimAtPath("/W").GetVariantSet("v").SetVariantSelection(variant)


def _lead(stage: Usd.Stage) -> None:
    stage.GetPrimAtPath("/W/plain").CreateRelationship("new").AddTarget("/W/plain")
    stage.DefinePrim("/W/new").CreateRelationship("new").AddTarget("/W/plain")


def _lead_elsewhere(stage: Usd.Stage) -> None:
    stage.GetRelationshipAtPath("/W/before.to").SetTargets(["/W/off"])


def _lead_in_variant(stage: Usd.Stage) -> None:
    spec = stage.GetRootLayer().GetPrimAtPath("/W{v=a}")
    Sdf.RelationshipSpec(spec, "more", custom=False).targetPathList.Append("/W/plain")


def _rename(stage: Usd.Stage) -> None:
    edits = Sdf.BatchNamespaceEdit()
    edits.Add("/W/before", "/W/renamed")
    assert stage.GetRootLayer().Apply(edits)


def _replace_all(stage: Usd.Stage) -> None:
    text = '#usda 1.0\ndef "W"\n{\n    def "plain"\n    {\n    }\n    rel only = </W/plain>\n}\n'
    stage.GetRootLayer().ImportFromString(text)


@pytest.fixture
def operations(tmp_path: Path) -> UsdOperations:
    """A scene in which prims lead to others, in all ways."""
    (tmp_path / "library.usda").write_text(LIBRARY)
    (tmp_path / "s.usda").write_text(SCENE)
    return UsdOperations(UsdSession(tmp_path / "s.usda"))


def test_all_ways_to_lead_to_a_prim_are_known(operations: UsdOperations) -> None:
    operations.stage.DefinePrim("/W/new").GetReferences().AddInternalReference("/W/plain")

    assert sorted(operations.dependents(["/W/plain"])) == PLAIN
    assert sorted(operations.dependents(["/W/ref/plain"])) == [
        "to of /W/ref",
        "to of /W/ref/in",
        "x of /W/ref/off",
    ]
    assert operations.dependents(["/W/instance/plain"]) == ["to of /W/instance"]


@pytest.mark.parametrize(
    ("edit", "went", "came"),
    [
        (_lead, set(), {"new of /W/new"}),
        (_lead_elsewhere, {"to of /W/before"}, set()),
        (_lead_in_variant, set(), {"more of /W"}),
        (_choose("b"), {"chosen of /W", "to of /W/deep", "to of /W/moved"}, {"other of /W"}),
        (_rename, {"to of /W/before"}, {"to of /W/renamed"}),
        (lambda stage: stage.RemovePrim("/W/after"), {"to of /W/after"}, set()),
        (_replace_all, {*PLAIN}, {"only of /W"}),
    ],
)
def test_what_an_edit_leads_elsewhere_is_known(
    operations: UsdOperations, edit: Edit, went: set[str], came: set[str]
) -> None:
    """Also while its step is open, when it is reverted, undone and redone."""
    session = operations.host
    assert isinstance(session, UsdSession)

    def leading() -> set[str]:
        return set(operations.dependents(["/W/plain"]))

    before = leading()
    with session.undo_step("Reverted"):
        edit(session.stage)
        inside = leading()
        session.trial().revert()
        reverted = leading()
        edit(session.stage)
    after = leading()
    session.undo()
    undone = leading()
    session.redo()

    assert before - inside == went & before
    assert inside - before == came
    assert reverted == undone == before
    assert inside == after == leading()
