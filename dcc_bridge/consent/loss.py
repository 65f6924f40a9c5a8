"""The loss of an edit, in words, and the error of an edit whose loss nobody had agreed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.text import plural, safe_line
from dcc_bridge.errors import NoConsent
from dcc_bridge.host import Host

MAX_NAMED: Final = 5  # things that a sentence names
PART: Final = "part"  # the type of a thing that is a part of an item
_MAX_COMPARED: Final = 500  # items whose types are compared, to name more than "prims"
_MAX_NOUNS: Final = 2  # types that a sentence counts


@dataclass(frozen=True, slots=True)
class Loss:
    """The things that one edit took away from the scene.

    Attributes:
        items: The lost things, as `SceneGuard.lost` names them: items, and parts in a person's
            words.
        breaks: The things that stopped working by that, as `Trial.broken` names them.
    """

    items: tuple[str, ...]
    breaks: tuple[str, ...] = ()

    def described(self, host: Host) -> str:
        """Return the loss for a sentence: "3 cameras, 2 lights and modifier Bevel of Cube".

        A thing that is the only one of its sort is named. Main thread, once the items are back.

        Args:
            host: The host of the scene.
        """
        items, parts = self._sorted(host)
        words = _counts(host, items)
        if len(items) == 1:
            name = safe_line(host.display_names(items)[0])
            words = [f"{host.nouns(items)[0]} {name}"]
        if parts:
            words.append(safe_line(parts[0]))
        if len(parts) > 1:
            words.append(f"{len(parts) - 1} more")
        return _joined(words)

    def counted(self, host: Host) -> str:
        """Return the loss in numbers, for a button: "3 cameras, 2 lights and 1 part".

        Main thread, once the items are back.

        Args:
            host: The host of the scene.
        """
        items, parts = self._sorted(host)
        words = _counts(host, items)
        if parts:
            words.append(plural(len(parts), PART))
        return _joined(words)

    def verb(self, host: Host) -> str:
        """Return the verb for the loss: "Delete", or "Remove" where only parts of items are lost.

        Main thread, once the items are back.

        Args:
            host: The host of the scene.
        """
        items, _ = self._sorted(host)
        if items:
            return "Delete"
        return "Remove"

    def kinds(self, host: Host) -> tuple[str, ...]:
        """Return the type of each lost thing, `PART` for one that is no item.

        Main thread, once the items are back.

        Args:
            host: The host of the scene.
        """
        kinds = list[str]()
        for kind in host.kinds(self.items):
            if kind == "gone":  # the host has no item of that name
                kinds.append(PART)
            else:
                kinds.append(kind)
        return tuple(kinds)

    def _sorted(self, host: Host) -> tuple[list[str], list[str]]:
        """Return the items, and the parts of items."""
        items = list[str]()
        parts = list[str]()
        for thing, kind in zip(self.items, self.kinds(host), strict=True):
            if kind == PART:
                parts.append(thing)
            else:
                items.append(thing)
        return items, parts


class UnauthorizedLoss(NoConsent):
    """A skill lost things that nobody had agreed to lose; the edits are undone.

    Attributes:
        loss: The loss.
    """

    def __init__(self, skill: str, loss: Loss) -> None:
        """Make the message with the names of the lost things.

        Args:
            skill: The name of the skill.
            loss: The loss.
        """
        super().__init__(skill, f"deleted {named(loss.items)}")
        self.loss = loss


def counted(host: Host, items: Sequence[str]) -> str:
    """Return how many items of each kind there are: "3 cameras", "3 cameras and 2 lights".

    Items of many kinds are counted together: "12 prims". Main thread.

    Args:
        host: The host of the scene.
        items: The items, at least one.
    """
    return _joined(_counts(host, items))


def named(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    shown = [safe_line(name, len(name)) for name in names[:MAX_NAMED]]
    text = ", ".join(shown)
    more = len(names) - MAX_NAMED
    if more > 0:
        text += f" and {more} more"
    return text


def _counts(host: Host, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    together = [plural(len(items), host.item_noun)]
    if len(items) > _MAX_COMPARED:
        return together
    nouns = Counter(host.nouns(items))
    if len(nouns) > _MAX_NOUNS:
        return together
    return [plural(count, noun) for noun, count in nouns.most_common()]


def _joined(words: Sequence[str]) -> str:
    *first, last = words
    if not first:
        return last
    return f"{', '.join(first)} and {last}"
