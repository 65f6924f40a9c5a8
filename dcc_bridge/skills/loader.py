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
from dcc_bridge.skills.registry import Entry, Filed, Registry
from dcc_bridge.skills.source import Source
from dcc_bridge.skills.trust import check_folder, read_trusted
from dcc_bridge.threads import main_thread

log = logging.getLogger(__name__)

EVERY: Final = 1.0  # seconds between two looks
_SHARE: Final = 50  # a look takes one part in so many of the time; a slow drive is left in peace
_TURN: Final = 0.001  # seconds that requests have between two skills that are described
_QUICK: Final = 0.05  # seconds of a look for which somebody who comes can wait
REST: Final = 5.0  # seconds after which nobody wants to know any more
_SETTLE: Final = 0.05  # seconds that a file must rest before it is read: it may be half written

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    stamp: Stamp
    skill_file: SkillFile


class Library:
    """The skill files of some folders, the most trusted folder first."""

    def __init__(
        self, folders: Sequence[Path], registry: Registry, main: main_thread.MainThread, host: Host
    ) -> None:
        self._folders = tuple(dict.fromkeys(folders))  # one that is not there may come
        self._registry = registry  # where their skills go
        self._main = main  # where they are imported
        self._host = host  # whose scene it is; a skill for other hosts is passed over
        self._lock = threading.Lock()
        self._seen: dict[Path, _Seen] = {}
        self._refused: dict[str, SkillError] = {}
        self._order: list[Path] = []
        self._listed: dict[str, tuple[Stamp, Path]] = {}
        self._is_listed_short = False
        self._told: set[str] = set()
        self._resting = threading.Lock()
        self._somebody = threading.Event()
        self._used = time.monotonic()  # when somebody wanted to know what there is
        self._looked = _future()

    @property
    def read(self) -> Future[None]:
        """Done after the first look, and where nobody looked for a while, after the next one.

        Nobody can tell before; whoever takes it wants to know. Any thread.
        """
        with self._resting:
            self._used = time.monotonic()
            self._somebody.set()
            return self._looked

    def look(self, settle: Callable[[float], object] = lambda seconds: None) -> None:
        """Take in what was saved, added or taken away since the last time. One thread at a time.

        `settle` waits some seconds: a file that changes meanwhile is left for the next time.
        """
        try:
            self._look(settle)
        finally:
            if not self._looked.done():
                self._looked.set_result(None)

    async def watch(
        self, every: float = EVERY, is_heard: Callable[[], object] = lambda: True
    ) -> None:
        """Look again and again, every so many seconds, until cancelled. A task of the worker.

        While `is_heard` says that nobody would be told, it rests until somebody wants to know.
        """
        is_over = threading.Event()

        def look_on() -> None:  # to start a thread for each look would cost more than the look
            while not is_over.is_set():
                began = time.perf_counter()
                try:
                    self.look(time.sleep)
                    took = time.perf_counter() - began
                    self.describe(is_over.wait)
                except Exception:  # whatever a drive or a type does: the next look may go better
                    log.exception("the skill files could not be looked at")
                    took = time.perf_counter() - began
                is_over.wait(max(every, took * _SHARE))
                if took < _QUICK and not is_heard():
                    self._rest(is_over)

        thread = threading.Thread(target=look_on, name="dcc_bridge skills", daemon=True)
        thread.start()
        try:
            await asyncio.sleep(float("inf"))  # of a wait for nothing only a timer keeps hold
        finally:
            is_over.set()
            self._somebody.set()
            thread.join(_SETTLE)  # where a drive hangs, nobody waits for it

    def _rest(self, is_over: threading.Event) -> None:
        with self._resting:
            if time.monotonic() - self._used < REST:
                return
            self._somebody.clear()
            self._looked = _future()
        if not is_over.is_set():
            self._somebody.wait()

    def describe(self, is_over: Callable[[float], bool]) -> None:
        """Describe what was read, so that the first list need not: a thousand take a second.

        `is_over` leaves requests some seconds, and tells whether to end.
        """
        for entry in self._registry.entries():
            if entry.signature is not None and not entry.signature.is_described:
                with suppress(SkillError):  # the list will say why
                    entry.signature.describe()
                if is_over(_TURN):
                    return

    def fetch(self, name: str) -> Future[Entry]:
        """Give a skill with its function, importing its file if need be. Any thread.

        The future may end with BrokenSkill, UnknownSkill, or what the queue says.
        """
        fetched: Future[Entry] = _future()
        self._fetch(name, fetched, ())
        return fetched

    def complete(self) -> list[Future[None]]:
        """Import what cannot be listed without, a job a file, to be waited for. Any thread."""
        with self._lock:
            skill_files = [seen.skill_file for seen in self._seen.values()]
        return [self._submit(skill_file) for skill_file in skill_files if skill_file.needs_import]

    def note_incomplete(self) -> None:
        """Note that tools were listed without what is still to be imported. Any thread."""
        self._is_listed_short = True

    def _look(self, settle: Callable[[float], object]) -> None:
        listed, refused = self._scan()
        if listed == self._listed and refused.keys() == self._refused.keys():
            return
        stamps = {Path(name): place for name, place in listed.items()}
        known = {file: seen.stamp for file, seen in self._seen.items()}
        changed = {file for file, place in stamps.items() if known.get(file) != place[0]}
        gone = self._seen.keys() - stamps.keys()
        if self._seen:
            settle(_SETTLE)
            again, _ = self._scan()
            changed = {file for file in changed if stamps[file] == again.get(str(file))}
            listed = {name: place for name, place in listed.items() if again.get(name) == place}
        self._listed = listed
        skill_files = {file: self._read(file, stamps[file][1]) for file in sorted(changed)}
        self._refused = refused
        if self._take(skill_files, {file: stamps[file][0] for file in skill_files}, gone):
            self._registry.notify()
        _ = self._registry.refused  # what cannot be used is logged now, and not with the next call

    def _take(
        self, skill_files: Mapping[Path, SkillFile], stamps: Mapping[Path, Stamp], gone: Set[Path]
    ) -> bool:
        """Take in what was read; tell whether what is listed has changed."""
        differs = bool(gone)
        with self._lock:
            for file in gone:
                del self._seen[file]
            for file, new in skill_files.items():
                old = self._seen.get(file)
                if old is not None and new.error is not None:  # to say why at its tools
                    names = dict.fromkeys((*old.skill_file.tools, *new.names))
                    new = replace(new, names=tuple(names))
                differs |= old is None or not importer.is_listed_alike(old.skill_file, new)
                self._seen[file] = _Seen(stamps[file], new)
            rank = {folder: number for number, folder in enumerate(self._folders)}
            self._order = sorted(self._seen, key=lambda file: (rank[file.parent], file.name))
            self._publish()
        return differs

    def _fetch(self, name: str, fetched: Future[Entry], tried: tuple[Source, ...]) -> None:
        wanted = [it for it in self._wanted(name) if it.source not in tried]
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
            else:
                self._fetch(name, fetched, (*tried, *(it.source for it in wanted)))

        jobs[-1].add_done_callback(go_on)  # the queue keeps their order

    def _wanted(self, name: str) -> list[SkillFile]:
        """Give the files that must be imported before a skill can be called, or be unknown."""
        try:
            entry = self._registry.find(name)
        except SkillError:
            entry = None
        if entry is not None and entry.skill.file is None and name not in self._registry.added:
            entry = None  # a verb, whose place a file may take
        if entry is not None and entry.skill.is_imported:
            return []
        with self._lock:
            skill_files = [seen.skill_file for seen in self._seen.values()]
        if entry is not None:
            return [it for it in skill_files if it.source.file == entry.skill.file]
        return [it for it in skill_files if it.needs_import or it.may_offer(name)]

    def _submit(self, skill_file: SkillFile) -> Future[None]:
        name = f"the import of {skill_file.source.file.name}"
        return self._main.submit(lambda: self._import(skill_file.source), name=name, read=True)

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
        """Have what there is put together, when somebody wants to know. Under the lock."""
        self._registry.replace_filed(partial(self._put_together, self._refused))

    def _put_together(self, refused: Mapping[str, SkillError]) -> Filed:
        """Put files together, and say in the log what cannot be used, each thing once."""
        with self._lock:
            skill_files = [self._seen[file].skill_file for file in self._order]
        filed = importer.filed(skill_files, self._registry.added, refused)
        broken = [it for name, it in filed.broken.items() if name not in self._registry.added]
        now = {str(error) for error in (*broken, *filed.refused.values())}
        for sentence in sorted(now - self._told):
            log.warning("%s", sentence)
        self._told = now
        return filed

    def _scan(self) -> tuple[dict[str, tuple[Stamp, Path]], dict[str, SkillError]]:
        """Look at the folders: each file with its stamp and its root, and what is not trusted.

        The files are texts: a thousand paths would take most of the time.
        """
        listed: dict[str, tuple[Stamp, Path]] = {}
        refused: dict[str, SkillError] = {}
        for folder in self._folders:
            try:
                root = check_folder(folder)
                listed.update({file: (stamp, root) for file, stamp in _list(folder)})
            except SkillError as error:
                refused[str(folder)] = error
            except OSError:  # it is not there, or went away in this moment
                continue
        return listed, refused

    def _read(self, file: Path, root: Path) -> SkillFile:
        try:
            return importer.read(Source.of(file, read_trusted(file, root)), self._host.name)
        except SkillError as error:
            return importer.refused(file, error)
        except OSError as error:
            return importer.refused(file, SkillError(f"{file}: it cannot be read: {error}."))


def _future() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # of those who wait, none ends it for the others
    return future


def _list(folder: Path) -> list[tuple[str, Stamp]]:
    """Give the skill files of a folder, and by what a change would show."""
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
    """Give the folders: the application's own, the user's, the project's, then those of a setting.

    The application's own must be there (else SkillError); the others may come later.
    """
    for folder in own:
        if not folder.is_dir():
            raise SkillError(f"There is no folder of skills at {folder}.")
    project = [settings.project / "skills"] if settings.project is not None else []
    every = [*own, user_folder(settings), *project, *settings.skills]
    return [folder.absolute() for folder in dict.fromkeys(every)]


def user_folder(settings: config.Settings) -> Path:
    """Give the folder of the user's own skills."""
    if settings.user_skills is not None:
        return settings.user_skills
    from platformdirs import user_data_path  # 6 ms that a host with a setting need not

    return user_data_path("dcc_bridge", appauthor=False) / "skills"
