"""The tool ``run_python``: code of an agent, run once a person has agreed to its very text.

It is read before anybody is asked, runs in one undo step, and is taken back whole where it fails,
reaches out, or deletes what nobody had named: that is asked about again, with the list. It is no
sandbox: a person who agrees lets it do all that their account can. Main thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from dcc_bridge.audit.log import AuditLog
from dcc_bridge.code.agreed import (
    MOST_SECONDS,
    CodeSession,
    CodeSessions,
    agree,
    agree_to_loss,
    check_memory,
    declared,
)
from dcc_bridge.code.code_record import CodeRecord
from dcc_bridge.code.code_text import CodeText, read_code
from dcc_bridge.code.execution import CodeFailed, CodeResult, execute
from dcc_bridge.code.trip_wire import ReachedOut
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.ask import current_call
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.errors import BadArguments, BridgeError, NoConsent, NotConfirmed, Stopped
from dcc_bridge.host import Changes, UndoMark
from dcc_bridge.skills.runner import run_in_thread
from dcc_bridge.skills.skill import HOSTS, Skill, describe, keeping_alive, skill
from dcc_bridge.verbs import Json
from dcc_bridge.verbs.acts import Acts

NAME: Final = "run_python"
_MOST_ASKED: Final = 3  # times that a loss is asked for; it is another one each time
_GRACE: Final = 1.0  # seconds in which code meets its time limit at a checkpoint of its own
_MOST_PRINTED: Final = 1000  # characters of what failed code had printed
_ANOTHER: Final = "The code deletes something else each time that it runs."
Tools = Mapping[str, Callable[..., Any]]


def tool(acts: Acts, settings: Settings, audit: AuditLog, tools: Tools) -> Skill | None:
    """Make the tool; None where the studio does not want it, or the host gives code no names.

    `tools` are the verbs: `look` and `find_api` are used, where they are there.
    """
    if settings.python == "off" or not acts.has("namespace"):
        return None
    return describe(CodeTool(acts, settings, audit, tools).run_python)


class CodeTool:
    """Asks for code of agents, runs it, and takes it back."""

    def __init__(self, acts: Acts, settings: Settings, audit: AuditLog, tools: Tools) -> None:
        self._acts = acts
        self._host = acts.host
        self._settings = settings
        self._audit = audit
        self._tools = tools
        self._sessions = CodeSessions()
        names = self._host.name.lower().split()
        self._host_word = next((it for it in HOSTS if it in names), "standalone")

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
        (JSON). Gives result, or the last expression. One undo step; an error takes all of it back.

        Args:
            code: At most 400 lines.
            why: For the person, a sentence.
            writes: Files that it writes.
            timeout: Seconds.
            look: Arguments of look, for a picture at its end.
            read_only: What it changes is taken back, and nobody is asked twice.
        """
        call = current_call()
        text, files = self._read(call, code), declared(self._acts, writes, read_only)
        picture = self._picture(look)
        if not 0 < timeout <= MOST_SECONDS:
            raise BadArguments(f"timeout is more than 0 and at most {MOST_SECONDS:g} seconds.")
        session = self._sessions.of(call)
        agree(call, text, why, files, session, self._settings, read_only)
        record = CodeRecord(self._audit, call, text, files)
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
        session.keep(result.memory)
        return record.answer(result, changes, picture)

    # ---- before

    def _read(self, call: Call, code: str) -> CodeText:
        """Read a text on another thread: 400 lines take some 0.1 s, and the window lives on."""
        context, word = current_context(), self._host_word
        assert context is not None
        with call.control.pause():  # what the person does meanwhile is theirs
            return context.main.wait(run_in_thread(lambda: read_code(code, word), NAME))

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
        session: CodeSession,
        read_only: bool,
    ) -> tuple[CodeResult, Changes]:
        """Run it, and again where the person agrees to what it deleted."""
        agreed = frozenset[str]()
        for asked in range(_MOST_ASKED + 1):
            mark = self._host.undo_mark()  # the person may work on while a question is open
            names = {**self._acts.namespace(), "memory": session.memory()}
            try:
                result, changes = self._run_once(text, record, timeout, names)
                with call.control.pause():  # a host may say only now what it refused
                    check_memory(result.memory)
                if read_only:
                    call.control.take_back()
                    told = result.looked(changes, self._left(call, mark))
                    return told, Changes(is_exact=True)
                if agreed.issuperset(changes.deleted):
                    return result, changes
            except (CodeFailed, ReachedOut, BadArguments, NoConsent) as error:
                with suppress(NoConsent), call.control.pause():
                    pass  # what the host refused beside that
                call.control.take_back()
                raise self._failed(call, error, mark) from None
            except Stopped:
                call.ending.is_overdue = call.ending.reason is None
                raise
            call.control.take_back()
            if asked < _MOST_ASKED:
                agreed = agree_to_loss(call, text, changes.deleted, self._host.item_noun)
        raise BridgeError(f"{_ANOTHER} {self._left(call, mark)}")

    def _run_once(
        self, text: CodeText, record: CodeRecord, timeout: float, names: dict[str, Any]
    ) -> tuple[CodeResult, Changes]:
        call = current_call()
        if text.sha256 != call.dialogue.code:
            raise BridgeError("The code is not what was agreed to, so it was not run.")
        tree, code, files = ast.parse(text.text), text.text, record.writes  # a run changes its tree
        warnings = list[str]()
        with self._acts.in_context(warnings), self._host.changes() as count:
            pause, writers = keeping_alive(), self._acts.writers()
            call.control.limit(timeout + _GRACE)
            try:
                result = execute(
                    tree, code, names, timeout=timeout, writes=files, pause=pause, writers=writers
                )
                pause()  # it may have been in a call without a checkpoint
            finally:
                call.control.limit(None)
                deeds, lost = [f"write {it}" for it in record.written()], call.agreement.lost
                lost += [deed for deed in deeds if deed not in lost]
            changes = count()
        return result.warned(warnings), changes

    def _failed(self, call: Call, error: BridgeError, mark: UndoMark) -> BridgeError:
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
        return BridgeError(f"{text}{near} {self._left(call, mark)}")

    def _left(self, call: Call, mark: UndoMark) -> str:
        """Say what stands of it, as the host's undo stack shows."""
        if self._host.undo_mark() == mark:
            return call.agreement.remainder
        return "Not all of it could be taken back: look at the scene before you go on."
