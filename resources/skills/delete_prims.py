"""Delete prims, after asking for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pxr import Sdf

from dcc_bridge import confirm_sync, skill
from dcc_bridge.errors import NotConfirmed
from dcc_bridge_usd import session
from dcc_bridge_usd.prims import remove


@skill(risk="destructive", confirms=True, undo="Delete prims")
def delete_prims(pattern: str, type_name: str = "*", under: str = "/") -> dict[str, Any]:
    """Delete the prims that match, with all that is below them. The person is asked before.

    They see the list, and are asked again if the scene changes meanwhile. If they say no, nothing
    is deleted; do not try to reach the same another way.

    Args:
        pattern: Glob on the prim's name, such as "sh00*". With a slash in it, the whole path is
            matched: "*/sq010/*".
        type_name: Only prims of exactly this USD type; "*" for any type.
        under: Only prims below this path, such as "/World/Cameras".

    Returns:
        How many were deleted, or why none. Of those, "only_deactivated" come from a referenced
        file.
    """
    try:
        agreed = confirm_sync(
            lambda items: f"Delete {_count(type_name, items)}?{_which(items)}{_below(items)}",
            items=lambda: session().find(pattern, type_name, under),
            verb=lambda items: f"Delete {_count(type_name, items)}",
            title="Delete prims",
        )
    except NotConfirmed as no:
        reason = f" The reason given: {no.said!r}." if no.said else ""
        return {"deleted": 0, "why": f"{no.how.capitalize()}.{reason}"}
    if not agreed:
        what = f"{_words(type_name, 2)} matching {pattern!r} under {under}"
        return {"deleted": 0, "why": f"There are no {what}."}
    hidden = remove(session().stage, agreed)
    return {"deleted": len(agreed), "only_deactivated": [str(path) for path in hidden]}


def _count(type_name: str, items: Sequence[str]) -> str:
    return f"{len(items)} {_words(type_name, len(items))}"


def _which(items: Sequence[str]) -> str:
    """Say where all of them are."""
    if len(items) < 2:
        return f" It is {items[0]}." if items else ""
    first, last = (Sdf.Path(item).GetParentPath() for item in (min(items), max(items)))
    return f"\nAll of them are under {first.GetCommonPrefix(last)}."


def _below(items: Sequence[str]) -> str:
    """Count what goes with them without having matched."""
    count = len(session().below(items))
    return f" {count} more {_words('*', count)} below them will go too." if count else ""


def _words(type_name: str, count: int) -> str:
    """Say "SphereLight" as "sphere light", and in the plural."""
    noun = "prim" if type_name == "*" else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type_name).lower()
    if count == 1:
        return noun
    return noun + ("es" if noun.endswith(("s", "x", "sh", "ch")) else "s")
