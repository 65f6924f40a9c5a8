"""The skill files of some folders: read to be listed, imported when they are first used.

`watch` looks again and again, and takes in what was saved since. What it finds is only read: a file
is imported, on the main thread, when one of its skills is called, or when what is listed cannot be
told without. A call that runs keeps the function that it began with.

It polls: `os.scandir` and a look at each file's times take a few milliseconds for a thousand
files, the same on every system and on a network drive, where a watcher of the system's own is
told nothing of what another machine saves; and no native library comes into the host.
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
_REST_FACTOR: Final = 50  # times as long as a look took, it rests: a slow drive is left in peace
_TURN_S: Final = 0.001  # that requests have between two skills that are described
_QUICK_LOOK_S: Final = 0.05  # a look that takes longer is not left until somebody waits for it
IDLE_AFTER_S: Final = 5.0  # after which nobody wants to know any more
_SETTLE_S: Final = 0.05  # that a file must rest before it is read: it may be half written

# What a change of a file would show: its times, its size, its inode and its mode.
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
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
        self._order: list[Path] = []  # the files in the order of trust
        self._listed: dict[str, tuple[Stamp, Path]] = {}  # what the last look saw
        self._is_listed_short = False
        self._logged: set[str] = set()  # the sentences of what cannot be used that are in the log
        self._resting = threading.Lock()
        self._somebody = threading.Event()  # set when somebody wants to know what there is
        self._used = time.monotonic()  # when somebody last wanted to know
        self._looked = _future()

    @property
    def read(self) -> Future[None]:
        """Done after the first look; where nobody asked for a while, after the next look.

        Who takes it wants to know what there is, so it wakes the looks. Any thread.
        """
        with self._resting:
            self._used = time.monotonic()
            self._somebody.set()
            return self._looked

    def look(self, settle: Callable[[float], object] = lambda seconds: None) -> None:
        """Take in what was saved, added or removed since the last time. One thread at a time.

        Args:
            settle: Waits some seconds; a file that changes meanwhile is left for the next time.
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
            is_heard: Returns whether anybody would be told of a change. While nobody would, the
                looks rest until somebody wants to know.
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
            self._somebody.set()
            thread.join(_SETTLE_S)  # where a drive hangs, nobody waits for it

    def _rest(self, is_over: threading.Event) -> None:
        with self._resting:
            if time.monotonic() - self._used < IDLE_AFTER_S:
                return
            self._somebody.clear()
            self._looked = _future()
        if not is_over.is_set():
            self._somebody.wait()

    def describe(self, is_over: Callable[[float], bool]) -> None:
        """Describe the skills that were read, so that the first list need not: a thousand take 1 s.

        Args:
            is_over: Leaves requests some seconds, and returns whether to end.
        """
        for entry in self._registry.entries():
            if entry.signature is not None and not entry.signature.is_described:
                with suppress(SkillError):  # the list will say why
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

    def complete(self) -> list[Future[None]]:
        """Import each file that cannot be listed without, and return the jobs. Any thread."""
        with self._lock:
            skill_files = [seen.skill_file for seen in self._seen.values()]
        return [self._submit(skill_file) for skill_file in skill_files if skill_file.needs_import]

    def note_incomplete(self) -> None:
        """Note that tools were listed without those of files still to be imported. Any thread."""
        self._is_listed_short = True

    def _look(self, settle: Callable[[float], object]) -> None:
        listed, refused = self._scan()
        if listed == self._listed and refused.keys() == self._refused.keys():
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
            rested = {name: place for name, place in listed.items() if again.get(name) == place}
            changed = {file for file in changed if str(file) in rested}
            listed = rested
        self._listed = listed
        skill_files = {file: self._read(file, roots[file]) for file in sorted(changed)}
        self._refused = refused
        if self._take(skill_files, stamps, gone):
            self._registry.notify()
        _ = self._registry.refused  # what cannot be used is logged now, and not with the next call

    def _take(
        self, skill_files: Mapping[Path, SkillFile], stamps: Mapping[Path, Stamp], gone: Set[Path]
    ) -> bool:
        """Take in the files that were read; return whether the list of tools has changed."""
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
        """Import the files that may have a skill, but for those tried already; then find it."""
        wanted = [file for file in self._wanted(name) if file.source not in tried]
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

    def _wanted(self, name: str) -> list[SkillFile]:
        """Return the files that must be imported before a skill can be called, or be unknown."""
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
        """Return a skill whose name no other file can take; None without one, or for a verb."""
        try:
            entry = self._registry.find(name)
        except SkillError:
            return None
        if entry.skill.file is None and name not in self._registry.added:
            return None
        return entry

    def _submit(self, skill_file: SkillFile) -> Future[None]:
        source = skill_file.source
        name = f"the import of {source.file.name}"
        return self._main.submit(lambda: self._import(source), name=name, read=True)

    def _import(self, source: Source) -> None:
        """Import a file, unless that is done, or it has changed meanwhile. Main thread."""
        with self._lock:
            seen = self._seen.get(source.file)
        if seen is None or seen.skill_file.source is not source or seen.skill_file.is_imported:
            return
        try:
            with importer.leaving_scene(self._host, source.file):
                skills = importer.skills(source)
            skill_file = importer.imported(seen.skill_file, skills, self._host.name)
        except BrokenSkill as error:
            skill_file = importer.broken(seen.skill_file, error)
        with self._lock:
            now = self._seen.get(source.file)
            if now is None or now.skill_file.source is not source:
                return
            self._seen[source.file] = replace(now, skill_file=skill_file)
            self._publish()
        was_listed = self._is_listed_short or not now.skill_file.needs_import
        if was_listed and not importer.is_listed_alike(now.skill_file, skill_file):
            self._registry.notify()

    def _publish(self) -> None:
        """Let the files be put together when somebody wants to know. Under the lock."""
        self._registry.replace_filed(partial(self._put_together, self._refused))

    def _put_together(self, refused: Mapping[str, SkillError]) -> FiledSkills:
        """Put the files together, and log what cannot be used, each sentence once."""
        with self._lock:
            skill_files = [self._seen[file].skill_file for file in self._order]
        filed = importer.filed(skill_files, self._registry.added, refused)
        added = self._registry.added
        broken = [error for name, error in filed.broken.items() if name not in added]
        now = {str(error) for error in (*broken, *filed.refused.values())}
        for sentence in sorted(now - self._logged):
            log.warning("%s", sentence)
        self._logged = now
        return filed

    def _scan(self) -> tuple[dict[str, tuple[Stamp, Path]], dict[str, SkillError]]:
        """Return each file with its stamp and its real folder, and why folders are not trusted.

        The files are texts: a thousand paths would take most of the time.
        """
        listed: dict[str, tuple[Stamp, Path]] = {}
        refused: dict[str, SkillError] = {}
        for folder in self._folders:
            try:
                root = check_folder(folder)
                for file, stamp in _list(folder):
                    listed[file] = (stamp, root)
            except SkillError as error:
                refused[str(folder)] = error
            except OSError:  # the folder is not there, or went away in this moment
                continue
        return listed, refused

    def _read(self, file: Path, root: Path) -> SkillFile:
        try:
            return importer.read(Source.of(file, read_trusted(file, root)), self._host.name)
        except SkillError as error:
            return importer.refused(file, error)
        except OSError as error:
            return importer.refused(file, SkillError(f"{file}: it cannot be read: {error}."))


def _with_old_names(new: SkillFile, old: SkillFile) -> SkillFile:
    """Return a broken file with the tools that it had, where agents are told why it broke."""
    if new.error is None:
        return new
    names = dict.fromkeys((*old.tools, *new.names))
    return replace(new, names=tuple(names))


def _future() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # none of those who wait can cancel it for the others
    return future


def _list(folder: Path) -> list[tuple[str, Stamp]]:
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
