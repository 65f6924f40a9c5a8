"""What stands on the button that agrees. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain, wording
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.wording import lone
from dcc_bridge.qt.words import tr

__all__ = ["lone", "on_button", "verb_of", "word_of"]
_MOST_ON_BUTTON: Final = 48


def verb_of(question: Question) -> str:
    """Say what agreeing does."""
    agreed = lone(question)
    return agreed.title if agreed is not None else question.title or tr("Send")


def word_of(question: Question) -> str:
    """Choose what is to be typed before what cannot be undone: a name, or how many there are."""
    return wording.word_of(question, verb_of(question))


def on_button(verb: str) -> str:
    """Give as much of a verb as fits on a button."""
    return plain.line(verb, _MOST_ON_BUTTON)
