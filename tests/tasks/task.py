"""A task of the acceptance set, and what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.tasks.agent import Agent

Play = Callable[["Agent"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Task:
    """A task of an artist.

    Attributes:
        name: What it is chosen by.
        host: The application, as ``--host`` names it.
        play: Does it as a competent agent does.
        careless: Makes typical mistakes in the scene that the play has left.
        missing: What the verbs lack for it, where the play has to run code. "" where it runs none.
        files: Prepares the files that the artist has beforehand, in the scene's folder.
    """

    name: str
    host: str
    play: Play
    careless: Play
    missing: str = ""
    files: Callable[[Path], None] = lambda folder: None

    @property
    def outcome(self) -> str:
        """The name of the function in `tests.tasks.outcomes` that reads the outcome."""
        return self.name.replace(" ", "_").replace("-", "_")


@dataclass(slots=True)
class Row:
    """The outcome of a task.

    Attributes:
        task: Its name.
        host: The application.
        by: "verbs", or "code" where it ran code.
        calls: How many calls the agent made.
        sent: The bytes that it sent.
        received: The bytes that came back.
        questions: How many questions the person got.
        steps: The undo steps that the task took.
        edits: The calls that edited: a step each is expected.
        slips: How many mistakes the careless twin made.
        wrong: What is not as it should be, a sentence each.
    """

    task: str
    host: str
    by: str = "verbs"
    calls: int = 0
    sent: int = 0
    received: int = 0
    questions: int = 0
    steps: int = 0
    edits: int = 0
    slips: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether all was as it should be."""
        return not self.wrong


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the items of a scene that are not as they were."""
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]
