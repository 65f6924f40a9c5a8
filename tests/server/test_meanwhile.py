"""While a question is open the host and the other agents go on."""

from __future__ import annotations

from pathlib import Path

from dcc_bridge import elicit_form_sync
from dcc_bridge.elicitation.question import Reply
from tests.live import live, status
from tests.server.skills import CONFIRM, Skills
from tests.stand_ins import ScriptedPresenter

YES = Reply("accept", {"confirm": True})


def test_the_person_at_the_host_is_told_what_was_done_and_can_take_it_back(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(YES, Reply("decline"))

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        running.call("delete")
        empty = not skills.host.items
        undo = person.undos[0]
        assert undo is not None
        undo()
        back = len(skills.host.items)
        undo()
        running.call("delete")

    assert empty
    assert back == 127
    assert "Delete" in person.notices[0]
    assert person.notices[1] == "It is undone already."
    assert len(person.notices) == 2


def test_the_hosts_own_button_gets_its_own_question(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(None, YES)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = running.start("delete")
        running.until(lambda: bool(person.shown))
        answer = elicit_form_sync("From a shelf button?", CONFIRM)
        person.settles[0](YES)
        running.until(first.done)

    assert answer.answered_by == "host"
    assert status(first.result()) == "done"
