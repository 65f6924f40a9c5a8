"""The texts about an edit that a person agrees to: its items, and whether undo helps. Any thread.

Each text is safe to show as plain text. The surface's `tr` may translate it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from dcc_bridge.elicitation.question import Consent
from dcc_bridge.elicitation.text import Translate, english, plural, safe_line
from dcc_bridge.host import in_words

_MAX_KINDS: Final = 4  # that are named; the others are counted together


def item_counts(consent: Consent, tr: Translate = english) -> str:
    """Return how many items of each kind there are, such as "10 meshes · 2 cameras".

    Any thread. It raises nothing.

    Args:
        consent: The edit that the person is asked to agree to.
        tr: Translates the texts of the bridge.

    Returns:
        The text; without kinds the number of all items: "12 items".
    """
    return kind_counts(consent.kinds, len(consent.items), tr)


def kind_counts(kinds: Sequence[str], n: int, tr: Translate = english) -> str:
    """Return how many of some items are of which kind. Any thread. It raises nothing.

    Args:
        kinds: The type of each item, as the host calls it; empty where the types are not known.
        n: The number of the items.
        tr: Translates the texts of the bridge.
    """
    counts = Counter(kinds).most_common()
    if not any(kinds):
        if n == 1:
            return tr("1 item")
        return tr("{n:,} items", n=n)
    parts = [_counted(kind, count, tr) for kind, count in counts[:_MAX_KINDS]]
    others = sum(count for _, count in counts[_MAX_KINDS:])
    if others:
        parts.append(tr("{n:,} of other types", n=others))
    return " · ".join(parts)


def _counted(kind: str, n: int, tr: Translate) -> str:
    """Return how many items there are of a kind: "2 cameras"."""
    if kind == "":
        return tr("{n:,} untyped", n=n)
    if kind == "gone":  # a host says so of an item that is no longer in the scene
        return tr("{n:,} no longer there", n=n)
    noun = _noun_of(kind)
    if n == 1 or not noun.replace(" ", "").isalpha():
        return f"{n:,} {noun}"
    return plural(n, noun).replace(str(n), f"{n:,}", 1)


def _noun_of(kind: str) -> str:
    """Return a host's type as people write it: "sketch" for "Sketcher::SketchObject"."""
    module, _, name = kind.rpartition("::")
    # In Houdini "labs::tree::2.0" is one name.
    if module.isalpha() and name.isalnum():
        kind = re.sub("(Document)?Object", "", name) or name
    return safe_line(in_words(kind))


def _undo_promise(consent: Consent, tr: Translate) -> str:
    """Return what one undo does, or "" for an edit of unknown items."""
    if consent.items and consent.breaks_nothing:
        return tr("One undo brings all of it back. No other item refers to them.")
    if consent.items:
        return tr("One undo brings all of it back.")
    if consent.arguments:
        return tr("One undo takes all of it back.")
    return ""


def undo_line(consent: Consent, tr: Translate = english) -> str:
    """Return a sentence about whether an edit can be undone, and of what a copy is kept.

    The sentence is "" for an edit of unknown items that can be undone. It raises nothing.
    """
    if consent.overwrites_nothing:
        return tr("Nothing is overwritten. Undo does not remove a new file.")
    if consent.undoable:
        return _undo_promise(consent, tr)
    folders = ", ".join(safe_line(folder.name) for folder in consent.uncopied)
    if consent.kept is None and not folders:
        return tr("This can NOT be undone.")
    if consent.kept is None:
        return tr("This can NOT be undone. NO copy is kept of {folders}", folders=folders)
    place = safe_line(consent.kept)
    if consent.files is None:
        return tr(
            "This can NOT be undone. A copy of the scene is kept first, in {place}", place=place
        )
    if not folders:
        return tr("This can NOT be undone. A copy is kept first, in {place}", place=place)
    return tr(
        "This can NOT be undone. NO copy is kept of {folders}. "
        "A copy of the rest is kept first, in {place}",
        folders=folders,
        place=place,
    )
