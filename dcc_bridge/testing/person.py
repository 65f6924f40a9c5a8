"""The person of a test, who answers each question by a script. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown

Answer = Callable[[Question], Reply]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the person was asked.

    Attributes:
        message: What was asked.
        items: The items that may be lost.
        undoable: Whether one undo brings back what may be lost.
        fields: The names of the fields to fill in, in their order; the button of a consent is none.
        url: The page that the person was sent to, or None.
    """

    message: str
    items: tuple[str, ...] = ()
    undoable: bool = True
    fields: tuple[str, ...] = ()
    url: str | None = None


def agree(*, leave_out: Sequence[str] = ()) -> Answer:
    """Return a yes to a consent.

    Args:
        leave_out: Items that the person unticks first. The question must let them: see
            `confirm_sync(may_take_fewer=True)`.
    """

    def answer(question: Question) -> Reply:
        consent = question.consent
        may_untick = consent is not None and consent.may_take_fewer
        wrong = [item for item in leave_out if not may_untick or item not in question.items]
        if wrong:
            raise AssertionError(f"{wrong[0]} cannot be unticked in: {question.message}")
        content = {}
        if question.confirmation is not None:
            content[question.confirmation.name] = True
        return Reply("accept", content, left_out=tuple(leave_out))

    return answer


def fill(**values: Any) -> Answer:
    """Return a form that is filled in and sent.

    Args:
        values: The value of each field by its name.
    """
    return lambda question: Reply("accept", values)


def decline(reason: str | None = None) -> Answer:
    """Return a no.

    Args:
        reason: The person's reason, in their words; None for no reason.
    """
    return lambda question: Reply("decline", reason=reason)


def close() -> Answer:
    """Return no answer: the person closes the question."""
    return lambda question: Reply("cancel")


class ScriptedPerson:
    """A person who answers at once, in the order of the script.

    Attributes:
        asked: The questions so far, the oldest first.
        unanswered: The first question for which the script had no answer, or None.
        error: The first answer that the person could not give, or None.
        left: The answers that were not needed so far.
        notices: The notices that the person was shown.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        """Take the answers in the order of the questions."""
        self.asked: list[Asked] = []
        self.unanswered: Asked | None = None
        self.error: AssertionError | None = None
        self.left = list(answers)
        self.notices: list[str] = []

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Answer a question; one without an answer is closed."""
        asked = _asked(question)
        self.asked.append(asked)
        settle(self._reply(question, asked))
        return lambda reason: None

    def _reply(self, question: Question, asked: Asked) -> Reply:
        """Return the next answer; a question without one is closed."""
        if not self.left:
            self.unanswered = self.unanswered or asked
            return Reply("cancel")
        try:
            return self.left.pop(0)(question)
        except AssertionError as error:
            self.error = self.error or error
            return Reply("cancel")

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Do nothing: no question waits in a client."""
        return lambda reason: None

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> TakeDown:
        """Keep the text of a notice."""
        self.notices.append(text)
        return lambda reason: None


def _asked(question: Question) -> Asked:
    """Return what the person reads of a question."""
    fields: tuple[str, ...] = ()
    if question.form is not None and question.confirmation is None:
        fields = tuple(field.name for field in question.form.fields)
    url = None
    if question.page is not None:
        url = question.page.url
    return Asked(question.message, question.items, question.undoable, fields, url)
