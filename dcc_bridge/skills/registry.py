"""The skills that there are, by name. Any thread.

Those that were added in code come first; then those of files, as `dcc_bridge.skills.loader`
last read them; then the verbs, whose places files may take.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.errors import BrokenSkill, SkillError, UnknownSkill
from dcc_bridge.skills.skill import Skill

if TYPE_CHECKING:
    from dcc_bridge.skills.signature import Signature

NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,64}")  # a tool's, by SEP-986 of MCP 2025-11-25


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill that can be listed and called."""

    skill: Skill
    signature: Signature | None  # what it takes and gives; None where only importing can say


@dataclass(frozen=True, slots=True)
class Filed:
    """What skill files hold."""

    entries: Mapping[str, Entry] = field(default_factory=dict)  # the skills by name
    # What cannot be used, by the name under which an agent would look for it, and why.
    broken: Mapping[str, BrokenSkill] = field(default_factory=dict)
    # What is left aside, by its place, and why: it is not trusted, or its name is taken.
    refused: Mapping[str, SkillError] = field(default_factory=dict)


class Registry:
    """Skills by name, and what could not be loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._added: dict[str, Entry] = {}
        self._filing = threading.Lock()
        self._kept: Filed | Callable[[], Filed] = Filed()  # of files, or what puts them together
        self._verbs: dict[str, Entry] = {}
        self._watchers = Callbacks()

    def add(self, skill: Skill) -> Callable[[], None]:
        """Take a skill in that was made in code; gives what takes it out again.

        SkillError names both places where the name is taken; BrokenSkill stands for its signature.
        """
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        check_name(skill.name)
        asks = skill.metadata.ask_missing
        entry = Entry(skill, Signature.of(skill.fn, skill.name, ask_missing=asks))
        filed = self._filed  # it may be put together now, which takes locks of its own
        with self._lock:
            taken = self._added.get(skill.name) or filed.entries.get(skill.name)
            if taken is not None:
                raise clash(taken.skill, skill)
            self._added[skill.name] = entry
        self._watchers.call()
        return lambda: self._remove(entry)

    def set_verbs(self, verbs: Iterable[Skill]) -> None:
        """Take in the tools whose places skill files of their names take."""
        from dcc_bridge.skills.signature import Signature, shape_of  # as above

        self._verbs = {it.name: Entry(it, Signature(shape_of(it.fn, it.name), it.name))
                       for it in verbs}  # fmt: skip
        self._watchers.call()

    def replace_filed(self, filed: Callable[[], Filed]) -> None:
        """Take in what skill files hold now, which is put together once somebody wants to know.

        Not before: while a thousand files are imported, each of them would have all put together.
        """
        with self._filing:
            self._kept = filed

    @property
    def _filed(self) -> Filed:
        kept = self._kept
        if isinstance(kept, Filed):  # frozen: a call, which looks here three times, takes no lock
            return kept
        filed = kept()
        with self._filing:
            if self._kept is kept:  # else files have changed meanwhile
                self._kept = filed
        return filed

    def notify(self) -> None:
        """Call whoever watches: what is listed has changed."""
        self._watchers.call()

    def watch(self, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function when what is listed has changed, on the thread that changed it."""
        return self._watchers.add(fn)

    @property
    def broken(self) -> dict[str, BrokenSkill]:
        """What cannot be used, by the name under which an agent would look for it, and why."""
        return {n: e for n, e in self._filed.broken.items() if n not in self._added}

    @property
    def refused(self) -> dict[str, SkillError]:
        """What is left aside, by its place, and why."""
        return dict(self._filed.refused)

    @property
    def replaced(self) -> dict[str, str]:
        """The verbs whose places skill files take, also broken ones, and where those are."""
        filed = self._filed  # frozen
        places: dict[str, object] = {**filed.broken}
        places |= {name: entry.skill.file for name, entry in filed.entries.items()}
        return {name: str(places[name]) for name in places.keys() & self._verbs.keys()}

    @property
    def added(self) -> dict[str, Entry]:
        """The skills that were made in code."""
        return dict(self._added)

    def find(self, name: str) -> Entry:
        """Give a skill; BrokenSkill where its file could not be loaded, UnknownSkill for none."""
        filed = self._filed
        if (entry := self._added.get(name) or filed.entries.get(name)) is not None:
            return entry
        if name in filed.broken:
            raise BrokenSkill(str(filed.broken[name]))
        if name in self._verbs:
            return self._verbs[name]
        # a name that no tool can have is not compared
        names = [it.skill.name for it in self.entries()] if NAME.fullmatch(name) else []
        raise UnknownSkill(name, get_close_matches(name, names, n=2))

    def __contains__(self, name: Any) -> bool:
        """Whether a skill, or a broken file, has that name."""
        filed = self._filed
        return any(name in it for it in (self._added, filed.entries, filed.broken, self._verbs))

    def entries(self) -> list[Entry]:
        """List the skills, by name."""
        filed = self._filed
        with self._lock:
            verbs = {n: it for n, it in self._verbs.items() if n not in filed.broken}
            every = {**verbs, **filed.entries, **self._added}
        return [every[name] for name in sorted(every)]

    def _remove(self, entry: Entry) -> None:
        with self._lock:
            if self._added.get(entry.skill.name) is not entry:
                return
            del self._added[entry.skill.name]
        self._watchers.call()


def check_name(name: str) -> None:
    """Refuse (BrokenSkill) a name of letters that the protocol does not know, or too long a one."""
    if not NAME.fullmatch(name):
        raise BrokenSkill(
            f"{name!r} cannot be a tool's name: use at most 64 letters A to Z, digits and _ . / -."
        )


def clash(first: Skill, second: Skill) -> SkillError:
    """Say that a name is taken."""
    return SkillError(
        f"There are two skills named {second.name!r}: in {first.file or 'the application'} and in "
        f"{second.file or 'the application'}. The first one is used. Rename the other."
    )
