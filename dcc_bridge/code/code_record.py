"""The result of agreed code: the answer for the agent, and the lines in the audit log.

Each text that a person agreed to is kept in the folder ``code`` beside the audit log. Main thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

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

_MAX_ITEMS: Final = 50  # of each kind of change, in the answer
_MAX_FINDINGS: Final = 5  # marked lines that a sentence names
_UNDONE: Final = "The undo step was reverted"


class _Edits(NamedTuple):
    """The items that were changed in the same way.

    Attributes:
        total: How many items they are.
        items: The first of them.
    """

    total: int
    items: list[str]


def _edits_by_kind(changes: Changes) -> dict[str, _Edits]:
    """Return the edits by the kinds "created", "changed" and "deleted"."""
    edits = dict[str, _Edits]()
    for kind in ("created", "changed", "deleted"):
        items = getattr(changes, kind)
        edits[kind] = _Edits(len(items), items[:_MAX_ITEMS])
    return edits


def edit_counts(changes: Changes) -> str:
    """Return the counts of edits in words, "2 created, 1 deleted"; "" for none."""
    edits = _edits_by_kind(changes)
    return ", ".join(f"{each.total} {kind}" for kind, each in edits.items() if each.total)


class CodeRecord:
    """The record of one run of agreed code: in the audit log, and in the history of calls.

    Attributes:
        compare: Returns "" if the scene is as it was before the run, and else what differs:
            ", but ..."; None where the host cannot tell.
        is_as_before: Whether the last comparison found no difference.
        is_read_only: Whether the edits of the run are taken back in any case.
        writes: The files and folders that the code may write to.
        copies: Copies of the files in these folders.
    """

    compare: Callable[[], str | None] | None = None
    is_as_before = False
    is_read_only = False

    def __init__(
        self,
        audit: AuditLog,
        call: Call,
        text: CodeText,
        writes: Sequence[Path],
        copies: FolderCopies | None = None,
    ) -> None:
        self._audit = audit
        self._call = call
        self._text = text
        self.writes = writes
        self.copies = copies
        self._before = {file: file_state(file) for file in writes}

    def begin(self) -> None:
        """Keep the text, if the settings say so, and write down that the code runs.

        Raises:
            NotRecorded: This cannot be written, so the code must not run.
        """
        data = self._text.text.encode("utf-8", "surrogatepass")
        ran = self._call.ran
        try:
            if ran is None or ran.is_kept:
                folder = private_files.folder(self._audit.folder / "code")
                _write_once(folder / f"{self._text.sha256}.py", data)
        except OSError as error:
            raise NotRecorded(f"{error.strerror or error}.") from error
        self._write("agreed", {}, durable=True)

    def end(self, outcome: str, changes: Changes) -> None:
        """Write down how the run ended.

        Args:
            outcome: "done", "failed", "refused" or "stopped".
            changes: The edits that stand.

        Raises:
            NotRecorded: This cannot be written, so the edits must not stand.
        """
        edits = _edits_by_kind(changes)
        ran = self._call.ran
        self._write(outcome, {kind: each.total for kind, each in edits.items()})
        if ran is not None:
            self._call.ran = replace(
                ran,
                changes=edits,
                written=tuple(self.written()),
                is_exact=changes.is_exact,
            )

    def answer(self, result: CodeResult, changes: Changes, draw_picture: Callable[[], Any]) -> Any:
        """Return the answer for the agent.

        Args:
            result: The result of the code.
            changes: The edits that stand.
            draw_picture: Returns the pictures that the agent wanted, or None.
        """
        counts = edit_counts(changes)
        summary = f"Ran {plural(self._text.lines, 'line')} of code"
        if counts:
            summary += f": {counts}"
        report_done(summary)
        changed: Json = {
            kind: {"count": each.total, "items": each.items}
            for kind, each in _edits_by_kind(changes).items()
        }
        changed["is_exact"] = changes.is_exact
        answer: Json = {
            "result": result.result,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "seconds": result.seconds,
            "changed": changed,
            "written": [str(path) for path in self.written()],
        }
        checkpoint = self._call.lasting.checkpoint
        if checkpoint is not None:
            answer["copies"] = str(checkpoint)
        is_unchanged = changes.is_exact and not counts and not self.written()
        warnings = [*result.warnings, *self._findings(is_unchanged=is_unchanged)]
        answer["warnings"] = warnings
        answer["undo"] = self._undo_call(changes)
        try:
            pictures = draw_picture()
        except (LookupError, ValueError, RuntimeError, OSError) as error:  # the edits stand
            warnings.append(f"There is no picture: {error}")
            return answer
        if pictures is None:
            return answer
        if isinstance(pictures, list):
            return [answer, *pictures]
        return [answer, pictures]

    def _undo_call(self, changes: Changes) -> str | None:
        """Return the call that undoes the edits; None where `undo_last` would refuse it."""
        has_edits = bool(edit_counts(changes)) or not changes.is_exact
        if self.is_read_only or not has_edits or not self._call.lasting.undoable:
            return None
        return f"undo_last(call_id={self._call.id[:6]!r})"

    def compare_scene(self) -> str:
        """Return a sentence about the scene after the step of the run was undone."""
        differences = None
        if self.compare is not None:
            differences = self.compare()
        self.is_as_before = differences == ""
        left = f"{_UNDONE}{differences or ''}"
        if self.is_as_before:
            left = "Nothing was changed"
        return ". ".join([*self._findings(is_unchanged=self.is_as_before), left])

    def _findings(self, *, is_unchanged: bool) -> list[str]:
        """Return a sentence that names the first marked lines; nothing for plain code.

        Args:
            is_unchanged: Whether the scene is known to be as it was. Then only lines count that
                may reach out of it.
        """
        findings = self._text.findings
        if is_unchanged and not self._text.closes_scene:
            findings = tuple(finding for finding in findings if not finding.is_of_object)
        if not findings:
            return []
        lines = [f"line {finding.line}: {finding.reason}" for finding in findings]
        more = len(lines) - _MAX_FINDINGS
        if more > 0:
            lines[_MAX_FINDINGS:] = [f"{more} more"]
        return [f"Undo may not restore what these lines did, if they ran: {', '.join(lines)}"]

    def written(self) -> list[Path]:
        """Return the declared files and folders that were written to since the record was made."""
        return [path for path in self.writes if self._is_written(path)]

    def note_copies(self) -> None:
        """Note with the call the folder that holds copies of the files that the code changed."""
        if self.copies is None or self.copies.checkpoint is None:
            return
        lasting = self._call.lasting
        lasting.copies.add(self.copies.checkpoint)
        if lasting.checkpoint is None:
            lasting.checkpoint = self.copies.checkpoint

    def _is_written(self, path: Path) -> bool:
        if file_state(path) != self._before[path]:
            return True
        return self.copies is not None and self.copies.has_changed(path)

    def _write(self, outcome: str, counts: Mapping[str, int], *, durable: bool = False) -> None:
        call = self._call
        text = self._text
        client = None
        if call.client is not None:
            client = call.client.label
        fields = {
            "call": call.id,
            "skill": call.skill,
            "client": client,
            "digest": text.sha256,
            "bytes": len(text.text.encode("utf-8", "surrogatepass")),
            "findings": len(text.findings),
            "writes": [str(path) for path in self.writes],
            "outcome": outcome,
            **counts,
        }
        self._audit(("code", fields), durable=durable)


def _write_once(file: Path, data: bytes) -> None:
    """Write a file that is named by its content, unless it is there.

    Raises:
        OSError: It cannot be written, or the file of that name has another content.
    """
    try:
        descriptor = private_files.create(file)
    except FileExistsError:
        with os.fdopen(private_files.open_own(file), "rb") as stream:
            if sha256(stream.read()).digest() != sha256(data).digest():
                raise PermissionError(f"{file} holds another text than its name says") from None
        return
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
