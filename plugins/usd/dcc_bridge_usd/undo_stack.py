"""Undo and redo for a stage: the contents of its layers before and after each step. Main thread.

The words of this module:

- A layer is followed if its edits are undone: each layer of the local layer stack (root, session,
  their sublayers). A followed layer has a mirror, a copy of the layer when we looked last.
- A place is the path of a property, or of a prim with all below it. A layer is touched if USD
  reported an edit of it since we last brought its mirror up to date.
- A change holds the old content of a layer at the places that were edited. To swap it restores that
  content, and makes the change hold the content that was there: so it serves both undo and redo.
- A step is one entry of the stacks, with its changes. It is open while its edits are still made.

To bring a mirror up to date costs as much as was edited: the places are copied one by one. The
layer is copied whole where single copies would cost more, where metadata of the layer itself other
than its frame range is edited, and where the places are not known. An edit outside a step becomes a
step of its own, `OUTSIDE`, as soon as anybody looks at the stacks or moves along them.

The places come from a witness, another stage over the same layers with no prim in it. It reports
edits that the scene's own stage hides, as below instances (measured, 26.11). The witness is given
up where prims come or go in crowds, which would cost it half of what it costs the scene.

USD calls this class back at each edit, in this order: `_note_layers` (which layers), `_note_places`
(where, from the witness), and `_note_resync` (which prims of the scene). These only take notes. The
mirrors are brought up to date later, by `_update_mirrors`.

The stack holds at most `MAX_STEPS` steps and about `MAX_BYTES` (`Copy.size`, two million
prims, attributes and relationships); the oldest go first, the newest always stays.

USD keeps the edit target, muting and load rules in no layer: they are undone only where `set_view`
changes them. A layer that is only referenced is not followed, if somebody edits it through Sdf.
While a skill's body runs, `guard` keeps all of these as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.spi import Account, UndoMark

from .account import account_of, view_edits
from .before import Before, Scene, Step, StepNotices
from .layer_copies import FRAMES, Copy, Followed, LayerChange
from .lost import Losses
from .step_notes import StepNotes
from .views import StageView, sublayers_in

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
        scene_mark: An object that stands for the scene, until another scene is opened.

    The fields that say which step `lost` and `losses` tell of:

        is_in_step  _open_step  _last_closed
        yes         an object   None          the open step
        no          None        a step        the step that `step` closed last
        no          None        None          no step: after an undo, a redo or an empty step
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
        self._open_step: object = None
        self._lost_names: tuple[object, list[str]] | None = None  # the last answer of `lost`
        self._views: tuple[StageView, ...] = ()  # see `Step.views`, of the open step
        self._is_showing = False  # see `show`
        self._dropped = 0  # the steps that were dropped at the bottom of the stack
        self.reset(stage)
        # USD keeps a bound method weakly: the listeners go with this object.
        self._layer_listener = Tf.Notice.RegisterGlobally(
            Sdf.Notice.LayersDidChange, self._note_layers
        )

    def reset(self, stage: Usd.Stage) -> None:
        """Begin again with another scene, which is as in its files. An open step stays open."""
        self._followed: dict[Sdf.Layer, Followed] = {}
        self._undo: list[Step] = []
        self._redo: list[Step] = []
        self._last_closed: Step | None = None
        self.scene_mark = object()
        self._begin_step()
        self._follow_stage(stage)
        self.mark_saved()

    @property
    def stage(self) -> Usd.Stage:
        """The scene."""
        return self._stage

    @property
    def undo_labels(self) -> list[str]:
        """The steps that can be undone, the next one last."""
        self._catch_up()
        return [step.label for step in self._undo]

    @property
    def redo_labels(self) -> list[str]:
        """The steps that can be redone, the next one last."""
        self._catch_up()
        return [step.label for step in self._redo]

    def mark(self) -> UndoMark:
        """Mark the step on top; the mark is equal only as long as that step is on top."""
        self._catch_up()
        if not self._undo:
            return UndoMark(self._dropped)
        top = self._undo[-1]
        return UndoMark(self._dropped + len(self._undo), top.label, top)

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Name the losses of the open step, or of the step that was closed last.

        Args:
            agreed: Items whose loss was agreed to; they are left out.
        """
        if self.is_in_step:
            self._update_mirrors()
        key = (self._open_step or self._last_closed, self.edit_count, *agreed)
        if self._lost_names is None or self._lost_names[0] != key:  # callers ask more than once
            losses = self.losses(frozenset(agreed))
            names: list[str] = []
            if losses is not None:
                names = losses.names()
            self._lost_names = (key, names)
        return list(self._lost_names[1])

    def losses(self, agreed: Set[str] = frozenset()) -> Losses | None:
        """Search for the losses of the open step, or of the step that was closed last.

        Args:
            agreed: Items whose loss was agreed to.

        Returns:
            The losses; None if the step edited nothing, or there is no such step.
        """
        changes: Sequence[LayerChange] = ()
        if self.is_in_step:
            self._update_mirrors()
            changes = self._changes
        elif self._last_closed is not None:
            changes = self._last_closed.changes
        if not changes:
            return None
        scene = Scene(self._stage, self._followed, changes)
        return Losses(scene, self.step_notices(), agreed)

    def account(self) -> Account:
        """Return what is different in the scene since the open step began."""
        self._update_mirrors()
        account = Account()
        if self._changes:
            scene = Scene(self._stage, self._followed, self._changes)
            account = account_of(scene, self._changes, self.step_notices().moves)
        if self._views:
            changed = [*account.changed, *view_edits(self._stage, *self._views)]
            account = replace(account, changed=changed)
        return account

    def step_notices(self) -> StepNotices:
        """Return the notices of USD about the open step, or about the step that was closed last."""
        if self.is_in_step:
            return self._step_notes.collected()
        if self._last_closed is None:
            return StepNotices()
        return self._last_closed.notices

    @property
    def is_edited(self) -> bool:
        """True if the open step has edited anything, and would be an entry."""
        self._update_mirrors()
        return bool(self._changes or self._views)

    def set_view(self, view: StageView) -> None:
        """Set edit target, muting and load rules; an undo of the open step puts the old ones back.

        Args:
            view: The new ones.
        """
        before = StageView.of(self._stage)
        if self.is_in_step:
            if self._views:
                before = self._views[0]
            self._views = (before, view)
            if before == view:
                self._views = ()
        self.show(view)
        self._stage.SetEditTarget(view.target)

    def show(self, view: StageView) -> None:
        """Mute and load what a view does; what goes from the scene by that is no edit of the step.

        Args:
            view: The view; its edit target does not count.
        """
        self._is_showing = True
        try:
            view.show(self._stage)
        finally:
            self._is_showing = False

    def revert(self) -> None:
        """Undo the edits of the open step; the step stays open."""
        self._update_mirrors()
        changes = self._changes[::-1]
        views = self._views
        with self._unlock_layers():
            self._restore(changes, views[::-1])
        self._begin_step()
        if changes or views:
            self._changed()

    def held(self, path: Sdf.Path) -> list[Any]:
        """List the specs that the layers held at a path when the open step began."""
        return list(Before(self._followed.values(), self._changes).specs(path))

    def leading_to(self, gone: Set[Sdf.Path]) -> list[Sdf.Path]:
        """List the properties that lead to some paths or below them, according to the layers."""
        self._catch_up()
        properties: dict[Sdf.Path, None] = {}
        for followed in self._followed.values():
            properties |= dict.fromkeys(followed.mirror.targets.leading_to(gone))
        return list(properties)

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Make one entry of the edits in the block; undo them if the block raises an error.

        Raises:
            RuntimeError: A step is open already.
        """
        self._refuse_in_step("open another one")
        self._catch_up()
        self.is_in_step = True
        self._open_step = object()
        self._last_closed = None
        try:
            yield
        except BaseException:  # the step is rolled back, and the exception goes on
            step = self._close_step(label)
            with self._unlock_layers():
                self._restore(step.changes[::-1], step.views[::-1])
            if step.changes or step.views:
                self._changed()
            raise
        step = self._close_step(label)
        if self._record(step):
            self._last_closed = step
            self._changed()

    def undo(self) -> None:
        """Undo the step on top of the undo stack.

        Raises:
            RuntimeError: There is none, a step is open, or a layer is locked.
        """
        self._refuse_in_step("undo")
        if not self.undo_labels:
            raise RuntimeError("There is nothing to undo.")
        self._last_closed = None
        step = self._undo[-1]
        self._restore(step.changes[::-1], step.views[::-1])
        self._redo.append(self._undo.pop())
        self._changed()

    def take_back(self) -> None:
        """Undo the step on top and forget it; the steps that it made impossible to redo come back.

        Raises:
            RuntimeError: There is none, or a step is open.
        """
        redo: Sequence[Step] = ()
        if self._undo:
            redo = self._undo[-1].redo
        with self._unlock_layers():
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
        self._last_closed = None
        step = self._redo[-1]
        self._restore(step.changes, step.views)
        self._undo.append(self._redo.pop())
        self._changed()

    def unsaved(self) -> list[Sdf.Layer]:
        """List the layers that differ from their files, but no session layer. Fine in a step."""
        self._catch_up()
        unsaved = []
        root = self._stage.GetRootLayer()
        for layer in (root, *sublayers_in(root)):
            followed = self._followed.get(layer)  # none where it was muted from the beginning
            if followed is not None and followed.state is not followed.saved:
                unsaved.append(followed.layer)
        return unsaved

    def mark_saved(self) -> None:
        """Remember that the files hold what the layers hold now. Fine in a step."""
        self._catch_up()
        for followed in self._followed.values():
            followed.saved = followed.state

    def move_root(self, stage: Usd.Stage, relocate: Callable[[Sdf.Layer], None]) -> None:
        """Go on with a stage whose root layer is another layer that holds the same.

        Args:
            stage: The stage.
            relocate: Changes the paths that depend on the file's folder, in a copy of the old root
                layer, or of a part of it.
        """
        root = self._followed.pop(self._stage.GetRootLayer())
        relocate(root.mirror.content)
        steps = [*self._undo, *self._redo]
        for step in self._undo:
            steps += step.redo  # `take_back` brings these back
        changes: dict[LayerChange, None] = {}
        for step in steps:
            changes |= dict.fromkeys(step.changes)
        changes |= dict.fromkeys(self._changes)
        for change in changes:
            if change.followed is root:
                relocate(change.held.content)
        root.layer = stage.GetRootLayer()
        self._followed[root.layer] = root
        self._follow_stage(stage)

    def _follow_stage(self, stage: Usd.Stage) -> None:
        """Listen to a stage from now on, with a new witness."""
        self._stage = stage
        self.edit_count += 1
        self.resync_count += 1
        self._resync_listener = Tf.Notice.Register(
            Usd.Notice.ObjectsChanged, self._note_resync, stage
        )
        self._witness: Usd.Stage | None = None
        self._begin_noting()

    def _begin_noting(self) -> None:
        """Forget the notes about touched layers, and begin new ones, with a witness.

        - `_touched_layers`: the followed layers that were edited.
        - `_edited_paths`: the places in any of them; None once they are not known.
        - `_edited_frames`: the frame range fields that were edited in any of them.
        - `_is_unwitnessed`: a followed layer was edited, and the witness has not reported it yet.
        """
        if self._witness is None:
            layers = (self._stage.GetRootLayer(), self._stage.GetSessionLayer())
            nothing = Usd.StagePopulationMask()
            self._witness = Usd.Stage.OpenMasked(*layers, nothing, Usd.Stage.LoadNone)
            notice = Usd.Notice.ObjectsChanged
            self._witness_listener = Tf.Notice.Register(notice, self._note_places, self._witness)
        self._touched_layers: set[Followed] = set()
        self._edited_paths: set[Sdf.Path] | None = set()
        self._edited_frames = frozenset[str]()
        self._is_unwitnessed = False

    def _note_layers(self, notice: Sdf.Notice.LayersDidChange, _sender: object) -> None:
        """Note which layers were edited. USD calls this before the witness reports the places.

        If the witness has not reported the edit before this one, it never will: then the places are
        not known, and the witness is given up.
        """
        self.edit_count += 1
        if self._is_unwitnessed:
            self._edited_paths = None
        if self._edited_paths is None:
            self._witness = None
        touched = set()
        for layer in notice.GetLayers():
            if layer in self._followed:
                touched.add(self._followed[layer])
        self._touched_layers |= touched
        self._is_unwitnessed = bool(touched)
        if touched:
            self._touched_callback()

    def _note_places(self, notice: Usd.Notice.ObjectsChanged, witness: Usd.Stage) -> None:
        """Note the places that the witness reports, and the fields of a layer's frame range.

        Too many places, or instances, below which the witness sees nothing, make them not known.
        """
        paths = notice.GetResyncedPaths()
        for path in notice.GetChangedInfoOnlyPaths():
            fields = frozenset(notice.GetChangedFields(path))
            is_frame_range = path == Sdf.Path.absoluteRootPath and fields <= FRAMES
            if is_frame_range:
                self._edited_frames |= fields
                self._is_unwitnessed = False
            else:
                paths.append(path)
        if paths:
            self._is_unwitnessed = False
        if self._edited_paths is None or len(paths) > _MAX_PLACES or witness.GetPrototypes():
            self._edited_paths = None
            return
        self._edited_paths.update(paths)

    def _note_resync(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        """Note which prims of the scene were made, deleted, moved or composed anew."""
        self.edit_count += 1
        paths = notice.GetResyncedPaths()
        if not paths:
            return
        self.resync_count += 1
        if self.is_in_step and not self._is_showing:
            self._step_notes.add(self._stage, notice, paths)

    def _update_mirrors(self) -> None:
        """Bring the mirrors of touched layers up to date, and follow layers that are new.

        Each `LayerChange` updates a mirror as it is made. The changes are those of the open step,
        or of a step `OUTSIDE` that is still to be recorded. A change is dropped where an earlier
        one of the step holds the same layer whole: the earlier one has the older content.
        """
        edited = self._edited_paths
        seen: set[Sdf.Layer] = set()
        if self._witness is not None and not self._is_unwitnessed:
            seen.update(self._witness.GetLayerStack(includeSessionLayers=True))
        for followed in self._touched_layers:
            # The witness does not report the places of a layer that was taken out of the scene.
            places = edited if followed.layer in seen else None
            change = LayerChange(followed, places, self._edited_frames)
            if not self._holds_whole(followed):
                self._changes.append(change)
        for layer in self._stage.GetLayerStack(includeSessionLayers=True):
            if layer not in self._followed:
                self._follow_layer(layer)
        if edited is None or self._is_unwitnessed:
            self._witness = None
        self._begin_noting()

    def _holds_whole(self, followed: Followed) -> bool:
        """Return whether a change of the open step holds a layer whole."""
        return any(
            change.followed is followed and change.places is None for change in self._changes
        )

    def _follow_layer(self, layer: Sdf.Layer) -> None:
        """Follow a layer, with a mirror; it is saved now if it is as in its file."""
        # GetLayerStack does not keep the layers that it returns alive; FindOrOpen does.
        owned = Sdf.Layer.FindOrOpen(layer.identifier) or layer
        is_edited = layer.dirty or layer.anonymous
        state = object()
        saved = None if is_edited else state
        self._followed[owned] = Followed(owned, Copy.of(owned), state, saved)

    def _catch_up(self) -> None:
        """Bring all up to date: the mirrors in a step, else the stack with a step `OUTSIDE`."""
        if self.is_in_step:
            self._update_mirrors()
        else:
            self._record(self._close_step(OUTSIDE))

    def _refuse_in_step(self, verb: str) -> None:
        """Raise RuntimeError if a step is open."""
        if self.is_in_step:
            raise RuntimeError(f"An undo step is open; close it before you {verb}.")

    def _close_step(self, label: str) -> Step:
        """Close the open step, if there is one; return a step of all edits since the last one."""
        self._update_mirrors()
        notices = self._step_notes.collected()
        step = Step(label, tuple(self._changes), tuple(self._redo), notices, self._views)
        self.is_in_step = False
        self._open_step = None
        self._begin_step()
        return step

    def _begin_step(self) -> None:
        """Begin the changes and the notices of the next step."""
        self._changes: list[LayerChange] = []
        self._views = ()
        self._step_notes = StepNotes()

    def _record(self, step: Step) -> bool:
        """Put a step on the stack, and return True; return False for a step without changes."""
        if not step.changes and not step.views:
            return False
        self._undo.append(step)
        self._redo = []
        while self._is_too_large():
            del self._undo[0]
            self._dropped += 1
        return True

    def _restore(self, changes: Sequence[LayerChange], views: Sequence[StageView]) -> None:
        """Swap changes, which edits their layers, and forget what USD notes of these edits.

        Args:
            changes: The changes, for an undo the newest first.
            views: The view that the step left, and the one that is to be put back; or none.

        Raises:
            RuntimeError: One of the layers is locked.
        """
        for layer in {change.followed.layer for change in changes}:
            if not layer.permissionToEdit:
                name = layer.GetDisplayName()
                raise RuntimeError(f"The layer {name} is locked; unlock it first.")
        if any(change.places is None for change in changes):
            self._witness = None
        with Sdf.ChangeBlock():
            for change in changes:
                change.swap()
        self._begin_noting()
        if views:
            left, wanted = views
            wanted.restore(self._stage, left)
        layers = self._stage.GetLayerStack()
        # An edit target in a layer that is no longer part of the scene makes every edit fail.
        if self._stage.GetEditTarget().GetLayer() not in layers:
            self._stage.SetEditTarget(self._stage.GetRootLayer())

    @contextmanager
    def _unlock_layers(self) -> Iterator[None]:
        """Unlock all followed layers for the block, so that a step can be undone."""
        locked = [layer for layer in self._followed if layer and not layer.permissionToEdit]
        for layer in locked:
            layer.SetPermissionToEdit(True)
        try:
            yield
        finally:
            for layer in locked:
                layer.SetPermissionToEdit(False)

    def _is_too_large(self) -> bool:
        """Return whether the oldest step has to go; the only step never has."""
        if len(self._undo) > MAX_STEPS:
            return True
        if len(self._undo) <= 1:
            return False
        size = 0
        for step in self._undo + self._redo:
            size += sum(change.held.size for change in step.changes)
        return size > MAX_BYTES
