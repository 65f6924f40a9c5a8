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

from dcc_bridge.elicitation.types import (
    FALLBACK_USED,
    NOT_SUPPORTED,
    AnsweredBy,
    ElicitationResponse,
)

if TYPE_CHECKING:
    from dcc_bridge.elicitation.call import Call
    from dcc_bridge.elicitation.question import Question

_LINE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_./-]{1,64})(\s+(sha256:)?(?P<digest>[0-9a-f]{8,64}))?"
)


def answer(
    question: Question,
    rule: Literal["refuse", "deny", "allow"] = "refuse",
    allowed: Allowance | None = None,
) -> ElicitationResponse:
    """Answer with the declared fallback, or decline.

    Args:
        question: Its fallback was validated when it was asked.
        rule: The setting ``unattended``.
        allowed: The only skills for which the rule "allow" holds; None for all.
    """
    if rule == "deny":
        return ElicitationResponse(False, None, NOT_SUPPORTED, "decline", "nobody")
    call = question.call
    allow = rule == "allow" and (allowed is None or _covers(allowed, call))
    lone = question.form.lone_confirmation if question.form and question.consent else None
    if question.fallback is None and allow and lone is not None:
        return ElicitationResponse(True, {lone.name: True}, FALLBACK_USED, "accept", "policy")
    if question.fallback is None:
        return ElicitationResponse(False, None, NOT_SUPPORTED, "decline", "nobody")
    by: AnsweredBy = "policy" if allow and question.consent else "fallback"
    return ElicitationResponse(True, dict(question.fallback), FALLBACK_USED, "accept", by)


def _covers(allowed: Allowance, call: Call) -> bool:
    """Whether the list has the skill that was called, and the one in it that loses something."""
    losing = call.losing_here or call.skill
    inner = losing == call.skill or allowed.covers(losing, "")
    return inner and allowed.covers(call.skill, call.digest)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What such a file says.

    Attributes:
        file: Where it stands.
        digests: By a skill's name what its file's digest begins with, "" for any.
    """

    file: Path
    digests: Mapping[str, str]

    def covers(self, skill: str, digest: str) -> bool:
        """Tell whether a skill is on it, with the file that it has."""
        wanted = self.digests.get(skill)
        return wanted is not None and digest.startswith(wanted)


def read(file: Path) -> Allowance:
    """Read a list.

    Raises:
        ValueError: It cannot be read; the line is named.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read: {error}.") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        told = line.partition("#")[0].strip()
        found = _LINE.fullmatch(told)
        if told and found is None:
            raise ValueError(f"{file}, line {number}: a skill's name, and its digest if need be.")
        if found:
            digests[found["name"]] = found["digest"] or ""
    return Allowance(file, digests)
