"""What is known of each skill file, and what all of them make together. Any thread.

A `SkillFile` is frozen: as it was read, or as it was imported, or why it cannot be used. From all
of them, in the order of trust, `filed` makes what the registry holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dcc_bridge.errors import BrokenSkill, SkillError
from dcc_bridge.skills.importer import nothing_in
from dcc_bridge.skills.registry import NAME, Entry, Filed, check_name, clash
from dcc_bridge.skills.signature import Signature
from dcc_bridge.skills.skill import Skill, title_of, unimported
from dcc_bridge.skills.source import Declared, Source


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file, and what is known of it.

    Attributes:
        source: What was read.
        entries: Its skills, as far as they are known.
        is_imported: Its functions are there.
        is_certain: Its text, or its import, says all.
        error: Why it cannot be used, or None.
        names: The tools that it had before it broke.
        is_refused: It is not trusted, and was not even read.
    """

    source: Source
    entries: tuple[Entry, ...] = ()
    is_imported: bool = False
    is_certain: bool = True
    error: SkillError | None = None
    names: tuple[str, ...] = ()
    is_refused: bool = False

    @property
    def needs_import(self) -> bool:
        """Whether it cannot be listed right without being imported."""
        if self.is_imported or self.error is not None:
            return False
        return not self.is_certain or any(entry.signature is None for entry in self.entries)

    @property
    def can_heal(self) -> bool:
        """Whether importing it failed, which may go better another time."""
        return self.error is not None and bool(self.source.content) and not self.is_refused

    def may_offer(self, name: str) -> bool:
        """Whether a tool of that name broke when it was imported, and may be tried again."""
        return self.can_heal and name in _keys(self)


def read(source: Source, host: str) -> SkillFile:
    """Read a file, without running any of it.

    Args:
        source: Its text.
        host: The host's name; a skill for other hosts is passed over.
    """
    try:
        declared = source.skills()
    except BrokenSkill as error:
        return SkillFile(replace(source, content=b""), error=error)
    if declared is None:
        return SkillFile(source, is_certain=False)
    if not declared:
        return SkillFile(replace(source, content=b""), error=nothing_in(source.file))
    return SkillFile(
        source, _for_host([_entry(declaration, source) for declaration in declared], host)
    )


def refused(file: Path, error: SkillError) -> SkillFile:
    """Note a file that is not to be trusted."""
    return SkillFile(Source(file, b"", ""), error=error, is_refused=True)


def imported(skill_file: SkillFile, skills: Iterable[Skill], host: str) -> SkillFile:
    """Take the functions in; what they say counts from now on.

    Raises:
        BrokenSkill: The signature of one cannot be described.
    """
    try:
        entries = [
            Entry(skill, Signature.of(skill.fn, skill.name, ask_missing=skill.metadata.ask_missing))
            for skill in skills
        ]
    except BrokenSkill as error:
        raise BrokenSkill(f"{skill_file.source.file.name}: {error}") from error
    return replace(
        skill_file,
        entries=_for_host(entries, host),
        is_imported=True,
        is_certain=True,
        error=None,
        names=(),
    )


def broken(skill_file: SkillFile, error: BrokenSkill) -> SkillFile:
    """Note that a file cannot be imported: nothing of it can be called."""
    names = skill_file.names or tuple(entry.skill.name for entry in skill_file.entries)
    return replace(skill_file, entries=(), error=error, names=names)


def succeeding(skill_file: SkillFile, before: SkillFile | None) -> SkillFile:
    """Let a file that broke when it was saved keep the names of its tools, to say why there."""
    if skill_file.error is None or before is None:
        return skill_file
    return replace(
        skill_file, names=before.names or tuple(entry.skill.name for entry in before.entries)
    )


def is_listed_alike(first: SkillFile, other: SkillFile) -> bool:
    """Whether an agent that listed the tools sees the same in both."""
    if str(first.error) != str(other.error) or len(first.entries) != len(other.entries):
        return False
    if not (first.is_certain and other.is_certain):
        return False
    return all(map(_is_alike, first.entries, other.entries))


def filed(
    skill_files: Iterable[SkillFile],
    added: Mapping[str, Entry],
    folders: Mapping[str, SkillError],
) -> Filed:
    """Put the skill_files together.

    Args:
        skill_files: In the order of trust.
        added: What was made in code, which comes before all of them.
        folders: The folders that are not trusted.
    """
    entries: dict[str, Entry] = {}
    broken: dict[str, BrokenSkill] = {}
    refused: dict[str, SkillError] = dict(folders)
    for skill_file in skill_files:
        if skill_file.error is not None:
            if skill_file.is_refused:
                refused[str(skill_file.source.file)] = skill_file.error
            for key in _keys(skill_file):
                broken.setdefault(key, BrokenSkill(str(skill_file.error)))
        for entry in skill_file.entries:
            _place(entry, entries, refused, added)
    return Filed(entries, {n: e for n, e in broken.items() if n not in entries}, refused)


def _place(
    entry: Entry,
    entries: dict[str, Entry],
    refused: dict[str, SkillError],
    added: Mapping[str, Entry],
) -> None:
    skill = entry.skill
    taken = added.get(skill.name) or entries.get(skill.name)
    if taken is None and NAME.fullmatch(skill.name):
        entries[skill.name] = entry
        return
    place = f"{skill.file}: {skill.name}"
    if taken is not None:
        refused[place] = clash(taken.skill, skill)
        return
    try:
        check_name(skill.name)
    except BrokenSkill as error:
        refused[place] = BrokenSkill(f"{skill.file}: {error}")


def _keys(skill_file: SkillFile) -> tuple[str, ...]:
    """Give the names under which an agent looks for what is broken."""
    return skill_file.names or (re.sub(r"[^A-Za-z0-9_.-]", "_", skill_file.source.file.stem)[:64],)


def _entry(declared: Declared, source: Source) -> Entry:
    metadata = declared.metadata
    title = title_of(declared.name, metadata)
    skill = Skill(declared.name, title, unimported, metadata, source.file, source.digest)
    asks = metadata.ask_missing
    shape = declared.shape
    signature = Signature(shape, skill.name, ask_missing=asks) if shape is not None else None
    return Entry(skill, signature)


def _for_host(entries: Iterable[Entry], host: str) -> tuple[Entry, ...]:
    """Give those that can run in this host."""
    every = ((entry, entry.skill.metadata.hosts) for entry in entries)
    return tuple(entry for entry, hosts in every if not hosts or host in hosts)


def _is_alike(first: Entry, other: Entry) -> bool:
    if (first.skill.name, first.skill.metadata) != (other.skill.name, other.skill.metadata):
        return False
    if first.signature is None or other.signature is None:
        return False
    return first.signature.is_listed_like(other.signature)
