"""Asks for code of an agent, and keeps what it needs for its next one. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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

MOST_SECONDS: Final = 600.0  # that code may run
MOST_MEMORY: Final = 64_000  # characters of what a client's code keeps for its next one, as JSON
_MOST_WHY: Final = 500  # characters of what an agent says that its code is for
_STEP: Final = "It runs as one undo step. If it fails, every change is undone."
_LOOKS: Final = "It only reads: every change is undone."
_MAY_REACH: Final = "may reach beyond this scene. Undo may not restore everything"
_NO_SANDBOX: Final = " It is not sandboxed: it can do whatever your account can do."


class CodeSession:
    """What one client's code has left for its next one."""

    previous: str | None = None  # the text that a person read and agreed to last
    memory = "{}"  # JSON of the dict that it keeps


def check_memory(text: str) -> None:
    """Refuse what is too much to keep, or no dict; BadArguments says so."""
    if not text or len(text) > MOST_MEMORY:
        what = f"has {len(text):,} characters as JSON" if text else "is no longer a dict"
        raise BadArguments(
            f"memory {what}; it must be a dict of at most {MOST_MEMORY:,} characters."
        )


def scope_of(call: Call, host: Host) -> CodeScope | None:
    """Return what a yes for a while to plain code of a call may cover; None for nothing.

    It covers nothing where the scene or the client's session cannot be told from others, nor where
    code cannot be tried at this moment without leaving a trace. Main thread, in an open undo step.
    """
    client, scene = call.client, host.scene_id()
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
    """Have the person agree to a text, or find that they did for a while. Main thread.

    The call is bound to the text, and its record gets the digest alone. BadArguments: the agent
    does not say why; NotConfirmed: the person did not agree.
    """
    reason = " ".join(why.split())
    if not reason:
        raise BadArguments("why: tell the person in one sentence what the code is for.")
    call.arguments.value = {**(call.arguments.value or {}), "code": f"sha256:{text.sha256}"}
    call.dialogue.code = text.sha256
    secret.refuse_secrets((reason, text.text), "the code")  # before the history has it
    is_kept = not settings.python.endswith("_hash")
    call.ran = CodeRun(reason[:_MOST_WHY], _details(text, None), is_kept=is_kept)
    if text.findings or writes:
        end_code_grants(call)
    else:
        call.dialogue.plain_code = scope_of(call, host)
    call.lasting.copied_folders = frozenset(it.path for it in writes if it.is_copied)
    with _ending_at_a_no(call):
        confirm_sync(
            _message(text, reason[:_MOST_WHY], writes, _LOOKS if read_only else _STEP),
            verb="Run",
            title="Run code",
            undoable=not (writes or text.closes_scene),
            files=None if text.closes_scene else [it.path for it in writes],
            timeout=settings.client_deadline,  # a text takes longer to read than a sentence
            details=_details(text, session.previous),
        )
    call.dialogue.plain_code = None
    call.ledger.limit_losses()  # what the text deletes is asked about once that is known
    if call.dialogue.answered_by in ("host", "client"):  # no grant, and no list of the studio
        session.previous = text.text


def agree_to_loss(call: Call, text: CodeText, loss: Loss, host: Host, left: str) -> None:
    """Have the person agree to what the code has deleted; it is there again now."""
    message = (
        f"The code deletes {loss.described(host)}. {left} Run it again and allow these deletions?"
    )
    if loss.breaks:
        message += f" {plural(len(loss.breaks), 'thing')} will break: {named(loss.breaks)}."
    if call.dialogue.answered_by == "grant" and call.ran is not None:  # nobody has seen it yet
        message += f"\n{_said(call.ran.why)}"
    with _ending_at_a_no(call):
        confirm_sync(
            message,
            items=loss.items,
            verb=f"Run and delete {loss.counted(host)}",
            details=_details(text, None),
        )


@contextmanager
def _ending_at_a_no(call: Call) -> Iterator[None]:
    """End what the client may do without being asked, if the person does not agree."""
    try:
        yield
    except NotConfirmed:
        end_code_grants(call)
        raise


def _message(text: CodeText, why: str, writes: Sequence[DeclaredWrite], step: str = _STEP) -> str:
    parts = [
        f"Run {plural(text.lines, 'line')} of code?",
        _said(why),
        _reach(text),
    ]
    if writes:
        parts += ["It may write to:", *(f"- {write}" for write in writes)]
    else:
        parts.append("It writes no files.")
    return "\n".join([*parts, step + _NO_SANDBOX])


def _reach(text: CodeText) -> str:
    """Return a sentence that says how far a text may reach."""
    count = len(text.findings)
    if count == 0:
        return "It only works in this scene."
    if count == 1:
        return f"1 line is marked: it {_MAY_REACH}."
    return f"{count} lines are marked: they {_MAY_REACH}."


def _said(why: str) -> str:
    quoted = why.translate({ord(mark): '"' for mark in "“”"})  # what it says ends at our own marks
    return f"The agent says: “{quoted}”"


def _details(text: CodeText, previous: str | None) -> Details:
    marks = tuple((finding.line, finding.reason) for finding in text.findings)
    return Details(text.text, marks, previous)
