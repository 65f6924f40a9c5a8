"""The scenes that the tests edit, and an edit that fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from pxr import Usd

from dcc_bridge_usd.host import UsdSession

SCENE = Path(__file__).parents[2] / "resources" / "scenes" / "shot_010_layout.usda"
SMALL = """#usda 1.0
(
    defaultPrim = "World"
    subLayers = [@./sub.usda@]
)

def Xform "World"
{
    def Camera "a"
    {
        float focalLength = 35
        custom rel lookAt = [</World/b>, </World/c>]
    }

    def Camera "b"
    {
        float focalLength.timeSamples = { 1: 24, 10: 48 }
        float focusDistance.connect = </World/a.focalLength>
    }

    def Xform "c"
    {
        def Sphere "below" {}
    }
}
"""


class Failed(BaseException):
    """What a step of `fail_after` raises: no ordinary exception, as an interrupt is none."""


def fail_after(session: UsdSession, edit: Callable[[Usd.Stage], object]) -> NoReturn:
    with session.undo_step("Fails"):
        edit(session.stage)
        raise Failed


def layer_texts(session: UsdSession) -> list[str]:
    """Give what each layer holds; the digest is made of these texts."""
    layers = session.stage.GetLayerStack(includeSessionLayers=True)
    return [layer.ExportToString() for layer in layers]


def state(session: UsdSession) -> list[object]:
    """Give what each layer holds, and what prims the scene shows.

    Their order is that of the layers: where an empty over comes or goes, USD composes its siblings
    in the new order only with their next edit (26.11).
    """
    every = Usd.PrimRange.AllPrims(session.stage.GetPseudoRoot())
    return [*layer_texts(session), sorted(str(prim.GetPath()) for prim in every)]


def check_undo(session: UsdSession, edit: Callable[[Usd.Stage], object]) -> None:
    """Edit in a step, and see that it is undone and redone to the letter, again and again."""
    before = state(session)
    with session.undo_step("Edit"):
        edit(session.stage)
    after = state(session)

    assert after != before
    for _ in range(2):
        session.undo()
        assert state(session) == before
        session.redo()
        assert state(session) == after
