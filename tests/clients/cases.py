"""What every client is put through, and what must be seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

_SLOW: Final = 1.5
_IMPATIENT: Final = 4.0
_SLOWER: Final = 6.0

Report = dict[str, Any]
Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a client.

    Attributes:
        name: What happens.
        tool: What is called.
        replies: What the person says to each question.
        asked: How many questions the person sees.
        text: What the result says.
        seen: One of the ways in which the skill may see its question end.
        declares: The client says that it can ask.
        limit: Seconds that the client waits for a result; None for its own default.
        stops: The call is cancelled while the person is asked.
        leaves: The client ends while the person is asked.
    """

    name: str
    tool: str
    replies: Sequence[Reply] = ()
    asked: int = 1
    text: str = ""
    seen: Sequence[str] = ()
    declares: bool = True
    limit: float | None = None
    stops: bool = False
    leaves: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """What a client's script needs of it."""
        return asdict(self)


def _accept(**content: Any) -> Reply:
    return {"action": "accept", "content": content}


_ENDS: Final = ("cancelled", "timed_out")

CASES: Final = (
    Case("accept", "delete", [_accept(confirm=True)], text="2 deleted", seen=["agreed"]),
    Case(
        "decline",
        "delete",
        [{"action": "decline"}],
        text="Declined in the client",
        seen=["Declined"],
    ),
    Case("cancel", "delete", [{"action": "cancel"}], text="without an answer", seen=["Cancelled"]),
    Case(
        "two questions",
        "two",
        [_accept(name="Ada"), _accept(color="blue")],
        asked=2,
        text="Ada likes blue",
    ),
    Case(
        "invalid, then valid",
        "age",
        [_accept(age="old"), _accept(age=36)],
        asked=2,
        text="accept {'age': 36} by client",
    ),
    Case("url", "page", [{"action": "accept"}], text="accept completion_unverified"),
    Case(
        "no capability",
        "unasked",
        asked=0,
        declares=False,
        text="fallback_values_used {'age': 7} by fallback",
    ),
    Case(
        "slow person",
        "age",
        [{**_accept(age=36), "after": _SLOW}],
        text="accept {'age': 36} by client",
    ),
    Case(
        "slow person, impatient client",
        "age",
        [{**_accept(age=36), "after": _SLOWER}],
        limit=_IMPATIENT,
        text="accept {'age': 36} by client",
    ),
    Case("cancel in mid-question", "age", [{"action": "stop"}], stops=True, seen=_ENDS),
    Case("disconnect", "age", [{"action": "leave"}], leaves=True, seen=_ENDS),
)
