"""What became of the calls: kept by the runner, for the panel and for the agents."""

from __future__ import annotations

from pathlib import Path

from dcc_bridge import skill
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.skills.call_history import Recent, Record
from dcc_bridge.testing import ScriptedPresenter
from tests.live import live
from tests.server.skills import Skills

YES = Reply("accept", {"confirm": True})


def test_a_call_is_told_of_from_the_queue_to_its_end(tmp_path: Path) -> None:
    skills, person, told = Skills(has_ui=True), ScriptedPresenter(YES, YES), list[Record]()

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        forget = running.bridge.recent.watch(told.append)
        running.call("delete")
        forget()
        running.call("delete")

    assert [record.state for record in told] == ["queued", "running", "asking", "running", "done"]
    last = told[-1]
    assert (last.client, last.risk, last.answered_by) == ("test", "destructive", "host")
    assert last.undo_label == skills.host.labels[0]
    assert last.ended is not None
    assert last.began <= last.ended


def test_a_call_that_is_refused_or_fails_says_so(tmp_path: Path) -> None:
    skills = Skills(has_ui=True)

    @skill(risk="edit")
    def broken() -> None:
        """Fail in mid-edit."""
        skills.host.items.clear()
        raise ValueError("no")

    person = ScriptedPresenter(Reply("decline"))
    with live(tmp_path, skills.delete(), broken, host=skills.host, presenter=person) as running:
        running.call("delete")
        running.call("broken")
        failed, refused = running.bridge.recent.records()

    assert (refused.state, refused.answered_by, refused.undo_label) == ("refused", "host", None)
    assert (failed.state, failed.undo_label) == ("failed", None)
    assert "no" in str(failed.error)


def test_a_call_that_is_cancelled_in_the_queue_never_began(tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.delete()) as running:
        runner = running.bridge._runner
        entry = running.bridge.registry.find("delete")
        run = runner.start(entry.skill, {}, Call("delete", "Delete"))
        run.cancel()
        record = running.bridge.recent.records()[0]

    assert record.state == "not_started"
    assert not skills.ran


def test_a_coroutine_that_is_cancelled_notes_its_end(tmp_path: Path) -> None:
    skills = Skills()
    skills.host.has_ui = True
    person = ScriptedPresenter()

    with live(tmp_path, skills.delete_async(), host=skills.host, presenter=person) as running:
        entry = running.bridge.registry.find("delete")
        run = running.bridge._runner.start(entry.skill, {}, Call("delete", "Delete", "destructive"))
        running.until(lambda: bool(person.shown))
        run.cancel()
        run.cancel()
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)
        record = running.bridge.recent.records()[0]

    assert record.state == "cancelled"


def test_only_the_last_ended_calls_are_kept_and_every_live_one() -> None:
    recent = Recent(2)
    trails = [recent.follow(Call(f"skill{number}", "A skill")) for number in range(5)]

    for trail in trails[1:]:
        trail.end("done")
        trail.end("failed", "too late")

    assert {record.skill for record in recent.records()} == {"skill0", "skill3", "skill4"}
    assert {record.state for record in recent.records()} == {"queued", "done"}


def test_a_busy_reader_does_not_push_out_what_was_edited_or_asked() -> None:
    recent = Recent(2)
    edit, asking = Call("edit", "Edit", "edit"), Call("ask", "Ask")
    recent.follow(edit).end("done", undo_label="Edit [1]")
    trail = recent.follow(asking)
    trail.question_opened()
    trail.question_closed("host")
    trail.end("done")

    for number in range(50):
        recent.follow(Call(f"read{number}", "Read")).end("done")

    assert {one.skill for one in recent.records()} == {"edit", "ask", "read48", "read49"}
