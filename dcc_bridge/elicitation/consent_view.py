"""The texts about an edit that a person agrees to: its items, and whether undo helps. Any thread.

Each text is safe to show as plain text. The surface's `tr` may translate it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from dcc_bridge.elicitation.question import Consent
from dcc_bridge.elicitation.text import Translate, english, safe_line

_MAX_KINDS: Final = 4  # that are named; the others are counted together


def item_counts(consent: Consent, tr: Translate = english) -> str:
    """Return how many items of each kind there are, such as "Camera (2) · mesh (10)".

    Any thread. It raises nothing.

    Args:
        consent: The edit that the person is asked to agree to.
        tr: Translates the texts of the bridge.

    Returns:
        The text; without kinds the number of all items: "12 items".
    """
    kinds = Counter(consent.kinds).most_common()
    if not kinds:
        n = len(consent.items)
        if n == 1:
            return tr("1 item")
        return tr("{n:,} items", n=n)
    # A host says "gone" of an item that is no longer in the scene.
    own_names = {"": tr("untyped"), "gone": tr("no longer there")}
    parts = []
    for kind, count in kinds[:_MAX_KINDS]:
        name = own_names.get(kind) or _kind_in_words(kind)
        parts.append(f"{name} ({count:,})")
    others = sum(count for _, count in kinds[_MAX_KINDS:])
    if others:
        parts.append(tr("other types ({n:,})", n=others))
    return " · ".join(parts)


def _kind_in_words(kind: str) -> str:
    """Return a host's type as people write it: "Sketch" for "Sketcher::SketchObject"."""
    module, _, name = kind.rpartition("::")
    # In Houdini "labs::tree::2.0" is one name.
    if module.isalpha() and name.isalnum():
        name = re.sub("(Document)?Object", "", name) or name
    else:
        name = kind
    words = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)
    if " " in words or words.isupper():
        words = words.replace("_", " ").capitalize()
    return safe_line(words)


def undo_line(consent: Consent, tr: Translate = english) -> str:
    """Return a sentence about whether an edit can be undone, and of what a copy is kept.

    The sentence is "" for an edit of unknown items that can be undone. It raises nothing.
    """
    if consent.overwrites_nothing:
        return tr("Nothing is overwritten. Undo does not remove a new file.")
    if consent.undoable:
        if consent.items or consent.arguments:
            return tr("Can be undone as one step.")
        return ""
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
