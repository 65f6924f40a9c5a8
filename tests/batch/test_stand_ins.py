"""Plans and runs in stand-ins of mayapy and hython: nobody has run the real ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dcc_bridge_batch import approval, engine, outcome, planning, scenes
from dcc_bridge_batch.plan import Request
from tests.batch.conftest import digests
from tests.cli.test_run_hosts import CAMERAS, HOSTS, Farm
from tests.hosts.fakes import interpreter

if sys.platform == "win32":
    pytest.skip("the stand-ins are scripts of a POSIX shell", allow_module_level=True)

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("new_interpreter"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_deletion_is_planned_run_and_rolled_back_in_a_stand_in_of(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "show").mkdir()
    farm = Farm(tmp_path / "show", host)
    for name, value in farm.environment.items():
        monkeypatch.setenv(name, value)
    second = farm.scene.with_stem("shot 2")
    second.write_bytes(farm.scene.read_bytes())
    before = digests(farm.folder)
    request = Request(host, "delete", CAMERAS[host])
    paths = scenes.find([f"shot*{farm.scene.suffix}"], farm.folder)

    plan = planning.make(request, paths, tmp_path / "plan", 1)
    approval.approve(plan)
    engine.Run(plan, 1).run()
    done = outcome.totals(plan)
    edited = [it.read_text() for it in (farm.scene, second)]
    outcome.roll_back(plan, plan.root)

    assert [len(it["question"]["items"]) for it in plan.scenes()] == [2, 2]
    assert done.states == {"done": 2}, done
    assert not any("shot_" in text for text in edited)
    assert all("key" in text for text in edited)
    after = digests(farm.folder)
    assert {name: after[name] for name in before} == before
    programs = [Path(it["words"][0]).name for it in interpreter.notes(farm.bin) if "words" in it]
    assert programs.count("start.py") == 2  # one for the plan, one for the run
    assert set(programs) == {"probe.py", "start.py"}
    assert str(farm.bin) in os.environ["PATH"]
