"""The verb that renames items, by name or by pattern. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import refuse, result
from dcc_bridge.verbs.consents import cover
from dcc_bridge.verbs.editing import ItemVerbs
from dcc_bridge.verbs.items import by_depth, counted, followed
from dcc_bridge.verbs.ports import Building

_MOST_STARS: Final = 4  # of a pattern: each one more multiplies the ways to match


class RenamingVerbs(ItemVerbs[Building]):
    """The verb that renames."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.rename]

    @skill(risk="edit")
    def rename(
        self,
        names: dict[str, str] = {},
        pattern: str = "",
        to: str = "",
        under: str = "",
        preview: bool = False,
    ) -> Any:
        """Rename items, by name or by pattern; what refers to them follows.

        Args:
            names: {item: new name}; goes before the pattern.
            pattern: Glob on the name, such as "Cube*".
            to: The new name: "*" is what it matched, "##" a number of two digits.
            under: Only items below this one.
            preview: Only tell the pairs and the collisions.
        """
        operations = self._operations
        for item in track(names):
            operations.kind(item)
        wanted = {**self._matching(pattern, to, under), **names}
        wanted = {it: name for it, name in track(wanted.items()) if name != operations.name(it)}
        if not wanted:
            raise ValueError("Nothing is to be renamed: see list_items for the names.")
        called = {it: operations.called(it, name) for it, name in track(wanted.items())}
        new = {it: name for it, (name, _) in called.items()}
        counts = Counter(new.values())
        collisions = [f"{it}: {name} is {'wanted twice' if counts[name] > 1 else 'taken'}."
                      for it, (name, others) in called.items()
                      if counts[name] > 1 or not wanted.keys() >= {*others}]  # fmt: skip
        if preview:
            preview_pairs = [(item, followed(new[item], new)) for item in wanted]
            return result(list(wanted), pairs=preview_pairs, collisions=collisions)
        refuse(collisions)
        cover(list(wanted))
        self._consents.ask("Rename", len(wanted), operations.host.item_noun, list(wanted))
        moved: dict[str, str] = {}
        # The deepest first: until then no path changes. What still has a wanted name makes way.
        for item in track(by_depth(operations, wanted, deepest=True), message="Renaming"):
            for other in called[item][1]:
                if other not in moved:
                    moved[other] = operations.rename(other, f"{wanted[other]}_renaming")
            moved[item] = operations.rename(moved.get(item, item), wanted[item])
        now = [followed(moved[item], moved) for item in track(wanted)]
        # An item that is no name stays what it was: then its name is told.
        every = zip(wanted, now, strict=True)
        pairs = ((it, new if new != it else operations.name(new)) for it, new in every)
        return result(now, f"Renamed {counted(operations, now)}", pairs=pairs)

    def _matching(self, pattern: str, to: str, under: str) -> dict[str, str]:
        """Give the new names of the items that match."""
        stars = pattern.count("*")
        if not pattern:
            return {}
        if not to or to.count("*") > stars or stars > _MOST_STARS:
            needs = "a name, with no more * than pattern"
            raise ValueError(f"to needs {needs}; {_MOST_STARS} at most.")
        glob = re.compile(re.escape(pattern).replace(r"\*", "(.*?)").replace(r"\?", "."))
        wanted: dict[str, str] = {}
        for item in track(self._operations.items(under or None), message="Reading names"):
            if match := glob.fullmatch(self._operations.name(item)):
                parts = iter(match.groups())
                name = re.sub(r"\*", lambda _: next(parts), to)  # noqa: B023 - used at once
                number = str(len(wanted) + 1)
                wanted[item] = re.sub("#+", lambda it: number.zfill(len(it[0])), name)  # noqa: B023
        return wanted
