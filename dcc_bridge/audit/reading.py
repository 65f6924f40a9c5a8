"""What the record tells: whether it is whole, and what was begun and never ended. Any thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import chain
from dcc_bridge.audit.book import CLOSED, ROTATED
from dcc_bridge.audit.chain import BrokenChain, Line

RECOVERED: Final = "recovered"
ENDINGS: Final = ("end", "rolled_back", "failed", "no_consent", "partly_applied", "rejected")
"""The events with which a call ends."""
_NAME: Final = re.compile(r"(.+)\.(\d{3,})\.jsonl")


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a book.

    Attributes:
        file: Where it is.
        lines: As far as they hang together.
        rest: What stands behind the last line end: a write that a crash cut short.
        broken: Where the chain ends too early, or None.
    """

    file: Path
    lines: list[Line]
    rest: bytes = b""
    broken: BrokenChain | None = None

    @property
    def number(self) -> int:
        """Which part of its book it is, from 1."""
        found = _NAME.fullmatch(self.file.name)
        return int(found[2]) if found else 1


@dataclass(frozen=True)
class Told:
    """A book as it was read.

    Attributes:
        parts: Its files, in order.
    """

    parts: list[Part]

    @property
    def header(self) -> dict[str, Any]:
        """What is the same for all its events."""
        lines = self.parts[0].lines
        return lines[0].fields if lines else {}

    @property
    def ending(self) -> str | None:
        """The end mark, or None: it is still written, its process died, or its tail was cut."""
        lines = self.parts[-1].lines
        last = lines[-1].event if lines else None
        return last if last in (CLOSED, RECOVERED, ROTATED) else None

    @cached_property
    def trouble(self) -> tuple[Path, int, str] | None:
        """The first broken link: the file, the line from 1 and what is wrong; None if all hangs."""
        before: Part | None = None
        for part in self.parts:
            why = _trouble(part, before, is_last=part is self.parts[-1])
            if why is not None:
                return part.file, why.number, why.why
            before = part
        return None

    def lines(self) -> Iterator[Line]:
        """Give all lines as far as they hang together, without those that were taken back."""
        for part, after in zip(self.parts, [*self.parts[1:], None], strict=True):
            last = after.lines[0].fields.get("prev") if after and after.lines else None
            for line in part.lines:
                yield line
                if line.hash == last:
                    break
            if part.broken is not None:
                return

    @cached_property
    def unfinished(self) -> list[Line]:
        """The last thing known of each call that was granted or begun, and has no end."""
        open_: dict[str, Line] = {}
        for line in self.lines():
            call = str(line.fields.get("call"))
            if line.event == "begin" or (line.event == "granted" and line.fields.get("client")):
                open_[call] = line
            elif line.event in ENDINGS:
                open_.pop(call, None)
        return list(open_.values())


def read(file: Path) -> Told:
    """Read the book that a file belongs to.

    Raises:
        OSError: A file cannot be read.
    """
    return Told([Part(one, *chain.check(one.read_bytes())) for one in parts(file)])


def parts(file: Path) -> list[Path]:
    """List the files of the book that a file belongs to, in order."""
    found = _NAME.fullmatch(file.name)
    named = file.parent.glob(f"{_escaped(found[1])}.*.jsonl") if found else ()
    return sorted({file, *named}, key=lambda one: Part(one, []).number)


def books(folder: Path) -> list[Path]:
    """List the first file of each book in a folder, the oldest first."""
    firsts: dict[str, Path] = {}
    for file in sorted(folder.glob("*.jsonl")):
        found = _NAME.fullmatch(file.name)
        if found and file.is_file() and not file.is_symlink():
            firsts.setdefault(found[1], file)
    return list(firsts.values())


def _trouble(part: Part, before: Part | None, *, is_last: bool) -> BrokenChain | None:
    if part.lines:
        last = part.lines[0].fields.get("prev")
        known = {chain.START} if before is None else {line.hash for line in before.lines}
        if last not in known:
            return BrokenChain(1, "it does not hang on the file before, or that one is missing.")
    if part.broken is not None:
        return part.broken
    if part.rest and is_last:  # else it is a write that failed, and the next file goes on from here
        why = "it is not whole: its process died over it, or somebody changed it."
        return BrokenChain(len(part.lines) + 1, why)
    if part.lines or (is_last and before is not None):  # it was made, and its process died
        return None
    return BrokenChain(1, "the file is empty.")


def _escaped(name: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", name)
