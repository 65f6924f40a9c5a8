"""A host that is used for a long time by many at once, half of whom ask (all rows together).

How long is said by ``DCC_BRIDGE_SOAK``, in seconds: 600 for the whole of it. The clocks of a busy
machine are printed beside those of a bare loop, and only guard against a hang.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.threats.crowd import ASKING
from tests.threats.soak import DEADLINE

SECONDS: Final = float(os.environ.get("DCC_BRIDGE_SOAK", "60"))
GROWTH: Final = 20.0
"""MB that a run may take besides: finished calls that are kept, and what the allocator keeps."""
PER_HOUR: Final = 1.0
STALL: Final = 3000.0
"""Milliseconds: no beat is as late as that, however busy the machine."""


@dataclass
class Told:
    """What was written down on both sides."""

    clients: list[dict[str, Any]]
    host: list[list[str]]

    @classmethod
    def read(cls, folder: Path) -> Told:
        """Read the files of a run."""
        clients = [json.loads(line) for line in (folder / "clients").read_text().splitlines()]
        host = [line.split() for line in (folder / "host").read_text().splitlines()]
        return cls(clients, host)

    def of(self, what: str) -> dict[str, list[str]]:
        """Give what the host wrote of that kind, by the word."""
        return {line[1]: line[2:] for line in self.host if line[0] == what}

    def twice(self) -> list[tuple[str, str]]:
        """Give what happened more than once, though it was asked for once."""
        counts = Counter((line[0], line[1]) for line in self.host)
        return [one for one, count in counts.items() if count > 1]

    def crossed(self) -> list[str]:
        """Give the words whose answer was another one's."""
        return [word for word, said in self.of("heard").items() if said[1:] == _others(word, said)]

    def lost(self) -> list[dict[str, Any]]:
        """Give the calls whose client stayed, and was not told what came of it."""
        ran, person = self.of("ran"), self.of("person")
        return [one for one in self.clients if not _is_right(one, ran, person)]


def _others(word: str, said: list[str]) -> list[str] | None:
    right = [f"{word}!"] if said[0] == "accept" else ["None"]
    return said[1:] if said[1:] != right else None


def _is_right(one: dict[str, Any], ran: dict[str, Any], person: dict[str, list[str]]) -> bool:
    word, (status, _, text) = one["word"], one["said"].partition(" ")
    if status == "cut":
        return one["mood"] in ("cancel", "disconnect", "never")
    if word not in ran:  # it never began, so nobody is told that it was done
        return bool(status not in ("done", "hung"))
    if one["tool"] not in ASKING:
        return bool((status, text) == ("done", f"{word}!"))
    if one["tool"] == "delete":
        agreed = person.get(word, [""])[0] == "accept"
        return bool((status == "done") == agreed or one["took"] > DEADLINE)
    if one["mood"] == "decline":
        heard = {"accept": f"{word}!", "cancel": f"{word}: cancelled"}
        right = heard.get(person.get(word, [""])[0], f"{word}: declined")
        return bool(text == right or one["took"] > DEADLINE)
    if one["answered"]:
        return bool(text == f"{word}!" or one["took"] > DEADLINE)
    return bool(status == "done")


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.timeout(3 * SECONDS + 240)
def test_nothing_is_lost_or_given_twice_and_nothing_grows(tmp_path: Path) -> None:
    """Sixteen clients; some cancel, some leave, some never answer."""
    command = [sys.executable, "-m", "tests.threats.soak", str(tmp_path), str(SECONDS)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=3 * SECONDS + 200)
    figures, told = json.loads(run.stdout), Told.read(tmp_path)

    print(json.dumps(figures, indent=1))
    assert figures.get("broken", 0) == 0
    assert told.twice() == []
    assert told.crossed() == []
    assert told.lost() == []
    assert figures["asked"] > figures["calls"] / 3
    before, after = figures["before"], figures["after"]
    assert abs(after["threads"] - before["threads"]) <= 2
    assert abs(after["fds"] - before["fds"]) <= 2
    assert after["rss"] - figures["warm"]["rss"] < GROWTH + PER_HOUR * SECONDS / 3600
    assert figures["beats"]["max"] < STALL + figures["bare"]["max"]
