"""What a task looks at before it edits a scene: files alone, no host."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dcc_bridge import file_locks
from dcc_bridge_batch import approval, task
from dcc_bridge_batch.approval import NotApproved
from dcc_bridge_batch.ledger import TaskLedger
from dcc_bridge_batch.plan import Plan
from dcc_bridge_batch.task_session import TaskSession

LIMIT = 60.0  # seconds for what takes none


def start(made: Plan, said: list[str]) -> list[str]:
    """Start the task of a plan whose host has ended, and give what it said."""
    work = task.Work(made, made.root, 0, "farm", made.folder / "session", "http://127.0.0.1:1/mcp")
    task.run(work, say=said.append)
    return said


def test_a_task_that_waited_while_the_consent_was_withdrawn_edits_nothing(
    approved: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, outcomes, claim = threading.Event(), list[object](), file_locks.claim
    said: list[str] = []

    def claims(descriptor: int, *, wait: bool = False) -> bool:
        waits.set()
        return claim(descriptor, wait=wait)

    def run() -> None:
        try:
            outcomes.append(start(approved, said))
        except NotApproved as error:
            outcomes.append(error)

    with TaskLedger(approved, 0):  # as a rollback has it
        monkeypatch.setattr(file_locks, "claim", claims)
        waiting = threading.Thread(target=run)
        waiting.start()
        assert waits.wait(LIMIT)
        monkeypatch.undo()
        approval.withdraw(approved)
    waiting.join(LIMIT)

    assert [type(it) for it in outcomes] == [NotApproved]
    assert said[0].startswith("openjd_fail: This plan is not approved yet.")


def test_a_task_of_an_approved_plan_looks_for_its_host(approved: Plan) -> None:
    said = start(approved, [])

    assert said == [
        "openjd_status: The host ended: The host of this session is not running any more."
    ]


def test_ctrl_c_between_two_tasks_ends_the_next_one_as_it_begins() -> None:
    calls: list[str] = []

    class Session:
        """What a session of Open Job Description does: only an action that runs is cancelled."""

        is_running = False

        def cancel_action(self) -> None:
            if not self.is_running:
                raise RuntimeError("No action is running.")
            calls.append("cancelled")
            running._ended.set()

        def run_task(self, **_: object) -> None:
            self.is_running = True

    running = TaskSession.__new__(TaskSession)
    running._ended, running._is_cancelled = threading.Event(), False
    running._session = cast(Any, Session())
    running._job = cast(Any, SimpleNamespace(steps=[SimpleNamespace(script=None)]))
    running._status = None

    running.cancel()
    running.run_task(1)

    assert calls == ["cancelled"]
