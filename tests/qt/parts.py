"""A bridge's parts without its server, for whatever reads a panel. It needs no Qt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.consent.call import Call, RunControl
from dcc_bridge.consent.effect import CodeRun, Effect
from dcc_bridge.consent.grants import SessionGrants
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client, Risk, SeenClient
from dcc_bridge.elicitation.question import Consent, Question, Route
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.types import AGREED, DECLINED, Answered, AnsweredBy
from dcc_bridge.local_clients import LocalClients
from dcc_bridge.server.clients import ClientRegistry
from dcc_bridge.server.start_problem import StartProblem
from dcc_bridge.skills.call_history import Recent, Status, Trail
from dcc_bridge.threads.main_thread import MainThread
from tests.stand_ins import FakeHost, Person

CLAUDE = Client("claude-code", "Claude Code", "2.1")
CURSOR = Client("cursor", "Cursor", "1.9.3")
YES = parse(
    {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "title": "Do it"}},
        "required": ["ok"],
    }
)


class Traced(RunControl):
    """The control of a call whose questions are seen in its record."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail

    def question_opened(self) -> None:
        self._trail.question_opened()

    def question_closed(self, answered: Answered) -> None:
        self._trail.question_closed(answered)


class Parts:
    """A bridge's parts without its server: what a panel reads, and what it does."""

    def __init__(self, main: MainThread, broker: Broker, most: int = 100) -> None:
        """Begin with a session in which nothing was done."""
        self.main = main
        self.broker = broker
        self.grants = SessionGrants()
        broker.audience.grants = self.grants
        self.host = FakeHost(["cam1"], has_ui=True)
        self.recent = Recent(most)
        self.clients = ClientRegistry()
        self.address: str | None = "http://127.0.0.1:41234/mcp"
        self.problem: StartProblem | None = None
        self.is_paused = False
        self.cancelled: list[str] = []
        self.watchers = Callbacks()
        self.local_clients = LocalClients(self.watchers.call)
        self.watching = 0

    def pause(self) -> None:
        self.is_paused = True
        self.watchers.call()

    def resume(self) -> None:
        self.is_paused = False
        self.watchers.call()

    def cancel(self, call: str) -> None:
        self.cancelled.append(call)

    def undo(self, label: str) -> bool:
        if self.host.undo_mark().label != label:
            return False
        self.host.undo()
        return True

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        parts = [self.watchers.add, self.broker.watch, self.clients.watch, self.grants.watch]
        ends = [watch(fn) for watch in parts] + [self.recent.watch(lambda _: fn())]

        def end() -> None:
            self.watching -= 1
            for unsubscribe in ends:
                unsubscribe()

        self.watching += 1
        return end

    def meet(self, client: Client, ago: float = 0.0, *, form: bool = True) -> None:
        self.clients.note(SeenClient(client, "2026-07-28", form, False, time.time() - ago))

    def call(
        self, title: str, risk: Risk = "edit", client: Client = CLAUDE, *, ago: float = 5.0
    ) -> tuple[Call, Trail]:
        call = Call(title.lower().replace(" ", "_"), title, risk, client, digest="digest")
        trail = self.recent.follow(call)
        call.control = Traced(trail)
        self.change(call, began=time.time() - ago)
        return call, trail

    def change(self, call: Call, **changes: Any) -> None:
        self.recent.change(call.id, **changes)

    def ended(
        self,
        title: str,
        state: Status,
        risk: Risk = "edit",
        *,
        by: AnsweredBy | None = None,
        ago: float = 60.0,
        client: Client = CLAUDE,
        error: str | None = None,
        code: CodeRun | None = None,
    ) -> str | None:
        """Have a call that ended a while ago; gives the label of the step it left."""
        call, trail = self.call(title, risk, client, ago=ago)
        if by is not None:
            refusals = {"refused": DECLINED}
            self.change(call, answers=(Answered(title, refusals.get(state, AGREED), by),))
        label = f"{title} [{call.id[:6]}]" if state == "done" and risk != "read" else None
        if label is not None:
            with self.host.undo_step(label):
                self.host.items.append(call.id)
        with patch("dcc_bridge.skills.call_history.time.time", return_value=time.time() - ago):
            mark = self.host.undo_mark()
            left = Effect()
            if label is not None:
                left = Effect((label,), label, mark.depth, base=mark.depth - 1)
            if state == "done":
                call.deeds.append(title)
            trail.end(state, error, replace(left, code=code))
        return label

    def ask(self, message: str, call: Call, *, consent: bool = True, **more: Any) -> Question:
        question = Question(message, call, YES, consent=Consent() if consent else None, **more)
        self.broker.ask(question)
        return question


def furnish(desk: Parts) -> None:
    desk.meet(CURSOR, 340, form=False)
    desk.meet(CLAUDE)
    desk.ended("Set attribute", "done", ago=1500, client=CURSOR)
    desk.ended("Delete prims", "refused", "destructive", by="host", ago=900)
    desk.ended("Save scene", "failed", ago=600, error="Save scene failed: the disk is full.")
    desk.ended("List prims", "done", "read", ago=400)
    desk.ended("Rename prim", "done", by="grant", ago=300)
    desk.ended("Delete prims", "done", "destructive", by="host", ago=120)
    render, running = desk.call("Render preview", "edit", ago=42)
    running.begin()
    desk.change(render, progress=(37.0, 90.0, "frame 1037"))
    desk.call("Set attribute", client=CURSOR, ago=8)
    desk.call("Rename prim", client=CURSOR, ago=3)
    for_you, _ = desk.call("Delete prims", "destructive")
    desk.ask("Delete 127 cameras?\nAll of them.", for_you)
    elsewhere, _ = desk.call("Rename prim")
    elsewhere.route = Route(Person())
    desk.ask("What should Lamp_08_Glow be called?", elsewhere, consent=False)
    rename = Call("rename", "Rename", "edit", CLAUDE, digest="x")
    twelve = Question("Rename them?", rename, YES, consent=Consent(("prim",) * 12))
    desk.broker.audience.grants.allow(twelve)
