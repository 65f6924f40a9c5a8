"""The verbs that take items away: clean and delete. The person sees the list. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, cast

from dcc_bridge.consent.call import current_call
from dcc_bridge.consent.loss import MAX_NAMED, named
from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.elicitation.text import plural
from dcc_bridge.elicitation.types import outcome
from dcc_bridge.errors import NotConfirmed
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.consents import Consenting, allow
from dcc_bridge.verbs.items import counted
from dcc_bridge.verbs.operations import Junk
from dcc_bridge.verbs.ports import Cleaning, Deleting

_GOING: Final = ("unused", "empty_groups")  # kinds of junk that are deleted, not merged or cut
_MOST_TICKED: Final = 100  # items of one list of boxes to tick; more are agreed to as a whole


class CleaningVerbs(Consenting[Cleaning]):
    """The verb that cleans."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.clean]

    @skill(risk="destructive", confirms=True)
    def clean(self, what: list[Junk]) -> Any:
        """Purge unused data, empty groups, duplicate materials, dead links, history.

        The person sees the list, and picks what goes.

        Args:
            what: Which kinds.
        """
        operations, gone, stays = self._operations, list[str](), list[str]()
        junk = {kind: operations.junk(kind) for kind in dict.fromkeys(what)}
        if not any(junk.values()):
            return result([], why="There is nothing of that to clean.")
        for kind, items in self._picked(junk).items():
            still = set(operations.junk(kind))  # meanwhile somebody may use it
            operations.clean(kind, going := [item for item in items if item in still])
            left = set(operations.junk(kind))
            gone += [item for item in going if item not in left]
            stays += [item for item in going if item in left]
        return result(gone, f"Cleaned {plural(len(gone), 'thing')} away", still_there=stays)

    def _picked(self, junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
        """Have the person tick what goes; many are agreed to as a whole."""
        every = _once(junk)
        shown = [item for items in every.values() for item in items]
        question = f"Clean {plural(len(shown), 'thing')} away?"
        breaking = ""
        if isinstance(operations := self._operations, Deleting):
            going = [item for kind, items in every.items() if kind in _GOING for item in items]
            breaking = _breaking(operations, going)
        if len(shown) > _MOST_TICKED:
            self._consents.confirm(question + breaking, shown, "Clean")
            return every
        question += " Untick what you want to keep." + breaking
        fields = {kind: {"type": "array", "title": kind.replace("_", " ").capitalize(),
                         "items": {"type": "string", "enum": items}, "default": items}
                  for kind, items in every.items()}  # fmt: skip
        form = {"type": "object", "properties": fields, "required": list(fields)}
        return self._consents.once(("clean", *shown), shown, lambda: _ticked(question, form))


class DeletingVerbs(Consenting[Deleting]):
    """The verb that deletes."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.delete]

    @skill(risk="destructive", confirms=True)
    def delete(
        self, items: list[str] = [], pattern: str = "", type: str = "*", under: str = ""
    ) -> Any:
        """Delete items. The person sees the list, and is asked again if it changes meanwhile.

        If they say no, nothing is deleted; do not try to reach the same another way.

        Args:
            items: Which ones.
            pattern: Or: glob on the name, such as "sh00*".
            type: With a pattern: only items of this type.
            under: With a pattern: only items below this one.
        """
        operations = self._operations
        if not (going := self._matching(items, pattern, type, under)):
            return result([], why=f"There is nothing of type {type} named {pattern!r}.")
        operations.check_deletable(going)
        if not current_call().control.is_trying:  # else it is asked once the batch was tried
            going = self._consents.confirm(
                self._question,
                going,
                lambda found: f"Delete {counted(operations, found)}",
                lambda: self._matching(items, pattern, type, under),
                title="Delete",
            )
        what, hidden = counted(operations, going), dict.fromkeys(map(str, operations.delete(going)))
        left = (it for it in track(going) if it not in hidden)
        stays = [it for it in left if operations.host.kinds([it]) != ["gone"]]
        return result(going, f"Deleted {what}", only_hidden=list(hidden), still_there=stays)

    def _matching(self, items: Sequence[str], pattern: str, type: str, under: str) -> list[str]:
        operations = self._operations
        if not items and not pattern:
            raise ValueError("Give items, or a pattern.")
        if items:
            return list(dict.fromkeys(item for item in track(items) if operations.kind(item)))
        every = (
            it
            for it in operations.items(under or None)
            if type == "*" or operations.kind(it) == type
        )
        return [it for it in track(every) if fnmatchcase(operations.name(it), pattern)]

    def _question(self, items: Sequence[str]) -> str:
        """Ask whether items are deleted: how many go in all stands in the first line."""
        operations = self._operations
        asked = f"Delete {_counted_or_named(operations, items)}"
        below = operations.below(items)
        if below:
            asked += f" and {len(below):,} more below {_them(items)}"
        return f"{asked}?{self._beside(items, below)}"

    def _beside(self, items: Sequence[str], below: Sequence[str]) -> str:
        """Say what goes with items, or loses its parent, without being one of them."""
        operations = self._operations
        host = operations.host
        noun, them = host.item_noun, _them(items)
        told = ""
        if below:
            told += f"\nBelow {them}: {self._named(below)}."
        if orphans := operations.orphans(items):
            stay = f"{plural(len(orphans), noun)} below {them} stay, without their parent"
            told += f"\n{stay}: {self._named(orphans)}."
        return told + _breaking(operations, items)

    def _named(self, items: Sequence[str]) -> str:
        """Name the first ones as the person sees them."""
        shown = self._operations.host.display_names(items[:MAX_NAMED])
        return named([*shown, *items[MAX_NAMED:]])


def _counted_or_named(operations: Deleting, items: Sequence[str]) -> str:
    """Return how many items there are; of a single one, its type and its name."""
    if len(items) != 1:
        return counted(operations, items)
    name = operations.host.display_names(items)[0]
    return f'the {operations.noun(items[0])} "{name}"'


def _breaking(operations: Deleting, items: Sequence[str]) -> str:
    """Say what will break without the items; "" where nothing will."""
    breaking = operations.dependents(items)
    if not breaking:
        return ""
    return f"\n{plural(len(breaking), 'thing')} will break: {named(breaking)}."


def _them(items: Sequence[str]) -> str:
    if len(items) == 1:
        return "it"
    return "them"


def _once(junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
    """List each thing under the first kind that it is of: it goes once, and is ticked once."""
    seen, every = set[str](), dict[Junk, list[str]]()
    for kind, items in junk.items():
        if new := [item for item in items if item not in seen]:
            every[kind] = new
            seen.update(new)
    return every


def _ticked(question: str, form: Json) -> dict[Junk, list[str]]:
    it = elicit_form_sync(question, form, title="Clean")
    if not it.accepted:
        how, left = outcome(it.message or "", it.answered_by), current_call().remainder
        raise NotConfirmed("Clean?", it.reason or "", how, left)
    picked = it.data or {}
    allow([str(item) for items in picked.values() for item in items])
    return cast("dict[Junk, list[str]]", picked)
