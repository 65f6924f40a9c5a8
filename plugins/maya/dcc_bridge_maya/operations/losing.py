"""Importing, exporting and saving files of Maya, and deleting nodes. Main thread.

From Maya's reference: `file` is undoable, also as an import. The formats are those of the loaded
plug-ins, as loading a plug-in is not undoable. An export of items takes the selected nodes.
`delete` of history takes deformers along, and `delete` of a parent the nodes below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from maya import cmds

from dcc_bridge.spi import Cleaning, Deleting, Exported, FileExchange, Imported, Junk, Saving

from . import dg
from .building import _Building
from .dg import ask
from .reading import history, members, shading_groups

_SCENES: Final = {".ma": "mayaAscii", ".mb": "mayaBinary"}
_LISTS: Final = (  # nodes that every shader connects to, or only for an editor's drawing
    *("defaultShaderList", "defaultTextureList", "defaultRenderUtilityList"),
    *("materialInfo", "nodeGraphEditorInfo", "hyperLayout"),
)
_TURNS: Final = {("Z", "Y"): -90.0, ("Y", "Z"): 90.0}
"""The degrees about X that turn one up axis to another one."""


class _Losing(_Building, Cleaning, Deleting, FileExchange, Saving):
    """The operations on files, and those that lose something."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the formats of the loaded plug-ins; scenes can be referenced as well."""
        formats = dict.fromkeys(_translators("readSupport"), ("copy",))
        return {**formats, **dict.fromkeys(_SCENES, ("copy", "reference"))}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Import or reference a file.

        Args:
            path: The file.
            how: "copy" or "reference".
            under: The parent of the new nodes; None for the scene itself.
            scale: The factor of their sizes.
            up: The axis that is up in the file; None for the scene's.

        Raises:
            ValueError: There is no such file, Maya cannot read it, or a reference is to be placed.
        """
        if not path.is_file():
            raise ValueError(f"There is no file {path}.")
        turn = _TURNS.get((up or self.up, self.up), 0.0)
        if how == "reference" and (under or turn or scale != 1.0):
            raise ValueError("A reference stays where it is: leave out under, scale and up.")
        nodes: list[str] = []
        tops: list[str] = []
        with dg.restored_selection():
            kind = _translators("readSupport")[path.suffix.lower()]
            flags = _import_flags(path, how)
            new = ask.file(path.as_posix(), type=kind, returnNewNodes=True, **flags)
            if new:  # of an empty list `ls` would list all nodes
                nodes = ask.ls(new, long=True)
                tops = ask.ls(new, assemblies=True, long=True)
            if tops and (turn or scale != 1.0):
                tops = [self._group_imported(path, tops, turn, scale)]
            if under:
                tops = [self.set_parent(top, under, keep_place=True) for top in tops]
        return Imported(tops, self._missing_files(nodes))

    def _group_imported(self, path: Path, tops: Sequence[str], turn: float, scale: float) -> str:
        """Put imported nodes into a group that is turned about X by degrees, and scaled."""
        group = self.create("transform", f"imported{_name_of(path)}", None)
        for top in tops:
            self.set_parent(top, group, keep_place=False)
        self.place(group, None, (turn, 0.0, 0.0), (scale,) * 3, "local")
        return group

    def _missing_files(self, nodes: Sequence[str]) -> list[str]:
        """Return a sentence for each file that nodes use and that is not there."""
        warnings = []
        for item, _, file in self.files():
            if item in nodes and not _is_there(file):
                warnings.append(f"There is no file {file}.")
        return warnings

    def export_formats(self) -> Sequence[str]:
        """Return the formats of the loaded plug-ins."""
        return list(_translators("writeSupport"))

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Export items or the whole scene at its present frame.

        Args:
            path: The file.
            items: The nodes; none for the whole scene.
            frames: Not used: Maya writes one frame.

        Returns:
            The nodes in the file, and sentences that say what is not in it.

        Raises:
            ValueError: Maya cannot write the file.
        """
        flags: dict[str, Any] = {"exportSelected": True} if items else {"exportAll": True}
        if path.suffix in _SCENES:
            flags["preserveReferences"] = True
        with dg.restored_selection():
            if items:
                self.host.select([dg.node(item) for item in items])
            kind = _translators("writeSupport")[path.suffix.lower()]
            ask.file(path.as_posix(), force=True, type=kind, **flags)
        written = [dg.node(item) for item in items]
        for item in items:
            written += self.items(item)
        if not items:
            written += self.items()
        left_out = []
        if frames:
            left_out.append("The frames: Maya writes the one that it is at.")
        return Exported(list(dict.fromkeys(written)), left_out)

    # ---- clean and delete

    def junk(self, what: Junk) -> list[str]:
        """Return the nodes that nobody needs, of one kind of junk.

        Maya's own nodes, locked ones and referenced ones are no junk.
        """
        searches: dict[Junk, Callable[[], Iterable[str]]] = {
            "unused": _unused,
            "empty_groups": _empty_groups,
            "duplicate_materials": _twins,
            "dead_links": _dead_links,
            "history": self._with_history,
        }
        return [path for path in dict.fromkeys(searches[what]()) if not dg.why_fixed(path)]

    def _with_history(self) -> list[str]:
        return [item for item in self.items() if history(item)]

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Delete junk or history; of equal materials the first one stays, and all users get it.

        Raises:
            ValueError: Maya cannot delete a node.
        """
        groups = list[str]()
        for item in items:
            groups += [group for group in shading_groups(item) if not dg.why_fixed(group)]
        twins = _twins() if what == "duplicate_materials" else {}
        with dg.restored_selection():
            if twins:
                for item in items:
                    for user in list(self.users(item)):
                        self.assign(user, twins[item])
            if what == "history":
                ask.delete(*items, constructionHistory=True)
            else:
                ask.delete([*items, *groups])

    def check_deletable(self, items: Sequence[str]) -> None:
        """Raise ValueError for a node that is locked, referenced or Maya's own, or holds such."""
        for item in items:
            top = dg.node(item)
            for path in [top, *dg.relatives(top, allDescendents=True)]:
                reason = dg.why_fixed(path)
                if reason:
                    raise ValueError(f"{path} {reason}, so it cannot be deleted.")

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete nodes with all nodes below them.

        Returns:
            No warning.

        Raises:
            ValueError: A node cannot be deleted.
        """
        self.check_deletable(items)
        paths = [dg.node(item) for item in items]
        with dg.restored_selection():
            ask.delete(paths)  # all at once, as one may be below another
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """Return the transforms below items, which are deleted with them."""
        paths = dict.fromkeys(dg.node(item) for item in items)
        descendants = list[str]()
        for path in paths:
            descendants += dg.relatives(path, allDescendents=True, type="transform")
        return [path for path in dict.fromkeys(descendants) if path not in paths]

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Return the users of materials among items, and the nodes that get a value from items.

        Constraints to an item get a value from it.
        """
        deleted = dict.fromkeys(dg.node(item) for item in items)
        below = list[str]()
        for path in deleted:
            below += dg.relatives(path, allDescendents=True)
        users = list[str]()
        for path in below:
            users += dg.links(path, source=False)
        for path in deleted:
            if path.startswith("|"):
                users += dg.links(path, source=False)
            elif not _merely_lists(path):
                users += self.users(path)
        leaving = {*deleted, *below}
        paths = dict.fromkeys(dg.node(user) for user in users)
        return [path for path in paths if path not in leaving and not _merely_lists(path)]

    # ---- save

    def save_files(self, path: Path | None) -> list[Path]:
        """Return the file that saving would write.

        Raises:
            ValueError: The scene has no file yet, or the path is not a good one.
        """
        file = path or self.host.file()
        if file is None:
            raise ValueError("This scene was never saved: give the path of a file to save it in.")
        if file.suffix not in _SCENES or not file.parent.is_dir():
            raise ValueError(
                f"{file} cannot be written: name a .ma or .mb file in a folder that is there."
            )
        return [file]

    def save(self, path: Path | None) -> Path:
        """Save the scene, and return its file.

        Raises:
            ValueError: Maya did not write the file, or the path is not a good one.
        """
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
        if not ask.translator(name, query=True, **{support: True}):
            continue
        patterns = str(ask.translator(name, query=True, filter=True) or "")
        for pattern in patterns.split(";"):
            suffix = pattern.strip().removeprefix("*").lower()
            if suffix[:1] == "." and suffix[1:].isalnum():
                names.setdefault(suffix, name)
    return names


def _import_flags(path: Path, how: str) -> dict[str, Any]:
    """Return the flags by which `file` imports or references a file."""
    if how == "reference":
        name = _name_of(path)
        # A namespace begins with a letter or "_".
        space = name[1:] if name[1:2].isalpha() else name
        flags: dict[str, Any] = {"reference": True, "namespace": space}
    else:  # into the root namespace, with a number where a name is taken
        flags = {"i": True, "namespace": ":", "mergeNamespacesOnClash": True}
    if path.suffix in _SCENES:
        flags["preserveReferences"] = True
    return flags


def _name_of(path: Path) -> str:
    """Return a file's name as "_" and characters that Maya takes in names."""
    name = "_"
    for character in path.stem:
        if character.isascii() and character.isalnum():
            name += character
        else:
            name += "_"
    return name


def _merely_lists(path: str) -> bool:
    """Return whether a node lists other nodes and needs none of them."""
    if dg.is_of(path, "objectSet") or dg.is_of(path, "displayLayer"):
        return True
    return dg.type_of(path) in _LISTS


def _is_there(file: str) -> bool:
    """Return whether a file is there; one with "<UDIM>" in its name, which stands for many, is."""
    return "<" in file or Path(file).exists()


# ---- junk


def _unused() -> Iterator[str]:
    """Yield materials that no shape has, and textures without an outgoing connection."""
    for name in [*(ask.ls(materials=True) or []), *(ask.ls(textures=True) or [])]:
        groups = shading_groups(name)
        if any(members(group) or dg.why_fixed(group) for group in groups):
            continue  # Maya's own shading group, which cannot go, is that of all new shapes
        users = [end for end in dg.links(name, source=False) if end not in groups]
        if all(dg.type_of(user) in _LISTS for user in users):
            yield name


def _empty_groups() -> Iterator[str]:
    """Yield transforms without children and connections, and sets without members."""
    for path in ask.ls(exactType="transform", long=True) or []:
        if not dg.relatives(path, children=True) and not dg.links(path):
            yield path
    for name in ask.ls(exactType="objectSet") or []:
        if not members(name):
            yield name


def _dead_links() -> Iterator[str]:
    """Yield nodes of plug-ins that are missing, and references that have no file."""
    yield from dg.nodes_of_type("unknown", "unknownDag", "unknownTransform")
    for name in ask.ls(type="reference") or []:
        try:
            ask.referenceQuery(name, filename=True)
        except RuntimeError:  # "is not associated with a reference file"
            if name != "sharedReferenceNode":
                yield name


def _twins() -> dict[str, str]:
    """Return the materials that equal an earlier one, each with the first of its equals."""
    first_of_values: dict[tuple[str, str], str] = {}
    twins: dict[str, str] = {}
    for name in ask.ls(materials=True) or []:
        if dg.links(name, destination=False):
            continue  # its textures may differ
        attributes = sorted(ask.listAttr(name, keyable=True) or [])
        values = str([ask.getAttr(f"{name}.{attribute}") for attribute in attributes])
        first = first_of_values.setdefault((dg.type_of(name), values), name)
        if first != name:
            twins[name] = first
    return twins
