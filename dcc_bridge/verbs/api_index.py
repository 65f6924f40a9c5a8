"""An index of the words of an application's API, and how well each entry answers a query.

An entry has titles: its name, its label, and each phrase that people say for it. A word that few
titles have counts more than one that many have, and a title counts more the less it has besides
the words of the query. The words of the entry's text count less. Main thread.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Final

from dcc_bridge.verbs.api_words import query_words, stem, synonyms, weight_of
from dcc_bridge.verbs.names import WORD
from dcc_bridge.verbs.operations import ApiEntry, Said

GONE: Final = "gone"  # the kind of an entry for a name that this version lacks
_CREATE: Final = "create type "  # begins the name of a type that the verb create makes
_OWNER: Final = 0.4  # how much "Camera" counts in "Camera.focalLength"
_TEXT: Final = 0.3  # how much a word of the text counts
_REST: Final = 0.4  # how much a title counts of which the query has hardly a word
_UNCOVERED: Final = 0.25  # how much an entry counts that has hardly a word of the query
_SAID: Final = 1.5  # how much more a phrase counts that people say, and that the query has
_WHOLE: Final = 0.8  # the share of a phrase from which on it counts as said
_CREATABLE: Final = 1.3  # how much more a type counts that can be created
_EXACT: Final = 5.0  # how much more an entry counts whose name is the query
# How close words are that are not the same.
_JOINED: Final = 0.5  # "keyframe" and each word of "key frame"
_SYNONYM: Final = 0.7
_BEGINNING: Final = 0.6  # "bright" and "brightness"
_SLIP: Final = 0.4
_MAX_BEGINNINGS: Final = 30
_Closeness = dict[str, float]  # of each indexed word that a word of the query may mean


@dataclass(slots=True)
class _Title:
    """A name or phrase of an entry.

    Attributes:
        entry: The entry's number.
        words: How much each word counts.
        boost: How much more it counts than others, where the query has all of it.
        size: How much all words count together; 0 until it is asked for.
    """

    entry: int
    words: Mapping[str, float]
    boost: float = 1.0
    size: float = 0.0


class ApiIndex:
    """The entries of an API and their words.

    Attributes:
        entries: The entries.
        words: A whole word for each stem that they have.
    """

    def __init__(self, entries: Iterable[ApiEntry], said: Mapping[str, Said]) -> None:
        """Read the entries.

        Args:
            entries: The entries.
            said: What people say for an entry, by its name.
        """
        self.entries: list[ApiEntry] = []
        self.words: dict[str, str] = {}
        self._stems: dict[str, str] = {}  # of the words that were read
        self._titles: list[_Title] = []
        self._in_titles: defaultdict[str, list[int]] = defaultdict(list)
        self._in_texts: defaultdict[str, list[int]] = defaultdict(list)
        self._text_sizes: list[int] = []
        self._by_name: defaultdict[str, list[int]] = defaultdict(list)
        for entry in entries:
            spoken = said.get(entry.name, Said())
            if entry.kind == GONE:
                spoken = Said()
            if spoken.example:
                entry = replace(entry, example=spoken.example)
            self._add(entry, spoken.words)
        self._sorted = sorted(self.words)
        self._mean_text = sum(self._text_sizes) / max(1, len(self._text_sizes)) or 1.0

    def _add(self, entry: ApiEntry, said: str) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        for name in {entry.name.lower(), _bare(entry.name).lower()}:
            self._by_name[name].append(number)
        owner, _, own = _bare(entry.name).rpartition(".")
        self._add_title(number, own, owner)
        if entry.label:
            self._add_title(number, entry.label)
        if said:
            for phrase in said.split(","):
                self._add_title(number, phrase, boost=_SAID)
        words = {self._stem(word) for word in WORD.findall(entry.text)}
        self._text_sizes.append(len(words))
        for word in words:
            self._in_texts[word].append(number)

    def _add_title(self, number: int, text: str, owner: str = "", boost: float = 1.0) -> None:
        words: dict[str, float] = {}
        for part, share in ((owner, _OWNER), (text, 1.0)):
            for word in WORD.findall(part):
                weight = share * weight_of(word.lower())
                if weight:
                    words[self._stem(word)] = weight
        if not words:
            return
        for word in words:
            self._in_titles[word].append(len(self._titles))
        self._titles.append(_Title(number, words, boost))

    def _stem(self, word: str) -> str:
        stemmed = self._stems.get(word)
        if stemmed is None:
            stemmed = stem(word)
            self._stems[word] = stemmed
            self.words.setdefault(stemmed, word.lower())
        return stemmed

    def _rarity(self, word: str) -> float:
        """Return how much a word counts: the more, the fewer entries have it."""
        count = len(self._in_titles.get(word, ())) + len(self._in_texts.get(word, ()))
        return math.log1p(len(self.entries) / max(1, count))

    # ---- a search

    def best(self, query: str) -> list[int]:
        """Return the numbers of the entries that have a word of a query, the best first.

        Args:
            query: A few words; more words that all entries lack change nothing.
        """
        meant = [closeness for closeness in self._meant(query_words(query)) if closeness]
        scores = self._scores(meant)
        # An agent errs most often in the name of a type.
        if meant and all(max(closeness.values()) <= _SLIP for closeness in meant):
            for number in scores:
                if self.entries[number].kind == "type":
                    scores[number] *= _EXACT
        for number in self._by_name.get(query.strip().lower(), ()):
            scores[number] = scores.get(number, 1.0) * _EXACT

        def rank(number: int) -> tuple[float, int, int]:
            return -scores[number], len(self.entries[number].name), number

        return sorted(scores, key=rank)

    def _scores(self, meant: Sequence[_Closeness]) -> dict[int, float]:
        """Return the score of each entry that has one of the words that are meant."""
        of_titles: defaultdict[int, float] = defaultdict(float)
        scores: defaultdict[int, float] = defaultdict(float)
        covered: defaultdict[int, float] = defaultdict(float)
        whole = 0.0
        for closeness in meant:
            in_titles, in_texts = self._matches(closeness)
            for at, score in in_titles.items():
                of_titles[at] += score
            for number, score in in_texts.items():
                scores[number] += _TEXT * score
            weight = max(map(self._rarity, closeness))
            whole += weight
            for number in {self._titles[at].entry for at in in_titles} | in_texts.keys():
                covered[number] += weight
        for number, score in self._best_titles(of_titles).items():
            scores[number] += score
        for number in scores:
            has = _UNCOVERED + (1 - _UNCOVERED) * covered[number] / whole
            scores[number] *= has * self._likely(number)
        return scores

    def _likely(self, number: int) -> float:
        """Return how likely it is that an entry is meant, whatever the words."""
        entry = self.entries[number]
        if entry.name.startswith(_CREATE):
            return entry.weight * _CREATABLE
        return entry.weight

    def _best_titles(self, matched: Mapping[int, float]) -> dict[int, float]:
        """Return the score of the best title of each entry, of what its titles matched."""
        best: dict[int, float] = {}
        for at, score in matched.items():
            title = self._titles[at]
            part = score / self._size(title)
            score *= _REST + (1 - _REST) * part
            if part >= _WHOLE:
                score *= title.boost
            best[title.entry] = max(best.get(title.entry, 0.0), score)
        return best

    def _size(self, title: _Title) -> float:
        if not title.size:
            title.size = sum(self._rarity(word) * part for word, part in title.words.items())
        return title.size

    def _matches(self, closeness: _Closeness) -> tuple[dict[int, float], dict[int, float]]:
        """Return how much a word of the query counts in each title, and in each entry's text."""
        titles: dict[int, float] = {}
        texts: dict[int, float] = {}
        for word, close in closeness.items():
            score = close * self._rarity(word)
            for at in self._in_titles.get(word, ()):
                titles[at] = max(titles.get(at, 0.0), score * self._titles[at].words[word])
            for number in self._in_texts.get(word, ()):
                length = self._text_sizes[number] / self._mean_text
                texts[number] = max(texts.get(number, 0.0), score / (0.6 + 0.4 * length))
        return titles, texts

    def _meant(self, words: Sequence[str]) -> list[_Closeness]:
        """Return the indexed words that each word of a query may mean."""
        meant = [self._known(word) for word in words]
        for at, (first, second) in enumerate(pairwise(words)):
            joined = stem(first + second)
            if joined in self.words:
                meant[at].setdefault(joined, _JOINED)
                meant[at + 1].setdefault(joined, _JOINED)
        return meant

    def _known(self, word: str) -> _Closeness:
        own = stem(word)
        known: _Closeness = {}
        for other in synonyms(word):
            if other in self.words:
                known[other] = _SYNONYM
        if own in self.words:
            known[own] = 1.0
        if len(own) > 2:
            for other in self._beginning_with(own):
                known.setdefault(other, _BEGINNING)
        if known or len(word) <= 3:
            return known
        alike = [other for other in self.words if abs(len(other) - len(own)) <= 2]
        return dict.fromkeys(get_close_matches(own, alike, 5, 0.65), _SLIP)

    def _beginning_with(self, start: str) -> list[str]:
        at = bisect_left(self._sorted, start)
        found = []
        for other in self._sorted[at : at + _MAX_BEGINNINGS]:
            if not other.startswith(start):
                break
            found.append(other)
        return found


def _bare(name: str) -> str:
    """Return a name as code has it, without what a card adds to it."""
    return name.removeprefix(_CREATE).removesuffix("()")
