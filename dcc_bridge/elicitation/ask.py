"""The functions with which a skill asks, and waits for the answer.

The functions whose names end in "_sync" wait according to where they are called:

- in a skill on the main thread they suspend the skill, and the host stays alive;
- on another thread they block;
- in the host's own code they run the host's event loop;
- in a coroutine they are refused, as they would block the loop that brings their answer. There the
  functions of the same name without "_sync" are awaited.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from dcc_bridge import errors
from dcc_bridge.elicitation import schema as schemas
from dcc_bridge.elicitation import secret, types
from dcc_bridge.elicitation.context import caller_here, current_context
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import MAX_MESSAGE_BYTES, Caller, Consent, Page, Question
from dcc_bridge.elicitation.refusal import refusal
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.types import ElicitationResponse, cancelled_response
from dcc_bridge.elicitation.unattended import unattended_answer
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.threads.flows import Flow, awaiting, blocking

P = ParamSpec("P")
T = TypeVar("T")


@blocking
def elicit_form_sync(
    message: str,
    schema: object,
    *,
    title: str | None = None,
    fallback_values: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    key: str | None = None,
    consent: bool | None = None,
    details: Details | str | None = None,
) -> Flow[ElicitationResponse]:
    """Ask for the fields of a form, and wait for the answer.

    Each form of a destructive skill asks for consent: if it is refused, the skill may no longer
    change the scene. The same holds if a person refuses a form of an edit skill. An example::

        class Shot(pydantic.BaseModel):
            name: str = pydantic.Field(description="Such as shot_010.", min_length=3)
            frames: int = pydantic.Field(24, ge=1, le=1000)
            quality: Literal["draft", "final"] = "draft"

        answer = elicit_form_sync("Which shot?", Shot, fallback_values={"name": "shot_010"})
        if answer.accepted:
            render(answer.value.name, answer.value.frames)

    Args:
        message: What is asked, a sentence; shown as plain text.
        schema: A pydantic model, a dataclass or a TypedDict; or a dict with an object's JSON
            Schema. It is flat: "string" (with "minLength", "maxLength", "pattern", or "format"
            email, uri, date or date-time), "number" and "integer" ("minimum", "maximum"),
            "boolean", a choice ("enum" or "oneOf") and an "array" of one ("minItems", "maxItems");
            each with "title", "description" and "default".
        title: A heading, a few words.
        fallback_values: The answer if nobody can be asked. Validated now, and never a consent.
        timeout: Seconds for an answer; None for the surface's own limit.
        key: The name of the request on the wire.
        consent: False if the form only asks for input, and the skill may go on whatever the answer.
            The answer grants nothing then, and the audit log says so.
        details: A text that the question is about, shown whole. See `confirm_sync`.

    Returns:
        The answer, whatever happened. ``data`` has the fields, and ``value`` the model.

    Raises:
        SchemaError: The form, the fallback, the message or the details cannot be used.
        WrongThread: `elicit_form_sync` was called in a coroutine; use ``await elicit_form``.
        Busy: The host is already waiting for an answer to a question of its own.
    """
    form = schemas.parse(schema)
    call = caller_here(Caller)
    if fallback_values is not None:
        try:
            fallback = form.check(fallback_values)
        except InvalidAnswer as error:
            raise errors.SchemaError(f"The fallback values do not fit the form: {error}") from error
        form = replace(form, fallback=fallback)
    asked_consent = None
    if consent is not False and call.asks_consent:
        asked_consent = Consent()
    question = Question(
        message=sayable(message),
        call=call,
        form=form,
        title=title,
        consent=asked_consent,
        key=key or next_key(call),
        timeout=timeout,
        details=details_of(details),
    )
    if consent is False:
        call.dialogue.inputs.add(question.id)
    answer = yield from ask_flow(question)
    if not answer.accepted:
        return answer
    return replace(answer, value=form.instance(answer.data or {}))


elicit_form = awaiting(elicit_form_sync)


@blocking
def elicit_url_sync(
    message: str,
    url: str,
    *,
    description: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Flow[ElicitationResponse]:
    """Send the person to a page, and wait until they agree to go.

    Args:
        message: Why the person should go there; shown as plain text.
        url: The page: https, or http on this computer.
        description: What happens on the page.
        timeout: Seconds for an answer; None for the settings' own limit.
        key: The name of the request on the wire.

    Returns:
        Accepted, with the message "completion_unverified": the person went there, or says that they
        have finished. Only the page knows what they did there.

    Raises:
        RefusedAddress: The URL leads to no page, or hides where it leads.
        WrongThread: `elicit_url_sync` was called in a coroutine; use ``await elicit_url``.
    """
    from dcc_bridge.elicitation import urls

    call = caller_here(Caller)
    question = Question(
        message=sayable(message),
        call=call,
        page=Page(urls.read(url).url, description),
        key=key or next_key(call),
        timeout=timeout,
    )
    return (yield from ask_flow(question))


elicit_url = awaiting(elicit_url_sync)


def carry(fn: Callable[P, T]) -> Callable[P, T]:
    """Carry the current call to a thread of a skill's own, so that the call can ask there.

    Args:
        fn: The function that the thread runs.

    Returns:
        A function with the same arguments and result. Any thread may call it, any number of times.
        If `carry` is called outside a call, the questions go to the host.

    Raises:
        Exception: The returned function raises what `fn` raises.
    """
    context = contextvars.copy_context()

    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(fn, *args, **kwargs)

    return carried


def ask_flow(question: Question) -> Flow[ElicitationResponse]:
    """Ask a question through the bridge; where no bridge runs, answer as if nobody could be asked.

    The question's call is notified before the question is put, and of the answer.

    Raises:
        NotConfirmed: The call has ended, and its skill has had that error before.
        LeakedSecret: The question has a secret in it.
        Busy: Too many questions are open already.
    """
    context = current_context()
    if context is None:
        return unattended_answer(question)
    call = question.call
    _refuse(question)
    earlier_answer = call.answered_before(question)
    if earlier_answer is not None:
        return earlier_answer
    if question.consent is not None:
        consent = replace(question.consent, skill=call.inner_skill)
        question = replace(question, consent=consent)
    with call.asking(on_main=context.main.is_current):
        if context.main.is_current:
            question = _with_pictures(question)
        future = context.broker.ask(question)
        job = context.main.job
        if job is not None and not future.done():
            # A consent holds for the scene as it is now, so no other call may edit the scene
            # while the person decides.
            job.gives_way = question.consent is None and not call.is_granted
        answer: ElicitationResponse = yield future, None
        call.ending.is_known = call.ending.reason is not None
        call.dialogue.answered_by = answer.answered_by
        call.note_answer(question, answer)
        return answer


def _with_pictures(question: Question) -> Question:
    """Return a question with the pictures of its items that its call has."""
    if question.consent is None or not question.items:
        return question
    pictures = question.call.pictures(question.items)
    return replace(question, consent=replace(question.consent, pictures=pictures))


def _refuse(question: Question) -> None:
    """Refuse a question with a secret in it, and one of a call whose skill knows of its end."""
    ending = question.call.ending
    if ending.is_known:
        raise refusal(question, cancelled_response(ending.reason or types.CANCELLED))
    parts: list[object] = [
        question.message,
        question.title,
        question.items,
        question.arguments,
        question.details,
        question.form,
    ]
    if question.page is not None:
        parts.append(question.page.url)
        parts.append(question.page.description)
    if question.consent is not None:
        parts.append(question.consent.labels)
    secret.refuse_secrets(parts, "a question")


def yes_or_no(verb: str) -> Form:
    """Make the form of a consent, whose only field is a yes-or-no."""
    fields = {"confirm": {"type": "boolean", "title": verb}}
    return schemas.parse({"type": "object", "properties": fields, "required": ["confirm"]})


def sayable(message: str) -> str:
    """Return a message; SchemaError if the message is longer than a person reads."""
    size = len(message.encode("utf-8", "surrogatepass"))
    if size > MAX_MESSAGE_BYTES:
        raise errors.SchemaError(
            f"The message has {size:,} bytes; {MAX_MESSAGE_BYTES:,} is the most. Shorten it: "
            "put what it is about into the items of a consent, or the description of a field."
        )
    return message


def details_of(details: Details | str | None) -> Details | None:
    """Return the details of a question, from a text or as they are.

    Raises:
        SchemaError: The text is more than a person reads.
    """
    if isinstance(details, str):
        return Details(details)
    return details


def next_key(call: Caller) -> str:
    """Return the name of a call's next request on the wire."""
    call.dialogue.questions += 1
    return f"question_{call.dialogue.questions}"
