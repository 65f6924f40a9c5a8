"""Questions put to the client, in both eras of the protocol, and progress notices. Worker."""

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

_LEAST: Final = 1e-6

Context = ServerRequestContext[Any, Any]
Soon = Callable[[Callable[[], None]], None]


class ClientQuestion:
    """A question that is with the client."""

    def __init__(self, question: Question, settle: Settle) -> None:
        self.question = question
        self._settle: Settle | None = settle
        self._withdrawn = anyio.Event()
        self._why = ""

    @property
    def is_open(self) -> bool:
        """Whether nobody answered it yet, here or elsewhere."""
        return self._settle is not None

    def answer(self, answer: Answer) -> None:
        """Hand over what the client said; only the first time counts."""
        settle, self._settle = self._settle, None
        if settle is not None:
            call_safely(settle, answer)  # if that fails, the request waits for what comes next

    def withdraw(self, why: str = "") -> None:
        """Forget the question: it was answered elsewhere, or ended."""
        self._settle = None
        self._why = self._why or why
        self._withdrawn.set()

    async def ask_in(self, request: Context) -> None:
        """Ask a legacy client in its request, unless the question is withdrawn first."""
        async with anyio.create_task_group() as asking:
            asking.start_soon(self._watch, asking.cancel_scope)
            self.answer(await ask_legacy(request, self.question))
            if self.question.visit is not None:
                await self._withdrawn.wait()  # the client agreed; the page says when it is done
            asking.cancel_scope.cancel()
        if self.question.visit is not None and self._why == ANSWERED:
            # the page, to which the client sent the person, has what it needs
            related = request.request_id
            await request.session.send_elicit_complete(self.question.id, related_request_id=related)

    async def _watch(self, scope: anyio.CancelScope) -> None:
        await self._withdrawn.wait()
        scope.cancel()


class ClientChannel:
    """The presenter that draws a call's questions in its client."""

    def __init__(self, offer: Callable[[ClientQuestion], None], soon: Soon) -> None:
        self._offer = offer
        self._soon = soon

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Put a question to the client. Any thread."""
        asked = ClientQuestion(question, settle)
        self._soon(lambda: self._offer(asked))
        return lambda reason: self._soon(lambda: asked.withdraw(reason))


class ProgressMeter:
    """The progress values of one call, each above the one before, as the protocol wants them."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._base = 0.0
        self._done = 0.0
        self._total: float | None = None
        self._beats = 0

    def report(self, done: float, total: float | None) -> tuple[float, float | None]:
        """Give the value, and the total, for what a skill reports."""
        if done < self._done:  # it counts from the beginning again
            self._base = self._last or 0.0
        self._done = done
        self._total = None if total is None else self._base + total
        return self._above(self._base + done), self._total

    def beat(self) -> tuple[float, float | None]:
        """Give a value for a notice that nothing happened yet."""
        self._beats += 1
        part = 1 / (self._beats * (self._beats + 1)) if self._total is None else _LEAST
        return self._above((self._last or 0.0) + part), self._total

    def _above(self, value: float) -> float:
        if self._last is not None and value <= self._last:
            value = self._last + max(abs(self._last), 1.0) * _LEAST
        self._last = value
        return value


class ProgressNotices:
    """Progress notices to the client of one call, on the request that is open now."""

    def __init__(self, requests: list[Context]) -> None:
        self._requests = requests
        self._meter = ProgressMeter()
        self.latest: Progress | None = None  # what was reported and the client was not told yet

    async def send(self, waiting: Callable[[], str] | None = None) -> None:
        """Send the latest progress, or where there is none, what the call waits for."""
        if not self._requests:
            return
        latest, self.latest = self.latest, None
        session = self._requests[-1].session
        if latest is not None:
            done, total, message = latest
            text = safe_whole(message) or None
            await session.report_progress(*self._meter.report(done, total), text)
        elif waiting is not None:
            await session.report_progress(*self._meter.beat(), waiting())

    async def repeat(self, keepalive: float, waiting: Callable[[], str]) -> None:
        """Send what the call waits for, until cancelled: legacy clients time out in silence."""
        while True:
            await anyio.sleep(keepalive)
            await self.send(waiting)


def label_of(request: Context) -> str:
    """Give the label that a request's token proved."""
    return str(request.request.scope[LABEL]) if request.request is not None else ""


async def ask_legacy(request: Context, question: Question) -> Answer:
    """Ask a legacy client in its request; an error as its answer never becomes the call's."""
    metadata = ServerMessageMetadata(related_request_id=request.request_id)
    asked = elicit_request(question, question.id)
    try:
        return reply(await request.session.send_request(asked, ElicitResult, metadata=metadata))
    except ValidationError:
        return Unreadable()
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            return Expired(CANCELLED)
        if error.code == INVALID_PARAMS:
            log.error("a client found our question invalid: this is a bug of the bridge")
        return Unable(lasting=error.code == METHOD_NOT_FOUND)
