"""Blender, from 3.4 on: in its window, in ``blender -b``, and as the module ``bpy``. Main thread.

The item of an object is its name, with the library of a linked object: ``Tree [//set.blend]``. No
reference to an object is kept: Blender's undo replaces all objects, and old references dangle.

Source of the facts in this folder: measured with Debian's Blender 3.4.1 in a window and with the
wheels of bpy 4.5.15 and 5.2.3; each module names its own.
"""

from __future__ import annotations

import atexit
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, Final

import bpy
from mathutils import Vector

from dcc_bridge.spi import (
    AgreedIds,
    CountChanges,
    Host,
    Losses,
    LostAnyway,
    NotUndoable,
    Undo,
    UndoMark,
    digest,
)

from . import loop, objects
from .changes import noted_changes
from .inventory import Inventories
from .loop import BlenderLoop, in_window
from .names import name_of
from .record import Loss
from .steps import OpenStep, Outside, ValuesBetween
from .trial import BlenderTrial
from .undo import ChangeCounter, Stack
from .watching import replaceable_operators, watched, writers

__all__ = ["BlenderHost", "BlenderLoop", "in_window", "watched", "writers"]
_MAX_COUNTED: Final = 20_000  # objects whose types are counted for a summary: 25 ms
_MAX_NAMED: Final = 5  # items in an error
_UNDO_ATTEMPTS: Final = 3  # for one step


class BlenderHost(Host):
    """The file that is open in Blender."""

    name = "Blender"
    item_noun = "object"
    suffix = ".blend"

    def __init__(self) -> None:
        """Listen to Blender, until `close`."""
        self.version = bpy.app.version_string
        self.has_ui = not bpy.app.background
        self._stack = Stack()
        self._changes = ChangeCounter(self._stack, self._note_file)
        self._losses = Losses(self, lambda: bpy.data.is_dirty)
        self._leaving: Callable[[], LostAnyway] | None = None  # ends the opening of another file
        self._put_back: list[str] = []
        self._reach = AgreedIds()
        self._inventories = Inventories()  # of what an undo has to bring back
        self._outside = Outside(self._stack, self._changes)
        self._between = ValuesBetween(self._changes)
        self._is_prepared = False  # whether the next step can begin
        self._step: OpenStep | None = None
        # Of the newest step; None where an error kept them from being found.
        self._newest_losses: list[Loss] | None = []
        self._newest_mark: UndoMark | None = None  # the place in the stack after the newest step

    def close(self) -> None:
        """Remove everything of ours from Blender; harmless the second time."""
        self._changes.end()
        # `blender --python FILE` runs the file as a module that it frees. multiprocessing, which a
        # server imports, keeps that module under another name, and Blender crashes as it quits.
        if bpy.app.binary_path:
            sys.modules.pop("__mp_main__", None)
            return
        # 4.5 hangs as it quits with handlers that code of an agent has left, as they hold `bpy`.
        all_handlers: Any = bpy.app.handlers
        for handlers in all_handlers:
            if isinstance(handlers, list):
                handlers[:] = [each for each in handlers if each.__module__ != "__agreed__"]

    def file(self) -> Path | None:
        """Return the .blend file, or None for one that was never saved."""
        if not bpy.data.filepath:
            return None
        return Path(bpy.data.filepath)

    def save_copy(self, path: Path) -> None:
        """Write the scene as it is now to another file."""
        with in_window():
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False)

    @property
    def modified(self) -> bool:
        """Whether any edit is not saved, also one of a script that made no entry."""
        return bpy.data.is_dirty or self._changes.count != self._changes.saved

    @property
    def change_count(self) -> int:
        """A number that differs after each change that Blender has evaluated."""
        return self._changes.seen

    def unnoticed(self) -> AbstractContextManager[None]:
        """Do not count the changes of the block, which reverts its changes itself."""
        return self._changes.unnoticed()

    def summary(self) -> dict[str, Any]:
        """Add Blender's units, frames, engine and how many objects there are of each type."""
        things = bpy.data.objects
        scene = bpy.context.scene
        assert scene is not None  # Blender always has one
        types = Counter(thing.type for thing in islice(things, _MAX_COUNTED))
        units = scene.unit_settings
        camera = objects.item_of(scene.camera) if scene.camera else None
        return super().summary() | {
            "open_scene": name_of(scene),
            "scenes": len(bpy.data.scenes),
            "frames": [scene.frame_start, scene.frame_end],
            "frame": scene.frame_current,
            "fps": round(scene.render.fps / scene.render.fps_base, 3),
            "units": {"system": units.system, "scale": units.scale_length},
            "engine": scene.render.engine,
            "camera": camera,
            "mode": bpy.context.mode,
            "objects": len(things),
            "types": dict(types.most_common()),
        }

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Push an entry if anything was changed in the block."""
        self._prepare()
        self._is_prepared = False
        step = OpenStep(self._stack, self._changes, self._inventories, self._between)
        self._step = step
        try:
            with self._view_kept():  # an edit of another mode is in the entry once that is left
                yield
        finally:
            self._step = None
            step.end()
            self._newest_losses = []
            if step.is_edited():
                self._newest_losses = None
                try:
                    self._newest_losses = step.losses()
                finally:  # without an entry nothing could undo the edit
                    self._stack.push(label)
                    self._newest_mark = self._stack.mark()
                self._changes.watchers.call()
            self._newest_mark = self._stack.mark()
            self._outside.settle()

    def _prepare(self) -> None:
        """Have the stack ready for a step: edits outside of any step get an entry."""
        if not self._is_prepared:
            self._stack.prepare()
            self._outside.enter()

    @property
    def is_in_step(self) -> bool:
        """Whether an undo step is open."""
        return self._step is not None

    def trial(self) -> BlenderTrial | None:
        """Return the trial that can revert the open step, or None without one."""
        if self._step is None:
            return None
        return BlenderTrial(self._stack, self._changes, self._step)

    def undo_mark(self) -> UndoMark:
        """Mark the entry on top of Blender's own stack."""
        return self._stack.mark()

    def undo(self) -> None:
        """Undo. Every reference to an object is dead afterwards.

        Once in 24,000 undos, also without the bridge, 4.5.15 left an object in no collection, where
        the next save loses it. A redo and another undo brought the object back.

        Raises:
            NotUndoable: Not all that was there came back.
        """
        depth = self._stack.mark().depth
        gone: list[str] = []
        for attempt in range(_UNDO_ATTEMPTS):
            if attempt:
                self.redo()
            with in_window():
                bpy.ops.ed.undo()
            now = self._stack.mark()
            gone = self._inventories.unplaced(now) if now.depth < depth else []
            if not gone:
                break
        loop.redraw()
        self._outside.settle()
        if gone:
            names = ", ".join(gone[:_MAX_NAMED])
            why = f"Blender's undo did not restore {names}, although it went back to before the"
            raise NotUndoable(f"{why} change. The person has to look at the scene.")

    def take_back(self) -> None:
        """Undo the newest step.

        Raises:
            NotUndoable: Another file was opened since, or not all came back.
        """
        if self._stack.mark().label is None:
            raise NotUndoable(self._stack.why_opened)
        self.undo()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Return what the open step, or the newest one, took away, and nobody agreed to lose.

        Args:
            agreed: The items that a person agreed to lose.

        Returns:
            Data-blocks and parts of data-blocks, in words.

        Raises:
            RuntimeError: The losses of the newest step could not be found.
        """
        covered = objects.local(self._reach.of(agreed))
        losses: list[Loss] | None = []
        if self._step is not None:
            losses = self._step.losses()
        elif self._newest_mark == self._stack.mark():
            losses = self._newest_losses
        if losses is None:
            raise RuntimeError("Blender's bridge could not find out what the edit took away.")
        texts = [loss.text for loss in losses if not loss.is_covered(covered)]
        return list(dict.fromkeys(texts))

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note the changes of items in the block, in a file of at most 10,000 items.

        In a step without a change that Blender reported, the state is that before the step.
        """
        before = self._step.before if self._step is not None else None
        return noted_changes(self._changes, before, self.scene)

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Restore mode and scene of the windows; raise an error where files were lost.

        The edits of a body that should only read become one entry, but for the settings of a scene.

        Args:
            put_back: Gets the names of what the body had changed and what was restored.
            read: Whether the body should only read.
        """
        outer = self._put_back
        self._put_back = put_back
        has_undo = loop.editing().use_global_undo
        step: AbstractContextManager[None] = nullcontext()
        operators: AbstractContextManager[None] = nullcontext()
        if read and has_undo:
            step = self._reading()
        if not read:
            operators = replaceable_operators()
        if not read and has_undo and self._step is None:
            self._prepare()  # before the bridge marks the place in the stack
            self._is_prepared = True
        try:
            with self._losses.judged(), step, self._view_kept(), operators:
                yield
        finally:
            self._put_back = outer
            self._is_prepared = False

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Push an entry if anything was changed in the block."""
        self._stack.prepare()
        before = self._changes.state(read=True)
        opened = self._stack.opened
        try:
            yield
        finally:
            is_changed = self._changes.is_changed(before, read=True)
            if is_changed and self._stack.opened == opened:
                self._stack.push("A read")

    def _view_kept(self) -> AbstractContextManager[None]:
        """Restore mode and scenes after the block, unless another file was opened in it."""
        opened = self._stack.opened
        return loop.view_kept(self._put_back, lambda: opened == self._stack.opened)

    def _note_file(self, handler: str, file: str) -> None:
        """Keep copies before a file is opened or overwritten: that cannot be refused.

        Args:
            handler: The name of Blender's list of handlers that is called.
            file: The file, or "" where Blender does not say which.
        """
        if handler == "save_pre" and (file or bpy.data.filepath):
            self._losses.writing(Path(file or bpy.data.filepath))
        elif handler == "load_pre":
            name = f"{Path(self.scene()).stem}.unsaved.blend"
            scene = (name, self.save_copy) if self.modified else None
            what = f"open another file in place of {self.scene()}"
            self._leaving = self._losses.ending(what, scene)
        elif handler.startswith("load"):
            if handler == "load_post" and self._leaving is not None:
                self._stack.why_opened = str(self._leaving())
            self._leaving = None

    def redo(self) -> None:
        """Redo. Every reference to an object is dead afterwards."""
        with in_window():
            bpy.ops.ed.redo()
        loop.redraw()
        self._outside.settle()

    @property
    def selection(self) -> list[str]:
        """The selected objects of the open view layer."""
        layer = bpy.context.view_layer
        if layer is None:
            return []
        return [objects.item_of(thing) for thing in layer.objects.selected]

    def select(self, items: Sequence[str]) -> None:
        """Select objects; objects that are not in the open view layer cannot be selected."""
        layer = bpy.context.view_layer
        if layer is None:
            return
        wanted = set(items)
        for thing in layer.objects:
            thing.select_set(objects.item_of(thing) in wanted)
        layer.objects.active = next(iter(layer.objects.selected), None)
        self._changes.watchers.call()

    def frame(self, items: Sequence[str]) -> None:
        """Show objects in every 3D view."""
        layer: Any = bpy.context.view_layer
        layer.update()
        corners = []
        for thing in map(objects.find, items):
            if thing is not None:
                world = thing.matrix_world
                corners += [world @ Vector(corner) for corner in thing.bound_box]
        if not corners:
            return
        for space, _ in loop.views():
            loop.show(space.region_3d, corners)

    def describe(self, item: str) -> dict[str, Any]:
        """Describe an object."""
        return objects.description(item)

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the types of items; "gone" for an item that does not exist."""
        things = map(objects.block, items)
        return [objects.kind_of(thing) if thing is not None else "gone" for thing in things]

    def fingerprint(self, items: Sequence[str]) -> str:
        """Return a digest of the file, and of identity, type, parent, locks and descendants."""
        facts = objects.facts(sorted(set(items)))
        for item, *rest in facts:
            reach = [item]
            if len(rest) > 3:  # an item that is no part
                reach += [name for name, *_ in rest[-1]]
            elif len(rest) > 1:
                reach += objects.losses_with(item)
            self._reach.note(item, reach)
        return digest([bpy.data.filepath, facts])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Have a function called after edits, undo, redo, opening a file, and selecting."""
        return self._changes.watchers.add(changed)

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Start from a timer: an add-on is registered before there is any scene."""
        if bpy.app.background:  # no timer fires there, and the scene exists
            start()
            return lambda: None
        bpy.app.timers.register(start, persistent=True)
        return lambda: _unregister(start)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Have a function called before the scene goes, where Blender says so: since 5.1.

        In older versions, and in any case, it is called when the process exits: too late only for
        the scene.
        """
        handlers: Any = getattr(bpy.app.handlers, "exit_pre", [])

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def leave(*_: object) -> None:
            stop()

        handlers.append(leave)
        atexit.register(stop)

        def unregister() -> None:
            atexit.unregister(stop)
            if leave in handlers:
                handlers.remove(leave)

        return unregister


def _unregister(fn: Callable[[], None]) -> None:
    if bpy.app.timers.is_registered(fn):
        bpy.app.timers.unregister(fn)
