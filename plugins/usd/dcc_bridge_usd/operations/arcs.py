"""The references and payloads of prims, as values. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pxr import Sdf, Usd

from ..prims import is_path, prim_at

ARCS: Final[dict[str, Any]] = {"references": Sdf.Reference, "payloads": Sdf.Payload}
"""The properties, with USD's class for an entry of each."""
_FORM: Final = '{"file": "./chair.usda", "prim": "/Chair"}'


class Arc(NamedTuple):
    """A reference or a payload in a layer of the scene.

    Attributes:
        spec: The spec of the prim in its layer.
        entry: The reference or payload.
    """

    spec: Any
    entry: Any

    @property
    def list(self) -> Any:
        """The list of the spec that has the entry."""
        if isinstance(self.entry, Sdf.Payload):
            return self.spec.payloadList
        return self.spec.referenceList


def arcs(prim: Usd.Prim) -> Iterator[Arc]:
    """Yield the references and payloads of a prim in the scene's own layers.

    Those in a variant are among them while edits go into the variant.
    """
    if not prim.HasAuthoredReferences() and not prim.HasAuthoredPayloads():
        return
    edited = prim.GetStage().GetEditTarget().MapToSpecPath(prim.GetPath())
    for spec in prim.GetPrimStack():
        if spec.path in (prim.GetPath(), edited):
            yield from arcs_of(spec)


def arcs_of(spec: Any) -> Iterator[Arc]:
    """Yield the references and payloads in one spec of a prim."""
    for entries in (spec.referenceList, spec.payloadList):
        for entry in entries.GetAddedOrExplicitItems():
            yield Arc(spec, entry)


def shown_arcs(arcs: Iterator[Arc], prop: str) -> list[dict[str, str]]:
    """Return the references or the payloads among arcs, each with its file and its prim.

    Args:
        arcs: The arcs.
        prop: One of `ARCS`.
    """
    return [_row(arc.entry) for arc in arcs if isinstance(arc.entry, ARCS[prop])]


def _row(entry: Any) -> dict[str, str]:
    """Return the file and the prim of an entry; no file for one in the scene itself."""
    row = {}
    if entry.assetPath:
        row["file"] = str(entry.assetPath)
    if entry.primPath:
        row["prim"] = str(entry.primPath)
    return row


def set_arcs(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Make the references or payloads of a prim those of a list.

    One that stays keeps its time offset, and so does one whose file or prim is another one now. A
    new one comes where edits go.

    Args:
        prim: The prim.
        prop: One of `ARCS`.
        value: The list: for each the path of a file, or an object with a file and a prim.

    Raises:
        ValueError: An entry does not fit, or another layer holds others.
    """
    if not isinstance(value, list):
        raise ValueError(f"{prop} are a list, of paths of files or of {_FORM}.")
    rows = [_checked(prim, prop, each) for each in value]
    kept = [row for row in shown_arcs(arcs(prim), prop) if row in rows]
    leaving = [
        arc
        for arc in arcs(prim)
        if isinstance(arc.entry, ARCS[prop]) and _row(arc.entry) not in rows
    ]
    for row in rows:
        if row in kept:
            continue
        if leaving:
            arc = leaving.pop(0)
            arc.list.ReplaceItemEdits(arc.entry, _entry(prop, row, arc.entry))
        else:
            _add(prim, prop, _entry(prop, row))
    for arc in leaving:
        arc.list.RemoveItemEdits(arc.entry)
    now = shown_arcs(arcs(prim), prop)
    if sorted(map(str, now)) != sorted(map(str, rows)):
        raise ValueError(f"{prop} of {prim.GetPath()} are held by another layer: {now}.")


def _checked(prim: Usd.Prim, prop: str, value: Any) -> dict[str, str]:
    """Return one entry of a list as `_row` has it."""
    row = {"file": value} if isinstance(value, str) else value
    is_row = isinstance(row, dict) and bool(row) and row.keys() <= {"file", "prim"}
    if not is_row or not all(isinstance(text, str) and text for text in row.values()):
        raise ValueError(f"An entry of {prop} is the path of a file or {_FORM}, not {value!r}.")
    path = row.get("prim", "/")
    if not is_path(path) or not Sdf.Path(path).IsAbsolutePath():
        raise ValueError(f"{path!r} is no path of a prim.")
    if "file" not in row:
        _check_in_scene(prim, path)
    return {name: row[name] for name in ("file", "prim") if name in row}


def _check_in_scene(prim: Usd.Prim, path: str) -> None:
    """Check that a prim of the scene can be referred to by another one of the scene."""
    own = prim.GetPath()
    if prim_at(prim.GetStage(), path) is None:
        raise ValueError(f"There is no prim {path} to refer to.")
    if own.HasPrefix(Sdf.Path(path)) or Sdf.Path(path).HasPrefix(own):
        raise ValueError(f"{own} cannot refer to {path}, which is above it or below it.")


def _entry(prop: str, row: dict[str, str], before: Any = None) -> Any:
    """Return a reference or payload, with the time offset of the one in whose place it comes."""
    file = row.get("file", "")
    path = Sdf.Path(row["prim"]) if "prim" in row else Sdf.Path()
    if before is None:
        return ARCS[prop](file, path)
    if prop == "payloads":
        return Sdf.Payload(file, path, before.layerOffset)
    return Sdf.Reference(file, path, before.layerOffset, before.customData)


def _add(prim: Usd.Prim, prop: str, entry: Any) -> None:
    """Add a reference or payload where edits go."""
    if prop == "payloads":
        prim.GetPayloads().AddPayload(entry)
    else:
        prim.GetReferences().AddReference(entry)
