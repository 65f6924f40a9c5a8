"""A sentence of ours that a person reads, made where no toolkit is known. Frozen, any thread.

It is a ``str`` in English, which is what goes over the wire and into a log. It remembers how it was
made, so that whoever draws it can say it in the person's language: `dcc_bridge.qt.labels` does.
"""

from __future__ import annotations

from typing import Self


class Sentence(str):
    """An English text with its places filled in.

    Attributes:
        text: With named places: "at most {n:,} choices, please.".
        values: What stands in the places; a sentence in there can be said in that language too.
    """

    text: str
    values: dict[str, object]

    def __new__(cls, text: str, **values: object) -> Self:
        """Fill in a text.

        Args:
            text: Whole, so that it can be translated; a literal, so that it can be collected.
            **values: What stands in the places; one called ``n`` is a number that decides on the
                plural.
        """
        made = super().__new__(cls, text.format(**values))
        made.text = text
        made.values = values
        return made
