"""The verb that looks the application's own API up: find_api. Main thread."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from dcc_bridge import skill, track
from dcc_bridge.verbs.answers import shown
from dcc_bridge.verbs.names import WORD, near
from dcc_bridge.verbs.operations import ApiEntry
from dcc_bridge.verbs.ports import ApiSearch


def verbs(operations: ApiSearch) -> list[Callable[..., Any]]:
    """Return the verb that looks the API up."""
    index = ApiIndex(operations)

    @skill(title="Find in the API", risk="read")
    def find_api(query: str, limit: int = 8) -> dict[str, Any]:
        """Look up types, properties, operators and sockets of this version's own API.

        Args:
            query: A few words, such as "camera focal length".
            limit: Cards at most.
        """
        return index.find(query, limit)

    return [find_api]


class ApiIndex:
    """An index of the words of an application's API, made at the first search."""

    def __init__(self, operations: ApiSearch) -> None:
        self._operations = operations
        self._entries: list[ApiEntry] = []
        self._names: list[frozenset[str]] = []  # the words of each entry's name
        self._by_word: dict[str, list[int]] = {}  # the numbers of the entries that have a word

    def find(self, query: str, limit: int = 8) -> dict[str, Any]:
        """Return the cards that match a query best, or near words where no card matches.

        Args:
            query: A few words.
            limit: How many cards are returned at most.

        Raises:
            ValueError: The query has no word.
        """
        words = [word.lower() for word in WORD.findall(query)]
        if not words:
            raise ValueError(f"{query!r} has no word to look for.")
        if not self._entries:
            self._build()
        scores = self._scores(words, query.strip().lower())

        def rank(number: int) -> tuple[float, int, int]:
            return -scores[number], len(self._entries[number].name), number

        best = sorted(scores, key=rank)
        cards = [self._card(number) for number in best[:limit]]
        answer: dict[str, Any] = {"found": len(best), "cards": cards}
        if not best:
            answer["near"] = near(query.strip(), self._by_word)
        return answer

    def _card(self, number: int) -> dict[str, Any]:
        fields = asdict(self._entries[number])
        return {name: shown(value) for name, value in fields.items() if value}

    def _build(self) -> None:
        entries = []
        names = []
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(track(self._operations.api(), message="Reading the API")):
            name = _words(entry.name)
            entries.append(entry)
            names.append(name)
            for word in name | _words(entry.text):
                by_word[word].append(number)
        # Only a whole index is kept: reading the API may be cancelled.
        self._entries = entries
        self._names = names
        self._by_word = dict(by_word)

    def _scores(self, words: Sequence[str], query: str) -> Mapping[int, float]:
        """Return the score of each entry that has one of the words.

        A rare word counts more, and a word of the entry's name more than one of its text.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        for word in words:
            for number, weight in self._weights(word).items():
                scores[number] += weight
        # An agent errs most often in the name of a type.
        is_slip = self._by_word.keys().isdisjoint(words)
        for number in scores:
            entry = self._entries[number]
            if entry.name.lower() == query or (is_slip and entry.kind == "type"):
                scores[number] *= 5.0
            # Of two entries alike, the one with the shorter name comes first.
            scores[number] /= 1.0 + 0.05 * len(self._names[number])
        return scores

    def _weights(self, word: str) -> dict[int, float]:
        """Return how much a word counts in each entry that has the word or one like it."""
        weights: dict[int, float] = {}
        for known, closeness in self._known(word):
            rarity = math.log1p(len(self._entries) / len(self._by_word[known]))
            for number in self._by_word[known]:
                place = closeness
                if known in self._names[number]:
                    place = 2.0
                weight = closeness * rarity * place
                weights[number] = max(weights.get(number, 0.0), weight)
        return weights

    def _known(self, word: str) -> list[tuple[str, float]]:
        """Return the indexed words that a word may mean, with the closeness of each.

        Those are the word itself and the words that begin with it; else words with a slip.
        """
        known = []
        if word in self._by_word:
            known.append((word, 1.0))
        if len(word) > 2:
            for other in self._by_word:
                if other != word and other.startswith(word):
                    known.append((other, 0.5))
        if known or len(word) <= 3:
            return known
        alike = [other for other in self._by_word if abs(len(other) - len(word)) <= 2]
        return [(close, 0.4) for close in get_close_matches(word, alike, 5, 0.65)]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in WORD.findall(text))
