"""Locks on what has to stay in a scene while a skill's body runs. Main thread.

Undo brings back the edit target, and what is muted or loaded, only where a verb set them, and no
locks. A skill that left another edit target behind would have the person's next edits go where no
save writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from pxr import Sdf, Tf, Usd

from .layer_copies import copy_of
from .views import StageView

_MAX_NAMED: Final = 5  # locks that are named as put back
_LOCKED: Final = (
    'It edits or saves a locked layer. A skill edits where it says risk="edit", and only the '
    "layers of the scene itself; it saves by session().save()."
)


class _Permissions(NamedTuple):
    """The permissions of a layer: to edit, and to save."""

    edit: bool
    save: bool


class Locks:
    """Locks the layers of a scene for a while, and knows what the person had locked."""

    def __init__(self) -> None:
        self._own: dict[Sdf.Layer, _Permissions] = {}  # as the person set them
        self._kept_alive: list[Sdf.Layer] = []
        self._is_reading = False
        self._view: _View | None = None

    def may_save(self, layer: Sdf.Layer) -> bool:
        """Return whether the person lets a layer be saved; our own locks do not count."""
        if layer in self._own:
            return self._own[layer].save
        return bool(layer.permissionToSave)

    def locked(self, stage: Usd.Stage) -> frozenset[Sdf.Layer]:
        """Return the layers that the person lets nobody edit; our own locks do not count."""
        locked = set()
        for layer in stage.GetUsedLayers():
            if not layer:
                continue
            permissions = self._own.get(layer) or _permissions(layer)
            if not permissions.edit:
                locked.add(layer)
        return frozenset(locked)

    def refuse_in_read(self, what: str) -> None:
        """Refuse an edit while a body runs that says that it only reads.

        Raises:
            RuntimeError: Such a body runs; the message begins with `what`.
        """
        if self._is_reading:
            raise RuntimeError(f"{what} changes the scene, and this skill says that it only reads.")

    def allow(self, view: StageView) -> None:
        """Let a body leave a view behind that the undo stack puts back."""
        if self._view is not None:
            self._view.allowed.append(view)

    def follow(self, stage: Usd.Stage) -> None:
        """Lock the layers of a scene that a body opened against being saved past the session."""
        if not self._own:
            return
        # A body runs; the locks are taken away at its end.
        self._view = _View(stage)
        new = self._new_layers(stage)
        self._own.update(new)
        for layer, permissions in new.items():
            _set_permissions(layer, permissions._replace(save=False))

    def _lock_new(self, notice: Usd.Notice.ObjectsChanged, stage: Usd.Stage) -> None:
        """Lock a layer that a body loads, unmutes or refers to like those that were there."""
        if not notice.GetResyncedPaths():
            return
        new = self._new_layers(stage)
        local = set[Sdf.Layer]()
        if not self._is_reading:
            local.update(stage.GetLayerStack())
        self._own.update(new)
        for layer, permissions in new.items():
            may_edit = permissions.edit and layer in local
            _set_permissions(layer, _Permissions(may_edit, save=False))

    def _new_layers(self, stage: Usd.Stage) -> dict[Sdf.Layer, _Permissions]:
        used = stage.GetUsedLayers()
        return {layer: _permissions(layer) for layer in used if layer not in self._own}

    @contextmanager
    def hold(self, stage: Usd.Stage, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Lock what a body must not change, and put back at the end what it changed all the same.

        No layer can be saved past the session. Layers that are only referenced, whose edits no undo
        step holds, cannot be edited; for a read no layer can. USD itself raises then. A body that
        takes such a lock away and edits the layer has the layer put back.

        Args:
            stage: The scene.
            put_back: Filled with the names of what had to be put back.
            read: Whether the body says that it only reads.

        Raises:
            ValueError: The body edited or saved a locked layer, and did not catch USD's error.
        """
        outer_view = self._view
        outer_own = self._own
        outer_is_reading = self._is_reading
        used = self._keep_alive(stage)
        own = {layer: _permissions(layer) for layer in used}
        stack = set(stage.GetLayerStack())
        local = set[Sdf.Layer]() if read else stack
        locked = {}
        for layer, permissions in own.items():
            locked[layer] = _Permissions(permissions.edit and layer in local, save=False)
        copies: dict[Sdf.Layer, Sdf.Layer | None] = {}  # of layers that no undo step holds
        for layer in own.keys() - stack:
            copies[layer] = copy_of(layer) if layer.dirty else None
        self._view = _View(stage)
        self._own = own
        self._is_reading = read
        _set_all(locked)
        listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._lock_new, stage)
        try:
            yield
        except Tf.ErrorException as error:
            if "is not editable" not in str(error) and "saving not allowed" not in str(error):
                raise
            raise ValueError(_LOCKED) from error
        finally:
            listener.Revoke()
            self._own = outer_own
            self._is_reading = outer_is_reading
            unlocked = _changed_locks(locked)
            put_back += [f"the lock of {layer.GetDisplayName()}" for layer in unlocked[:_MAX_NAMED]]
            _restore({layer: copies[layer] for layer in unlocked if layer in copies})
            _set_all(own)
            if self._view is not None:
                put_back += self._view.restore()
            self._view = outer_view

    def _keep_alive(self, stage: Usd.Stage) -> list[Sdf.Layer]:
        """Return the layers that a stage uses, and keep them until the next body.

        `FindOrOpen` keeps a layer that a body takes out of the scene, until that is undone.
        """
        kept = {layer: layer for layer in self._kept_alive if layer}
        layers = []
        for layer in stage.GetUsedLayers():
            if layer:
                owned = kept.get(layer) or Sdf.Layer.FindOrOpen(layer.identifier)
                layers.append(owned or layer)
        self._kept_alive = layers
        return layers

    @contextmanager
    def shown_as_before(self, show: Callable[[StageView], object]) -> Iterator[None]:
        """Show what a body mutes or unloads, for as long as the block: that hides no edit.

        Args:
            show: Has the stage mute and load what a view does.
        """
        if self._view is None or self._view.is_unchanged():
            yield
            return
        now = self._view.now()
        show(self._view.allowed[0])
        try:
            yield
        finally:
            show(now)


class _View:
    """The view of a stage that a body has to leave as it is.

    Attributes:
        allowed: The views that the body may leave: the first one, and those that were allowed.
    """

    def __init__(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self.allowed = [self.now()]

    def now(self) -> StageView:
        """Return the view of the stage as it is now."""
        return StageView.of(self._stage)

    def is_unchanged(self) -> bool:
        """Return whether the stage mutes and loads what it did at first."""
        return self.now().shows_as(self.allowed[0])

    def restore(self) -> list[str]:
        """Put back what was not allowed to change, and return the names of it."""
        stage = self._stage
        now = self.now()
        last = self.allowed[-1]
        wanted = now
        changed: list[str] = []
        if all(now.rules != view.rules for view in self.allowed):
            wanted = wanted._replace(rules=last.rules)
            changed.append("what is loaded")
        if all(now.muted != view.muted for view in self.allowed):
            wanted = wanted._replace(muted=last.muted)
            changed.append("which layers are muted")
        if all(now.target != view.target for view in self.allowed):
            wanted = wanted._replace(target=last.target)
        wanted.show(stage)
        # A step that is rolled back may have taken the layer out of the scene.
        if wanted.target != now.target and wanted.target.GetLayer() in stage.GetLayerStack():
            stage.SetEditTarget(wanted.target)
            changed.append("which layer edits go to")
        return changed


def _restore(copies: Mapping[Sdf.Layer, Sdf.Layer | None]) -> None:
    """Put back what layers held that no undo step holds; None stands for what is on disk."""
    for layer, content in copies.items():
        layer.SetPermissionToEdit(True)
        if content is not None:
            layer.TransferContent(content)
        elif layer.dirty:
            layer.Reload(force=True)


def _changed_locks(locked: Mapping[Sdf.Layer, _Permissions]) -> list[Sdf.Layer]:
    """Return the layers whose locks are not as they were set.

    A layer that the scene uses no more may be gone, and is false then.
    """
    changed = []
    for layer, permissions in locked.items():
        if layer and _permissions(layer) != permissions:
            changed.append(layer)
    return changed


def _permissions(layer: Sdf.Layer) -> _Permissions:
    return _Permissions(bool(layer.permissionToEdit), bool(layer.permissionToSave))


def _set_permissions(layer: Sdf.Layer, permissions: _Permissions) -> None:
    layer.SetPermissionToEdit(permissions.edit)
    layer.SetPermissionToSave(permissions.save)


def _set_all(permissions_by_layer: Mapping[Sdf.Layer, _Permissions]) -> None:
    for layer, permissions in permissions_by_layer.items():
        if layer:
            _set_permissions(layer, permissions)
