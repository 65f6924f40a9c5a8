"""What a verb looks up or walks once, however many items it is given."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.verbs.ports import Checking
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.usd.test_verbs import BOXES, studio
from tests.verbs import usd_scene
from tests.verbs.memory import MemoryOperations
from tests.verbs.studio import YES
from tests.verbs.studio import studio as memory_studio

LIGHTS = ["/Set/Key", "/Set/Fill", "/Set/Rim"]


def counting(counts: Counter[str], fn: Callable[..., Any]) -> Callable[..., Any]:
    """Count the calls by their last argument."""

    def counted(*args: Any) -> Any:
        counts[args[-1]] += 1
        return fn(*args)

    return counted


def test_near_names_are_looked_for_only_where_an_error_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter[str]()
    with studio(tmp_path, YES) as scene:
        names = sys.modules["dcc_bridge_usd.operations.names"]  # the operations found it
        monkeypatch.setattr(names, "instead", counting(counts, names.instead))
        scene.do("rename", pattern="Placeholder_*", to="Box_*", preview=True)
        told = scene.do("delete", items=BOXES)

        assert told["still_there"] == []
        assert not counts
        scene.fails("transform", items=["/World/Props/Tre"], move=[1, 0, 0])
        assert counts == {"/World/Props/Tre": 1}


def test_what_stays_is_measured_once_and_what_moves_along_for_each_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter[str]()
    monkeypatch.setattr(MemoryOperations, "bounds", counting(counts, MemoryOperations.bounds))
    with memory_studio(tmp_path) as scene:
        scene.do("transform", items=LIGHTS, move=[0, 3, 0], look_at="/Tree")
        assert counts == {"/Tree": 1}

        scene.do("transform", items=["/Set/Rim"], at=[5, 0, 0])
        counts.clear()
        scene.do("transform", items=["/Set/Key", "/Set"], move=[0, 3, 0], look_at="/Set/Rim")
        assert counts == {"/Set/Rim": 2}


def test_each_prim_that_is_looked_at_for_a_list_is_a_chance_to_paint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = list[float]()
    made = operations(UsdSession(usd_scene.make(tmp_path / "shot.usda")))
    assert isinstance(made, Checking)
    prims = len(list(made.items()))

    def note(done: float, total: float | None = None, message: str = "") -> None:
        walks.append(done)

    monkeypatch.setattr("dcc_bridge.skills.skill.report_progress", note)
    assert "./textures/lost.png" in {path for _, _, path in made.files()}
    assert "/World/Looks/Red" in made.materials()

    assert walks.count(prims) == 2
