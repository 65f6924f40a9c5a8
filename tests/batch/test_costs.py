"""What one scene costs: in a bare loop, in a warm host, in a chunk of fifty, in a cold host."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest

from dcc_bridge_batch import approval, engine, outcome
from tests.batch.conftest import bare, make_show, session_of, write_scene

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("new_interpreter"),
]


def test_a_chunk_of_fifty_shares_what_a_host_costs(tmp_path: Path) -> None:
    for number in range(50):
        write_scene(tmp_path / "show" / f"shot_{number:03}.usda", cameras=20)
    shutil.copytree(tmp_path / "show", tmp_path / "bare")
    loop = bare(sorted((tmp_path / "bare").iterdir()))

    begin = time.perf_counter()
    show = make_show(tmp_path / "show", tmp_path / "plan", chunk=50)
    planning = (time.perf_counter() - begin) / 50
    approval.approve(show.plan)
    with session_of(show, tmp_path / "host") as session:
        begin = time.perf_counter()
        session.run("shot_000.usda")
        warm = (time.perf_counter() - begin) / 50
    done = outcome.totals(show.plan)
    outcome.roll_back(show.plan, show.root)

    again = make_show(tmp_path / "show", tmp_path / "again", chunk=50)
    approval.approve(again.plan)
    begin = time.perf_counter()
    engine.Run(again.plan, 1).run()
    chunk = (time.perf_counter() - begin) / 50
    outcome.roll_back(again.plan, again.root)

    single = make_show(tmp_path / "show", tmp_path / "single", chunk=1)
    approval.approve(single.plan)
    begin = time.perf_counter()
    run = engine.Run(single.plan, 1)
    run.only = [0]
    run.run()
    cold = time.perf_counter() - begin
    print(
        f"\na scene: bare loop {1000 * loop:.1f} ms, planned {1000 * planning:.0f} ms, warm "
        f"{1000 * warm:.0f} ms ({warm / loop:.0f} times), in a chunk of 50 {1000 * chunk:.0f} ms, "
        f"cold {cold:.1f} s",
        file=sys.stderr,
    )

    assert done.states == {"done": 50}
    assert outcome.totals(again.plan).states == {"rolled_back": 50}
    assert loop < warm
    assert cold > 5 * chunk
