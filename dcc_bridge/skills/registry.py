"""The skills of a bridge, by name. Any thread.

The skills that were added in code come first; then those of files, as `dcc_bridge.skills.loader`
last read them; then the verbs, the skills of the bridge itself. A file replaces a verb by a skill
of its name, also if the file is broken. The skills of all files are put together when somebody asks
for them, not when a file changes.
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
    """A skill that can be listed and called.

    Attributes:
        skill: The skill.
        signature: Its arguments and its result; None where only importing can say.
    """

    skill: Skill
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class FiledSkills:
    """The skills of all skill files.

    Attributes:
        entries: The skills, by name.
        broken: Why skills cannot be used, by the name under which an agent looks for them.
        refused: Why files and skills are left aside, by their place: a file that is not trusted,
            a skill whose name is taken.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    broken: Mapping[str, BrokenSkill] = field(default_factory=dict)
    refused: Mapping[str, SkillError] = field(default_factory=dict)


class Registry:
    """The skills of a bridge by name, and why others could not be loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._added: dict[str, Entry] = {}
        self._filing = threading.Lock()
        # The skills of files; or a function that puts them together, since nobody has asked yet.
        self._files: FiledSkills | Callable[[], FiledSkills] = FiledSkills()
        self._verbs: dict[str, Entry] = {}
        self._watchers = Callbacks()

    def add(self, skill: Skill) -> Callable[[], None]:
        """Add a skill that was made in code; return a function that removes it.

        Raises:
            SkillError: The name is taken; the message names both places.
            BrokenSkill: The name or the signature is not valid.
        """
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        check_name(skill.name)
        signature = Signature.of(skill.fn, skill.name, ask_missing=skill.metadata.ask_missing)
        entry = Entry(skill, signature)
        filed = self._filed  # before the lock: to put it together takes locks of its own
        with self._lock:
            taken = self._added.get(skill.name) or filed.entries.get(skill.name)
            if taken is not None:
                raise clash(taken.skill, skill)
            self._added[skill.name] = entry
        self._watchers.call()
        return lambda: self._remove(entry)

    def set_verbs(self, verbs: Iterable[Skill]) -> None:
        """Set the verbs, whose places skill files of their names take."""
        from dcc_bridge.skills.signature import Signature, shape_of  # as above

        entries = {}
        for verb in verbs:
            signature = Signature(shape_of(verb.fn, verb.name), verb.name)
            entries[verb.name] = Entry(verb, signature)
        self._verbs = entries
        self._watchers.call()

    def replace_filed(self, filed: Callable[[], FiledSkills]) -> None:
        """Replace the skills of files.

        Args:
            filed: Puts them together; called when somebody asks next. If it were called at once,
                each import of a thousand files would put all together.
        """
        with self._filing:
            self._files = filed

    @property
    def _filed(self) -> FiledSkills:
        """The skills of files, put together now if nobody has asked for them before."""
        files = self._files
        if isinstance(files, FiledSkills):  # frozen, so that no lock is needed to read it
            return files
        filed = files()
        with self._filing:
            if self._files is files:  # else files have changed meanwhile
                self._files = filed
        return filed

    def notify(self) -> None:
        """Call the watchers: the list of skills has changed."""
        self._watchers.call()

    def watch(self, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function when the list of skills has changed, on the thread that changed it.

        Args:
            fn: The function.

        Returns:
            A function that ends the watch.
        """
        return self._watchers.add(fn)

    @property
    def broken(self) -> dict[str, BrokenSkill]:
        """Why skills cannot be used, by the name under which an agent looks for them."""
        broken = self._filed.broken
        return {name: error for name, error in broken.items() if name not in self._added}

    @property
    def refused(self) -> dict[str, SkillError]:
        """Why files and skills are left aside, by their place."""
        return dict(self._filed.refused)

    @property
    def replaced(self) -> dict[str, str]:
        """The verbs whose places skill files take, also broken ones, with the place of each."""
        filed = self._filed
        places: dict[str, object] = dict(filed.broken)
        for name, entry in filed.entries.items():
            places[name] = entry.skill.file
        return {name: str(places[name]) for name in places.keys() & self._verbs.keys()}

    @property
    def added(self) -> dict[str, Entry]:
        """The skills that were made in code."""
        return dict(self._added)

    def find(self, name: str) -> Entry:
        """Return a skill by its name.

        Raises:
            BrokenSkill: The file of the skill could not be loaded.
            UnknownSkill: There is no skill of that name; similar names are in the message.
        """
        filed = self._filed
        entry = self._added.get(name) or filed.entries.get(name)
        if entry is not None:
            return entry
        if name in filed.broken:
            raise BrokenSkill(str(filed.broken[name]))
        if name in self._verbs:
            return self._verbs[name]
        names: list[str] = []
        if NAME.fullmatch(name):  # a name that no tool can have is not compared
            names = [entry.skill.name for entry in self.entries()]
        raise UnknownSkill(name, get_close_matches(name, names, n=2))

    def __contains__(self, name: Any) -> bool:
        """Return whether a skill, or a broken file, has that name."""
        filed = self._filed
        kinds = (self._added, filed.entries, filed.broken, self._verbs)
        return any(name in names for names in kinds)

    def entries(self) -> list[Entry]:
        """Return the skills, by name."""
        filed = self._filed
        with self._lock:
            every = {name: verb for name, verb in self._verbs.items() if name not in filed.broken}
            every.update(filed.entries)
            every.update(self._added)
        return [every[name] for name in sorted(every)]

    def _remove(self, entry: Entry) -> None:
        """Remove a skill that was added in code, unless another one has its name by now."""
        with self._lock:
            if self._added.get(entry.skill.name) is not entry:
                return
            del self._added[entry.skill.name]
        self._watchers.call()


def check_name(name: str) -> None:
    """Check that the protocol allows a tool's name.

    Raises:
        BrokenSkill: The name has other letters, or is too long.
    """
    if not NAME.fullmatch(name):
        raise BrokenSkill(
            f"{name!r} cannot be a tool's name: use at most 64 letters A to Z, digits and _ . / -."
        )


def clash(first: Skill, second: Skill) -> SkillError:
    """Return the error for a name that is taken."""
    return SkillError(
        f"There are two skills named {second.name!r}: in {first.file or 'the application'} and in "
        f"{second.file or 'the application'}. The first one is used. Rename the other."
    )
