"""The verb that renames items, by name or by pattern. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import refuse, result
from dcc_bridge.verbs.consents import cover
from dcc_bridge.verbs.editing import ItemVerbs
from dcc_bridge.verbs.items import by_depth, counted, followed
from dcc_bridge.verbs.ports import Building
from dcc_bridge.verbs.unreadable import read_each

_KEPT_NAMES: Final = (
    "The second of each pair is a label; the item is called as the first, as before."
)
_MAX_STARS: Final = 4  # of a pattern: each star more multiplies the ways to match


class RenamingVerbs(ItemVerbs[Building]):
    """The verb that renames."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.rename]

    @skill(title="Rename items", risk="edit")
    def rename(
        self,
        names: dict[str, str] = {},
        pattern: str = "",
        to: str = "",
        under: str = "",
        preview: bool = False,
    ) -> outputs.Renamed:
        """Rename items, by name or by pattern; what refers to them follows.

        Args:
            names: {item: new name}; goes before the pattern.
            pattern: Glob on the name, such as "Cube*".
            to: The new name: "*" is what it matched, "##" a number of two digits.
            under: Only items below this one.
            preview: Only tell the pairs and the collisions.
        """
        operations = self._operations
        new_names = self._new_names(names, pattern, to, under)
        new_items: dict[str, str] = {}
        in_the_way: dict[str, Sequence[str]] = {}
        for item, name in track(new_names.items()):
            new_items[item], in_the_way[item] = operations.called(item, name)
        collisions = _collisions(new_items, in_the_way)
        items = list(new_names)
        if preview:
            preview_pairs = [(item, followed(new_items[item], new_items)) for item in items]
            summary = f"Changed nothing: previewed new names of {counted(operations, items)}"
            return result(items, summary, pairs=preview_pairs, collisions=collisions)
        refuse(collisions)
        cover(items)
        self._consents.ask("Rename", len(items), operations.host.item_noun, items)
        moved: dict[str, str] = {}
        # The deepest first: until then no path changes. What still has a new name makes way.
        for item in track(by_depth(operations, items, deepest=True), message="Renaming"):
            for other in in_the_way[item]:
                if other not in moved:
                    moved[other] = operations.rename(other, f"{new_names[other]}_renaming")
            moved[item] = operations.rename(moved.get(item, item), new_names[item])
        now = [followed(moved[item], moved) for item in track(items)]
        facts: dict[str, Any] = {"pairs": self._pairs(items, now)}
        if now == items:
            facts["note"] = _KEPT_NAMES
        return result(now, f"Renamed {counted(operations, now)}", **facts)

    def _new_names(
        self, names: Mapping[str, str], pattern: str, to: str, under: str
    ) -> dict[str, str]:
        """Return the new name of each item whose name changes."""
        operations = self._operations
        for item in track(names):
            operations.kind(item)
        every = self._matching(pattern, to, under)
        every.update(names)
        new_names: dict[str, str] = {}
        for item, name in track(every.items()):
            if name != operations.name(item):
                new_names[item] = name
        if not new_names:
            raise ValueError("No item matches. See list_items for the names.")
        return new_names

    def _pairs(self, items: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each item with its new item, or with its name where items are not called by it."""
        for item, new in zip(items, now, strict=True):
            if new == item:
                new = self._operations.name(new)
            yield item, new

    def _matching(self, pattern: str, to: str, under: str) -> dict[str, str]:
        """Return the new names of the items whose names match a pattern."""
        stars = pattern.count("*")
        if not pattern:
            return {}
        if not to or to.count("*") > stars or stars > _MAX_STARS:
            needs = "a name, with no more * than pattern"
            raise ValueError(f"to needs {needs}; {_MAX_STARS} at most.")
        glob = re.compile(re.escape(pattern).replace(r"\*", "(.*?)").replace(r"\?", "."))
        new_names: dict[str, str] = {}
        items = track(self._operations.items(under or None), message="Reading names")
        for item, name in read_each(items, self._operations.name):
            match = glob.fullmatch(name)
            if match:
                new_names[item] = _filled(to, match.groups(), len(new_names) + 1)
        return new_names


def _collisions(new_items: Mapping[str, str], in_the_way: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each item whose new name is wanted twice or taken.

    A name is free if its holder is renamed too.
    """
    counts = Counter(new_items.values())
    collisions = []
    for item, new in new_items.items():
        if counts[new] > 1:
            collisions.append(f"{item}: {new} is wanted twice.")
        elif not new_items.keys() >= set(in_the_way[item]):
            collisions.append(f"{item}: {new} is taken.")
    return collisions


def _filled(template: str, matched: Sequence[str], number: int) -> str:
    """Put what a pattern matched in the place of "*", and a number in the place of "##"."""
    parts = iter(matched)
    digits = str(number)
    name = re.sub(r"\*", lambda star: next(parts), template)
    return re.sub("#+", lambda places: digits.zfill(len(places[0])), name)
