"""The verbs that read and write files: import_file, export_file, save. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import report_done, skill, track
from dcc_bridge.verbs.answers import Json, result
from dcc_bridge.verbs.consents import ConsentingVerbs
from dcc_bridge.verbs.items import whole_path
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.ports import FileExchange, Saving

_CODE: Final = re.compile(r"\.(blend.*|(edit)?m[ab]|mel|hip.*|hda.*|otl.*|fcstd.*|py.*)", re.I)


class FileExchangeVerbs(ConsentingVerbs[FileExchange]):
    """The verbs that import and export."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.import_file, self.export_file]

    @skill(risk="edit")
    def import_file(
        self,
        path: str,
        how: Literal["copy", "reference", "link"] = "copy",
        under: str = "",
        scale: float = 1.0,
        up: Literal["", "Y", "Z"] = "",
    ) -> Any:
        """Import a file of models, scenes or images. Formats that can carry code ask the person.

        Args:
            path: The file; a relative one is of the scene's folder.
            how: Its content is copied, or stays there.
            under: The item below which it comes.
            scale: By which all lengths are multiplied.
            up: The axis that is up in it, where it does not say.
        """
        operations, file = self._operations, whole_path(self._operations, path)
        formats = operations.import_formats()
        if how not in formats.get(file.suffix.lower(), ()):
            can = ", ".join(suffix for suffix, ways in sorted(formats.items()) if how in ways)
            raise ValueError(f"{file.name} cannot be imported as {how}; what can: {can or 'none'}.")
        if not file.is_file():
            names = (it.name for it in file.parent.glob("*"))
            raise ValueError(no_such(f"file in {file.parent}:", file.name, names))
        if under:
            operations.kind(under)
        if _CODE.fullmatch(file.suffix):
            question = f"Import {file}?\nFiles of this kind can carry code that runs."
            self._consents.confirm(question, None, "Import", title="Import file")
        came = operations.import_file(file, how, under or None, scale, up or None)
        kinds = Counter(operations.kind(item) for item in track(came.items))
        did = f"Imported {plural(len(came.items), operations.host.item_noun)} from {file.name}"
        return result(came.items, did, file=str(file), types=dict(kinds), warnings=came.warnings)

    @skill(risk="destructive", confirms=True, undo=False)
    def export_file(self, path: str, items: list[str] = [], frames: list[float] = []) -> Any:
        """Export items or the scene to a file. The person is asked before one is written over.

        Args:
            path: The file, or relative to the scene's folder; its suffix says the format.
            items: None of them stands for all.
            frames: [first, last] of an animation.
        """
        operations, file = self._operations, whole_path(self._operations, path)
        for item in track(items):
            operations.kind(item)
        if file.suffix.lower() not in (formats := operations.export_formats()):
            raise ValueError(f"{file.name} cannot be written; what can: {', '.join(formats)}.")
        if not file.parent.is_dir():
            raise ValueError(f"There is no folder {file.parent}.")
        if frames and not (len(frames) == 2 and frames[0] <= frames[1]):
            raise ValueError("frames is [first, last].")
        beside = [file.with_suffix(".mtl")] if file.suffix.lower() == ".obj" else []
        over = [file, *filter(Path.exists, beside)]
        is_over = any(map(Path.exists, over))
        copies = self._consents.ask_to_write("Export", f"Export to {file}", over) if is_over else {}
        before = _stamp(file)
        with self._consents.writing([file, *beside]):
            left = operations.export_file(file, items, (frames[0], frames[1]) if frames else None)
        if (now := _stamp(file)) == before or not now[0]:
            raise ValueError(f"{file.name} was not written, though the application did not say so.")
        facts = {"file": str(file), "bytes": now[0], "left_out": left, **copies}
        return result(items, f"Exported to {file.name}", **facts)


class SavingVerbs(ConsentingVerbs[Saving]):
    """The verb that saves."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.save]

    @skill(risk="destructive", confirms=True, undo=False)
    def save(self, path: str = "") -> Any:
        """Save the scene. The person is asked; a copy of what is written over is kept.

        Args:
            path: Another file, or relative to the scene's folder; the scene's own from then on.
        """
        operations, what = self._operations, f"Save {self._operations.host.scene()}"
        target = whole_path(operations, path) if path else None
        files = operations.save_files(target)
        other = f" as {files[0]}" if files[0] != operations.host.file() else ""
        copies = self._consents.ask_to_write("Save", what + other, files)
        report_done(f"Saved {files[0].name}")
        with self._consents.writing(files):
            return Json(file=str(operations.save(target)), **copies)


def _stamp(file: Path) -> tuple[int, ...]:
    """Give what is another one once a file was written; its size first."""
    if not file.exists():
        return (0,)
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
