"""What a page says once nothing can be answered on it. Any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.types import (
    BRIDGE_CLOSED,
    CANCELLED,
    DECLINED,
    INVALID_ANSWER,
    TIMED_OUT,
)
from dcc_bridge.server.pages.page import Page


@dataclass(frozen=True, slots=True)
class Ending:
    """A page without a question.

    Attributes:
        status: As HTTP has it.
        title: In a few words.
        text: What happened, and what to do.
    """

    status: int
    title: str
    text: str


_CLOSE: Final = "You can close this page."
UNKNOWN: Final = Ending(
    404,
    "There is no question here",
    "The address is not complete, or its question ended some time ago. Nothing was done.",
)
FOREIGN: Final = Ending(
    403,
    "Opened in another browser",
    "A question can be answered only in the browser that opened it first. Go back to that window. "
    "If it was this one, it does not keep cookies, which is how it would be recognised.",
)
CROSS_SITE: Final = Ending(
    403, "Refused", "This answer came from another site. It was not used, and nothing was done."
)
NO_SIGN_IN: Final = Ending(
    404,
    "No sign-in waits for this",
    "The answer belongs to no sign-in of this application, or that ended some time ago. It was not "
    "used. Begin again from the application.",
)
FINISHING: Final = Ending(
    409, "One moment", "The sign-in is being finished already. Reload this page in a moment."
)
FRAMED: Final = Ending(
    403,
    "Refused",
    "This page is not shown inside of another one. Open its address in a window of its own.",
)
SENT: Final = Ending(
    200,
    "Another site sent you here",
    "This page belongs to an application on this computer. Go on only if you came here to answer "
    "a question of it; nothing was done so far.",
)
UNREADABLE: Final = Ending(
    400, "This could not be read", "What came is not an answer to this page. Nothing was done."
)
METHOD: Final = Ending(405, "Refused", "A question can only be looked at and answered here.")

_LEFT: Final = {
    "accept": Ending(200, "Your answer was sent", _CLOSE),
    "decline": Ending(200, "Declined", f"The agent is told that you said no. {_CLOSE}"),
    "cancel": Ending(200, "Cancelled", f"The question ended without an answer. {_CLOSE}"),
    "hand_over": Ending(200, "Asked elsewhere", f"The client asks the question now. {_CLOSE}"),
    "signed_in": Ending(200, "You are signed in", _CLOSE),
}
_GONE: Final = {
    TIMED_OUT: Ending(
        410, "The time is over", "Nobody answered in time, so the question was cancelled."
    ),
    CANCELLED: Ending(
        410, "No longer asked", "Whoever asked does not wait for an answer any more."
    ),
    BRIDGE_CLOSED: Ending(410, "No longer asked", "The application stopped its bridge."),
    DECLINED: Ending(410, "Answered elsewhere", "The question was declined in another place."),
    INVALID_ANSWER: Ending(
        410, "Asked again", "The answer could not be used; the question has a new address."
    ),
    "answered": Ending(410, "Answered elsewhere", "The question was answered in another place."),
    "handed_over": Ending(410, "Asked elsewhere", "The question was moved to another place."),
}
_ENDED: Final = Ending(410, "No longer asked", "The question has ended.")


def of(page: Page) -> Ending:
    """Say what became of a page's question."""
    left = page.left
    if page.failure:
        text = f"The site's answer was not used: {page.failure}. {_CLOSE}"
        return Ending(200, "You are not signed in", text)
    return _LEFT[left] if left is not None else _GONE.get(page.reason, _ENDED)


def used(page: Page) -> Ending:
    """Say that an answer came too late to be one, and why."""
    if page.left is None:
        ending = of(page)
        return Ending(410, ending.title, f"{ending.text} Your answer was not used.")
    return Ending(
        410,
        "This page was used already",
        "It takes one answer, and had one. Nothing was changed by trying again.",
    )
