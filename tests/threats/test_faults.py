"""One thing that fails, at every place where it can: each call ends, and nothing changes unagreed.

A destructive skill asks for consent, edits, asks for more in mid-edit and edits on. Of each *seam*
the Nth call raises, for N = 1 up to all of them. Then, whatever it was: the call has ended; what
was changed was changed with a "granted" that was on the disk before; the scene is as it was, or as
was agreed; and the next call, with nothing failing, is done.

===========  ====================================================================================
seam         what it is here
===========  ====================================================================================
post         the ui lane of the main thread
queue        either lane, and the jobs of skills
wake         what the host does so that its main thread looks at the lanes
build        a question, or its form, is made
show         a surface draws it
hear         a surface tells what the person did
settle       the question ends
record       its end is written down
seal         the state that a modern client brings back
clock        a question's deadline is set
limit        a call's own is set
write, sync  the disk of the record
===========  ====================================================================================
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Queue
from typing import Any, Final
from unittest.mock import patch

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from dcc_bridge import confirm_sync, elicit_form_sync, report_progress, skill
from dcc_bridge.audit.log import Disk
from dcc_bridge.audit.trail import QuestionRecord
from dcc_bridge.callbacks import TimeLimit
from dcc_bridge.consent import confirm as consent
from dcc_bridge.consent.call import running_call
from dcc_bridge.elicitation import ask, broker
from dcc_bridge.elicitation.open_question import OpenQuestion
from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown, Unable
from dcc_bridge.elicitation.routing import UNSEEN_FACTOR
from dcc_bridge.elicitation.types import TIMED_OUT
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.server.client_channel import ClientChannel
from dcc_bridge.server.state_seal import StateSeal
from dcc_bridge.skills.call_history import LIVE
from dcc_bridge.threads.main_thread import MainThread
from tests.live import ERAS, Live, accept, live, status
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person
from tests.threats.loop import StrictLoop
from tests.tiers import sampled

YES: Final = Reply("accept", {"confirm": True})
START: Final = ["cam1", "cam2", "light1", "light2"]
AGREED: Final = ["light2"]
DEADLINE: Final = 1.0
"""Seconds after which a question ends whose answer was lost."""
QUEUED: Final = 40.0
"""Seconds for which a call may wait for the main thread, on a busy machine."""
ENDS: Final = 60.0
"""Seconds in which every call has ended, on a busy machine."""
SEAMS: Final[dict[str, tuple[Callable[[Live], Any], str]]] = {
    "post": (lambda running: running.bridge.main, "post"),
    "queue": (lambda running: running.bridge.main, "_queue"),
    "wake": (lambda running: running.bridge.main, "_wake_host"),
    "build": (lambda running: consent, "Question"),
    "build form": (lambda running: ask, "Question"),
    "show": (lambda running: running.bridge.broker.audience.host or ClientChannel, "show"),
    "hear": (lambda running: broker.Broker, "_handle_event"),
    "settle": (lambda running: OpenQuestion, "settle"),
    "record": (lambda running: QuestionRecord, "end"),
    "seal": (lambda running: StateSeal, "seal"),
    "clock": (lambda running: running.bridge.broker, "_clock"),
    "limit": (lambda running: TimeLimit, "start"),
    "write": (lambda running: running.bridge.audit.disk, "write"),
    "sync": (lambda running: running.bridge.audit.disk, "sync"),
}
ERRORS: Final = {
    "write": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "sync": OSError(errno.EIO, os.strerror(errno.EIO)),
}
NOT_HERE: Final = {
    ("host", ERAS[1]): {"seal"},
    ("host", ERAS[2]): {"seal"},
    ("client", ERAS[1]): {"post", "seal"},
    ("client", ERAS[2]): {"post"},
}
"""What is not called there: no state goes out, or there is no dialog."""
QUICK: Final = [(ERAS[2], "host", "main", "at once"), (ERAS[1], "client", "any", "late")]
"""What is tried always, with every eighth call of a seam; the rest takes minutes."""
CASES: Final = [
    *((*case, 8) for case in QUICK),
    *sampled((), ERAS[1:], ("host", "client"), ("main", "any"), ("at once", "late"), [1]),
]


class Fault:
    """Lets the Nth call of something fail, once."""

    def __init__(self, seam: str, nth: int, *, late: bool) -> None:
        """Count nothing yet.

        Args:
            seam: What fails.
            nth: Which call of it.
            late: It does what it is to do, and fails then.
        """
        self.seam, self.nth, self.late = seam, nth, late
        self.calls = 0
        self._lock = threading.Lock()

    @property
    def happened(self) -> bool:
        return self.calls >= self.nth

    @contextmanager
    def on(self, running: Live) -> Iterator[None]:
        """Let it happen while the block lasts."""
        place, name = SEAMS[self.seam]
        owner = place(running)
        with patch.object(owner, name, self._wrap(getattr(owner, name))):
            yield

    def _wrap(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*args: Any, **more: Any) -> Any:
            with self._lock:
                self.calls += 1
                fails = self.calls == self.nth
            if fails and not self.late:
                self._fail()
            result = fn(*args, **more)
            if fails:
                self._fail()
            return result

        return faulty

    def _fail(self) -> None:
        raise ERRORS.get(self.seam, RuntimeError(f"{self.seam} failed on purpose"))


class SeenDisk(Disk):
    """A disk of which it is known what would outlive a power cut."""

    def __init__(self) -> None:
        self._written: dict[int, bytes] = {}
        self._synced: dict[int, bytes] = {}
        self._left: list[bytes] = []

    def create(self, file: Path) -> int:
        opened = super().create(file)
        self._left.append(self._synced.pop(opened, b""))
        self._written[opened] = b""
        return opened

    def write(self, opened: int, data: bytes) -> None:
        super().write(opened, data)
        self._written[opened] += data

    def sync(self, opened: int) -> None:
        super().sync(opened)
        self._synced[opened] = self._written[opened]

    def cut(self, opened: int, size: int) -> None:
        super().cut(opened, size)
        self._written[opened] = self._written[opened][:size]

    def has(self, call: str, event: str) -> bool:
        """Whether an event of a call is on it for good."""
        lines = b"".join([*self._left, *self._synced.values()]).splitlines()
        entries = [json.loads(line) for line in lines if call.encode() in line]
        return any((entry["call"], entry["event"]) == (call, event) for entry in entries)


class Scene(FakeHost):
    """A scene that knows whether each of its changes was on the disk as granted before."""

    def __init__(self, *, has_ui: bool) -> None:
        super().__init__(START, has_ui=has_ui)
        self.disk = SeenDisk()
        self.ungranted: list[str] = []

    def lose(self, name: str) -> None:
        """Change it."""
        call = running_call()
        assert call is not None
        if not (self.disk.has(call.id, "granted") and self.disk.has(call.id, "begin")):
            self.ungranted.append(name)
        self.items.remove(name)

    def set(self) -> None:
        """Make everything as it was, with nothing to undo."""
        FakeHost.__init__(self, START, has_ui=self.has_ui)


class Dialogs(Person):
    """A person before dialogs, which are made in the ui lane; they agree to everything."""

    main: MainThread

    def show(self, question: Question, settle: Settle) -> TakeDown:
        def look(drawn: Future[None]) -> None:
            if isinstance(drawn.exception(), BridgeClosed):
                settle(Unable(cancels=True))

        self.main.post(lambda: settle(YES)).add_done_callback(look)
        return lambda why: self._take_down(why)

    def _take_down(self, why: str) -> None:
        self.main.post(lambda: self.taken_down.append(why))


def clear(scene: Scene, thread: Any) -> Callable[..., Any]:
    """Make the skill that is called."""

    def lose(names: list[str]) -> None:
        for name in names:
            scene.lose(name)

    @skill(risk="destructive", confirms=True, thread=thread)
    def clear() -> str:
        """Delete the cameras, and if that is wanted a light."""
        report_progress(0, 2)
        cameras = [name for name in START if name.startswith("cam")]
        grant = confirm_sync("Delete the cameras?", items=cameras, verb="Delete")
        grant.apply_sync(lose) if thread == "any" else lose(grant)
        report_progress(1, 2)
        if not elicit_form_sync("And the light?", CONFIRM, title="Delete").accepted:
            raise ValueError("Half of it is of no use.")
        light = confirm_sync("Delete the light?", items=["light1"], verb="Delete")
        light.apply_sync(lose) if thread == "any" else lose(light)
        return "cleared"

    return clear


class Trial:
    """A bridge on which one thing after another fails."""

    def __init__(self, running: Live, scene: Scene, era: str) -> None:
        self._running = running
        self._scene = scene
        self._era = era
        self._calls: Queue[Future[str] | None] = Queue()
        self._client = running.go(self._agent)
        running.bridge.audit.disk = scene.disk

    def run_all(self, seam: str, step: int, *, late: bool) -> int:
        """Let each call of a seam fail, or every so many; gives how many there were, about."""
        for nth in itertools.count(1, step):
            fault = Fault(seam, nth, late=late)
            self.run(fault)
            if not fault.happened:
                break
        return nth - 1

    def run(self, fault: Fault) -> None:
        """Let a thing fail in a call, and see what became of it."""
        with fault.on(self._running):
            end = self._call(f"{fault.seam} {fault.nth}")
        where = f"{fault.seam}, call {fault.nth}, {'late' if fault.late else 'at once'}: {end}"

        assert self._scene.ungranted == [], where
        assert self._scene.items in (START, AGREED), where
        assert end != "done" or self._scene.items == AGREED, where
        after = self._call(where)
        last = self._running.bridge.recent.records()[0]
        if any(it.how == TIMED_OUT for it in last.answers):  # another one may be luckier
            after = self._call(where)
        assert after == "done", f"the call after {where}"

    def _call(self, where: str) -> str:
        """Call, wait until everything has ended, and say how."""
        self._scene.set()
        calling: Future[str] = Future()
        self._calls.put(calling)
        try:
            self._running.until(lambda: calling.done() and self._is_quiet(), ENDS)
        except AssertionError:
            left = self._running.bridge.recent.records()[0]
            raise AssertionError(f"{where}: {left} did not end") from None
        return calling.result()

    def _is_quiet(self) -> bool:
        bridge = self._running.bridge
        going = [record for record in bridge.recent.records() if record.state in LIVE]
        return not (going or bridge.broker.open or bridge.main._suspended or bridge.main.waiting)

    def leave(self) -> None:
        """Let the client go."""
        self._calls.put(None)
        self._running.until(self._client.done)
        self._client.result()

    async def _agent(self) -> None:
        asked = None if self._scene.has_ui else accept(confirm=True)
        async with self._running.client(self._era, asked) as client:
            while (calling := await anyio.to_thread.run_sync(self._calls.get)) is not None:
                try:
                    calling.set_result(status(await client.call_tool("clear", {})))
                except MCPError as error:
                    calling.set_result(f"an error: {error}")


@pytest.mark.timeout(290)
@pytest.mark.parametrize(("era", "at", "thread", "when", "step"), CASES)
def test_every_call_ends_and_nothing_changes_unagreed(
    era: str, at: str, thread: str, when: str, step: int, tmp_path: Path
) -> None:
    """Every call of every seam fails, each once, on one bridge after the other."""
    scene, person, pump = Scene(has_ui=at == "host"), Dialogs(), StrictLoop()
    person.main = pump.main
    with live(
        tmp_path,
        clear(scene, thread),
        host=scene,
        presenter=person if scene.has_ui else None,
        pump=pump,
        dialogs_per_minute=100_000,
        # Nobody sees a dialog here, so its question ends with the longer time.
        deadline=DEADLINE / UNSEEN_FACTOR if at == "host" else DEADLINE,
    ) as running:
        environment = running.bridge._runner.environment
        environment.settings = replace(environment.settings, deadline=QUEUED)
        trial = Trial(running, scene, era)
        faults = {seam: trial.run_all(seam, step, late=when == "late") for seam in SEAMS}
        trial.leave()

    print(f"{sum(faults.values())} faults: {faults}")
    assert all(faults[seam] for seam in SEAMS if seam not in NOT_HERE[at, era])
