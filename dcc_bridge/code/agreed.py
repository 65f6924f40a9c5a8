"""Asks for code of an agent, and keeps what it needs for its next one. Main thread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dcc_bridge.code.code_text import CodeText, classes_named
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.consent import confirm_sync
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import CodeRun, Details
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.errors import BadArguments
from dcc_bridge.verbs import plural, whole_path
from dcc_bridge.verbs.acts import Acts

MOST_SECONDS: Final = 600.0  # that code may run
MOST_MEMORY: Final = 64_000  # characters of what a client's code keeps for its next one, as JSON
_MOST_WHY: Final = 500  # characters of what an agent says that its code is for
_FOR_SESSION: Final = "code without findings"
_MOST_FILES: Final = 20  # that one run may declare
_STEP: Final = "It runs as one undo step, and is taken back if it fails."
_LOOKS: Final = "It is to look only: what it changes in the scene is taken back."
_NO_SANDBOX: Final = " It is no sandbox: what you agree to can do all that your account can."


class CodeSession:
    """What one client's code has left for its next one."""

    def __init__(self) -> None:
        self.previous: str | None = None  # the text that was agreed to last
        self._memory = "{}"

    def memory(self) -> dict[str, Any]:
        """Give a copy of what it keeps."""
        memory: dict[str, Any] = json.loads(self._memory)
        return memory

    def keep(self, memory: str) -> None:
        """Keep what a run left, as JSON."""
        self._memory = memory


def check_memory(text: str) -> None:
    """Refuse what is too much to keep, or no dict; BadArguments says so."""
    if not text or len(text) > MOST_MEMORY:
        what = f"has {len(text):,} characters as JSON" if text else "is no dict any more"
        raise BadArguments(f"memory {what}; it is a dict of {MOST_MEMORY:,} characters at most.")


class CodeSessions:
    """The sessions by client; of too many, the one that is silent the longest is forgotten."""

    def __init__(self) -> None:
        self._sessions: dict[str, CodeSession] = {}

    def of(self, call: Call) -> CodeSession:
        """Give the session of a call's client."""
        label = call.client.label if call.client is not None else ""
        session = self._sessions.pop(label, None) or CodeSession()
        self._sessions[label] = session
        if len(self._sessions) > 64:
            del self._sessions[next(iter(self._sessions))]
        return session


def agree(
    call: Call,
    text: CodeText,
    why: str,
    files: list[Path],
    session: CodeSession,
    settings: Settings,
    read_only: bool = False,
) -> None:
    """Have the person agree to a text, or find that they did for the session. Main thread.

    Args:
        call: It is bound to the text; its record gets the digest alone.
        text: What would run.
        why: What the agent says of it.
        files: What it may write.
        session: What it is compared with.
        settings: Whether the person may agree for the session.
        read_only: What it changes is taken back.

    Raises:
        BadArguments: The agent does not say why.
        NotConfirmed: The person did not agree.
    """
    reason = " ".join(why.split())
    if not reason:
        raise BadArguments("why: say in a sentence, for the person, what the code is for.")
    call.arguments.value = {**(call.arguments.value or {}), "code": f"sha256:{text.sha256}"}
    call.dialogue.code = text.sha256
    secret.refuse_secrets((reason, text.text), "the code")  # before the history has it
    call.dialogue.ran = CodeRun(reason[:_MOST_WHY], _details(text, None))
    if text.findings or files:
        _end_session_grant(call)
    elif settings.python == "session":
        call.dialogue.for_session = _FOR_SESSION
    loses_scene = any(finding.kind == "scene" for finding in text.findings)
    confirm_sync(
        _message(text, reason[:_MOST_WHY], files, _LOOKS if read_only else _STEP),
        verb="Run",
        title="Run code",
        undoable=not (files or loses_scene),
        files=None if loses_scene else files,
        timeout=settings.client_deadline,  # a text takes longer to read than a sentence
        details=_details(text, session.previous),
    )
    call.dialogue.for_session = ""
    session.previous = text.text


def agree_to_loss(call: Call, text: CodeText, lost: Sequence[str], noun: str) -> frozenset[str]:
    """Have the person agree to what the code has deleted, which is there again. Main thread.

    Gives what they agreed to; NotConfirmed: they did not.
    """
    _end_session_grant(call)
    what = plural(len(lost), noun)
    but = ", ".join(call.agreement.lost)
    rest = f"but not this: {but}" if but else "and all is as it was"
    confirm_sync(
        f"The code deletes {what}. It was taken back, {rest}. Run it again, and let them go?",
        items=lost,
        verb=f"Run and delete {what}",
        details=_details(text, None),
    )
    return frozenset(lost)


def declared(acts: Acts, writes: Sequence[str], read_only: bool) -> list[Path]:
    """Give the files that an agent says its code writes; BadArguments: they cannot be asked for."""
    if len(writes) > _MOST_FILES or (writes and read_only):
        most = "none with read_only" if read_only else f"{_MOST_FILES} at most; name their folder"
        raise BadArguments(f"writes: {most}.")
    for path in writes:
        if safe_line(path, len(path)) != path:
            raise BadArguments(f"writes: {safe_line(path)} has characters that no path has.")
    try:
        return [whole_path(acts, path) for path in writes]
    except ValueError as error:
        raise BadArguments(f"writes: {error}") from None


def _message(text: CodeText, why: str, files: Sequence[Path], step: str = _STEP) -> str:
    quoted = why.translate({ord(mark): '"' for mark in "“”"})  # what it says ends at our own marks
    refused = ": each write is refused" * any(it.kind == "files" for it in text.findings)
    parts = [
        f"Run {plural(text.lines, 'line')} of code?",
        f"The agent says: “{quoted}”",
        f"What it reaches: {classes_named(text.findings)}.",
        f"It declares no file that it writes{refused}." if not files else "It may write to:",
        *(f"- {file}" for file in files),
    ]
    if any(finding.kind != "loses" for finding in text.findings):
        parts.append("Undo does not bring back all that the marked lines do.")
    return "\n".join([*parts, step + _NO_SANDBOX])


def _details(text: CodeText, previous: str | None) -> Details:
    marks = tuple((finding.line, finding.reason) for finding in text.findings)
    return Details(text.text, marks, previous)


def _end_session_grant(call: Call) -> None:
    context = current_context()
    if context is not None and call.client is not None:
        context.broker.audience.grants.revoke_all(call.skill, call.client.label)
