"""Names that are like one that is not there, for the errors of all verbs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

MAX_COMPARED: Final = 5000  # names among which a near one is looked for
MAX_NAMED: Final = 10  # names that a sentence has where none is near
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def near(name: str, names: Iterable[str], most: int = 5) -> list[str]:
    """Give the names most like one: in another case, as a part, with a slip in it or a word."""
    low, known = name.lower(), list(dict.fromkeys(islice(names, MAX_COMPARED)))
    folded = {it.lower(): it for it in reversed(known)}
    alike = [folded[it] for it in get_close_matches(low, folded, most)]
    words = {it: {word.lower() for word in WORD.findall(it)} for it in known}
    slips = set(get_close_matches(low, set[str]().union(*words.values())))
    parts = [it for it in known if low in it.lower() or (len(it) > 2 and it.lower() in low)
             or words[it] & slips]  # fmt: skip
    return list(dict.fromkeys([*alike, *sorted(parts, key=len)]))[:most]


def no_such(what: str, name: str, names: Iterable[str]) -> str:
    """Return a sentence for something that is not there, with what is near. Any thread.

    It raises nothing.

    Args:
        what: What it is: "type".
        name: What was asked for: "Lite".
        names: Those that there are; of very many, the first ones are looked at.

    Returns:
        Such as "There is no type 'Lite'; near: Light."; it names the first ones where none is near.
    """
    known = list(islice(names, MAX_COMPARED))
    close = near(name, known)
    if close:
        instead = f"near: {', '.join(close)}"
    elif known:
        more = ", ..." if len(known) > MAX_NAMED else ""
        instead = f"there is: {', '.join(known[:MAX_NAMED])}{more}"
    else:
        instead = "there is none at all"
    return f"There is no {what} {name!r}; {instead}."
