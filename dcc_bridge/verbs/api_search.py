"""The verb that looks the application's own API up: find_api. Main thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.verbs import api_verbs, outputs
from dcc_bridge.verbs.answers import Json, shown
from dcc_bridge.verbs.api_examples import Examples
from dcc_bridge.verbs.api_index import ApiIndex
from dcc_bridge.verbs.names import WORD, near, shortened
from dcc_bridge.verbs.operations import ApiEntry
from dcc_bridge.verbs.ports import ApiSearch

_CARD_BYTES: Final = 480  # of a card, on average: 8 of them stay below 4 kB
_MAX_LATER: Final = 160  # characters of each part of a card after the first
_NO_CARD: Final = "No card has these words. near lists words of the API that are like them."


def verbs(operations: ApiSearch) -> list[Callable[..., Any]]:
    """Return the verb that looks the API up."""
    lookup = ApiLookup(operations)

    @skill(title="Find in the API", risk="read")
    def find_api(query: str, limit: int = 8) -> outputs.ApiCards:
        """Look up types, properties, operators and sockets of this version's own API.

        Args:
            query: A few words, such as "camera focal length".
            limit: Cards at most.
        """
        return lookup.find(query, limit)

    return [find_api]


class ApiLookup:
    """The cards of an application's API, which is read at the first search."""

    def __init__(self, operations: ApiSearch) -> None:
        self._operations = operations
        self._index: ApiIndex | None = None

    def find(self, query: str, limit: int = 8) -> Json:
        """Return the cards that match a query best, or near words where no card matches.

        Args:
            query: A few words.
            limit: How many cards are returned at most.

        Raises:
            ValueError: The query has no word.
        """
        if not WORD.search(query):
            raise ValueError(f"{query!r} has no word to look for.")
        index = self._index
        if index is None:
            # Only a whole index is kept: reading the API may be cancelled.
            index = self._read()
            self._index = index
        best = index.best(query)
        examples = Examples(self._operations)
        entries = [examples.filled(index.entries[number]) for number in best[:limit]]
        answer: Json = {"found": len(best), "cards": _cards(entries, limit)}
        if not best:
            answer["why"] = _NO_CARD
            answer["near"] = near(query.strip(), index.words.values())
        return answer

    def _read(self) -> ApiIndex:
        operations = self._operations
        entries = track(operations.api(), message="Reading the API")
        return ApiIndex(chain(api_verbs.cards(operations), entries), api_verbs.said(operations))


def _cards(entries: Sequence[ApiEntry], limit: int) -> list[Json]:
    """Return the first card whole, and as many of the others as there is room for."""
    cards: list[Json] = []
    room = _CARD_BYTES * limit
    for entry in entries:
        card = _card(entry)
        if cards:
            card = {name: _clipped(name, text) for name, text in card.items()}
        room -= len(json.dumps(card))
        if room < 0 and cards:
            break
        cards.append(card)
    return cards


def _card(entry: ApiEntry) -> Json:
    card = {
        "name": entry.name,
        "kind": entry.kind,
        "text": entry.text,
        "signature": entry.signature,
        "example": entry.example,
    }
    return {name: shown(text) for name, text in card.items() if text}


def _clipped(name: str, text: str) -> str:
    """Return a part of a card that is not the first, cut short; an example is cut never."""
    if name in ("name", "example"):
        return text
    return shortened(text, _MAX_LATER)
