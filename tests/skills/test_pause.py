"""What the person stops: no edit begins while all is paused, and no call that was ended goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge import skill
from tests.elicitation.brokers import YES
from tests.live import live, text
from tests.server.skills import Skills
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era


@every_era
def test_an_edit_is_refused_with_a_sentence_until_it_may_go_on(tmp_path: Path, era: str) -> None:
    host = FakeHost(["cam1"])

    @skill(risk="edit")
    def add() -> None:
        """Add one."""
        host.items.append("cam2")

    with live(tmp_path, add, host=host) as running:
        running.bridge.pause()
        refused = running.call("add", era=era)
        left = list(host.items)
        running.bridge.resume()
        done = running.call("add", era=era)

    assert refused.is_error
    assert "Agents are paused in the application; nothing was changed." in text(refused)
    assert left == ["cam1"]
    assert not done.is_error
    assert host.items == ["cam1", "cam2"]


@pytest.mark.parametrize("where", ["delete", "delete_async"])
def test_nobody_is_asked_for_what_is_refused(tmp_path: Path, where: str) -> None:
    skills, person = Skills(has_ui=True), Person(YES)

    with live(tmp_path, getattr(skills, where)(), host=skills.host, presenter=person) as running:
        running.bridge.pause()
        refused = running.call("delete")
        record = running.bridge.recent.records()[0]

    assert refused.is_error
    assert record.state == "not_started"
    assert not person.shown
    assert not skills.ran


def test_reading_still_works(tmp_path: Path) -> None:
    @skill(risk="read")
    def count() -> int:
        """Count."""
        return 7

    with live(tmp_path, count) as running:
        running.bridge.pause()
        assert running.bridge.is_paused
        assert not running.call("count").is_error


def test_neither_what_was_queued_nor_what_waits_for_an_answer_edits_any_more(
    tmp_path: Path,
) -> None:
    skills, person = Skills(has_ui=True), Person(None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = running.start("delete")
        running.until(lambda: bool(person.shown))
        second = running.start("delete")
        running.until(lambda: running.bridge.main.waiting == 1)
        running.bridge.pause()
        person.settles[0](YES)
        running.until(lambda: first.done() and second.done())

    assert "Agents are paused" in text(first.result())
    assert "Agents are paused" in text(second.result())
    assert skills.host.labels == []


@every_era
def test_a_call_is_ended_while_it_asks_and_while_it_waits(tmp_path: Path, era: str) -> None:
    skills, person = Skills(has_ui=True), Person(None, None)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        bridge = running.bridge
        first = running.start("delete", era=era)
        running.until(lambda: bool(person.shown))
        second = running.start("delete", era=era)
        running.until(lambda: bridge.main.waiting == 1)
        queued, asking = bridge.recent.records()
        assert bridge.cancel(queued.id)
        running.until(second.done)
        assert bridge.cancel(asking.id)
        running.until(first.done)
        over = bridge.cancel(asking.id)

    assert not over
    assert "cancelled" in text(second.result())
    assert "cancelled" in text(first.result())
    assert skills.ran == {"delete": 1}
    assert len(skills.host.items) == 127
    assert not skills.host.labels
