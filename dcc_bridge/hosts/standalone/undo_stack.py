"""Undo and redo for a stage: what its layers held before and after each step. Main thread.

For each layer of the local layer stack (root, session, their sublayers) there is a mirror of what
it held when we looked last. USD's notices say where it was touched since: values, and some
metadata, are copied to the mirror one by one, so that such a step costs what was edited in it; for
any other the layer is copied whole. An edit outside a step becomes a step of its own, `OUTSIDE`, as
soon as anybody looks at the stacks or moves along them: it is undone like any other, never lost.

The places come from a witness, another stage over the same layers with no prim in it: it tells of
what the scene's own hides, as below instances (measured, 26.11). It goes where prims come or go,
which would cost it half of what it costs the scene.

The stack holds at most `MOST_STEPS` steps and about `MOST_BYTES` (`Copy.size`, two million
prims, attributes and relationships); the oldest go first, the newest always stays.

Not undone, as USD keeps it in no layer: muting, load rules, the edit target. Not followed: a layer
that is only referenced, if somebody edits it through Sdf. While a skill's body runs, `guard` keeps
all of these as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.host import UndoMark
from dcc_bridge.hosts.standalone.layer_copies import WHOLE, Copy, LayerChange, Place, State, Step
from dcc_bridge.hosts.standalone.prims import CHECKING, is_path, tracked

OUTSIDE: Final = "Edit outside a step"
MOST_STEPS: Final = 100
_FEW_PLACES: Final = 100
_BYTES_PER_PLACE: Final = 7500  # of a layer, whose copy costs as much as a place does
MOST_BYTES: Final = 512 * 2**20


class UndoStack:
    """The undo and redo stacks of one scene. A state is replaced, never changed."""

    def __init__(
        self, stage: Usd.Stage, changed: Callable[[], None], touched: Callable[[], None]
    ) -> None:
        """Begin with none; `changed` is told of each step and move, `touched` of every edit."""
        self.notices = 0  # goes up as any layer, or what the scene shows of them, is another one
        self.resyncs = 0  # goes up as prims may have gone
        self._changed = changed
        self._touched_callback = touched
        self._before: State | None = None
        self._lost: tuple[object, list[str]] | None = None
        self._dropped = 0
        self.reset(stage)
        # USD keeps a bound method weakly: the listeners go with this object.
        self._listeners = (
            Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, self._note),
            Tf.Notice.RegisterGlobally(Sdf.Notice.LayerDidReplaceContent, self._note_replaced),
        )

    def reset(self, stage: Usd.Stage) -> None:
        """Begin again with another scene, in which nothing is unsaved; an open step stays open."""
        self._mirrors: dict[Place, Copy] = {}
        self._follow(stage)
        self._undo: list[Step] = []
        self._redo: list[Step] = []
        self._changes: list[tuple[Place, LayerChange]] = []
        self._clean: State = {}
        self._saved: State = {}
        self.mark_saved()
        if self._before is not None:
            self._before = self._clean

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
        top = self._undo[-1] if self._undo else None
        return UndoMark(self._dropped + len(self._undo), top.label if top else None, top)

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the newest step deleted beside the agreed prims and what is below them."""
        now = self._undo[-1:], self.notices, *agreed
        if self._lost is None or self._lost[0] != now:  # it may be asked for once more
            named, newest = frozenset(agreed), self._undo[-1:]
            every = newest[0].lost(self._stage, self._mirrors, named) if newest else []
            self._lost = now, [it for it in every if it not in named]
        beside, root = self._lost[1], Sdf.Path.absoluteRootPath
        covered = {Sdf.Path(item) for item in (agreed if beside else ()) if is_path(item)}
        if not covered:
            return beside
        above = ((it, Sdf.Path(it).GetPrefixes()) for it in tracked(beside, CHECKING))
        return [it for it, over in above if covered.isdisjoint((root, *over))]

    def held(self, path: Sdf.Path) -> list[Any]:
        """List what the layers held at a path when the open step began."""
        before = self._before or self._clean
        return Step("", before, {}, (*self._changes,), (), frozenset()).held(path, self._mirrors)

    @property
    def is_in_step(self) -> bool:
        """Whether a step is open."""
        return self._before is not None

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited inside; roll it back on an exception."""
        self._refuse_in_step("open another one")
        self._settle()
        self._before = self._clean
        self._resynced.clear()
        try:
            yield
        except BaseException:  # the step is rolled back, and it goes on
            self._look()
            with self._unlocked():
                if self._restore(self._changes[::-1], self._end()):
                    self._changed()
            raise
        if self._record(label, self._end()):
            self._changed()

    def undo(self) -> None:
        """Undo the newest step."""
        self._refuse_in_step("undo")
        if not self.undo_labels:
            raise RuntimeError("There is nothing to undo.")
        self._restore(self._undo[-1].changes[::-1], self._undo[-1].before)
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
        self._restore(self._redo[-1].changes, self._redo[-1].after)
        self._undo.append(self._redo.pop())
        self._changed()

    def unsaved(self) -> list[Sdf.Layer]:
        """List the layers, but for the session's, that differ from their files. Fine in a step."""
        self._settle()
        self._look()
        layers = self._stage.GetLayerStack(includeSessionLayers=False)
        places = {layer: self._place(layer) for layer in layers}
        return [it for it, at in places.items() if self._clean[at] is not self._saved.get(at)]

    def mark_saved(self) -> None:
        """Remember that the files hold what the layers hold now. Fine in a step."""
        self._settle()
        self._look()
        self._saved = self._clean

    def move_root(self, stage: Usd.Stage, relocate: Callable[[Sdf.Layer], None]) -> None:
        """Go on with a stage whose root layer is another one that holds the same.

        `relocate` changes in each copy of the old one what depends on where the file lies.
        """
        every = [it for step in self._undo + self._redo for it in step.changes] + self._changes
        copies = [change.held.content for place, change in every if place is None]
        for content in (self._mirrors[None].content, *copies):
            relocate(content)
        self._follow(stage)

    def _follow(self, stage: Usd.Stage) -> None:
        self._stage, self._root = stage, stage.GetRootLayer()
        self.notices += 1
        self.resyncs += 1
        self._resynced: set[Sdf.Path] = set()
        self._observer = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._resync, stage)
        self._call_witness()
        self._forget()

    def _call_witness(self) -> None:
        """Have another one: in time there are instances in it, and below these it is blind."""
        self._witness: Usd.Stage | None
        self._is_blind = False
        layers, nothing = (self._root, self._stage.GetSessionLayer()), Usd.StagePopulationMask()
        witness = self._witness = Usd.Stage.OpenMasked(*layers, nothing, Usd.Stage.LoadNone)
        self._witnessed = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._note_places, witness)

    def _forget(self) -> None:
        """Take all that was touched for seen."""
        self._touched: set[Place] = set()
        self._edited: dict[Sdf.Path, frozenset[str]] | None = {}
        self._is_open = False
        size = sum(it.size for it in self._mirrors.values())
        self._most_places = max(_FEW_PLACES, size / _BYTES_PER_PLACE)

    def _place(self, layer: Sdf.Layer) -> Place:
        return None if layer == self._root else layer

    def _layer(self, place: Place) -> Sdf.Layer:
        return self._root if place is None else place

    def _note(self, notice: Sdf.Notice.LayersDidChange, _sender: object) -> None:
        self.notices += 1
        if self._edited is None:
            self._witness = None
        ours = {place for place in map(self._place, notice.GetLayers()) if place in self._clean}
        self._touched |= ours
        if self._is_open:  # the witness saw nothing of the edit before
            self._edited = None
        self._is_open = bool(ours)
        if ours:
            self._touched_callback()

    def _resync(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        self.notices += 1
        if paths := notice.GetResyncedPaths():
            self.resyncs += 1
            if self._before is not None:
                self._resynced.update(paths)

    def _note_replaced(self, _notice: object, layer: Sdf.Layer) -> None:
        if self._place(layer) in self._clean:
            self._edited = None

    def _note_places(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        if self._edited is None:
            return
        resynced, paths = notice.GetResyncedPaths(), notice.GetChangedInfoOnlyPaths()
        self._is_open = self._is_open and not (resynced or paths)
        if len(resynced) + len(paths) + len(self._edited) > self._most_places or self._is_blind:
            self._edited = None
            return
        self._is_blind = bool(self._witness and self._witness.GetPrototypes())
        fields = {it: notice.GetChangedFields(it) or [WHOLE] for it in paths}  # it is renamed
        for path in (*resynced, *paths):
            self._edited[path] = self._edited.get(path, frozenset()) | {*fields.get(path, [WHOLE])}

    def _look(self) -> None:
        """Bring the mirror of every layer up to date that was touched, or is new in the stack."""
        stack = self._stage.GetLayerStack(includeSessionLayers=True)
        new = {self._held(self._place(layer)) for layer in stack} - self._clean.keys()
        touched, edited = self._touched, None if self._is_open else self._edited
        stack = self._witness.GetLayerStack(includeSessionLayers=True) if self._witness else []
        seen = {*map(self._place, stack)}
        for place in touched:  # of a layer that was taken out, the witness sees nothing
            where = edited if place in seen else None
            change = LayerChange(self._mirrors[place], self._layer(place), where)
            self._mirrors[place] = change.mirror
            if not any(at == place and it.places is None for at, it in self._changes):
                self._changes.append((place, change))
        self._mirrors.update({place: Copy.of(self._layer(place)) for place in new})
        if edited is None or self._is_blind:
            self._call_witness()
        self._forget()
        if stale := new | touched:
            taken = {place: object() for place in stale}
            self._clean = {**self._clean, **taken}
            is_edited = {place: (it := self._layer(place)).dirty or it.anonymous for place in new}
            unedited = {place: taken[place] for place in new if not is_edited[place]}
            self._saved = {**self._saved, **unedited}

    @staticmethod
    def _held(place: Place) -> Place:
        # A layer that GetLayerStack gave is not kept alive by it; one that FindOrOpen gave is.
        return place and (Sdf.Layer.FindOrOpen(place.identifier) or place)

    def _settle(self) -> None:
        """Make a step of what was edited outside any."""
        if self._before is None:
            self._record(OUTSIDE, self._clean)

    def _refuse_in_step(self, verb: str) -> None:
        if self._before is not None:
            raise RuntimeError(f"An undo step is open; close it before you {verb}.")

    def _end(self) -> State:
        before, self._before = self._before, None
        return before or {}

    def _record(self, label: str, before: State) -> bool:
        self._look()
        changes, self._changes = tuple(self._changes), []
        if all(self._clean[place] is content for place, content in before.items()):
            return False
        self._undo.append(
            Step(label, before, self._clean, changes, tuple(self._redo), frozenset(self._resynced))
        )
        self._redo = []
        while len(self._undo) > MOST_STEPS or (len(self._undo) > 1 and self._size() > MOST_BYTES):
            del self._undo[0]
            self._dropped += 1
        return True

    def _restore(self, changes: Sequence[tuple[Place, LayerChange]], state: State) -> bool:
        """Put a state back, from the changes that lie between."""
        for layer in {self._layer(place) for place, _ in changes}:
            if not layer.permissionToEdit:
                name = layer.GetDisplayName()
                raise RuntimeError(f"The layer {name} is locked; unlock it first.")
        if any(change.places is None for _, change in changes):
            self._witness = None
        with Sdf.ChangeBlock():
            for place, change in changes:
                self._mirrors[place] = change.swap(self._mirrors[place], self._layer(place))
        if self._witness is None or self._is_blind:
            self._call_witness()
        self._forget()
        self._clean, self._changes = {**self._clean, **state}, []
        # Where a layer is no longer part of the scene, every edit of it would fail.
        if self._stage.GetEditTarget().GetLayer() not in self._stage.GetLayerStack():
            self._stage.SetEditTarget(self._root)
        return bool(changes)

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        """Let what is ours be taken back from a layer that the person, or a body, has locked."""
        locked = [it for it in map(self._layer, self._clean) if it and not it.permissionToEdit]
        for layer in locked:
            layer.SetPermissionToEdit(True)
        try:
            yield
        finally:
            for layer in locked:
                layer.SetPermissionToEdit(False)

    def _size(self) -> int:
        return sum(it.held.size for step in self._undo + self._redo for _, it in step.changes)
