"""The records of skill files: as they were read, or imported, or why they cannot be used.

A `SkillFile` is frozen. From all of them, in the order of trust, `filed` makes what the registry
holds. A file is imported on the main thread, and all else is done on any thread. What is imported
are the very bytes that were read and listed: Python's own import would look at the file again, and
might run a compiled copy of what it was a moment ago, which it recognises by its time in whole
seconds and its size alone.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Final

from dcc_bridge.errors import BrokenSkill, Busy, SkillError
from dcc_bridge.host import Host, Trial, UndoMark, loss_check
from dcc_bridge.skills.registry import Entry, Filed, check_name, clash
from dcc_bridge.skills.skill import Skill, describe, metadata_of, unimported
from dcc_bridge.skills.source import DeclaredSkill, Source, explained
from dcc_bridge.threads.flows import importing

KEPT: Final = 16  # versions of a file: a call that runs may still look its types up in Python


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file, and what is known of it."""

    source: Source  # what was read
    entries: tuple[Entry, ...] = ()  # its skills, as far as they are known
    is_imported: bool = False  # its functions are there
    is_certain: bool = True  # its text, or its import, says all
    error: SkillError | None = None  # why it cannot be used, or None
    # The tools that it had before it broke, or was to bring by its text.
    names: tuple[str, ...] = ()
    is_refused: bool = False  # it is not trusted, and was not even read

    @property
    def needs_import(self) -> bool:
        """Whether it cannot be listed right without being imported."""
        if self.is_imported or self.error is not None:
            return False
        return not self.is_certain or any(entry.signature is None for entry in self.entries)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of its tools; of a broken file those that it had, or was to bring."""
        return self.names or tuple(entry.skill.name for entry in self.entries)

    def may_offer(self, name: str) -> bool:
        """Whether a tool of that name broke when it was imported, and may be tried again."""
        return self.error is not None and bool(self.source.content) and name in _keys(self)


def read(source: Source, host: str) -> SkillFile:
    """Read a file, without running any of it; a skill for other hosts is passed over."""
    try:
        declared = source.skills()
    except BrokenSkill as error:
        return SkillFile(replace(source, content=b""), error=error, names=source.marked())
    if declared is None:
        return SkillFile(source, is_certain=False)
    if not declared:
        return SkillFile(replace(source, content=b""), error=nothing_in(source.file))
    return SkillFile(source, _for_host([_entry(it, source) for it in declared], host))


def refused(file: Path, error: SkillError) -> SkillFile:
    """Note a file that is not to be trusted."""
    return SkillFile(Source(file, b"", ""), error=error, is_refused=True)


def imported(skill_file: SkillFile, skills: Iterable[Skill], host: str) -> SkillFile:
    """Take the functions in, whose word counts from now on; BrokenSkill for a bad signature."""
    from dcc_bridge.skills.signature import Signature  # pydantic, which a start need not wait for

    try:
        entries = [
            Entry(skill, Signature.of(skill.fn, skill.name, ask_missing=skill.metadata.ask_missing))
            for skill in skills
        ]
    except BrokenSkill as error:
        raise BrokenSkill(f"{skill_file.source.file.name}: {error}") from error
    return SkillFile(skill_file.source, _for_host(entries, host), is_imported=True)


def broken(skill_file: SkillFile, error: BrokenSkill) -> SkillFile:
    """Note that a file cannot be imported: nothing of it can be called."""
    return replace(skill_file, entries=(), error=error, names=skill_file.tools)


def is_listed_alike(first: SkillFile, other: SkillFile) -> bool:
    """Whether an agent that listed the tools sees the same in both."""
    if str(first.error) != str(other.error) or len(first.entries) != len(other.entries):
        return False
    if not (first.is_certain and other.is_certain):
        return False
    return all(map(_is_alike, first.entries, other.entries))


def filed(
    skill_files: Iterable[SkillFile], added: Mapping[str, Entry], folders: Mapping[str, SkillError]
) -> Filed:
    """Put the files together, which come in the order of trust.

    What was made in code comes before all of them; `folders` are those that are not trusted.
    """
    entries: dict[str, Entry] = {}
    broken: dict[str, BrokenSkill] = {}
    refused: dict[str, SkillError] = dict(folders)
    for skill_file in skill_files:
        if skill_file.error is not None:
            if skill_file.is_refused:
                refused[str(skill_file.source.file)] = skill_file.error
            for key in _keys(skill_file):
                broken.setdefault(key, _not_loaded(skill_file.source.file, skill_file.error))
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
    place = f"{skill.file}: {skill.name}"
    if taken is not None:
        refused[place] = clash(taken.skill, skill)
        return
    try:
        check_name(skill.name)
    except BrokenSkill as error:
        refused[place] = BrokenSkill(f"{skill.file}: {error}")
    else:
        entries[skill.name] = entry


def _not_loaded(file: Path, error: SkillError) -> BrokenSkill:
    """Return what is said of a tool whose file is broken."""
    why = str(error).removeprefix(file.name).lstrip(",: ")
    return BrokenSkill(f"{file.name} could not be loaded: {why}")


def _keys(skill_file: SkillFile) -> tuple[str, ...]:
    """Give the names under which an agent looks for what is broken."""
    return skill_file.names or (re.sub(r"[^A-Za-z0-9_.-]", "_", skill_file.source.file.stem)[:64],)


def _entry(declared: DeclaredSkill, source: Source) -> Entry:
    from dcc_bridge.skills.signature import Signature  # as above

    metadata, shape = declared.metadata, declared.shape
    skill = Skill(declared.name, unimported, metadata, source.file, source.digest)
    if shape is None:
        return Entry(skill, None)
    return Entry(skill, Signature(shape, skill.name, ask_missing=metadata.ask_missing))


def _for_host(entries: Iterable[Entry], host: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.skill.metadata.runs_in(host))


def _is_alike(first: Entry, other: Entry) -> bool:
    if (first.skill.name, first.skill.metadata) != (other.skill.name, other.skill.metadata):
        return False
    if first.signature is None or other.signature is None:
        return False
    return first.signature.is_listed_like(other.signature)


def skills(source: Source) -> list[Skill]:
    """Import a file and describe its skills.

    They are the functions that are marked; where none is, the public ones with a docstring; where
    none has one, the public ones. BrokenSkill says where and why it cannot be imported, or that it
    has no function to offer.
    """
    module = import_source(source)
    own = (it for it in vars(module).values() if inspect.isfunction(it))
    functions = dict.fromkeys(it for it in own if it.__module__ == module.__name__)
    marked = [fn for fn in functions if metadata_of(fn)]
    public = [fn for fn in functions if not fn.__name__.startswith(("_", "<"))]
    documented = [fn for fn in public if inspect.getdoc(fn)]
    described = [describe(fn, source.file, source.digest) for fn in marked or documented or public]
    if not described:
        raise nothing_in(source.file)
    return described


@contextmanager
def leaving_scene(host: Host, file: Path) -> Iterator[None]:
    """Undo what a file changes while it is imported inside. Main thread.

    What it changes is one undo step, so that exactly that is undone. Where no step can be opened, a
    file that only looks can be imported all the same. BrokenSkill says that it changed the scene,
    or undid what was done before.
    """
    before = host.undo_mark()
    put_back = list[str]()
    token = loss_check.set(lambda what, files: _refuse_loss(file, what))
    try:
        with ExitStack() as stretch:
            stretch.callback(loss_check.reset, token)
            stretch.enter_context(host.guard(put_back, read=False))
            with suppress(RuntimeError, Busy):  # undo is off, or the person is in mid-edit
                stretch.enter_context(host.undo_step(f"Import {file.name} [{token_hex(3)}]"))
                stretch.callback(_revert, host, host.trial(), before, put_back)
            yield
    finally:
        after = host.undo_mark()
        for _ in range(after.depth - before.depth):
            host.take_back()
        if after != before or put_back:
            why = "it changes the scene when it is imported; edit inside the function."
            raise BrokenSkill(f"{file.name}: {why}")


def _revert(host: Host, trial: Trial | None, before: UndoMark, put_back: list[str]) -> None:
    """Take back what was edited in the open step, where the host can do that inside it."""
    if trial is not None and host.undo_mark() == before and trial.is_edited():
        put_back.append("the scene")  # first: the file is told to be broken whatever comes back
        put_back += trial.revert()


def _refuse_loss(file: Path, what: str) -> None:
    raise BrokenSkill(f"{file.name}: it wants to {what} when it is imported; do so in a function.")


def nothing_in(file: Path) -> BrokenSkill:
    """Say that a file offers nothing."""
    return BrokenSkill(f"{file.name}: it has no function that is a skill, or could be one.")


@contextmanager
def broken_by(file: Path) -> Iterator[None]:
    """Say of whatever a file's code raises where and why it broke."""
    try:
        yield
    except (Exception, SystemExit) as error:  # sys.exit must not end the host
        raise BrokenSkill(explained(error, file)) from error


def import_source(source: Source) -> ModuleType:
    """Run a file; BrokenSkill says where and why it cannot be imported. Main thread."""
    file = source.file
    stem = f"dcc_bridge_skill_{file.stem}_{sha256(str(file).encode()).hexdigest()[:8]}_"
    module = ModuleType(stem + source.digest[:8])
    module.__file__ = str(file)
    module.__spec__ = ModuleSpec(module.__name__, None, origin=str(file))
    before = sys.modules.pop(module.__name__, None)
    sys.modules[module.__name__] = module  # where pydantic and dataclasses look its types up
    context = copy_context()
    context.run(importing.set, True)
    try:
        with broken_by(file):
            code = compile(source.content, str(file), "exec", dont_inherit=True)
            context.run(exec, code, vars(module))
    except BrokenSkill:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        raise
    for old in [name for name in sys.modules if name.startswith(stem)][:-KEPT]:
        del sys.modules[old]
    return module
