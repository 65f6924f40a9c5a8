"""The client that calls, and what a call remembers from one question to the next.

The fields are written by the thread that runs the skill; the reason of an end by any thread, once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from dcc_bridge.elicitation.secret import Secret

Risk = Literal["read", "edit", "destructive"]
Progress = tuple[float, float | None, str]


@dataclass(frozen=True, slots=True)
class Client:
    """The client that calls.

    Attributes:
        label: The name under which the person set the client up; proved by the client's token.
        name: The name that the client calls itself.
        version: The version that the client says it has.
    """

    label: str
    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class SeenClient:
    """A client as its last message showed it.

    Attributes:
        client: The label of the client, and what it says of itself.
        era: The revision of the protocol that the client speaks.
        form: Whether the client says that it can draw a form.
        url: Whether the client says that it can open a page.
        at: When the last message came, in seconds since the epoch.
        tasks: Whether the client has declared tasks in a message, which it may in its calls alone.
        pages: Whether the client draws the pages of MCP Apps beside results.
    """

    client: Client
    era: str
    form: bool
    url: bool
    at: float
    tasks: bool = False
    pages: bool = False


# The client of a thread to which no call was carried. It may have one open question at a time.
BACKGROUND: Final = Client("a background thread of the host")


@dataclass(slots=True)
class CallEnding:
    """The reason why the body should stop before its own end.

    Attributes:
        reason: Why nobody waits for the call any longer; written once, by any thread. None while
            somebody waits.
        is_known: Whether the skill was told of the reason.
        is_overdue: Whether the call runs for longer than it may.
    """

    reason: str | None = None
    is_known: bool = False
    is_overdue: bool = False


@dataclass(slots=True)
class Dialogue:
    """The memory of a call from one question to the next: its questions, and what they are about.

    Attributes:
        questions: How many questions were named; the next key on the wire is counted from it.
        repeats: A sentence for the first question of a call that was made before, or None.
        secrets: The secrets that a person entered on pages. They are kept until the skill has
            ended, so that its result and messages can be searched for them.
        inputs: The ids of the questions that are no consents; a refusal of these ends nothing.
        code: The SHA-256 of the agent's code that the call runs, or "". Where nobody can be asked,
            a list may allow that very text, and never the skill.
        answered_by: Who answered the last question: "host" and "client" are a person.
    """

    questions: int = 0
    repeats: str | None = None
    secrets: list[Secret] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)
    code: str = ""
    answered_by: str = ""
