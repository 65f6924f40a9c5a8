"""The functions with which a skill asks, and waits for the answer.

``elicit_form_sync`` waits according to where it is called: in a skill on the main thread it
suspends the skill and the host stays alive; on another thread it blocks; in the host's own code it
spins the host's event loop. In a coroutine it would stop its own answer, so it is refused there.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from dcc_bridge import checkpoints, errors
from dcc_bridge.consent.call import BACKGROUND, Call, CallGrant, current
from dcc_bridge.elicitation import routing, secret, types
from dcc_bridge.elicitation import schema as schemas
from dcc_bridge.elicitation.context import Flow, awaiting, blocking, current_context, look
from dcc_bridge.elicitation.question import MOST_MESSAGE, Consent, Details, Page, Question
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.types import ElicitationResponse, cancelled_response
from dcc_bridge.elicitation.validation import InvalidAnswer

_GRANTORS: Final = ("client", "host", "policy", "grant")  # theirs is a grant; a fallback's is not
_REFUSALS: Final = {
    types.NOT_SUPPORTED: errors.NobodyToAsk,
    types.TIMED_OUT: errors.TimedOut,
    types.HOST_BLOCKED: errors.HostBlocked,
}
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
        fallback_values: The answer if nobody can be asked. Validated now. It is never consent.
        timeout: Seconds for an answer; None for the surface's own limit.
        key: The name of the request on the wire.
        consent: False if it only asks for input, and the skill may go on whatever the answer.
            It grants nothing then, and the audit log says so.
        details: A text that it is about, shown whole. See `confirm_sync`.

    Returns:
        The answer, whatever happened. ``data`` has the fields, and ``value`` the model.

    Raises:
        SchemaError: The form, the fallback, the message or the details cannot be used.
        WrongThread: `elicit_form_sync` was called in a coroutine; use ``await elicit_form``.
        Busy: The host is already waiting for an answer to a question of its own.
    """
    form, call = schemas.parse(schema), current_call()
    try:
        fallback = None if fallback_values is None else form.check(fallback_values)
    except InvalidAnswer as error:
        raise errors.SchemaError(f"The fallback values do not fit the form: {error}") from error
    question = Question(
        message=sayable(message),
        call=call,
        form=form if fallback is None else replace(form, fallback=fallback),
        title=title,
        consent=None if consent is False or call.risk_here != "destructive" else Consent(),
        key=key or next_key(call),
        timeout=timeout,
        details=details_of(details),
    )
    if consent is False:
        call.dialogue.inputs.add(question.id)
    answer = yield from ask_flow(question)
    return replace(answer, value=form.instance(answer.data or {})) if answer.accepted else answer


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
        message: Why they should go there; shown as plain text.
        url: The page: https, or http on this computer.
        description: What happens there.
        timeout: Seconds for an answer; None for the settings' own limit.
        key: The name of the request on the wire.

    Returns:
        Accepted, with the message "completion_unverified": they went there, or they say that they
        have finished. What they did there only the page knows.

    Raises:
        RefusedAddress: The address leads to no page, or hides where it leads.
        WrongThread: `elicit_url_sync` was called in a coroutine; use ``await elicit_url``.
    """
    from dcc_bridge.elicitation import urls

    call = current_call()
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
    """Take the current call along to a thread of a skill's own, so that it can ask there.

    Args:
        fn: What the thread runs.

    Returns:
        A function with the same arguments and result. Any thread may call it, any number of times.
        Made outside a call, its questions go to the host.

    Raises:
        Exception: What `fn` raises, as the function that is returned is called.
    """
    context = contextvars.copy_context()

    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(fn, *args, **kwargs)

    return carried


def ask_flow(question: Question) -> Flow[ElicitationResponse]:
    """Ask a question through the bridge, or answer it unattended where there is none."""
    if (context := current_context()) is None:
        return routing.unattended_answer(question)
    call = question.call
    risk = call.risk_here
    _refuse(question)
    if question.consent is not None:  # only the stack that asks knows which skill it is in
        inner = "" if call.losing_here == call.skill else call.losing_here
        question = replace(question, consent=replace(question.consent, skill=inner))
    with call.control.pause() if context.main.is_current else nullcontext():
        call.raise_risk(risk)  # inside the pause: what was changed so far was allowed
        future = context.broker.ask(question)
        if (job := context.main.job) is not None and not future.done():
            # what was agreed to holds for the scene as it was then
            job.gives_way = question.consent is None and not call.agreement.grants
        answer = yield future, None
        # before the pause ends: whether the undo step opens again is decided by the grant
        return _note_answer(question, answer)


def ask_with_checkpoint(question: Question) -> Flow[ElicitationResponse]:
    """Ask a question that stands before a skill's body.

    Where undo does not help, it says where a copy is kept, and that is kept after a yes; or it
    raises NoCheckpoint.
    """
    if question.undoable:
        return (yield from ask_flow(question))
    question = yield from look(lambda: _with_checkpoint_place(question))
    answer = yield from ask_flow(question)
    if question.agrees(answer):
        with question.call.agreement.holding(question.id):  # without a copy nothing may be lost
            yield from look(lambda: keep_checkpoint(question.call))
    return answer


def _with_checkpoint_place(question: Question) -> Question:
    """Say in a question where a copy will be kept. Main thread."""
    context = current_context()
    place = None if context is None else str(checkpoints.checkpoint_folder(context.host))
    return replace(question, consent=replace(question.consent or Consent(), kept=place))


def keep_checkpoint(call: Call, files: Sequence[Path] | None = None) -> None:
    """Keep a copy of what undo will not bring back, and note of what and when. Main thread."""
    if (context := current_context()) is None:
        return
    agreement, host = call.agreement, context.host
    agreement.undoable, agreement.kept_at = False, host.undo_mark()
    copy = checkpoints.keep(host, files, agreement.copies)
    agreement.checkpoint = copy or agreement.checkpoint
    agreement.copies |= {copy} if copy else set()
    agreement.kept.update([None, *host.files()] if files is None else files)


def _refuse(question: Question) -> None:
    """Refuse a question with a secret in it, and one of a call that was told that it is over."""
    if question.call.ending.is_known:
        raise refusal(question, cancelled_response(question.call.ending.reason or types.CANCELLED))
    page = question.page and (question.page.url, question.page.description)
    labels = question.consent.labels if question.consent else ()
    texts = (question.message, question.title, page, question.items, labels, question.arguments)
    secret.refuse_secrets((texts, question.details, question.form), "a question")


def _note_answer(question: Question, response: ElicitationResponse) -> ElicitationResponse:
    """Update the call by the answer: what it granted, or that it withdrew all that was."""
    call, agreement = question.call, question.call.agreement
    call.ending.is_known = call.ending.reason is not None
    call.dialogue.answered_by = response.answered_by
    agreement.kept.clear()  # the person may have worked on meanwhile
    agreed = question.agrees(response)
    ends_nothing = question.page is not None or question.id in call.dialogue.inputs
    is_refusal = not (agreed if question.consent else response.accepted) and not ends_nothing
    agreement.refused = refusal(question, response) if is_refusal and call.risk != "read" else None
    if question.consent and agreed and response.answered_by in _GRANTORS:
        items = question.items or None
        files = question.consent.files
        over = None if files is None else frozenset(Path(os.path.abspath(it)) for it in files)
        agreement.grants.append(CallGrant(question.id, items, question.undoable, over))
    elif is_refusal and (question.consent or response.answered_by in ("client", "host")):
        agreement.withdraw()
    return response


def check(question: Question, answer: ElicitationResponse) -> None:
    """Raise the NotConfirmed that says why unless a question was agreed to; or NotRecorded."""
    if answer.message == types.NOT_RECORDED:
        raise errors.NotRecorded("the disk refuses it.")
    if not question.agrees(answer):
        raise refusal(question, answer)


def refusal(question: Question, answer: ElicitationResponse) -> errors.NotConfirmed:
    """Make the error that says how a question was refused."""
    if (kind := _REFUSALS.get(answer.message or "")) is None:
        kind = errors.Cancelled if answer.action == "cancel" else errors.Declined
    answered = question.answered(answer)
    how, reason = types.outcome(answered.how, answered.by), answer.reason or ""
    if answer.message == types.MUTED:  # the reason is the bridge's: for how long
        how, reason = f"{how} ({reason})", ""
    return kind(question.message, reason, how, question.call.remainder)


def yes_or_no(verb: str) -> Form:
    """Make the form of a consent: one thing to agree to."""
    fields = {"confirm": {"type": "boolean", "title": verb}}
    return schemas.parse({"type": "object", "properties": fields, "required": ["confirm"]})


def sayable(message: str) -> str:
    """Return a message; SchemaError where it is longer than a person reads."""
    size = len(message.encode("utf-8", "surrogatepass"))
    if size > MOST_MESSAGE:
        raise errors.SchemaError(
            f"The message has {size:,} bytes; {MOST_MESSAGE:,} is the most. Shorten it: "
            "put what it is about into the items of a consent, or the description of a field."
        )
    return message


def details_of(details: Details | str | None) -> Details | None:
    """Return what a question is about as its details; SchemaError as `Details` raises it."""
    return Details(details) if isinstance(details, str) else details


def current_call() -> Call:
    """Return the call in whose skill the code runs, or a new one of the host's own."""
    context, call = current_context(), current.get()
    if call is None and context is not None and not context.main.is_current:
        return Call(skill="host", title="Unknown", client=BACKGROUND)  # whatever started it
    return call or Call(skill="host", title="The host itself")


def next_key(call: Call) -> str:
    """Return a name for the next request of a call on the wire."""
    call.dialogue.questions += 1
    return f"question_{call.dialogue.questions}"
