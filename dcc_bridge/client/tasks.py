"""Calls that go on as tasks, beyond the request that began them. On the client's loop."""

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

ASKING: Final = "asking"  # in place of how a call ended: it goes on, and asks
_DAY: Final = 86_400.0
_GET, _UPDATE, _CANCEL = TASK_METHODS
_AWAY: Final = 10.0  # seconds for which a host may be out of reach, until its task is given up
_SOON: Final = 0.1  # seconds until a task is looked at again that was just answered
_POLL: Final = 1000  # milliseconds until it is otherwise, where its host does not say
T = TypeVar("T", bound=types.Result)


class _Handle(types.Result):
    result_type: Literal["task"]
    task_id: str


class _TaskParams(types.RequestParams):
    task_id: str
    input_responses: dict[str, types.ElicitResult] | None = None


class _TaskRequest(types.Request[_TaskParams, str]):
    name_param = "taskId"


class _Look(types.Result):
    status: str
    status_message: str = ""
    poll_interval_ms: int = _POLL
    input_requests: dict[str, types.ElicitRequest] = Field(default_factory=dict)
    result: types.CallToolResult | None = None
    error: types.ErrorData | None = None


class TaskFollower(ClientExtension):
    """Follows a call that goes on as a task: answers its questions, and gives its result."""

    identifier = TASKS

    def __init__(self, answer: ElicitationFnT | None) -> None:
        self._answer = answer  # gives a person's answer; None where nobody can be asked
        self.task: str | None = None  # the id of the one that is followed; one at a time
        self.on_task: Callable[[str], None] = lambda task: None  # told the id of a new one
        self.on_progress: ProgressFnT | None = None  # told what it waits for

    def claims(self) -> list[ResultClaim[Any]]:
        """Say which result means a task."""
        return [ResultClaim(result_type="task", model=_Handle, resolve=self._resolve)]

    async def _resolve(self, handle: _Handle, context: ClaimContext) -> types.CallToolResult:
        self.on_task(handle.task_id)
        return await self.follow(context.session, handle.task_id)

    async def follow(self, session: ClientSession, task: str) -> types.CallToolResult:
        """Wait for the result of a task; MCPError: there is none, or nobody to ask for it."""
        self.task, replies = task, dict[str, Any]()
        while (look := await self._look(session, task)).status in ("working", "input_required"):
            if self.on_progress is not None:
                await self.on_progress(0.0, None, look.status_message)
            new = [key for key in look.input_requests if key not in replies][:1]
            if new and self._answer is None:
                self.task = None
                return _left_open(task, look.input_requests[new[0]].params)
            for key in new:
                if (reply := await self._ask(session, task, key, look)) is not None:
                    replies[key] = reply
            open_ = {key: it for key, it in replies.items() if key in look.input_requests}
            if open_:  # also what was sent before: it may be lost
                with suppress(MCPError):  # the next look shows whether it was taken
                    params = {"task_id": task, "input_responses": open_}
                    await _send(session, _UPDATE, types.EmptyResult, **params)
            await anyio.sleep(_SOON if new else look.poll_interval_ms / 1000)
        self.task = None
        if look.error is not None:
            raise MCPError.from_error_data(look.error)
        text = types.TextContent(text=look.status_message or "The call was cancelled.")
        return look.result or types.CallToolResult(content=[text], is_error=True)

    async def leave(self, session: ClientSession) -> None:
        """Give up the task that is followed."""
        if self.task is not None:
            await _send(session, _CANCEL, types.EmptyResult, task_id=self.task)

    async def _ask(self, session: ClientSession, task: str, key: str, look: _Look) -> Any:
        """Put a question to the person; None where it ended elsewhere before they answered."""
        params, replies = look.input_requests[key].params, list[Any]()
        context: Any = None  # of a request of the host's own, which this is not

        async def ask() -> None:
            replies.append(self._answer and await self._answer(context, params))
            prompt.cancel_scope.cancel()

        async with anyio.create_task_group() as prompt:
            prompt.start_soon(ask)
            with suppress(MCPError):
                while key in look.input_requests:
                    await anyio.sleep(look.poll_interval_ms / 1000)
                    look = await self._look(session, task)
            prompt.cancel_scope.cancel()
        return replies[0] if replies else None

    async def _look(self, session: ClientSession, task: str) -> _Look:
        """Look at a task; a connection that breaks loses nothing."""
        give_up_at = anyio.current_time() + _AWAY
        while True:
            try:
                return await _send(session, _GET, _Look, task_id=task)
            except MCPError as error:
                if error.code != types.CONNECTION_CLOSED or anyio.current_time() > give_up_at:
                    raise
            await anyio.sleep(_SOON)


async def _send(session: ClientSession, method: str, result: type[T], **params: Any) -> T:
    request = _TaskRequest(method=method, params=_TaskParams(**params))
    return await session.send_request(request, result)


def time_left(params: types.ElicitRequestParams) -> tuple[float, str]:
    """Tell how many seconds a question stays open, and until when that is, in words."""
    limit = dict[str, Any](params.meta or {}).get(LIMIT, math.inf)  # an older bridge's has none
    ends = time.localtime(time.time() + min(limit, _DAY))
    return limit, time.strftime("by %H:%M:%S", ends) if limit < _DAY else "soon"


def _left_open(task: str, params: types.ElicitRequestParams) -> types.CallToolResult:
    """Say that a call goes on and asks, where nobody can be asked."""
    text = types.TextContent(
        text=f"The call goes on, and waits for an answer: {params.message}\nNobody can be asked "
        "here, so the question stays open. Answer it in the application, or "
        f"{time_left(params)[1]} with: dcc-bridge call --resume {task}"
    )
    return types.CallToolResult(content=[text], is_error=True, _meta={STATUS: ASKING})
