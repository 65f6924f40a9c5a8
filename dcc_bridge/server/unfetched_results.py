"""Calls that have ended and whose result nobody fetched: the same one is told of it. Worker."""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from dcc_bridge.skills.call_history import Status

FRESH: Final = 600.0  # seconds in which a call is still the same one
MOST: Final = 256
_SILENT: Final = ("cancelled", "not_started")  # its client gave it up, or knows nothing changed
_ENCODE: Final = json.JSONEncoder(sort_keys=True, default=str).encode
Same = tuple[str, str, str]  # client, skill, digest of the arguments: they make two calls the same


def same_call(label: str, skill: str, arguments: Mapping[str, Any]) -> Same:
    """Identify a call, so that the same one made again is recognized."""
    return label, skill, sha256(_ENCODE(arguments).encode("utf-8", "replace")).hexdigest()


class UnfetchedResults:
    """The calls whose result nobody fetched, each for ten minutes."""

    def __init__(self) -> None:
        self._ended: OrderedDict[Same, tuple[float, Status]] = OrderedDict()

    def add(self, call: Same, status: Status) -> None:
        """Note that a call has ended, and how; its result waits to be fetched."""
        if status in _SILENT:
            return  # what the same one did before is still to be told
        self.remove(call)
        self._ended[call] = time.monotonic(), status
        while len(self._ended) > MOST:
            label = most_frequent(label for label, *_ in self._ended)
            del self._ended[next(it for it in self._ended if it[0] == label)]

    def remove(self, call: Same) -> None:
        """Forget a call: its result was fetched."""
        self._ended.pop(call, None)

    def notice_for(self, call: Same) -> str | None:
        """Say that the same call was made before, or None for a new one."""
        ended, status = self._ended.get(call, (0.0, None))
        ago = time.monotonic() - ended
        if status is None or ago > FRESH:
            return None
        minutes = max(1, round(ago / 60))
        outcome = {"done": "was done", "refused": "was refused"}.get(status, "did not succeed")
        made = f"The same call was made {minutes} min ago and {outcome}"
        return f"{made}, but nobody fetched its result."


def most_frequent(labels: Iterable[str]) -> str:
    """Return the label of the client that holds most places: it makes room, and no other."""
    [(label, _)] = Counter(labels).most_common(1)
    return label
