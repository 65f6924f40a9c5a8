"""Which clients may come in: all that have a token, but for those that were revoked. Any thread.

What was revoked holds in every host of this user, now and after its next start, so it is in files:
two small ones a label in the user's state folder. ``<name>.json`` says how the label stands, and
only a command writes it; the time of ``<name>.seen`` is when its client was last let in, and hosts
set it. A host looks whether the file changed at every request; that takes microseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import private_files

_MINUTE: Final = 60.0
_FOLLOWS: Final = os.utime not in os.supports_follow_symlinks
"""Windows cannot help it; there others cannot write to the folder."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a label stands.

    Attributes:
        label: Which one.
        turn: How often its tokens were revoked; part of those that are made now.
        revoked: Nobody with that label is let in.
        seen: When a client with it was last let in, in seconds since the epoch; None for never.
    """

    label: str
    turn: int = 0
    revoked: bool = False
    seen: float | None = None


class Access:
    """What the user decided on clients."""

    def __init__(self, folder: Path | None = None) -> None:
        """Look in a folder; None for the user's own."""
        self._folder = folder or platformdirs.user_state_path("dcc_bridge") / "clients"
        self._known: dict[str, tuple[tuple[int, int, int], Standing]] = {}
        self._noted: dict[str, float] = {}

    def standing(self, label: str) -> Standing:
        """Tell how a label stands. What cannot be read is taken for revoked."""
        file = self._file(label, ".json")
        try:
            found = os.stat(file, follow_symlinks=False)
        except FileNotFoundError:
            return Standing(label)
        except OSError:
            return Standing(label, revoked=True)
        state = found.st_mtime_ns, found.st_size, found.st_ino
        known = self._known.get(label)
        if known is None or known[0] != state:
            known = self._known[label] = state, _read(file, label)
        return known[1]

    def revoke(self, label: str) -> None:
        """Let nobody with that label in any more.

        Raises:
            OSError: It cannot be written down, so it does not hold.
        """
        self._write(label, self.standing(label).turn + 1, revoked=True)

    def admit(self, label: str) -> None:
        """Let it in again, with a token that is made from now on.

        Raises:
            OSError: It cannot be written down.
        """
        before = self.standing(label)
        if before.revoked:
            self._write(label, before.turn, revoked=False)

    def note(self, label: str) -> None:
        """Write down that a client was let in; once a minute is enough."""
        now = time.monotonic()
        if now - self._noted.get(label, -_MINUTE) < _MINUTE:
            return
        self._noted[label] = now
        file = self._file(label, ".seen")
        with suppress(OSError):  # it is let in all the same
            try:
                os.utime(file, follow_symlinks=_FOLLOWS)
            except FileNotFoundError:
                private_files.folder(self._folder)
                with open(private_files.create(file), "w", encoding="utf-8") as out:
                    out.write(label)

    def labels(self) -> list[Standing]:
        """List the labels that were seen or revoked, the one that was seen last first."""
        found = {}
        for file in [*self._folder.glob("*.seen"), *self._folder.glob("*.json")]:
            with suppress(OSError, ValueError):  # it has just gone, or is none of ours
                label = file.read_text(encoding="utf-8")
                label = json.loads(label)["label"] if file.suffix == ".json" else label
                found[label] = self._full(label)
        return sorted(found.values(), key=lambda one: (-(one.seen or 0), one.label))

    def _full(self, label: str) -> Standing:
        now, seen = self.standing(label), None
        with suppress(OSError):
            seen = self._file(label, ".seen").stat().st_mtime
        return Standing(label, now.turn, now.revoked, seen)

    def _file(self, label: str, ending: str) -> Path:
        """Give the file of a label, which may hold whatever a name of a file may not."""
        name = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{name}{ending}"

    def _write(self, label: str, turn: int, *, revoked: bool) -> None:
        file = self._file(label, ".json")
        private_files.folder(self._folder)
        new = file.with_suffix(f".{secrets.token_hex(4)}.new")
        with open(private_files.create(new), "w", encoding="utf-8") as out:
            json.dump({"label": label, "turn": turn, "revoked": revoked}, out)
        os.replace(new, file)


def _read(file: Path, label: str) -> Standing:
    try:
        with open(private_files.reopen(file), encoding="utf-8") as text:
            told = json.load(text)
        if told["label"] == label:
            return Standing(label, int(told["turn"]), bool(told["revoked"]))
    except (OSError, ValueError, LookupError, TypeError):
        pass
    return Standing(label, revoked=True)
