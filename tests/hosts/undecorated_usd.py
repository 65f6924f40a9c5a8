"""A scene with files in our own host, in which each prim has a mark, for undecorated bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations.drawing import UsdOperations
from tests.hosts import bad_edits
from tests.hosts.bad_port import Edit
from tests.hosts.undecorated_port import MARK, Field

_PRIM: Final = re.compile(r'( *)def (\w+ )?"(\w+)"(?: \( (.*?) \))?')
_KEYED: Final = """        float focalLength = 35
        double width.timeSamples = { 1: 2, 9: 3 }
"""


def _marked(text: str, prefix: str) -> str:
    """Return the text of a layer in which each prim has a mark: its name."""

    def line(match: re.Match[str]) -> str:
        space, kind, name, more = match.groups()
        mark = f'customData = {{ string {MARK} = "{prefix}{name}" }}'
        return f'{space}def {kind or ""}"{name}" ( {mark}\n {more or ""} )'

    return _PRIM.sub(line, text).replace("        float focalLength = 35\n", _KEYED)


_INSIDE: Final = ">"  # begins the marks of what is referred to
_BELOW: Final = "sub.usda"
_BRINGING: Final = ("reference ", "payload ")
_TEXTS: Final = bad_edits.FILES | {
    "scene.usda": bad_edits.FILES["scene.usda"].replace("payload = @./ref", "payload = @./load"),
    "load.usda": bad_edits.FILES["ref.usda"],
}
_PREFIXES: Final = {"ref.usda": _INSIDE, "load.usda": f"{_INSIDE}load "}
FILES: Final = {name: _marked(text, _PREFIXES.get(name, "")) for name, text in _TEXTS.items()}


def empty(usd: UsdField, at: str, other: str) -> None:
    """Take the values of all attributes of a prim."""
    for each in bad_edits._prim(usd, at).GetAttributes():
        each.Clear()


def drop_key(usd: UsdField, at: str, other: str) -> None:
    """Take one key."""
    usd.stage.GetPrimAtPath("/World/a").GetAttribute("width").ClearAtTime(9)


def switch_class(usd: UsdField, at: str, other: str) -> None:
    """Make a class of a prim, which is in no scene then."""
    bad_edits._prim(usd, at).SetSpecifier(Sdf.SpecifierClass)


_EDITS: Final[dict[str, Edit]] = {
    **bad_edits.EDITS,
    **{
        name: bad_edits.OWN[name]
        for name in ("cut_off", "unpin", "beside", "below", "in_reference", "of_reference",
                     "mute", "unload", "aim", "aim_below", "lock")
    },
    "empty": empty,
    "drop_key": drop_key,
    "switch_class": switch_class,
}  # fmt: skip
_FILES: Final = (
    "save_reference",
    "save_layers",
    "open_other",
    "save",
    "save_over",
    "save_as",
    "copy_over",
    "copy_over_part",
)


class UsdField(bad_edits.UsdPort, Field):
    """Our own host."""

    edits = _EDITS
    own = {name: bad_edits.OWN[name] for name in _FILES}  # noqa: RUF012 - as in `Port`
    export_name = "other.usda"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.host: UsdSession = UsdSession(folder / "scene.usda")
        self._theirs = 0
        for name in ("first", "second"):
            with self.host.undo_step(f"The person's {name}"):
                prim = self.stage.DefinePrim(f"/World/{name}", "Scope")
                prim.SetCustomDataByKey(MARK, name)
        self.host.undo()

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for prim in self.stage.TraverseAll():
            if prim.IsActive() and prim.IsDefined() and not prim.IsAbstract():
                self._add(prim, found)
        return found

    def _add(self, prim: Usd.Prim, found: dict[str, str]) -> None:
        mark = prim.GetCustomDataByKey(MARK)
        if mark is None:
            return
        found[mark] = str(prim.GetPath())
        for prop in prim.GetAuthoredProperties():
            path = str(prop.GetPath())
            found[f"{mark}|{prop.GetName()}"] = path
            if not isinstance(prop, Usd.Attribute):
                continue
            if prop.HasAuthoredValue():
                found[f"{mark} {prop.GetName()}|value"] = path
            for time in prop.GetTimeSamples():
                found[f"{mark} {prop.GetName()} {time}|key"] = path

    def above(self, item: str) -> Iterable[str]:
        yield from (str(path) for path in Sdf.Path(item).GetPrefixes())

    def is_called(self, item: str, name: str) -> bool:
        return name in (item, str(Sdf.Path(item).GetPrimPath()))

    def covered(self, items: Sequence[str]) -> set[str]:
        """With a reference goes what it brings, with a layer what is in it."""
        things = self.things()
        owners = [item.rpartition(" of ")[2] for item in items if item.startswith(_BRINGING)]
        inside = [mark for mark, at in things.items() if _INSIDE in mark
                  and any(owner in self.above(at) for owner in owners)]  # fmt: skip
        if f"layer {_BELOW} of the scene" in items:
            inside += [mark for mark in things if mark.startswith("low")]
        return {*super().covered(items), *inside}

    def export(self) -> None:
        self.stage.GetRootLayer().Export(str(self.folder / self.export_name))

    def writers(self) -> Sequence[Writer]:
        return UsdOperations(self.host).writers()

    def work(self) -> None:
        name = f"theirs{self._theirs}"
        with self.host.undo_step("The person's edit"):
            prim = self.stage.DefinePrim(f"/{name}", "Scope")
            prim.SetCustomDataByKey(MARK, name)
        self._theirs += 1
