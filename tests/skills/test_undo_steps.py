"""What an agent is told of a call that did what nobody agreed to, and what is true then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.question import PresenterEvent, Reply
from tests.live import live, status, text
from tests.stand_ins import FakeHost, ScriptedPresenter

FORM = {"type": "object", "properties": {}}
YES, SEEN = Reply("accept", {"confirm": True}), Reply("accept", {})


def called(
    folder: Path, host: FakeHost, fn: Callable[[], None], *answers: PresenterEvent
) -> CallToolResult:
    """Call a skill in a scene in which the person did one thing before."""
    host.has_ui = True
    with host.undo_step("Add b by hand"):
        host.items.append("b")
    with live(folder, fn, host=host, presenter=ScriptedPresenter(*answers)) as running:
        return running.call(fn.__name__)


@pytest.mark.parametrize(
    ("risk", "sentence"),
    [
        ("read", "tidy changed the scene without the consent of a person, so its changes were un"),
        ("destructive", "tidy deleted b, to which nobody agreed, so its changes were undone."),
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


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_a_body_undid_of_others_is_not_said_to_be_put_back(
    goes_on: bool, tmp_path: Path
) -> None:
    """What it did on top of that is undone."""
    host = FakeHost(["a"])

    @skill(risk="edit")
    def tidy() -> None:
        """Undo what the person did, and perhaps do something else."""
        host.undo()
        if goes_on:
            host.items.append("c")

    result = called(tmp_path, host, tidy)

    assert status(result) == "no_consent"
    assert text(result) == (
        "tidy undid what others had done, to which nobody agreed. That was not put back: the "
        "person has to look at the scene."
    )
    assert (host.items, host.labels) == (["a"], [])


def test_a_body_that_undoes_its_own_step_may_do_so(tmp_path: Path) -> None:
    host = FakeHost(["a"])

    @skill(risk="edit")
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
            "tidy deleted a, to which nobody agreed, so its changes were undone. {left}",
        ),
        ([YES, Reply("decline")], "ask", "Declined at the host: 'Delete a?'. {left} Do not try"),
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

    left = "Nothing was changed, but for what undo does not bring back: save shot.fake."
    assert text(result).startswith(sentence.format(left=left))
    assert host.items == ["a", "b"]
