"""The records of a question and its answer, and the words for each outcome. Any thread.

The constants up to `ANSWERED` say how a question ended, in `ElicitationResponse.message` and in
`Answered.how`. `outcome` puts each of them into words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from dcc_bridge.audit.outcomes import DECLINED as DECLINED  # the audit log has the same words
from dcc_bridge.audit.outcomes import UNASKED as UNASKED

Action = Literal["accept", "decline", "cancel"]
AnsweredBy = Literal["client", "host", "fallback", "policy", "grant", "nobody"]

NOT_SUPPORTED: Final = "elicitation_not_supported"
FALLBACK_USED: Final = "fallback_values_used"
CANCELLED: Final = "cancelled"
TIMED_OUT: Final = "timed_out"
HOST_BLOCKED: Final = "host_blocked"
BRIDGE_CLOSED: Final = "bridge_closed"
INVALID_ANSWER: Final = "invalid_answer"
TOO_MANY_QUESTIONS: Final = "too_many_questions"
NOT_RECORDED: Final = "not_recorded"
COMPLETION_UNVERIFIED: Final = "completion_unverified"
MUTED: Final = "muted"
PAUSED: Final = "paused"
SCENE_CHANGED: Final = "scene_changed"
SURFACE_LOST: Final = "surface_lost"
# A person's yes to a consent, and an answer to another form. No response has these as its message.
AGREED: Final = "agreed"
ANSWERED: Final = "answered"

# Keys of the meta on the wire.
LEFT: Final = "dcc-bridge/left"  # in a cancel: the client gives up the whole call
MISFIT: Final = "dcc-bridge/misfit"  # in a cancel: no prepared answer fitted the form
LIMIT: Final = "dcc-bridge/limit"  # in a question: seconds until it ends by itself
DRY_RUN: Final = "dcc-bridge/dry_run"  # in a call: it is tried and taken back, and nobody is asked
STATUS: Final = "dcc-bridge/status"  # in a result: how the call ended, in the runner's words
# In a result for a client that draws pages: where items are in each of its pictures, and pictures
# of the scene before and after a loss.
PLACES: Final = "dcc-bridge/places"
BEFORE_AFTER: Final = "dcc-bridge/before_after"

TASKS: Final = "io.modelcontextprotocol/tasks"  # the extension (SEP-2663) of revision 2026-07-28
TASK_METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")  # each has the id of a task
SKILLS: Final = "io.modelcontextprotocol/skills"  # SEP-2640: what we call instructions
SKILL_METHODS: Final = ("skills/list", "skills/get")


class ElicitationMode(StrEnum):
    """The mode of a question: a form of fields, or a page to visit."""

    FORM = "form"
    URL = "url"


@dataclass(frozen=True, slots=True)
class FormElicitation:
    """A question with fields to fill in.

    Attributes:
        message: The question, in a sentence; shown as plain text.
        schema: The schema of the fields, in the protocol's subset of JSON Schema.
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
        description: What happens on the page.
    """

    message: str
    url: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """A question of a skill, in either mode.

    Attributes:
        mode: "form" or "url".
        params: The question in that mode.
    """

    mode: ElicitationMode
    params: FormElicitation | UrlElicitation


@dataclass(frozen=True, slots=True)
class ElicitationResponse:
    """The response to a question.

    Attributes:
        accepted: Whether the person agreed, or a fallback value was used; see ``answered_by``.
        data: The validated values of the fields that were filled in, if accepted; else empty.
        message: Why the question was not accepted, or that a fallback was used: one of this
            module's constants, or None where a person simply accepted.
        action: The person's action in the protocol's words.
        answered_by: Who gave the answer. Only "client", "host" and "grant" are a person.
        reason: Why the person declined, in their own words and in one line; where the client is
            muted, for how long; where nobody answered in time, how the answer can still be had; or
            None.
        value: ``data`` as an instance of the model or dataclass that was the schema, with its
            defaults; or None.
        left_out: The items of the question that the person did not agree to.
    """

    accepted: bool
    data: dict[str, Any] | None = None
    message: str | None = None
    action: Action = "cancel"
    answered_by: AnsweredBy = "nobody"
    reason: str | None = None
    value: Any = None
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Replace None in ``data`` by a dict, so that ``answer.data.get(...)`` never fails."""
        if self.data is None:
            object.__setattr__(self, "data", {})


def cancelled_response(message: str) -> ElicitationResponse:
    """Return the response to a question that ended without a person's answer."""
    return ElicitationResponse(False, None, message, "cancel", "nobody")


CLOSED_BY_PERSON: Final = ElicitationResponse(False, None, CANCELLED, "cancel", "host")
"""The response to a question that the person closed in the host."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that ended, and how.

    Attributes:
        question: The message of the question.
        how: `AGREED`, `ANSWERED`, or why there was no answer: a message of `ElicitationResponse`.
        by: Who ended the question.
        reason: Why the person declined, in their own words, or "".
        is_consent: Whether the answer decided if something is lost.
        count: How many items the question was about.
        items: The first of these items, under the names that the person knows.
        pictures: Pictures of what the question was about, each with a text that says what it shows.
    """

    question: str
    how: str
    by: AnsweredBy = "nobody"
    reason: str = ""
    is_consent: bool = False
    count: int = 0
    items: tuple[str, ...] = ()
    pictures: tuple[tuple[bytes, str], ...] = field(default=(), compare=False, repr=False)

    @property
    def agrees(self) -> bool:
        """Whether the question was agreed to, or answered."""
        return self.how in (AGREED, ANSWERED, COMPLETION_UNVERIFIED)


def outcome(how: str, by: str = "nobody", tr: Callable[[str], str] = str) -> str:
    """Return in words how a question ended, for the agent, the audit log and each surface.

    Args:
        how: `Answered.how`, or `UNASKED` for a call without a question.
        by: `Answered.by`.
        tr: Translates the words; the agent and the audit log have them in English.
    """
    unasked = tr("nobody was asked because a setting allows it")
    fallback = tr("nobody could be asked, so the fallback values were used")
    sentences = {
        (AGREED, "host"): tr("approved in the app"),
        (AGREED, "client"): tr("approved in the client"),
        (AGREED, "grant"): tr("approved in advance"),
        (UNASKED, ""): tr("no question needed"),
        (AGREED, "policy"): unasked,
        (AGREED, "fallback"): fallback,
        (ANSWERED, "host"): tr("answered in the app"),
        (ANSWERED, "client"): tr("answered in the client"),
        (ANSWERED, "policy"): unasked,
        (ANSWERED, "fallback"): fallback,
        (COMPLETION_UNVERIFIED, "host"): tr("page opened in the app"),
        (COMPLETION_UNVERIFIED, "client"): tr("page opened in the client"),
        (DECLINED, "host"): tr("declined in the app"),
        (DECLINED, "client"): tr("declined in the client"),
        (CANCELLED, "host"): tr("the question was closed in the app"),
        (CANCELLED, "client"): tr("the question was closed in the client"),
        (CANCELLED, ""): tr("the call was cancelled before anybody answered"),
        (TIMED_OUT, ""): tr("nobody answered in time"),
        (HOST_BLOCKED, ""): tr(
            "nobody could answer because the application was waiting for the skill"
        ),
        (BRIDGE_CLOSED, ""): tr("the bridge was stopped before anybody answered"),
        (INVALID_ANSWER, ""): tr("no valid answer was given"),
        (DECLINED, "fallback"): fallback,
        (TOO_MANY_QUESTIONS, "policy"): tr(
            "nobody was asked because too many questions are waiting"
        ),
        (TOO_MANY_QUESTIONS, ""): tr(
            "nobody was asked because the client accepts no more questions in this call"
        ),
        (NOT_RECORDED, ""): tr("the answer could not be recorded"),
        (NOT_SUPPORTED, ""): tr("nobody could be asked because nothing here can show a question"),
        (NOT_SUPPORTED, "policy"): tr("nobody could be asked, so a setting declined it"),
        (MUTED, ""): tr("nobody was asked because the client is muted"),
        (PAUSED, ""): tr("agents are paused in the application"),
        (SCENE_CHANGED, ""): tr("the scene changed each time the question was asked"),
        (SURFACE_LOST, ""): tr("the question could no longer be shown"),
    }
    for key in ((how, by), (how, "")):
        if key in sentences:
            return sentences[key]
    return tr("the question ended without an answer")
