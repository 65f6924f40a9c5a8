"""What a person reads, in their language. Main thread.

Every text of the dialogs and the panel passes through `tr`, so that a studio can install a
``QTranslator`` for the context "dcc_bridge" on its application. Until one is there, the texts are
the English ones in the code. What skills and agents say is not ours to translate. A translation has
no ampersands: the letters that Alt reaches are dealt out afterwards (`labels.Mnemonics`).
"""

from __future__ import annotations

import logging
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.sentence import Sentence
from dcc_bridge.qt.binding import QCoreApplication

CONTEXT: Final = "dcc_bridge"
_UNCOUNTED: Final = -1

log = logging.getLogger(__name__)


def tr(text: str, **values: object) -> str:
    """Give a text in the language of the application.

    Args:
        text: In English, whole, with named places: "Delete {n} cameras". A literal, so that it can
            be collected.
        **values: What stands in the places. An integer called ``n`` decides on the plural, in
            languages that have several; English has a text of its own for one.
    """
    return _translated(text, values)


def said(text: str) -> str:
    """Give a text of another part of the bridge in that language, if it is one of ours.

    Args:
        text: A `Sentence`, or what a skill or an agent says: that stays as it is.
    """
    if not isinstance(text, Sentence):
        return text
    values = {
        name: said(value) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    return _translated(text.text, values)


def passage(text: str) -> str:
    """Make a stranger's text of several lines safe to show, as `plain.passage` does."""
    return plain.passage(text, rest=lambda n: tr("({n:,} more characters are not shown)", n=n))


def _translated(text: str, values: dict[str, object]) -> str:
    n = values.get("n", _UNCOUNTED)
    count = n if isinstance(n, int) else _UNCOUNTED
    translated = QCoreApplication.translate(CONTEXT, text, None, count)
    if not values:
        return translated
    try:
        return translated.format(**values)
    except (LookupError, ValueError, AttributeError):  # a slip of the translator's: no dialog lost
        log.warning("the translation %r does not have the places of %r", translated, text)
        return text.format(**values)
