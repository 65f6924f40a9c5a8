"""Consent, and what it is bound to. Main thread, pool threads and coroutines.

A person agrees to what they saw. The items are looked up when the question is asked, and again in
the main-thread job that goes on to edit; if they are not the same any more (other items, another
parent, another child below one of them) the person is asked again, twice at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from dcc_bridge.elicitation import ask
from dcc_bridge.elicitation.installed import arrival, bridge, look, look_sync
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import Form, parse
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT, ElicitationResponse
from dcc_bridge.errors import Cancelled, Declined, NobodyToAsk, NotConfirmed, TimedOut

T = TypeVar("T")
Items = Callable[[], Sequence[str]] | Sequence[str]
Text = Callable[[Sequence[str]], str] | str

MOST_ASKED: Final = 3
_CHANGED: Final = "The scene has changed since this was asked; please look again."


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there when somebody looked."""

    items: tuple[str, ...]
    kinds: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class _Edit(Generic[T]):
    """What came of an edit: its value, or the scene that nobody agreed to."""

    value: T
    moved: Seen | None = None


class Grant(list[str]):
    """What a person agreed to: the items as they were at the moment of the answer."""

    def __init__(self, plan: _Plan, seen: Seen) -> None:
        super().__init__(seen.items)
        self._plan = plan
        self._seen = seen

    async def apply(self, fn: Callable[[list[str]], T]) -> T:
        """Edit in a job on the main thread, as an undo step of the skill, from a coroutine.

        Args:
            fn: Gets the items as they are, and edits.

        Raises:
            NotConfirmed: The scene had changed, it was asked again, and refused.
        """
        for left in reversed(range(MOST_ASKED)):
            edit = await arrival(self._plan.edit(self._seen, fn))
            if edit.moved is None:
                return edit.value
            if not left:
                break
            question = self._see(edit.moved)
            check(question, await ask.put_async(question))
        raise Cancelled(self._plan.words(self._plan.message, self._seen))

    def apply_sync(self, fn: Callable[[list[str]], T]) -> T:
        """Do the same from a skill on a pool thread, or on the main thread."""
        for left in reversed(range(MOST_ASKED)):
            edit = self._plan.wait_for_edit(self._seen, fn)
            if edit.moved is None:
                return edit.value
            if not left:
                break
            question = self._see(edit.moved)
            check(question, ask.put(question))
        raise Cancelled(self._plan.words(self._plan.message, self._seen))

    def _see(self, seen: Seen) -> Question:
        self._seen = seen
        self[:] = seen.items
        return self._plan.question(seen, again=True)


def confirm_sync(
    message: Text,
    *,
    items: Items = (),
    verb: Text = "Confirm",
    undoable: bool = True,
    title: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Grant:
    """Ask for consent, and wait for it.

    Args:
        message: What is asked, a sentence, or a function that makes it from the items; shown as
            plain text.
        items: What it is about: paths or names, or a function that looks them up. A function is
            called again after the answer.
        verb: What the button says that agrees, "Delete", or a function that makes it from the
            items.
        undoable: The host can undo it as one step.
        title: A heading, a few words.
        timeout: Seconds for an answer; None for the surface's own limit.
        key: The name of the request on the wire.

    Returns:
        The items, as they are now. On the main thread nothing can change them before the caller
        goes on to edit; on another thread edit through `Grant.apply`.

    Raises:
        NotConfirmed: The person did not agree: `Declined`, `Cancelled`, `TimedOut`, `NobodyToAsk`.
        WrongThread: It was called in a coroutine; use ``await confirm``.
    """
    plan = _Plan(message, items, verb, undoable, title, timeout, key)
    seen = look_sync(plan.look)
    for asked in range(MOST_ASKED):
        question = plan.question(seen, again=asked > 0)
        check(question, ask.put(question))
        now = look_sync(plan.look)
        if now.fingerprint == seen.fingerprint:
            return Grant(plan, now)
        seen = now
    raise Cancelled(plan.words(message, seen))


async def confirm(
    message: Text,
    *,
    items: Items = (),
    verb: Text = "Confirm",
    undoable: bool = True,
    title: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Grant:
    """Ask for consent in an async skill; edit with ``await grant.apply(fn)``.

    See `confirm_sync`.
    """
    plan = _Plan(message, items, verb, undoable, title, timeout, key)
    seen = await look(plan.look)
    question = plan.question(seen)
    check(question, await ask.put_async(question))
    return Grant(plan, seen)


def check(asked: Question, answer: ElicitationResponse) -> None:
    """Let what was agreed to pass.

    Raises:
        NotConfirmed: It was not; the leaf says why.
    """
    form = asked.form
    if answer.accepted and (form is None or form.agrees(answer.data or {})):
        return
    raise refusal(asked.message, answer)


def refusal(message: str, answer: ElicitationResponse) -> NotConfirmed:
    """Make the error that says how a question was refused."""
    if answer.message == NOT_SUPPORTED:
        return NobodyToAsk(message)
    if answer.message == TIMED_OUT:
        return TimedOut(message)
    return Cancelled(message) if answer.action == "cancel" else Declined(message)


def yes_or_no(verb: str) -> Form:
    """Make the form of a consent: one thing to agree to."""
    confirm = {"type": "boolean", "title": verb}
    return parse({"type": "object", "properties": {"confirm": confirm}, "required": ["confirm"]})


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be agreed to."""

    message: Text
    items: Items
    verb: Text
    undoable: bool
    title: str | None
    timeout: float | None
    key: str | None

    def look(self) -> Seen:
        """Look the items up. Main thread."""
        items = tuple(self.items() if callable(self.items) else self.items)
        here = bridge()
        if here is None:
            return Seen(items, (), "")
        return Seen(items, tuple(here.host.kinds(items)), here.host.fingerprint(items))

    @staticmethod
    def words(text: Text, seen: Seen) -> str:
        """Make a text of the items."""
        return text if isinstance(text, str) else text(seen.items)

    def question(self, seen: Seen, *, again: bool = False) -> Question:
        """Make the question about what was seen."""
        call = ask.current_call()
        verb = self.words(self.verb, seen)
        return Question(
            message=self.words(self.message, seen),
            call=call,
            form=yes_or_no(verb),
            title=self.title or verb,
            consent=True,
            key=self.key or ask.next_key(call),
            timeout=self.timeout,
            reason=_CHANGED if again else None,
            items=seen.items,
            kinds=seen.kinds,
            undoable=self.undoable,
        )

    def edit(self, agreed: Seen, fn: Callable[[list[str]], T]) -> Future[_Edit[T]]:
        """Queue an edit that is done only if the scene is what was agreed to."""
        return ask.current_call().edit(lambda: self._edit(agreed, fn))

    def wait_for_edit(self, agreed: Seen, fn: Callable[[list[str]], T]) -> _Edit[T]:
        here = bridge()
        if here is None or here.main.is_current:
            return self._edit(agreed, fn)
        return here.main.wait(self.edit(agreed, fn))

    def _edit(self, agreed: Seen, fn: Callable[[list[str]], T]) -> _Edit[Any]:
        now = self.look()
        if now.fingerprint != agreed.fingerprint:
            return _Edit(None, now)
        return _Edit(fn(list(now.items)))
