"""The skills that there are, by name. Any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcc_bridge.errors import BrokenSkill, SkillError, UnknownSkill
from dcc_bridge.skills.skill import Skill

if TYPE_CHECKING:
    from dcc_bridge.skills.signature import Signature


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill that can be listed and called.

    Attributes:
        skill: What it is.
        signature: What it takes.
    """

    skill: Skill
    signature: Signature


class Registry:
    """Skills by name, and what could not be loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._broken: dict[str, BrokenSkill] = {}

    def add(self, skill: Skill) -> Callable[[], None]:
        """Take a skill in.

        Returns:
            What takes it out again.

        Raises:
            SkillError: The name is taken; both places are named.
            BrokenSkill: Its signature cannot be described.
        """
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        entry = Entry(skill, Signature(skill.fn, skill.name))
        with self._lock:
            taken = self._entries.get(skill.name)
            if taken is not None:
                raise SkillError(
                    f"There are two skills named {skill.name!r}: in {taken.skill.file} and in "
                    f"{skill.file}. The first one stays; rename the other."
                )
            self._entries[skill.name] = entry
        return lambda: self._remove(entry)

    def note_broken(self, name: str, error: BrokenSkill) -> Callable[[], None]:
        """Remember why a file could not be loaded. Gives what forgets it."""
        with self._lock:
            self._broken[name] = error

        def forget() -> None:
            with self._lock:
                self._broken.pop(name, None)

        return forget

    @property
    def broken(self) -> dict[str, BrokenSkill]:
        """What could not be loaded, by the file's name, and why."""
        with self._lock:
            return dict(self._broken)

    def find(self, name: str) -> Entry:
        """Give a skill.

        Raises:
            BrokenSkill: Its file could not be loaded.
            UnknownSkill: There is none.
        """
        with self._lock:
            entry, error = self._entries.get(name), self._broken.get(name)
        if entry is not None:
            return entry
        raise BrokenSkill(str(error)) if error else UnknownSkill(name)

    def __contains__(self, name: Any) -> bool:
        """Whether a skill, or a broken file, has that name."""
        with self._lock:
            return name in self._entries or name in self._broken

    def entries(self) -> list[Entry]:
        """List the skills, by name."""
        with self._lock:
            return [self._entries[name] for name in sorted(self._entries)]

    def _remove(self, entry: Entry) -> None:
        with self._lock:
            if self._entries.get(entry.skill.name) is entry:
                del self._entries[entry.skill.name]
