"""Stand-ins for tests, ours and those of skills' authors: a person, a host, a main thread.

`dcc_bridge.threads.Pump` is the main thread: it runs what is queued when it is told to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dcc_bridge.elicitation.question import Heard, Question, Settle, TakeDown


class ScriptedPresenter:
    """A person who answers as they were told, at once and on the thread that asks.

    Attributes:
        shown: The questions so far, oldest first.
        taken_down: Why each was taken down.
    """

    def __init__(self, *answers: Heard | None) -> None:
        """Take the answers in order.

        Args:
            *answers: None leaves that question open; after the last one all are left open.
        """
        self._answers: Iterable[Heard | None] = iter(answers)
        self.shown: list[Question] = []
        self.settles: list[Settle] = []
        self.taken_down: list[str] = []
        self.chips: list[Chip] = []
        self.notices: list[str] = []
        self.undos: list[Callable[[], None] | None] = []

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Take a question and answer it. Any thread."""
        self.shown.append(question)
        self.settles.append(settle)
        answer = next(iter(self._answers), None)
        if answer is not None:
            settle(answer)
        return self.taken_down.append

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Remember a chip. Any thread."""
        chip = Chip(where, answer_here, cancel)
        self.chips.append(chip)
        return chip.taken_down.append

    def notice(self, text: str, undo: Callable[[], None] | None = None) -> None:
        """Remember a notice. Any thread."""
        self.notices.append(text)
        self.undos.append(undo)


@dataclass
class Chip:
    """A question that waits elsewhere, as the host's person sees it.

    Attributes:
        where: The other surface.
        answer_here: Brings it to the host.
        cancel: Ends it.
        taken_down: Why it was taken away.
    """

    where: str
    answer_here: Callable[[], None]
    cancel: Callable[[], None]
    taken_down: list[str] = field(default_factory=list)


class FakeHost:
    """A host whose scene is a list of names, with a real undo stack.

    Attributes:
        items: The scene.
        labels: The undo stack's labels, oldest first.
    """

    name = "fake"
    version = "1.0"

    def __init__(self, items: Iterable[str] = (), *, has_ui: bool = False) -> None:
        """Open a scene with those names in it."""
        self.items = list(items)
        self.has_ui = has_ui
        self.selection: list[str] = []
        self._open: str | None = None
        self._undo: list[tuple[str, list[str]]] = []
        self._redo: list[tuple[str, list[str]]] = []

    @property
    def labels(self) -> list[str]:
        """The undo stack's labels, oldest first."""
        return [label for label, _ in self._undo]

    def scene(self) -> str:
        """Name the scene."""
        return "fake.scene"

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Open a step; it must not be nested."""
        assert self._open is None, f"{label!r} was opened inside {self._open!r}"
        self._open, before = label, list(self.items)
        try:
            yield
        finally:
            self._open = None
            if self.items != before:
                self._undo.append((label, before))
                self._redo.clear()

    def undo_label(self) -> str | None:
        """Give the label on top."""
        return self._undo[-1][0] if self._undo else None

    def undo(self) -> None:
        """Undo the step on top."""
        label, before = self._undo.pop()
        self._redo.append((label, self.items))
        self.items = before

    def redo(self) -> None:
        """Redo the step undone last."""
        label, after = self._redo.pop()
        self._undo.append((label, self.items))
        self.items = after

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the type of each item: its name without its number."""
        return [item.rstrip("0123456789") for item in items]

    def select(self, items: Sequence[str]) -> None:
        """Remember what is selected."""
        self.selection = list(items)

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest which of the names are there."""
        return json.dumps([(item, item in self.items) for item in items])

    def scene_digest(self) -> str:
        """Digest the scene."""
        return json.dumps(self.items)
