"""Remembers calls whose result no client has fetched, to warn when a call is repeated. Worker."""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from dcc_bridge.skills.call_history import Status

SAME_CALL_S: Final = 600.0
"""Seconds within which a repeated call counts as the same call."""
MAX_RESULTS: Final = 256
"""Unfetched results that are remembered."""
_SILENT: Final = ("cancelled", "not_started", "tried")
"""The statuses of calls that the client cancelled, or that changed nothing."""
_ENCODE: Final = json.JSONEncoder(sort_keys=True, default=str).encode
Same = tuple[str, str, str]
"""The key of equal calls: the client, the skill, and the digest of the arguments."""


def same_call(label: str, skill: str, arguments: Mapping[str, Any]) -> Same:
    """Return the key of a call, which is the same when the call is repeated."""
    digest = sha256(_ENCODE(arguments).encode("utf-8", "replace")).hexdigest()
    return label, skill, digest


class UnfetchedResults:
    """The calls whose result was not fetched, each for `SAME_CALL_S`."""

    def __init__(self) -> None:
        self._ended: OrderedDict[Same, tuple[float, Status]] = OrderedDict()

    def add(self, call: Same, status: Status) -> None:
        """Store the status of a call that has ended, until its result is fetched."""
        if status in _SILENT:
            return  # an earlier result of the same call stays
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
        """Remove a call whose result was fetched."""
        self._ended.pop(call, None)

    def notice_for(self, call: Same) -> str | None:
        """Return a warning if the same call ended before without being fetched; else None."""
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
    """Return the label of the client with the most entries, which has to make room."""
    [(label, _)] = Counter(labels).most_common(1)
    return label
