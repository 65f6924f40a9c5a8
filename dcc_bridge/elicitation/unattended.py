"""The answer where nobody can be asked, and the list of skills that go on then. Any thread.

Each line of the list has a name, and after it, if need be, the SHA-256 of the skill's file
(`sha256sum FILE`), so that only that very file goes on. The code of an agent is listed as
``sha256:DIGEST`` of its text. A # begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse

_LINE: Final = re.compile(
    r"(?P<name>sha256:[0-9a-f]{64}|[A-Za-z0-9_./-]{1,64})"
    r"(\s+(sha256:)?(?P<digest>[0-9a-f]{8,64}))?"
)


def unattended_answer(
    question: Question,
    rule: Literal["refuse", "deny", "allow"] = "refuse",
    allow_list: AllowList | None = None,
) -> ElicitationResponse:
    """Answer with the declared fallback, or decline, as the setting ``unattended`` says.

    The rule "allow" holds for the skills of a list alone, if there is one. The fallback was
    validated when it was asked.
    """
    if rule == "deny":
        return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "policy")
    is_listed = _covers(allow_list, question) if allow_list else not question.call.dialogue.code
    allow = rule == "allow" and is_listed
    form, confirmation = question.form, question.confirmation
    fallback = form.fallback if form else None
    if fallback is None and allow and confirmation is not None:
        agreed = {confirmation.name: True}
        return ElicitationResponse(True, agreed, types.FALLBACK_USED, "accept", "policy")
    if fallback is None:
        return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "nobody")
    by: types.AnsweredBy = "policy" if allow and question.consent else "fallback"
    return ElicitationResponse(True, dict(fallback), types.FALLBACK_USED, "accept", by)


def _covers(allow_list: AllowList, question: Question) -> bool:
    """Return whether the list has the called skill, and the destructive one in it that asks."""
    call = question.call
    if call.dialogue.code:
        return allow_list.covers(f"sha256:{call.dialogue.code}", "")
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
