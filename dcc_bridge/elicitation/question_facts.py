"""Makes the facts of a question and its answer that the audit log records. Any thread."""

from __future__ import annotations

from dcc_bridge.audit.trail import AnswerFacts, QuestionFacts
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.types import ElicitationResponse


def question_facts(question: Question) -> QuestionFacts:
    """Return the facts of a question that are recorded."""
    inner_skill = ""
    checkpoint_place = None
    if question.consent is not None:
        inner_skill = question.consent.skill
        checkpoint_place = question.consent.kept
    url = None
    if question.page is not None:
        url = question.page.url
    details_sha256 = None
    if question.details is not None:
        details_sha256 = question.details.sha256
    hidden: frozenset[str] = frozenset()
    if question.form is not None:
        hidden = question.form.hidden
    return QuestionFacts(
        id=question.id,
        message=question.message,
        is_consent=question.consent is not None,
        is_input=question.id in question.call.dialogue.inputs,
        inner_skill=inner_skill,
        undoable=question.undoable,
        checkpoint_place=checkpoint_place,
        url=url,
        is_own_page=question.visit is not None,
        items=question.items,
        arguments=question.arguments,
        details_sha256=details_sha256,
        hidden=hidden,
    )


def answer_facts(
    question: Question, response: ElicitationResponse, reply: Reply | None = None
) -> AnswerFacts:
    """Return the facts of an answer that are recorded.

    Args:
        question: The question.
        response: The response to the question.
        reply: The refusal of a person, with the values that they typed or a reason; else None.
    """
    typed: object = None
    reason = None
    if reply is not None:
        typed = reply.content
        reason = reply.reason
    return AnswerFacts(
        accepted=response.accepted,
        by=response.answered_by,
        how=question.answered(response).how,
        why=response.message,
        data=response.data or {},
        typed=typed,
        reason=reason,
        left_out=response.left_out,
    )
