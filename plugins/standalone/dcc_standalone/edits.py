"""What the window itself does to the scene, each an undo step. No Qt in here.

Every function raises ``Refused`` with a sentence for the status bar, and leaves the scene as it
was. Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pxr import Sdf, UsdGeom

from dcc_bridge.hosts.standalone import edits as host_edits

if TYPE_CHECKING:
    from dcc_bridge.hosts.standalone import UsdSession


class Refused(Exception):
    """The scene does not allow what was asked; the text says why."""


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Turn what USD and the session raise into a sentence."""
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
    """Give a prim another name and keep it selected; what refers to it follows.

    Returns:
        Its new path.
    """
    old = Sdf.Path(path)
    if name == old.name:
        return path
    selected = [Sdf.Path(item) for item in session.selection]
    with _refusing(f"rename {old.name}"), session.undo_step(f"Rename {old.name} to {name}"):
        new = host_edits.rename(session.stage, session.stage.GetPrimAtPath(old), name)
    session.selection = [str(item.ReplacePrefix(old, new)) for item in selected]
    return str(new)


def delete(session: UsdSession, paths: Sequence[str]) -> None:
    """Delete prims with all that is below them."""
    roots = Sdf.Path.RemoveDescendentPaths([Sdf.Path(path) for path in paths])
    if not roots:
        return
    what = roots[0].name if len(roots) == 1 else f"{len(roots)} prims"
    with _refusing(f"delete {what}"), session.undo_step(f"Delete {what}"):
        host_edits.remove(session.stage, roots)


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
