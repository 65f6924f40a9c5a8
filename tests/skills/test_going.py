"""The person at the host ends a call: a queued one never begins, one that asks is undone."""

from __future__ import annotations

from pathlib import Path

from tests.live import live, text
from tests.server.skills import Skills
from tests.stand_ins import ScriptedPresenter
from tests.tiers import every_era


@every_era
def test_a_call_is_ended_while_it_asks_and_while_it_waits(tmp_path: Path, era: str) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(None, None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:

        async def agent() -> str:
            async with running.client(era) as session:
                return text(await session.call_tool("delete", {}))

        bridge = running.bridge
        first = running.go(agent)
        running.until(lambda: bool(person.shown))
        second = running.go(agent)
        running.until(lambda: bridge.main.waiting == 1)
        queued, asking = bridge.recent.records()
        assert bridge.cancel(queued.id)
        running.until(second.done)
        assert bridge.cancel(asking.id)
        running.until(first.done)
        over = bridge.cancel(asking.id)

    assert not over
    assert "cancelled" in second.result()
    assert "cancelled" in first.result()
    assert skills.ran == {"delete": 1}
    assert len(skills.host.items) == 127
    assert not skills.host.labels
