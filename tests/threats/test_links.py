"""Names that somebody else took before us, as links to places of theirs (row 5).

5   `test_twelve_traps`, `test_a_folder_that_becomes_a_link_and_back`
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from dcc_bridge import private_files
from dcc_bridge.errors import BridgeError
from dcc_bridge.server.discovery import Instance, LockFile, Registration

if sys.platform == "win32":
    pytest.skip("links as anybody can make them", allow_module_level=True)
RACES = 30_000
NAME = "maya-0000"


@dataclass
class Trap:
    """A folder of ours, and one of somebody else's with a file of theirs in it."""

    ours: Path
    theirs: Path

    def __post_init__(self) -> None:
        self.theirs.mkdir()
        (self.theirs / "victim").write_text("theirs")

    @property
    def victim(self) -> Path:
        return self.theirs / "victim"

    @property
    def is_whole(self) -> bool:
        """Whether nothing came into their folder, and nothing was written to their file."""
        names = [one.name for one in self.theirs.iterdir()]
        return names == ["victim"] and self.victim.read_text() == "theirs"

    def folder_is_link(self) -> None:
        self.ours.symlink_to(self.theirs)

    def link(self, name: str, to: str = "victim") -> None:
        self.ours.mkdir(mode=0o700, parents=True)
        (self.ours / name).symlink_to(self.theirs / to)


def register(ours: Path) -> None:
    Registration(Instance("http://127.0.0.1:1/mcp", "m", "1", "s", id=NAME), ours).withdraw()


TRAPS: dict[str, tuple[Callable[[Trap], None], Callable[[Path], object]]] = {
    "the runtime folder": (Trap.folder_is_link, register),
    "a lock": (lambda trap: trap.link(f"{NAME}.lock"), register),
    "a lock that is not there": (lambda trap: trap.link(f"{NAME}.lock", "new"), register),
    "a record": (lambda trap: trap.link(f"{NAME}.json"), register),
    "a record that is not there": (lambda trap: trap.link(f"{NAME}.json", "new"), register),
    "the folder of a lock": (Trap.folder_is_link, lambda ours: LockFile(ours / "x.lock")),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_link_is_never_followed(name: str, tmp_path: Path) -> None:
    """What is to be written is written beside the link, or not at all; it is never followed."""
    trap = Trap(tmp_path / "ours", tmp_path / "theirs")
    lay, act = TRAPS[name]
    lay(trap)
    before = trap.victim.stat().st_mtime_ns

    with suppress(OSError, BridgeError):
        act(trap.ours)

    assert trap.is_whole
    assert trap.victim.stat().st_mtime_ns == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("act", [register, lambda ours: LockFile(ours / "x.lock")])
def test_a_folder_of_somebody_else_is_not_used(act: Callable[[Path], None], tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir(mode=0o777)
    os.chown(ours, 65534, 65534)

    with pytest.raises((OSError, BridgeError)):
        act(ours)

    assert list(ours.iterdir()) == []


def test_a_folder_that_becomes_a_link_and_back(tmp_path: Path) -> None:
    """Somebody swaps it as fast as they can while files are made: none is made in theirs."""
    trap = Trap(tmp_path / "ours", tmp_path / "theirs")
    trap.ours.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(trap.theirs)
    over, swaps = threading.Event(), 0

    def swap() -> None:
        nonlocal swaps
        while not over.is_set():
            os.rename(trap.ours, tmp_path / "aside")
            os.rename(tmp_path / "link", trap.ours)
            os.rename(trap.ours, tmp_path / "link")
            os.rename(tmp_path / "aside", trap.ours)
            swaps += 1

    thread = threading.Thread(target=swap)
    thread.start()
    made = 0
    try:
        for number in range(RACES):
            with suppress(OSError):
                os.close(private_files.create(trap.ours / f"{number}.json"))
                made += 1
    finally:
        over.set()
        thread.join()

    assert trap.is_whole
    assert swaps > 10
    assert 0 < made == len(list(trap.ours.iterdir()))
