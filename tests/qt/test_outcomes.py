"""What is said of how a call ended is true, and is the same wherever it is said.

Each row is a call on a bridge with a panel, dialogs and a real client; ``-s`` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
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
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.presenter import DialogPresenter
from tests.live import AskedFn, Live, accept, say, text
from tests.stand_ins import FakeHost
from tests.tiers import sampled

from .pump import QtPump
from .stage import click, delete, press
from .test_panel import ended

QUESTION = repr("Delete cam0?")
SURFACES = ("agent", "dialog", "toast", "panel", "record", "terminal")


class Stage:
    """A bridge with its panel, over one destructive skill.

    Attributes:
        dialogs: What the dialogs said while they were open.
    """

    def __init__(self, folder: Path, *, has_ui: bool, **settings: Any) -> None:
        self.host = FakeHost(["cam0"], has_ui=has_ui)
        self.pump = QtPump()
        self.dialogs: list[str] = []
        self.presenter = DialogPresenter(self.pump.main, self.host, lambda: None)
        self.running = Live(
            folder,
            self._delete(),
            self._add(),
            host=self.host,
            presenter=self.presenter if has_ui else None,
            pump=self.pump,
            **settings,
        )
        self.bridge = self.running.bridge
        self.panel = Panel(self.bridge, self.presenter.bring)
        self.panel.show()

    def _delete(self) -> Callable[..., str]:
        @skill(risk="destructive", confirms=True, title="Delete", undo="Delete")
        def remove() -> str:
            """Delete it."""
            for item in confirm_sync("Delete cam0?", items=["cam0"], verb="Delete"):
                self.host.items.remove(item)
            return "deleted"

        return remove

    def _add(self) -> Callable[..., str]:
        @skill(risk="edit", title="Add", undo="Add")
        def add() -> str:
            """Add one."""
            self.host.items.append("cam1")
            return "added"

        return add

    def go(self, asked: AskedFn | None, tool: str = "remove") -> Future[Any]:
        """Let an agent call a skill."""

        async def agent() -> Any:
            async with self.running.client(asked=asked, label="claude") as session:
                await session.list_tools()
                return await session.call_tool(tool, {})

        return self.running.go(agent)

    def dialog(self) -> Any:
        """Wait for the dialog."""
        self.running.until(lambda: bool(self.presenter.dialogs))
        (dialog,) = self.presenter.dialogs
        self.dialogs.append(dialog.view.message)
        self.running.until(dialog.exits.verb.isEnabled)
        return dialog

    def close(self) -> None:
        """Take everything down, in a host's order."""
        self.running.stop()
        self.panel.close_for_good()
        self.presenter.close()
        self.pump.loop.close()
        delete(self.panel)


def agree(stage: Stage) -> None:
    click(stage.dialog().exits.verb)


def decline(stage: Stage) -> None:
    click(stage.dialog().exits.decline)


def decline_with_reason(stage: Stage) -> None:
    exits = stage.dialog().exits
    click(exits.with_reason)
    QTest.keyClicks(exits.reason, "not now")
    QTest.keyClick(exits.reason, Qt.Key.Key_Return)


def press_mute(stage: Stage) -> None:
    click(stage.dialog().further.mute)


def cancel(stage: Stage) -> None:
    stage.dialog()
    (record,) = stage.bridge.recent.records()
    stage.bridge.cancel(record.id)


def escape(stage: Stage) -> None:
    press(stage.dialog(), Qt.Key.Key_Escape)


def stop(stage: Stage) -> None:
    stage.dialog()
    stage.running.stop()


def mute(stage: Stage) -> None:
    stage.bridge.broker.audience.limits.mute("claude")


@dataclass(frozen=True)
class Outcome:
    """One row: what is done, and the sentence for it.

    Attributes:
        sentence: What every surface says that says anything.
        status: How the call ended.
        event: What is in the record, and who did it.
        before: Done before the call.
        then: Done while it waits.
        asked: Who answers at the client; None for a client that draws no questions.
        has_ui: Whether a person sits at the host.
        settings: Of the bridge.
        tool: What is called.
        reason: What the person gave as theirs.
    """

    sentence: str
    status: str = "refused"
    event: tuple[str, str | None] | None = None
    before: Callable[[Stage], None] | None = None
    then: Callable[[Stage], None] | None = None
    asked: AskedFn | None = None
    has_ui: bool = True
    settings: dict[str, Any] = field(default_factory=dict)
    tool: str = "remove"
    reason: str = ""


OUTCOMES = {
    "agreed at the host": Outcome(
        "agreed at the host", "done", event=("granted", "host"), then=agree
    ),
    "agreed in the client": Outcome(
        "agreed in the client",
        "done",
        event=("granted", "unverified client"),
        asked=accept(confirm=True),
        has_ui=False,
    ),
    "declined at the host": Outcome(
        "declined at the host", event=("declined", "host"), then=decline
    ),
    "declined with a reason": Outcome(
        "declined at the host",
        event=("declined", "host"),
        then=decline_with_reason,
        reason="not now",
    ),
    "muted at its question": Outcome(
        "declined at the host", event=("declined", "host"), then=press_mute
    ),
    "cancelled in the panel": Outcome(
        "the call was cancelled before anybody answered",
        "cancelled",
        event=("cancelled", "nobody"),
        then=cancel,
    ),
    "not asked": Outcome("no question needed", "done", event=("unasked", None), tool="add"),
    "declined in the client": Outcome(
        "declined in the client", event=("declined", "client"), asked=say("decline"), has_ui=False
    ),
    "Esc at the host": Outcome(
        "closed at the host without an answer", event=("cancelled", "host"), then=escape
    ),
    "closed in the client": Outcome(
        "closed in the client without an answer",
        event=("cancelled", "client"),
        asked=say("cancel"),
        has_ui=False,
    ),
    "timed out": Outcome(
        "nobody answered in time", event=("timed_out", "nobody"), settings={"host_deadline": 0.1}
    ),
    "muted": Outcome(
        "nobody was asked, because the client is muted", event=("unanswered", "policy"), before=mute
    ),
    "paused": Outcome(
        "agents are paused at the host",
        "not_started",
        before=lambda stage: stage.bridge.pause(),
    ),
    "stopped": Outcome(
        "the bridge was stopped before anybody answered",
        "cancelled",
        event=("unanswered", "nobody"),
        then=stop,
    ),
    "malformed": Outcome(
        "no answer fitted the question",
        event=("unanswered", "nobody"),
        asked=accept(),
        has_ui=False,
    ),
    "nobody there": Outcome(
        "nobody could be asked, because nothing here can show a question",
        event=("unanswered", "nobody"),
        has_ui=False,
    ),
}


QUICK = {
    "agreed at the host",
    "agreed in the client",
    "declined with a reason",
    "muted at its question",
    "timed out",
    "nobody there",
}
"""One of each way in which a question ends."""


@pytest.fixture(scope="module")
def table() -> Iterator[list[str]]:
    """Print what was said, once all was."""
    rows = [f"| outcome | {' | '.join(SURFACES)} |", "|---" * 7 + "|"]
    yield rows
    print("\n\n" + "\n".join(rows))


@pytest.mark.parametrize("name", sampled(QUICK, OUTCOMES))
def test_an_outcome_is_told_truly_and_in_the_same_words_everywhere(
    name: str,
    app: QApplication,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: list[str],
) -> None:
    case = OUTCOMES[name]
    stage = Stage(tmp_path, has_ui=case.has_ui, **case.settings)
    try:
        if case.before is not None:
            case.before(stage)
        calling = stage.go(case.asked, case.tool)
        if case.then is not None:
            case.then(stage)
        stage.running.until(calling.done)
        if case.status == "done" and case.has_ui:
            stage.running.until(lambda: bool(stage.presenter.chips))
        stage.panel.refresh()
        (row,) = ended(stage.panel)
        (record,) = stage.bridge.recent.records()
        toasts = [chip.text for chip in stage.presenter.chips]
    finally:
        stage.close()
    agent = text(calling.result()).replace(NO_OTHER_WAY, "").strip()
    capsys.readouterr()
    terminal, events = _recorded(stage, capsys) if case.event else ("", [])

    is_done = case.status == "done"
    assert record.state == case.status
    left = {"add": ["cam0", "cam1"], "remove": []}[case.tool]
    assert stage.host.items == (left if is_done else ["cam0"])
    assert case.sentence in row
    assert is_done or agent.startswith(case.sentence.capitalize())
    assert all(": done for claude" in toast for toast in toasts)
    assert bool(case.reason) is (f"The reason given: {case.reason!r}." in agent)
    assert bool(case.reason) is (f'because "{case.reason}"' in terminal)
    assert case.reason or 'because "' not in terminal + agent.replace("reason given", 'because "')
    assert bool(toasts) is (is_done and case.has_ui)
    if case.event is not None:
        assert case.event in events
        assert case.sentence in terminal
        assert is_done or QUESTION in agent
    shown = (agent, "".join(stage.dialogs), "".join(toasts), row)
    event = " by ".join(filter(None, case.event or ()))
    cells = (*shown, event, terminal)
    table.append(f"| {name} | {' | '.join(cell or 'nothing' for cell in cells)} |")


def _recorded(stage: Stage, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[Any]]:
    """Give what `audit show` prints of the answer, and the events of the record."""
    (file,) = reader.logs(stage.bridge.audit.folder)
    lines = [line.fields for line in reader.read(file).lines()]
    events = [(line.get("event"), line.get("by")) for line in lines]
    assert cli.main(["audit", "show", str(file)]) == 0
    answers = ("granted", "unasked", "declined", "cancelled", "timed_out", "unanswered")
    (at,) = [at for at, line in enumerate(lines[1:]) if line["event"] in answers]
    return capsys.readouterr().out.splitlines()[at + 1].strip(), events


UNDOS: dict[str, Callable[[Stage], object]] = {
    "the person": lambda stage: stage.host.undo(),
    "the panel": lambda stage: click(stage.panel.history.undo),
    "an agent": lambda stage: stage.running.call("undo_last"),
}


@pytest.mark.parametrize("who", UNDOS)
def test_the_toast_of_a_step_goes_with_the_step(
    who: str, app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_PASSING", 1_000_000)
    stage = Stage(tmp_path, has_ui=True)
    try:
        calling = stage.go(None)
        agree(stage)
        stage.running.until(lambda: calling.done() and bool(stage.presenter.chips))
        stage.panel.refresh()
        if who == "the person":
            stage.panel.hide()  # it would look each second

        UNDOS[who](stage)

        stage.running.until(lambda: not stage.presenter.chips)
    finally:
        stage.close()
