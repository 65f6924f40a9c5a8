"""Tasks: parked calls that a client follows by an id, without an open request. Worker.

This is the extension ``io.modelcontextprotocol/tasks`` (SEP-2663, schema draft of 2026-08-21). It
is used at 2026-07-28 with clients that declare it in the request.

A call becomes a *task* when its request has been open for `TASK_AFTER_S` seconds, or when it asks a
question and its skill has ``task="ask"``. The request then ends with a *handle*, which holds the
task's id. The call itself continues. With the id, the client polls the task by ``tasks/get``,
answers its questions by ``tasks/update``, and cancels it by ``tasks/cancel``.

The result is kept for `RESULT_TTL_S` seconds after the end of the call; ``ttlMs`` tells the client
this. Only a result that was fetched may be dropped earlier, to make room for another task above
`MAX_TASKS` tasks, or `MAX_CLIENT_TASKS` of one client.

An id is ``<instance>.<call><64 random bits>``: a proxy routes by the part before the dot. Anybody
who has the id can use the task, so only a digest of the id is written to disk. After a restart the
audit log tells how a call ended.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hmac import compare_digest
from typing import Any, Final

import mcp_types as types
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.elicitation.types import STATUS, TASK_METHODS, TASKS
from dcc_bridge.server import protocol
from dcc_bridge.server.client_channel import Context, label_of
from dcc_bridge.server.parked_calls import ParkedCall, ParkedCalls
from dcc_bridge.server.scope_keys import WRITTEN
from dcc_bridge.server.task_records import TaskRecords, iso_time
from dcc_bridge.skills.call_history import Recent

TASK_AFTER_S: Final = 3.0
"""Seconds for which a request is kept open before its call becomes a task."""
RESULT_TTL_S: Final = 600.0
"""Seconds for which the result of a task can be fetched."""
MAX_TASKS: Final = 64
"""The maximum of tasks. Above it, further calls wait in their requests."""
MAX_CLIENT_TASKS: Final = 16
"""The maximum of tasks of one client, so that one client cannot use up `MAX_TASKS`."""
POLL_INTERVAL_S: Final = 1.0
"""Seconds that clients are asked to wait between two polls of a task."""
_MODERN: Final = MODERN_PROTOCOL_VERSIONS[-1]
_CALL_ID_DIGITS: Final = 16
"""The length of the call's part of a task's id."""
_NOT_DONE: Final = ("cancelled", "not_started")
"""The statuses of a call that ended before it changed anything."""


class Handle(types.Result, extra="allow"):
    """The result of a request whose call continues as a task."""

    result_type: str = "task"


class TaskParams(types.RequestParams):
    """The parameters of ``tasks/get`` and ``tasks/cancel``."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers to questions of a task, by their keys; read as leniently as those of a retry."""

    input_responses: dict[str, Any]


class Task:
    """A parked call that its client follows by an id.

    Attributes:
        id: The task's id.
        is_cancelled: Whether the client has cancelled the task before its end.
        is_fetched: Whether a response with the end of the task was written to the client.
        parked: The call.
    """

    def __init__(self, parked: ParkedCall, instance: str) -> None:
        self.id = f"{instance}.{parked.call.id}{secrets.token_hex(8)}"
        self.parked = parked
        self.is_cancelled = False
        self.is_fetched = False
        self._created = datetime.now(UTC)
        # All later times are `_created` plus a difference of the monotonic clock, so that no time
        # sent to the client is earlier than one before.
        self._began = time.monotonic()
        self._changed = self._began
        self._last_facts: object = None

    def facts(self, message: str) -> dict[str, Any]:
        """Return the members that a handle and each answer to ``tasks/get`` have in common.

        Args:
            message: How far the call is, in words; not used once it has ended.
        """
        now = time.monotonic()
        ended_at = self.parked.ended_at
        status = self._status
        if ended_at:
            message = self._last_words(status)
        facts = (status, message, list(self.parked.open_questions))
        if self._last_facts != facts:
            self._last_facts = facts
            self._changed = now
        last_updated = self._created + timedelta(seconds=self._changed - self._began)
        lifetime = (ended_at or now) - self._began + RESULT_TTL_S
        members: dict[str, Any] = {"taskId": self.id, "status": status}
        if message:
            members["statusMessage"] = message
        members["createdAt"] = iso_time(self._created)
        members["lastUpdatedAt"] = iso_time(last_updated)
        members["ttlMs"] = int(1000 * lifetime)
        members["pollIntervalMs"] = int(1000 * POLL_INTERVAL_S)
        return members

    def details(self, message: str) -> dict[str, Any]:
        """Return the answer to ``tasks/get``: `facts`, with the open questions or the result.

        Args:
            message: How far the call is, in words; not used once it has ended.
        """
        members = self.facts(message)
        result = self.parked.result
        if members["status"] == "input_required":
            requests = {}
            for key, asked in self.parked.open_questions.items():
                requests[key] = _dump(protocol.elicit_request(asked.question))
            members["inputRequests"] = requests
        elif members["status"] == "completed" and result is not None:
            members["result"] = _dump(result)
        return members

    @property
    def _status(self) -> str:
        """The status of the task in the extension's words.

        A task that the client cancelled is "completed" nevertheless if it changed anything.
        """
        result = self.parked.result
        if result is None:
            return "input_required" if self.parked.open_questions else "working"
        ending = (result.meta or {}).get(STATUS)
        if self.is_cancelled and ending in _NOT_DONE:
            return "cancelled"
        return "completed"

    def _last_words(self, status: str) -> str:
        """Return the text of a cancelled task's result, which itself is not sent; else ""."""
        result = self.parked.result
        if status != "cancelled" or not result:
            return ""
        return " ".join(str(getattr(block, "text", "")) for block in result.content)


class Tasks(Extension):
    """The tasks of a host, and the methods of the extension."""

    identifier = TASKS

    def __init__(
        self,
        calls: ParkedCalls,
        recent: Recent,
        host: str,
        instance: str,
        records: TaskRecords,
    ) -> None:
        """Let parked calls become tasks, by setting `ParkedCalls.tasks`.

        Args:
            calls: All parked calls.
            recent: The states of the calls.
            host: The application's name.
            instance: The id of this host among those of the computer.
            records: Records the tasks of this host, and finds those of hosts that have ended.
        """
        calls.tasks = self
        self._calls = calls
        self._recent = recent
        self._host = host
        self._instance = instance
        self._records = records
        self._tasks: dict[str, Task] = {}  # by the ids of their calls

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods of the extension, for the newest revision of the protocol only."""
        get, update, cancel = TASK_METHODS
        eras = frozenset({_MODERN})
        return [
            MethodBinding(get, TaskParams, self._get, eras),
            MethodBinding(update, UpdateParams, self._update, eras),
            MethodBinding(cancel, TaskParams, self._cancel, eras),
        ]

    @property
    def after(self) -> float:
        """Seconds for which a request is kept open."""
        return TASK_AFTER_S

    def may_serve(self, request: Context) -> bool:
        """Return whether a request can end with a handle: its client declares the extension."""
        capabilities = request.session.client_capabilities
        if request.protocol_version != _MODERN or not capabilities:
            return False
        return TASKS in (capabilities.extensions or {})

    def make(self, parked: ParkedCall) -> types.Result | None:
        """Make a call a task, unless it is one, and return its handle.

        None if there are too many tasks, so that the call has to wait in its request.
        """
        task = self._tasks.get(parked.call.id)
        if task is None:
            self._drop_old()
            if not self._make_room(parked.label):
                return None
            task = Task(parked, self._instance)
            parked.is_task = True
            self._tasks[parked.call.id] = task
            self._records.note(parked.call, task.id)
        return Handle.model_validate(task.facts(self._progress_text(parked)))

    def _make_room(self, label: str) -> bool:
        """Return whether a client may have another task; drop a fetched task if that makes room."""
        tasks = list(self._tasks.values())
        own = [task for task in tasks if task.parked.label == label]
        if len(own) < MAX_CLIENT_TASKS and len(tasks) < MAX_TASKS:
            return True
        if len(own) >= MAX_CLIENT_TASKS:
            tasks = own
        for task in tasks:
            if task.is_fetched:
                self._drop(task)
                return True
        return False

    async def _get(self, request: Context, params: TaskParams) -> dict[str, Any]:
        """Answer ``tasks/get``; a task that ended is fetched once the response is written."""
        task = self._find(request, params)
        if task is None:
            ended = await self._records.find(params.task_id, label_of(request))
            if ended is None:
                raise _unknown_task()
            return ended
        details = task.details(self._progress_text(task.parked))
        if task.parked.result is not None and request.request is not None:
            request.request.scope[WRITTEN] = partial(self._note_fetched, task)
        return details

    def _note_fetched(self, task: Task) -> None:
        """Mark a task as fetched once a response with its end was written."""
        self._calls.unfetched.remove(task.parked.same)
        task.is_fetched = True

    async def _update(self, request: Context, params: UpdateParams) -> dict[str, Any]:
        """Answer the open questions of a task by their keys; other keys are ignored."""
        task = self._find(request, params)
        if task is None:
            raise await self._closed_error(request, params)
        questions = task.parked.open_questions
        for key in questions.keys() & params.input_responses:
            questions[key].answer(protocol.raw_reply(params.input_responses[key]))
        return {}

    async def _cancel(self, request: Context, params: TaskParams) -> dict[str, Any]:
        """Abandon the call of a task, unless it has ended."""
        task = self._find(request, params)
        if task is None:
            raise await self._closed_error(request, params)
        if task.parked.result is None:
            task.is_cancelled = True
            self._calls.abandon(task.parked)
        return {}

    async def _closed_error(self, request: Context, params: TaskParams) -> MCPError:
        """Return the error for a task that takes no more requests, or that is not known."""
        ended = await self._records.find(params.task_id, label_of(request))
        if ended is None:
            return _unknown_task()
        return MCPError(code=types.INVALID_PARAMS, message=ended["error"]["message"])

    def _find(self, request: Context, params: TaskParams) -> Task | None:
        """Return the task that a request names; None if unknown, or another client's.

        The client certainly has the task's id now, so `ParkedCall.is_task_known` becomes True.

        Raises:
            MCPError: The request's header names another task, or its client did not declare that
                it knows tasks.
        """
        name = None
        if request.request:
            name = request.request.headers.get(MCP_NAME_HEADER)
        # The SDK checks this header for its own methods only.
        if decode_header_value(name) != params.task_id:
            why = "The Mcp-Name header does not match the request body's 'taskId' parameter"
            raise MCPError(code=types.HEADER_MISMATCH, message=why)
        require_client_extension(request, TASKS)
        self._drop_old()
        call_id = params.task_id.rpartition(".")[2][:_CALL_ID_DIGITS]
        task = self._tasks.get(call_id)
        if task is None or task.parked.label != label_of(request):
            return None
        if not compare_digest(task.id.encode(), params.task_id.encode(errors="replace")):
            return None
        task.parked.is_task_known = True
        return task

    def _progress_text(self, parked: ParkedCall) -> str:
        """Return the progress of a call, in the words of a progress notice."""
        waiting = self._calls.waiting(parked)
        record = self._recent.find(parked.call.id)
        if record is None:
            return waiting
        if record.state != "asking":
            return safe_whole(record.how_far) or waiting
        if parked.open_questions:
            return waiting
        return f"{waiting} in {self._host}"  # the host asks, and not the client

    def _drop_old(self) -> None:
        """Drop the tasks whose `RESULT_TTL_S` is over."""
        oldest = time.monotonic() - RESULT_TTL_S
        for task in list(self._tasks.values()):
            ended_at = task.parked.ended_at
            if ended_at is not None and ended_at < oldest:
                self._drop(task)

    def _drop(self, task: Task) -> None:
        """Remove a task and its call."""
        del self._tasks[task.parked.call.id]
        self._calls.drop(task.parked)


def _dump(model: types.ElicitRequest | types.CallToolResult) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _unknown_task() -> MCPError:
    """Return the error for an id that belongs to no task of the client."""
    return MCPError(
        code=types.INVALID_PARAMS,
        message="There is no such task: it was never made, its time is over, or its result was "
        "fetched and another one needed the place. Nothing was changed by this request. Look with "
        "recent_calls what became of your calls.",
    )
