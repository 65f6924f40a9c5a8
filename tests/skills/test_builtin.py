"""The tools that every host has: what became of my calls, and undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.audit import reader
from dcc_bridge.errors import NotUndoable
from tests.audit.test_log import FailingDisk
from tests.elicitation.brokers import NO, YES
from tests.live import Live, live, status, text
from tests.server.skills import CONFIRM, Skills
from tests.stand_ins import FakeHost, Person


def dropping(host: FakeHost) -> Callable[[], None]:
    """Make an edit that can be undone."""

    @skill(risk="edit", tried=False)
    def drop() -> None:
        """Drop the last one."""
        host.items.pop()

    return drop


def saving(host: FakeHost, file: Path) -> Callable[[], None]:
    """Make a skill that writes over a file, which undo does not bring back."""

    @skill(risk="destructive", confirms=True)
    def save() -> None:
        """Save it."""
        confirm_sync("Save?", verb="Save", undoable=False, files=[file])
        host.save()

    return save


def calls(running: Live, label: str = "test", **arguments: Any) -> Any:
    """Ask what became of a client's calls."""
    return running.call("recent_calls", arguments, label=label).structured_content


def test_a_client_sees_what_became_of_its_calls(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(NO, YES)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        running.call("delete")
        running.call("delete")
        mine = calls(running)
        others = calls(running, "another")
        none = calls(running, limit=0)

    done, refused = mine["calls"]
    assert (done["tool"], done["state"], done["answered_by"]) == ("delete", "done", "host")
    assert done["undo_step"] == skills.host.labels[0]
    assert (refused["state"], "undo_step" in refused) == ("refused", False)
    assert mine["others"] == []
    assert others["calls"] == []
    assert {"title": "Delete", "state": "done"} in others["others"]
    assert all(set(one) == {"title", "state"} for one in others["others"])
    assert none == {"calls": [], "others": []}


def test_it_is_served_while_an_edit_waits_in_its_middle(tmp_path: Path) -> None:
    host, person = FakeHost(["a", "b"], has_ui=True), Person(None)

    @skill(risk="edit")
    def half() -> None:
        """Edit, and ask."""
        host.items.append("c")
        elicit_form_sync("Go on?", CONFIRM)

    with live(tmp_path, half, host=host, presenter=person) as running:
        result = running.start("half")
        running.until(lambda: bool(person.shown))
        seen = calls(running)["calls"]
        person.settles[0](YES)
        running.until(result.done)

    assert [one["state"] for one in seen] == ["asking"]


def test_the_last_action_of_an_agent_is_undone_and_the_one_before_it(tmp_path: Path) -> None:
    host = FakeHost(["a", "b", "c"])

    with live(tmp_path, dropping(host), host=host) as running:
        running.call("drop")
        running.call("drop")
        first = running.call("undo_last")
        after = list(host.items)
        running.call("undo_last")
        nothing = running.call("undo_last")
        host.redo()

    assert (status(first), text(first)) == ("done", "Undone: Drop, of test.")
    assert after == ["a", "b"]
    assert host.items == ["a", "b"]
    assert "There is nothing to undo: no change by an agent is left." in text(nothing)


def test_what_the_person_did_since_is_never_undone(tmp_path: Path) -> None:
    host = FakeHost(["a", "b", "c"])

    with live(tmp_path, dropping(host), host=host) as running:
        running.call("drop")
        with host.undo_step("Rename a"):
            host.items[0] = "A"
        refused = running.call("undo_last")

    assert status(refused) == "failed"
    assert "'Rename a' came after it" in text(refused)
    assert "Use the undo of fake" in text(refused)
    assert host.items == ["A", "b"]


def test_an_agents_undo_is_on_record_before_it_is_done(tmp_path: Path) -> None:
    host = FakeHost(["a"])

    with live(tmp_path, dropping(host), host=host) as running:
        running.call("drop")
        label = host.undo_mark().label
        running.call("undo_last")
        (book,) = reader.logs(running.bridge.audit.folder)
        lines = [line.fields for line in reader.read(book).lines()]
        running.call("drop")
        running.bridge.audit.disk = FailingDisk(1)
        refused = running.call("undo_last")

    mine = [line for line in lines if line.get("skill") == "undo_last"]
    assert [line["event"] for line in mine] == ["unasked", "begin", "end"]
    assert (mine[-1]["undoes"], mine[-1]["changed"]) == (label, True)
    assert status(refused) == "failed"
    assert host.items == []


def test_a_studio_that_asks_for_edits_is_asked_for_the_undo_too(tmp_path: Path) -> None:
    host, person = FakeHost(["a", "b"], has_ui=True), Person(YES, NO)

    with live(tmp_path, dropping(host), host=host, presenter=person, edit="ask") as running:
        running.call("drop")
        refused = running.call("undo_last")

    assert status(refused) == "refused"
    assert person.shown[1].message == "Undo last agent action?"
    assert host.items == ["a"]


@pytest.mark.parametrize("meanwhile", [None, "Rename a"])
def test_a_call_with_two_steps_is_undone_whole_or_says_what_is_between_them(
    tmp_path: Path, meanwhile: str | None
) -> None:
    host, person = FakeHost(["a", "b", "c"], has_ui=True), Person(None)

    @skill(risk="edit", title="Drop two", tried=False)
    def drop() -> None:
        """Drop the last one, ask, and drop one more."""
        host.items.pop()
        elicit_form_sync("Go on?", CONFIRM)
        host.items.pop()

    with live(tmp_path, drop, host=host, presenter=person) as running:
        done = running.start("drop")
        running.until(lambda: bool(person.shown))
        if meanwhile is not None:
            with host.undo_step(meanwhile):
                host.items[0] = "A"
        person.settles[0](YES)
        running.until(done.done)
        undone = running.call("undo_last")

    if meanwhile is None:
        assert (host.items, text(undone)) == (["a", "b", "c"], "Undone: Drop two, of test.")
    else:
        assert host.items == ["A"]
        assert "Nothing was undone. Drop two: " in text(undone)
        assert "Somebody else changed the scene while it ran. Use the undo of fake." in text(undone)


def test_entries_that_a_body_pushed_by_itself_are_undone_with_its_step(tmp_path: Path) -> None:
    host = FakeHost(["a", "b", "c"], has_ui=True)

    @skill(risk="edit", title="Drop two")
    def drop() -> None:
        """Drop the last one, push an entry as an application's own call does, drop one more."""
        host.items.pop()
        host._settle("a push of the body's own")
        host.items.pop()

    with live(tmp_path, drop, host=host) as running:
        running.call("drop")
        running.call("undo_last")

    assert (host.items, host.labels) == (["a", "b", "c"], [])


@pytest.mark.parametrize("by_person", [False, True])
def test_what_an_undo_did_not_bring_back_is_told_to_whoever_asked_for_it(
    by_person: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, person = FakeHost(["a", "b"], has_ui=True), Person()
    whole = host.undo

    def undo() -> None:
        whole()
        raise NotUndoable("b did not come back.")

    monkeypatch.setattr(host, "undo", undo)

    with live(tmp_path, dropping(host), host=host, presenter=person) as running:
        running.call("drop")
        if by_person:
            undone = running.bridge.undo(host.labels[-1])
        else:
            told = running.call("undo_last")
        last = calls(running)["calls"][-1]

    assert (host.labels, last["undone_by"]) == ([], "host" if by_person else "test")
    if by_person:
        assert (undone, person.notices[-1]) == (True, "b did not come back.")
    else:
        assert (status(told), text(told)) == ("failed", "undo_last: b did not come back.")


def test_a_save_over_nothing_does_not_stand_in_the_way_of_the_call_before_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "new.fake"
    host = FakeHost(["a", "b"], has_ui=True, file=file)

    with live(
        tmp_path, dropping(host), saving(host, file), host=host, presenter=Person(YES)
    ) as running:
        running.call("drop")
        running.call("save")
        saved = calls(running)["calls"][0]["call"]
        named = running.call("undo_last", {"call_id": saved})
        undone = running.call("undo_last")

    assert "Undo cannot restore this." in text(named)
    assert (text(undone), host.items) == ("Undone: Drop, of test.", ["a", "b"])


def test_after_a_save_only_a_call_that_is_named_is_undone(tmp_path: Path) -> None:
    file = tmp_path / "shot.fake"
    file.write_text("[]")
    host = FakeHost(["a", "b"], has_ui=True, file=file)

    with live(
        tmp_path, dropping(host), saving(host, file), host=host, presenter=Person(YES)
    ) as running:
        running.call("drop")
        running.call("save")
        saved, dropped = calls(running)["calls"]
        refused = running.call("undo_last")
        after = list(host.items)
        named = running.call("undo_last", {"call_id": dropped["call"][:6]})
        unknown = running.call("undo_last", {"call_id": "nothing"})

    assert "Nothing was undone. Save: " in text(refused)
    assert f"The previous version is in {saved['copy']}" in text(refused)
    assert "To undo an earlier call, pass its call_id; see recent_calls." in text(refused)
    assert (after, host.items) == (["a"], ["a", "b"])
    assert text(named) == "Undone: Drop, of test."
    assert "No recent call has the id" in text(unknown)


def test_an_agent_is_told_what_its_skill_changed_that_was_put_back(tmp_path: Path) -> None:
    class Guarded(FakeHost):
        @contextmanager
        def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
            try:
                yield
            finally:
                put_back.append("which layer edits go to")

    host = Guarded(["a"])

    @skill(risk="edit", tried=False)
    def drop(fails: bool = False) -> None:
        """Drop the last one."""
        host.items.pop()
        if fails:
            raise ValueError("no")

    with live(tmp_path, drop, host=host) as running:
        failed, done = running.call("drop", {"fails": True}), running.call("drop")

    note = "The skill also changed which layer edits go to. That was restored."
    assert text(done) == f"Done. {note}"
    assert text(failed).endswith(f"Nothing was changed. {note}")
