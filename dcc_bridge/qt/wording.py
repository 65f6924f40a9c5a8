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


def on_button(verb: str) -> str:
    """Give as much of a verb as fits on a button."""
    return plain.line(verb, _MOST_ON_BUTTON)
