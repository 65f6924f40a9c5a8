"""The verbs that read and write files: import_file, export_file, save. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import report_done, skill, track
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import result
from dcc_bridge.verbs.consents import ConsentingVerbs, stamp
from dcc_bridge.verbs.items import whole_path
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.ports import FileExchange, Saving

# Suffixes of formats that can carry code.
_CODE: Final = re.compile(r"\.(blend.*|(edit)?m[ab]|mel|hip.*|hda.*|otl.*|fcstd.*|py.*)", re.I)


class FileExchangeVerbs(ConsentingVerbs[FileExchange]):
    """The verbs that import and export."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.import_file, self.export_file]

    @skill(title="Import a file", risk="edit")
    def import_file(
        self,
        path: str,
        how: Literal["copy", "reference", "payload", "link"] = "copy",
        under: str = "",
        scale: float = 1.0,
        up: Literal["", "Y", "Z"] = "",
    ) -> outputs.Imported:
        """Import a file of models, scenes or images. Formats that can carry code ask the person.

        Args:
            path: The file; a relative one is of the scene's folder.
            how: Its content is copied, or stays there; a payload is loaded on demand.
            under: The item below which it comes.
            scale: By which all lengths are multiplied.
            up: The axis that is up in it, where it does not say.
        """
        operations = self._operations
        file = whole_path(operations, path)
        self._check_importable(file, how)
        if under:
            operations.kind(under)
        if _CODE.fullmatch(file.suffix):
            question = f"Import {file}?\nFiles of this kind can carry code that runs."
            self._consents.confirm(question, None, "Import")
        imported = operations.import_file(file, how, under or None, scale, up or None)
        kinds = Counter(operations.kind(item) for item in track(imported.items))
        number = plural(len(imported.items), operations.host.item_noun)
        facts = {"file": str(file), "types": dict(kinds), "warnings": imported.warnings}
        return result(imported.items, f"Imported {number} from {file.name}", **facts)

    def _check_importable(self, file: Path, how: str) -> None:
        """Check that a file is there and can be imported.

        Raises:
            ValueError: It is not, or it cannot be imported like this.
        """
        formats = self._operations.import_formats()
        if how not in formats.get(file.suffix.lower(), ()):
            suffixes = [suffix for suffix, ways in sorted(formats.items()) if how in ways]
            can = ", ".join(suffixes) or "none"
            raise ValueError(f"{file.name} cannot be imported as {how}; what can: {can}.")
        if not file.is_file():
            names = (other.name for other in file.parent.glob("*"))
            raise ValueError(no_such(f"file in {file.parent}:", file.name, names))

    @skill(title="Export a file", risk="destructive", confirms=True, undo=False)
    def export_file(
        self, path: str, items: list[str] = [], frames: list[float] = []
    ) -> outputs.Exported:
        """Export items or the scene to a file. The person is asked before one is written over.

        Args:
            path: The file, or relative to the scene's folder; its suffix says the format.
            items: None of them stands for all.
            frames: [first, last] of an animation.
        """
        operations = self._operations
        file = whole_path(operations, path)
        for item in track(items):
            operations.kind(item)
        self._check_exportable(file)
        span = None
        if frames:
            if len(frames) != 2 or frames[0] > frames[1]:
                raise ValueError("frames is [first, last].")
            span = frames[0], frames[1]
        beside = []
        if file.suffix.lower() == ".obj":
            beside.append(file.with_suffix(".mtl"))
        there = [other for other in (file, *beside) if other.exists()]
        copies = {}
        if there:
            over = list(dict.fromkeys([file, *there]))
            copies = self._consents.ask_to_write("Export", f"Export to {file}", over)
        before = stamp(file)
        with self._consents.writing([file, *beside]):
            exported = operations.export_file(file, items, span)
        after = stamp(file)
        size = after[0]
        if after == before or not size:
            raise ValueError(f"{file.name} was not written, though the application did not say so.")
        kinds = Counter(operations.kind(item) for item in track(exported.items))
        number = plural(len(exported.items), operations.host.item_noun)
        facts = {"file": str(file), "bytes": size, "types": dict(kinds)}
        summary = f"Exported {number} to {file.name}"
        return result(exported.items, summary, **facts, left_out=exported.left_out, **copies)

    def _check_exportable(self, file: Path) -> None:
        """Check that a file is of a format that can be written, in a folder that is there.

        Raises:
            ValueError: It is not.
        """
        formats = self._operations.export_formats()
        if file.suffix.lower() not in formats:
            raise ValueError(f"{file.name} cannot be written; what can: {', '.join(formats)}.")
        if not file.parent.is_dir():
            raise ValueError(f"There is no folder {file.parent}.")
        if file.is_dir():
            raise ValueError(f"{file} is a folder.")


class SavingVerbs(ConsentingVerbs[Saving]):
    """The verb that saves."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.save]

    @skill(title="Save the scene", risk="destructive", confirms=True, undo=False)
    def save(self, path: str = "") -> outputs.Saved:
        """Save the scene. The person is asked; a copy of what is written over is kept.

        Args:
            path: Another file, or relative to the scene's folder; the scene's own from then on.
        """
        operations = self._operations
        host = operations.host
        target = None
        if path:
            target = whole_path(operations, path)
        files = operations.save_files(target)
        if files[0].is_dir():
            raise ValueError(f"{files[0]} is a folder.")
        question = f"Save {host.scene()}"
        if files[0] != host.file():
            question += f" as {files[0]}"
        copies = self._consents.ask_to_write("Save", question, files)
        report_done(f"Saved {files[0].name}")
        with self._consents.writing(files):
            saved = operations.save(target)
            return {"file": str(saved), **copies}
