"""Calls that have ended and whose result was not fetched: the same call is told so. Worker."""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from dcc_bridge.skills.call_history import Status

SAME_CALL_S: Final = 600.0
"""Seconds for which a call made again counts as the same one."""
MAX_RESULTS: Final = 256
"""Unfetched results that are remembered."""
_SILENT: Final = ("cancelled", "not_started")
"""How a call ends that its client gave up, or of which its client knows that nothing changed."""
_ENCODE: Final = json.JSONEncoder(sort_keys=True, default=str).encode
Same = tuple[str, str, str]
"""The key of equal calls: the client, the skill, and the digest of the arguments."""


def same_call(label: str, skill: str, arguments: Mapping[str, Any]) -> Same:
    """Return what identifies a call, so that the same call made again is recognized."""
    digest = sha256(_ENCODE(arguments).encode("utf-8", "replace")).hexdigest()
    return label, skill, digest


class UnfetchedResults:
    """The calls whose result was not fetched, each for ten minutes."""

    def __init__(self) -> None:
        self._ended: OrderedDict[Same, tuple[float, Status]] = OrderedDict()

    def add(self, call: Same, status: Status) -> None:
        """Note that a call has ended, and how; its result waits to be fetched."""
        if status in _SILENT:
            return  # a result of the same call from before is still to be told
        self.remove(call)
        self._ended[call] = time.monotonic(), status
        while len(self._ended) > MAX_RESULTS:
            crowded = most_frequent(label for label, _, _ in self._ended)
            for same in self._ended:
                label, _, _ = same
                if label == crowded:
                    del self._ended[same]
                    break

    def remove(self, call: Same) -> None:
        """Forget a call: its result was fetched."""
        self._ended.pop(call, None)

    def notice_for(self, call: Same) -> str | None:
        """Return a sentence if the same call was made before; None for a new call."""
        if call not in self._ended:
            return None
        ended_at, status = self._ended[call]
        ago = time.monotonic() - ended_at
        if ago > SAME_CALL_S:
            return None
        minutes = max(1, round(ago / 60))
        outcome = {"done": "was done", "refused": "was refused"}.get(status, "did not succeed")
        made = f"The same call was made {minutes} min ago and {outcome}"
        return f"{made}, but nobody fetched its result."


def most_frequent(labels: Iterable[str]) -> str:
    """Return the label of the client that holds the most places: it makes room, and no other."""
    [(label, _)] = Counter(labels).most_common(1)
    return label
