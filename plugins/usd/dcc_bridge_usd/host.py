"""Our own application: an open USD scene with its undo stack as the `Host`. Pure pxr, no Qt.

The thread that makes a session is its main thread. Every method and property raises `WrongThread`
on other threads, except ``name``, ``version`` and ``has_ui``. The reason: USD lets any thread edit
without a word, and calls its listeners, window included, on that thread (measured, 26.11). Code
that keeps a stage and takes it to another thread is not stopped.

The facts in this folder were measured with usd-core 26.11 on CPython 3.11, Linux, where a module
does not name another version.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
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

from . import description, files
from .changes import noting_changes
from .locks import Locks
from .prims import find_paths, is_path, prim_at, require
from .snapshots import Snapshot, take_snapshot
from .trial import StepTrial
from .undo_stack import UndoStack
from .variants import kind_of
from .views import StageView, moved_rules

T = TypeVar("T")
_version = cache(own_version)  # a read of the disk
_READABLE: Final = (*files.SUFFIXES, files.PACKAGE)
_MAX_LOOKS: Final = 5  # at a scene that the host's own code edits meanwhile, as it paints


class UsdSession(Host):
    """A USD stage as a host's scene."""

    item_noun = "prim"
    suffix = ".usda"

    def __init__(
        self, path: Path | str | None = None, *, has_ui: bool = False, as_copy: bool = False
    ) -> None:
        """Open a scene.

        Args:
            path: The scene's file; without one the scene is empty and untitled.
            has_ui: Whether there is a window.
            as_copy: Whether the scene is an untitled copy, which is never saved to its file.

        Raises:
            OSError: The file is not there, or must not be read.
            ValueError: The file is not a USD file.
        """
        self.name = "dcc_bridge USD"
        self.version = _version()
        self.has_ui = has_ui
        self._thread = threading.get_ident()
        self._listeners = Callbacks()
        self._watchers = Callbacks()
        self._framers = Callbacks()
        self._selection: list[str] = []
        self._selected_at = 0  # the undo stack's `resync_count` at which the selection was checked
        self._path: Path | None = None
        self._untitled = "untitled"
        self._why_untitled = "This scene was never saved"
        self._made_absolute: frozenset[str] = frozenset()  # paths of an untitled copy
        if path is None:
            self._stage = files.untitled(self._untitled)
        else:
            self._open_file(files.absolute(path, _READABLE), as_copy=as_copy)
        self._locks = Locks()
        self._answers: dict[Callable[..., object], tuple[object, Any]] = {}  # see `_once`
        self._history = UndoStack(self._stage, self._announce, self._touched)

    def _open_file(self, path: Path, *, as_copy: bool) -> None:
        """Open a file, or a copy of it; what can only be read is always opened as a copy."""
        stage = files.read(path)
        is_package = files.is_package(path)
        if not as_copy and not is_package:
            self._stage = stage
            self._path = path
            self._made_absolute = frozenset()
            return
        self._untitled = f"untitled copy of {path.name}"
        self._stage, self._made_absolute = files.untitled_copy(self._untitled, stage)
        self._path = None
        if is_package:
            self._why_untitled = f"{path.name} can only be read, and this is a copy of it"

    @property
    def stage(self) -> Usd.Stage:
        """The scene. Another object after `open`, and after `save` under another name."""
        self._on_thread("stage")
        return self._stage

    def prim(self, path: str) -> Usd.Prim:
        """Return the prim at a path. Main thread.

        Args:
            path: An absolute path, such as "/World/Lights".

        Raises:
            ValueError: There is no such prim; the message names what there is instead.
        """
        return require(self.stage, path)

    @property
    def path(self) -> Path | None:
        """The scene's file; None for an untitled one."""
        self._on_thread("path")
        return self._path

    @property
    def modified(self) -> bool:
        """True if a save would change a file. The session layer, never saved, does not count."""
        return bool(self._on_thread("modified").unsaved())

    def scene(self) -> str:
        """Return the name of the scene as the title bar has it."""
        path = self.path
        return self._untitled if path is None else path.name

    def file(self) -> Path | None:
        """Return the scene's file; None for an untitled one."""
        return self.path

    def files(self) -> list[Path]:
        """List the files that a save would write over: the scene's own, its unsaved sublayers."""
        root = self.stage.GetRootLayer()
        below = [layer for layer in self._history.unsaved() if layer != root]
        paths = [Path(layer.realPath) for layer in below if not layer.anonymous]
        if self._path is None:
            return paths
        return [self._path, *paths]

    def open(self, path: Path | str) -> None:
        """Open another scene, or the same scene as it is on disk. The undo stack is emptied.

        Of a .usdz package a copy is opened, which has to be saved under another name. In an
        undo step the edits so far are no longer in the step, and the step goes on with the new
        scene. After an error the open scene stays.

        Raises:
            OSError: The file is not there, or must not be read.
            ValueError: The file is not a USD file.
        """
        self._on_thread("open")
        file = files.absolute(path, _READABLE)
        self.losing(f"open {file.name} in place of {self.scene()}")
        self._open_file(file, as_copy=False)
        self._locks.follow(self._stage)
        self._history.reset(self._stage)
        self._announce()

    def save(self, path: Path | str | None = None) -> Path:
        """Write the scene and its unsaved sublayers, each file whole or not at all.

        Args:
            path: The file, if not the scene's own; it is the scene's own file from then on.

        Returns:
            The scene's file.

        Raises:
            OSError: A file cannot be written; the message names it.
            ValueError: The scene has no file and none was given, or it cannot have that file.
        """
        self._on_thread("save")
        target = self.save_target(path)
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

    def save_target(self, path: Path | str | None = None) -> Path:
        """Return the file that a save would write for the scene.

        Args:
            path: The file, if not the scene's own.

        Raises:
            ValueError: The scene has no file and none was given, or it cannot have that file.
        """
        if path is not None:
            return files.absolute(path)
        if self._path is None:
            suffixes = ", ".join(files.SUFFIXES)
            raise ValueError(
                f"{self._why_untitled}: give the path of a file to save it in ({suffixes})."
            )
        return self._path

    def save_copy(self, path: Path) -> None:
        """Write the scene to another file, and unsaved sublayers beside: ``shot.1.below.usda``."""
        self._on_thread("save_copy")
        target = files.absolute(path)
        root = self._stage.GetRootLayer()
        unsaved = [layer for layer in self._history.unsaved() if layer != root]
        below = {}
        for number, layer in enumerate(unsaved, 1):
            # Numbered, for two layers may have one name in different folders.
            name = f"{target.stem}.{number}.{Path(layer.GetDisplayName()).stem}.usda"
            below[target.with_name(name)] = layer
        self._losing_files([target, *below])
        files.write_copy(root, target, files.path_fitter(root, target, self._made_absolute))
        for file, layer in below.items():
            files.write_copy(layer, file, files.path_fitter(layer, file))

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited, if any; roll the edits back on an exception."""
        with self._on_thread("undo_step").step(label):
            yield

    def undo(self) -> None:
        """Undo the step on top.

        Raises:
            RuntimeError: There is no step, one is open, or a layer is locked.
        """
        self._on_thread("undo")
        self._locks.refuse_in_read("undo")
        self._history.undo()

    def take_back(self) -> None:
        """Undo the step on top as if it had never been; it raises what `undo` raises."""
        self._on_thread("take_back")
        self._locks.refuse_in_read("take_back")
        self._history.take_back()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open step took away, or the newest one, beside what was agreed to.

        A prim that is switched off, made an over or a class is lost like a deleted one. The prim
        stands for what is below it, where that is not deleted too.

        Args:
            agreed: Items whose loss was agreed to.

        Returns:
            Prims and properties by their paths, parts in words: "2 keys of focalLength of /cam".
        """
        history = self._on_thread("lost")
        with self._locks.shown_as_before(history.show):
            return history.lost(agreed)

    def trial(self) -> Trial:
        """Return the trial of the open step, which can revert the step."""
        return StepTrial(self._on_thread("trial"), self.selection, self.select)

    def guard(self, put_back: list[str], *, read: bool) -> AbstractContextManager[None]:
        """Keep edit target, muting, load rules and locks; for a read no layer can be edited."""
        self._on_thread("guard")
        return self._locks.hold(self._stage, put_back, read=read)

    def redo(self) -> None:
        """Redo the step undone last; it raises what `undo` raises."""
        self._on_thread("redo")
        self._locks.refuse_in_read("redo")
        self._history.redo()

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note what becomes of prims, properties, keys and values, by USD's notices."""
        self._on_thread("changes")
        return noting_changes(self._stage, self._history.held, self._history.show)

    @property
    def is_in_step(self) -> bool:
        """True while a step is open; `on_change` calls for its edits when it is closed."""
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
        """Call a function after each step, rollback, undo, redo, open, save or change of selection.

        It is not called after an edit outside a step: listen to the stage for that.

        Args:
            callback: The function, called once for each.

        Returns:
            Ends the calls.
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
        before = self.selection
        self._selection = self._existing(paths)
        if self._selection != before:
            self._announce()

    def on_frame(self, show: Callable[[Sequence[str]], None]) -> Undo:
        """Install a viewport.

        Args:
            show: Called with the paths of the prims that the viewport shall show.

        Returns:
            Takes the viewport away.
        """
        self._on_thread("on_frame")
        return self._framers.add(show)

    def frame(self, items: Sequence[str]) -> None:
        """Show prims in the viewport, if there is one."""
        self._on_thread("frame")
        self._framers.call(items)

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call a function after every edit, in a step or not, and whenever `on_change` calls.

        It is not called for an edit on another thread, which is forbidden.

        Args:
            changed: The function.

        Returns:
            Ends the calls.
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
        """Return the USD type of each prim or part; "" for no type, "gone" where there is none."""
        if len(items) > MOST_TOLD:  # so many are asked about, and a question takes a snapshot
            return self._look(items).kinds
        return [self._kind(item) for item in items]

    def _kind(self, item: str) -> str:
        if not is_path(item):
            return "gone"
        prim = self.stage.GetPrimAtPath(item)
        if prim:
            return str(prim.GetTypeName())
        return kind_of(self.stage, item) or "gone"

    def find(self, name: str = "*", type_name: str | None = None, under: str = "/") -> list[str]:
        """List the paths that `prims.find_paths` finds; at once if nothing was edited since."""
        return list(self._once(find_paths, name, type_name, under))

    def select(self, items: Sequence[str]) -> None:
        """Select prims, so that the window shows them."""
        self.selection = list(items)

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest what a person agreed to change: identity, type, parent, locks, descendants."""
        return self._look(items).fingerprint

    def below(self, items: Sequence[str]) -> list[str]:
        """List the prims below some items that are not items themselves."""
        return self._look(items).below

    def leading_to(self, gone: Set[Sdf.Path]) -> list[Sdf.Path]:
        """List the properties that lead to some paths, according to the scene's own layers."""
        return self._on_thread("leading_to").leading_to(gone)

    def set_edit_target(self, layer: Sdf.Layer) -> None:
        """Have edits go to another layer of the scene; an undo of the open step puts it back.

        Raises:
            ValueError: The layer is locked.
        """
        if layer in self.locked_layers():
            raise ValueError(f"The layer {layer.GetDisplayName()} is locked; unlock it first.")
        view = StageView.of(self.stage)
        self.set_view(view._replace(target=Usd.EditTarget(layer)))

    def set_view(self, view: StageView) -> None:
        """Have the scene mute and load other things, or edits go elsewhere; an undo puts it back.

        Raises:
            RuntimeError: A skill runs that says that it only reads.
        """
        history = self._on_thread("set_view")
        self._locks.refuse_in_read("set_view")
        self._locks.allow(view)
        history.set_view(view)

    @contextmanager
    def moving(self, old: Sdf.Path, new: Sdf.Path) -> Iterator[None]:
        """Have what is not loaded at a path stay so, while the block moves its prim elsewhere.

        Args:
            old: The path of the prim.
            new: The path that the block gives it.
        """
        view = StageView.of(self.stage)
        rules = view.rules
        if not rules.GetRules():
            yield
            return
        moved = moved_rules(self.stage, old, new)
        both = Usd.StageLoadRules()
        for path, rule in (*rules.GetRules(), *moved.GetRules()):
            both.AddRule(path, rule)
        self.set_view(view._replace(rules=both))  # else USD loads the prim when it arrives
        yield
        self.set_view(StageView.of(self.stage)._replace(rules=moved))

    def locked_layers(self) -> frozenset[Sdf.Layer]:
        """Return the layers that the person lets nobody edit."""
        return self._locks.locked(self.stage)

    def scene_digest(self) -> str:
        """Digest everything that the scene's own layers hold."""
        return description.scene_digest(self.stage)

    def _look(self, items: Sequence[str]) -> Snapshot:
        return self._once(take_snapshot, tuple(items), self._locks.locked(self.stage))

    def _once(self, look: Callable[..., T], *arguments: object) -> T:
        """Look something up, or return the last answer if nothing was edited since.

        An answer counts only if nothing was edited meanwhile either; else the scene is looked at
        again.

        Raises:
            Busy: The scene was edited during each look.
        """
        for _ in range(_MAX_LOOKS):
            key = (*arguments, self._history.edit_count, self.stage.GetRootLayer().identifier)
            if look in self._answers and self._answers[look][0] == key:
                return cast("T", self._answers[look][1])
            self._answers[look] = (key, look(self._stage, *arguments))
        raise Busy("The scene changes while it is looked at; try again when it rests.")

    def _on_thread(self, what: str) -> UndoStack:
        """Return the undo stack, on the thread of the scene only.

        Raises:
            WrongThread: This is another thread; the message begins with `what`.
        """
        if threading.get_ident() != self._thread:
            raise WrongThread(
                f"{what} was used on another thread than the one of the scene; skills that touch "
                'the scene have thread="main", and async ones reach it by on_main.'
            )
        return self._history

    def _losing_files(self, targets: Sequence[Path], scene: Path | None = None) -> None:
        """Ask whether files may be written over, or the scene may go on in another file.

        Args:
            targets: The files that are about to be written.
            scene: The file that is the scene's own afterwards; None if it stays as it is.
        """
        over = [path for path in targets if path.is_file()]
        if over:
            names = ", ".join(path.name for path in over)
            self.losing(f"write over {names}", over)
        elif scene is not None and scene != self._path:
            self.losing(f"switch the scene to another file, {scene.name}", [scene])

    def _announce(self) -> None:
        """Call the listeners after a step, or what else `on_change` names."""
        self._answers.clear()
        self.selection  # noqa: B018  # drops what is gone, which an undo does not select again
        self._listeners.call()
        self._touched()

    def _touched(self) -> None:
        # USD calls its listeners on whatever thread edits, which may be a forbidden one.
        if threading.get_ident() == self._thread:
            self._watchers.call()

    def _existing(self, paths: Iterable[str]) -> list[str]:
        return [path for path in dict.fromkeys(paths) if prim_at(self._stage, path)]

    def _save_as(self, target: Path) -> None:
        fit = files.path_fitter(self._stage.GetRootLayer(), target, self._made_absolute)
        stage = files.save_as(self._stage, target, fit)
        self._history.move_root(stage, fit)
        self._made_absolute = frozenset()
        self._stage = stage
        self._path = target
        self._locks.follow(stage)
