"""Tasks: parked calls that need no request, which a client asks after by an id. Worker.

The extension ``io.modelcontextprotocol/tasks`` (SEP-2663, schema draft of 2026-08-21), spoken at
2026-07-28 with clients that declare it in the request. A call whose request was open for
`TASK_AFTER` seconds, or that asks where its skill has ``task="ask"``, ends that request with a
handle. Nothing is started by it: the call goes on as it was, its later questions are answered with
``tasks/update``, and its result is kept for `KEPT` seconds after its end. That is what ``ttlMs``
tells, and it holds for a result that nobody fetched; once fetched it may go before its time, where
there are `MOST` tasks, or `MOST_OF_A_CLIENT` of its client, and another call would be one.

An id is ``<instance>.<call><64 random bits>``: a proxy routes by what is before the dot. It is as
good as a key to its owner, so only its digest is written down. After a restart the audit log tells
how a call ended.
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

from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.routing import client_label
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.elicitation.types import STATUS, TASK_METHODS, TASKS
from dcc_bridge.server import protocol
from dcc_bridge.server.client_channel import Context, label_of
from dcc_bridge.server.parked_calls import ParkedCall, ParkedCalls
from dcc_bridge.server.scope_keys import WRITTEN
from dcc_bridge.server.task_records import TaskRecords, iso_time
from dcc_bridge.skills.call_history import Recent

TASK_AFTER: Final = 3.0  # seconds for which a request is kept open
KEPT: Final = 600.0  # seconds for which the result of a task can be fetched
MOST: Final = 64  # tasks that are kept; over that a call waits in its request, as without them
MOST_OF_A_CLIENT: Final = 16  # the same for one client, so that it leaves places to others
POLL: Final = 1.0  # seconds between two looks at a task, as clients are asked to wait
_MODERN: Final = MODERN_PROTOCOL_VERSIONS[-1]
_CALL_DIGITS: Final = 16
_ENDED: Final = ("cancelled", "not_started")  # what a client gave up and did not get done


class Handle(types.Result, extra="allow"):
    """What a request ends with whose call goes on as a task."""

    result_type: str = "task"


class TaskParams(types.RequestParams):
    """What ``tasks/get`` and ``tasks/cancel`` name."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers to questions of a task, by their keys; read as leniently as those of a retry."""

    input_responses: dict[str, Any]


class Task:
    """A parked call as its client sees it."""

    def __init__(self, parked: ParkedCall, instance: str) -> None:
        self.id = f"{instance}.{parked.call.id}{secrets.token_hex(8)}"
        self.parked = parked
        self.is_cancelled = False  # its client gave it up
        self.is_fetched = False  # its client has seen how it ended
        self._made = datetime.now(UTC)
        self._began = self._changed = time.monotonic()  # goes forward only, as times on the wire
        self._seen: object = None

    def facts(self, message: str) -> dict[str, Any]:
        """Give what a handle and each look have in common."""
        ended, now = self.parked.ended_at, time.monotonic()
        questions, status = list(self.parked.open_questions), self._status
        if ended:
            left = self.parked.result if status == "cancelled" else None
            message = " ".join(str(getattr(it, "text", "")) for it in left.content) if left else ""
        if self._seen != (seen := (status, message, questions)):
            self._seen, self._changed = seen, now
        return {
            "taskId": self.id,
            "status": status,
            **({"statusMessage": message} if message else {}),
            "createdAt": iso_time(self._made),
            "lastUpdatedAt": iso_time(self._made + timedelta(seconds=self._changed - self._began)),
            "ttlMs": int(1000 * ((ended or now) - self._began + KEPT)),
            "pollIntervalMs": int(1000 * POLL),
        }

    def details(self, message: str) -> dict[str, Any]:
        """Give what a look shows: with the open questions, or with the result."""
        facts, result = self.facts(message), self.parked.result
        if facts["status"] == "input_required":
            questions = self.parked.open_questions.items()
            asked = {key: protocol.elicit_request(it.question) for key, it in questions}
            return facts | {"inputRequests": {key: _dump(it) for key, it in asked.items()}}
        if facts["status"] == "completed" and result is not None:
            return facts | {"result": _dump(result)}
        return facts

    @property
    def _status(self) -> str:
        result = self.parked.result
        if result is None:
            return "input_required" if self.parked.open_questions else "working"
        ended = (result.meta or {}).get(STATUS)
        return "cancelled" if self.is_cancelled and ended in _ENDED else "completed"


class Tasks(Extension):
    """The tasks of a host, and the methods of the extension."""

    identifier = TASKS

    def __init__(
        self,
        calls: ParkedCalls,  # what becomes a task
        broker: Broker,  # asks in them
        recent: Recent,  # how the calls stand
        host: str,  # the application's name
        instance: str,  # its name among the hosts of this computer
        records: TaskRecords,  # what is known of those of hosts that ended
    ) -> None:
        calls.tasks = self
        self._calls = calls
        self._broker = broker
        self._recent = recent
        self._host = host
        self._instance = instance
        self._records = records
        self._tasks: dict[str, Task] = {}  # by the ids of their calls

    def methods(self) -> Sequence[MethodBinding]:
        """Give the methods, which the older eras do not know."""
        (get, update, cancel), era = TASK_METHODS, frozenset({_MODERN})
        return [
            MethodBinding(get, TaskParams, self._get, era),
            MethodBinding(update, UpdateParams, self._update, era),
            MethodBinding(cancel, TaskParams, self._cancel, era),
        ]

    @property
    def after(self) -> float:
        """Seconds for which a request is kept open."""
        return TASK_AFTER

    def may_serve(self, request: Context) -> bool:
        """Tell whether a request can end with a handle: its client says that it knows them."""
        able = request.session.client_capabilities
        return request.protocol_version == _MODERN and TASKS in ((able and able.extensions) or {})

    def make(self, parked: ParkedCall) -> types.Result | None:
        """Make a task of a call and give its handle, the same one again; None over the cap."""
        task = self._tasks.get(parked.call.id)
        if task is None:
            self._forget_old()
            if not self._has_place(parked.label):
                return None
            task = Task(parked, self._instance)
            parked.is_task = True
            self._tasks[parked.call.id] = task
            self._records.note(parked.call, task.id)
            self._broker.audience.patient.add(client_label(parked.call))
        return Handle.model_validate(task.facts(self._says(parked)))

    def _has_place(self, label: str) -> bool:
        """Whether there is a place for a task of a client, if a fetched one makes room for it."""
        kept = list(self._tasks.values())
        own = [task for task in kept if task.parked.label == label]
        if len(own) >= MOST_OF_A_CLIENT:
            kept = own
        elif len(kept) < MOST:
            return True
        fetched = next((task for task in kept if task.is_fetched), None)
        if fetched is None:
            return False
        self._drop(fetched)
        return True

    async def _get(self, request: Context, params: TaskParams) -> dict[str, Any]:
        task = self._find(request, params)
        if task is None:
            ended = await self._records.find(params.task_id, label_of(request))
            if ended is None:
                raise _unknown_task()
            return ended
        details = task.details(self._says(task.parked))
        if task.parked.result is not None and request.request is not None:
            request.request.scope[WRITTEN] = partial(self._note_fetched, task)
        return details

    def _note_fetched(self, task: Task) -> None:
        self._calls.unfetched.remove(task.parked.same)
        task.is_fetched = True

    async def _update(self, request: Context, params: UpdateParams) -> dict[str, Any]:
        task = self._find(request, params)
        if task is None:
            raise await self._not_here(request, params)
        questions = task.parked.open_questions
        for key in questions.keys() & params.input_responses:
            questions[key].answer(protocol.raw_reply(params.input_responses[key]))
        return {}

    async def _cancel(self, request: Context, params: TaskParams) -> dict[str, Any]:
        task = self._find(request, params)
        if task is None:
            raise await self._not_here(request, params)
        if task.parked.result is None:
            task.is_cancelled = True
            self._calls.abandon(task.parked)
        return {}

    async def _not_here(self, request: Context, params: TaskParams) -> MCPError:
        """Build the error for a task that cannot be changed any more, or that nobody knows."""
        ended = await self._records.find(params.task_id, label_of(request))
        if ended is None:
            return _unknown_task()
        return MCPError(code=types.INVALID_PARAMS, message=ended["error"]["message"])

    def _find(self, request: Context, params: TaskParams) -> Task | None:
        """Find the task that a request names; None for one that is not here, or not its own.

        MCPError says that the request's header names another one, or its client did not declare
        that it knows tasks.
        """
        name = request.request.headers.get(MCP_NAME_HEADER) if request.request else None
        if decode_header_value(name) != params.task_id:  # the SDK looks at its own methods only
            why = "The Mcp-Name header does not match the request body's 'taskId' parameter"
            raise MCPError(code=types.HEADER_MISMATCH, message=why)
        require_client_extension(request, TASKS)
        self._forget_old()
        task = self._tasks.get(params.task_id.rpartition(".")[2][:_CALL_DIGITS])
        if task is None or task.parked.label != label_of(request):
            return None
        if not compare_digest(task.id.encode(), params.task_id.encode(errors="replace")):
            return None
        task.parked.is_task_known = True
        return task

    def _says(self, parked: ParkedCall) -> str:
        """Say how far a call is, as its progress would."""
        record, text = self._recent.find(parked.call.id), self._calls.waiting(parked)
        if record is None or record.state == "asking":
            is_here = record is not None and not parked.open_questions
            return f"{text} in {self._host}" if is_here else text
        return safe_whole(record.how_far) or text

    def _forget_old(self) -> None:
        oldest = time.monotonic() - KEPT
        for task in list(self._tasks.values()):
            ended_at = task.parked.ended_at
            if ended_at is not None and ended_at < oldest:
                self._drop(task)

    def _drop(self, task: Task) -> None:
        """Keep a task no longer, nor its call."""
        del self._tasks[task.parked.call.id]
        self._calls.drop(task.parked)


def _dump(model: types.ElicitRequest | types.CallToolResult) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _unknown_task() -> MCPError:
    """Build the error for an id that leads nowhere, whosever it may be."""
    return MCPError(
        code=types.INVALID_PARAMS,
        message="There is no such task: it was never made, its time is over, or its result was "
        "fetched and another one needed the place. Nothing was changed by this request. Look with "
        "recent_calls what became of your calls.",
    )
