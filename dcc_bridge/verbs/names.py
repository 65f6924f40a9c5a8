"""Names near a name that does not exist, for the errors of all verbs. Any thread."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

MAX_COMPARED: Final = 5000  # names among which a near one is looked for
MAX_NAMED: Final = 10  # names that a sentence has where none is near
LIKE: Final = " Names here are like "  # begins the examples in an error
_LOST_LINK: Final = re.compile(r"[;,.]?\s*\(?\bsee\s*\.?\)?\.?$", re.IGNORECASE)  # "see ."
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def near(name: str, names: Iterable[str], most: int = 5) -> list[str]:
    """Return the names most like a name, but never that name itself.

    Those are names in another case or with a slip, names that have it as a part or are a part of
    it, and names that share a word with it, slips included.

    Args:
        name: The name that was asked for.
        names: The names there are; of very many, the first are looked at.
        most: How many names are returned at most.
    """
    low = name.lower()
    known = [other for other in dict.fromkeys(islice(names, MAX_COMPARED)) if other != name]
    folded: dict[str, str] = {}
    words: dict[str, set[str]] = {}
    all_words: set[str] = set()
    for other in known:
        folded.setdefault(other.lower(), other)
        words[other] = {word.lower() for word in WORD.findall(other)}
        all_words |= words[other]
    slips = set(get_close_matches(low, all_words))
    parts = []
    for other in known:
        other_low = other.lower()
        is_part = low in other_low or (len(other) > 2 and other_low in low)
        if is_part or words[other] & slips:
            parts.append(other)
    alike = [folded[close] for close in get_close_matches(low, folded, most)]
    ordered = dict.fromkeys([*alike, *sorted(parts, key=len)])
    return list(ordered)[:most]


def no_such(what: str, name: str, names: Iterable[str], examples: Iterable[str] = ()) -> str:
    """Return a sentence for a name that does not exist, with the names near it. Any thread.

    It raises nothing.

    Args:
        what: The kind of thing: "type".
        name: The name that was asked for: "Lite".
        names: The names that exist; of very many, the first ones are looked at.
        examples: Names of all kinds of items, as `HostOperations.named_like` tells them.

    Returns:
        Such as "There is no type 'Lite'; names like it: Light."; the first names where none is
        near, and after these the examples.
    """
    known = [other for other in islice(names, MAX_COMPARED) if other != name]
    close = near(name, known)
    if close:
        return f"There is no {what} {name!r}; names like it: {', '.join(close)}."
    if known:
        more = ", ..." if len(known) > MAX_NAMED else ""
        instead = f"there is: {', '.join(known[:MAX_NAMED])}{more}"
    else:
        instead = "there is none at all"
    return f"There is no {what} {name!r}; {instead}.{like(examples)}"


def like(examples: Iterable[str]) -> str:
    """Return the sentence that ends an error about a name. Any thread. It raises nothing.

    Args:
        examples: Names as they look here.

    Returns:
        The sentence; "" without examples.
    """
    named = ", ".join(examples)
    if not named:
        return ""
    return f"{LIKE}{named}."


def shortened(text: str, most: int) -> str:
    """Return a text that is cut at a word's end if it is long. Any thread. Raises nothing.

    Args:
        text: The text; references to other documentation in it are left out.
        most: How many characters it may have.

    Returns:
        The text, or its beginning with "..." after it.
    """
    text = _LOST_LINK.sub("", text).strip()
    if len(text) <= most:
        return text
    start = text[: most - 3].rsplit(" ", 1)[0]
    return f"{start.rstrip(' ,;:')} ..."
