"""The records of skill files, and the import of such files.

A `SkillFile` is the record of one file, and never changes. A file is first read, which runs nothing
of it; it is imported later, if its text does not say enough, or when one of its skills is called.
From the records of all files, the most trusted first, `file_skills` makes the content of the
registry. A file is imported on the main thread, and all else is done on any thread.

The imported bytes are the very bytes that were read and listed. Python's own import would read the
file again. It might even run a compiled copy of an earlier version, as it compares only the time
in whole seconds and the size.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any, Final

from dcc_bridge.errors import BrokenSkill, Busy, SkillError
from dcc_bridge.host import Host, Trial, UndoMark, loss_check
from dcc_bridge.skills.registry import Entry, FiledSkills, check_name, clash
from dcc_bridge.skills.skill import Skill, describe, metadata_of, unimported
from dcc_bridge.skills.source import DeclaredSkill, Source, describe_error
from dcc_bridge.threads.flows import importing

# Versions of a file that stay in `sys.modules`: a call that runs may look its types up there.
MAX_VERSIONS: Final = 16


@dataclass(frozen=True, slots=True)
class SkillFile:
    """The record of one file.

    The flags make five states; a broken file keeps `is_certain` from before:

        state                  is_imported  is_certain  error  is_refused
        read, the text says    no           yes         None   no
          which skills it has
        read, the text leaves  no           no          None   no
          that open
        imported               yes          yes         None   no
        broken                 no           yes or no   set    no
        not trusted, not read  no           yes         set    yes

    Attributes:
        source: The bytes that were read.
        entries: The skills of the file, as far as they are known. An entry without a signature is
            of a skill whose types the text leaves open.
        is_imported: Whether the entries have the functions of the file.
        is_certain: Whether the entries are all skills of the file.
        error: Why the file cannot be used, or None.
        names: The tools of a broken file: those that it had before, or that its text marks.
        is_refused: Whether the file is not trusted, or cannot be read.
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
        """True if only an import can say which tools are listed, and with which types."""
        if self.is_imported or self.error is not None:
            return False
        return not self.is_certain or any(entry.signature is None for entry in self.entries)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the file's tools; of a broken file see `names`."""
        return self.names or tuple(entry.skill.name for entry in self.entries)

    def may_offer(self, name: str) -> bool:
        """Return whether the import of a tool failed, and may be repeated when it is called."""
        return self.error is not None and bool(self.source.content) and name in _tool_names(self)


def read(source: Source, host: str) -> SkillFile:
    """Read a file, without running any of it.

    Args:
        source: The file.
        host: The application; skills for other hosts are passed over.
    """
    try:
        declared = source.skills()
    except BrokenSkill as error:
        return SkillFile(replace(source, content=b""), error=error, names=source.marked())
    if declared is None:
        return SkillFile(source, is_certain=False)
    if not declared:
        return SkillFile(replace(source, content=b""), error=no_skill_error(source.file))
    entries = [_entry(skill, source) for skill in declared]
    return SkillFile(source, _for_host(entries, host))


def make_refused(file: Path, error: SkillError) -> SkillFile:
    """Return the record of a file that is not trusted."""
    return SkillFile(Source(file, b"", ""), error=error, is_refused=True)


def make_imported(skill_file: SkillFile, skills: Iterable[Skill], host: str) -> SkillFile:
    """Return the record of a file after its import.

    Args:
        skill_file: The record before.
        skills: The skills with their functions.
        host: The application; skills for other hosts are passed over.

    Raises:
        BrokenSkill: A signature cannot be described.
    """
    from dcc_bridge.skills.signature import Signature  # pydantic, which a start need not wait for

    entries = []
    for skill in skills:
        asks = skill.metadata.ask_missing
        try:
            signature = Signature.of(skill.fn, skill.name, ask_missing=asks)
        except BrokenSkill as error:
            raise BrokenSkill(f"{skill_file.source.file.name}: {error}") from error
        entries.append(Entry(skill, signature))
    return SkillFile(skill_file.source, _for_host(entries, host), is_imported=True)


def make_broken(skill_file: SkillFile, error: BrokenSkill) -> SkillFile:
    """Return the record of a file whose import failed: none of its skills can be called."""
    return replace(skill_file, entries=(), error=error, names=skill_file.tools)


def is_listed_alike(first: SkillFile, other: SkillFile) -> bool:
    """Return whether an agent that listed the tools sees the same in both files."""
    if str(first.error) != str(other.error) or len(first.entries) != len(other.entries):
        return False
    if not (first.is_certain and other.is_certain):
        return False
    return all(map(_is_alike, first.entries, other.entries))


def file_skills(
    skill_files: Iterable[SkillFile], added: Mapping[str, Entry], folders: Mapping[str, SkillError]
) -> FiledSkills:
    """Return the skills of all files; of two with the same name, that of the more trusted file.

    Args:
        skill_files: The files, in the order of trust.
        added: The skills made in code, which come before all files.
        folders: The folders that are not trusted, and why.
    """
    entries: dict[str, Entry] = {}
    errors: dict[str, BrokenSkill] = {}
    refused: dict[str, SkillError] = dict(folders)
    for skill_file in skill_files:
        file = skill_file.source.file
        if skill_file.error is not None:
            if skill_file.is_refused:
                refused[str(file)] = skill_file.error
            why = str(skill_file.error).removeprefix(file.name).lstrip(",: ")
            for key in _tool_names(skill_file):
                errors.setdefault(key, BrokenSkill(f"{file.name} could not be loaded: {why}"))
        for entry in skill_file.entries:
            _place(entry, entries, refused, added)
    broken = {name: error for name, error in errors.items() if name not in entries}
    return FiledSkills(entries, broken, refused)


def _place(
    entry: Entry,
    entries: dict[str, Entry],
    refused: dict[str, SkillError],
    added: Mapping[str, Entry],
) -> None:
    """Add an entry to the entries, or an error to the refused if its name is taken or not valid.

    Args:
        entry: The entry.
        entries: The entries of more trusted files; this one is added.
        refused: The errors by place; one may be added.
        added: The skills made in code.
    """
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


def _tool_names(skill_file: SkillFile) -> tuple[str, ...]:
    """Return the names under which an agent looks for the tools of a broken file."""
    if skill_file.names:
        return skill_file.names
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", skill_file.source.file.stem)
    return (name[:64],)


def _entry(declared: DeclaredSkill, source: Source) -> Entry:
    """Return the entry of a skill whose file is not imported."""
    from dcc_bridge.skills.signature import Signature  # as above

    metadata = declared.metadata
    skill = Skill(declared.name, unimported, metadata, source.file, source.digest)
    if declared.shape is None:
        return Entry(skill, None)
    return Entry(skill, Signature(declared.shape, skill.name, ask_missing=metadata.ask_missing))


def _for_host(entries: Iterable[Entry], host: str) -> tuple[Entry, ...]:
    """Return the entries of the skills that run in a host."""
    return tuple(entry for entry in entries if entry.skill.metadata.runs_in(host))


def _is_alike(first: Entry, other: Entry) -> bool:
    """Return whether two entries are listed alike; an entry without a signature never is."""
    if (first.skill.name, first.skill.metadata) != (other.skill.name, other.skill.metadata):
        return False
    if first.signature is None or other.signature is None:
        return False
    return first.signature.is_listed_like(other.signature)


def skills(source: Source) -> list[Skill]:
    """Import a file and describe its skills.

    They are the marked functions; where none is marked, the public ones with a docstring; where
    none has a docstring, the public ones.

    Raises:
        BrokenSkill: The file cannot be imported, or has no function to offer.
    """
    module = import_source(source)
    functions: dict[Callable[..., Any], None] = {}  # a set that keeps their order
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            functions[value] = None
    marked = [fn for fn in functions if metadata_of(fn)]
    public = [fn for fn in functions if not fn.__name__.startswith(("_", "<"))]
    documented = [fn for fn in public if inspect.getdoc(fn)]
    chosen = marked or documented or public
    if not chosen:
        raise no_skill_error(source.file)
    return [describe(fn, source.file, source.digest) for fn in chosen]


@contextmanager
def leaving_scene(host: Host, file: Path) -> Iterator[None]:
    """Leave the scene as it is, whatever the import of a file in the block does. Main thread.

    The changes of the file are one undo step. They are undone in up to two ways: inside the step,
    where the host can revert an open one (`_revert`); and after it, entry by entry, until the stack
    is as deep as before. Where no step can be opened, the file is imported without one.

    `put_back` collects the names of all that the guard or `_revert` has put back: anything in it
    means that the file changed the scene.

    Args:
        host: The host.
        file: The file, for the error.

    Raises:
        BrokenSkill: The file changed the scene, undid earlier edits, or wanted to lose something.
    """
    before = host.undo_mark()
    put_back = list[str]()

    def refuse_loss(what: str, files: Sequence[Path]) -> None:
        why = f"it wants to {what} when it is imported; do so in a function."
        raise BrokenSkill(f"{file.name}: {why}")

    token = loss_check.set(refuse_loss)
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
    """Revert the edits of the open step, if the host can do that inside the step.

    Args:
        host: The host.
        trial: The trial of the step; None where an open step cannot be reverted.
        before: The entry on top of the undo stack before the import.
        put_back: Takes the names of all that was put back.
    """
    if trial is not None and host.undo_mark() == before and trial.is_edited():
        put_back.append("the scene")  # first, so that the file is broken even if the revert fails
        put_back += trial.revert()


def no_skill_error(file: Path) -> BrokenSkill:
    """Return the error of a file that offers nothing."""
    return BrokenSkill(f"{file.name}: it has no function that is a skill, or could be one.")


@contextmanager
def broken_by(file: Path) -> Iterator[None]:
    """Turn an error of a file's code in the block into BrokenSkill, with the place of the error."""
    try:
        yield
    except (Exception, SystemExit) as error:  # sys.exit must not end the host
        raise BrokenSkill(describe_error(error, file)) from error


def import_source(source: Source) -> ModuleType:
    """Run a file as a module. Main thread.

    Raises:
        BrokenSkill: It cannot be imported; the message says where and why.
    """
    file = source.file
    path_digest = sha256(str(file).encode()).hexdigest()
    stem = f"dcc_bridge_skill_{file.stem}_{path_digest[:8]}_"
    name = stem + source.digest[:8]
    module = ModuleType(name)
    module.__file__ = str(file)
    module.__spec__ = ModuleSpec(name, None, origin=str(file))
    before = sys.modules.pop(name, None)
    sys.modules[name] = module  # where pydantic and dataclasses look its types up
    context = copy_context()
    context.run(importing.set, True)
    try:
        with broken_by(file):
            code = compile(source.content, str(file), "exec", dont_inherit=True)
            context.run(exec, code, vars(module))
    except BrokenSkill:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise
    versions = [other for other in sys.modules if other.startswith(stem)]
    for old in versions[:-MAX_VERSIONS]:
        del sys.modules[old]
    return module
