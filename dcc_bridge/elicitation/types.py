"""The records of a question and its answer. Frozen, without behaviour. Any thread."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

Action = Literal["accept", "decline", "cancel"]
AnsweredBy = Literal["client", "host", "fallback", "policy", "grant", "nobody"]

NOT_SUPPORTED: Final = "elicitation_not_supported"
FALLBACK_USED: Final = "fallback_values_used"
DECLINED: Final = "declined"
CANCELLED: Final = "cancelled"
TIMED_OUT: Final = "timed_out"
HOST_BLOCKED: Final = "host_blocked"
BRIDGE_CLOSED: Final = "bridge_closed"
INVALID_ANSWER: Final = "invalid_answer"
TOO_MANY_QUESTIONS: Final = "too_many_questions"
NOT_RECORDED: Final = "not_recorded"
COMPLETION_UNVERIFIED: Final = "completion_unverified"


class ElicitationMode(StrEnum):
    """How a question is put: a form of fields, or a page to visit."""

    FORM = "form"
    URL = "url"


@dataclass(frozen=True, slots=True)
class FormElicitation:
    """A question with fields to fill in.

    Attributes:
        message: What is asked, in a sentence; shown as plain text.
        schema: The fields, as the protocol's subset of JSON Schema.
        title: A heading, a few words.
    """

    message: str
    schema: dict[str, Any]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class UrlElicitation:
    """A question that is answered by visiting a page.

    Attributes:
        message: Why the person should go there; shown as plain text.
        url: The page, shown whole and opened on a click only.
        description: What happens there.
    """

    message: str
    url: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """What a skill asks, in either mode.

    Attributes:
        mode: Form or URL.
        params: The parts of the question.
    """

    mode: ElicitationMode
    params: FormElicitation | UrlElicitation


@dataclass(frozen=True, slots=True)
class ElicitationResponse:
    """What came of a question.

    Attributes:
        accepted: The person agreed (or a declared fallback stood in; see ``answered_by``).
        data: The fields' values where accepted, validated; else empty.
        message: Why it was not accepted, or that a fallback was used: one of this module's
            constants, or None where a person simply accepted.
        action: The person's action in the protocol's words.
        answered_by: Who gave the answer. Only "client", "host" and "grant" are a person.
        reason: Why they declined, in their own words and in one line, or None.
    """

    accepted: bool
    data: dict[str, Any] | None = None
    message: str | None = None
    action: Action = "cancel"
    answered_by: AnsweredBy = "nobody"
    reason: str | None = None

    def __post_init__(self) -> None:
        """Make ``data`` a dict always, so that ``answer.data.get(...)`` never fails."""
        if self.data is None:
            object.__setattr__(self, "data", {})
