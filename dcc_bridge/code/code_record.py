"""What came of agreed code: for the agent, and for the record with its text and its files.

Each text that was agreed to is in the folder ``code`` beside the audit log. Main thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dcc_bridge import private_files
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.checkpoints import FolderCopies, file_state
from dcc_bridge.code.code_text import CodeText
from dcc_bridge.code.execution import CodeResult
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import NotRecorded
from dcc_bridge.host import Changes
from dcc_bridge.skills.skill import report_done
from dcc_bridge.verbs.answers import Json

_LISTED, _NAMED = 50, 5  # items of each kind that the answer names, and lines of what stays
_UNDONE: Final = "The undo step was reverted"


def _counted(changes: Changes) -> dict[str, tuple[int, list[str]]]:
    lists = {it: getattr(changes, it) for it in ("created", "changed", "deleted")}
    return {name: (len(items), items[:_LISTED]) for name, items in lists.items()}


def did(changes: Changes) -> str:
    """Count what was done, in words; "" for nothing."""
    return ", ".join(f"{count} {name}" for name, (count, _) in _counted(changes).items() if count)


class CodeRecord:
    """The lines of one run of agreed code in the audit log, and in the history of calls."""

    compare: Callable[[], str | None] | None = None
    is_as_before = False
    is_look = False

    def __init__(
        self,
        audit: AuditLog,
        call: Call,
        text: CodeText,
        writes: Sequence[Path],
        copies: FolderCopies | None = None,
    ) -> None:
        self._audit, self._call, self._text = audit, call, text
        self.writes = writes  # files and folders
        self.copies = copies  # of what is in the folders
        self._before = {file: file_state(file) for file in writes}

    def begin(self) -> None:
        """Keep the text, if it is to be, and write down that it runs; NotRecorded: it must not."""
        data, ran = self._text.text.encode("utf-8", "surrogatepass"), self._call.ran
        try:
            if ran is None or ran.is_kept:
                folder = private_files.folder(self._audit.folder / "code")
                _write_once(folder / f"{self._text.sha256}.py", data)
        except OSError as error:
            raise NotRecorded(f"{error.strerror or error}.") from error
        self._write("agreed", {}, durable=True)

    def end(self, outcome: str, changes: Changes) -> None:
        """Write down what came of it; NotRecorded: it cannot be, so it must not stand."""
        counted, ran = _counted(changes), self._call.ran
        self._write(outcome, {name: count for name, (count, _) in counted.items()})
        if ran is not None:
            ran = replace(ran, changes=counted, written=tuple(self.written()))
            self._call.ran = replace(ran, is_exact=changes.is_exact)

    def answer(self, result: CodeResult, changes: Changes, picture: Callable[[], Any]) -> Any:
        """Tell the agent what came of it, with the picture that it wanted."""
        call, text, counted = self._call, self._text, _counted(changes)
        done = did(changes)
        report_done(f"Ran {plural(text.lines, 'line')} of code" + (f": {done}" if done else ""))
        changed: Json = {name: {"count": n, "items": items} for name, (n, items) in counted.items()}
        has_edited = not self.is_look and (done or not changes.is_exact)
        may_undo = has_edited and call.lasting.undoable  # else `undo_last` would refuse it
        answer: Json = {
            **{name: getattr(result, name) for name in ("result", "stdout", "stderr", "seconds")},
            "changed": {**changed, "is_exact": changes.is_exact},
            "written": list(map(str, self.written())),
            **self._place_of_copies(),
            "warnings": [*result.warnings, *self._not_plain()],
            "undo": f"undo_last(call_id={call.id[:6]!r})" if may_undo else None,
        }
        try:
            pictures = picture()
        except (LookupError, ValueError, RuntimeError, OSError) as error:  # what ran stands
            answer["warnings"].append(f"There is no picture: {error}")
            return answer
        if pictures is None:
            return answer
        return [answer, *(pictures if isinstance(pictures, list) else [pictures])]

    def compared(self) -> str:
        """Say how the scene is now that the step was taken back."""
        differs = self.compare() if self.compare is not None else None
        self.is_as_before = differs == ""
        left = "Nothing was changed" if self.is_as_before else f"{_UNDONE}{differs or ''}"
        return ". ".join([*self._not_plain(), left])

    def _not_plain(self) -> list[str]:
        """Name the first lines that are marked, in a sentence; nothing for plain code."""
        if self._text.is_plain:
            return []
        named = [f"line {it.line}: {it.reason}" for it in self._text.findings]
        if len(named) > _NAMED:
            named[_NAMED:] = [f"{len(named) - _NAMED} more"]
        return [f"Undo may not restore what these lines did, if they ran: {', '.join(named)}"]

    def written(self) -> list[Path]:
        """List the files and folders that were written to since this was made."""
        return [file for file in self.writes if self._is_written(file)]

    def note_copies(self) -> None:
        """Note with the call where copies of the files are that the code has changed."""
        checkpoint = self.copies.checkpoint if self.copies is not None else None
        if checkpoint is not None:
            self._call.lasting.copies.add(checkpoint)
            self._call.lasting.checkpoint = self._call.lasting.checkpoint or checkpoint

    def _is_written(self, path: Path) -> bool:
        if file_state(path) != self._before[path]:
            return True
        return self.copies is not None and self.copies.has_changed(path)

    def _place_of_copies(self) -> Json:
        checkpoint = self._call.lasting.checkpoint
        return {"copies": str(checkpoint)} if checkpoint is not None else {}

    def _write(self, outcome: str, counts: Mapping[str, int], *, durable: bool = False) -> None:
        call, text = self._call, self._text
        fields = {
            "call": call.id,
            "skill": call.skill,
            "client": call.client.label if call.client is not None else None,
            "digest": text.sha256,
            "bytes": len(text.text.encode("utf-8", "surrogatepass")),
            "findings": len(text.findings),
            "writes": list(map(str, self.writes)),
            "outcome": outcome,
            **counts,
        }
        self._audit(("code", fields), durable=durable)


def _write_once(file: Path, data: bytes) -> None:
    """Write a file that is named by what it holds; OSError: another text stands there."""
    try:
        descriptor = private_files.create(file)
    except FileExistsError:
        with os.fdopen(private_files.open_own(file), "rb") as stream:
            if sha256(stream.read()).digest() != sha256(data).digest():
                raise PermissionError(f"{file} holds another text than its name says") from None
        return
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
