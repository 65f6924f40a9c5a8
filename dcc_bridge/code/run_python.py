"""The tool ``run_python``: code of an agent, run once a person has agreed to its very text.

An edit of code that fails, or that reaches out of the scene, is taken back. Where the code deletes
items, the edit is taken back as well, and the person is asked again with the list. This is no
sandbox. Main thread.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit.log import AuditLog
from dcc_bridge.checkpoints import FolderCopies, checkpoint_folder
from dcc_bridge.code import agreed
from dcc_bridge.code.code_record import CodeRecord, edit_counts
from dcc_bridge.code.code_text import CodeText, read_code
from dcc_bridge.code.declared_writes import MAX_WRITES, DeclaredWrite, check_writes, declared_write
from dcc_bridge.code.execution import CodeFailed, CodeResult, execute
from dcc_bridge.code.missing_names import advice
from dcc_bridge.code.trip_wire import ReachedOut
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call, current_call
from dcc_bridge.consent.loss import Loss
from dcc_bridge.consent.own_code import add_package
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.errors import BadArguments, BridgeError, NoConsent, NotConfirmed, Stopped
from dcc_bridge.host import Changes, UndoMark
from dcc_bridge.skills.skill import Skill, describe, keeping_alive, skill
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import Json
from dcc_bridge.verbs.items import whole_path
from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge.verbs.ports import CodeContext

NAME: Final = "run_python"
_GRACE_S: Final = 1.0  # the code's own checkpoints get this long to end it before the call does
_MAX_PRINTED: Final = 1000  # characters of the output of failed code that its error quotes
_MAX_SESSIONS: Final = 64
_SKILL_ADVICE: Final = " The skill has to ask"  # begins advice for authors of skills; code is none
_PARTLY: Final = "Not every change could be undone: check the scene before you go on"
Tools = Mapping[str, Callable[..., Any]]


def tool(
    operations: HostOperations, settings: Settings, audit: AuditLog, tools: Tools
) -> Skill | None:
    """Make the tool.

    Args:
        operations: The operations of the host.
        settings: They may switch the tool off.
        audit: Gets the lines about each run.
        tools: The functions of the verbs `look` and `find_api` by name, as far as the host has
            them.

    Returns:
        The tool; None where the settings switch it off, or the host cannot run code.
    """
    if settings.python == "off" or not isinstance(operations, CodeContext):
        return None
    add_package(type(operations.host).__module__)
    add_package(type(operations).__module__)
    return describe(CodeTool(operations, settings, audit, tools).run_python)


class _ReadOnlyEnd(Exception):
    """Ends a read-only run that has succeeded, so that its edits are reverted.

    Attributes:
        result: The result of the code.
        changes: The edits that are reverted.
    """

    def __init__(self, result: CodeResult, changes: Changes) -> None:
        super().__init__()
        self.result = result
        self.changes = changes


class CodeTool:
    """Asks for an agent's code, runs it, and takes it back where it must not stand."""

    def __init__(
        self, operations: CodeContext, settings: Settings, audit: AuditLog, tools: Tools
    ) -> None:
        def new_session(client: str) -> agreed.CodeSession:
            return agreed.CodeSession()

        self._operations = operations
        self._host = operations.host
        self._tools = tools
        self._settings = settings
        self._audit = audit
        # One for each client. Of too many, the one that was silent for the longest is dropped.
        self._session_of = lru_cache(_MAX_SESSIONS)(new_session)

    @skill(name=NAME, title="Run code", risk="destructive", confirms=True)
    def run_python(
        self,
        code: str,
        why: str,
        writes: list[str] = [],  # noqa: B006 - never changed, and a short schema
        timeout: float = 60,
        look: Json | None = None,
        read_only: bool = False,
    ) -> outputs.RanCode:
        """Run Python in the host, for what no other tool can do. The person reads it and agrees.

        Names: bpy; cmds, om; hou; App, doc; or stage. Each run is fresh but for the dict memory
        (JSON). Gives result, or the last expression. One undo step; an error undoes all.

        Args:
            code: 400 lines at most.
            why: A sentence for the person.
            writes: Files and folders that it writes to.
            timeout: Seconds.
            look: Arguments of look.
            read_only: All is taken back.
        """
        call = current_call()
        if len(writes) > MAX_WRITES:
            raise BadArguments(f"writes: {MAX_WRITES} at most. Name their folder instead.")
        if writes and read_only:
            raise BadArguments("writes: not allowed with read_only.")
        text, declared = self._read(call, code, writes)
        draw_picture = self._picture_drawer(look)
        if not 0 < timeout <= agreed.MAX_TIMEOUT_S:
            most = f"{agreed.MAX_TIMEOUT_S:g}"
            raise BadArguments(f"timeout is more than 0 and at most {most} seconds.")
        client = ""
        if call.client is not None:
            client = call.client.label
        session = self._session_of(client)
        agreed.agree(call, text, why, declared, session, self._settings, self._host, read_only)
        copies = self._folder_copies(call, declared)
        paths = [write.path for write in declared]
        record = CodeRecord(self._audit, call, text, paths, copies)
        record.is_read_only = read_only
        record.begin()
        outcome = "failed"
        changes = Changes()
        try:
            result, changes = self._run(call, text, record, timeout, session, read_only)
            outcome = "done"
        except Stopped:
            outcome = "stopped"
            raise
        except NotConfirmed:
            outcome = "refused"
            raise
        finally:
            record.end(outcome, changes)
        session.memory = result.memory
        return record.answer(result, changes, draw_picture)

    # ---- before

    def _read(
        self, call: Call, code: str, writes: Sequence[str]
    ) -> tuple[CodeText, list[DeclaredWrite]]:
        """Read the code, and look at the declared paths, on another thread.

        The window stays alive meanwhile: 400 lines take some 0.1 s, and a large folder a second.
        """
        context = current_context()
        assert context is not None
        check_writes(writes)
        try:
            paths = [whole_path(self._operations, path) for path in writes]
        except ValueError as error:
            raise BadArguments(f"writes: {error}") from None
        checkpoints = Path(os.path.realpath(checkpoint_folder(self._host)))

        def read() -> tuple[CodeText, list[DeclaredWrite]]:
            text = read_code(code, self._operations.plain_names())
            declared = [declared_write(path, checkpoints) for path in paths]
            return text, declared

        with call.control.pause():  # what the person edits meanwhile is not part of the call
            return context.main.wait(run_in_thread(read, NAME))

    def _folder_copies(self, call: Call, declared: Sequence[DeclaredWrite]) -> FolderCopies:
        """Prepare copies of the declared files that were not copied right after the answer."""
        kept = [path for path in call.lasting.copied_files if path is not None and path.is_file()]
        copied = [write.path for write in declared if write.is_copied or not write.is_folder]
        folder = checkpoint_folder(self._host)
        return FolderCopies(folder, copied, kept, call.lasting.checkpoint)

    def _picture_drawer(self, arguments: Json | None) -> Callable[[], Any]:
        """Return a function that draws the picture, or returns None where none is wanted."""

        def draw_nothing() -> None:
            return None

        if arguments is None:
            return draw_nothing
        if "look" not in self._tools:
            raise BadArguments(f"look: {self._host.name} draws no pictures here.")
        # This imports pydantic, which the worker has imported by now.
        from dcc_bridge.skills.signature import Signature

        look = self._tools["look"]
        bound = Signature.of(look, "look").bind(arguments)

        def draw() -> Any:
            return look(**bound)

        return draw

    # ---- running

    def _run(
        self,
        call: Call,
        text: CodeText,
        record: CodeRecord,
        timeout: float,
        session: agreed.CodeSession,
        read_only: bool,
    ) -> tuple[CodeResult, Changes]:
        """Run the code, and run it again where the person agrees to what it deleted."""
        mark = self._host.undo_mark()

        def run_body() -> tuple[CodeResult, Changes]:
            nonlocal mark
            mark = self._host.undo_mark()  # the person may edit while a question is open
            names = dict(self._operations.namespace())
            names["memory"] = json.loads(session.memory)
            result, changes = self._run_once(text, record, timeout, names)
            agreed.check_memory(result.memory)
            if read_only:
                raise _ReadOnlyEnd(result, changes)
            return result, changes

        def ask_for_loss(loss: Loss) -> None:
            left = self._describe_rest(call, record, mark)
            agreed.agree_to_loss(call, text, loss, self._host, left)

        try:
            return call.control.attempt(run_body, ask_for_loss)
        except _ReadOnlyEnd as end:
            left = self._take_back(call, record, mark)
            result = end.result.taken_back(edit_counts(end.changes), left)
            return result, Changes(is_exact=record.is_as_before)
        except (CodeFailed, ReachedOut, BadArguments, NoConsent) as error:
            left = self._take_back(call, record, mark)
            raise self._failure(error, left) from None
        except Stopped:
            call.ending.is_overdue = call.ending.reason is None
            self._take_back(call, record, mark)
            raise

    def _run_once(
        self, text: CodeText, record: CodeRecord, timeout: float, names: dict[str, Any]
    ) -> tuple[CodeResult, Changes]:
        """Run the code once.

        Args:
            text: The code; its digest must be the one that the call is bound to.
            record: Notes what is written and copied.
            timeout: Seconds.
            names: The global names of the code.

        Raises:
            BridgeError: The code, or a declared path, is not what was agreed to.
        """
        call = current_call()
        if text.sha256 != call.dialogue.code:
            raise BridgeError("The code differs from what was approved, so it was not run.")
        for path in record.writes:
            if os.path.realpath(path) != str(path):
                raise BridgeError(f"{path} has become a link, so the code was not run.")
        tree = ast.parse(text.text)  # a new one for each run, which changes it
        warnings = list[str]()
        with (
            self._operations.in_context(warnings) as record.compare,
            self._host.changes() as count_changes,
        ):
            pause = keeping_alive()
            writers = self._operations.writers()
            call.control.limit(timeout + _GRACE_S)
            try:
                result = execute(
                    tree,
                    text.text,
                    names,
                    timeout=timeout,
                    writes=record.writes,
                    pause=pause,
                    writers=writers,
                    copies=record.copies,
                )
                pause()  # the code may have spent its end in a call without a checkpoint
            finally:
                call.control.limit(None)
                _note_written(call, record)
                record.note_copies()
            changes = count_changes()
        return result.with_warnings(warnings), changes

    def _failure(self, error: BridgeError, left: str) -> BridgeError:
        """Return the error for the agent: what failed, what may help, and what is left.

        Args:
            error: The error of the run.
            left: A sentence about the scene after the take-back.
        """
        parts = [str(error).partition(_SKILL_ADVICE)[0]]
        if isinstance(error, CodeFailed):
            find_api = self._tools.get("find_api")
            parts += advice(error.name_missing, error.near, error.owners, find_api)
            printed = error.stdout[-_MAX_PRINTED:]
            if printed:
                parts.append(f"It had printed, at the end: {printed!r}.")
        parts.append(left)
        return BridgeError(" ".join(parts))

    def _take_back(self, call: Call, record: CodeRecord, mark: UndoMark) -> str:
        """Undo the edits of the code, and return a sentence about what is left of them."""
        call.control.take_back()
        return self._describe_rest(call, record, mark)

    def _describe_rest(self, call: Call, record: CodeRecord, mark: UndoMark) -> str:
        """Return a sentence about what is left after an undo, as far as the host can tell.

        Args:
            call: The call, which notes the sentence too.
            record: Compares the scene with what it was.
            mark: The place in the undo stack before the run.
        """
        left = _PARTLY
        if self._host.undo_mark() == mark:
            left = record.compare_scene()
        call.left = left
        return call.remainder


def _note_written(call: Call, record: CodeRecord) -> None:
    """Note each file that was written among the losses of a call, once."""
    for path in record.written():
        act = f"write {path}"
        if act not in call.lasting.lost:
            call.lasting.lost.append(act)
