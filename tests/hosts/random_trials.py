"""Edits at random, each tried and reverted: scene, undo and redo are as before, every time.

The edits are rows of a host's table of losses (`tests.hosts.losses_contract`) and edits that lose
nothing, in chains of 1 to 5 in one step. Between two trials a step is kept, undone or redone, as a
person does. ``TRIALS`` says how many edits, ``TRIALS_SEED`` makes the same ones again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tests.hosts.digests import scene_digest

if TYPE_CHECKING:
    from tests.hosts.losses_contract import Kind, Losing

EDITS: Final = 20  # where nobody says how many
_MOST_IN_A_STEP: Final = 5
_MOST_KEPT: Final = 10  # steps on the stack; some hosts keep only 20
_BENIGN: Final = "an edit that loses nothing"


def seed() -> str:
    """Return what the edits are drawn with."""
    return os.environ.get("TRIALS_SEED") or str(random.randrange(10**6))


@dataclass
class RandomTrials:
    """A scene that is edited at random.

    Attributes:
        losing: The host, with a new scene.
        kinds: The rows of its table.
        seed: What the edits are drawn with.
    """

    losing: Losing
    kinds: Mapping[str, Kind]
    seed: str
    _done: list[str] = field(default_factory=list)  # the digests of the scenes that can be undone
    _undone: list[str] = field(default_factory=list)  # of those that can be redone

    def run(self, edits: int) -> None:
        """Try so many edits; AssertionError names those after which something was not as before."""
        chance = random.Random(self.seed)
        self._done.append(scene_digest(self.losing.host))
        made = number = 0
        while made < edits:
            self._between(chance)
            names = list(self._drawn(chance))
            self._try(names, f"trial {number} of TRIALS_SEED={self.seed}: {', '.join(names)}")
            made += len(names)
            number += 1

    def _drawn(self, chance: random.Random) -> Iterator[str]:
        for _ in range(chance.randint(1, _MOST_IN_A_STEP)):
            yield chance.choice([*self.kinds, _BENIGN])

    def _try(self, names: list[str], where: str) -> None:
        host = self.losing.host
        mark = host.undo_mark()

        with host.guard([], read=False), host.undo_step("Tried"):
            trial = host.trial()
            assert trial is not None
            for name in names:
                edit = self.losing.edit if name == _BENIGN else self.kinds[name].edit
                with suppress(Exception):  # an edit before it took away what it wants
                    edit()
            left = trial.revert()
            is_edited = trial.is_edited()

        assert (scene_digest(host), host.undo_mark()) == (self._done[-1], mark), where
        assert (left, is_edited) == ([], False), where
        if not trial.keeps_redo:
            self._undone.clear()
        if self._undone:
            host.redo()
            assert scene_digest(host) == self._undone[-1], where
            host.undo()
            assert scene_digest(host) == self._done[-1], where
            assert host.undo_mark() == mark, where

    def _between(self, chance: random.Random) -> None:
        """Do what a person may do between two trials: keep a step, undo one, redo one."""
        host = self.losing.host
        choice = chance.choice(["keep", "undo", "redo", "nothing"])
        if choice == "keep" and len(self._done) < _MOST_KEPT:
            with host.guard([], read=False), host.undo_step("Kept"):
                self.losing.edit()
            self._done.append(scene_digest(host))
            self._undone.clear()
        elif choice == "undo" and len(self._done) > 1:
            host.undo()
            self._undone.append(self._done.pop())
        elif choice == "redo" and self._undone:
            host.redo()
            self._done.append(self._undone.pop())
