"""Asks the person about an agent's code, and keeps what its next code needs. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dcc_bridge.code.code_text import CodeText
from dcc_bridge.code.declared_writes import DeclaredWrite
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.confirm import confirm_sync
from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.grants import end_code_grants
from dcc_bridge.consent.loss import Loss, named
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.caller import CodeScope
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import BadArguments, NotConfirmed
from dcc_bridge.host import Host, SceneGuard

MAX_TIMEOUT_S: Final = 600.0
_MAX_MEMORY: Final = 64_000  # characters of the JSON that a client's code keeps for the next run
_MAX_WHY: Final = 500  # characters of the purpose that an agent states
_STEP: Final = "It runs as one undo step. If it fails, every change is undone."
_LOOKS: Final = "It only reads: every change is undone."
_MAY_REACH: Final = "may reach beyond this scene. Undo may not restore everything"
_UNSEEN: Final = "The code changed more than could be checked for deletions."
_NO_SANDBOX: Final = " It is not sandboxed: it can do whatever your account can do."


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


def scope_of(call: Call, host: Host) -> CodeScope | None:
    """Return the scope of a yes to the plain code of a call that is valid for a while.

    Main thread, in an open undo step.

    Returns:
        The scope; None where the scene or the client's session cannot be told from others, or where
        code cannot be tried at this moment without leaving a trace.
    """
    client = call.client
    scene = host.scene_id()
    if client is None or not client.session or scene is None:
        return None
    trial = host.trial()
    sees_losses = type(host).lost is not SceneGuard.lost
    if trial is None or not trial.keeps_redo or not sees_losses:
        return None
    return CodeScope(client.label, client.session, scene)


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
    """Have the person agree to a text, unless a yes for a while covers it. Main thread.

    The call is bound to the text, and the record of its arguments gets the digest alone.

    Args:
        call: The call that runs the code.
        text: The code.
        why: What the agent says that the code is for.
        writes: The declared files and folders.
        session: The client's session, which gets the text once a person has agreed to it.
        settings: They say whether the text is kept, and how long the person has.
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
    if text.findings or writes:
        end_code_grants(call)
    else:
        call.dialogue.plain_code = scope_of(call, host)
    call.lasting.copied_folders = frozenset(write.path for write in writes if write.is_copied)
    outcome = _STEP
    if read_only:
        outcome = _LOOKS
    files: list[Path] | None = [write.path for write in writes]
    if text.closes_scene:
        files = None  # the scene as a whole is at stake
    with _grants_end_at_refusal(call):
        confirm_sync(
            _message(text, reason, writes, outcome),
            verb="Run",
            title="Run code",
            undoable=not (writes or text.closes_scene),
            files=files,
            timeout=settings.client_deadline,  # a text takes longer to read than a sentence
            details=_details(text, session.previous),
        )
    call.dialogue.plain_code = None
    call.ledger.limit_losses()  # the code's losses are asked about once they are known
    # An answer of a grant, or of a studio's list, does not mean that a person has read the text.
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
    # Under a grant nobody has seen yet what the code is for.
    if call.dialogue.answered_by == "grant" and call.ran is not None:
        message += f"\n{_said(call.ran.why)}"
    with _grants_end_at_refusal(call):
        confirm_sync(
            message,
            items=loss.items,
            verb=f"Run and delete {loss.counted(host)}",
            details=_details(text, None),
        )


def agree_to_unseen(call: Call, text: CodeText, left: str) -> None:
    """Have the person read code that ran unshown, and was taken back as its losses are unknown.

    Args:
        call: The call that runs the code.
        text: The code.
        left: A sentence about the scene after the take-back.

    Raises:
        NotConfirmed: The person did not agree.
    """
    why = call.ran.why if call.ran is not None else ""
    message = f"{_UNSEEN} {left} Run it again and keep its changes?\n{_said(why)}"
    with _grants_end_at_refusal(call):
        confirm_sync(message, verb="Run", title="Run code", details=_details(text, None))


@contextmanager
def _grants_end_at_refusal(call: Call) -> Iterator[None]:
    """End the client's grants for plain code if the person does not agree in this block."""
    try:
        yield
    except NotConfirmed:
        end_code_grants(call)
        raise


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
        lines.append("It writes no files.")
    lines.append(outcome + _NO_SANDBOX)
    return "\n".join(lines)


def _reach(text: CodeText) -> str:
    """Return a sentence that says how far a text may reach."""
    count = len(text.findings)
    if count == 0:
        return "It only works in this scene."
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
