"""A host that is used for a long time by many at once, half of whom ask (row 24, and all together).

How long is said by ``DCC_BRIDGE_SOAK``, in seconds: 600 for the whole of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from tests.threats.crowd import ASKING
from tests.threats.soak import DEADLINE

SECONDS: Final = float(os.environ.get("DCC_BRIDGE_SOAK", "60"))
GROWTH: Final = 20.0
"""MB that a run may take besides: finished calls that are kept, and what the allocator keeps."""
PER_HOUR: Final = 1.0
STALL: Final = 5.0
"""Seconds: no turn of the main loop takes as long as that, however busy the machine."""


class Written:
    """What was written down on both sides."""

    def __init__(self, folder: Path) -> None:
        """Read the files of a run."""
        lines = (folder / "clients").read_text().splitlines()
        self.calls: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self._host = [line.split() for line in (folder / "host").read_text().splitlines()]

    def of(self, kind: str) -> dict[str, list[str]]:
        """Give what the host wrote of that kind, by the word."""
        return {line[1]: line[2:] for line in self._host if line[0] == kind}

    def twice(self) -> list[tuple[str, str]]:
        """Give what happened more than once, though it was asked for once."""
        counts = Counter((line[0], line[1]) for line in self._host)
        return [entry for entry, count in counts.items() if count > 1]

    def crossed(self) -> list[str]:
        """Give the words whose answer was another one's."""
        own = {"accept": "{}!"}
        heard = self.of("heard").items()
        return [
            word for word, (end, filled) in heard if filled != own.get(end, "None").format(word)
        ]

    def lost(self) -> list[dict[str, Any]]:
        """Give the calls whose client stayed, and was not told what came of it."""
        ran, person = self.of("ran"), self.of("person")
        return [call for call in self.calls if not _is_right(call, ran, person)]


def _is_right(call: dict[str, Any], ran: dict[str, Any], person: dict[str, list[str]]) -> bool:
    word, (status, _, text) = call["word"], call["said"].partition(" ")
    if status == "cut":
        return call["mood"] in ("cancel", "disconnect", "never")
    if word not in ran:  # it never began, so nobody is told that it was done
        return bool(status not in ("done", "hung"))
    if call["tool"] not in ASKING:
        return bool((status, text) == ("done", f"{word}!"))
    at_host = person.get(word, [""])[0]
    if call["tool"] == "delete":
        right = (status == "done") == (at_host == "accept")
    elif call["mood"] == "decline":
        ends = {"accept": f"{word}!", "cancel": f"{word}: cancelled"}
        right = text == ends.get(at_host, f"{word}: declined")
    else:
        right = text == f"{word}!" if call["answered"] else status == "done"
    return bool(right or (call["took"] > DEADLINE and _may_be_late(call)))


def _may_be_late(call: dict[str, Any]) -> bool:
    """Whether a call's question may have ended before its answer came."""
    return bool(call["tool"] == "delete" or call["mood"] == "decline" or call["answered"])


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.timeout(3 * SECONDS + 240)
def test_nothing_is_lost_or_given_twice_and_nothing_grows(tmp_path: Path) -> None:
    """Sixteen clients; some cancel, some leave, some never answer."""
    command = [sys.executable, "-m", "tests.threats.soak", str(tmp_path), str(SECONDS)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=3 * SECONDS + 200)
    figures, written = json.loads(run.stdout), Written(tmp_path)

    print(json.dumps(figures, indent=1))
    assert figures.get("broken", 0) == 0
    assert written.twice() == []
    assert written.crossed() == []
    assert written.lost() == []
    assert figures["asked"] > figures["calls"] / 3
    before, after = figures["before"], figures["after"]
    assert abs(after["threads"] - before["threads"]) <= 2
    assert abs(after["fds"] - before["fds"]) <= 2
    assert after["rss"] - figures["warm"]["rss"] < GROWTH + PER_HOUR * SECONDS / 3600
    assert figures["longest_turn"] < STALL
