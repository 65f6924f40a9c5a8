"""What came of agreed code: for the agent, and for the record with its text and its files.

Beside the audit log there is a folder ``code`` with each text that was agreed to, in a file that
is named by its SHA-256 and that only its user can read. Main thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dcc_bridge import private_files
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.code.code_text import CodeText
from dcc_bridge.code.execution import CodeResult
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import CodeRun
from dcc_bridge.errors import NotRecorded
from dcc_bridge.host import Changes
from dcc_bridge.skills.skill import report_done
from dcc_bridge.verbs import Json, plural

_FOLDER: Final = "code"
_LISTED: Final = 50  # items of each kind that the answer names
_PARTS: Final = ("created", "changed", "deleted")


def _counted(changes: Changes) -> dict[str, tuple[int, list[str]]]:
    lists = {name: getattr(changes, name) for name in _PARTS}
    return {name: (len(items), items[:_LISTED]) for name, items in lists.items()}


class CodeRecord:
    """The lines of one run of agreed code in the audit log, and in the history of calls."""

    def __init__(self, audit: AuditLog, call: Call, text: CodeText, writes: Sequence[Path]) -> None:
        self._audit = audit
        self._call = call
        self._text = text
        self.writes = writes  # files and folders
        self._before = {file: _state(file) for file in writes}

    def begin(self) -> None:
        """Keep the text beside the log, and write down that it runs next.

        Raises:
            NotRecorded: It cannot be kept, or written; it must not run.
        """
        data = self._text.text.encode("utf-8", "surrogatepass")
        try:
            folder = private_files.folder(self._audit.folder / _FOLDER)
            _write_once(folder / f"{self._text.sha256}.py", data)
        except OSError as error:
            raise NotRecorded(f"{error.strerror or error}.") from error
        self._write("agreed", {}, durable=True)

    def end(self, outcome: str, changes: Changes) -> None:
        """Write down what came of it; NotRecorded: it cannot be, so it must not stand."""
        counted, ran = _counted(changes), self._call.dialogue.ran
        self._write(outcome, {name: count for name, (count, _) in counted.items()})
        if ran is not None:
            did = counted, changes.is_exact, tuple(self.written())
            self._call.dialogue.ran = CodeRun(ran.why, ran.details, *did)

    def answer(self, result: CodeResult, changes: Changes, picture: Callable[[], Any]) -> Any:
        """Tell the agent what came of it, with the picture that it wanted."""
        call, text, counted = self._call, self._text, _counted(changes)
        did = ", ".join(f"{count} {name}" for name, (count, _) in counted.items() if count)
        report_done(f"Ran {plural(text.lines, 'line')} of code" + (f": {did}" if did else ""))
        changed: Json = {name: {"count": n, "items": items} for name, (n, items) in counted.items()}
        stays = [f"line {it.line}: {it.reason}" for it in text.findings if it.kind == "stays"]
        answer: Json = {
            **{name: getattr(result, name) for name in ("result", "stdout", "stderr", "seconds")},
            "changed": {**changed, "is_exact": changes.is_exact},
            "written": list(map(str, self.written())),
            "warnings": [*result.warnings, *(f"Undo does not end this: {line}" for line in stays)],
            "undo": f"undo_last(call_id={call.id[:6]!r})" if did or not changes.is_exact else None,
        }
        try:
            pictures = picture()
        except (LookupError, ValueError, RuntimeError, OSError) as error:  # what ran stands
            answer["warnings"].append(f"There is no picture: {error}")
            return answer
        if pictures is None:
            return answer
        return [answer, *(pictures if isinstance(pictures, list) else [pictures])]

    def written(self) -> list[Path]:
        """List the files and folders that were written to since this was made."""
        return [file for file, state in self._before.items() if _state(file) != state]

    def _write(self, outcome: str, counts: Mapping[str, int], *, durable: bool = False) -> None:
        call, text = self._call, self._text
        fields = {
            "call": call.id,
            "skill": call.skill,
            "client": call.client.label if call.client is not None else None,
            "digest": text.sha256,
            "bytes": len(text.text.encode("utf-8", "surrogatepass")),
            "findings": sorted({finding.kind for finding in text.findings}),
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


def _state(file: Path) -> tuple[int, int] | None:
    """Give the size and the time of a file or folder; None for one that is not there."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns
