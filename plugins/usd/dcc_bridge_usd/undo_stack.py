"""Undo and redo for a stage: what its layers held before and after each step. Main thread.

For each layer of the local layer stack (root, session, their sublayers) there is a mirror of what
it held when we looked last. USD's notices say where it was touched since: properties, and prims
with all below them, are copied to the mirror one by one, so that such a step costs what was edited
in it. The layer is copied whole where that would cost more, where metadata of the layer itself
other than its frame range is edited, and where nobody knows. An edit outside a step becomes a step
of its own, `OUTSIDE`, as soon as anybody looks at the stacks or moves along them: it is undone like
any other, never lost.

The places come from a witness, another stage over the same layers with no prim in it: it tells of
what the scene's own hides, as below instances (measured, 26.11). It goes where prims come or go in
crowds, which would cost it half of what it costs the scene.

The stack holds at most `MOST_STEPS` steps and about `MOST_BYTES` (`Copy.size`, two million
prims, attributes and relationships); the oldest go first, the newest always stays.

Not undone, as USD keeps it in no layer: muting, load rules, the edit target. Not followed: a layer
that is only referenced, if somebody edits it through Sdf. While a skill's body runs, `guard` keeps
all of these as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.spi import UndoMark

from .before import Before, Move, Scene, Step, Told
from .layer_copies import FRAMES, Copy, Followed, LayerChange
from .lost import Losses

OUTSIDE: Final = "Edit outside a step"
MOST_STEPS: Final = 100
MOST_BYTES: Final = 512 * 2**20
_MOST_PLACES: Final = 5_000  # with more of them a layer of 100,000 prims is sooner copied whole


class UndoStack:
    """The undo and redo stacks of one scene."""

    def __init__(
        self, stage: Usd.Stage, changed: Callable[[], None], touched: Callable[[], None]
    ) -> None:
        """Begin with none; `changed` is told of each step and move, `touched` of every edit."""
        self.notices = 0  # goes up as any layer, or what the scene shows of them, is another one
        self.resyncs = 0  # goes up as prims may have gone
        self._changed = changed
        self._touched_callback = touched
        self.is_in_step = False
        self._open: object = None  # what stands for the open step
        self._lost: tuple[object, list[str]] | None = None
        self._dropped = 0
        self.reset(stage)
        # USD keeps a bound method weakly: the listeners go with this object.
        self._listener = Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, self._note)

    def reset(self, stage: Usd.Stage) -> None:
        """Begin again with another scene, in which nothing is unsaved; an open step stays open."""
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
        """Mark the step on top; it is the same mark only as long as it is the same step."""
        self._settle()
        if not self._undo:
            return UndoMark(self._dropped)
        top = self._undo[-1]
        return UndoMark(self._dropped + len(self._undo), top.label, top)

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the open step took away, or the newest one, beside what was agreed to."""
        if self.is_in_step:
            self._look()
        asked = self._open or self._newest, self.notices, *agreed
        if self._lost is None or self._lost[0] != asked:  # it may be asked for once more
            found = self.losses(frozenset(agreed))
            self._lost = asked, [] if found is None else found.names()
        return list(self._lost[1])

    def losses(self, agreed: Set[str] = frozenset()) -> Losses | None:
        """Search for what the open step took away, or the newest one; None if it edited nothing."""
        if self.is_in_step:
            self._look()
            changes: Sequence[LayerChange] = self._changes
        else:
            changes = self._newest.changes if self._newest is not None else ()
        if not changes:
            return None
        return Losses(Scene(self._stage, self._followed, changes), self.told(), agreed)

    def told(self) -> Told:
        """Return what USD told of the open step, or of the newest one."""
        if self.is_in_step:
            return self._told_now()
        return Told() if self._newest is None else self._newest.told

    def _told_now(self) -> Told:
        resynced, vanished = frozenset(self._resynced), frozenset(self._vanished)
        return Told(resynced, vanished, tuple(self._moves), tuple(self._blocks))

    @property
    def is_edited(self) -> bool:
        """Whether the open step would be an entry."""
        self._look()
        return bool(self._changes)

    def revert(self) -> None:
        """Take back what was edited in the open step, which goes on."""
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
        """List the properties of which the layers say that they lead to some paths, or below."""
        self._settle()
        every = (each.mirror.targets for each in self._followed.values())
        return list(dict.fromkeys(path for targets in every for path in targets.leading_to(gone)))

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited inside; roll it back on an exception."""
        self._refuse_in_step("open another one")
        self._settle()
        self.is_in_step = True
        self._open = object()
        self._newest = None
        try:
            yield
        except BaseException:  # the step is rolled back, and it goes on
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
        """Undo the newest step."""
        self._refuse_in_step("undo")
        if not self.undo_labels:
            raise RuntimeError("There is nothing to undo.")
        self._newest = None
        self._restore(self._undo[-1].changes[::-1])
        self._redo.append(self._undo.pop())
        self._changed()

    def take_back(self) -> None:
        """Undo the newest step as if it had never been: what could be redone before it can be."""
        redo = self._undo[-1].redo if self._undo else ()
        with self._unlocked():
            self.undo()
        self._redo = list(redo)

    def redo(self) -> None:
        """Redo the step undone last."""
        self._refuse_in_step("redo")
        if not self.redo_labels:
            raise RuntimeError("There is nothing to redo.")
        self._newest = None
        self._restore(self._redo[-1].changes)
        self._undo.append(self._redo.pop())
        self._changed()

    def unsaved(self) -> list[Sdf.Layer]:
        """List the layers, but for the session's, that differ from their files. Fine in a step."""
        self._settle()
        stack = self._stage.GetLayerStack(includeSessionLayers=False)
        every = [self._followed[layer] for layer in stack]
        return [it.layer for it in every if it.state is not it.saved]

    def mark_saved(self) -> None:
        """Remember that the files hold what the layers hold now. Fine in a step."""
        self._settle()
        for followed in self._followed.values():
            followed.saved = followed.state

    def move_root(self, stage: Usd.Stage, relocate: Callable[[Sdf.Layer], None]) -> None:
        """Go on with a stage whose root layer is another one that holds the same.

        `relocate` changes in each copy of the old one what depends on where the file lies.
        """
        root = self._followed.pop(self._stage.GetRootLayer())
        relocate(root.mirror.content)
        steps = [*self._undo, *self._redo]
        steps += [ahead for step in self._undo for ahead in step.redo]  # what a revert brings back
        changes = [it for step in steps for it in step.changes]
        for change in dict.fromkeys([*changes, *self._changes]):
            if change.followed is root:
                relocate(change.held.content)
        root.layer = stage.GetRootLayer()
        self._followed[root.layer] = root
        self._follow(stage)

    def _follow(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self.notices += 1
        self.resyncs += 1
        self._observer = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._resync, stage)
        self._witness: Usd.Stage | None = None
        self._forget()

    def _forget(self) -> None:
        """Take all that was touched for seen."""
        if self._witness is None:
            layers = (self._stage.GetRootLayer(), self._stage.GetSessionLayer())
            nothing = Usd.StagePopulationMask()
            self._witness = Usd.Stage.OpenMasked(*layers, nothing, Usd.Stage.LoadNone)
            notice = Usd.Notice.ObjectsChanged
            self._witnessed = Tf.Notice.Register(notice, self._note_places, self._witness)
        self._touched: set[Followed] = set()
        self._edited: set[Sdf.Path] | None = set()
        self._frames = frozenset[str]()
        self._is_open = False  # an edit of ours of which the witness has said nothing yet

    def _note(self, notice: Sdf.Notice.LayersDidChange, _sender: object) -> None:
        self.notices += 1
        if self._is_open:
            self._edited = None
        if self._edited is None:
            self._witness = None
        ours = {self._followed[it] for it in notice.GetLayers() if it in self._followed}
        self._touched |= ours
        self._is_open = bool(ours)
        if ours:
            self._touched_callback()

    def _note_places(self, notice: Usd.Notice.ObjectsChanged, witness: Usd.Stage) -> None:
        paths = notice.GetResyncedPaths()
        for path in notice.GetChangedInfoOnlyPaths():
            fields = frozenset(notice.GetChangedFields(path))
            if path == Sdf.Path.absoluteRootPath and fields <= FRAMES:
                self._frames |= fields
                self._is_open = False
            else:
                paths.append(path)
        if paths:
            self._is_open = False
        # It tells of nothing below instances.
        if self._edited is None or len(paths) > _MOST_PLACES or witness.GetPrototypes():
            self._edited = None
            return
        self._edited.update(paths)

    def _resync(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        self.notices += 1
        if paths := notice.GetResyncedPaths():
            self.resyncs += 1
            if self.is_in_step:
                self._resynced.update(paths)
                if len(paths) > 1:
                    self._blocks.append(tuple(paths))
                self._note_moves(notice, paths)

    def _note_moves(self, notice: Any, paths: Sequence[Sdf.Path]) -> None:
        """Note which prims are not there for now, and where USD says that they are."""
        for path in paths[:_MOST_PLACES]:
            if path.IsPrimPath() and not self._stage.GetPrimAtPath(path):
                self._vanished.add(path)
                kind, new = notice.GetPrimResyncType(path)
                if not kind.name.endswith("Source"):
                    self._deleted.add(path)
                    continue
                if self._deleted.isdisjoint(path.GetPrefixes()):  # else it was made since
                    self._moves.append((path, new))
                self._deleted.discard(new)

    def _look(self) -> None:
        """Bring the mirror of every layer up to date that was touched, or is new in the stack."""
        edited = self._edited
        seen: set[Sdf.Layer] = set()
        if self._witness is not None and not self._is_open:
            seen.update(self._witness.GetLayerStack(includeSessionLayers=True))
        for followed in self._touched:
            # of a layer that was taken out, the witness sees nothing
            where = edited if followed.layer in seen else None
            change = LayerChange(followed, where, self._frames)
            if not any(it.followed is followed and it.places is None for it in self._changes):
                self._changes.append(change)
        for layer in self._stage.GetLayerStack(includeSessionLayers=True):
            if layer not in self._followed:
                # GetLayerStack does not keep what it gives alive; FindOrOpen does.
                held = Sdf.Layer.FindOrOpen(layer.identifier) or layer
                state = object()
                is_edited = layer.dirty or layer.anonymous
                self._followed[held] = Followed(held, Copy.of(held), state, state)
                if is_edited:
                    self._followed[held].saved = None
        if edited is None or self._is_open:
            self._witness = None
        self._forget()

    def _settle(self) -> None:
        """Make a step of what was edited outside any."""
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
        step = Step(label, tuple(self._changes), tuple(self._redo), self._told_now())
        self.is_in_step = False
        self._open = None
        self._begin_step()
        return step

    def _begin_step(self) -> None:
        """Forget what was edited."""
        self._changes: list[LayerChange] = []
        self._resynced: set[Sdf.Path] = set()
        self._vanished: set[Sdf.Path] = set()
        self._moves: list[Move] = []
        self._blocks: list[tuple[Sdf.Path, ...]] = []
        self._deleted: set[Sdf.Path] = set()  # prims, whatever stands there now

    def _record(self, step: Step) -> bool:
        """Put a step on the stack, if it changed anything."""
        if not step.changes:
            return False
        self._undo.append(step)
        self._redo = []
        while len(self._undo) > MOST_STEPS or (len(self._undo) > 1 and self._size() > MOST_BYTES):
            del self._undo[0]
            self._dropped += 1
        return True

    def _restore(self, changes: Sequence[LayerChange]) -> None:
        """Swap what changes hold with what their layers do."""
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
        """Let what is ours be taken back from a layer that the person, or a body, has locked."""
        locked = [it for it in self._followed if it and not it.permissionToEdit]
        for layer in locked:
            layer.SetPermissionToEdit(True)
        try:
            yield
        finally:
            for layer in locked:
                layer.SetPermissionToEdit(False)

    def _size(self) -> int:
        return sum(it.held.size for step in self._undo + self._redo for it in step.changes)
