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
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dcc_bridge.elicitation.question import Presenter

Risk = Literal["read", "edit", "destructive"]


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
        risk: What it may do.
        client: Who called, or None for the host itself.
        channel: The way to the client's own questions, or None where it cannot draw a form.
        url_channel: The same for pages.
        pause: Entered while a question is open: an undo step is closed meanwhile.
        edit: Runs a part of the skill on the main thread, as an undo step of its own.
        withdrawable: A question that its client shows can be withdrawn again.
        digest: What the skill's file is.
        needs_grant: A change without a grant is undone.
        granted: A person agreed to what it does.
        refused: The last answer was a refusal, and nothing was changed since.
        knows_end: The skill was told that nobody waits for it.
        ended: Why there is nobody left who waits for it, or None.
    """

    skill: str
    title: str
    risk: Risk = "read"
    client: Client | None = None
    channel: Presenter | None = None
    url_channel: Presenter | None = None
    pause: Callable[[], AbstractContextManager[None]] = nullcontext
    edit: Callable[[Callable[[], Any]], Future[Any]] = field(default_factory=lambda: _here)
    withdrawable: bool = False
    digest: str = ""
    needs_grant: bool = False
    granted: bool = False
    refused: bool = False
    knows_end: bool = False
    ended: str | None = None
    id: str = field(default_factory=lambda: os.urandom(8).hex())
    questions: int = 0


current: ContextVar[Call | None] = ContextVar("dcc_bridge_call", default=None)
"""The call in whose skill the code runs; None outside of any."""


def _here(fn: Callable[[], Any]) -> Future[Any]:
    """Run where the caller is: there is no skill whose undo step it could be."""
    future: Future[Any] = Future()
    future.set_result(fn())
    return future
