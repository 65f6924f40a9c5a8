"""What came of a call. Frozen, any thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal[
    "done",
    "refused",
    "failed",
    "no_consent",
    "partly_applied",
    "cancelled",
    "timed_out",
    "not_started",
    "unknown_outcome",
]
"""How a call ended.

"not_started" never began and never will; "timed_out" ran for longer than it may, saw it, and was
undone; "unknown_outcome" did not see it and may still change the scene.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call.

    Attributes:
        status: "done", or what kept it from being done.
        value: What the skill returned.
        error: A sentence for the agent where it is not done; None where the value says it.
    """

    status: Status
    value: Any = None
    error: str | None = None
