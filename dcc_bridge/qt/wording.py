"""What stands on the button that agrees. Without Qt, any thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import Field

_MOST_ON_BUTTON: Final = 48


def lone(question: Question) -> Field | None:
    """Give the only field of a consent: the button stands for it, and no check box is drawn."""
    return question.form.lone_confirmation if question.consent and question.form else None


def verb_of(question: Question) -> str:
    """Say what agreeing does."""
    agreed = lone(question)
    return agreed.title if agreed is not None else question.title or "Send"


def word_of(question: Question) -> str:
    """Choose what is to be typed before what cannot be undone: a name, or how many there are."""
    items = question.items
    if len(items) == 1:
        return items[0].rstrip("/|").replace("|", "/").rpartition("/")[2] or items[0]
    return str(len(items)) if items else verb_of(question)


def on_button(verb: str) -> str:
    """Give as much of a verb as fits on a button."""
    return plain.line(verb, _MOST_ON_BUTTON)
