"""The verbs of our own application over odd prims."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations as usd_operations
from tests.usd.odd_prims import BODIES
from tests.verbs import odd
from tests.verbs.odd import Odd

_SCENE: Final = """#usda 1.0
(
    {head}
)
def Xform "World"
{{
    def Cube "Plain" {{
        double size = 2
    }}
    {body}
}}
"""
_HEAD: Final = 'defaultPrim = "World"\n    metersPerUnit = 0.01\n    upAxis = "Y"'
_HEADS: Final[dict[str, str]] = {
    "units of no numbers": """defaultPrim = "World"
    metersPerUnit = nan
    startTimeCode = nan
    endTimeCode = inf
    timeCodesPerSecond = 0""",
    "units of nothing": """metersPerUnit = 0
    upAxis = "X"
    defaultPrim = "Nowhere\"""",
    "a dead layer": _HEAD
    + """
    subLayers = [@./gone.usda@, @./broken.usda@, @./scene.usda@]""",
}
# What `inspect` tells of some of them as unreadable, and why.
_TOLD: Final[dict[str, tuple[str, str]]] = {
    "a place of no numbers": ("bounds", "nan or inf"),
    "a place beyond a float": ("bounds", "endless"),
    "a place of a text": ("place", "a text in place of numbers"),
    "a light of no numbers": ("bounds", "nan or inf"),
    "an instancer of itself": ("bounds", "shows itself"),
}


def _written(folder: Path, kind: str) -> Path:
    (folder / "text.txt").write_text("hello")
    (folder / "broken.usda").write_text('#usda 1.0\ndef "X" {')
    body = BODIES.get(kind, 'def Cube "It" {}')
    head = _HEADS.get(kind, _HEAD)
    file = folder / "scene.usda"
    file.write_text(_SCENE.format(head=head, body=body))
    return file


KINDS: Final = [*BODIES, *_HEADS]


def _odd(kind: str) -> Odd:
    told, why = _TOLD.get(kind, ("", ""))
    listed = f"{told.replace('place', 'at')} of /World/It" if told else ""
    return Odd("/World/It", "/World/Plain", told, listed, why)


@pytest.fixture(scope="module", params=KINDS)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[HostOperations, Odd, Path]]:
    """A scene with an odd prim, for all of the calls."""
    folder = tmp_path_factory.mktemp("odd")
    session = UsdSession(_written(folder, request.param))
    uninstall = install(session)
    yield usd_operations(session), _odd(request.param), folder
    uninstall()


class TestOddItems(odd.OddItems):
    """Each kind of odd item, and each verb."""
