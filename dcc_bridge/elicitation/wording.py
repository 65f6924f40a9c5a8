"""What every surface that we draw says of a consent alike. Any thread."""

from __future__ import annotations

from dcc_bridge.elicitation.question import Question


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
