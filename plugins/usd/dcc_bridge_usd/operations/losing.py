"""Files, and what goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from pxr import Pcp, Sdf, Tf, Trace, Usd, UsdUtils

from dcc_bridge import track
from dcc_bridge.spi import Cleaning, Deleting, FileExchange, Imported, Junk, Saving

from .. import files, referrers
from ..host import UsdSession
from ..prims import remove
from . import exchange, links
from .building import _Building
from .items import refusing

_NAMED: Final = (  # which argument is the file that they write, or the folder
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
# To a file of its own, wherever files are that nobody keeps.
_SOMEWHERE: Final = (Tf.MallocTag.CallTree, "LogReport"), (Tf, "LogStackTrace")
Writer = tuple[Any, str, Callable[..., Iterable[Any]]]


class _Losing(_Building, Cleaning, Deleting, FileExchange, Saving):
    """Reads and writes files, and deletes."""

    def import_formats(self) -> Mapping[str, tuple[str, ...]]:
        """Give what this USD can read."""
        every = Sdf.FileFormat.FindAllFileFormatExtensions()
        return {f".{suffix}": ("copy", "reference") for suffix in sorted(every)}

    def import_file(
        self, path: Path, how: str, under: str | None, scale: float, up: Literal["Y", "Z"] | None
    ) -> Imported:
        """Refer to a file, or copy what is in it."""
        if path == self.host.file():
            raise ValueError(f"{path.name} is this scene itself.")
        file = exchange.Incoming(path)
        at = self.new_path(file.name(), under)
        turn = exchange.TURNS.get((up or "", self.up), 0.0)
        with refusing(f"{path.name} cannot be brought in at {at}"):
            (file.copy if how == "copy" else file.refer)(self.stage, at, scale, turn)
        return Imported([str(at)], list(file.doubts(self.stage, scale, up)))

    def export_formats(self) -> Sequence[str]:
        return files.SUFFIXES

    def export_file(
        self, path: Path, items: Sequence[str], frames: tuple[float, float] | None
    ) -> list[str]:
        """Write prims, with what they use and all above them, or the scene, flattened to a file."""
        target = files.absolute(path)
        known = Sdf.Layer.Find(str(target))
        if known and known in self.stage.GetUsedLayers():
            raise ValueError(f"{target.name} is a part of this scene: choose another name.")
        paths = [self.prim(item).GetPath() for item in items]
        with refusing(f"{target.name} cannot be written"):
            whole, left = exchange.flattened(self.stage, paths, frames, target.parent)
        if target.is_file():
            self.host.losing(f"write over {target.name}", [target])
        try:
            files.write(whole, target)
        except OSError as error:
            raise ValueError(str(error)) from error
        if known:
            known.Reload(force=True)
        return left

    # ---- what nobody needs

    def junk(self, what: Junk) -> list[str]:
        if what == "history":
            raise ValueError("A USD scene keeps no history.")
        find: dict[Junk, Callable[[Usd.Stage], Iterable[str]]] = {
            "unused": links.unused_materials,
            "empty_groups": links.empty_groups,
            "duplicate_materials": links.twins,
            "dead_links": links.dead_links,
        }
        return list(find[what](self.stage))

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Take away what is of no use; who used a duplicate uses the one that stays."""
        with refusing("That cannot be cleaned"):
            if what == "dead_links":
                links.cut_dead(self.stage, items)
                return
            if what == "duplicate_materials":
                same = links.twins(self.stage)
                links.replace_users(self.stage, {item: same[item] for item in items})
            self.delete(items)

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete prims with all below them."""
        with refusing("They cannot be deleted"):
            return list(map(str, remove(self.stage, map(Sdf.Path, items))))

    def check_deletable(self, items: Sequence[str]) -> None:
        """Check that no prim is inside an instance, and none in a layer that is locked."""
        locked = cast("UsdSession", self.host).locked_layers()
        for item in track(items):
            prim = self.prim(item)
            if prim.IsInstanceProxy() or prim.IsInPrototype():
                raise ValueError(
                    f"{item} is inside an instance, whose prims cannot be deleted one by one: "
                    "delete the instance, or what it refers to."
                )
            layers = [it.layer for it in prim.GetPrimStack() if it.layer in locked]
            local = self.stage.GetLayerStack()
            named = [layer.GetDisplayName() for layer in layers if layer in local]
            if named:
                raise ValueError(
                    f"{item} cannot be deleted: the layer {named[0]} is locked; unlock it first."
                )
        target = self.stage.GetEditTarget().GetLayer()
        if target in locked and any(map(self._is_referred_to, items)):
            raise ValueError(f"The layer {target.GetDisplayName()} is locked: unlock it first.")

    def _is_referred_to(self, item: str) -> bool:
        """Return whether a prim is of another file, and can only be switched off."""
        stack = self.stage.GetLayerStack()
        return any(it.layer not in stack for it in self.prim(item).GetPrimStack())

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Name the relationships, connections and references that lead to prims."""
        gone = {self.prim(item).GetPath() for item in items}
        referring = referrers.depending(self.stage, gone)
        known = cast("UsdSession", self.host).leading_to
        return referrers.leading_to(self.stage, gone, known, referring)

    def below(self, items: Sequence[str]) -> Sequence[str]:
        return cast("UsdSession", self.host).below(items)  # the look of the question's

    # ---- saving

    def save_files(self, path: Path | None) -> list[Path]:
        """Give the scene's file and those of its unsaved sublayers."""
        target = files.absolute(path) if path is not None else self.host.file()
        if target is None:
            raise ValueError("This scene was never saved: give the path of a file to save it in.")
        if "\0" in str(target):
            raise ValueError("A file's name has no null character in it.")
        if not target.parent.is_dir():
            raise ValueError(f"{target.name} cannot be saved: there is no folder {target.parent}.")
        own = self.host.file()
        return [target, *(it for it in self.host.files() if it not in (target, own))]

    def save(self, path: Path | None) -> Path:
        """Save the scene with its unsaved sublayers."""
        try:
            return cast("UsdSession", self.host).save(path)
        except OSError as error:
            raise ValueError(str(error)) from error

    def writers(self) -> Sequence[Writer]:
        """Give what USD writes layers and packages with."""
        named = [(owner, name, _argument(at, word)) for owner, name, at, word in _NAMED]
        named += [(it, "Report", _texts) for it in (Trace.Reporter, Tf.MallocTag.CallTree)]
        named += [(it, name, lambda *_, **__: [None]) for it, name in _SOMEWHERE]
        saving: list[Writer] = [(Sdf.Layer, "Save", lambda layer, *_, **__: _files([layer]))]
        saving += [(Usd.Stage, name, _unsaved) for name in ("Save", "SaveSessionLayers")]
        return [*named, *saving, *((UsdUtils, name, _beside) for name in _STITCH)]


def _argument(at: int, word: str) -> Callable[..., Iterable[Any]]:
    def files(*args: Any, **kwargs: Any) -> Iterable[Any]:
        path = args[at] if len(args) > at else kwargs.get(word, "")
        return [Sdf.Layer.SplitIdentifier(path)[0] if isinstance(path, str) else path]

    return files


def _texts(_: object, *args: Any, **kwargs: Any) -> list[str]:
    """Give the files of a report, whose arguments are otherwise numbers."""
    return [it for it in (*args, *kwargs.values()) if isinstance(it, str)]


def _files(layers: Iterable[Sdf.Layer]) -> list[str]:
    return [layer.realPath for layer in layers if layer.realPath]


def _unsaved(stage: Usd.Stage) -> list[str]:
    return _files(layer for layer in stage.GetUsedLayers() if layer.dirty)


def _beside(*args: Any, **kwargs: Any) -> list[Path]:
    """Give the folders of layers: other files come to lie beside them."""
    layers = [it for it in (*args, *kwargs.values()) if isinstance(it, Sdf.Layer)]
    return [Path(layer.realPath).parent for layer in layers]
