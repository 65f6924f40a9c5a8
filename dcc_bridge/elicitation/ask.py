"""The calls that a skill makes: ask, and wait for the answer.

``elicit_form_sync`` waits according to where it is called: in a skill on the main thread it
suspends the skill and the host stays alive; on another thread it blocks; in the host's own code it
spins the host's event loop. In a coroutine it would stop its own answer, so it is refused there.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from dcc_bridge.elicitation import schema as schemas
from dcc_bridge.elicitation import unattended
from dcc_bridge.elicitation.broker import Broker, Question
from dcc_bridge.elicitation.call import Call, current
from dcc_bridge.elicitation.schema import Form, InvalidAnswer
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.errors import SchemaError, StartError, WrongThread
from dcc_bridge.threads import MainThread

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Bridge:
    broker: Broker
    main: MainThread


_bridge: _Bridge | None = None


def install(broker: Broker, main: MainThread) -> Callable[[], None]:
    """Let skills ask through a broker. Main thread.

    Returns:
        What takes it away again.

    Raises:
        StartError: There is one already in this process.
    """
    global _bridge
    if _bridge is not None:
        raise StartError("A bridge is already running in this process; stop it first.")
    mine = _bridge = _Bridge(broker, main)

    def remove() -> None:
        global _bridge
        if _bridge is mine:
            _bridge = None

    return remove


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


def put(question: Question) -> ElicitationResponse:
    """Ask a question that is already made, and wait. For the runner's gate."""
    return _ask_sync(question, "elicit_form")


async def put_async(question: Question) -> ElicitationResponse:
    """Ask a question that is already made, in a coroutine. For the runner's gate."""
    return await _ask(question)


def _ask_sync(question: Question, instead: str) -> ElicitationResponse:
    bridge = _bridge
    if bridge is None:
        return unattended.answer(question)
    _refuse_in_coroutine(bridge.main, instead)
    with question.call.pause():
        response = bridge.main.wait(bridge.broker.ask(question))
    return _noted(question, response)


async def _ask(question: Question) -> ElicitationResponse:
    bridge = _bridge
    if bridge is None:
        return unattended.answer(question)
    import asyncio  # 50 ms that `import dcc_bridge` need not cost; a coroutine has it already

    response = await asyncio.wrap_future(bridge.broker.ask(question))
    return _noted(question, response)


def _noted(question: Question, response: ElicitationResponse) -> ElicitationResponse:
    """Write down on the call what the answer means for it."""
    call, form = question.call, question.form
    agreed = response.accepted and (form is None or form.agrees(response.data or {}))
    no = not agreed if question.consent else not response.accepted
    call.refused = no and call.risk != "read"
    by_person = response.answered_by in ("client", "host", "policy")
    call.granted = call.granted or (question.consent and agreed and by_person)
    return response


def _refuse_in_coroutine(main: MainThread, instead: str) -> None:
    asyncio = sys.modules.get("asyncio")
    if main.job is not None or asyncio is None:
        return
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return
    if task is not None or not main.is_current:
        raise WrongThread(
            f"{instead}_sync would stop the loop that brings its answer. "
            f"In a coroutine use: await {instead}(...)."
        )


def _form_question(
    message: str,
    schema: object,
    title: str | None,
    fallback: Mapping[str, Any] | None,
    timeout: float | None,
    key: str | None,
) -> Question:
    form = schemas.parse(schema)
    call = _call()
    return Question(
        message=message,
        call=call,
        form=form,
        title=title,
        consent=call.risk == "destructive" and not call.granted,
        key=key or _key(call),
        fallback=None if fallback is None else _checked(form, fallback),
        timeout=timeout,
    )


def _url_question(message: str, url: str, description: str | None, key: str | None) -> Question:
    call = _call()
    return Question(
        message=message, call=call, url=url, description=description, key=key or _key(call)
    )


def _checked(form: Form, fallback: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return form.check(fallback)
    except InvalidAnswer as error:
        raise SchemaError(f"The fallback values do not fit the form: {error}") from error


def _call() -> Call:
    return current.get() or Call(skill="host", title="The host itself")


def _key(call: Call) -> str:
    call.questions += 1
    return f"question_{call.questions}"
