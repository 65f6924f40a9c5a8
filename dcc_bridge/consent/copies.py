"""Copies of what undo does not bring back, kept between a yes and the loss. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcc_bridge import checkpoints
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.ask import ask_flow
from dcc_bridge.elicitation.context import current_context, look
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.threads.flows import Flow


def ask_with_checkpoint(question: Question, call: Call) -> Flow[ElicitationResponse]:
    """Ask a question that stands before a skill's body. Any thread.

    Where undo does not help, it says where a copy is kept, and that is kept after a yes; or it
    raises NoCheckpoint.

    Args:
        question: What is asked.
        call: The call that asks it.
    """
    if question.undoable:
        return (yield from ask_flow(question))
    question = yield from look(lambda: _with_checkpoint_place(question))
    answer = yield from ask_flow(question)
    if question.agrees(answer):
        with call.ledger.holding(question.id):  # without a copy nothing may be lost
            files = question.consent.files if question.consent is not None else None
            yield from look(lambda: keep_checkpoint(call, files))
    return answer


def _with_checkpoint_place(question: Question) -> Question:
    """Say in a question where a copy will be kept. Main thread."""
    context = current_context()
    place = None if context is None else str(checkpoints.checkpoint_folder(context.host))
    return replace(question, consent=replace(question.consent or Consent(), kept=place))


def keep_checkpoint(call: Call, files: Sequence[Path] | None = None) -> None:
    """Keep a copy of what undo will not bring back, and note of what and when. Main thread."""
    context = current_context()
    if context is None:
        return
    lasting = call.lasting
    host = context.host
    lasting.undoable = False
    lasting.kept_at = host.undo_mark()
    copy = checkpoints.keep(host, files, lasting.copies)
    lasting.checkpoint = copy or lasting.checkpoint
    lasting.copies |= {copy} if copy else set()
    lasting.kept.update([None, *host.files()] if files is None else files)
