"""What has to stay in a scene while a skill's body runs. Main thread.

Undo does not bring back the edit target, what is muted or loaded, and what is locked. A skill that
left another edit target behind would have the person's next edits go where no save writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pxr import Sdf, Tf, Usd

from .layer_copies import copy_of

_Permissions = tuple[bool, bool]
_MOST_NAMED: Final = 5
_LOCKED: Final = (
    'It edits or saves a locked layer. A skill edits where it says risk="edit", and only the '
    "layers of the scene itself; it saves by session().save()."
)


class Locks:
    """Locks the layers of a scene for a while, and knows what the person had locked."""

    def __init__(self) -> None:
        self._own: dict[Sdf.Layer, _Permissions] = {}
        self._kept: list[Sdf.Layer] = []
        self._is_reading = False
        self._view: _View | None = None

    def may_save(self, layer: Sdf.Layer) -> bool:
        """Whether the person lets a layer be saved; our own locks do not count."""
        return self._own[layer][1] if layer in self._own else bool(layer.permissionToSave)

    def locked(self, stage: Usd.Stage) -> frozenset[Sdf.Layer]:
        """Give the layers that the person lets nobody edit; our own locks do not count."""
        used = {it: self._own.get(it) or _permissions(it) for it in stage.GetUsedLayers() if it}
        return frozenset(layer for layer, (edit, _) in used.items() if not edit)

    def refuse_in_read(self, what: str) -> None:
        """Raise RuntimeError while a body runs that says that it only reads."""
        if self._is_reading:
            raise RuntimeError(f"{what} changes the scene, and this skill says that it only reads.")

    def follow(self, stage: Usd.Stage) -> None:
        """Lock the layers of the scene that a body opened against being saved past the session."""
        if self._own:  # a body runs; at its end they are as they were
            self._view = _View(stage)
            new = {it: _permissions(it) for it in stage.GetUsedLayers() if it not in self._own}
            self._own.update(new)
            _set({layer: (edit, False) for layer, (edit, _) in new.items()})

    def _lock_new(self, notice: Usd.Notice.ObjectsChanged, stage: Usd.Stage) -> None:
        """Lock a layer that a body loads, unmutes or refers to as those that were there."""
        if notice.GetResyncedPaths():
            new = {it: _permissions(it) for it in stage.GetUsedLayers() if it not in self._own}
            local = set() if self._is_reading else set(stage.GetLayerStack())
            self._own.update(new)
            _set({it: (edit and it in local, False) for it, (edit, _) in new.items()})

    @contextmanager
    def hold(self, stage: Usd.Stage, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Lock what a body must not change, and put back at the end what it changed all the same.

        No layer can be saved past the session; layers that are only referenced, whose edits no undo
        step holds, cannot be edited; for a read no layer can. USD itself raises then. A body that
        takes such a lock away and edits has what it edited put back, and named in `put_back`.
        """
        outer, self._view = self._view, _View(stage)
        # FindOrOpen keeps a layer that a body takes out of the scene, until that is undone
        held = {layer: layer for layer in self._kept if layer}
        used = [
            held.get(it) or Sdf.Layer.FindOrOpen(it.identifier) or it
            for it in stage.GetUsedLayers()
            if it
        ]
        self._kept, own = used, {layer: _permissions(layer) for layer in used}
        stack = set(stage.GetLayerStack())
        local = set() if read else stack
        locked = {layer: (edit and layer in local, False) for layer, (edit, _) in own.items()}
        beside = {it: copy_of(it) if it.dirty else None for it in set(own) - stack}
        before, self._own, self._is_reading = (self._own, self._is_reading), own, read
        _set(locked)
        listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._lock_new, stage)
        try:
            yield
        except Tf.ErrorException as error:
            if "is not editable" not in str(error) and "saving not allowed" not in str(error):
                raise
            raise ValueError(_LOCKED) from error
        finally:
            listener.Revoke()
            self._own, self._is_reading = before
            # a layer that the scene uses no more may be gone, and is false then
            unlocked = [it for it, state in locked.items() if it and _permissions(it) != state]
            put_back += [f"the lock of {it.GetDisplayName()}" for it in unlocked[:_MOST_NAMED]]
            _restore({layer: beside[layer] for layer in unlocked if layer in beside})
            _set(own)
            if self._view is not None:
                put_back += self._view.restore()
            self._view = outer

    @contextmanager
    def shown_as_before(self) -> Iterator[None]:
        """Show the layers that a body mutes, for as long as the block: it cannot hide an edit."""
        if self._view is None:
            yield
            return
        muted = self._view.unmute()
        try:
            yield
        finally:
            self._view.mute(muted)


class _View:
    """What a stage shows and edits, at one moment."""

    def __init__(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self._target = stage.GetEditTarget()
        self._muted = list(stage.GetMutedLayers())
        self._rules = stage.GetLoadRules()

    def unmute(self) -> list[str]:
        """Mute what was muted at that moment, and nothing else; gives what is muted now."""
        muted = list(self._stage.GetMutedLayers())
        self.mute(self._muted)
        return muted

    def mute(self, wanted: list[str]) -> None:
        """Mute these layers, and no other one."""
        muted = list(self._stage.GetMutedLayers())
        if muted != wanted:
            self._stage.MuteAndUnmuteLayers(wanted, [it for it in muted if it not in wanted])

    def restore(self) -> list[str]:
        """Put back what is another one now, and name it."""
        stage, changed = self._stage, list[str]()
        if stage.GetLoadRules() != self._rules:
            stage.SetLoadRules(self._rules)
            changed.append("what is loaded")
        if self.unmute() != self._muted:
            changed.append("which layers are muted")
        target = stage.GetEditTarget()
        # a step that is rolled back may have taken the layer out of the scene
        if target != self._target and self._target.GetLayer() in stage.GetLayerStack():
            stage.SetEditTarget(self._target)
            changed.append("which layer edits go to")
        return changed


def _restore(beside: dict[Sdf.Layer, Sdf.Layer | None]) -> None:
    """Give layers that no undo step holds what they held; None stands for what is on disk."""
    for layer, content in beside.items():
        layer.SetPermissionToEdit(True)
        if content is not None:
            layer.TransferContent(content)
        elif layer.dirty:
            layer.Reload(force=True)


def _permissions(layer: Sdf.Layer) -> _Permissions:
    return bool(layer.permissionToEdit), bool(layer.permissionToSave)


def _set(permissions: dict[Sdf.Layer, _Permissions]) -> None:
    for layer, (edit, save) in permissions.items():
        if layer:
            layer.SetPermissionToEdit(edit)
            layer.SetPermissionToSave(save)
