"""The facts of a question and its answer that the audit log has. Any thread."""

from __future__ import annotations

from dcc_bridge.audit.trail import AnswerFacts, QuestionFacts
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.types import ElicitationResponse


def question_facts(question: Question) -> QuestionFacts:
    """Return the facts of a question that are written down."""
    consent = question.consent
    page = question.page
    details = question.details
    form = question.form
    return QuestionFacts(
        id=question.id,
        message=question.message,
        is_consent=consent is not None,
        is_input=question.id in question.call.dialogue.inputs,
        inner_skill=consent.skill if consent is not None else "",
        undoable=question.undoable,
        checkpoint_place=consent.kept if consent is not None else None,
        url=page.url if page is not None else None,
        is_own_page=question.visit is not None,
        items=question.items,
        arguments=question.arguments,
        details_sha256=details.sha256 if details is not None else None,
        hidden=form.hidden if form is not None else frozenset(),
    )


def answer_facts(
    question: Question, response: ElicitationResponse, reply: Reply | None = None
) -> AnswerFacts:
    """Return the facts of an answer that are written down.

    Args:
        question: The question.
        response: The response to the question.
        reply: The refusal of a person, with the values that they typed or a reason; else None.
    """
    return AnswerFacts(
        accepted=response.accepted,
        by=response.answered_by,
        how=question.answered(response).how,
        why=response.message,
        data=response.data or {},
        typed=reply.content if reply is not None else None,
        reason=reply.reason if reply is not None else None,
    )
