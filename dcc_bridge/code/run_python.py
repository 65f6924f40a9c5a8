"""The tool ``run_python``: code of an agent, run once a person has agreed to its very text.

It is taken back where it fails, reaches out, or deletes what nobody had named: that is asked about
again, with the list. It is no sandbox. Main thread.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit.log import AuditLog
from dcc_bridge.checkpoints import FolderCopies, checkpoint_folder
from dcc_bridge.code import agreed
from dcc_bridge.code.code_record import CodeRecord, did
from dcc_bridge.code.code_text import CodeText, read_code
from dcc_bridge.code.declared_writes import MAX_WRITES, DeclaredWrite, check_writes, declared_write
from dcc_bridge.code.execution import CodeFailed, CodeResult, execute
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
from dcc_bridge.verbs.answers import Json
from dcc_bridge.verbs.items import whole_path
from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge.verbs.ports import CodeContext

NAME: Final = "run_python"
_GRACE: Final = 1.0  # seconds in which code meets its time limit at a checkpoint of its own
_MOST_PRINTED: Final = 1000  # characters of what failed code had printed
_PARTLY: Final = "Not every change could be undone: check the scene before you go on"
Tools = Mapping[str, Callable[..., Any]]


def tool(
    operations: HostOperations, settings: Settings, audit: AuditLog, tools: Tools
) -> Skill | None:
    """Make the tool, with `look` and `find_api` of the verbs; None where it is not wanted."""
    if settings.python == "off" or not isinstance(operations, CodeContext):
        return None
    add_package(type(operations.host).__module__)
    add_package(type(operations).__module__)
    return describe(CodeTool(operations, settings, audit, tools).run_python)


class _Looked(Exception):
    """Code that was to look only has run to its end; its edits are reverted."""

    def __init__(self, result: CodeResult, changes: Changes) -> None:
        super().__init__()
        self.result = result
        self.changes = changes


class CodeTool:
    """Asks for code of agents, runs it, and takes it back."""

    def __init__(
        self, operations: CodeContext, settings: Settings, audit: AuditLog, tools: Tools
    ) -> None:
        self._operations, self._host, self._tools = operations, operations.host, tools
        self._settings, self._audit = settings, audit
        # By client; of too many, the one that is silent the longest is forgotten.
        self._session = lru_cache(64)(lambda label: agreed.CodeSession())

    @skill(name=NAME, title="Run code", risk="destructive", confirms=True)
    def run_python(
        self,
        code: str,
        why: str,
        writes: list[str] = [],  # noqa: B006 - never changed, and a short schema
        timeout: float = 60,
        look: Json | None = None,
        read_only: bool = False,
    ) -> Any:
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
        picture = self._picture(look)
        if not 0 < timeout <= (most := agreed.MOST_SECONDS):
            raise BadArguments(f"timeout is more than 0 and at most {most:g} seconds.")
        session = self._session(call.client.label if call.client is not None else "")
        agreed.agree(call, text, why, declared, session, self._settings, self._host, read_only)
        copies = self._copies(call, declared)
        record = CodeRecord(self._audit, call, text, [it.path for it in declared], copies)
        record.is_look = read_only
        record.begin()
        outcome, changes = "failed", Changes()
        try:
            result, changes = self._run(call, text, record, timeout, session, read_only)
            outcome = "done"
        except NotConfirmed as error:
            outcome = "stopped" if isinstance(error, Stopped) else "refused"
            raise
        finally:
            record.end(outcome, changes)
        session.memory = result.memory
        return record.answer(result, changes, picture)

    # ---- before

    def _read(
        self, call: Call, code: str, writes: Sequence[str]
    ) -> tuple[CodeText, list[DeclaredWrite]]:
        """Read a text and what it may write to, on another thread: the window lives on.

        400 lines take some 0.1 s, and a large folder a second.
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
            return text, [declared_write(path, checkpoints) for path in paths]

        with call.control.pause():  # what the person does meanwhile is theirs
            return context.main.wait(run_in_thread(read, NAME))

    def _copies(self, call: Call, declared: Sequence[DeclaredWrite]) -> FolderCopies:
        """Make what keeps copies of the declared files that were not copied after the answer."""
        kept = [path for path in call.lasting.kept if path is not None and path.is_file()]
        copied = [it.path for it in declared if it.is_copied or not it.is_folder]
        where = checkpoint_folder(self._host)
        return FolderCopies(where, copied, kept, call.lasting.checkpoint)

    def _picture(self, arguments: Json | None) -> Callable[[], Any]:
        """Give what makes the picture; nothing where none is wanted."""
        if arguments is None:
            return lambda: None
        if "look" not in self._tools:
            raise BadArguments(f"look: {self._host.name} draws no pictures here.")
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        look = self._tools["look"]
        bound = Signature.of(look, "look").bind(arguments)
        return lambda: look(**bound)

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
        """Run it, and again where the person agrees to what it deleted."""
        mark = self._host.undo_mark()

        def once() -> tuple[CodeResult, Changes]:
            nonlocal mark
            mark = self._host.undo_mark()  # the person may work on while a question is open
            names = {**self._operations.namespace(), "memory": json.loads(session.memory)}
            result, changes = self._run_once(text, record, timeout, names)
            agreed.check_memory(result.memory)
            if read_only:
                raise _Looked(result, changes)
            return result, changes

        def ask_for_loss(loss: Loss) -> None:
            left = self._left(call, record, mark)
            agreed.agree_to_loss(call, text, loss, self._host, left)

        try:
            return call.control.attempt(once, ask_for_loss)
        except _Looked as looked:
            left = self._take_back(call, record, mark)
            taken_back = Changes(is_exact=record.is_as_before)
            return looked.result.looked(did(looked.changes), left), taken_back
        except (CodeFailed, ReachedOut, BadArguments, NoConsent) as error:
            raise self._failed(error, self._take_back(call, record, mark)) from None
        except Stopped:
            call.ending.is_overdue = call.ending.reason is None
            self._take_back(call, record, mark)
            raise

    def _run_once(
        self, text: CodeText, record: CodeRecord, timeout: float, names: dict[str, Any]
    ) -> tuple[CodeResult, Changes]:
        call = current_call()
        if text.sha256 != call.dialogue.code:
            raise BridgeError("The code differs from what was approved, so it was not run.")
        for path in record.writes:
            if os.path.realpath(path) != str(path):
                raise BridgeError(f"{path} has become a link, so the code was not run.")
        tree, code, files = ast.parse(text.text), text.text, record.writes  # a run changes its tree
        warnings = list[str]()
        with self._operations.in_context(warnings) as record.compare, self._host.changes() as count:
            pause, writers = keeping_alive(), self._operations.writers()
            call.control.limit(timeout + _GRACE)
            try:
                result = execute(
                    tree,
                    code,
                    names,
                    timeout=timeout,
                    writes=files,
                    pause=pause,
                    writers=writers,
                    copies=record.copies,
                )
                pause()  # it may have been in a call without a checkpoint
            finally:
                call.control.limit(None)
                deeds, lost = [f"write {it}" for it in record.written()], call.lasting.lost
                lost += [deed for deed in deeds if deed not in lost]
                record.note_copies()
            changes = count()
        return result.warned(warnings), changes

    def _failed(self, error: BridgeError, left: str) -> BridgeError:
        name, near = getattr(error, "name_missing", ""), ""
        if re.search("[A-Za-z]", name) and "find_api" in self._tools:
            api = self._tools["find_api"](name, 3)
            cards = [(card["name"], card.get("signature", "")) for card in api["cards"]]
            close = dict.fromkeys(" ".join(filter(None, it)) for it in cards) or api.get("near", ())
            near = f" find_api knows: {'; '.join(close)}." if close else ""
        if of_object := getattr(error, "near", ()):
            near = f" It has: {', '.join(of_object)}.{near}"
        if printed := getattr(error, "stdout", "")[-_MOST_PRINTED:]:
            near += f" It had printed, at the end: {printed!r}."
        text = str(error).partition(" The skill has to ask")[0]  # it is none
        return BridgeError(f"{text}{near} {left}")

    def _take_back(self, call: Call, record: CodeRecord, mark: UndoMark) -> str:
        """Undo it, and say what stands of it."""
        call.control.take_back()
        return self._left(call, record, mark)

    def _left(self, call: Call, record: CodeRecord, mark: UndoMark) -> str:
        """Say what stands of it once it is undone, as far as the host can tell."""
        is_undone = self._host.undo_mark() == mark
        call.dialogue.left = record.compared() if is_undone else _PARTLY
        return call.remainder
