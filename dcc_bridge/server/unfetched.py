"""Calls whose result nobody came for, so that the same call made again can say so. Worker."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from dcc_bridge.skills.outcome import Status

FRESH: Final = 600.0
"""Seconds in which a call is still the same one."""
MOST: Final = 256
_SILENT: Final = ("cancelled", "not_started")
"""How a call ends that its client gave up, or knows to have changed nothing."""

Same = tuple[str, str, str]
"""What makes two calls the same: the client, the skill, and a digest of the arguments."""


def same(label: str, skill: str, arguments: Mapping[str, Any]) -> Same:
    """Say what a call is the same as."""
    text = json.dumps(arguments, sort_keys=True, default=str)
    return label, skill, sha256(text.encode("utf-8", "replace")).hexdigest()


class Unfetched:
    """The last of them, each for ten minutes."""

    def __init__(self) -> None:
        self._ended: OrderedDict[Same, tuple[float, Status]] = OrderedDict()

    def end(self, call: Same, status: Status) -> None:
        """Note that a call has ended, and how; its result waits to be fetched."""
        self.fetch(call)
        if status in _SILENT:
            return
        self._ended[call] = time.monotonic(), status
        while len(self._ended) > MOST:
            self._ended.popitem(last=False)

    def fetch(self, call: Same) -> None:
        """Forget a call: its result was fetched."""
        self._ended.pop(call, None)

    def again(self, call: Same) -> str | None:
        """Give what is to be said of a call that was made before, or None for a new one."""
        ended, status = self._ended.get(call, (0.0, None))
        ago = time.monotonic() - ended
        if status is None or ago > FRESH:
            return None
        minutes = max(1, round(ago / 60))
        outcomes = {"done": "was done", "refused": "was refused"}
        outcome = outcomes.get(status, "did not succeed")
        return (
            f"The same call was made {minutes} min ago and {outcome}, but nobody fetched its "
            "result."
        )
