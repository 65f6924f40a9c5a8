"""The skill files of some folders: read to be listed, imported when they are first used.

The words of this module:

- A look scans the folders once, and reads the files that were saved since the look before. `watch`
  looks again and again on a thread of its own.
- A stamp is all that a scan sees of a file: its times, size, inode and mode. A file settles if two
  scans see the same stamp; until then it may be half written, and is left for the next look.
- The looks rest while nobody asks for the skills, and nobody would be told of a change. `read`,
  which everybody takes who asks, wakes them.

A look imports nothing. A file is imported, on the main thread, when one of its skills is called, or
when it cannot be listed without an import. A call that runs keeps the function that it began with.

Why polling: `os.scandir` and a look at each file's times take a few milliseconds for a thousand
files, on every system and on a network drive. There, a watcher of the system would not hear of the
files that another machine saves; and it would bring a native library into the host.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from dcc_bridge import config
from dcc_bridge.errors import BrokenSkill, SkillError
from dcc_bridge.host import Host
from dcc_bridge.skills import importer
from dcc_bridge.skills.importer import SkillFile
from dcc_bridge.skills.registry import Entry, FiledSkills, Registry
from dcc_bridge.skills.source import Source
from dcc_bridge.skills.trust import check_folder, read_trusted
from dcc_bridge.threads import main_thread

log = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 1.0  # between two looks, if they are quick
_REST_FACTOR: Final = 50  # the pause after a slow look is so many times as long as the look
_TURN_S: Final = 0.001  # the time for requests between the descriptions of two skills
# After a look that took longer, the looks do not rest: somebody would wait for the next look.
_QUICK_LOOK_S: Final = 0.05
IDLE_AFTER_S: Final = 5.0  # so long after the last request, the looks may rest
_SETTLE_S: Final = 0.05  # the time between the two scans that must see the same stamp

# The modification time, change time, size, inode and mode of a file.
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The record of a file, and the stamp that the file had when it was read."""

    stamp: Stamp
    skill_file: SkillFile


class Library:
    """The skill files of some folders, the most trusted folder first.

    Args:
        folders: The folders; a folder that does not exist may come later.
        registry: Takes the skills.
        main: The main thread, where files are imported.
        host: The application; skills for other hosts are passed over.
    """

    def __init__(
        self, folders: Sequence[Path], registry: Registry, main: main_thread.MainThread, host: Host
    ) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._registry = registry
        self._main = main
        self._host = host
        self._lock = threading.Lock()
        self._seen: dict[Path, _Seen] = {}
        self._refused: dict[str, SkillError] = {}  # by path: why folders are not trusted
        self._order: list[Path] = []  # the files, the most trusted first
        self._last_scan: dict[str, tuple[Stamp, Path]] = {}  # see `_scan`; files that settled
        self._is_list_incomplete = False  # tools were listed without files still to be imported
        self._logged: set[str] = set()  # the sentences of what cannot be used that are in the log
        self._rest_lock = threading.Lock()
        # Both lock and event belong to the rest: the lock guards the two fields below.
        self._wake = threading.Event()  # cleared while the looks rest
        self._asked_at = time.monotonic()  # the time when somebody last asked
        self._looked = _future()  # done after the first look, or after the first one since a rest

    @property
    def read(self) -> Future[None]:
        """A future that is done once the skills are up to date: after the next look since a rest.

        To take it is to ask for the skills, so it wakes the looks. Any thread.
        """
        with self._rest_lock:
            self._asked_at = time.monotonic()
            self._wake.set()
            return self._looked

    def look(self, settle: Callable[[float], object] = lambda seconds: None) -> None:
        """Take in the files that were saved, added or removed since. One thread at a time.

        Args:
            settle: Waits the given seconds between the two scans.
        """
        try:
            self._look(settle)
        finally:
            if not self._looked.done():
                self._looked.set_result(None)

    async def watch(
        self, every: float = LOOK_INTERVAL_S, is_heard: Callable[[], object] = lambda: True
    ) -> None:
        """Look again and again until cancelled. A task of the worker.

        Args:
            every: Seconds between two looks.
            is_heard: Returns whether anybody would be told of a change. If not, the looks may rest.
        """
        is_over = threading.Event()

        # One thread for all looks: to start one would cost more than a look.
        def look_on() -> None:
            while not is_over.is_set():
                began = time.perf_counter()
                try:
                    self.look(time.sleep)
                    took = time.perf_counter() - began
                    self.describe(is_over.wait)
                except Exception:  # whatever a drive or a type does: the next look may go better
                    log.exception("the skill files could not be looked at")
                    took = time.perf_counter() - began
                is_over.wait(max(every, took * _REST_FACTOR))
                if took < _QUICK_LOOK_S and not is_heard():
                    self._rest(is_over)

        thread = threading.Thread(target=look_on, name="dcc_bridge skills", daemon=True)
        thread.start()
        try:
            # Only a timer keeps hold of a task that waits for nothing else.
            await asyncio.sleep(float("inf"))
        finally:
            is_over.set()
            self._wake.set()
            thread.join(_SETTLE_S)  # and no longer, as its drive may hang

    def _rest(self, is_over: threading.Event) -> None:
        """Wait on the thread of the looks until somebody asks, unless somebody just has.

        Args:
            is_over: Set when the watch ends, just before `_wake`.
        """
        with self._rest_lock:
            if time.monotonic() - self._asked_at < IDLE_AFTER_S:
                return
            self._wake.clear()
            self._looked = _future()
        if not is_over.is_set():
            self._wake.wait()

    def describe(self, is_over: Callable[[float], bool]) -> None:
        """Describe the skills for the first list of tools, which would take 1 s for a thousand.

        Args:
            is_over: Waits the given seconds, and returns whether to end.
        """
        for entry in self._registry.entries():
            if entry.signature is not None and not entry.signature.is_described:
                with suppress(SkillError):  # the list of tools says why
                    entry.signature.describe()
                if is_over(_TURN_S):
                    return

    def fetch(self, name: str) -> Future[Entry]:
        """Return a skill with its function, importing its file if need be. Any thread.

        Returns:
            A future of the entry; or of BrokenSkill, UnknownSkill, or an error of the queue.
        """
        fetched: Future[Entry] = _future()
        self._fetch(name, fetched, ())
        return fetched

    @property
    def missing(self) -> list[SkillFile]:
        """The files that cannot be listed without an import. Any thread."""
        with self._lock:
            skill_files = [seen.skill_file for seen in self._seen.values()]
        return [skill_file for skill_file in skill_files if skill_file.needs_import]

    def complete(self) -> list[Future[None]]:
        """Import each file that cannot be listed without an import; return the jobs. Any thread."""
        return [self._submit(skill_file) for skill_file in self.missing]

    def note_incomplete(self) -> None:
        """Note that tools were listed without those of files still to be imported. Any thread."""
        self._is_list_incomplete = True

    def _look(self, settle: Callable[[float], object]) -> None:
        """Scan the folders, and read the files whose stamp is new and has settled.

        The very first look does not wait for files to settle.
        """
        listed, refused = self._scan()
        if listed == self._last_scan and refused.keys() == self._refused.keys():
            return
        stamps: dict[Path, Stamp] = {}
        roots: dict[Path, Path] = {}
        changed: set[Path] = set()
        for name, (stamp, root) in listed.items():
            file = Path(name)
            stamps[file] = stamp
            roots[file] = root
            seen = self._seen.get(file)
            if seen is None or seen.stamp != stamp:
                changed.add(file)
        gone = self._seen.keys() - stamps.keys()
        if self._seen:
            settle(_SETTLE_S)
            again, _ = self._scan()
            settled = {name: place for name, place in listed.items() if again.get(name) == place}
            changed = {file for file in changed if str(file) in settled}
            listed = settled
        self._last_scan = listed
        skill_files = {file: self._read(file, roots[file]) for file in sorted(changed)}
        self._refused = refused
        if self._take_in(skill_files, stamps, gone):
            self._registry.notify()
        _ = self._registry.refused  # calls `_put_together` now, which logs the files with errors

    def _take_in(
        self, skill_files: Mapping[Path, SkillFile], stamps: Mapping[Path, Stamp], gone: Set[Path]
    ) -> bool:
        """Take in the files that were read; return whether the list of tools has changed.

        Args:
            skill_files: The records of the files that were read.
            stamps: The stamps of all files.
            gone: The files that are not there any more.
        """
        differs = bool(gone)
        with self._lock:
            for file in gone:
                del self._seen[file]
            for file, read in skill_files.items():
                new = read
                old = self._seen.get(file)
                if old is None:
                    differs = True
                else:
                    new = _with_old_names(new, old.skill_file)
                    if not importer.is_listed_alike(old.skill_file, new):
                        differs = True
                self._seen[file] = _Seen(stamps[file], new)
            rank = {folder: number for number, folder in enumerate(self._folders)}
            self._order = sorted(self._seen, key=lambda file: (rank[file.parent], file.name))
            self._publish()
        return differs

    def _fetch(self, name: str, fetched: Future[Entry], tried: tuple[Source, ...]) -> None:
        """Import the files that may have a skill, then set the future to its entry.

        It returns at once. When the last import is done, its job calls this function again, for an
        import may show that other files are to be imported; it ends since no file is tried twice.

        Args:
            name: The skill.
            fetched: The future; an error is set on it as well.
            tried: The sources of the files that were imported for it already.
        """
        wanted = [file for file in self._files_to_import(name) if file.source not in tried]
        if not wanted:
            try:
                fetched.set_result(self._registry.find(name))
            except SkillError as error:
                fetched.set_exception(error)
            return
        jobs = [self._submit(skill_file) for skill_file in wanted]

        def go_on(job: Future[None]) -> None:
            error = job.exception()
            if error is not None:
                fetched.set_exception(error)
                return
            sources = [skill_file.source for skill_file in wanted]
            self._fetch(name, fetched, (*tried, *sources))

        jobs[-1].add_done_callback(go_on)  # the queue keeps their order

    def _files_to_import(self, name: str) -> list[SkillFile]:
        """Return the files to import before it is certain which function a name stands for.

        It is none for a skill that has its function, and the skill's own file for a skill that was
        only read. For another name it is each file that may bring a skill of that name.
        """
        entry = self._entry(name)
        if entry is not None and entry.skill.is_imported:
            return []
        with self._lock:
            skill_files = [seen.skill_file for seen in self._seen.values()]
        if entry is not None:
            own = entry.skill.file
            return [skill_file for skill_file in skill_files if skill_file.source.file == own]
        wanted = []
        for skill_file in skill_files:
            if skill_file.needs_import or skill_file.may_offer(name):
                wanted.append(skill_file)
        return wanted

    def _entry(self, name: str) -> Entry | None:
        """Return the entry of a skill whose name no other file can take.

        It is None if there is no such skill, and for a verb, since files may take its name.
        """
        try:
            entry = self._registry.find(name)
        except SkillError:
            return None
        if entry.skill.file is None and name not in self._registry.added:
            return None
        return entry

    def _submit(self, skill_file: SkillFile) -> Future[None]:
        """Import a file in a job of the main thread."""
        source = skill_file.source
        name = f"the import of {source.file.name}"
        return self._main.submit(lambda: self._import(source), name=name, read=True)

    def _import(self, source: Source) -> None:
        """Import a file, unless it was imported, or saved again, since the job began to wait.

        The tools are listed anew if a list had told of the file in another way. Main thread.
        """
        with self._lock:
            seen = self._seen.get(source.file)
        if seen is None or seen.skill_file.source is not source or seen.skill_file.is_imported:
            return
        try:
            with importer.leaving_scene(self._host, source.file):
                skills = importer.skills(source)
            skill_file = importer.make_imported(seen.skill_file, skills, self._host.name)
        except BrokenSkill as error:
            skill_file = importer.make_broken(seen.skill_file, error)
        with self._lock:
            now = self._seen.get(source.file)
            if now is None or now.skill_file.source is not source:
                return
            self._seen[source.file] = replace(now, skill_file=skill_file)
            self._publish()
        was_listed = self._is_list_incomplete or not now.skill_file.needs_import
        if was_listed and not importer.is_listed_alike(now.skill_file, skill_file):
            self._registry.notify()

    def _publish(self) -> None:
        """Have the registry call `_put_together` when it is asked next. Under the lock."""
        self._registry.replace_filed(partial(self._put_together, self._refused))

    def _put_together(self, refused: Mapping[str, SkillError]) -> FiledSkills:
        """Return the skills of all files, and log each new sentence about one that has an error."""
        with self._lock:
            skill_files = [self._seen[file].skill_file for file in self._order]
        filed = importer.file_skills(skill_files, self._registry.added, refused)
        added = self._registry.added
        broken = [error for name, error in filed.broken.items() if name not in added]
        sentences = {str(error) for error in (*broken, *filed.refused.values())}
        for sentence in sorted(sentences - self._logged):
            log.warning("%s", sentence)
        self._logged = sentences
        return filed

    def _scan(self) -> tuple[dict[str, tuple[Stamp, Path]], dict[str, SkillError]]:
        """Return each file with its stamp and real folder, and the errors of untrusted folders.

        The files are text: to make a thousand `Path` objects would take most of the time.
        """
        listed: dict[str, tuple[Stamp, Path]] = {}
        refused: dict[str, SkillError] = {}
        for folder in self._folders:
            try:
                root = check_folder(folder)
                for file, stamp in _list_files(folder):
                    listed[file] = (stamp, root)
            except SkillError as error:
                refused[str(folder)] = error
            except OSError:  # the folder is not there, or went away in this moment
                continue
        return listed, refused

    def _read(self, file: Path, root: Path) -> SkillFile:
        """Return the record of a file; a refused one if it is not trusted, or cannot be read."""
        try:
            return importer.read(Source.of(file, read_trusted(file, root)), self._host.name)
        except SkillError as error:
            return importer.make_refused(file, error)
        except OSError as error:
            return importer.make_refused(file, SkillError(f"{file}: it cannot be read: {error}."))


def _with_old_names(new: SkillFile, old: SkillFile) -> SkillFile:
    """Return a record in which a broken file has the tools of its old record, too.

    An agent that calls one of these is told why the file broke.
    """
    if new.error is None:
        return new
    names = dict.fromkeys((*old.tools, *new.names))
    return replace(new, names=tuple(names))


def _future() -> Future[Any]:
    """Return a future that nobody can cancel: several may wait for it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def _list_files(folder: Path) -> list[tuple[str, Stamp]]:
    """Return the skill files of a folder, each with its stamp."""
    listed = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.endswith(".py") or entry.name.startswith(("_", ".")):
                continue
            try:
                about = entry.stat()
            except OSError:  # a link to nowhere, or gone in this moment
                continue
            stamp = (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
            listed.append((entry.path, (*stamp, about.st_mode)))
    return listed


def folders(own: Sequence[Path], settings: config.Settings) -> list[Path]:
    """Return the folders of skills, the most trusted first.

    They are the application's own, the user's, the project's, then those of a setting.

    Args:
        own: The application's own folders.
        settings: What the studio allows.

    Raises:
        SkillError: One of the application's own does not exist; the others may come later.
    """
    for folder in own:
        if not folder.is_dir():
            raise SkillError(f"There is no folder of skills at {folder}.")
    every = [*own, user_folder(settings)]
    if settings.project is not None:
        every.append(settings.project / "skills")
    every += settings.skills
    return [folder.absolute() for folder in dict.fromkeys(every)]


def user_folder(settings: config.Settings) -> Path:
    """Return the folder of the user's own skills."""
    if settings.user_skills is not None:
        return settings.user_skills
    from platformdirs import user_data_path  # 6 ms that a host with a setting need not

    return user_data_path("dcc_bridge", appauthor=False) / "skills"
