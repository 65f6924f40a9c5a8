"""The scene for the parts of the window: its changes as Qt signals, and the person's edits.

The session calls once after each step; USD's notices in between say what the step touched. An edit
outside a step is seen at the loop's next turn. Every edit here is an undo step. An edit that is not
possible raises ``Refused`` with a sentence for the status bar and leaves the scene as it was.
Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pxr import Sdf, Tf, Usd, UsdGeom
from PySide6.QtCore import QObject, QThread, QTimer, Signal

from .. import prims as host_edits

if TYPE_CHECKING:
    from ..host import UsdSession


class SessionFeed(QObject):
    """Emits what changed in a session.

    The signals are emitted in the order of this list.

    Attributes:
        prims_changed: Prims came, went, were renamed or got another type.
        values_changed: After `prims_changed`, or alone when only attributes changed.
        stage_opened: The stage is another object: a scene was opened, or saved under another name.
        selection_changed: Other prims are selected.
        steps_changed: After every call of the session.
    """

    prims_changed = Signal()
    values_changed = Signal()
    stage_opened = Signal()
    selection_changed = Signal()
    steps_changed = Signal()

    def __init__(self, session: UsdSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._selection = session.selection
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.timeout.connect(self._report)
        self._unregister = session.on_change(self._report)
        self._listen()

    def close(self) -> None:
        """Stop listening; nothing is emitted from here on."""
        self._unregister()
        self._listener.Revoke()
        self._late.stop()

    def _listen(self) -> None:
        self._stage = self._session.stage
        self._forget_edits()
        self._listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._noticed, self._stage)

    def _forget_edits(self) -> None:
        self._has_new_prims = False
        self._has_new_values = False

    def _noticed(self, notice: Usd.Notice.ObjectsChanged, _: Usd.Stage) -> None:
        self._has_new_values = True
        if any(not path.IsPropertyPath() for path in notice.GetResyncedPaths()):
            self._has_new_prims = True
        if QThread.currentThread() is not self.thread():
            return  # USD calls on whatever thread edits
        if not self._session.is_in_step:  # a long step repaints, but need not read all each time
            self._late.start(0)

    def _report(self) -> None:
        self._late.stop()
        opened = self._session.stage is not self._stage
        if opened:
            self._listener.Revoke()
            self._listen()
            self._has_new_prims = True
            self._has_new_values = True
        self._report_edits()
        if opened:
            self.stage_opened.emit()
        if self._selection != self._session.selection:
            self._selection = self._session.selection
            self.selection_changed.emit()
        self.steps_changed.emit()

    def _report_edits(self) -> None:
        has_new_prims = self._has_new_prims
        has_new_values = self._has_new_values
        self._forget_edits()  # first, for a receiver may edit
        if has_new_prims:
            self.prims_changed.emit()
        if has_new_values:
            self.values_changed.emit()


class Refused(Exception):
    """The scene does not allow an edit; the text says why."""


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Make a sentence of what USD and the session raise.

    Raises:
        Refused: The edit is not possible.
    """
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise Refused(f"Cannot {what}: {str(error).strip()}") from error


def undo(session: UsdSession) -> None:
    """Undo one step."""
    with _refusing("undo"):
        session.undo()


def redo(session: UsdSession) -> None:
    """Redo one step."""
    with _refusing("redo"):
        session.redo()


def rename(session: UsdSession, path: str, name: str) -> str:
    """Rename a prim and keep it selected; what refers to the prim follows. Return its new path."""
    old = Sdf.Path(path)
    if name == old.name:
        return path
    selected = [Sdf.Path(item) for item in session.selection]
    with _refusing(f"rename {old.name}"), session.undo_step(f"Rename {old.name} to {name}"):
        host_edits.check_name(name)
        with session.moving(old, old.ReplaceName(name)):
            new = host_edits.rename(session.stage, session.stage.GetPrimAtPath(old), name)
    session.selection = [str(item.ReplacePrefix(old, new)) for item in selected]
    return str(new)


def delete(session: UsdSession, paths: Sequence[str]) -> None:
    """Delete prims with all prims below them."""
    roots = Sdf.Path.RemoveDescendentPaths([Sdf.Path(path) for path in paths])
    if not roots:
        return
    what = roots[0].name if len(roots) == 1 else f"{len(roots)} prims"
    with _refusing(f"delete {what}"), session.undo_step(f"Delete {what}"):
        host_edits.remove(session.stage, roots)


def show(session: UsdSession, path: str, visible: bool) -> None:
    """Make a prim visible, or invisible with all prims below it."""
    prim = session.stage.GetPrimAtPath(path)
    verb = "Show" if visible else "Hide"
    label = f"{verb} {prim.GetName()}"
    with _refusing(label.lower()), session.undo_step(label):
        imageable = UsdGeom.Imageable(prim)
        if visible:
            imageable.MakeVisible()
        else:
            imageable.MakeInvisible()


def assign(session: UsdSession, path: str, value: object) -> None:
    """Author the default value of the attribute at a property path."""
    attribute = session.stage.GetAttributeAtPath(path)
    name = f"{attribute.GetPrim().GetName()}.{attribute.GetName()}"
    with _refusing(f"set {name} to {value!r}"), session.undo_step(f"Set {name}"):
        attribute.Set(value)
