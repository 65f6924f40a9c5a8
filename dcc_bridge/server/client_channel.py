"""Sends a call's questions and progress notices to its client. Worker.

In the modern era (from 2026 on) a question ends the request, and the client repeats the call with
the answer. In the legacy era the server sends the question during the client's request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, ElicitResult
from pydantic import ValidationError

from dcc_bridge.callbacks import call_safely
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.elicitation.question import Expired, Question, Settle, Unable, Unreadable
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.elicitation.types import ANSWERED, CANCELLED
from dcc_bridge.server.protocol import Answer, elicit_request, reply
from dcc_bridge.server.scope_keys import LABEL

log = logging.getLogger(__name__)

_MIN_STEP: Final = 1e-6
"""The smallest relative step from one progress value to the next."""

Context = ServerRequestContext[Any, Any]
Soon = Callable[[Callable[[], None]], None]


class ClientQuestion:
    """A question to the client, and its answer.

    Attributes:
        question: The question.
    """

    def __init__(self, question: Question, settle: Settle) -> None:
        """Prepare the question, which is not sent yet.

        Args:
            question: The question.
            settle: Takes the answer; called at most once.
        """
        self.question = question
        self._settle: Settle | None = settle
        self._withdrawn = anyio.Event()
        self._withdrawal_reason = ""

    @property
    def is_open(self) -> bool:
        """Whether the question is not answered yet, here or elsewhere."""
        return self._settle is not None

    def answer(self, answer: Answer) -> None:
        """Pass on the client's answer; only the first answer counts."""
        settle = self._settle
        self._settle = None
        if settle is not None:
            call_safely(settle, answer)  # if this fails, the request waits for the next event

    def withdraw(self, why: str = "") -> None:
        """End the question, which was answered elsewhere or has ended otherwise.

        Args:
            why: How the question ended; the first reason counts.
        """
        self._settle = None
        if not self._withdrawal_reason:
            self._withdrawal_reason = why
        self._withdrawn.set()

    async def ask_in(self, request: Context) -> None:
        """Ask a legacy client in its request, unless the question is withdrawn first."""
        async with anyio.create_task_group() as asking:
            asking.start_soon(self._watch, asking.cancel_scope)
            self.answer(await ask_legacy(request, self.question))
            if self.question.visit is not None:
                await self._withdrawn.wait()  # the client agreed, and the page has the answer
            asking.cancel_scope.cancel()
        if self.question.visit is not None and self._withdrawal_reason == ANSWERED:
            # The person has answered on the page that the client opened.
            related = request.request_id
            await request.session.send_elicit_complete(self.question.id, related_request_id=related)

    async def _watch(self, scope: anyio.CancelScope) -> None:
        await self._withdrawn.wait()
        scope.cancel()


class ClientChannel:
    """The presenter that draws a call's questions in its client."""

    def __init__(self, offer: Callable[[ClientQuestion], None], soon: Soon) -> None:
        """Prepare the channel.

        Args:
            offer: Sends a question to the client. Called on the worker.
            soon: Calls a function on the worker's loop, from any thread.
        """
        self._offer = offer
        self._soon = soon

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Send a question to the client. Any thread.

        Returns:
            A function that withdraws the question for a reason.
        """
        client_question = ClientQuestion(question, settle)
        self._soon(lambda: self._offer(client_question))
        return lambda reason: self._soon(lambda: client_question.withdraw(reason))


class ProgressMeter:
    """Makes the progress values of one call, which must always grow (a rule of the protocol)."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._base = 0.0
        self._done = 0.0
        self._total: float | None = None
        self._idle_notices = 0

    def report(self, done: float, total: float | None) -> tuple[float, float | None]:
        """Return the value and the total to send for a skill's report.

        Args:
            done: The finished work, in the skill's own units.
            total: The whole work, if the skill knows.
        """
        if done < self._done:  # the skill begins to count again
            self._base = self._last or 0.0
        self._done = done
        self._total = None if total is None else self._base + total
        return self._above(self._base + done), self._total

    def beat(self) -> tuple[float, float | None]:
        """Return the value and the total for a notice without new progress."""
        self._idle_notices += 1
        step = _MIN_STEP
        if self._total is None:  # the steps of all notices together stay below 1
            step = 1 / (self._idle_notices * (self._idle_notices + 1))
        last = self._last or 0.0
        return self._above(last + step), self._total

    def _above(self, value: float) -> float:
        """Return the value, or one just above the last value if that is greater."""
        if self._last is not None and value <= self._last:
            value = self._last + max(abs(self._last), 1.0) * _MIN_STEP
        self._last = value
        return value


class ProgressNotices:
    """Sends progress notices to the client of one call, on its latest request.

    Attributes:
        latest: Reported progress that was not sent yet, if any.
    """

    def __init__(self, requests: list[Context]) -> None:
        self._requests = requests
        self._meter = ProgressMeter()
        self.latest: Progress | None = None

    async def send(self, waiting: Callable[[], str] | None = None) -> None:
        """Send the latest progress, or else what the call waits for.

        Args:
            waiting: Returns what the call waits for; None to send only progress.
        """
        if not self._requests:
            return
        latest = self.latest
        self.latest = None
        session = self._requests[-1].session
        if latest is not None:
            done, total, message = latest
            text = safe_whole(message) or None
            await session.report_progress(*self._meter.report(done, total), text)
        elif waiting is not None:
            await session.report_progress(*self._meter.beat(), waiting())

    async def repeat(self, keepalive: float, waiting: Callable[[], str]) -> None:
        """Send a notice at intervals until cancelled, because silent legacy calls time out.

        Args:
            keepalive: Seconds between two notices.
            waiting: Returns what the call waits for.
        """
        while True:
            await anyio.sleep(keepalive)
            await self.send(waiting)


def label_of(request: Context) -> str:
    """Return the label that a request's token proved; "" for a request not sent by HTTP."""
    if request.request is None:
        return ""
    return str(request.request.scope[LABEL])


async def ask_legacy(request: Context, question: Question) -> Answer:
    """Ask a legacy client in its request; return an answer also if the client sends an error."""
    metadata = ServerMessageMetadata(related_request_id=request.request_id)
    elicitation = elicit_request(question, question.id)
    try:
        response = await request.session.send_request(elicitation, ElicitResult, metadata=metadata)
        return reply(response)
    except ValidationError:
        return Unreadable()
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            return Expired(CANCELLED)
        if error.code == INVALID_PARAMS:
            log.error("a client found our question invalid: this is a bug of the bridge")
        return Unable(lasting=error.code == METHOD_NOT_FOUND)
