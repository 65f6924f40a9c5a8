"""What the parts that ask and edit know of the record: where to say what happened. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Event = tuple[str, Mapping[str, Any]]
"""What happened, in a word, and what is to be known of it; JSON need not be able to carry it."""


class Auditor(Protocol):
    """Writes down what happened."""

    def __call__(self, *events: Event, durable: bool = False) -> None:
        """Write events down, all or none.

        Args:
            *events: In their order.
            durable: They must be on the disk before this returns.

        Raises:
            NotRecorded: They could not be written.
        """
        ...


def nowhere(*events: Event, durable: bool = False) -> None:
    """Write nothing down: for a part that is tried by itself."""
