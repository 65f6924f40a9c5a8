"""The filter of the history: by words, by client and by kind. Any thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.text import Translate, english
from dcc_bridge.panel import rows
from dcc_bridge.skills.call_history import Record

KINDS: Final = ("", "done", "undone", "refused", "failed", "code")
"""The kinds by which the history can be filtered; "" lists every kind."""
_REFUSED: Final = ("refused", "unanswered", "cancelled", "not_started")
_MAX_NAMES: Final = 50  # of the items that are searched


@dataclass(frozen=True, slots=True)
class Filter:
    """The part of the history that a person wants to see.

    Attributes:
        text: Words that must be in the row or in its card; capitals do not matter.
        client: The label of the client, or "" for every client.
        kind: One of `KINDS`.
        lists_reads: Whether calls that only read are listed too.
    """

    text: str = ""
    client: str = ""
    kind: str = ""
    lists_reads: bool = False

    def chosen(self, records: Sequence[Record]) -> list[Record]:
        """Return the calls that are listed, in the same order."""
        return [record for record in records if self._lists(record)]

    def _lists(self, record: Record) -> bool:
        if record.only_read and not self.lists_reads:
            return False
        if self.client and (record.client or "") != self.client:
            return False
        if self.kind and not _is_of_kind(record, self.kind):
            return False
        return self._has_text(record)

    def _has_text(self, record: Record) -> bool:
        words = self.text.casefold().split()
        if not words:
            return True
        shown = "\n".join(rows.story(record, _MAX_NAMES)).casefold()
        return all(word in shown for word in words)


def kind_names(tr: Translate = english) -> dict[str, str]:
    """Return the captions of the kinds."""
    return {
        "": tr("All kinds"),
        "done": tr("Done"),
        "undone": tr("Undone"),
        "refused": tr("Declined"),
        "failed": tr("Failed"),
        "code": tr("Code"),
    }


def _is_of_kind(record: Record, kind: str) -> bool:
    sign = rows.sign(record)
    if kind == "code":
        return record.effect.code is not None
    if kind == "refused":
        return sign in _REFUSED
    if kind == "failed":
        return sign not in (*_REFUSED, "done", "undone", "tried")
    return sign == kind
