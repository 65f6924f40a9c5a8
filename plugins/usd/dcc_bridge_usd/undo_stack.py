"""Undo and redo for a stage: what its layers held before and after each step. Main thread.

For each layer of the local layer stack (root, session, their sublayers) there is a mirror of what
the layer held when we looked last. USD's notices say where the layer was touched since: properties,
and prims with all below them, are copied to the mirror one by one, so that such a step costs what
was edited in it. The layer is copied whole where single copies would cost more, where metadata of
the layer itself other than its frame range is edited, and where the places are not known. An edit
outside a step becomes a step of its own, `OUTSIDE`, as soon as anybody looks at the stacks or moves
along them: such a step is undone like any other, never lost.

The places come from a witness, another stage over the same layers with no prim in it. The witness
reports what the scene's own stage hides, as below instances (measured, 26.11). The witness is given
up where prims come or go in crowds, which would cost it half of what it costs the scene.

The stack holds at most `MAX_STEPS` steps and about `MAX_BYTES` (`Copy.size`, two million
prims, attributes and relationships); the oldest go first, the newest always stays.

Muting, load rules and the edit target are not undone, as USD keeps them in no layer. A layer that
is only referenced is not followed, if somebody edits it through Sdf. While a skill's body runs,
`guard` keeps all of these as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.spi import UndoMark

from .before import Before, Scene, Step, StepNotices
from .layer_copies import FRAMES, Copy, Followed, LayerChange
from .lost import Losses
from .step_notes import StepNotes

OUTSIDE: Final = "Edit outside a step"
MAX_STEPS: Final = 100
MAX_BYTES: Final = 512 * 2**20
_MAX_PLACES: Final = 5_000  # with more, a layer of 100,000 prims is copied whole in less time


class UndoStack:
    """The undo and redo stacks of one scene.

    Attributes:
        edit_count: Goes up whenever a layer changes, or what the scene shows of the layers.
        resync_count: Goes up whenever prims may have gone.
        is_in_step: Whether a step is open.
        scene_mark: Another object after another scene was opened.
    """

    def __init__(
        self, stage: Usd.Stage, changed: Callable[[], None], touched: Callable[[], None]
    ) -> None:
        """Begin with empty stacks.

        Args:
            stage: The scene.
            changed: Called after each step and each move along the stacks.
            touched: Called after every edit.
        """
        self.edit_count = 0
        self.resync_count = 0
        self._changed = changed
        self._touched_callback = touched
        self.is_in_step = False
        self._open: object = None  # stands for the open step
        self._lost: tuple[object, list[str]] | None = None
        self._dropped = 0
        self.reset(stage)
        # USD keeps a bound method weakly: the listeners go with this object.
        self._listener = Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, self._note)

    def reset(self, stage: Usd.Stage) -> None:
        """Begin again with another scene, which has nothing unsaved; an open step stays open."""
        self._followed: dict[Sdf.Layer, Followed] = {}
        self._undo: list[Step] = []
        self._redo: list[Step] = []
        self._newest: Step | None = None
        self.scene_mark = object()
        self._begin_step()
        self._follow(stage)
        self.mark_saved()

    @property
    def stage(self) -> Usd.Stage:
        """The scene."""
        return self._stage

    @property
    def undo_labels(self) -> list[str]:
        """The steps that can be undone, the next one last."""
        self._settle()
        return [step.label for step in self._undo]

    @property
    def redo_labels(self) -> list[str]:
        """The steps that can be redone, the next one last."""
        self._settle()
        return [step.label for step in self._redo]

    def mark(self) -> UndoMark:
        """Mark the step on top; the mark is equal only as long as that step is on top."""
        self._settle()
        if not self._undo:
            return UndoMark(self._dropped)
        top = self._undo[-1]
        return UndoMark(self._dropped + len(self._undo), top.label, top)

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open step took away, or the newest one, beside what was agreed to."""
        if self.is_in_step:
            self._look()
        key = (self._open or self._newest, self.edit_count, *agreed)
        if self._lost is None or self._lost[0] != key:  # callers ask more than once
            losses = self.losses(frozenset(agreed))
            names: list[str] = []
            if losses is not None:
                names = losses.names()
            self._lost = (key, names)
        return list(self._lost[1])

    def losses(self, agreed: Set[str] = frozenset()) -> Losses | None:
        """Search for what the open step took away, or the newest one.

        Args:
            agreed: Items whose loss was agreed to.

        Returns:
            The losses; None if the step edited nothing.
        """
        changes: Sequence[LayerChange] = ()
        if self.is_in_step:
            self._look()
            changes = self._changes
        elif self._newest is not None:
            changes = self._newest.changes
        if not changes:
            return None
        scene = Scene(self._stage, self._followed, changes)
        return Losses(scene, self.step_notices(), agreed)

    def step_notices(self) -> StepNotices:
        """Return what USD said of the open step, or of the newest one."""
        if self.is_in_step:
            return self._notes.collected()
        if self._newest is None:
            return StepNotices()
        return self._newest.notices

    @property
    def is_edited(self) -> bool:
        """True if the open step has edited anything, and would be an entry."""
        self._look()
        return bool(self._changes)

    def revert(self) -> None:
        """Take back what was edited in the open step; the step stays open."""
        self._look()
        changes = self._changes[::-1]
        with self._unlocked():
            self._restore(changes)
        self._begin_step()
        if changes:
            self._changed()

    def held(self, path: Sdf.Path) -> list[Any]:
        """List what the layers held at a path when the open step began."""
        return list(Before(self._followed.values(), self._changes).specs(path))

    def leading_to(self, gone: Set[Sdf.Path]) -> list[Sdf.Path]:
        """List the properties that lead to some paths or below them, according to the layers."""
        self._settle()
        properties: dict[Sdf.Path, None] = {}
        for followed in self._followed.values():
            properties |= dict.fromkeys(followed.mirror.targets.leading_to(gone))
        return list(properties)

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited inside; roll the edits back on an exception.

        Raises:
            RuntimeError: A step is open already.
        """
        self._refuse_in_step("open another one")
        self._settle()
        self.is_in_step = True
        self._open = object()
        self._newest = None
        try:
            yield
        except BaseException:  # the step is rolled back, and the exception goes on
            step = self._end(label)
            with self._unlocked():
                self._restore(step.changes[::-1])
            if step.changes:
                self._changed()
            raise
        step = self._end(label)
        if self._record(step):
            self._newest = step
            self._changed()

    def undo(self) -> None:
        """Undo the newest step.

        Raises:
            RuntimeError: There is none, a step is open, or a layer is locked.
        """
        self._refuse_in_step("undo")
        if not self.undo_labels:
            raise RuntimeError("There is nothing to undo.")
        self._newest = None
        self._restore(self._undo[-1].changes[::-1])
        self._redo.append(self._undo.pop())
        self._changed()

    def take_back(self) -> None:
        """Undo the newest step as if it had never been; its redo steps come back."""
        redo: Sequence[Step] = ()
        if self._undo:
            redo = self._undo[-1].redo
        with self._unlocked():
            self.undo()
        self._redo = list(redo)

    def redo(self) -> None:
        """Redo the step undone last.

        Raises:
            RuntimeError: There is none, a step is open, or a layer is locked.
        """
        self._refuse_in_step("redo")
        if not self.redo_labels:
            raise RuntimeError("There is nothing to redo.")
        self._newest = None
        self._restore(self._redo[-1].changes)
        self._undo.append(self._redo.pop())
        self._changed()

    def unsaved(self) -> list[Sdf.Layer]:
        """List the layers that differ from their files, session layers aside. Fine in a step."""
        self._settle()
        unsaved = []
        for layer in self._stage.GetLayerStack(includeSessionLayers=False):
            followed = self._followed[layer]
            if followed.state is not followed.saved:
                unsaved.append(followed.layer)
        return unsaved

    def mark_saved(self) -> None:
        """Remember that the files hold what the layers hold now. Fine in a step."""
        self._settle()
        for followed in self._followed.values():
            followed.saved = followed.state

    def move_root(self, stage: Usd.Stage, relocate: Callable[[Sdf.Layer], None]) -> None:
        """Go on with a stage whose root layer is another layer that holds the same.

        Args:
            stage: The stage.
            relocate: Changes what depends on the file's place, in a copy of the old root layer.
        """
        root = self._followed.pop(self._stage.GetRootLayer())
        relocate(root.mirror.content)
        steps = [*self._undo, *self._redo]
        for step in self._undo:
            steps += step.redo  # a revert brings these back
        changes: dict[LayerChange, None] = {}
        for step in steps:
            changes |= dict.fromkeys(step.changes)
        changes |= dict.fromkeys(self._changes)
        for change in changes:
            if change.followed is root:
                relocate(change.held.content)
        root.layer = stage.GetRootLayer()
        self._followed[root.layer] = root
        self._follow(stage)

    def _follow(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self.edit_count += 1
        self.resync_count += 1
        self._observer = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._resync, stage)
        self._witness: Usd.Stage | None = None
        self._forget()

    def _forget(self) -> None:
        """Begin to note anew where layers are touched, with a witness if there is none."""
        if self._witness is None:
            layers = (self._stage.GetRootLayer(), self._stage.GetSessionLayer())
            nothing = Usd.StagePopulationMask()
            self._witness = Usd.Stage.OpenMasked(*layers, nothing, Usd.Stage.LoadNone)
            notice = Usd.Notice.ObjectsChanged
            self._witnessed = Tf.Notice.Register(notice, self._note_places, self._witness)
        self._touched: set[Followed] = set()
        self._edited: set[Sdf.Path] | None = set()
        self._frames = frozenset[str]()
        self._is_unwitnessed = False  # whether the witness has not reported an edit of ours yet

    def _note(self, notice: Sdf.Notice.LayersDidChange, _sender: object) -> None:
        """Note which layers were edited. USD sends this before the witness reports the places."""
        self.edit_count += 1
        if self._is_unwitnessed:
            self._edited = None
        if self._edited is None:
            self._witness = None
        ours = set()
        for layer in notice.GetLayers():
            if layer in self._followed:
                ours.add(self._followed[layer])
        self._touched |= ours
        self._is_unwitnessed = bool(ours)
        if ours:
            self._touched_callback()

    def _note_places(self, notice: Usd.Notice.ObjectsChanged, witness: Usd.Stage) -> None:
        """Note where layers were edited, as the witness reports."""
        paths = notice.GetResyncedPaths()
        for path in notice.GetChangedInfoOnlyPaths():
            fields = frozenset(notice.GetChangedFields(path))
            if path == Sdf.Path.absoluteRootPath and fields <= FRAMES:
                self._frames |= fields
                self._is_unwitnessed = False
            else:
                paths.append(path)
        if paths:
            self._is_unwitnessed = False
        # The witness reports nothing below instances.
        if self._edited is None or len(paths) > _MAX_PLACES or witness.GetPrototypes():
            self._edited = None
            return
        self._edited.update(paths)

    def _resync(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        """Note which prims of the scene were made, deleted, moved or composed anew."""
        self.edit_count += 1
        paths = notice.GetResyncedPaths()
        if not paths:
            return
        self.resync_count += 1
        if self.is_in_step:
            self._notes.add(self._stage, notice, paths)

    def _look(self) -> None:
        """Bring the mirrors of touched layers up to date, and make those of new layers."""
        edited = self._edited
        seen: set[Sdf.Layer] = set()
        if self._witness is not None and not self._is_unwitnessed:
            seen.update(self._witness.GetLayerStack(includeSessionLayers=True))
        for followed in self._touched:
            # Of a layer that was taken out of the scene, the witness sees nothing.
            places = edited if followed.layer in seen else None
            change = LayerChange(followed, places, self._frames)
            if not self._holds_whole(followed):
                self._changes.append(change)
        for layer in self._stage.GetLayerStack(includeSessionLayers=True):
            if layer not in self._followed:
                self._follow_layer(layer)
        if edited is None or self._is_unwitnessed:
            self._witness = None
        self._forget()

    def _holds_whole(self, followed: Followed) -> bool:
        """Return whether a change of the open step holds a layer whole."""
        return any(
            change.followed is followed and change.places is None for change in self._changes
        )

    def _follow_layer(self, layer: Sdf.Layer) -> None:
        # GetLayerStack does not keep the layers that it returns alive; FindOrOpen does.
        owned = Sdf.Layer.FindOrOpen(layer.identifier) or layer
        is_edited = layer.dirty or layer.anonymous
        state = object()
        saved = None if is_edited else state
        self._followed[owned] = Followed(owned, Copy.of(owned), state, saved)

    def _settle(self) -> None:
        """Make a step of what was edited outside any step."""
        if self.is_in_step:
            self._look()
        else:
            self._record(self._end(OUTSIDE))

    def _refuse_in_step(self, verb: str) -> None:
        if self.is_in_step:
            raise RuntimeError(f"An undo step is open; close it before you {verb}.")

    def _end(self, label: str) -> Step:
        """Return what was edited since the last step, and close the open one."""
        self._look()
        notices = self._notes.collected()
        step = Step(label, tuple(self._changes), tuple(self._redo), notices)
        self.is_in_step = False
        self._open = None
        self._begin_step()
        return step

    def _begin_step(self) -> None:
        """Forget what was edited."""
        self._changes: list[LayerChange] = []
        self._notes = StepNotes()

    def _record(self, step: Step) -> bool:
        """Put a step on the stack, and return whether it changed anything."""
        if not step.changes:
            return False
        self._undo.append(step)
        self._redo = []
        while self._is_too_large():
            del self._undo[0]
            self._dropped += 1
        return True

    def _restore(self, changes: Sequence[LayerChange]) -> None:
        """Swap what changes hold with what their layers hold."""
        for layer in {change.followed.layer for change in changes}:
            if not layer.permissionToEdit:
                name = layer.GetDisplayName()
                raise RuntimeError(f"The layer {name} is locked; unlock it first.")
        if any(change.places is None for change in changes):
            self._witness = None
        with Sdf.ChangeBlock():
            for change in changes:
                change.swap()
        self._forget()
        # Where a layer is no longer part of the scene, every edit of it would fail.
        if self._stage.GetEditTarget().GetLayer() not in self._stage.GetLayerStack():
            self._stage.SetEditTarget(self._stage.GetRootLayer())

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        """Unlock what the person, or a body, has locked, so that a step can be reverted."""
        locked = [layer for layer in self._followed if layer and not layer.permissionToEdit]
        for layer in locked:
            layer.SetPermissionToEdit(True)
        try:
            yield
        finally:
            for layer in locked:
                layer.SetPermissionToEdit(False)

    def _is_too_large(self) -> bool:
        """Return whether the oldest step has to go."""
        if len(self._undo) > MAX_STEPS:
            return True
        if len(self._undo) <= 1:
            return False
        size = 0
        for step in self._undo + self._redo:
            size += sum(change.held.size for change in step.changes)
        return size > MAX_BYTES
