"""What the window itself does to the scene, each an undo step. No Qt in here.

Every function raises ``Refused`` with a sentence for the status bar, and leaves the scene as it
was. Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pxr import Sdf, Usd, UsdGeom

if TYPE_CHECKING:
    from dcc_bridge.hosts.standalone import UsdSession


class Refused(Exception):
    """The scene does not allow what was asked; the text says why."""


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Turn what USD and the session raise into a sentence."""
    try:
        yield
    except RuntimeError as error:
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
    """Give a prim another name and keep it selected.

    Returns:
        Its new path.
    """
    old = Sdf.Path(path)
    if name == old.name:
        return path
    new = old.GetParentPath().AppendChild(_checked(session.stage, old, name))
    selected = [str(Sdf.Path(each).ReplacePrefix(old, new)) for each in session.selection]
    with _refusing(f"rename {old.name}"), session.undo_step(f"Rename {old.name} to {name}"):
        _apply(session.stage, [Sdf.NamespaceEdit.Rename(old, name)])
    session.selection = selected
    return str(new)


def _checked(stage: Usd.Stage, path: Sdf.Path, name: str) -> str:
    if not Sdf.Path.IsValidIdentifier(name):
        raise Refused(f"“{name}” is no name for a prim: letters, digits, _; no digit first.")
    if stage.GetPrimAtPath(path.GetParentPath().AppendChild(name)):
        raise Refused(f"There is a “{name}” beside it already.")
    return name


def delete(session: UsdSession, paths: Sequence[str]) -> None:
    """Delete prims with all that is below them."""
    roots = Sdf.Path.RemoveDescendentPaths([Sdf.Path(path) for path in paths])
    if not roots:
        return
    what = roots[0].name if len(roots) == 1 else f"{len(roots)} prims"
    with _refusing(f"delete {what}"), session.undo_step(f"Delete {what}"):
        _apply(session.stage, [Sdf.NamespaceEdit.Remove(path) for path in roots])


def _apply(stage: Usd.Stage, edits: Sequence[Sdf.NamespaceEdit]) -> None:
    batch = Sdf.BatchNamespaceEdit()
    for edit in edits:
        batch.Add(edit)
    if not stage.GetRootLayer().Apply(batch):
        raise RuntimeError("It comes from another layer, which this scene only refers to.")


def show(session: UsdSession, path: str, visible: bool) -> None:
    """Make a prim visible, or invisible with all that is below it."""
    prim = session.stage.GetPrimAtPath(path)
    label = f"{'Show' if visible else 'Hide'} {prim.GetName()}"
    with _refusing(label.lower()), session.undo_step(label):
        imageable = UsdGeom.Imageable(prim)
        imageable.MakeVisible() if visible else imageable.MakeInvisible()


def assign(session: UsdSession, path: str, value: object) -> None:
    """Author the default value of the attribute at a property path."""
    attribute = session.stage.GetAttributeAtPath(path)
    name = f"{attribute.GetPrim().GetName()}.{attribute.GetName()}"
    with _refusing(f"set {name} to {value!r}"), session.undo_step(f"Set {name}"):
        attribute.Set(value)
