"""The loss of an edit, in words, and the error of an edit that lost what nobody had agreed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.text import plural, safe_line
from dcc_bridge.errors import NoConsent
from dcc_bridge.host import Host

MAX_NAMED: Final = 5  # things that a sentence names
PART: Final = "part"  # the type of what is a part of an item
_MAX_COMPARED: Final = 500  # items whose types are compared, to name more than "prims"
_MAX_NOUNS: Final = 2  # types that a sentence counts


@dataclass(frozen=True, slots=True)
class Loss:
    """The things that one edit took away from the scene.

    Attributes:
        items: What is gone, as `SceneGuard.lost` names it: items, and parts in a person's words.
        breaks: What stopped working by that, as `Trial.broken` names it.
    """

    items: tuple[str, ...]
    breaks: tuple[str, ...] = ()

    def described(self, host: Host) -> str:
        """Return what is lost, for a sentence: "3 cameras, 2 lights and modifier Bevel of Cube".

        What is alone of its sort is named. Main thread, once the items are back.

        Args:
            host: Whose scene it is.
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
        """Return how much is lost, for a button: "3 cameras, 2 lights and 1 part".

        Main thread, once the items are back.

        Args:
            host: Whose scene it is.
        """
        items, parts = self._sorted(host)
        words = _counts(host, items)
        if parts:
            words.append(plural(len(parts), PART))
        return _joined(words)

    def verb(self, host: Host) -> str:
        """Return the word for losing it: "Delete", or "Remove" for what is part of other items.

        Main thread, once the items are back.

        Args:
            host: Whose scene it is.
        """
        items, _ = self._sorted(host)
        if items:
            return "Delete"
        return "Remove"

    def kinds(self, host: Host) -> tuple[str, ...]:
        """Return the type of each thing that is lost, `PART` for what is no item.

        Main thread, once the items are back.

        Args:
            host: Whose scene it is.
        """
        return tuple(kind if kind != "gone" else PART for kind in host.kinds(self.items))

    def _sorted(self, host: Host) -> tuple[list[str], list[str]]:
        pairs = list(zip(self.items, self.kinds(host), strict=True))
        items = [item for item, kind in pairs if kind != PART]
        parts = [item for item, kind in pairs if kind == PART]
        return items, parts


class UnauthorizedLoss(NoConsent):
    """A skill lost what nobody had agreed to lose; what it did is undone.

    Attributes:
        loss: What it lost.
    """

    def __init__(self, skill: str, loss: Loss) -> None:
        """Name what was lost.

        Args:
            skill: The name of the skill.
            loss: What it lost.
        """
        super().__init__(skill, f"deleted {named(loss.items)}")
        self.loss = loss


def counted(host: Host, items: Sequence[str]) -> str:
    """Return how many items there are of which kind: "3 cameras", "3 cameras and 2 lights".

    Items of many kinds are counted together: "12 prims". Main thread.

    Args:
        host: Whose scene it is.
        items: Some, at least one.
    """
    return _joined(_counts(host, items))


def named(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    shown = [safe_line(name, len(name)) for name in names[:MAX_NAMED]]
    more = len(names) - MAX_NAMED
    ended = f" and {more} more" if more > 0 else ""
    return ", ".join(shown) + ended


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
