"""Finds what there is in place of a name that agreed code used in vain. Main thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from types import ModuleType
from typing import Any, Final

from dcc_bridge.verbs.answers import Json

_MAX_OWNERS: Final = 24
_MODULE: Final = ModuleType.__name__  # the type of an owner that has no type in an API
_NO_ATTRIBUTE: Final = re.compile(r"'(?:\w+\.)*(\w+)' object has no attribute ")
_NEAR: Final = 0.7  # how alike a member is that may be meant
_MAX_LOOKED_AT: Final = 8  # cards among which there may be one for a member of an object
_MAX_SIMILAR: Final = 3  # cards of other types
FindApi = Callable[[str, int], Json]


def owner_names(error: AttributeError) -> list[str]:
    """Return the names by which an API may list the object that lacks a name, the nearest first.

    Args:
        error: What was raised. Where a value was set, it tells the type in its text alone.

    Returns:
        Such as "Part::Box", "App::DocumentObject", "Stage"; of a module its own name. In FreeCAD,
        objects of many types share one class, and tell a `TypeId`.
    """
    if not error.name:
        return _NO_ATTRIBUTE.findall(str(error))
    thing = error.obj
    names = []
    if isinstance(thing, ModuleType):
        names.append(thing.__name__.rpartition(".")[2])
    type_id = getattr(thing, "TypeId", None)
    if isinstance(type_id, str):
        names.append(type_id)
    for kind in type(thing).__mro__[:-1]:
        names += [kind.__name__, f"{kind.__module__}::{kind.__name__}"]
    return names[:_MAX_OWNERS]


def advice(
    name: str, near: Sequence[str], owners: Sequence[str], find_api: FindApi | None
) -> Iterator[str]:
    """Yield sentences about what there is in place of a name.

    Args:
        name: The name that is not there, or "".
        near: Names of the object that are like it.
        owners: The object, as `owner_names` tells.
        find_api: Finds cards of the API; None where the host has none.
    """
    if find_api is None or not re.search("[A-Za-z]", name):
        members: dict[str, str] = {}
        find_api = None
    else:
        members = _members(near or [name], owners, find_api)
    has = near or list(members)
    if has:
        yield f"It has: {', '.join(has)}."
    known = list(members.values())
    # Names of other types than that of the object lead astray.
    if find_api is not None and not known and (not has or _MODULE in owners):
        known = _similar(name, find_api)
    if known:
        yield f"find_api knows: {'; '.join(known)}."


def _members(names: Sequence[str], owners: Sequence[str], find_api: FindApi) -> dict[str, str]:
    """Return what the API knows of members of an object that are like some names, by the member."""
    members: dict[str, str] = {}
    if not owners:
        return members
    for name in names:
        for card in find_api(f"{owners[0]} {name}", _MAX_LOOKED_AT)["cards"]:
            owner, _, member = card["name"].removesuffix("()").rpartition(".")
            is_own = owner in owners or owner.rpartition(".")[2] in owners
            if is_own and get_close_matches(name, [member], cutoff=_NEAR):
                members.setdefault(member, _line(card))
    return members


def _similar(name: str, find_api: FindApi) -> list[str]:
    """Return names of the API that are like a name, with their signatures."""
    answer = find_api(name, _MAX_SIMILAR)
    lines = list(dict.fromkeys(map(_line, answer["cards"])))
    return lines or list(answer.get("near", ()))


def _line(card: Json) -> str:
    words: list[Any] = [card["name"], card.get("signature", "")]
    return " ".join(word for word in words if word)
