"""The calls that a skill makes: ask, and wait for the answer.

``elicit_form_sync`` waits according to where it is called: in a skill on the main thread it
suspends the skill and the host stays alive; on another thread it blocks; in the host's own code it
spins the host's event loop. In a coroutine it would stop its own answer, so it is refused there.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, ParamSpec, TypeVar

from dcc_bridge.elicitation import schema as schemas
from dcc_bridge.elicitation import unattended
from dcc_bridge.elicitation.call import Call, current
from dcc_bridge.elicitation.installed import arrival, bridge, refuse_in_coroutine
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import Form, InvalidAnswer
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.errors import Cancelled, SchemaError

P = ParamSpec("P")
T = TypeVar("T")


def elicit_form_sync(
    message: str,
    schema: object,
    *,
    title: str | None = None,
    fallback_values: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> ElicitationResponse:
    """Ask for the fields of a form, and wait for the answer.

    Args:
        message: What is asked, a sentence; shown as plain text.
        schema: The fields, as the protocol's subset of JSON Schema.
        title: A heading, a few words.
        fallback_values: The answer where nobody can be asked. Validated now. It is never consent.
        timeout: Seconds for an answer; None for the surface's own limit.
        key: The name of the request on the wire.

    Returns:
        What came of it; it always comes.

    Raises:
        SchemaError: The form, or the fallback, is not one that can be asked.
        WrongThread: It was called in a coroutine; use ``await elicit_form``.
        Busy: The host already waits for an answer to a question of its own.
    """
    question = _form_question(message, schema, title, fallback_values, timeout, key)
    return _ask_sync(question, "elicit_form")


async def elicit_form(
    message: str,
    schema: object,
    *,
    title: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> ElicitationResponse:
    """Ask for the fields of a form in an async skill. See `elicit_form_sync`."""
    return await _ask(_form_question(message, schema, title, None, timeout, key))


async def elicit_url(
    message: str, url: str, *, description: str | None = None, key: str | None = None
) -> ElicitationResponse:
    """Send the person to a page in an async skill.

    Args:
        message: Why they should go there; shown as plain text.
        url: The page.
        description: What happens there.
        key: The name of the request on the wire.

    Returns:
        Accepted means that they agreed to go, not that they are done there.
    """
    return await _ask(_url_question(message, url, description, key))


def elicit_url_sync(
    message: str, url: str, *, description: str | None = None, key: str | None = None
) -> ElicitationResponse:
    """Send the person to a page, and wait until they agree to go. See `elicit_url`."""
    return _ask_sync(_url_question(message, url, description, key), "elicit_url")


def carry(fn: Callable[P, T]) -> Callable[P, T]:
    """Take the current call along to a thread of a skill's own, so that it can ask there."""
    context = contextvars.copy_context()

    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(fn, *args, **kwargs)

    return carried


def put(question: Question, instead: str = "confirm") -> ElicitationResponse:
    """Ask a question that is already made, and wait. For consent."""
    return _ask_sync(question, instead)


async def put_async(question: Question) -> ElicitationResponse:
    """Ask a question that is already made, in a coroutine. For consent."""
    return await _ask(question)


def _ask_sync(question: Question, instead: str) -> ElicitationResponse:
    here = bridge()
    if here is None:
        return unattended.answer(question)
    refuse_in_coroutine(here.main, instead)
    _refuse_if_told(question)
    with question.call.pause() if here.main.is_current else nullcontext():
        response = here.main.wait(here.broker.ask(question))
    return _noted(question, response)


async def _ask(question: Question) -> ElicitationResponse:
    here = bridge()
    if here is None:
        return unattended.answer(question)
    _refuse_if_told(question)
    return _noted(question, await arrival(here.broker.ask(question)))


def _refuse_if_told(question: Question) -> None:
    """End a skill that goes on asking on behalf of a call that is over, and was told so."""
    if question.call.knows_end:
        raise Cancelled(question.message)


def _noted(question: Question, response: ElicitationResponse) -> ElicitationResponse:
    """Write down on the call what the answer means for it."""
    call, form = question.call, question.form
    call.knows_end = call.ended is not None
    agreed = response.accepted and (form is None or form.agrees(response.data or {}))
    no = not agreed if question.consent else not response.accepted
    call.refused = no and call.risk != "read"
    by_person = response.answered_by in ("client", "host", "policy", "grant")
    call.granted = call.granted or (question.consent and agreed and by_person)
    return response


def _form_question(
    message: str,
    schema: object,
    title: str | None,
    fallback: Mapping[str, Any] | None,
    timeout: float | None,
    key: str | None,
) -> Question:
    form = schemas.parse(schema)
    call = current_call()
    return Question(
        message=message,
        call=call,
        form=form,
        title=title,
        consent=call.risk == "destructive" and not call.granted,
        key=key or next_key(call),
        fallback=None if fallback is None else _checked(form, fallback),
        timeout=timeout,
    )


def _url_question(message: str, url: str, description: str | None, key: str | None) -> Question:
    call = current_call()
    return Question(
        message=message, call=call, url=url, description=description, key=key or next_key(call)
    )


def _checked(form: Form, fallback: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return form.check(fallback)
    except InvalidAnswer as error:
        raise SchemaError(f"The fallback values do not fit the form: {error}") from error


def current_call() -> Call:
    """Give the call in whose skill the code runs, or a new one of the host's own."""
    return current.get() or Call(skill="host", title="The host itself")


def next_key(call: Call) -> str:
    """Name the next request of a call on the wire."""
    call.questions += 1
    return f"question_{call.questions}"
