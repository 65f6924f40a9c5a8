"""A long skill leaves the window alive, is followed by its client, and can be stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from dcc_bridge import skill, track
from dcc_bridge.skills.skill import describe
from tests.live import ERAS
from tests.tiers import sampled
from tests.usd.window.moving import table

PRIMS = 300


@pytest.mark.long
@pytest.mark.parametrize("era", ERAS)
def test_the_window_lives_while_a_skill_works_through_many_prims(
    era: str, app: QApplication, tmp_path: Path
) -> None:
    with table(tmp_path, PRIMS, 1.5) as opened:
        plain = opened.play("plain", era)
        tracked = opened.play("tracked", era)

    values = [done for done, _ in tracked.heard]
    assert max(plain.late) > 1000
    assert max(tracked.late) < 600
    assert len(tracked.late) > 10
    assert values == sorted(set(values))
    assert tracked.heard[-1] == (PRIMS, PRIMS)
    assert len(values) > 4


@pytest.mark.parametrize("era", sampled([ERAS[1]], ERAS))
def test_cancelled_in_its_middle_it_is_rolled_back(
    era: str, app: QApplication, tmp_path: Path
) -> None:
    """Left alone it would work for 20 s."""
    with table(tmp_path, PRIMS, 20.0) as opened:
        before = opened.session.scene_digest()
        opened.play("tracked", era, cancel_at=PRIMS / 50)
        record = opened.running.bridge.recent.records()[0]
        after = opened.session.scene_digest()
        labels = opened.session.undo_labels

    assert record.state == "cancelled"
    assert record.progress is not None
    assert record.progress[0] < PRIMS
    assert after == before
    assert labels == []


def test_the_window_paints_while_prims_it_shows_are_deleted_and_come_back(
    app: QApplication, tmp_path: Path
) -> None:
    """It is tried to its end, with nobody there who lets the prims go."""
    deleted: list[int] = []
    with table(tmp_path, 30, 0.1) as opened:
        opened.window.resize(900, 700)

        before = opened.session.scene_digest()

        @skill(risk="edit")
        def prune() -> int:
            """Delete every prim, painting on the way."""
            stage = opened.session.stage
            gone = 0
            for path in track([prim.GetPath() for prim in stage.Traverse()]):
                gone += stage.RemovePrim(path)
                for widget in app.allWidgets():
                    widget.update()
                opened.running.bridge.main.repaint()
            deleted.append(gone)
            return gone

        opened.running.bridge.registry.add(describe(prune))
        played = opened.play("prune", ERAS[-1])
        after = opened.session.scene_digest()

    assert played.status == "refused"
    assert deleted == [1]  # all else goes with the topmost
    assert after == before
