"""The account of an edit: what is different in the scene now, in 400 bytes for the agent.

A host's `Trial.account` tells it item by item, as it compared the scene. Any thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.text import plural
from dcc_bridge.host import Account

_KINDS: Final = ("deleted", "created", "changed", "broken")
_MAX_BYTES: Final = 400
_MAX_LISTED: Final = 20  # names of one kind; of more, the number and the first ones are told
_FIRST: Final = 3
_MAX_VALUE: Final = 40  # characters of a value
_MAX_WHOLE: Final = 1e6  # up to which a whole number is told without a point


class NameChange(str):
    """An entry of `Account.changed` for an item that has another name or place now.

    Attributes:
        before: The item before.
        now: The item now.
    """

    before: str
    now: str

    def __new__(cls, before: str, now: str) -> Self:
        """Make the text "before is now"."""
        change = super().__new__(cls, f"{before} is {now}")
        change.before = before
        change.now = now
        return change


class ValueChange(str):
    """An entry of `Account.changed` for a value that moved.

    Attributes:
        item: The item.
        prop: The property.
        before: The value before.
        now: The value now.
    """

    item: str
    prop: str
    before: Any
    now: Any

    def __new__(cls, item: str, prop: str, before: Any, now: Any) -> Self:
        """Make the text, as `value_change` returns it."""
        change = super().__new__(cls, _value_text(item, prop, before, now))
        change.item = item
        change.prop = prop
        change.before = before
        change.now = now
        return change


class FollowChange(str):
    """An entry of `Account.changed` for an item that only moved with one above it.

    Attributes:
        item: The item.
    """

    item: str

    def __new__(cls, item: str, above: str) -> Self:
        """Make the text, as `follow_change` returns it."""
        change = super().__new__(cls, f"{item}, with {above}")
        change.item = item
        return change


def name_change(before: str, now: str) -> str:
    """Return an entry of `Account.changed` for an item with another name or place.

    Any thread. It raises nothing.

    Args:
        before: The item before.
        now: The item now.

    Returns:
        Such as "Cube is Box".
    """
    return NameChange(before, now)


def value_change(item: str, prop: str, before: Any, now: Any) -> str:
    """Return an entry of `Account.changed` for a value that moved.

    Any thread. It raises nothing.

    Args:
        item: The item.
        prop: The property.
        before: The value before, as JSON carries it; None for one that was not there.
        now: The value now; None for one that is not there any more.

    Returns:
        Such as "Cube, location: [0, 0, 0] -> [1, 0, 0]"; of two objects, what differs in them.
    """
    return ValueChange(item, prop, before, now)


def follow_change(item: str, above: str) -> str:
    """Return an entry of `Account.changed` for an item that only moved with one above it.

    Any thread. It raises nothing.

    Args:
        item: The item.
        above: The item above it that was moved.

    Returns:
        Such as "Wheel, with Car".
    """
    return FollowChange(item, above)


def told(account: Account) -> str:
    """Return an account as one text; "" where nothing is different."""
    entries: dict[str, list[str]] = {}
    for kind in _KINDS:
        every = list(dict.fromkeys(getattr(account, kind)))
        if every:
            entries[kind] = every
    if not entries:
        return ""
    room = _MAX_BYTES // len(entries)
    return ". ".join(_listed(kind, names, room) for kind, names in entries.items())


def _value_text(item: str, prop: str, before: Any, now: Any) -> str:
    """Return a change of a value as text; of objects that differ in one part, that part's."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        if len(keys) == 1:
            return _value_text(item, f"{prop}.{keys[0]}", before.get(keys[0]), now.get(keys[0]))
    return f"{item}, {prop}: {_short(before)} -> {_short(now)}"


def _listed(kind: str, names: Sequence[str], room: int) -> str:
    """Return the entries of one kind, as far as there is room for them, and how many there are."""
    if len(names) > _MAX_LISTED:
        text = f"{kind}: {_counted(names)}, such as "
        return text + "; ".join(_fitting(names[:_FIRST], room - len(text)))
    text = f"{kind}: "
    fitting = list(_fitting(names, room - len(text)))
    more = len(names) - len(fitting)
    if more:
        fitting.append(f"and {more} more")
    return text + "; ".join(fitting)


def _counted(entries: Sequence[str]) -> str:
    """Return how many entries there are, and why that is not the number of edited items."""
    text = str(len(entries))
    items = {item_of(entry) for entry in entries}
    if len(items) != len(entries):
        text = f"{len(entries)} values and names of {plural(len(items), 'item')}"
    followers = sum(isinstance(entry, FollowChange) for entry in entries)
    if followers:
        text += f", {followers} of them only with what is above them"
    return text


def item_of(entry: str) -> str:
    """Return the item that an entry of `Account.changed` is about, as it was called before."""
    if isinstance(entry, NameChange):
        return entry.before
    if isinstance(entry, ValueChange | FollowChange):
        return entry.item
    return entry.partition(", ")[0]


def _fitting(names: Sequence[str], room: int) -> Iterator[str]:
    """Yield the first names, at least one, that fit into some bytes; a longer one is cut."""
    for number, name in enumerate(names):
        size = len(name.encode()) + 2
        if size > room:
            if not number:
                yield name.encode()[: max(0, room - 3)].decode(errors="ignore") + "..."
            return
        room -= size
        yield name


def _short(value: Any) -> str:
    """Return a value as JSON, with six digits, and cut where it is long; "none" for None.

    Secrets are taken out before the cut, after which nobody would recognise them.
    """
    if value is None:
        return "none"
    text = secret.redact(json.dumps(_rounded(value), ensure_ascii=False, default=str))
    if len(text) <= _MAX_VALUE:
        return text
    return f"{text[: _MAX_VALUE - 3]}..."


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        number = float(f"{value:.6g}")
        if number.is_integer() and abs(number) < _MAX_WHOLE:
            return int(number)
        return number
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
