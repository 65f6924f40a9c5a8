"""Follows calls that continue as tasks after their request has ended. On the client's loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal, TypeVar

import anyio
import mcp_types as types
from mcp.client import ClientSession
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ElicitationFnT
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import Field

from dcc_bridge.elicitation.types import LIMIT, STATUS, TASK_METHODS, TASKS

ASKING: Final = "asking"
"""The status of a result of a call that has not ended, because its question is open."""
_DAY_S: Final = 86_400.0
_GET, _UPDATE, _CANCEL = TASK_METHODS
# The time for which a host may be out of reach before `follow` raises.
_UNREACHABLE_TIMEOUT_S: Final = 10.0
# The time until the next poll after an answer, or while the host is out of reach.
_RETRY_INTERVAL_S: Final = 0.1
_POLL_INTERVAL_MS: Final = 1000  # between two polls, if the host names no interval
T = TypeVar("T", bound=types.Result)


class _TaskHandle(types.Result):
    """The result of a call that continues as a task."""

    result_type: Literal["task"]
    task_id: str


class _TaskParams(types.RequestParams):
    task_id: str
    input_responses: dict[str, types.ElicitResult] | None = None


class _TaskRequest(types.Request[_TaskParams, str]):
    name_param = "taskId"


class _TaskState(types.Result):
    """The state of a task, as its host reports it."""

    status: str
    status_message: str = ""
    poll_interval_ms: int = _POLL_INTERVAL_MS
    input_requests: dict[str, types.ElicitRequest] = Field(default_factory=dict)
    result: types.CallToolResult | None = None
    error: types.ErrorData | None = None

    @property
    def poll_interval(self) -> float:
        """The time until the next poll, in seconds."""
        return self.poll_interval_ms / 1000


class TaskFollower(ClientExtension):
    """Polls one task at a time: answers its questions, and returns its result.

    Args:
        answer: Asks the person; None if nobody can be asked.

    Attributes:
        task: The id of the task that is followed now, if any.
        on_task: Receives the id of each new task.
        on_progress: Receives the status message of the task at each poll, if set.
    """

    identifier = TASKS

    def __init__(self, answer: ElicitationFnT | None) -> None:
        self._answer = answer
        self.task: str | None = None
        self.on_task: Callable[[str], None] = lambda task: None
        self.on_progress: ProgressFnT | None = None

    def claims(self) -> list[ResultClaim[Any]]:
        """Register the type of result that means a task, for the SDK."""
        return [ResultClaim(result_type="task", model=_TaskHandle, resolve=self._resolve)]

    async def _resolve(self, handle: _TaskHandle, context: ClaimContext) -> types.CallToolResult:
        self.on_task(handle.task_id)
        return await self.follow(context.session, handle.task_id)

    async def follow(self, session: ClientSession, task: str) -> types.CallToolResult:
        """Wait for the result of a task, and answer its questions.

        Args:
            session: The session with the task's host.
            task: The id of the task.

        Returns:
            The result of the call. If a question comes and nobody can be asked, an error with the
            status `ASKING`; the task then continues.

        Raises:
            MCPError: The host does not know the task, is out of reach, or reports an error of the
                call.
        """
        self.task = task
        replies: dict[str, Any] = {}
        state = await self._state(session, task)
        while state.status in ("working", "input_required"):
            if self.on_progress is not None:
                await self.on_progress(0.0, None, state.status_message)
            pause = state.poll_interval
            key = _unanswered(state, replies)
            if key is not None:
                if self._answer is None:
                    self.task = None
                    return _open_question_result(task, state.input_requests[key].params)
                reply = await self._ask(self._answer, session, task, key, state)
                if reply is not None:
                    replies[key] = reply
                pause = _RETRY_INTERVAL_S
            await _send_replies(session, task, state, replies)
            await anyio.sleep(pause)
            state = await self._state(session, task)
        self.task = None
        if state.error is not None:
            raise MCPError.from_error_data(state.error)
        if state.result is not None:
            return state.result
        text = types.TextContent(text=state.status_message or "The call was cancelled.")
        return types.CallToolResult(content=[text], is_error=True)

    async def leave(self, session: ClientSession) -> None:
        """Cancel the task that is followed, if there is one.

        Args:
            session: The session with the task's host.

        Raises:
            MCPError: The host is out of reach, or the task has ended.
        """
        if self.task is not None:
            await _send(session, _CANCEL, types.EmptyResult, task_id=self.task)

    async def _ask(
        self, answer: ElicitationFnT, session: ClientSession, task: str, key: str, state: _TaskState
    ) -> Any:
        """Return the person's reply to a question; None if the question ended before."""
        params = state.input_requests[key].params
        replies: list[Any] = []
        context: Any = None  # only a request of the host has one

        async def ask() -> None:
            replies.append(await answer(context, params))
            prompt.cancel_scope.cancel()

        async with anyio.create_task_group() as prompt:
            prompt.start_soon(ask)
            with suppress(MCPError):
                while key in state.input_requests:
                    await anyio.sleep(state.poll_interval)
                    state = await self._state(session, task)
            prompt.cancel_scope.cancel()
        if not replies:
            return None
        return replies[0]

    async def _state(self, session: ClientSession, task: str) -> _TaskState:
        """Return the state of a task, retrying while its host is out of reach."""
        give_up_at = anyio.current_time() + _UNREACHABLE_TIMEOUT_S
        while True:
            try:
                return await _send(session, _GET, _TaskState, task_id=task)
            except MCPError as error:
                if error.code != types.CONNECTION_CLOSED or anyio.current_time() > give_up_at:
                    raise
            await anyio.sleep(_RETRY_INTERVAL_S)


def _unanswered(state: _TaskState, replies: dict[str, Any]) -> str | None:
    """Return the key of the first question of a task that has no reply yet."""
    for key in state.input_requests:
        if key not in replies:
            return key
    return None


async def _send_replies(
    session: ClientSession, task: str, state: _TaskState, replies: dict[str, Any]
) -> None:
    """Send the replies to all open questions, even if sent before: a reply may have been lost."""
    responses = {}
    for key, reply in replies.items():
        if key in state.input_requests:
            responses[key] = reply
    if responses:
        with suppress(MCPError):  # the next poll shows whether the host took the replies
            await _send(
                session, _UPDATE, types.EmptyResult, task_id=task, input_responses=responses
            )


async def _send(session: ClientSession, method: str, result: type[T], **params: Any) -> T:
    request = _TaskRequest(method=method, params=_TaskParams(**params))
    return await session.send_request(request, result)


def time_left(params: types.ElicitRequestParams) -> tuple[float, str]:
    """Return how long a question stays open.

    Args:
        params: The question.

    Returns:
        The time in seconds, infinite if the bridge names none; and its end in words:
        "by 14:05:00", or "soon" if it is a day or more away.
    """
    meta = dict[str, Any](params.meta or {})
    limit = meta.get(LIMIT, math.inf)
    if limit >= _DAY_S:
        return limit, "soon"
    end = time.localtime(time.time() + limit)
    return limit, time.strftime("by %H:%M:%S", end)


def _open_question_result(task: str, params: types.ElicitRequestParams) -> types.CallToolResult:
    """Return the result of a call that waits for an answer while nobody can be asked here."""
    _, until = time_left(params)
    text = types.TextContent(
        text=f"The call continues and waits for an answer: {params.message}\nNobody can be asked "
        "here, so the question stays open. Answer it in the application, or "
        f"{until} with: dcc-bridge call --resume {task}"
    )
    return types.CallToolResult(content=[text], is_error=True, _meta={STATUS: ASKING})
