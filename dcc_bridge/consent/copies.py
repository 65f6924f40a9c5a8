"""Keeps copies of what undo does not bring back, between a yes and the loss. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcc_bridge import checkpoints
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.ask import ask_flow
from dcc_bridge.elicitation.context import current_context, look
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.host import scene_digest
from dcc_bridge.threads.flows import Flow


def ask_with_checkpoint(question: Question, call: Call) -> Flow[ElicitationResponse]:
    """Ask a question before a skill's body, and keep a copy if undo does not help. Any thread.

    In this case the question says where the copy will be, and the copy is kept after a yes.

    Args:
        question: The question.
        call: The call that asks.

    Returns:
        The answer.

    Raises:
        NoCheckpoint: No copy can be kept, so nothing may be lost.
    """
    question = yield from look(lambda: _bound_to_scene(question))
    answer = yield from ask_flow(question)
    if question.agrees(answer) and not question.undoable:
        files = None
        if question.consent is not None:
            files = question.consent.files
        with call.ledger.holding(question.id):  # without a copy nothing may be lost
            yield from look(lambda: keep_checkpoint(call, files))
    return answer


def _bound_to_scene(question: Question) -> Question:
    """Return the question with its scene, and the folder in which a copy is kept. Main thread."""
    context = current_context()
    consent = question.consent
    if context is None or consent is None:
        return question
    host = context.host
    consent = replace(consent, scene=scene_digest(host, host.fingerprint(consent.items)))
    if not question.undoable:
        consent = replace(consent, kept=str(checkpoints.checkpoint_folder(host)))
    return replace(question, consent=consent)


def keep_checkpoint(call: Call, files: Sequence[Path] | None = None) -> None:
    """Keep a copy of what undo will not bring back, and note it with the call. Main thread.

    Args:
        call: The call that may lose the files.
        files: The files; None for the scene as a whole.

    Raises:
        NoCheckpoint: No copy can be kept.
    """
    context = current_context()
    if context is None:
        return
    lasting = call.lasting
    host = context.host
    lasting.undoable = False
    lasting.copied_at = host.undo_mark()
    copy = checkpoints.keep(host, files, lasting.copies)
    if copy is not None:
        lasting.checkpoint = copy
        lasting.copies.add(copy)
    if files is not None:
        lasting.copied_files.update(files)
    else:
        lasting.copied_files.update([None, *host.files()])  # None stands for the scene
