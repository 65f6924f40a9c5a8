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
    """Make the verb that looks the API up."""
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
    """The words of an application's API, indexed when it is first asked."""

    def __init__(self, operations: ApiSearch) -> None:
        self._operations = operations
        self._entries: list[ApiEntry] = []
        self._names: list[frozenset[str]] = []  # the words of each entry's name
        self._by_word: dict[str, list[int]] = {}

    def find(self, query: str, limit: int = 8) -> dict[str, Any]:
        """Give the cards that go best with a query, or near names where none does."""
        if not (words := [word.lower() for word in WORD.findall(query)]):
            raise ValueError(f"{query!r} has no word to look for.")
        if not self._entries:
            self._build()
        scores = self._scores(words, query.strip().lower())
        best = sorted(scores, key=lambda at: (-scores[at], len(self._entries[at].name), at))
        cards = [asdict(self._entries[at]).items() for at in best[:limit]]
        told = [{name: shown(value) for name, value in card if value} for card in cards]
        miss = {} if best else {"near": near(query.strip(), self._by_word)}
        return {"found": len(best), "cards": told, **miss}

    def _build(self) -> None:
        entries, names = [], []
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for at, entry in enumerate(track(self._operations.api(), message="Reading the API")):
            name = frozenset(word.lower() for word in WORD.findall(entry.name))
            entries.append(entry)
            names.append(name)
            for word in name | {word.lower() for word in WORD.findall(entry.text)}:
                by_word[word].append(at)
        self._entries, self._names, self._by_word = entries, names, dict(by_word)

    def _scores(self, words: Sequence[str], query: str) -> Mapping[int, float]:
        """Score over all words: a rare one counts more, and one of the name more than its text."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in words:
            hits: dict[int, float] = {}
            for known, closeness in self._known(word):
                rarity = math.log1p(len(self._entries) / len(self._by_word[known]))
                for at in self._by_word[known]:
                    weight = closeness * rarity * (2.0 if known in self._names[at] else closeness)
                    hits[at] = max(hits.get(at, 0.0), weight)
            for at, weight in hits.items():
                scores[at] += weight
        is_slip = self._by_word.keys().isdisjoint(words)  # a type's name is what one errs in
        for at in scores:
            name, kind = self._entries[at].name.lower(), self._entries[at].kind
            scores[at] *= 5.0 if name == query or (is_slip and kind == "type") else 1.0
            scores[at] /= 1.0 + 0.05 * len(self._names[at])  # of two, the plainer one
        return scores

    def _known(self, word: str) -> list[tuple[str, float]]:
        """Give the indexed words that are meant, and how close each is; slips where none is."""
        known = [(word, 1.0)] if word in self._by_word else []
        if len(word) > 2:
            known += [(it, 0.5) for it in self._by_word if it != word and it.startswith(word)]
        if alike := [it for it in self._by_word if abs(len(it) - len(word)) <= 2 and not known]:
            known = [(it, 0.4) for it in get_close_matches(word, alike, 5, 0.65) if len(word) > 3]
        return known
