"""The answers that a body got in one try, for the next try of the same body.

A body that is tried again would ask its own questions again, such as for a name. Each answer stands
for the next try, if the body asks the same at the same place. The thread that runs the body.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to one question.

    Attributes:
        content: All that a person reads of the question, by which the question is known again.
        response: The answer.
    """

    content: Hashable
    response: ElicitationResponse


class AnswerMemory:
    """The answers to the questions of a body that list no loss, in the order of the questions."""

    def __init__(self) -> None:
        self._answers: dict[int, _Answer] = {}
        self._place = 0

    def rewind(self) -> None:
        """Begin with the first question again: the body begins anew."""
        self._place = 0

    def recall(self, question: Question) -> ElicitationResponse | None:
        """Return the answer to a question in an earlier try, and go on to the next place.

        Args:
            question: The question that the body asks now.

        Returns:
            The answer; None where there was none, or where the body asked another question here.
        """
        self._place += 1
        answer = self._answers.get(self._place)
        if answer is None or answer.content != _content(question):
            return None
        return answer.response

    @property
    def is_new_here(self) -> bool:
        """Whether no earlier try got an answer at this place."""
        return self._place not in self._answers

    def keep(self, question: Question, response: ElicitationResponse) -> None:
        """Keep the answer to the question of the last `recall`."""
        self._answers[self._place] = _Answer(_content(question), response)


def lists_nothing(question: Question) -> bool:
    """Return whether a question lists no loss, so that its answer may stand for another try."""
    return question.consent is None or (question.undoable and not question.items)


def _content(question: Question) -> Hashable:
    """Return all that a person reads of a question."""
    schema = None
    if question.form is not None:
        schema = question.form.schema
    return question.message, repr(schema), question.page, question.arguments, question.details
