"""The accounts of several steps of one call, joined to what is different after all of them.

What was created and deleted again is told by neither, and of a value the first before and the last
now. Items are known by the names that they had before the call. Any thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dcc_bridge.consent.account import NameChange, ValueChange, item_of
from dcc_bridge.host import Account

_END_OF_NAME: Final = re.compile(r"[/|]|, ")  # before a part, or a child in a path
_COUNT: Final = re.compile(r" \(and \d+ below\)$")


def joined(accounts: Sequence[Account]) -> Account:
    """Return the account of all steps.

    Args:
        accounts: Those of the steps, the oldest first.
    """
    if len(accounts) == 1:
        return accounts[0]
    every = _Joined()
    for account in accounts:
        every.add(account)
    return every.account()


class _Joined:
    """The differences after the steps until now."""

    def __init__(self) -> None:
        self._created: dict[str, str] = {}  # texts, by names now
        self._deleted: dict[str, str] = {}  # texts, by names before
        self._changed: dict[Any, str] = {}  # by what they are about; in their order
        self._broken: dict[str, None] = {}
        self._names_before: dict[str, str] = {}  # of renamed items, by names now

    def add(self, account: Account) -> None:
        """Add the next step."""
        self._delete({_COUNT.sub("", text): text for text in account.deleted})
        made = self._created
        self._rename([entry for entry in account.changed if isinstance(entry, NameChange)])
        made = made | self._created  # a value may be told by either name
        for entry in account.changed:
            if not isinstance(entry, NameChange) and not _is_of(item_of(entry), made):
                self._change(entry)
        for text in account.created:
            name = _COUNT.sub("", text)
            self._created[name] = text
            self._names_before.pop(name, None)
        self._broken.update(dict.fromkeys(account.broken))

    def account(self) -> Account:
        """Return the account of all steps."""
        changed = list(self._changed.values())
        return Account(
            list(self._created.values()), changed, list(self._deleted.values()), list(self._broken)
        )

    def _delete(self, texts: Mapping[str, str]) -> None:
        """Note what is gone, by the names that it had just before."""
        if not texts:
            return
        gone = {}
        for name, text in texts.items():
            if not _is_of(name, self._created):
                before = _replaced(name, self._names_before)
                gone[before] = before + text[len(name) :]
        self._created = {new: told for new, told in self._created.items() if not _is_of(new, texts)}
        changed = self._changed.items()
        self._changed = {key: told for key, told in changed if not _is_of(item_of(told), gone)}
        self._deleted |= gone

    def _rename(self, changes: Sequence[NameChange]) -> None:
        """Note new names, all of them at once: two items may have swapped theirs."""
        if not changes:
            return
        names = {change.before: change.now for change in changes}
        made = {}
        for name, text in self._created.items():
            new = _replaced(name, names)
            made[new] = new + text[len(name) :]
        moved = {}
        for change in changes:
            if _is_of(change.before, self._created):
                continue
            before = _replaced(change.before, self._names_before)
            moved[change.now] = before
            self._changed.pop((before,), None)
            if before != change.now:
                self._changed[before,] = NameChange(before, change.now)
        self._created = made
        self._names_before |= moved

    def _change(self, entry: str) -> None:
        if not isinstance(entry, ValueChange):
            self._changed[entry] = entry
            return
        item = _replaced(entry.item, self._names_before)
        key = (item, entry.prop)
        earlier = self._changed.get(key)
        if not isinstance(earlier, ValueChange):
            self._changed[key] = ValueChange(item, entry.prop, entry.before, entry.now)
        elif earlier.before == entry.now:
            del self._changed[key]
        else:
            self._changed[key] = ValueChange(item, entry.prop, earlier.before, entry.now)


def _owners(name: str) -> Iterator[str]:
    """Yield a name, and those of what it is a part of, or is below."""
    yield name
    for end in reversed([found.start() for found in _END_OF_NAME.finditer(name)]):
        yield name[:end]


def _is_of(name: str, items: Mapping[str, Any]) -> bool:
    return any(owner in items for owner in _owners(name))


def _replaced(name: str, names: Mapping[str, str]) -> str:
    """Return a name with another one in place of its own, or of what it is a part of."""
    for owner in _owners(name):
        if owner in names:
            return names[owner] + name[len(owner) :]
    return name
