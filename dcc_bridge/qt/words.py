"""What a person reads, in their language. Main thread.

Every text of the dialogs and the panel passes through `tr`, so that a studio can install a
``QTranslator`` for the context "dcc_bridge" on its application. Until one is there, the texts are
the English ones in the code. What skills and agents say is not ours to translate. The messages of a
validation are English, as the agent reads them too. A translation has no ampersands: the letters
that Alt reaches are dealt out afterwards (`labels.Mnemonics`).
"""

from __future__ import annotations

import logging
from typing import Final

from dcc_bridge.elicitation import plain
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


def passage(text: str) -> str:
    """Make a stranger's text of several lines safe to show, as `plain.passage` does."""
    return plain.passage(text, rest=lambda n: tr("({n:,} more characters are not shown)", n=n))
