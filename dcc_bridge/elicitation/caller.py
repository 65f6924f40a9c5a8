"""Who asks: clients, and what a call carries from one question to the next.

The fields are written by the thread that runs the skill; the reason of an end by any thread, once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from dcc_bridge.elicitation.secret import Secret

Risk = Literal["read", "edit", "destructive"]
Progress = tuple[float, float | None, str]


@dataclass(frozen=True, slots=True)
class Client:
    """Who called."""

    label: str  # the name under which the person set it up; proved by its token
    name: str = ""  # what it says of itself
    version: str = ""  # what it says of its version
    # The session in which it called; "" where its sessions cannot be told apart.
    session: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CodeScope:
    """What a yes for a while may cover: plain code of one session, in one scene."""

    client: str  # the label of the client that sends the code
    session: str  # the session in which it does
    scene: Hashable  # the open one, as `Host.scene_id` tells it from others


@dataclass(frozen=True, slots=True)
class SeenClient:
    """A client as its last message showed it."""

    client: Client  # its label, and what it says of itself
    era: str  # the version of the protocol that it speaks
    form: bool  # it says that it can draw a form
    url: bool  # it says that it can open a page
    at: float  # when its last message came, in seconds since the epoch


# Who asks on a thread to which no call was carried: limited as a client is, to one question.
BACKGROUND: Final = Client("a background thread of the host")


@dataclass(slots=True)
class CallEnding:
    """Why the body should stop before its own end."""

    reason: str | None = None  # why nobody waits for the call; written once, by any thread
    is_known: bool = False  # the skill was told so
    is_overdue: bool = False  # the call runs for longer than it may


@dataclass(slots=True)
class Dialogue:
    """What was said in a call, for what comes later in it."""

    questions: int = 0  # how many were named; the next one's key on the wire is counted from it
    repeats: str | None = None  # a sentence for the first question of a call made before
    # What a person entered on pages; kept until the skill has ended, so that what it says and
    # returns can be searched for them.
    secrets: list[Secret] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)  # ids of no consents; refused, they end nothing
    deeds: list[str] = field(default_factory=list)  # what its skills did, in a person's words
    # The SHA-256 of the code of an agent that it runs, or "": where nobody can be asked, a list may
    # allow that very text, and never the skill.
    code: str = ""
    # What a yes for a while covers, as long as it is asked about plain code; else None.
    plain_code: CodeScope | None = None
    answered_by: str = ""  # who answered the last question: "host" and "client" are a person
    left: str = "Nothing was changed"  # what stands once the steps of the call are undone
