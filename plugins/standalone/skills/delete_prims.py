"""Delete prims, after asking for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pxr import Sdf, Usd

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.edits import remove
from dcc_bridge.hosts.standalone.prims import find

_REASONS = {
    "declined": "The person said no.",
    "timed_out": "Nobody answered in time.",
    "elicitation_not_supported": "There was nobody to ask.",
    "fallback_values_used": "There was nobody to ask, and without a person nothing is deleted.",
}


@skill(risk="destructive", confirms=True, undo="Delete prims")
def delete_prims(pattern: str = "*", type_name: str = "Camera", under: str = "/") -> dict[str, Any]:
    """Delete the prims that match, with all that is below them. The person is asked before.

    What came to match while they were asked, or changed meanwhile, is left alone. If they say no,
    nothing is deleted; do not try to reach the same another way.

    Args:
        pattern: Glob on the prim's name, such as "sh00*". With a slash in it, the whole path is
            matched: "*/sq010/*".
        type_name: Only prims of exactly this USD type; "*" for any type.
        under: Only prims below this path, such as "/World/Cameras".

    Returns:
        How many were deleted, or why none. Of those, "only_deactivated" come from a referenced
        file. "left_alone" were agreed to, but changed while the person was asked.
    """
    found = find(session().stage, pattern, type_name, under)
    if not found:
        what = f"{_words(type_name, 2)} matching {pattern!r} under {under}"
        return {"deleted": 0, "why": f"There are no {what}."}
    agreed = _fingerprints(str(prim.GetPath()) for prim in found)
    answer = _ask(found, type_name)
    if not answer.accepted or (answer.data or {}).get("confirm") is not True:
        return {"deleted": 0, "why": _why_not(answer)}
    paths = [path for path, is_now in _fingerprints(agreed).items() if is_now == agreed[path]]
    hidden = [str(path) for path in remove(session().stage, map(Sdf.Path, paths))]
    return {
        "deleted": len(paths),
        "only_deactivated": hidden,
        "left_alone": sorted(agreed.keys() - set(paths)),
    }


def _fingerprints(paths: Iterable[str]) -> dict[str, str]:
    """Note what each is, so that one that was changed or replaced is not taken for it."""
    return {path: session().fingerprint([path]) for path in paths}


def _ask(prims: list[Usd.Prim], type_name: str) -> ElicitationResponse:
    verb = f"Delete {len(prims)} {_words(type_name, len(prims))}"
    confirm = {
        "type": "boolean",
        "title": verb,
        "description": "One undo brings everything back.",
    }
    schema = {"type": "object", "properties": {"confirm": confirm}, "required": ["confirm"]}
    return elicit_form_sync(
        f"{verb}? {_which(prims)}{_below(prims)}",
        schema,
        title="Delete prims",
        fallback_values={"confirm": False},
    )


def _which(prims: list[Usd.Prim]) -> str:
    """Name the first few, and where all of them are."""
    paths = [prim.GetPath() for prim in prims]
    if len(paths) == 1:
        return f"It is {paths[0]}."
    where = paths[0].GetParentPath()
    for path in paths:
        where = where.GetCommonPrefix(path.GetParentPath())
    names = [str(path.MakeRelativePath(where)) for path in paths[:3]]
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"{', '.join(names)}{more}, all under {where}."


def _below(prims: list[Usd.Prim]) -> str:
    """Count what goes with them without having matched."""
    matched = {prim.GetPath() for prim in prims}
    every = {below.GetPath() for prim in prims for below in Usd.PrimRange.AllPrims(prim)}
    count = len(every - matched)
    return f" {count} more {_words('*', count)} below them will go too." if count else ""


def _words(type_name: str, count: int) -> str:
    """Say "SphereLight" as "sphere light", and in the plural."""
    noun = "prim" if type_name == "*" else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type_name).lower()
    if count == 1:
        return noun
    return noun + ("es" if noun.endswith(("s", "x", "sh", "ch")) else "s")


def _why_not(answer: ElicitationResponse) -> str:
    if answer.accepted and answer.message is None:
        return "The person left the confirmation unticked."
    return _REASONS.get(answer.message or "", "The question was closed without an answer.")
