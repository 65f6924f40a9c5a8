"""The operations that read and write files, clean the scene, or delete prims. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, cast

from pxr import Pcp, Sdf, Tf, Trace, Usd, UsdUtils

from dcc_bridge import track
from dcc_bridge.spi import Cleaning, Deleting, Exported, FileExchange, Imported, Junk, Saving

from .. import files, referrers
from ..host import UsdSession
from ..prims import holders, only_layer, remove
from . import exchange, links, unused
from .building import _Building
from .items import refusing

# The functions that write the file or folder that an argument names: the argument's index and name.
_WRITERS_OF_ARGUMENT: Final = (
    (Usd.Stage, "CreateNew", 0, "identifier"),
    (Usd.Stage, "Export", 1, "filename"),
    (Sdf.Layer, "CreateNew", 0, "identifier"),
    (Sdf.Layer, "Export", 1, "filename"),
    (Sdf.Layer, "_WriteDataFile", 1, "filename"),
    (vars(Sdf).get("ZipFileWriter"), "CreateNew", 0, "filePath"),
    (UsdUtils, "CreateNewUsdzPackage", 1, "usdzFilePath"),
    (UsdUtils, "CreateNewARKitUsdzPackage", 1, "usdzFilePath"),
    (UsdUtils, "LocalizeAsset", 1, "localizationDirectory"),
    (Pcp.PrimIndex, "DumpToDotGraph", 1, "filename"),
    (Tf.ScriptModuleLoader, "WriteDotFile", 1, ""),
    (Tf, "TouchFile", 0, "fileName"),
    (Trace.Reporter, "ReportChromeTracingToFile", 1, ""),
)
_STITCH: Final = (
    "StitchClips",
    "StitchClipsManifest",
    "StitchClipsTemplate",
    "StitchClipsTopology",
)
_WRITERS_OF_TEMPORARY_FILES: Final = (Tf.MallocTag.CallTree, "LogReport"), (Tf, "LogStackTrace")
Writer = tuple[Any, str, Callable[..., Iterable[Any]]]
"""The owner and name of a function, and a function from its arguments to the files it writes."""


class _Losing(_Building, Cleaning, Deleting, FileExchange, Saving):
    """Reads and writes files, and deletes."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Return the suffixes of the files that this USD reads, with the ways to bring them in."""
        every = Sdf.FileFormat.FindAllFileFormatExtensions()
        return {f".{suffix}": ("copy", "reference", "payload") for suffix in sorted(every)}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Refer to a file, or copy what is in the file.

        Args:
            path: The file.
            how: "copy", "reference" or "payload".
            under: The prim below which the new prim comes.
            scale: The scale of the new prim.
            up: The axis that is up in the file, if it is to be turned.

        Raises:
            LookupError: There is no prim `under`.
            ValueError: The file cannot be read, or is the scene itself.
        """
        if path == self.host.file():
            raise ValueError(f"{path.name} is this scene itself.")
        file = exchange.Incoming(path)
        at = self.new_path(file.name(), under)
        turn = exchange.TURNS.get((up or "", self.up), 0.0)
        with refusing(f"{path.name} cannot be brought in at {at}"):
            if how == "copy":
                file.copy(self.stage, at, scale, turn)
            else:
                file.refer(self.stage, at, scale, turn, is_payload=how == "payload")
        return Imported([str(at)], list(file.doubts(self.stage, scale, up)))

    def export_formats(self) -> Sequence[str]:
        return files.SUFFIXES

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> Exported:
        """Write prims, with what they use and all above them, or the scene, flattened to a file.

        Args:
            path: The file.
            items: The prims; none for the whole scene.
            frames: The first and the last frame; None for all.

        Returns:
            The prims in the file, and sentences about what was left out.

        Raises:
            ValueError: The file is a part of the scene, or cannot be written.
        """
        target = files.absolute(path)
        known = Sdf.Layer.Find(str(target))
        if known and known in self.stage.GetUsedLayers():
            raise ValueError(f"{target.name} is a part of this scene: choose another name.")
        paths = [self.prim(item).GetPath() for item in items]
        with refusing(f"{target.name} cannot be written"):
            layer, exported = exchange.flattened(self.stage, paths, frames, target.parent)
        if target.is_file():
            self.host.losing(f"write over {target.name}", [target])
        try:
            files.write(layer, target)
        except OSError as error:
            raise ValueError(str(error)) from error
        if known:
            known.Reload(force=True)
        return exported

    # ---- cleaning and deleting

    def junk(self, what: Junk) -> list[str]:
        if what == "history":
            raise ValueError("A USD scene keeps no history.")
        finders: dict[Junk, Callable[[Usd.Stage], Iterable[str]]] = {
            "unused": unused.unused_materials,
            "empty_groups": unused.empty_groups,
            "duplicate_materials": unused.duplicate_materials,
            "dead_links": links.dead_links,
        }
        find = finders[what]
        return list(find(self.stage))

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Remove junk; the users of a duplicate get the material that stays."""
        with refusing("That cannot be cleaned"):
            if what == "dead_links":
                links.cut_dead(self.stage, items)
                return
            if what == "duplicate_materials":
                originals = unused.duplicate_materials(self.stage)
                links.replace_users(self.stage, {item: originals[item] for item in items})
            self.delete(items)

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete prims with all below them; return those that were only deactivated."""
        paths = [Sdf.Path(item) for item in items]
        with refusing("They cannot be deleted"):
            return [str(path) for path in remove(self.stage, paths)]

    def check_deletable(self, items: Sequence[str]) -> None:
        """Check that no prim is inside an instance, and none in a layer that is locked.

        Raises:
            ValueError: A prim cannot be deleted; the message says why.
        """
        locked = cast("UsdSession", self.host).locked_layers()
        local = self.stage.GetLayerStack()
        only = only_layer(self.stage)
        if only is not None:
            local = [only]
        for item in track(items):
            prim = self.prim(item)
            if prim.IsInstanceProxy() or prim.IsInPrototype():
                raise ValueError(
                    f"{item} is inside an instance, whose prims cannot be deleted one by one: "
                    "delete the instance, or what it refers to."
                )
            for spec in prim.GetPrimStack():
                if spec.layer in locked and spec.layer in local:
                    name = spec.layer.GetDisplayName()
                    raise ValueError(
                        f"{item} cannot be deleted: the layer {name} is locked; unlock it first."
                    )
        target = self.stage.GetEditTarget().GetLayer()
        if target in locked and any(self._is_referred_to(item) for item in items):
            raise ValueError(f"The layer {target.GetDisplayName()} is locked: unlock it first.")

    def _is_referred_to(self, item: str) -> bool:
        """Return whether a prim comes from a referenced file, and can only be deactivated."""
        local = self.stage.GetLayerStack()
        return any(spec.layer not in local for spec in self.prim(item).GetPrimStack())

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Name the relationships, connections and references that lead to prims."""
        gone = {self.prim(item).GetPath() for item in items}
        referring = referrers.depending(self.stage, gone)
        known = cast("UsdSession", self.host).leading_to
        return referrers.leading_to(self.stage, gone, known, referring)

    def remark(self, items: Sequence[str]) -> str:
        """Return a sentence on the layers that a deletion edits, where there are several."""
        only = only_layer(self.stage)
        holding = [holders(self.stage, item) for item in track(items)]
        if only is not None:
            text = f"Only the layer {only.GetDisplayName()} is edited."
            if any(layers != [only] for layers in holding):
                text += " What other layers hold becomes inactive there, and stays in them."
            return text
        layers = dict.fromkeys(chain.from_iterable(holding))
        if len(layers) < 2:
            return ""
        names = ", ".join(layer.GetDisplayName() for layer in layers)
        return f"It goes from the layers {names}."

    def below(self, items: Sequence[str]) -> Sequence[str]:
        return cast("UsdSession", self.host).below(items)  # from the snapshot of the question

    # ---- saving

    def save_files(self, path: Path | None) -> list[Path]:
        """Return the file that a save writes for the scene, and those of its unsaved sublayers.

        Args:
            path: The file, if not the scene's own.

        Raises:
            ValueError: There is no file, or it cannot be written.
        """
        target = cast("UsdSession", self.host).save_target(path)
        if "\0" in str(target):
            raise ValueError("A file's name has no null character in it.")
        if not target.parent.is_dir():
            raise ValueError(f"{target.name} cannot be saved: there is no folder {target.parent}.")
        own = self.host.file()
        below = [file for file in self.host.files() if file not in (target, own)]
        return [target, *below]

    def save(self, path: Path | None) -> Path:
        """Save the scene with its unsaved sublayers, and return its file.

        Raises:
            ValueError: A file cannot be written.
        """
        try:
            return cast("UsdSession", self.host).save(path)
        except OSError as error:
            raise ValueError(str(error)) from error

    def writers(self) -> Sequence[Writer]:
        """Return the functions with which USD writes layers and packages."""
        writers: list[Writer] = []
        for owner, name, index, keyword in _WRITERS_OF_ARGUMENT:
            writers.append((owner, name, _file_of_argument(index, keyword)))
        writers.append((Trace.Reporter, "Report", _texts))
        writers.append((Tf.MallocTag.CallTree, "Report", _texts))
        for owner, name in _WRITERS_OF_TEMPORARY_FILES:
            writers.append((owner, name, _unknown_file))
        writers.append((Sdf.Layer, "Save", _own_file))
        writers.append((Usd.Stage, "Save", _unsaved))
        writers.append((Usd.Stage, "SaveSessionLayers", _unsaved))
        for name in _STITCH:
            writers.append((UsdUtils, name, _folders_of_layers))
        return writers


def _file_of_argument(index: int, keyword: str) -> Callable[..., Iterable[Any]]:
    def files(*args: Any, **kwargs: Any) -> Iterable[Any]:
        path = kwargs.get(keyword, "")
        if len(args) > index:
            path = args[index]
        if isinstance(path, str):
            path, _ = Sdf.Layer.SplitIdentifier(path)
        return [path]

    return files


def _texts(_: object, *args: Any, **kwargs: Any) -> list[str]:
    """Return the files of a report, whose other arguments are numbers."""
    return [argument for argument in (*args, *kwargs.values()) if isinstance(argument, str)]


def _unknown_file(*_: object, **__: object) -> list[None]:
    return [None]


def _own_file(layer: Sdf.Layer, *_: object, **__: object) -> list[str]:
    return _files([layer])


def _files(layers: Iterable[Sdf.Layer]) -> list[str]:
    return [layer.realPath for layer in layers if layer.realPath]


def _unsaved(stage: Usd.Stage) -> list[str]:
    return _files(layer for layer in stage.GetUsedLayers() if layer.dirty)


def _folders_of_layers(*args: Any, **kwargs: Any) -> list[Path]:
    """Return the folders of the layers among the arguments: USD writes other files there."""
    arguments = (*args, *kwargs.values())
    layers = [argument for argument in arguments if isinstance(argument, Sdf.Layer)]
    return [Path(layer.realPath).parent for layer in layers]
