"""What became of the calls: kept by the runner, for the panel and for the agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dcc_bridge import skill
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import CodeRun, Effect
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.types import Answered
from dcc_bridge.panel.state import read
from dcc_bridge.skills.call_history import Recent, Record
from dcc_bridge_usd.host import UsdSession
from tests.elicitation.brokers import YES
from tests.live import Live, live, text
from tests.server.skills import Skills
from tests.stand_ins import FakeHost, Person


def test_a_call_is_told_of_from_the_queue_to_its_end(tmp_path: Path) -> None:
    skills, person, told = Skills(has_ui=True), Person(YES, YES), list[Record]()

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        forget = running.bridge.recent.watch(told.append)
        running.call("delete")
        forget()
        running.call("delete")

    assert [record.state for record in told] == ["queued", "running", "asking", "running", "done"]
    last = told[-1]
    assert (last.client, last.risk) == ("test", "destructive")
    assert [(it.how, it.by) for it in last.answers] == [("agreed", "host")]
    assert last.effect.steps == (skills.host.labels[0],)
    assert last.ended is not None
    assert last.began <= last.ended


def test_a_call_that_is_refused_or_fails_says_so(tmp_path: Path) -> None:
    skills = Skills(has_ui=True)

    @skill(risk="edit")
    def broken() -> None:
        """Fail in mid-edit."""
        skills.host.items.clear()
        raise ValueError("no")

    person = Person(Reply("decline"))
    with live(tmp_path, skills.delete(), broken, host=skills.host, presenter=person) as running:
        running.call("delete")
        running.call("broken")
        failed, refused = running.bridge.recent.records()

    assert [(it.how, it.by) for it in refused.answers] == [("declined", "host")]
    assert (refused.state, refused.effect.steps) == ("refused", ())
    assert (failed.state, failed.effect.steps) == ("failed", ())
    assert "no" in str(failed.error)


def test_a_coroutine_that_is_cancelled_notes_its_end(tmp_path: Path) -> None:
    skills = Skills()
    skills.host.has_ui = True
    person = Person()

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


def test_reads_push_out_nothing_that_was_edited_or_asked_and_edits_no_code() -> None:
    recent = Recent(2)
    code = Effect(code=CodeRun("Count.", Details("print(1)")))
    for name in ("code1", "code2", "code3"):
        recent.follow(Call(name, "Code", "destructive")).end("failed", effect=code)
    for name in ("edit1", "edit2", "edit3"):
        recent.follow(Call(name, "Edit", "edit")).end("done", effect=Effect(("Edit [1]",)))
    asking = Call("ask", "Ask")
    trail = recent.follow(asking)
    trail.question_opened()
    trail.question_closed(Answered("How many?", "answered", "host"))
    trail.end("done")

    for number in range(50):
        recent.follow(Call(f"read{number}", "Read")).end("done")

    kept = {one.skill for one in recent.records()}
    assert kept == {"code2", "code3", "edit3", "ask", "read48", "read49"}


def test_what_the_person_undoes_and_redoes_by_themselves_is_seen(tmp_path: Path) -> None:
    """The stack of another scene says nothing of it."""
    host, recent = FakeHost(["a"]), Recent()
    with host.undo_step("Drop [1]"):
        host.items.pop()
    effect = Effect(("Drop [1]",), "Drop [1]", 1)
    recent.follow(Call("drop", "Drop", "edit")).end("done", effect=effect)

    def undone_by() -> str:
        recent.follow_undo(host)
        return recent.records()[0].effect.undone_by

    seen = [undone_by()]
    host.undo()
    seen.append(undone_by())
    host.redo()
    seen.append(undone_by())
    other = FakeHost(["a"], file=tmp_path / "other.fake")
    recent.follow_undo(other)

    assert seen == ["", "host", ""]
    assert recent.records()[0].effect.undone_by == ""


class TwoEditors:
    """A person and an agent in our own host, and which of the agent's steps stand.

    Attributes:
        calls: The agent's, in order; a step of theirs is known by its number.
    """

    def __init__(self, running: Live, session: UsdSession) -> None:
        self._running = running
        self._session = session
        self.calls: list[str] = []
        self._done: list[int | None] = []  # None is an edit of the person's
        self._undone: list[int | None] = []

    def agent_edits(self) -> None:
        self._done.append(len(self.calls))
        self._undone.clear()
        self.calls.append(self._call("touch"))

    def person_edits(self) -> None:
        self.look()  # as the panel does each second
        edit_by_hand(self._session)
        self._done.append(None)
        self._undone.clear()
        self.look()

    def person_undoes(self) -> None:
        if self._done:
            self._session.undo()
            self._undone.append(self._done.pop())

    def person_redoes(self) -> None:
        if self._undone:
            self._session.redo()
            self._done.append(self._undone.pop())

    def panel_undoes(self) -> None:
        state = read(self._running.bridge)
        if state.undoable is not None and state.undoable.effect.label is not None:
            assert self._running.bridge.undo(state.undoable.effect.label)
            self._undone.append(self._done.pop())

    def agent_undoes(self) -> None:
        if self._done and self._done[-1] is not None:
            self._call("undo_last")
            self._undone.append(self._done.pop())

    def look(self) -> None:
        """Compare what the panel reads with what stands."""
        ended = {record.id: record for record in read(self._running.bridge).ended}
        seen = [not ended[call].effect.undone_by for call in self.calls]
        assert seen == [number in self._done for number in range(len(self.calls))]

    def _call(self, name: str) -> str:
        bridge = self._running.bridge
        tool = bridge.registry.find(name).skill
        call = Call(name, name, "edit", client=Client("claude"))
        run = bridge._runner.start(tool, {}, call)
        self._running.until(run.outcome.done)
        assert run.outcome.result().status == "done"
        return call.id


def touching(session: UsdSession) -> Callable[[], None]:
    """Make a skill that changes the scene to what it never was."""

    @skill(risk="edit")
    def touch() -> None:
        """Change the scene."""
        session.stage.GetRootLayer().documentation = os.urandom(8).hex()

    return touch


def edit_by_hand(session: UsdSession) -> None:
    with session.undo_step("Edit by hand"):
        touching(session)()


@pytest.fixture
def seat_editors(tmp_path: Path) -> Iterator[Callable[[], TwoEditors]]:
    """Seat a person and an agent at a scene that was opened anew, as often as wanted."""
    file = tmp_path / "shot.usda"
    file.write_text("#usda 1.0\n")
    session = UsdSession()

    def seat() -> TwoEditors:
        session.open(file)
        return TwoEditors(running, session)

    with live(tmp_path, touching(session), host=session) as running:
        yield seat


ACTS = ("agent_edits", "person_edits", "person_undoes", "person_redoes")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from((*ACTS, "panel_undoes", "agent_undoes", "look")), max_size=16))
@example(["agent_edits"] * 2 + ["person_undoes", "look"] * 2 + ["person_redoes"] * 2)
@example(["agent_edits", "person_undoes", "agent_edits"])
@example(["agent_edits", "person_undoes", "look", "person_edits", "agent_edits"])
@example(["agent_edits", "person_edits", *["person_undoes"] * 2, "look", *["person_redoes"] * 2])
def test_the_history_says_undone_of_just_what_does_not_stand(
    seat_editors: Callable[[], TwoEditors], acts: list[str]
) -> None:
    editors = seat_editors()

    for act in acts:
        getattr(editors, act)()

    editors.look()


def test_a_scene_that_is_saved_under_a_name_is_the_same_scene(tmp_path: Path) -> None:
    session = UsdSession()

    with live(tmp_path, touching(session), host=session) as running:
        running.call("touch")
        edit_by_hand(session)
        session.save(tmp_path / "shot.usda")
        covered = text(running.call("undo_last"))
        session.undo()
        session.undo()
        undone = [record.effect.undone_by for record in read(running.bridge).ended]
        session.redo()
        done = text(running.call("undo_last"))

    assert "'Edit by hand' came after it" in covered
    assert undone == ["", "host"]
    assert done == "Undone: Touch, of test."


def test_an_undo_is_seen_before_others_edit_where_no_panel_is_open(tmp_path: Path) -> None:
    """After two edits the stack is higher than it was, which says nothing of what is below."""
    session = UsdSession()

    with live(tmp_path, touching(session), host=session) as running:
        running.call("touch")
        session.undo()
        running.until(lambda: bool(running.bridge.recent.records()[0].effect.undone_by))
        for _ in range(2):
            edit_by_hand(session)
        (record,) = read(running.bridge).ended

    assert record.effect.undone_by == "host"


@pytest.mark.parametrize("edits", [0, 1])
def test_a_step_in_a_scene_that_is_open_no_longer_is_gone(tmp_path: Path, edits: int) -> None:
    (tmp_path / "other.usda").write_text("#usda 1.0\n")
    session = UsdSession()

    with live(tmp_path, touching(session), host=session) as running:
        running.call("touch")
        session.open(tmp_path / "other.usda")
        for _ in range(edits):
            edit_by_hand(session)
        refused = text(running.call("undo_last"))

    assert "Its undo step is gone: it was undone, or another scene was opened." in refused
