"""A prim that a person unticked stays, also below a prim that they agreed to."""

from __future__ import annotations

from typing import Any

import pytest
from pxr import Usd

from dcc_bridge import confirm_sync, skill
from dcc_bridge.testing import agree, opened, play
from dcc_bridge_usd import session

WHEEL = "/World/car/wheel"


@skill(risk="destructive", confirms=True)
def delete(paths: list[str]) -> list[str]:
    """Delete prims."""
    agreed = confirm_sync("Delete them?", items=paths, may_take_fewer=True)
    for path in agreed:
        session().stage.RemovePrim(path)
    return list(agreed)


@pytest.fixture
def scene(tmp_path: Any) -> Any:
    """A file with a car, its wheel, and a tree."""
    file = tmp_path / "scene.usda"
    stage = Usd.Stage.CreateNew(str(file))
    for path in (WHEEL, "/World/tree"):
        stage.DefinePrim(path, "Cube")
    stage.Save()
    return file


def test_nothing_goes_if_an_unticked_prim_would_go_with_one_above_it(scene: Any) -> None:
    paths = {"paths": ["/World/car", WHEEL, "/World/tree"]}

    with opened("usd", scene) as host:
        played = play(delete, paths, host=host, answers=[agree(leave_out=[WHEEL])])
        left = [host.kinds([path]) != ["gone"] for path in paths["paths"]]

    assert played.status == "no_consent"
    assert WHEEL in (played.error or "")
    assert left == [True, True, True]


def test_the_others_go_where_nothing_above_an_unticked_prim_goes(scene: Any) -> None:
    paths = {"paths": [WHEEL, "/World/tree"]}

    with opened("usd", scene) as host:
        played = play(delete, paths, host=host, answers=[agree(leave_out=[WHEEL])])
        left = [host.kinds([path]) != ["gone"] for path in paths["paths"]]

    assert (played.status, played.value) == ("done", ["/World/tree"])
    assert left == [True, False]
