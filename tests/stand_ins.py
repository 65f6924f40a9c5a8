"""Stand-ins for tests: a person, a host, a main thread.

`dcc_bridge.headless.Pump` is the main thread: it runs what is queued when it is told to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from pathlib import Path

from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle, TakeDown
from dcc_bridge.host import Trial
from dcc_bridge.testing.pretended_host import OUTSIDE, PretendedHost
from dcc_bridge.testing.pretended_host import PretendedTrial as FakeTrial

__all__ = ["OUTSIDE", "Answer", "Chip", "FakeHost", "FakeTrial", "Person", "Said", "after"]

Said = PresenterEvent | None
Answer = Said | Callable[[Question], Said]


def after(meanwhile: Callable[[], object], answer: Said) -> Callable[[Question], Said]:
    """Return the answer of a person who does something first, while the question is open."""

    def answered(question: Question) -> Said:
        meanwhile()
        return answer

    return answered


class Person:
    """A person who answers as they were told, at once and on the thread that asks.

    Attributes:
        shown: The questions so far, oldest first.
        settles: What answers each of them, for a test that does so itself.
        taken_down: Why each was taken down.
    """

    def __init__(self, *answers: Answer, then: Answer = None) -> None:
        """Take the answers in order.

        Args:
            *answers: An event, None to leave that question open, or a function of the question that
                returns one of these.
            then: The answer to each question after those.
        """
        self._answers = chain(answers, repeat(then))
        self.shown: list[Question] = []
        self.settles: list[Settle] = []
        self.taken_down: list[str] = []
        self.chips: list[Chip] = []
        self.notices: list[str] = []
        self.gone_notices: list[str] = []
        self.undos: list[Callable[[], None] | None] = []
        self.noticed: list[str | None] = []

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        self.shown.append(question)
        self.settles.append(settle)
        answer = next(self._answers)
        said = answer(question) if callable(answer) else answer
        if said is not None:
            settle(said)
        return self.taken_down.append

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        chip = Chip(where, answer_here, cancel)
        self.chips.append(chip)
        return chip.taken_down.append

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> TakeDown:
        self.notices.append(text)
        self.undos.append(undo)
        self.noticed.append(call)
        return lambda reason: self.gone_notices.append(text)


class Chip:
    """A question that waits elsewhere, as the host's person sees it."""

    def __init__(
        self, where: str, answer_here: Callable[[], None], cancel: Callable[[], None]
    ) -> None:
        self.where = where
        self.answer_here = answer_here  # brings it to the host
        self.cancel = cancel  # ends it
        self.taken_down: list[str] = []  # why it was taken away


class FakeHost(PretendedHost):
    """A pretended host with what only tests need.

    Attributes:
        tries: It can revert an open step.
        framed: What was shown in the viewport last.
    """

    name = "fake"
    tries = True

    def __init__(
        self, items: Iterable[str] = (), *, has_ui: bool = False, file: Path | None = None
    ) -> None:
        super().__init__(items, has_ui=has_ui, file=file)
        self.framed: list[str] = []

    @property
    def undo_labels(self) -> list[str]:
        return self.labels

    def scene(self) -> str:
        return self._file.name if self._file is not None else "fake.scene"

    def save(self) -> None:
        assert self._file is not None, "this scene has no file"
        self.losing(f"save {self._file.name}", [self._file])
        self.save_copy(self._file)

    def trial(self) -> Trial | None:
        return super().trial() if self.tries else None

    def frame(self, items: Sequence[str]) -> None:
        self.framed = list(items)

    def scene_digest(self) -> str:
        return json.dumps(self.items)
