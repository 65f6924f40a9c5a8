"""What every surface that we draw says of a consent alike. Any thread."""

from __future__ import annotations

from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import Field


def lone(question: Question) -> Field | None:
    """Give the only field of a consent: the button stands for it, and no check box is drawn."""
    return question.form.lone_confirmation if question.consent and question.form else None


def word_of(question: Question, verb: str) -> str:
    """Choose what is to be typed before what cannot be undone can be agreed to.

    Args:
        question: What is asked.
        verb: What the button says that agrees.

    Returns:
        The name of the only item, how many there are, or the verb.
    """
    items = question.items
    if len(items) == 1:
        return items[0].rstrip("/|").replace("|", "/").rpartition("/")[2] or items[0]
    return str(len(items)) if items else verb
