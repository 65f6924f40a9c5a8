"""Asks the person about an agent's code, and keeps what its next code needs. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dcc_bridge.code.code_text import CodeText
from dcc_bridge.code.declared_writes import DeclaredWrite
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.confirm import confirm_sync
from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.loss import Loss, named
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import BadArguments
from dcc_bridge.host import Host

MAX_TIMEOUT_S: Final = 600.0
_MAX_MEMORY: Final = 64_000  # characters of the JSON that a client's code keeps for the next run
_MAX_WHY: Final = 500  # characters of the purpose that an agent states
_STEP: Final = "It runs as one undo step. If it fails, its changes to the scene are undone."
_LOOKS: Final = "It only reads: every change is undone."
_MAY_REACH: Final = "may reach beyond this scene, where nothing is undone"
_NO_SANDBOX: Final = (
    " It is not sandboxed: code that hides what it does could do whatever your account can do."
)


class CodeSession:
    """The state that one client's code leaves for the next run.

    Attributes:
        previous: The text that a person read and agreed to last; None before the first.
        memory: JSON of the dict `memory`.
    """

    previous: str | None = None
    memory = "{}"


def check_memory(text: str) -> None:
    """Refuse a memory that is too large to keep, or no dict.

    Args:
        text: JSON of the memory; "" for no dict.

    Raises:
        BadArguments: The memory is refused.
    """
    if text and len(text) <= _MAX_MEMORY:
        return
    fault = "is no longer a dict"
    if text:
        fault = f"has {len(text):,} characters as JSON"
    raise BadArguments(f"memory {fault}; it must be a dict of at most {_MAX_MEMORY:,} characters.")


def agree(
    call: Call,
    text: CodeText,
    why: str,
    writes: Sequence[DeclaredWrite],
    session: CodeSession,
    settings: Settings,
    host: Host,
    read_only: bool = False,
) -> None:
    """Have the person agree to a text. Main thread.

    The call is bound to the text, and the record of its arguments gets the digest alone.

    Args:
        call: The call that runs the code.
        text: The code.
        why: What the agent says that the code is for.
        writes: The declared files and folders.
        session: The client's session, which gets the text once a person has agreed to it.
        settings: They say whether the text is kept.
        host: The host whose scene the code edits.
        read_only: Whether the edits are taken back in any case.

    Raises:
        BadArguments: The agent does not say why.
        NotConfirmed: The person did not agree.
    """
    reason = " ".join(why.split())
    if not reason:
        raise BadArguments("why: tell the person in one sentence what the code is for.")
    arguments = dict(call.arguments.value or {})
    arguments["code"] = f"sha256:{text.sha256}"
    call.arguments.value = arguments
    call.dialogue.code = text.sha256
    secret.refuse_secrets((reason, text.text), "the code")  # before the history has the text
    is_kept = not settings.python.endswith("_hash")
    reason = reason[:_MAX_WHY]
    call.ran = CodeRun(reason, _details(text, None), is_kept=is_kept)
    call.lasting.copied_folders = frozenset(write.path for write in writes if write.is_copied)
    outcome = _STEP
    if read_only:
        outcome = _LOOKS
    files: list[Path] | None = [write.path for write in writes]
    if text.closes_scene:
        files = None  # the scene as a whole is at stake
    confirm_sync(
        _message(text, reason, writes, outcome),
        verb="Run",
        title="Run code",
        undoable=not (writes or text.closes_scene),
        files=files,
        details=_details(text, session.previous),
    )
    call.ledger.limit_losses()  # the code's losses are asked about once they are known
    # An answer of a studio's list does not mean that a person has read the text.
    if call.dialogue.answered_by in ("host", "client"):
        session.previous = text.text


def agree_to_loss(call: Call, text: CodeText, loss: Loss, host: Host, left: str) -> None:
    """Have the person agree to the deletions of the code, which were taken back.

    Args:
        call: The call that runs the code.
        text: The code.
        loss: The items that the code deleted, and what breaks without them.
        host: The host, for the names of the items.
        left: A sentence about the scene after the take-back.

    Raises:
        NotConfirmed: The person did not agree.
    """
    message = (
        f"The code deletes {loss.described(host)}. {left} Run it again and allow these deletions?"
    )
    if loss.breaks:
        message += f" {plural(len(loss.breaks), 'thing')} will break: {named(loss.breaks)}."
    confirm_sync(
        message,
        items=loss.items,
        verb=f"Run and delete {loss.counted(host)}",
        details=_details(text, None),
    )


def _message(
    text: CodeText, why: str, writes: Sequence[DeclaredWrite], outcome: str = _STEP
) -> str:
    """Return the question about a text.

    Args:
        text: The code.
        why: What the agent says that the code is for.
        writes: The declared files and folders.
        outcome: A sentence about the edits.
    """
    lines = [
        f"Run {plural(text.lines, 'line')} of code?",
        _said(why),
        _reach(text),
    ]
    if writes:
        lines.append("It may write to:")
        lines.extend(f"- {write}" for write in writes)
    else:
        lines.append("It names no files that it would write or delete.")
    lines.append(outcome + _NO_SANDBOX)
    return "\n".join(lines)


def _reach(text: CodeText) -> str:
    """Return a sentence that says how far a text may reach."""
    count = len(text.findings)
    if count == 0:
        return "As far as can be read, it only works in this scene."
    if count == 1:
        return f"1 line is marked: it {_MAY_REACH}."
    return f"{count} lines are marked: they {_MAY_REACH}."


def _said(why: str) -> str:
    """Return the agent's reason in quotation marks, which the reason itself cannot end."""
    quoted = why.replace("“", '"').replace("”", '"')
    return f"The agent says: “{quoted}”"


def _details(text: CodeText, previous: str | None) -> Details:
    marks = tuple((finding.line, finding.reason) for finding in text.findings)
    return Details(text.text, marks, previous)
