"""What an agent is told of a call that did what nobody agreed to, and what is true then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from dcc_bridge import confirm_sync, elicit_form_sync, on_main, skill
from dcc_bridge.elicitation.question import PresenterEvent, Reply
from dcc_bridge.errors import BridgeError, NotUndoable
from dcc_bridge.host import Account
from tests.elicitation.brokers import NO, YES
from tests.live import live, status, text
from tests.stand_ins import FakeHost, FakeTrial, Person

FORM = {"type": "object", "properties": {}}
SEEN = Reply("accept", {})


def called(
    folder: Path, host: FakeHost, fn: Callable[[], None], *answers: PresenterEvent
) -> CallToolResult:
    """Call a skill in a scene in which the person did one thing before."""
    host.has_ui = True
    with host.undo_step("Add b by hand"):
        host.items.append("b")
    with live(folder, fn, host=host, presenter=Person(*answers)) as running:
        return running.call(fn.__name__)


@pytest.mark.parametrize(
    ("risk", "sentence"),
    [
        ("read", "tidy changed the scene without the consent of a person, so its changes were un"),
        ("destructive", "tidy deleted b without approval, so its changes were undone."),
    ],
)
def test_what_nobody_agreed_to_is_undone_and_said_to_be(
    risk: Any, sentence: str, tmp_path: Path
) -> None:
    host = FakeHost(["a"])

    @skill(risk=risk, confirms=risk == "destructive")
    def tidy() -> None:
        """Delete all, of which at most one was agreed to."""
        if risk == "destructive":
            confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.clear()

    result = called(tmp_path, host, tidy, YES)

    assert status(result) == "no_consent"
    assert text(result).startswith(sentence)
    assert (host.items, host.labels) == (["a", "b"], ["Add b by hand"])


@pytest.mark.parametrize(("asks_again", "looks"), [(False, [["a"]]), (True, [["a"], []])])
def test_what_is_gone_of_what_was_agreed_to_is_listed_only_where_something_comes_after_it(
    asks_again: bool, looks: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100,000 prims that takes a second; what is gone must not be lost once more."""
    host, asked = FakeHost(["a"]), list[list[str]]()

    @skill(risk="destructive", confirms=True)
    def tidy() -> None:
        """Delete what was agreed to, and perhaps ask something else."""
        confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.remove("a")
        if asks_again:
            elicit_form_sync("Well?", FORM)

    def lost(agreed: Any, list_lost: Callable[[Any], list[str]] = host.lost) -> list[str]:
        asked.append([*agreed])
        return list_lost(agreed)

    monkeypatch.setattr(host, "lost", lost)

    result = called(tmp_path, host, tidy, YES, SEEN)

    assert (status(result), asked) == ("done", looks)


@pytest.mark.parametrize(("undoes", "now"), [(False, "created: c; d"), (True, "created: d")])
def test_of_a_step_that_the_body_undid_itself_nothing_is_told(
    undoes: bool, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])

    def account(trial: FakeTrial) -> Account:
        return Account([item for item in host.items if item not in trial.before])

    monkeypatch.setattr(FakeTrial, "account", account)

    @skill(risk="edit", tried=False)
    def tidy() -> None:
        """Add two things in steps of their own."""
        host.items.append("c")
        elicit_form_sync("Well?", FORM)
        if undoes:
            host.undo()
        elicit_form_sync("Well?", FORM)
        host.items.append("d")

    result = called(tmp_path, host, tidy, SEEN, SEEN)

    assert text(result) == f"Done. Now: {now}."


def test_a_host_that_cannot_try_tells_what_is_different_after_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])
    host.tries = False
    monkeypatch.setattr(host, "account", lambda: Account(host.items[1:]))

    @skill(risk="edit")
    def tidy() -> None:
        """Add a thing."""
        host.items.append("b")

    result = called(tmp_path, host, tidy)

    assert text(result) == "Done. Now: created: b."


@pytest.mark.parametrize("tries", [True, False])
def test_what_the_host_cannot_compare_does_not_stay(
    tries: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the body goes on after the host's error."""
    host = FakeHost(["a"])
    host.tries = tries
    errors = [ReferenceError("It was removed."), ReferenceError("It was removed.")]

    @skill(risk="destructive", confirms=True)
    def tidy() -> None:
        """Delete more than was agreed to, and ask something else."""
        confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.clear()
        with suppress(ReferenceError):
            elicit_form_sync("Well?", FORM)

    def lost(agreed: Any, list_lost: Callable[[Any], list[str]] = host.lost) -> list[str]:
        if errors and "b" not in host.items:
            raise errors.pop()
        return list_lost(agreed)

    monkeypatch.setattr(host, "lost", lost)

    called(tmp_path, host, tidy, YES, SEEN)

    assert len(errors) < 2
    assert host.items == ["a", "b"]


@pytest.mark.parametrize("risk", ["read", "edit"])
@pytest.mark.parametrize("undone", [1, 2])
@pytest.mark.parametrize("goes_on", [False, True])
def test_what_a_body_undid_of_others_is_redone(
    goes_on: bool, undone: int, risk: Any, tmp_path: Path
) -> None:
    """What it did on top of that is undone, here as if it had never been."""
    host = FakeHost(["a"])
    with host.undo_step("Add c"):
        host.items.append("c")

    @skill(risk=risk)
    def tidy() -> None:
        """Undo what the person did, and perhaps do something else."""
        for _ in range(undone):
            host.undo()
        if goes_on and risk == "edit":
            host.items.append("d")

    result = called(tmp_path, host, tidy)

    assert status(result) == "no_consent"
    assert text(result) == ("tidy undid edits of others without approval. Those edits were redone.")
    assert (host.items, host.labels) == (["a", "c", "b"], ["Add c", "Add b by hand"])


@pytest.mark.parametrize("undoes", [False, True])
def test_what_a_body_undid_of_others_is_not_said_to_be_redone_where_that_cannot_be(
    undoes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it did on top of that is all that can be redone there, and is undone."""
    host = FakeHost(["a"])
    monkeypatch.setattr(host, "take_back", host.undo)

    @skill(risk="edit")
    def tidy() -> None:
        """Undo what the person did, do something else, and perhaps undo that."""
        host.undo()
        host.items.append("c")
        if undoes:
            host._settle("Add c")
            host.undo()

    result = called(tmp_path, host, tidy)

    assert status(result) == "no_consent"
    assert text(result) == (
        "tidy undid edits of others without approval. Those edits could not be redone: ask the "
        "person to check the scene."
    )
    assert (host.items, host.labels) == (["a"], [])


def forgetful(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the first undo go back, and say that it did not bring back all."""
    host.tries = False
    whole, left = host.take_back, iter(["b did not come back."])

    def take_back() -> None:
        whole()
        for why in left:
            raise NotUndoable(why)

    monkeypatch.setattr(host, "take_back", take_back)


def failing_after_a_question(host: FakeHost) -> Callable[[], None]:
    """Make a skill that adds two things, a question between them, and fails."""

    @skill(risk="edit", tried=False)
    def tidy() -> None:
        """Add two in steps of their own, and fail."""
        host.items.append("c")
        elicit_form_sync("Go on?", FORM)
        host.items.append("d")
        raise ValueError("No.")

    return tidy


def test_what_an_undo_did_not_bring_back_is_told_and_the_rest_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])
    forgetful(host, monkeypatch)

    result = called(tmp_path, host, failing_after_a_question(host), SEEN)

    assert (status(result), text(result)) == ("partly_applied", "b did not come back.")
    assert (host.items, host.labels) == (["a", "b"], ["Add b by hand"])


@pytest.mark.parametrize("thread", ["main", "any"])
def test_a_body_that_goes_on_after_an_undo_that_lost_something_is_not_said_to_be_done(
    thread: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])
    forgetful(host, monkeypatch)

    @skill(risk="read", thread=thread)
    def tidy() -> None:
        """Delete, which nobody agreed to, and pass over what is said of it."""
        with suppress(BridgeError):
            if thread == "any":
                asyncio.run(on_main(host.items.clear))
            else:
                host.items.clear()
                elicit_form_sync("Go on?", FORM)

    result = called(tmp_path, host, tidy, SEEN)

    assert (status(result), text(result)) == ("partly_applied", "b did not come back.")
    assert (host.items, host.labels) == (["a", "b"], ["Add b by hand"])


def test_a_body_that_undoes_its_own_step_may_do_so(tmp_path: Path) -> None:
    host = FakeHost(["a"])

    @skill(risk="edit", tried=False)
    def tidy() -> None:
        """Add one, ask, and undo that again."""
        host.items.append("c")
        elicit_form_sync("Go on?", FORM)
        host.undo()

    result = called(tmp_path, host, tidy, SEEN)

    assert status(result) == "done"
    assert (host.items, host.labels) == (["a", "b"], ["Add b by hand"])


@pytest.mark.parametrize(
    ("answers", "then", "sentence"),
    [
        ([YES], "raise", "tidy failed: No. {left}"),
        (
            [YES],
            "edit",
            "tidy deleted a without approval, so its changes were undone. {left}",
        ),
        ([YES, NO], "ask", "Declined in the app: 'Delete a?'. {left} Do not try"),
    ],
)
def test_what_was_written_over_is_not_said_to_be_as_it_was(
    answers: list[PresenterEvent], then: str, sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "shot.fake"
    file.write_text("[]")
    host = FakeHost(["a"], file=file)

    @skill(risk="destructive", confirms=True)
    def tidy() -> None:
        """Save, and then do more."""
        confirm_sync("Save?", items=["none"], verb="Save", undoable=False, files=[file])
        host.save()
        if then == "raise":
            raise ValueError("No.")
        if then == "ask":
            confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.remove("a")

    result = called(tmp_path, host, tidy, *answers)

    left = "Nothing was changed, except for what undo cannot reverse: save shot.fake."
    assert text(result).startswith(sentence.format(left=left))
    assert host.items == ["a", "b"]


class Plain(FakeHost):
    """A host that offers to redo whatever was undone, as most applications do."""

    def take_back(self) -> None:
        self.undo()

    @property
    def redo_labels(self) -> list[str]:
        return [entry.label for entry in self._redo]


@pytest.mark.parametrize("way", ["fails", "deletes what nobody agreed to", "only reads"])
def test_what_must_not_stay_is_no_redo_and_the_persons_redo_stays(way: str, tmp_path: Path) -> None:
    host = Plain(["a", "b"])
    with host.undo_step("Add c"):
        host.items.append("c")

    @skill(risk="edit" if way == "fails" else "destructive", confirms=True)
    def tidy() -> None:
        """Delete all."""
        if way == "deletes what nobody agreed to":
            confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.clear()
        if way == "fails":
            raise ValueError("No.")

    host.has_ui = True
    with live(tmp_path, tidy, host=host, presenter=Person(YES)) as running:
        host.undo()
        result = running.call("tidy")

    assert result.is_error
    assert (host.items, host.labels, host.redo_labels) == (["a", "b"], [], ["Add c"])


def test_what_a_batch_had_done_before_a_question_is_undone_and_the_rest_reverted(
    tmp_path: Path,
) -> None:
    host = Plain(["a"])

    result = called(tmp_path, host, failing_after_a_question(host), SEEN)

    assert (status(result), host.items) == ("failed", ["a", "b"])
    assert len(host.redo_labels) == 1


def test_the_working_folder_and_the_environment_are_put_back_where_an_edit_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And stay as a skill leaves them that succeeds."""
    monkeypatch.setenv("SHOW", "one")
    monkeypatch.delenv("SHOT", raising=False)
    before = Path.cwd()
    host = FakeHost(["a"])

    @skill(risk="edit")
    def tidy(fail: bool) -> None:
        """Change all of that, and perhaps fail."""
        host.items.append("c")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(os.environ, "SHOW", "two")
        monkeypatch.setitem(os.environ, "SHOT", "sh010")
        if fail:
            raise ValueError("No.")

    with live(tmp_path / "run", tidy, host=host) as running:
        failed = running.call("tidy", {"fail": True})
        after = Path.cwd(), os.environ["SHOW"], os.environ.get("SHOT")
        running.call("tidy", {"fail": False})
        kept = Path.cwd(), os.environ["SHOW"], os.environ["SHOT"]

    assert "also changed the working folder, the environment. That was restored" in text(failed)
    assert after == (before, "one", None)
    assert kept == (tmp_path, "two", "sh010")


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_result_says_where_not_all_could_be_compared_for_losses(
    is_complete: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host = FakeHost(["a"])
    monkeypatch.setattr(FakeTrial, "is_complete", is_complete)

    @skill(risk="edit")
    def add() -> None:
        host.items.append("b")

    with live(tmp_path / "run", add, host=host) as running:
        result = running.call("add")

    assert host.items == ["a", "b"]
    assert ("more may be lost" in text(result)) is not is_complete


@pytest.mark.parametrize("is_lost", [False, True])
def test_what_a_revert_leaves_is_told(
    is_lost: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])
    whole = FakeTrial.revert

    def revert(trial: FakeTrial) -> list[str]:
        whole(trial)
        if is_lost:
            raise NotUndoable("b did not come back.")
        return ["preferences"]

    monkeypatch.setattr(FakeTrial, "revert", revert)

    @skill(risk="edit")
    def tidy() -> None:
        """Add one, and fail."""
        host.items.append("c")
        raise ValueError("No.")

    result = called(tmp_path, host, tidy)

    told = "b did not come back." if is_lost else "Its changes to these remain: preferences."
    assert told in text(result)
    assert status(result) == ("partly_applied" if is_lost else "failed")


@pytest.mark.parametrize("way", ["is not seen", "comes back in part"])
def test_what_must_not_stay_is_undone_where_the_open_step_is_not_reverted(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(["a"])

    def revert(trial: FakeTrial) -> list[str]:
        host.items.append("a")
        raise NotUndoable("b did not come back.")

    monkeypatch.setattr(FakeTrial, "is_edited", lambda trial: way != "is not seen")
    monkeypatch.setattr(FakeTrial, "revert", revert)

    @skill(risk="destructive", confirms=True)
    def tidy() -> None:
        """Delete all, of which one was agreed to."""
        confirm_sync("Delete a?", items=["a"], verb="Delete")
        host.items.clear()

    result = called(tmp_path, host, tidy, YES)

    assert result.is_error
    assert (host.items, host.labels) == (["a", "b"], ["Add b by hand"])
