"""Our own application: an open USD scene with its undo stack as the `Host`. Pure pxr, no Qt.

The thread that makes a session is its main thread; every method and property raises `WrongThread`
elsewhere, but for ``name``, ``version`` and ``has_ui``. It must be so: USD lets any thread edit
without a word, and calls its listeners, window included, on that thread (measured, 26.11). Somebody
who keeps a stage and takes it to another thread is not stopped.

Source of the facts in this folder: measured with usd-core 26.11 on CPython 3.11, Linux; the
modules name theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from pxr import Sdf, Usd

from dcc_bridge.spi import (
    MOST_TOLD,
    Busy,
    Callbacks,
    CountChanges,
    Host,
    Trial,
    Undo,
    UndoMark,
    WrongThread,
    own_version,
)

from . import description, files, prims, snapshots
from .changes import noting_changes
from .locks import Locks
from .prims import prim_at
from .trial import StepTrial
from .undo_stack import UndoStack

T = TypeVar("T")
_version = cache(own_version)  # it is read from the disk
_MOST_LOOKS: Final = 5  # at a scene that the host's own code edits meanwhile, as it paints


class UsdSession(Host):
    """A USD stage as a host's scene."""

    item_noun = "prim"
    suffix = ".usda"

    def __init__(
        self, path: Path | str | None = None, *, has_ui: bool = False, as_copy: bool = False
    ) -> None:
        """Open a scene; an empty, untitled one without a file. As a copy, it is never saved to it.

        OSError: the file is not there, or must not be read. ValueError: it is not a USD file.
        """
        self.name = "dcc_bridge USD"
        self.version = _version()
        self.has_ui = has_ui
        self._thread = threading.get_ident()
        self._listeners = Callbacks()
        self._watchers = Callbacks()
        self._framers = Callbacks()
        self._selection: list[str] = []
        self._selected_at = 0  # by the counter of what may have taken prims away
        self._path = None if path is None else files.absolute(path)
        self._untitled = "untitled"
        self._stage = files.read(self._path) if self._path else files.untitled(self._untitled)
        if as_copy and self._path:
            self._untitled = f"untitled copy of {self._path.name}"
            self._stage, self._path = files.untitled(self._untitled, self._stage), None
        self._locks = Locks()
        self._seen: dict[Callable[..., object], tuple[object, Any]] = {}
        self._history = UndoStack(self._stage, self._announce, self._touched)

    @property
    def stage(self) -> Usd.Stage:
        """The scene. Another object after `open`, and after `save` under another name."""
        self._on_thread("stage")
        return self._stage

    @property
    def path(self) -> Path | None:
        """The scene's file; None for an untitled one."""
        self._on_thread("path")
        return self._path

    @property
    def modified(self) -> bool:
        """Whether a save would change a file. The session layer, never saved, does not count."""
        return bool(self._on_thread("modified").unsaved())

    def scene(self) -> str:
        """Name the scene as its title bar does."""
        return self.path.name if self.path else self._untitled

    def scene_id(self) -> Hashable:
        """Return what tells the scene from every other one, until another is opened."""
        return self._on_thread("scene_id").scene_mark

    def file(self) -> Path | None:
        """Give the scene's file; None for an untitled one."""
        return self.path

    def files(self) -> list[Path]:
        """List the files that a save would write over: the scene's own, its unsaved sublayers."""
        root = self.stage.GetRootLayer()
        below = [layer for layer in self._history.unsaved() if layer != root]
        own = [] if self._path is None else [self._path]
        return [*own, *(Path(layer.realPath) for layer in below if not layer.anonymous)]

    def open(self, path: Path | str) -> None:
        """Open another scene, or the same one as it is on disk. The undo stack is emptied.

        In an undo step it ends what the step had, and the step goes on with the new scene. Where it
        raises as a new session does, the open scene stays.
        """
        self._on_thread("open")
        file = files.absolute(path)
        self.losing(f"open {file.name} in place of {self.scene()}")
        self._stage, self._path = files.read(file), file
        self._locks.follow(self._stage)
        self._history.reset(self._stage)
        self._announce()

    def save(self, path: Path | str | None = None) -> Path:
        """Write the scene and its unsaved sublayers, each file whole or not at all; gives its file.

        Another file is its own from then on. OSError says which cannot be written; ValueError where
        there is none yet and none was given, or it cannot be that one.
        """
        self._on_thread("save")
        if path is None and self._path is None:
            raise ValueError("This scene was never saved: give the path of a file to save it in.")
        target = files.absolute(path) if path is not None else self._path
        assert target is not None
        root = self._stage.GetRootLayer()
        below = [layer for layer in self._history.unsaved() if layer != root]
        self._losing_files([target, *(Path(layer.realPath) for layer in below)], target)
        files.write_sublayers(below, self._locks)
        if target == self._path:
            files.write(root, target)
        else:
            self._save_as(target)
        self._history.mark_saved()
        self._announce()
        return target

    def save_copy(self, path: Path) -> None:
        """Write the scene to another file, and unsaved sublayers beside: ``shot.1.below.usda``."""
        self._on_thread("save_copy")
        target, root = files.absolute(path), self._stage.GetRootLayer()
        unsaved = [layer for layer in self._history.unsaved() if layer != root]
        below = {  # numbered, for two of them may have one name in different folders
            target.with_name(f"{target.stem}.{n}.{Path(layer.GetDisplayName()).stem}.usda"): layer
            for n, layer in enumerate(unsaved, 1)
        }
        self._losing_files([target, *below])
        files.write_copy(root, target)
        for file, layer in below.items():
            files.write_copy(layer, file)

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited, if any; an exception rolls it back and goes on."""
        with self._on_thread("undo_step").step(label):
            yield

    def undo(self) -> None:
        """Undo the step on top; RuntimeError: there is none, one is open, or a layer is locked."""
        self._on_thread("undo")
        self._locks.refuse_in_read("undo")
        self._history.undo()

    def take_back(self) -> None:
        """Undo the step on top as if it had never been; see `undo`."""
        self._on_thread("take_back")
        self._locks.refuse_in_read("take_back")
        self._history.take_back()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open step took away, or the newest one, beside what was agreed to.

        Prims and properties by their paths; parts in words: "2 keys of focalLength of /cam". A prim
        that is switched off, made an over or a class is lost as one that is deleted. It stands for
        what is below it, where that is not deleted too.
        """
        history = self._on_thread("lost")
        with self._locks.shown_as_before():
            return history.lost(agreed)

    def trial(self) -> Trial:
        """Return what takes back the open step."""
        return StepTrial(self._on_thread("trial"), self.selection, self.select)

    def guard(self, put_back: list[str], *, read: bool) -> AbstractContextManager[None]:
        """Keep edit target, mutings, load rules and locks; for a read no layer can be edited."""
        self._on_thread("guard")
        return self._locks.hold(self._stage, put_back, read=read)

    def redo(self) -> None:
        """Redo the step undone last; see `undo`."""
        self._on_thread("redo")
        self._locks.refuse_in_read("redo")
        self._history.redo()

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note what becomes of prims, properties, keys and values, by USD's notices."""
        self._on_thread("changes")
        return noting_changes(self._stage, self._history.held)

    @property
    def is_in_step(self) -> bool:
        """Whether a step is open: what it edits is told of when it is closed."""
        return self._history.is_in_step

    def undo_mark(self) -> UndoMark:
        """Mark the step that `undo` would undo."""
        return self._on_thread("undo_mark").mark()

    @property
    def undo_labels(self) -> list[str]:
        """The steps that can be undone, the next one last. An open step is not among them."""
        return self._on_thread("undo_labels").undo_labels

    @property
    def redo_labels(self) -> list[str]:
        """The steps that can be redone, the next one last."""
        return self._on_thread("redo_labels").redo_labels

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be called once after a step, rollback, undo, redo, open, save or change of selection.

        Not after an edit outside a step: listen to the stage for that. Gives what ends it.
        """
        self._on_thread("on_change")
        return self._listeners.add(callback)

    @property
    def selection(self) -> list[str]:
        """The paths of the selected prims; those that are gone from the scene drop out."""
        self._on_thread("selection")
        if self._selected_at != self._history.resync_count:
            self._selected_at = self._history.resync_count
            self._selection = self._existing(self._selection)
        return list(self._selection)

    @selection.setter
    def selection(self, paths: Iterable[str]) -> None:
        before, self._selection = self.selection, self._existing(paths)
        if self._selection != before:
            self._announce()

    def on_frame(self, show: Callable[[Sequence[str]], None]) -> Undo:
        """Be the viewport: called with what is to be shown in it. Gives what ends it."""
        self._on_thread("on_frame")
        return self._framers.add(show)

    def frame(self, items: Sequence[str]) -> None:
        """Show prims in the viewport, if there is one."""
        self._on_thread("frame")
        self._framers.call(items)

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Be called after every edit, in a step or not, and after what `on_change` tells of.

        An edit that somebody makes on another thread, which is forbidden, is not told of.
        """
        self._on_thread("watch")
        return self._watchers.add(changed)

    def summary(self) -> dict[str, Any]:
        """Describe the scene: units, frames, layers, and how many prims of each type."""
        return {**super().summary(), **description.scene_summary(self.stage)}

    def describe(self, item: str) -> dict[str, Any]:
        """Describe a prim: its type, children, attributes and relationships."""
        return description.describe_prim(self.stage, item)

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the USD type of each prim; "" for one without a type, "gone" for one that is not."""
        if len(items) > MOST_TOLD:  # they are looked at for a question
            return self._look(items).kinds
        found = (self.stage.GetPrimAtPath(it) if prims.is_path(it) else None for it in items)
        return [str(prim.GetTypeName()) if prim else "gone" for prim in found]

    def find(self, name: str = "*", type_name: str | None = None, under: str = "/") -> list[str]:
        """List the paths of what `prims.find_paths` does; at once if nothing was edited since."""
        return list(self._once(prims.find_paths, name, type_name, under))

    def select(self, items: Sequence[str]) -> None:
        """Select prims, so that the window shows them."""
        self.selection = list(items)

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest what a person agreed to change: identity, type, parent, locks, descendants."""
        return self._look(items).fingerprint

    def below(self, items: Sequence[str]) -> list[str]:
        """List the prims below some, but for those among them."""
        return self._look(items).below

    def leading_to(self, gone: Set[Sdf.Path]) -> list[Sdf.Path]:
        """List the properties of which the scene's layers say that they lead to some paths."""
        return self._on_thread("leading_to").leading_to(gone)

    def locked_layers(self) -> frozenset[Sdf.Layer]:
        """Return the layers that the person lets nobody edit."""
        return self._locks.locked(self.stage)

    def scene_digest(self) -> str:
        """Digest everything that the scene's own layers hold."""
        return description.scene_digest(self.stage)

    def _look(self, items: Sequence[str]) -> snapshots.Snapshot:
        return self._once(snapshots.take_snapshot, tuple(items), self._locks.locked(self.stage))

    def _once(self, look: Callable[..., T], *asked: object) -> T:
        """Look something up; once where nothing is edited between, anew where it is meanwhile."""
        for _ in range(_MOST_LOOKS):
            now = (*asked, self._history.edit_count, self.stage.GetRootLayer().identifier)
            if look in self._seen and self._seen[look][0] == now:
                return cast("T", self._seen[look][1])
            self._seen[look] = now, look(self._stage, *asked)
        raise Busy("The scene changes while it is looked at; try again when it rests.")

    def _on_thread(self, what: str) -> UndoStack:
        if threading.get_ident() != self._thread:
            raise WrongThread(
                f"{what} was used on another thread than the one of the scene; skills that touch "
                'the scene have thread="main", and async ones reach it by on_main.'
            )
        return self._history

    def _losing_files(self, targets: Sequence[Path], scene: Path | None = None) -> None:
        """Have it agreed to that files are written over, or that the scene's own is another one."""
        over = [path for path in targets if path.is_file()]
        if over:
            self.losing(f"write over {', '.join(path.name for path in over)}", over)
        elif scene is not None and scene != self._path:
            self.losing(f"go on in another file, {scene.name}", [scene])

    def _announce(self) -> None:
        self._seen.clear()
        self.selection  # noqa: B018  # what is gone by now is not selected again by an undo
        self._listeners.call()
        self._touched()

    def _touched(self) -> None:
        # USD calls its listeners on whatever thread edits, which may be a forbidden one.
        if threading.get_ident() == self._thread:
            self._watchers.call()

    def _existing(self, paths: Iterable[str]) -> list[str]:
        return [path for path in dict.fromkeys(paths) if prim_at(self._stage, path)]

    def _save_as(self, target: Path) -> None:
        stage = files.save_as(self._stage, target)
        self._history.move_root(stage, files.mover(self._path, target))
        self._stage, self._path = stage, target
        self._locks.follow(stage)
