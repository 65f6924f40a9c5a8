"""The hosts that run everywhere keep what the bridge relies on."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import remove
from tests.hosts.contract import HostContract, Stand
from tests.hosts.losses_contract import ROWS, Kind, Losing, TrialsContract
from tests.stand_ins import FakeHost


class TestUsdSession(HostContract):
    @pytest.fixture
    def stand(self, session: UsdSession) -> Stand:
        def edit() -> None:
            camera = session.stage.GetPrimAtPath("/World/a")
            focal = camera.GetAttribute("focalLength")
            focal.Set((focal.Get(7) or 0) + 1, 7)

        return Stand(
            session,
            ("/World/b", "/World/c"),
            edit,
            lambda item: remove(session.stage, [Sdf.Path(item)]),
            session.save,
        )


class TestFakeHost(HostContract):
    @pytest.fixture
    def stand(self, tmp_path: Path) -> Stand:
        host = FakeHost(["cam1", "light1"], file=tmp_path / "fake.json")
        host.save()
        return Stand(
            host,
            ("cam1", "light1"),
            lambda: host.items.append(f"cam{len(host.items) + 10}"),
            host.items.remove,
            host.save,
        )


_HOST = FakeHost(["cam1", "light1"])
_SCENE = {
    "nothing": Kind(lambda: None),
    "deleted": Kind(lambda: _HOST.items.remove("cam1"), "cam1"),
    "made": Kind(lambda: _HOST.items.append("cam2")),
    "moved": Kind(lambda: _HOST.items.append(_HOST.items.pop(0))),
    "selected": Kind(lambda: _HOST.select(["light1"])),
}


class TestLossesOfFakeHost(TrialsContract):
    KINDS = _SCENE
    HAS_NOT = dict.fromkeys(ROWS.keys() - _SCENE.keys(), "its scene is a list of names")

    @pytest.fixture
    def losing(self) -> Losing:
        while _HOST.labels:
            _HOST.undo()
        return Losing(_HOST, lambda: _HOST.items.append(f"cam{len(_HOST.items) + 10}"))
