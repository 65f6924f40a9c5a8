"""Stand-ins for tests: a person, a host, a main thread.

`dcc_bridge.headless.Pump` is the main thread: it runs what is queued when it is told to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle, TakeDown
from dcc_bridge.host import CountChanges, Host, Trial, Undo, UndoMark, compared

OUTSIDE: Final = "Edit outside a step"

Said = PresenterEvent | None
Answer = Said | Callable[[Question], Said]


def after(meanwhile: Callable[[], object], answer: Said) -> Callable[[Question], Said]:
    """Return the answer of a person who does something first, while the question is open."""

    def answered(question: Question) -> Said:
        meanwhile()
        return answer

    return answered


@dataclass(eq=False, slots=True)
class FakeEntry:
    """One entry of a fake host's undo stack."""

    label: str  # what it is called
    items: list[str]  # the scene on its other side: before it, or after it once it was undone
    redo: list[FakeEntry]  # what could be redone before it


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
        return lambda reason: None


class Chip:
    """A question that waits elsewhere, as the host's person sees it."""

    def __init__(
        self, where: str, answer_here: Callable[[], None], cancel: Callable[[], None]
    ) -> None:
        self.where = where
        self.answer_here = answer_here  # brings it to the host
        self.cancel = cancel  # ends it
        self.taken_down: list[str] = []  # why it was taken away


class FakeHost(Host):
    """A host whose scene is a list of names, with a real undo stack.

    Attributes:
        tries: It can revert an open step.
        items: The scene.
        labels: The undo stack's labels, oldest first.
        framed: What was shown in the viewport last.
    """

    name = "fake"
    version = "1.0"
    suffix = ".json"
    tries = True

    def __init__(
        self, items: Iterable[str] = (), *, has_ui: bool = False, file: Path | None = None
    ) -> None:
        self.items = list(items)
        self.has_ui = has_ui
        self.framed: list[str] = []
        self._file = file
        self._selection: list[str] = []
        self._watchers = Callbacks()
        self._open: str | None = None
        self._known = list(self.items)
        self._undo: list[FakeEntry] = []
        self._redo: list[FakeEntry] = []

    @property
    def labels(self) -> list[str]:
        return [entry.label for entry in self._undo]

    @property
    def undo_labels(self) -> list[str]:
        return self.labels

    def scene(self) -> str:
        return self._file.name if self._file is not None else "fake.scene"

    def file(self) -> Path | None:
        return self._file

    def save_copy(self, path: Path) -> None:
        path.write_text(json.dumps(self.items), encoding="utf-8")

    def save(self) -> None:
        assert self._file is not None, "this scene has no file"
        self.losing(f"save {self._file.name}", [self._file])
        self.save_copy(self._file)

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        assert self._open is None, f"{label!r} was opened inside {self._open!r}"
        self._settle(OUTSIDE)
        self._open = label
        try:
            yield
        finally:
            self._open = None
            self._settle(label)

    def undo_mark(self) -> UndoMark:
        """Mark the entry on top; what was edited outside a step is one too."""
        if self._open is None:
            self._settle(OUTSIDE)
        top = self._undo[-1] if self._undo else None
        return UndoMark(len(self._undo), top.label if top else None, top)

    def undo(self) -> None:
        self._move(self._undo, self._redo)

    def redo(self) -> None:
        self._move(self._redo, self._undo)

    def trial(self) -> Trial | None:
        return FakeTrial(self) if self.tries else None

    def take_back(self) -> None:
        """Undo the step on top, and bring back what could be redone before it."""
        redo = self._undo[-1].redo
        self.undo()
        self._redo = redo

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        before = {item: item for item in self.items}
        yield lambda: compared(before, {item: item for item in self.items})

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List the names that the open or newest step took away, but for those agreed to."""
        before = self._undo[-1].items if self._undo else []
        if self._open is not None:
            before = self._known
        gone = []
        for place, item in enumerate(before):
            here = self.items[place : place + 1]
            is_renamed = bool(here) and here[0] not in before
            if item not in self.items and item not in agreed and not is_renamed:
                gone.append(item)
        return gone

    @property
    def selection(self) -> list[str]:
        return list(self._selection)

    def select(self, items: Sequence[str]) -> None:
        self._selection = list(items)
        self._watchers.call()

    def describe(self, item: str) -> dict[str, Any]:
        if item not in self.items:
            raise LookupError(f"There is no {item!r}.")
        return {"name": item, "type": self.kinds([item])[0]}

    def kinds(self, items: Sequence[str]) -> list[str]:
        return [item.rstrip("0123456789") for item in items]

    def frame(self, items: Sequence[str]) -> None:
        self.framed = list(items)

    def watch(self, changed: Callable[[], None]) -> Undo:
        return self._watchers.add(changed)

    def fingerprint(self, items: Sequence[str]) -> str:
        return json.dumps([(item, item in self.items) for item in sorted(set(items))])

    def scene_digest(self) -> str:
        return json.dumps(self.items)

    def _settle(self, label: str) -> None:
        if self.items != self._known:
            self._undo.append(FakeEntry(label, self._known, self._redo))
            self._redo = []
            self._known = list(self.items)
            self._watchers.call()

    def _move(self, source: list[FakeEntry], target: list[FakeEntry]) -> None:
        entry = source.pop()
        target.append(entry)
        self.items, entry.items = list(entry.items), list(self.items)
        self._known = list(self.items)
        self._watchers.call()


class FakeTrial(Trial):
    """The open step of a `FakeHost`."""

    keeps_redo = True

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self.before = list(host.items)
        self._selection = host.selection

    def is_edited(self) -> bool:
        return self._host.items != self.before

    def broken(self) -> list[str]:
        return []

    def revert(self) -> list[str]:
        self._host.items = list(self.before)
        self._host.select(self._selection)
        return []
