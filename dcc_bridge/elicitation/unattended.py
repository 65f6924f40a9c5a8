"""The answer where nobody can be asked, and the studio's list of skills that go on. Any thread.

A skill's name on each line, and after it, if need be, the SHA-256 of its file; ``#`` begins a
remark. ``sha256sum FILE`` tells that digest; with it only the very file that somebody looked at
goes on unasked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.types import ElicitationResponse

if TYPE_CHECKING:
    from dcc_bridge.elicitation.question import Question

_LINE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_./-]{1,64})(\s+(sha256:)?(?P<digest>[0-9a-f]{8,64}))?"
)


def answer(
    question: Question,
    rule: Literal["refuse", "deny", "allow"] = "refuse",
    allow_list: AllowList | None = None,
) -> ElicitationResponse:
    """Answer with the declared fallback, or decline, as the setting ``unattended`` says.

    The rule "allow" holds for the skills of a list alone, if there is one. The fallback was
    validated when it was asked.
    """
    if rule == "deny":
        return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "nobody")
    allow = rule == "allow" and (allow_list is None or _covers(allow_list, question))
    confirmation = question.confirmation
    if question.fallback is None and allow and confirmation is not None:
        return ElicitationResponse(
            True, {confirmation.name: True}, types.FALLBACK_USED, "accept", "policy"
        )
    if question.fallback is None:
        return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "nobody")
    by: types.AnsweredBy = "policy" if allow and question.consent else "fallback"
    return ElicitationResponse(True, dict(question.fallback), types.FALLBACK_USED, "accept", by)


def _covers(allow_list: AllowList, question: Question) -> bool:
    """Return whether the list has the called skill, and the destructive one in it that asks."""
    call = question.call
    losing = (question.consent.skill if question.consent else "") or call.skill
    inner = losing == call.skill or allow_list.covers(losing, "")
    return inner and allow_list.covers(call.skill, call.digest)


@dataclass(frozen=True, slots=True)
class AllowList:
    """The skills that go on where nobody can be asked."""

    file: Path  # where the list is
    digests: Mapping[str, str]  # by a skill's name what its file's digest begins with, "" for any

    def covers(self, skill: str, digest: str) -> bool:
        """Return whether a skill is on it, with the file that it has."""
        listed = self.digests.get(skill)
        return listed is not None and digest.startswith(listed)


def read_allow_list(file: Path) -> AllowList:
    """Read an allow list; ValueError names the line that cannot be read."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read: {error}.") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        entry = line.partition("#")[0].strip()
        match = _LINE.fullmatch(entry)
        if entry and match is None:
            raise ValueError(f"{file}, line {number}: a skill's name, then a digest if you like.")
        if match:
            digests[match["name"]] = match["digest"] or ""
    return AllowList(file, digests)
