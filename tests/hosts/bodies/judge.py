"""Runs bodies in one host, each in a scene of its own, and says what is wrong with them."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar
from unittest.mock import patch

from tests.hosts.bodies.port import Port

APort = TypeVar("APort", bound=Port)
APlan = TypeVar("APlan")


class Judge(ABC, Generic[APort, APlan]):
    """Judges the bodies of one kind.

    Attributes:
        checks: What keeps a body to what was agreed to.
        statuses: How bodies ended, and how often.
        asked: How many questions there were.
    """

    checks: ClassVar[Sequence[str]]

    def __init__(self, kind: type[APort], folder: Path) -> None:
        """Take the host, which puts its scenes into a folder."""
        self._kind = kind
        self._folder = folder
        self._spoil: Callable[[APort], None] = lambda port: None
        self.statuses = Counter[str]()
        self.asked = 0

    @abstractmethod
    def make(self, seed: int) -> APlan:
        """Return the body of a seed."""

    @abstractmethod
    def smaller(self, plan: APlan) -> Iterable[APlan]:
        """Return the bodies that are a step smaller."""

    @abstractmethod
    def play(self, plan: APlan) -> list[str]:
        """Run a body, and return what is wrong with what it left."""

    @abstractmethod
    def told(self) -> list[str]:
        """Return what else there is to say of the body that was played last."""

    @abstractmethod
    def stopped_by(self, check: str) -> APlan:
        """Return a body that a check alone would stop."""

    @abstractmethod
    def switched_off(self, check: str) -> AbstractContextManager[Any]:
        """Have the bridge do without a check while the block lasts."""

    def find(self, seed: int) -> str:
        """Run the body of a seed; return what it did that nobody agreed to, or "".

        It is shrunk to the smallest body that does any such thing.
        """
        plan = self.make(seed)
        wrong = self.play(plan)
        if not wrong:
            return ""
        plan = self._shrunk(plan)
        wrong = self.play(plan) or wrong
        return "\n  ".join([f"seed {seed}: {wrong}", str(plan), *self.told()])

    def find_without(self, check: str) -> list[str]:
        """Switch a check of the bridge off, and play a body that it would have stopped."""
        plan = self.stopped_by(check)
        with self.switched_off(check):
            return self.play(plan)

    def _shrunk(self, plan: APlan) -> APlan:
        """Take away of a bad body what it does not need to be one."""
        found: APlan | None = plan
        while found is not None:
            plan = found
            found = next((other for other in self.smaller(plan) if self.play(other)), None)
        return plan

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """Make the folders of one body; its temporary files are not beside its scene."""
        whole = Path(tempfile.mkdtemp(prefix="p", dir=self._folder))
        folder, temporary = whole / "scene", whole / "temporary"
        folder.mkdir()
        temporary.mkdir()
        state = {"XDG_STATE_HOME": str(folder / "bridge")}
        try:
            with patch.dict("os.environ", state), patch.object(tempfile, "tempdir", str(temporary)):
                yield folder
        finally:
            shutil.rmtree(whole)

    @contextmanager
    def _opened(self, folder: Path) -> Iterator[APort]:
        """Have a scene in a folder."""
        port = self._kind(folder)
        self._spoil(port)
        try:
            yield port
        finally:
            port.close()


def run(judge: Judge[Any, Any], folder: Path, words: Sequence[str]) -> str:
    """Run bodies where a host has an interpreter of its own; return what is wrong, or "".

    Args:
        judge: The judge of them.
        folder: Where the file ``seed`` says how far it is.
        words: The first seed, and how many bodies; or nothing, to see that something is found with
            each of the checks switched off.
    """
    logging.disable(logging.ERROR)  # what bodies do wrong on purpose
    if not words:
        blind = [check for check in judge.checks if not judge.find_without(check)]
        return f"nothing is found without {blind}" if blind else ""
    first, count = map(int, words)
    wrong: list[str] = []
    for seed in range(first, first + count):
        (folder / "seed").write_text(str(seed))
        found = judge.find(seed)
        if found:
            wrong.append(found)
            print(found, file=sys.stderr, flush=True)
    return "\n".join(wrong)
