"""The verbs that take items away: clean and delete. The person sees the list. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final, cast

from dcc_bridge.consent.call import current_call
from dcc_bridge.consent.confirm import Grant
from dcc_bridge.consent.loss import MAX_NAMED, named
from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.elicitation.text import plural
from dcc_bridge.elicitation.types import outcome
from dcc_bridge.errors import NotConfirmed
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.consents import ConsentingVerbs, allow
from dcc_bridge.verbs.items import counted
from dcc_bridge.verbs.operations import Junk
from dcc_bridge.verbs.ports import Cleaning, Deleting
from dcc_bridge.verbs.unreadable import readable

_DELETED_JUNK: Final = ("unused", "empty_groups")  # kinds that are deleted, not merged or cut
_MAX_REHEARSED: Final = 500  # items whose deletion is tried for the picture in its question
_MAX_TICKED: Final = 100  # boxes in one form; more items are agreed to as a whole


class CleaningVerbs(ConsentingVerbs[Cleaning]):
    """The verb that cleans."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.clean]

    @skill(title="Clean the scene", risk="destructive", confirms=True)
    def clean(self, what: list[Junk]) -> outputs.Cleaned:
        """Purge unused data, empty groups, duplicate materials, dead links, history.

        The person sees the list, and picks what goes.

        Args:
            what: Which kinds.
        """
        operations = self._operations
        junk = {kind: operations.junk(kind) for kind in dict.fromkeys(what)}
        if not any(junk.values()):
            return result([], "Cleaned nothing away", why="There is nothing of that to clean.")
        gone: list[str] = []
        still_there: list[str] = []
        for kind, picked in self._picked(junk).items():
            # Somebody may use an item since it was listed.
            still_junk = set(operations.junk(kind))
            cleaned = [item for item in picked if item in still_junk]
            operations.clean(kind, cleaned)
            left = set(operations.junk(kind))
            for item in cleaned:
                if item in left:
                    still_there.append(item)
                else:
                    gone.append(item)
        summary = f"Cleaned {plural(len(gone), 'thing')} away"
        return result(gone, summary, still_there=still_there)

    def _picked(self, junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
        """Return what the person ticked to go; many items are agreed to as a whole."""
        every = _without_repeats(junk)
        listed = [*chain.from_iterable(every.values())]
        question = f"Clean {plural(len(listed), 'thing')} away?"
        breaking = self._breaking_without(every)
        if len(listed) > _MAX_TICKED:
            self._consents.confirm(question + breaking, listed, "Clean")
            return every
        question += " Untick what you want to keep." + breaking
        form = _form(every)
        return self._consents.once(("clean", *listed), listed, lambda: _ticked(question, form))

    def _breaking_without(self, junk: Mapping[Junk, Sequence[str]]) -> str:
        """Return a sentence on what breaks once junk is deleted; "" where nothing does."""
        operations = self._operations
        if not isinstance(operations, Deleting):
            return ""
        deleted: list[str] = []
        for kind in junk:
            if kind in _DELETED_JUNK:
                deleted += junk[kind]
        return _breaking(operations, deleted)


class DeletingVerbs(ConsentingVerbs[Deleting]):
    """The verb that deletes."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.delete]

    @skill(title="Delete items", risk="destructive", confirms=True)
    def delete(
        self, items: list[str] = [], pattern: str = "", type: str = "*", under: str = ""
    ) -> outputs.Deleted:
        """Delete items. The person sees the list, and is asked again if it changes meanwhile.

        If they say no, nothing is deleted; do not try to reach the same another way.

        Args:
            items: Which ones.
            pattern: Or: glob on the name, such as "sh00*".
            type: With a pattern: only items of this type.
            under: With a pattern: only items below this one.
        """
        operations = self._operations
        doomed = self._matching(items, pattern, type, under)
        if not doomed:
            why = f"There is nothing of type {type} named {pattern!r}."
            return result([], "Deleted nothing", why=why)
        operations.check_deletable(doomed)
        kept: list[str] = []
        # While a batch is tried nobody is asked: that comes with the whole batch.
        control = current_call().control
        if not control.is_trying:
            # A rehearsal would cut the undo step of a batch in two.
            if len(doomed) <= _MAX_REHEARSED and not self._consents.is_batch:
                control.rehearse(lambda: operations.delete(doomed), doomed)
            agreed = self._consents.confirm(
                self._question,
                doomed,
                lambda listed: f"Delete {counted(operations, listed)}",
                lambda: self._matching(items, pattern, type, under),
            )
            kept, doomed = self._kept_and_doomed(agreed)
        what = counted(operations, doomed)  # before they go: then nobody knows their types
        hidden = dict.fromkeys(str(item) for item in operations.delete(doomed))
        still_there = [item for item in operations.still_there(doomed) if item not in hidden]
        parts: Json = {"only_hidden": list(hidden), "still_there": still_there}
        if kept:
            parts["kept_by_person"] = kept
        return result(doomed, f"Deleted {what}", **parts)

    def _kept_and_doomed(self, agreed: Grant | list[str]) -> tuple[list[str], list[str]]:
        """Return the items that the person keeps, and those that go.

        What stands above an item that is kept is kept too: the item would go along with it.
        """
        unticked: Sequence[str] = ()
        if isinstance(agreed, Grant):
            unticked = agreed.left_out
        if not unticked:
            return [], list(agreed)
        stays = frozenset(unticked)
        kept = list(unticked)
        doomed = []
        for item in agreed:
            if stays.isdisjoint(self._operations.below([item])):
                doomed.append(item)
            else:
                kept.append(item)
        return kept, doomed

    def _matching(self, items: Sequence[str], pattern: str, type: str, under: str) -> list[str]:
        """Return the items, or those that go by the pattern, the type and the place."""
        operations = self._operations
        if not items and not pattern and type != "*":
            raise ValueError(
                "delete needs a pattern beside the type. For all of them: "
                f'pattern="*", type="{type}".'
            )
        if not items and not pattern:
            raise ValueError(
                'delete needs items, such as items=["Cube"], or a pattern, such as pattern="sh00*".'
            )
        matching = []
        if items:
            for item in track(items):
                if operations.kind(item):
                    matching.append(item)
            return list(dict.fromkeys(matching))
        for item in track(operations.items(under or None)):
            if readable(item, self._fits, item, pattern, type):
                matching.append(item)
        return matching

    def _fits(self, item: str, pattern: str, type: str) -> bool:
        """Return whether an item is of a type, and its name matches a glob."""
        if type != "*" and self._operations.kind(item) != type:
            return False
        return fnmatchcase(self._operations.name(item), pattern)

    def _question(self, items: Sequence[str]) -> str:
        """Return the question; how many items go in all stands in its first line."""
        operations = self._operations
        asked = f"Delete {_counted_or_named(operations, items)}"
        below = operations.below(items)
        if below:
            asked += f" and {len(below):,} more below {_them(items)}"
        return f"{asked}?{self._beside(items, below)}"

    def _beside(self, items: Sequence[str], below: Sequence[str]) -> str:
        """Return sentences on what goes with items or loses its parent, and on what breaks."""
        operations = self._operations
        host = operations.host
        them = _them(items)
        text = ""
        if below:
            text += f"\nBelow {them}: {self._named(below)}."
        orphans = operations.orphans(items)
        if orphans:
            stay = f"{plural(len(orphans), host.item_noun)} below {them} stay, without their parent"
            text += f"\n{stay}: {self._named(orphans)}."
        remark = operations.remark(items)
        if remark:
            text += f"\n{remark}"
        return text + _breaking(operations, items)

    def _named(self, items: Sequence[str]) -> str:
        """Return the first items by names that the person sees, and the number of the others."""
        shown = self._operations.host.display_names(items[:MAX_NAMED])
        return named([*shown, *items[MAX_NAMED:]])


def _counted_or_named(operations: Deleting, items: Sequence[str]) -> str:
    """Return the number of items and their type; for a single item, its type and its name."""
    if len(items) != 1:
        return counted(operations, items)
    name = operations.host.display_names(items)[0]
    return f'the {operations.noun(items[0])} "{name}"'


def _breaking(operations: Deleting, items: Sequence[str]) -> str:
    """Return a sentence on what breaks without the items; "" if nothing breaks."""
    breaking = operations.dependents(items)
    if not breaking:
        return ""
    return f"\n{plural(len(breaking), 'thing')} will break: {named(breaking)}."


def _them(items: Sequence[str]) -> str:
    if len(items) == 1:
        return "it"
    return "them"


def _without_repeats(junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
    """Return each item under its first kind of junk only, so that a person ticks it once."""
    seen: set[str] = set()
    unique: dict[Junk, list[str]] = {}
    for kind, items in junk.items():
        new = [item for item in items if item not in seen]
        if new:
            unique[kind] = new
            seen.update(new)
    return unique


def _form(junk: Mapping[Junk, Sequence[str]]) -> Json:
    """Return a form with a list of boxes for each kind of junk, all of them ticked."""
    fields: Json = {}
    for kind, items in junk.items():
        fields[kind] = {
            "type": "array",
            "title": kind.replace("_", " ").capitalize(),
            "items": {"type": "string", "enum": items},
            "default": items,
        }
    return {"type": "object", "properties": fields, "required": list(fields)}


def _ticked(question: str, form: Json) -> dict[Junk, list[str]]:
    """Ask with a form, and return the ticked items, whose loss is allowed from then on.

    Raises:
        NotConfirmed: The person did not agree.
    """
    response = elicit_form_sync(question, form, title="Clean")
    if not response.accepted:
        ended = outcome(response.message or "", response.answered_by)
        remainder = current_call().remainder
        raise NotConfirmed("Clean?", response.reason or "", ended, remainder)
    ticked = cast("dict[Junk, list[str]]", response.data or {})
    allow([str(item) for item in chain.from_iterable(ticked.values())])
    return ticked
