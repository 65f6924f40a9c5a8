"""Files of Maya, and what is taken out of a scene. Main thread.

Of the reference: `file` is undoable, an import too; which formats there are is what the plug-ins
that are loaded say, as loading one is not undoable; an export of items takes what is selected;
`delete` of history takes deformers along, and `delete` of a parent what is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from maya import cmds

from dcc_bridge.spi import Cleaning, Deleting, FileExchange, Imported, Junk, Saving

from . import dg
from .building import _Building
from .dg import ask
from .reading import history, members, shading_groups

_SCENES: Final = {".ma": "mayaAscii", ".mb": "mayaBinary"}
_LISTS: Final = (  # what every shader leads into, and what only draws it in an editor
    *("defaultShaderList", "defaultTextureList", "defaultRenderUtilityList"),
    *("materialInfo", "nodeGraphEditorInfo", "hyperLayout"),
)
_TURNS: Final = {("Z", "Y"): -90.0, ("Y", "Z"): 90.0}


class _Losing(_Building, Cleaning, Deleting, FileExchange, Saving):
    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        formats = dict.fromkeys(_translators("readSupport"), ("copy",))
        return {**formats, **dict.fromkeys(_SCENES, ("copy", "reference"))}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        if not path.is_file():
            raise ValueError(f"There is no file {path}.")
        turn = _TURNS.get((up or self.up, self.up), 0.0)
        if how == "reference" and (under or turn or scale != 1.0):
            raise ValueError("A reference stays where it is: leave out under, scale and up.")
        name = "_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in path.stem)
        space = name[1:] if name[1:2].isalpha() else name
        flags: dict[str, Any] = {"reference": True, "namespace": space}
        if how != "reference":  # into the root namespace, with a number where a name is taken
            flags = {"i": True, "namespace": ":", "mergeNamespacesOnClash": True}
        if path.suffix in _SCENES:
            flags["preserveReferences"] = True
        with dg.kept():
            kind = _translators("readSupport")[path.suffix.lower()]
            nodes = ask.file(path.as_posix(), type=kind, returnNewNodes=True, **flags)
            every = ask.ls(nodes, long=True) if nodes else []  # of an empty list `ls` lists all
            tops = ask.ls(nodes, assemblies=True, long=True) if nodes else []
            if tops and (turn or scale != 1.0):
                group = self.create("transform", f"imported{name}", None)
                for top in tops:
                    self.set_parent(top, group, keep_place=False)
                self.place(group, None, (turn, 0.0, 0.0), (scale,) * 3, "local")
                tops = [group]
            if under:
                tops = [self.set_parent(top, under, keep_place=True) for top in tops]
        missing = [file for item, _, file in self.files() if item in every and not _is_there(file)]
        return Imported(tops, [f"There is no file {file}." for file in missing])

    def export_formats(self) -> Sequence[str]:
        return list(_translators("writeSupport"))

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        flags: dict[str, Any] = {"exportSelected" if items else "exportAll": True}
        if path.suffix in _SCENES:
            flags["preserveReferences"] = True
        with dg.kept():
            if items:
                self.host.select([dg.node(item) for item in items])
            kind = _translators("writeSupport")[path.suffix.lower()]
            ask.file(path.as_posix(), force=True, type=kind, **flags)
        return ["The frames: Maya writes the one that it is at."] if frames else []

    # ---- clean and delete

    def junk(self, what: Junk) -> list[str]:
        """Return what can go: nothing of Maya's own, nothing locked or referenced."""
        found: dict[Junk, Callable[[], Iterable[str]]] = {
            "unused": _unused,
            "empty_groups": _empty,
            "duplicate_materials": _twins,
            "dead_links": _dead,
            "history": lambda: filter(history, self.items()),
        }
        return [path for path in dict.fromkeys(found[what]()) if not dg.why_fixed(path)]

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        twins = _twins() if what == "duplicate_materials" else {}
        groups = [group for item in items for group in shading_groups(item)]
        groups = [group for group in groups if not dg.why_fixed(group)]
        with dg.kept():
            for item in items if twins else ():
                for user in list(self.users(item)):
                    self.assign(user, twins[item])
            if what == "history":
                ask.delete(*items, constructionHistory=True)
            else:
                ask.delete([*items, *groups])

    def check_deletable(self, items: Sequence[str]) -> None:
        """Refuse what is locked, referenced or Maya's own, and what holds such a node."""
        for item in items:
            top = dg.node(item)
            for path in [top, *dg.relatives(top, allDescendents=True)]:
                if why := dg.why_fixed(path):
                    raise ValueError(f"{path} {why}, so it cannot be deleted.")

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        self.check_deletable(items)
        paths = [dg.node(item) for item in items]
        with dg.kept():
            ask.delete(paths)  # at once: one may be below another
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        paths = dict.fromkeys(dg.node(item) for item in items)
        lists = (dg.relatives(path, allDescendents=True, type="transform") for path in paths)
        every = dict.fromkeys(path for some in lists for path in some)
        return [path for path in every if path not in paths]

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """List what has one of the materials, or gets a value from what goes: constraints too."""
        going = dict.fromkeys(dg.node(item) for item in items)
        below = [one for path in going for one in dg.relatives(path, allDescendents=True)]
        gone = {*going, *below}
        users = [end for path in below for end in dg.links(path, source=False)]
        for path in going:
            if path.startswith("|"):
                users += dg.links(path, source=False)
            elif not _holds(path):
                users += self.users(path)
        known = dict.fromkeys(dg.node(user) for user in users)
        return [user for user in known if user not in gone and not _holds(user)]

    # ---- save

    def save_files(self, path: Path | None) -> list[Path]:
        file = path or self.host.file()
        if file is None:
            raise ValueError("This scene was never saved: give the path of a file to save it in.")
        if file.suffix not in _SCENES or not file.parent.is_dir():
            raise ValueError(
                f"{file} cannot be written: name a .ma or .mb file in a folder that is there."
            )
        return [file]

    def save(self, path: Path | None) -> Path:
        (file,) = self.save_files(path)
        old = str(cmds.file(query=True, sceneName=True))
        cmds.file(rename=file.as_posix())
        try:
            cmds.file(save=True, force=True, type=_SCENES[file.suffix])
        except RuntimeError as error:
            cmds.file(rename=old)
            raise ValueError(f"{file} was not written: {str(error).strip()}") from error
        return file


def _translators(support: str) -> dict[str, str]:
    """Return the suffixes that are read or written, each with its translator; scenes first."""
    names = _SCENES.copy()
    for name in ask.translator(query=True, list=True) or []:
        if ask.translator(name, query=True, **{support: True}):
            for pattern in str(ask.translator(name, query=True, filter=True) or "").split(";"):
                suffix = pattern.strip().removeprefix("*").lower()
                if suffix[:1] == "." and suffix[1:].isalnum():
                    names.setdefault(suffix, name)
    return names


def _holds(path: str) -> bool:
    """Return whether a node lists others, and needs none of them."""
    is_group = dg.is_of(path, "objectSet") or dg.is_of(path, "displayLayer")
    return is_group or dg.type_of(path) in _LISTS


def _is_there(file: str) -> bool:
    return "<" in file or Path(file).exists()  # "<UDIM>" stands for many


# ---- what nobody misses


def _unused() -> Iterator[str]:
    """Materials on nothing, and textures that lead nowhere."""
    for name in [*(ask.ls(materials=True) or []), *(ask.ls(textures=True) or [])]:
        groups = shading_groups(name)
        ends = [end for end in dg.links(name, source=False) if end not in groups]
        leads = any(dg.type_of(end) not in _LISTS for end in ends)
        # A group of Maya's own is where all that is made begins.
        if not leads and not any(members(group) or dg.why_fixed(group) for group in groups):
            yield name


def _empty() -> Iterator[str]:
    """Plain transforms with nothing below that lead nowhere, and sets of nothing."""
    for path in ask.ls(exactType="transform", long=True) or []:
        if not (dg.relatives(path, children=True) or dg.links(path)):
            yield path
    yield from (name for name in ask.ls(exactType="objectSet") or [] if not members(name))


def _dead() -> Iterator[str]:
    """Nodes of plug-ins that are missing, and references that have no file."""
    yield from dg.of_type("unknown", "unknownDag", "unknownTransform")
    for name in ask.ls(type="reference") or []:
        try:
            ask.referenceQuery(name, filename=True)
        except RuntimeError:  # "is not associated with a reference file"
            if name != "sharedReferenceNode":
                yield name


def _twins() -> dict[str, str]:
    """Return each material that equals an earlier one, with that one."""
    first: dict[tuple[Any, ...], str] = {}
    twins: dict[str, str] = {}
    for name in ask.ls(materials=True) or []:
        if not dg.links(name, destination=False):  # what leads into it may differ
            plugs = [f"{name}.{one}" for one in sorted(ask.listAttr(name, keyable=True) or [])]
            values = str([ask.getAttr(plug) for plug in plugs])
            twins[name] = first.setdefault((dg.type_of(name), values), name)
    return {name: twin for name, twin in twins.items() if name != twin}
