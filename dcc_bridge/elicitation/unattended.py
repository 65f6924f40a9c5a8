"""The answer to a question where nobody can be asked, and the allow list. Any thread.

The allow list is a text file. It names the skills for which the setting ``unattended = "allow"``
holds, one a line. After the name there may be the SHA-256 of the skill's file (`sha256sum FILE`):
then the line holds for that very file only. An agent's code is listed as ``sha256:DIGEST`` of its
text. A # begins a comment.
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
    """Answer a question with its declared fallback, or decline. It raises nothing.

    Args:
        question: The question; its fallback was validated when it was asked.
        rule: The setting ``unattended``.
        allow_list: The only skills for which "allow" holds; None for all.

    Returns:
        The response. Without a fallback, only a confirmation under "allow" is accepted.
    """
    if rule == "deny":
        return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "policy")
    if allow_list is not None:
        is_listed = _is_listed(allow_list, question)
    else:
        is_listed = not question.call.dialogue.code
    allow = rule == "allow" and is_listed
    fallback = None
    if question.form is not None:
        fallback = question.form.fallback
    if fallback is not None:
        by: types.AnsweredBy = "fallback"
        if allow and question.consent is not None:
            by = "policy"
        return ElicitationResponse(True, dict(fallback), types.FALLBACK_USED, "accept", by)
    confirmation = question.confirmation
    if allow and confirmation is not None:
        agreed = {confirmation.name: True}
        return ElicitationResponse(True, agreed, types.FALLBACK_USED, "accept", "policy")
    return ElicitationResponse(False, None, types.NOT_SUPPORTED, "decline", "nobody")


def _is_listed(allow_list: AllowList, question: Question) -> bool:
    """Return whether the list has the called skill, and the skill inside that asks for consent."""
    call = question.call
    if call.dialogue.code:
        return allow_list.has(f"sha256:{call.dialogue.code}", "")
    asking_skill = call.skill
    if question.consent is not None:
        asking_skill = question.consent.skill or call.skill
    if asking_skill != call.skill and not allow_list.has(asking_skill, ""):
        return False
    return allow_list.has(call.skill, call.digest)


@dataclass(frozen=True, slots=True)
class AllowList:
    """The skills that may go on where nobody can be asked.

    Attributes:
        file: The file of the list.
        digests: The beginning of the SHA-256 of each skill's file by the skill's name; "" for a
            skill that is listed whatever its file is.
    """

    file: Path
    digests: Mapping[str, str]

    def has(self, skill: str, digest: str) -> bool:
        """Return whether a skill is listed, for a file with this digest."""
        prefix = self.digests.get(skill)
        return prefix is not None and digest.startswith(prefix)


def read_allow_list(file: Path) -> AllowList:
    """Read an allow list from a UTF-8 file.

    Raises:
        ValueError: The file cannot be read, or a line is wrong; the message names the line.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read: {error}.") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        match = _LINE.fullmatch(entry)
        if match is None:
            raise ValueError(f"{file}, line {number}: a skill's name, then a digest if you like.")
        digests[match["name"]] = match["digest"] or ""
    return AllowList(file, digests)
