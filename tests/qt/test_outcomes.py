"""What is said of how a call ended is true, and is the same wherever it is said.

Each row is a call on a bridge with a panel, dialogs and a real client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from dcc_bridge import cli, confirm_sync, skill
from dcc_bridge.audit import reader
from dcc_bridge.errors import NO_OTHER_WAY
from dcc_bridge.qt import notifications
from tests.live import AskedFn, accept, say, text
from tests.tiers import sampled

from .pump import LiveDesk
from .stage import click, press
from .test_panel import ended

QUESTION = repr("Delete cam0?")


class OutcomeDesk(LiveDesk):
    """One with a destructive skill and an edit."""

    def skills(self) -> list[Callable[..., Any]]:
        @skill(risk="destructive", confirms=True, title="Delete", undo="Delete")
        def remove() -> str:
            """Delete it."""
            for item in confirm_sync("Delete cam0?", items=["cam0"], verb="Delete"):
                self.host.items.remove(item)
            return "deleted"

        @skill(risk="edit", title="Add", undo="Add")
        def add() -> str:
            """Add one."""
            self.host.items.append("cam1")
            return "added"

        return [remove, add]


def agree(desk: OutcomeDesk) -> None:
    click(desk.dialog().exits.verb)


def decline_with_reason(desk: OutcomeDesk) -> None:
    exits = desk.dialog().exits
    exits.with_reason.trigger()
    QTest.keyClicks(exits.reason, "not now")
    QTest.keyClick(exits.reason, Qt.Key.Key_Return)


def cancel(desk: OutcomeDesk) -> None:
    desk.dialog()
    (record,) = desk.bridge.recent.records()
    desk.bridge.cancel(record.id)


def stop(desk: OutcomeDesk) -> None:
    """Stop as a plug-in does."""
    desk.dialog()
    desk.running.stop()
    desk.presenter.close()


@dataclass(frozen=True)
class Outcome:
    """One row: what is done, and the sentence for it."""

    sentence: str  # what every surface says that says anything
    event: tuple[str, str | None] | None = None  # what is in the record, and who did it
    status: str = "refused"  # how the call ended
    before: Callable[[OutcomeDesk], object] | None = None  # done before the call
    then: Callable[[OutcomeDesk], object] | None = None  # done while it waits
    asked: AskedFn | None = None  # who answers at the client; None if it draws no questions
    has_ui: bool = True  # whether a person sits at the host
    settings: dict[str, Any] = field(default_factory=dict)
    tool: str = "remove"
    reason: str = ""  # what the person gave as theirs


OUTCOMES = {
    "approved in the app": Outcome(
        "approved in the app", ("granted", "host"), status="done", then=agree
    ),
    "approved in the client": Outcome(
        "approved in the client",
        ("granted", "unverified client"),
        status="done",
        asked=accept(confirm=True),
        has_ui=False,
    ),
    "declined in the app": Outcome(
        "declined in the app",
        ("declined", "host"),
        then=lambda desk: click(desk.dialog().exits.decline),
    ),
    "declined with a reason": Outcome(
        "declined in the app",
        ("declined", "host"),
        then=decline_with_reason,
        reason="not now",
    ),
    "muted at its question": Outcome(
        "declined in the app",
        ("declined", "host"),
        then=lambda desk: desk.dialog().exits.mute.trigger(),
    ),
    "cancelled in the panel": Outcome(
        "the call was cancelled before anybody answered",
        ("cancelled", "nobody"),
        status="cancelled",
        then=cancel,
    ),
    "not asked": Outcome("no question needed", ("unasked", None), status="done", tool="add"),
    "declined in the client": Outcome(
        "declined in the client", ("declined", "client"), asked=say("decline"), has_ui=False
    ),
    "Esc at the host": Outcome(
        "the question was closed in the app",
        ("cancelled", "host"),
        then=lambda desk: press(desk.dialog(), Qt.Key.Key_Escape),
    ),
    "closed in the client": Outcome(
        "the question was closed in the client",
        ("cancelled", "client"),
        asked=say("cancel"),
        has_ui=False,
    ),
    "timed out": Outcome(
        "nobody answered in time", ("timed_out", "nobody"), settings={"deadline": 0.1}
    ),
    "muted": Outcome(
        "nobody was asked because the client is muted",
        ("unanswered", "policy"),
        before=lambda desk: desk.bridge.broker.audience.limits.mute("claude-code"),
    ),
    "paused": Outcome(
        "agents are paused in the application",
        status="not_started",
        before=lambda desk: desk.bridge.pause(),
    ),
    "stopped": Outcome(
        "the bridge was stopped before anybody answered",
        ("unanswered", "nobody"),
        status="cancelled",
        then=stop,
    ),
    "malformed": Outcome(
        "no valid answer was given", ("unanswered", "nobody"), asked=accept(), has_ui=False
    ),
    "nobody there": Outcome(
        "nobody could be asked because nothing here can show a question",
        ("unanswered", "nobody"),
        has_ui=False,
    ),
}


QUICK = {
    "approved in the app",
    "approved in the client",
    "declined with a reason",
    "muted at its question",
    "timed out",
    "nobody there",
}
"""One of each way in which a question ends."""


@pytest.mark.parametrize("name", sampled(QUICK, OUTCOMES))
def test_an_outcome_is_told_truly_and_in_the_same_words_everywhere(
    name: str, app: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = OUTCOMES[name]
    desk = OutcomeDesk(tmp_path, has_ui=case.has_ui, **case.settings)
    try:
        if case.before is not None:
            case.before(desk)
        calling = desk.go(case.tool, case.asked)
        if case.then is not None:
            case.then(desk)
        desk.running.until(calling.done)
        is_asked = "not asked" not in name
        if case.status == "done" and case.has_ui:
            desk.running.until(
                lambda: bool(desk.presenter.notifications.visible or desk.keep_bar.row)
            )
        desk.panel.refresh()
        (row,) = ended(desk.panel)
        (record,) = desk.bridge.recent.records()
        kept = desk.keep_bar.row
        toasts = [chip.text for chip in desk.presenter.notifications.visible]
    finally:
        desk.close()
    agent = text(calling.result()).replace(NO_OTHER_WAY, "").strip()
    capsys.readouterr()
    terminal, events = _recorded(desk, capsys) if case.event else ("", [])

    is_done = case.status == "done"
    assert record.state == case.status
    left = {"add": ["cam0", "cam1"], "remove": []}[case.tool]
    assert desk.host.items == (left if is_done else ["cam0"])
    assert case.sentence in row
    assert is_done or agent.startswith(case.sentence.capitalize())
    expired = [toast for toast in toasts if toast.startswith("Expired: ")]
    assert len(expired) == (name == "timed out")  # the person may still answer that one
    toasts = [toast for toast in toasts if toast not in expired]
    assert all(": done for claude-code" in toast for toast in toasts)
    assert bool(case.reason) is (f"The reason given: {case.reason!r}." in agent)
    assert bool(case.reason) is (f'because "{case.reason}"' in terminal)
    assert case.reason or 'because "' not in terminal + agent.replace("reason given", 'because "')
    assert bool(toasts) is (is_done and case.has_ui and is_asked)
    assert (kept is not None) is (is_done and not is_asked)
    if case.event is not None:
        assert case.event in events
        assert case.sentence in terminal
        assert is_done or QUESTION in agent


def _recorded(desk: OutcomeDesk, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[Any]]:
    """Give what `audit show` prints of the answer, and the events of the record."""
    (file,) = reader.logs(desk.bridge.audit.folder)
    lines = [line.fields for line in reader.read(file).lines()]
    events = [(line.get("event"), line.get("by")) for line in lines]
    assert cli.main(["audit", "show", str(file)]) == 0
    answers = ("granted", "unasked", "declined", "cancelled", "timed_out", "unanswered")
    (at,) = [at for at, line in enumerate(lines[1:]) if line["event"] in answers]
    printed = capsys.readouterr().out.splitlines()[at + 1 :]
    if "not shown in this call" in printed[0]:  # the question, before its answer
        printed = printed[1:]
    return printed[0].strip(), events


UNDOS: dict[str, Callable[[OutcomeDesk], object]] = {
    "the person": lambda desk: desk.host.undo(),
    "the panel": lambda desk: click(desk.panel.history.undo),
    "an agent": lambda desk: desk.running.call("undo_last"),
}


@pytest.mark.parametrize("who", UNDOS)
def test_the_toast_of_a_step_goes_with_the_step(
    who: str, app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_PASSING_MS", 1_000_000)
    desk = OutcomeDesk(tmp_path, has_ui=True)
    try:
        calling = desk.go("remove")
        agree(desk)
        desk.running.until(lambda: calling.done() and bool(desk.presenter.notifications.visible))
        desk.panel.refresh()
        if who == "the person":
            desk.panel.hide()  # it would look each second

        UNDOS[who](desk)

        desk.running.until(lambda: not desk.presenter.notifications.visible)
    finally:
        desk.close()
