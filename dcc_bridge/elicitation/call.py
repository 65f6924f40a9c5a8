"""A call: one run of a skill, as questions see it. Who wants what, and what was agreed so far.

Its fields are written by the thread that runs the skill; ``ended`` by any thread, once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.errors import WrongRisk

if TYPE_CHECKING:
    from dcc_bridge.elicitation.question import Presenter
    from dcc_bridge.elicitation.web.secret import Secret

Risk = Literal["read", "edit", "destructive"]
Progress = tuple[float, float | None, str]


@dataclass(frozen=True, slots=True)
class Client:
    """Who called.

    Attributes:
        label: The name under which the person set it up; proved by its token.
        name: What it says of itself.
        version: What it says of its version.
    """

    label: str
    name: str = ""
    version: str = ""


@dataclass(eq=False)
class Call:
    """One run of a skill.

    Attributes:
        skill: The skill's name.
        title: What a person reads.
        risk: What it may do; raised when a destructive skill in it asks.
        client: Who called, or None for the host itself.
        channel: The way to the client's own questions, or None where it cannot draw a form.
        url_channel: The same for pages.
        pause: Entered while a question is open: an undo step is closed meanwhile.
        edit: Runs a part of the skill on the main thread, as an undo step of its own.
        take_back: Told the label of another call's step before that is undone. Main thread.
        asking: Told that a question of it is open now. Any thread.
        heard: Told by whom that question was answered; None if it was taken back. Any thread.
        report: Told how far it is: how much is done, of how much or None, and a word about it.
        progress: The same for its client, at a pace that a client can take. Any thread.
        withdrawable: A question that its client shows can be withdrawn again.
        digest: What the skill's file is.
        needs_grant: A change without a grant is undone.
        granted: A person agreed to what it does.
        refused: The last answer was a refusal, and nothing was changed since.
        knows_end: The skill was told that nobody waits for it.
        secrets: What a person entered on its pages; kept until the skill has ended, so that what it
            says and returns can be searched for them.
        ended: Why there is nobody left who waits for it, or None.
        undoable: Nothing was agreed to that undo does not bring back.
        arguments: What the skill was called with, for the record.
        is_on_record: The record tells of it already, so it must tell how it ended.
        checkpoint: The copy that was kept of what undo does not bring back, or None.
        overdue: It runs for longer than it may.
        again: That the same call was made before, for its first question; or None.
    """

    skill: str
    title: str
    risk: Risk = "read"
    client: Client | None = None
    channel: Presenter | None = None
    url_channel: Presenter | None = None
    pause: Callable[[], AbstractContextManager[None]] = nullcontext
    edit: Callable[[Callable[[], Any]], Future[Any]] = field(default_factory=lambda: _here)
    take_back: Callable[[str], None] = lambda step: None
    asking: Callable[[], None] = lambda: None
    heard: Callable[[str | None], None] = lambda answered_by: None
    report: Callable[[Progress], None] = lambda progress: None
    progress: Callable[[Progress], None] = lambda progress: None
    withdrawable: bool = False
    digest: str = ""
    needs_grant: bool = False
    granted: bool = False
    refused: bool = False
    knows_end: bool = False
    ended: str | None = None
    undoable: bool = True
    arguments: Redacted = field(default_factory=Redacted)
    is_on_record: bool = False
    checkpoint: Path | None = None
    overdue: bool = False
    again: str | None = None
    id: str = field(default_factory=lambda: os.urandom(8).hex())
    questions: int = 0
    secrets: list[Secret] = field(default_factory=list)

    @property
    def risk_here(self) -> Risk:
        """The risk of the skill that runs here: a destructive one in an edit is destructive."""
        return "destructive" if self.losing_here else self.risk

    @property
    def losing_here(self) -> str:
        """The name of the destructive skill that runs here: the innermost one; "" for none."""
        return destructive_skill.get() or (self.skill if self.risk == "destructive" else "")

    def raise_risk(self, risk: Risk) -> None:
        """Be a call that may lose something, from here to its end.

        What was agreed to before was less than that, so it is no grant for what comes; nothing of
        what is remembered for the session covers it.

        Raises:
            WrongRisk: It said that it only reads, so there is no undo step, and an edit may wait.
        """
        if risk == "destructive" and self.risk == "read":
            raise WrongRisk(self.skill)
        if risk == "destructive" and self.risk != risk:
            self.risk, self.needs_grant, self.granted = risk, True, False


destructive_skill: ContextVar[str] = ContextVar("dcc_bridge_destructive_skill", default="")
"""The name of the innermost destructive skill whose body runs in this context; or ""."""
current: ContextVar[Call | None] = ContextVar("dcc_bridge_call", default=None)
"""The call in whose skill the code runs; None outside of any."""


def _here(fn: Callable[[], Any]) -> Future[Any]:
    """Run where the caller is: there is no skill whose undo step it could be."""
    future: Future[Any] = Future()
    future.set_result(fn())
    return future
