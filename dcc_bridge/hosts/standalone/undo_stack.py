"""Undo and redo for a stage: what its layers held before and after each step. Main thread.

How it works. For each layer of the local layer stack (root, session, their sublayers) there is a
clean snapshot of what it held when we looked last, and USD's notices say which layers were touched
since. So a step costs one snapshot of each layer that it touched: its "after" is the next step's
"before". An edit that nobody put in a step becomes a step of its own, labelled `OUTSIDE`, as soon
as anybody looks at the stacks or moves along them: it is undone and redone like any other, and
never lost.

The stack holds at most `MOST_STEPS` steps and about `MOST_BYTES` (`LayerSnapshot.size`, two million
prims, attributes and relationships); the oldest go first, the newest always stays.

Not undone, as USD keeps it in no layer: muting, load rules, the edit target. Not followed: a layer
that is only referenced, if somebody edits it through Sdf. While a skill's body runs, `guard` keeps
all of these as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pxr import Sdf, Tf, Usd

from dcc_bridge.host import UndoMark

OUTSIDE: Final = "Edit outside a step"
MOST_STEPS: Final = 100
MOST_BYTES: Final = 512 * 2**20

_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24

Place = Sdf.Layer | None
"""A layer, or None for the root layer, whichever that is: "save as" makes another one root."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerSnapshot:
    """What a layer held at one moment. Two of them are the same moment only if they are one.

    Attributes:
        content: A layer of our own.
        size: About how many bytes it keeps to itself, as measured for specs and time samples.
    """

    content: Sdf.Layer
    size: int

    @classmethod
    def take(cls, layer: Sdf.Layer) -> LayerSnapshot:
        """Copy a layer."""
        content = Sdf.Layer.CreateAnonymous(".usdc")
        content.TransferContent(layer)
        return cls(content, _size(content))

    def restore(self, layer: Sdf.Layer) -> None:
        """Give a layer what it held."""
        layer.TransferContent(self.content)


State = Mapping[Place, LayerSnapshot]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One entry of the undo stack.

    Attributes:
        label: What the person reads in the Edit menu.
        before: What every layer held.
        after: What every layer held then; the same snapshots but for the touched ones.
        redo: What could be redone before it.
        resynced: The prims and properties that were made, deleted or composed anew.
    """

    label: str
    before: State
    after: State
    redo: tuple[Step, ...]
    resynced: frozenset[Sdf.Path]


class UndoStack:
    """The undo and redo stacks of one scene. A state is replaced, never changed."""

    def __init__(
        self, stage: Usd.Stage, changed: Callable[[], None], touched: Callable[[], None]
    ) -> None:
        """Begin with empty stacks.

        Args:
            stage: The scene.
            changed: Called once after each step, rollback, undo and redo.
            touched: Called after every edit, on the thread that made it.
        """
        self._changed = changed
        self._touched_callback = touched
        self._before: State | None = None
        self._dropped = 0
        self.reset(stage)
        # USD keeps a bound method weakly: the listeners go with this object.
        self._listener = Tf.Notice.RegisterGlobally(Sdf.Notice.LayersDidChange, self._note)

    def reset(self, stage: Usd.Stage) -> None:
        """Begin again with another scene, or the same read anew; nothing in it is unsaved.

        A step that is open stays open, and holds what is edited from here on.
        """
        self._follow(stage)
        self._undo: list[Step] = []
        self._redo: list[Step] = []
        self._touched: set[Place] = set()
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
        covered = [Sdf.Path(item) for item in agreed if Sdf.Path.IsValidPathString(item)]
        gone = self._gone(self._undo[-1]) if self._undo else []
        return [str(path) for path in gone if not any(map(path.HasPrefix, covered))]

    @property
    def is_in_step(self) -> bool:
        """Whether a step is open."""
        return self._before is not None

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Make one entry of what is edited inside; roll it back on an exception."""
        self._refuse_in_step("begin another one")
        self._settle()
        self._before = self._clean
        self._resynced.clear()
        try:
            yield
        except BaseException:  # the step is rolled back, and it goes on
            with self._unlocked():
                self._roll_back(self._end())
            raise
        if self._record(label, self._end()):
            self._changed()

    def undo(self) -> None:
        """Undo the newest step."""
        self._refuse_in_step("undo")
        if not self.undo_labels:
            raise RuntimeError("There is nothing to undo.")
        self._restore(self._undo[-1].before)
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
        self._restore(self._redo[-1].after)
        self._undo.append(self._redo.pop())
        self._changed()

    def unsaved(self) -> list[Sdf.Layer]:
        """List the layers, but for the session's, that differ from their files. Fine in a step."""
        self._settle()
        self._look()
        layers = self._stage.GetLayerStack(includeSessionLayers=False)
        return [layer for layer in layers if self._is_unsaved(self._place(layer))]

    def mark_saved(self) -> None:
        """Remember that the files hold what the layers hold now. Fine in a step."""
        self._settle()
        self._look()
        self._saved = self._clean

    def move_root(self, stage: Usd.Stage, relocate: Callable[[Sdf.Layer], None]) -> None:
        """Go on with a stage whose root layer is another one that holds the same.

        Args:
            stage: The scene with its new root layer.
            relocate: Called for each copy that is kept of the old one, to change in it what
                depends on where the file lies.
        """
        for snapshot in {state[None] for state in self._states()}:
            relocate(snapshot.content)
        self._follow(stage)

    def _follow(self, stage: Usd.Stage) -> None:
        self._stage, self._root = stage, stage.GetRootLayer()
        self._resynced: set[Sdf.Path] = set()
        self._observer = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._resync, stage)

    def _place(self, layer: Sdf.Layer) -> Place:
        return None if layer == self._root else layer

    def _layer(self, place: Place) -> Sdf.Layer:
        return self._root if place is None else place

    def _note(self, notice: Sdf.Notice.LayersDidChange, _sender: object) -> None:
        ours = {place for place in map(self._place, notice.GetLayers()) if place in self._clean}
        self._touched |= ours
        if ours:
            self._touched_callback()

    def _resync(self, notice: Usd.Notice.ObjectsChanged, _stage: object) -> None:
        if self._before is not None:
            self._resynced.update(notice.GetResyncedPaths())

    def _gone(self, step: Step) -> list[Sdf.Path]:
        """List what the layers held before a step, and who looks at the scene has no more."""
        old = [snapshot.content for snapshot in {*step.before.values()}]
        paths = [*step.resynced]
        for content in old:
            for path in Sdf.Path.RemoveDescendentPaths(list(step.resynced)):
                if content.GetObjectAtPath(path):
                    content.Traverse(path, paths.append)  # type: ignore[arg-type]  # gives paths
        things = {path for path in paths if path.IsPrimPath() or path.IsPrimPropertyPath()}
        layers = self._stage.GetLayerStack(includeSessionLayers=True)
        moved = _relocated(layers) - _relocated(old)  # renamed in what is referenced
        return sorted(moved | {path for path in things if self._is_gone(path, old, layers)})

    def _is_gone(self, path: Sdf.Path, old: list[Sdf.Layer], layers: list[Sdf.Layer]) -> bool:
        if prim := path.IsPrimPath() and self._stage.GetPrimAtPath(path):
            before = [spec for layer in old if (spec := layer.GetPrimAtPath(path))]
            return _is_hidden(prim, before) or _has_lost_its_source(prim, before)
        prop = path.IsPropertyPath() and self._stage.GetPropertyAtPath(path)
        is_there = prop and prop.IsAuthored()  # one of the prim's schema is there without it, too
        was_held = any(layer.GetObjectAtPath(path) for layer in old)
        return was_held and not is_there and not any(it.GetObjectAtPath(path) for it in layers)

    def _is_unsaved(self, place: Place) -> bool:
        return self._clean[place] is not self._saved.get(place)

    def _look(self) -> None:
        """Take a snapshot of every layer that was touched, or is new in the stack."""
        stack = self._stage.GetLayerStack(includeSessionLayers=True)
        new = {self._held(self._place(layer)) for layer in stack} - self._clean.keys()
        stale = new | self._touched
        self._touched.clear()
        if stale:
            taken = {place: LayerSnapshot.take(self._layer(place)) for place in stale}
            self._clean = {**self._clean, **taken}
            unedited = {place: taken[place] for place in new if self._is_as_on_disk(place)}
            self._saved = {**self._saved, **unedited}

    def _is_as_on_disk(self, place: Place) -> bool:
        layer = self._layer(place)
        return not layer.dirty and not layer.anonymous

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
        if all(self._clean[place] is snapshot for place, snapshot in before.items()):
            return False
        self._undo.append(
            Step(label, before, self._clean, tuple(self._redo), frozenset(self._resynced))
        )
        self._redo = []
        self._trim()
        return True

    def _roll_back(self, before: State) -> None:
        if self._restore(before):
            self._changed()

    def _restore(self, state: State) -> bool:
        """Put a state back; layers that hold it already are left alone."""
        stale = [p for p, s in state.items() if p in self._touched or self._clean[p] is not s]
        for layer in map(self._layer, stale):
            if not layer.permissionToEdit:
                raise RuntimeError(
                    f"The layer {layer.GetDisplayName()} is locked; unlock it first."
                )
        with Sdf.ChangeBlock():
            for place in stale:
                state[place].restore(self._layer(place))
        self._clean = {**self._clean, **state}
        self._touched.difference_update(state)
        self._keep_edit_target()
        return bool(stale)

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

    def _keep_edit_target(self) -> None:
        """Leave a layer that is no longer part of the scene, where every edit would fail."""
        if self._stage.GetEditTarget().GetLayer() not in self._stage.GetLayerStack():
            self._stage.SetEditTarget(self._root)

    def _states(self) -> list[State]:
        steps = [state for step in self._undo + self._redo for state in (step.before, step.after)]
        return [self._clean, self._saved, *([self._before] if self._before else []), *steps]

    def _trim(self) -> None:
        while len(self._undo) > MOST_STEPS or (len(self._undo) > 1 and self._size() > MOST_BYTES):
            del self._undo[0]
            self._dropped += 1

    def _size(self) -> int:
        snapshots = {snapshot for state in self._states() for snapshot in state.values()}
        return sum(snapshot.size for snapshot in snapshots)


def _relocated(layers: list[Sdf.Layer]) -> set[Sdf.Path]:
    return {source for layer in layers for source, _ in layer.relocates}


def _is_hidden(now: Usd.Prim, before: list[Sdf.PrimSpec]) -> bool:
    """Whether a prim was deactivated: what is referenced is deleted in this way."""
    return not now.IsActive() and not any(it.HasInfo("active") and not it.active for it in before)


def _has_lost_its_source(now: Usd.Prim, before: list[Sdf.PrimSpec]) -> bool:
    """Whether a prim refers to nothing any more, so that all that came from there is gone."""
    had = any(spec.hasReferences or spec.hasPayloads for spec in before)
    return had and not now.HasAuthoredReferences() and not now.HasAuthoredPayloads()


def _size(layer: Sdf.Layer) -> int:
    specs: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, specs.append)  # type: ignore[arg-type]  # gives paths
    samples = sum(layer.GetNumTimeSamplesForPath(p) for p in specs if p.IsPropertyPath())
    return len(specs) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE
