"""A question that is drawn by Blender, or waits for its turn. Main thread."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from dcc_bridge.elicitation.question import Question, Settle


@dataclass(eq=False)
class Ticket:
    """A question.

    Attributes:
        question: Which one.
        settle: Takes what is heard.
        wrong: What was wrong with the answer that was given, or None.
        typed: What stands in the fields, to be drawn again.
        is_touched: The person has begun to answer.
        asked: When it was asked.
        opened: When its dialog was opened last.
    """

    question: Question
    settle: Settle
    wrong: str | None = None
    typed: dict[str, Any] = field(default_factory=dict)
    is_touched: bool = False
    asked: float = field(default_factory=time.monotonic)
    opened: float = 0.0

    @property
    def deadline(self) -> float:
        """When it ends: later once the person has begun to answer."""
        offers = self.question.offers
        return self.asked + (offers.latest if self.is_touched else min(offers.soon, offers.latest))
