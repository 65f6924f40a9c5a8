"""Blender, from 3.4 on: in its window, in ``blender -b``, and as the module ``bpy``. Main thread.

An item is an object's name, of a linked one with its library: ``Tree [//set.blend]``. No reference
to an object is kept: Blender's undo replaces them all, and one that is left dangles.

Source of the facts in this folder: measured with Debian's Blender 3.4.1 in a window and with the
wheels of bpy 4.5.15 and 5.2.3; the modules name theirs.
"""

from __future__ import annotations

import atexit
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
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
from .steps import OpenStep, Outside
from .trial import BlenderTrial
from .undo import ChangeCounter, Stack
from .watching import replaceable_operators, watched, writers

__all__ = ["BlenderHost", "BlenderLoop", "in_window", "watched", "writers"]
_MOST_COUNTED: Final = 20_000  # objects whose types are counted for a summary: 25 ms
_MOST_NOTED: Final = 10_000  # items up to which those that change are noted
_MOST_NAMED, _ATTEMPTS = 5, 3  # items named, undos of one step


class BlenderHost(Host):
    """The file that is open in Blender."""

    name, item_noun, suffix = "Blender", "object", ".blend"

    def __init__(self) -> None:
        """Listen to Blender; `close` ends that."""
        self.version = bpy.app.version_string
        self.has_ui = not bpy.app.background
        self._stack = Stack()
        self._changes = ChangeCounter(self._stack, self._note_file)
        self._losses = Losses(self, lambda: bpy.data.is_dirty)
        self._went: Callable[[], LostAnyway] | None = None
        self._put_back: list[str] = []
        self._reach = AgreedIds()
        self._inventories = Inventories()  # what an undo has to bring back
        self._outside = Outside(self._stack, self._changes)
        self._is_prepared = False  # the next step can begin
        self._step: OpenStep | None = None
        self._losses_then: list[Loss] = []  # of the newest step
        self._ended: UndoMark | None = None  # the place in the stack after it

    def close(self) -> None:
        """Leave nothing of ours in Blender; harmless the second time."""
        self._changes.end()
        # `blender --python FILE` runs the file as a module that it frees; multiprocessing, which a
        # server imports, keeps it under another name, and Blender crashes as it quits.
        if bpy.app.binary_path:
            sys.modules.pop("__mp_main__", None)
        else:  # with what code of an agent has left, which holds `bpy`, 4.5 hangs as it quits
            handlers: Any = bpy.app.handlers
            for some in (it for it in handlers if isinstance(it, list)):
                some[:] = [it for it in some if it.__module__ != "__agreed__"]

    def scene_id(self) -> Hashable:
        """Return how many files were opened before this one, which no other one has."""
        return self._stack.opened

    def file(self) -> Path | None:
        """Give the .blend file."""
        return Path(bpy.data.filepath) if bpy.data.filepath else None

    def save_copy(self, path: Path) -> None:
        """Write the file as it is now to another one."""
        with in_window():
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False)

    @property
    def modified(self) -> bool:
        """Whether there is anything that is not saved; a script's edit without an entry too."""
        return bpy.data.is_dirty or self._changes.count != self._changes.saved

    @property
    def change_count(self) -> int:
        """Another number after each change that Blender has evaluated."""
        return self._changes.seen

    def unnoticed(self) -> AbstractContextManager[None]:
        """Take what the block does for no change: what it makes is gone at its end."""
        return self._changes.unnoticed()

    def summary(self) -> dict[str, Any]:
        """Add Blender's units, frames, engine and how many objects there are of each type."""
        things, scene = bpy.data.objects, bpy.context.scene
        assert scene is not None  # Blender has one always
        types, units = Counter(it.type for it in islice(things, _MOST_COUNTED)), scene.unit_settings
        return super().summary() | {
            "open_scene": name_of(scene),
            "scenes": len(bpy.data.scenes),
            "frames": [scene.frame_start, scene.frame_end],
            "frame": scene.frame_current,
            "fps": round(scene.render.fps / scene.render.fps_base, 3),
            "units": {"system": units.system, "scale": units.scale_length},
            "engine": scene.render.engine,
            "camera": objects.item_of(scene.camera) if scene.camera else None,
            "mode": bpy.context.mode,
            "objects": len(things),
            "types": dict(types.most_common()),
        }

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Push an entry if anything was changed inside."""
        self._prepare()
        self._is_prepared = False
        step = self._step = OpenStep(self._stack, self._changes, self._inventories)
        try:
            with self._view_kept():  # what is edited in another mode is in the entry only then
                yield
        finally:
            self._step = None
            self._losses_then = []
            if step.is_edited():
                try:
                    self._losses_then = step.losses()
                finally:  # else nothing could undo it
                    self._stack.push(label)
                self._changes.watchers.call()
            self._ended = self._stack.mark()
            self._outside.settle()

    def _prepare(self) -> None:
        """Have the stack ready for a step: what was edited outside of any is an entry."""
        if not self._is_prepared:
            self._stack.prepare()
            self._outside.enter()

    @property
    def is_in_step(self) -> bool:
        """Whether an undo step is open."""
        return self._step is not None

    def trial(self) -> BlenderTrial | None:
        """Return what reverts the open step."""
        if self._step is None:
            return None
        return BlenderTrial(self._stack, self._changes, self._step)

    def undo_mark(self) -> UndoMark:
        """Mark the entry on top of Blender's own stack."""
        return self._stack.mark()

    def undo(self) -> None:
        """Undo; every reference to an object is dead then. NotUndoable: not all came back.

        4.5.15, without the bridge too, once in 24,000 undos left an object in no collection, where
        the next save loses it; to redo and undo brought it back.
        """
        depth, gone = self._stack.mark().depth, list[str]()
        for attempt in range(_ATTEMPTS):
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
            names = ", ".join(gone[:_MOST_NAMED])
            why = f"Blender's undo did not restore {names}, although it went back to before the"
            raise NotUndoable(f"{why} change. The person has to look at the scene.")

    def take_back(self) -> None:
        """Undo; NotUndoable: another file was opened since, or not all came back."""
        if self._stack.mark().label is None:
            raise NotUndoable(self._stack.why_opened)
        self.undo()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open step took away, or the newest one: data-blocks and parts of them."""
        covered = objects.local(self._reach.of(agreed))
        losses = list[Loss]()
        if self._step is not None:
            losses = self._step.losses()
        elif self._ended == self._stack.mark():
            losses = self._losses_then
        texts = [loss.text for loss in losses if not loss.is_covered(covered)]
        return list(dict.fromkeys(texts))

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note items by their ids, and what is evaluated: not of more than 10,000 items.

        In a step of which Blender has told no change yet, the state is that before the step.
        """
        before = self._step.before if self._step is not None else None
        return noted_changes(self._changes, before, self.scene)

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Put back mode and scene of the windows; end with an error where files were lost.

        What a body edits that only reads is one entry, but for the settings of a scene.
        """
        outer, self._put_back = self._put_back, put_back
        step = self._reading() if read and loop.editing().use_global_undo else nullcontext()
        if not read and self._step is None and loop.editing().use_global_undo:
            self._prepare()  # before the bridge marks the place in the stack
            self._is_prepared = True
        operators = nullcontext() if read else replaceable_operators()
        try:
            with self._losses.judged(), step, self._view_kept(), operators:
                yield
        finally:
            self._put_back = outer
            self._is_prepared = False

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Push an entry if anything was changed."""
        self._stack.prepare()
        before, opened = self._changes.state(read=True), self._stack.opened
        try:
            yield
        finally:
            is_changed = self._changes.is_changed(before, read=True)
            if is_changed and self._stack.opened == opened:
                self._stack.push("A read")

    def _view_kept(self) -> AbstractContextManager[None]:
        opened = self._stack.opened
        return loop.view_kept(self._put_back, lambda: opened == self._stack.opened)

    def _note_file(self, handler: str, file: str) -> None:
        """Keep copies before a file is opened or written over: it cannot be refused."""
        if handler == "save_pre" and (file or bpy.data.filepath):
            self._losses.writing(Path(file or bpy.data.filepath))
        elif handler == "load_pre":
            name = f"{Path(self.scene()).stem}.unsaved.blend"
            scene = (name, self.save_copy) if self.modified else None
            self._went = self._losses.ending(f"open another file in place of {self.scene()}", scene)
        elif handler.startswith("load"):
            if handler == "load_post" and self._went is not None:
                self._stack.why_opened = str(self._went())
            self._went = None

    def redo(self) -> None:
        """Redo; every reference to an object is dead then."""
        with in_window():
            bpy.ops.ed.redo()
        loop.redraw()
        self._outside.settle()

    @property
    def selection(self) -> list[str]:
        """The selected objects of the open view layer."""
        layer = bpy.context.view_layer
        return [] if layer is None else [objects.item_of(obj) for obj in layer.objects.selected]

    def select(self, items: Sequence[str]) -> None:
        """Select objects; those that are not in the open view layer cannot be."""
        if (layer := bpy.context.view_layer) is None:
            return
        wanted = set(items)
        for obj in layer.objects:
            obj.select_set(objects.item_of(obj) in wanted)
        layer.objects.active = next(iter(layer.objects.selected), None)
        self._changes.watchers.call()

    def frame(self, items: Sequence[str]) -> None:
        """Show objects in every 3D view."""
        layer: Any = bpy.context.view_layer
        layer.update()
        things = filter(None, map(objects.find, items))
        corners = [it.matrix_world @ Vector(corner) for it in things for corner in it.bound_box]
        for space, _ in loop.views() if corners else ():
            loop.show(space.region_3d, corners)

    def describe(self, item: str) -> dict[str, Any]:
        """Describe an object."""
        return objects.description(item)

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the types, without a description of each."""
        things = map(objects.block, items)
        return [objects.kind_of(thing) if thing is not None else "gone" for thing in things]

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest file, identity, type, parent, locks and what is below."""
        facts = objects.facts(sorted(set(items)))
        for item, *rest in facts:
            self._reach.note(item, [item, *(name for name, *_ in rest[-1])] if rest[1:] else [item])
        return digest([bpy.data.filepath, facts])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call after edits, undo, redo, opening a file, and changes of the selection."""
        return self._changes.watchers.add(changed)

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Start from a timer: an add-on is registered before there is any scene."""
        if bpy.app.background:  # no timer ever fires, and the scene is there
            start()
            return lambda: None
        bpy.app.timers.register(start, persistent=True)
        return lambda: _unregister(start)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Stop before the scene goes."""
        # Blender has `exit_pre` since 5.1; what atexit calls comes too late for the scene only.
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
