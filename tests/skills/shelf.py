"""Skill files in folders, with a main thread that the test runs."""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from dcc_bridge.headless import Pump
from dcc_bridge.skills.loader import Library
from dcc_bridge.skills.registry import Entry, Registry
from tests.stand_ins import FakeHost

T = TypeVar("T")


class Shelf:
    """A library over some folders.

    Attributes:
        host: Whose scene it is.
        changes: How often it was told that what is listed has changed.
    """

    def __init__(self, *folders: Path, host: str = "") -> None:
        self.registry = Registry()
        self.pump = Pump()
        self.host = FakeHost()
        self.host.name = host
        self.library = Library(folders, self.registry, self.pump.main, self.host)
        self.changes = 0
        self.registry.watch(self._note)

    def look(self) -> None:
        self.library.look()

    def fetch(self, name: str) -> Entry:
        return self.wait(self.library.fetch(name))

    def complete(self) -> None:
        """Import what cannot be listed without."""
        for one in self.library.complete():
            self.wait(one)

    def call(self, name: str, **arguments: Any) -> Any:
        return self.fetch(name).skill.fn(**arguments)

    def names(self) -> list[str]:
        return [entry.skill.name for entry in self.registry.entries()]

    def wait(self, future: Future[T]) -> T:
        """Serve the main thread until a future is done."""
        future.add_done_callback(lambda _: self.pump.wake(0.0))
        self.pump.run(future.done)
        return future.result()

    def _note(self) -> None:
        self.changes += 1


def save(file: Path, text: str) -> Path:
    """Write a file; never with the times and the size that it had."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    if before:
        os.utime(file, ns=(before + 1_000_000, before + 1_000_000))
    return file


def shelved(folder: Path, *, host: str = "", **texts: str) -> Shelf:
    """Write files of those names, and make a library that has looked at them."""
    for name, text in texts.items():
        save(folder / f"{name}.py", text)
    shelf = Shelf(folder, host=host)
    shelf.look()
    return shelf
