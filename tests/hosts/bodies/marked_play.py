"""Runs a marked body: a careless skill that edits, asks, ignores, nests, saves and comes too late.

The person's answer is in the text of each question. Left out, as nothing in the process stops it: a
thread that keeps the stage and edits USD there, without the session; files written without the
session (`open`, `Sdf.Layer.Export`, the `Save` of a layer that the body allows to be saved); a
callback that stays with the host after the skill's end; a skill that leaves the context of its call
(`contextvars.Context().run`). What a skill's file does when it is imported is told in the tests of
the loader.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcc_bridge import (
    carry,
    check_cancelled,
    confirm,
    confirm_sync,
    elicit_form,
    elicit_form_sync,
    on_main,
    skill,
)
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import running_call
from dcc_bridge.elicitation.question import Question, Settle
from dcc_bridge.errors import BridgeError
from dcc_bridge.skills.skill import describe
from tests.hosts.bodies.acts import Act, Acts, every
from tests.hosts.bodies.marked_plans import Plan
from tests.hosts.bodies.play import FORM, LIMIT, Play, reply
from tests.hosts.bodies.port import Port, Scene
from tests.one_run import call_of


@dataclass
class Granted:
    """The agreement of the person in one run, as the person saw it.

    Attributes:
        needs: Changes need a yes.
        alive: What goes with the items of each yes that was not withdrawn; None for one that named
            none.
        lasting: There was a yes to a question that said that undo does not help.
        foreign: There was a yes to a question of no call.
        refusals: How often what was agreed to was withdrawn.
    """

    needs: bool
    alive: list[Callable[[str], bool] | None] = field(default_factory=list)
    lasting: bool = False
    foreign: bool = False
    refusals: int = 0

    def covers(self, thing: str) -> bool:
        return not self.needs or any(reach is None or reach(thing) for reach in self.alive)

    def withdraw(self) -> None:
        self.alive.clear()
        self.needs = True
        self.refusals += 1


@dataclass(frozen=True)
class Result:
    """The outcome of a body.

    Attributes:
        status: How it ended, as the agent is told.
        before: The scene before it.
        ended: The scene when its end was told.
        after: The scene when the last thread of it was over.
        granted: What the person agreed to.
        lost: What was gone after some act to which the person had agreed.
        theirs: What the person made meanwhile.
        changed: An act changed something when that was agreed to.
        is_told: What was lost unasked was told to the agent, or in a thread while the call ended.
        audit: What is wrong with the record, or "".
    """

    status: str
    before: Scene
    ended: Scene
    after: Scene
    granted: Granted
    lost: frozenset[str]
    theirs: frozenset[str]
    changed: bool
    is_told: bool
    audit: str


class MarkedPlay(Play):
    """One run of one marked body."""

    def __init__(
        self, plan: Plan, port: Port, folder: Path, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Take a body, and a host with a scene for it alone; the loop is on another thread."""
        super().__init__(port, folder)
        self._plan = plan
        self._port = port
        self._loop = loop
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._granted = Granted(plan.risk == "destructive" or plan.policy == "ask")
        self._foreign = Granted(needs=True)
        self._lost: set[str] = set()
        self._changed = False
        self._is_raised = False
        self._theirs: set[str] = set()
        self._has_threads = any(act.kind in ("thread", "task") for act in every(plan.body))

    def run(self) -> Result:
        """Run the body to the end of its last thread."""
        plan = self._plan
        settings = Settings(dialogs_per_minute=10**6, pending_questions=50, edit=plan.policy)
        before = self._port.look()
        called = describe(self._skill())
        self.call = call_of(called)
        with self._running(settings) as one:
            run = one.start(called, self.call)
            try:
                self._serve(run.outcome.done)
                ended = self._port.look()
            finally:
                self._over.set()
            self._serve(lambda: not self._left())
            after = self._port.look()
        status = run.outcome.result().status
        return Result(
            status,
            before,
            ended,
            after,
            self._granted,
            frozenset(self._lost),
            frozenset(self._theirs),
            self._changed,
            status != "done" or self._has_threads,
            self._broken(),
        )

    # ---- the person

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _left(self) -> bool:
        return any(it.is_alive() for it in self._threads) or any(
            not it.done() for it in self._tasks
        )

    def _answer(self, question: Question, settle: Settle) -> None:
        answer = question.message.partition("\n")[0].rstrip("?").rpartition(" ")[2]
        leaves = answer in ("late", "stops") and question.call is self.call
        if leaves:
            self._leave("kill" if answer == "late" else "end")
        if answer == "yes+edit":
            before = self._port.objects()
            self._port.work()
            self._theirs |= self._port.objects() - before
        is_yes = not leaves and answer not in ("no", "closes", "expires", "unticked")
        self._note(question, answer, is_yes)
        settle(reply(question, answer))

    def _note(self, question: Question, answer: str, is_yes: bool) -> None:
        granted = self._granted if question.call is self.call else self._foreign
        if is_yes and question.consent is not None:
            granted.alive.append(self._port.reach(question.items) if question.items else None)
            self._granted.foreign |= granted is self._foreign
            self._granted.lasting |= not question.undoable
        elif self._refuses(question, answer, is_yes):
            granted.withdraw()

    def _refuses(self, question: Question, answer: str, is_yes: bool) -> bool:
        """Whether an answer withdraws what was agreed to; on a thread nobody knows when."""
        is_input = "only input" in question.message
        is_unheard = question.consent is None and answer in ("unticked", "expires")
        return not (is_yes or self._has_threads or is_input or is_unheard)

    def _leave(self, how: str) -> None:
        """End the call, as its client or its client's end does."""
        self._run.broker.end(self.call)
        if how == "kill":
            self._run.runner.cancel(self.call.id)

    # ---- the skill

    def _skill(self) -> Callable[..., object]:
        plan = self._plan
        fields = {
            "name": "program",
            "title": f"Program {plan.gate}",
            "risk": plan.risk,
            "confirms": plan.confirms,
            "undo": None if plan.undoable else False,
            "tried": False,  # what is tried is in `tried_play`
            "thread": "any" if plan.thread == "any" else "main",
        }
        if plan.thread == "async":

            async def on_loop() -> None:
                await self._acts(plan.body, "loop")

            return marked(on_loop, fields)
        where = "pool" if plan.thread == "any" else "main"
        return marked(lambda: at_once(self._acts(plan.body, where)), fields)

    async def _acts(self, acts: Acts, where: str) -> None:
        """Do acts one after the other, on the main thread, a thread of its own, or a loop."""
        for act in acts:
            try:
                await self._act(act, where)
            except Exception:
                if not self._plan.careless:
                    raise

    async def _act(self, act: Act, where: str) -> None:
        if act.kind in self._port.edits or act.kind in self._port.own:
            await self._on_main(lambda: self._edit(act), where)
        elif act.kind == "raise":
            raise ValueError("on purpose")
        elif act.kind == "leave":
            self._leave(act.what[0])
            if act.what[1] == "look":
                check_cancelled()
        else:
            await getattr(self, f"_{act.kind}")(act, where)

    async def _on_main(self, fn: Callable[[], None], where: str) -> None:
        if where == "main":
            fn()
        elif where == "loop":
            await on_main(fn)
        else:
            asyncio.run(on_main(fn))

    def _edit(self, act: Act) -> None:
        """Do an edit, and note what it lost while that was agreed to, and else."""
        port, granted = self._port, self._foreign if running_call() is None else self._granted
        which, before, state = port.which, port.objects(), port.state()
        try:
            port.do(act.kind, *act.what)
        finally:
            is_allowed = not granted.needs or bool(granted.alive)
            if port.which == which:
                gone = before - port.objects()
                self._lost |= set(filter(granted.covers, gone))
            self._changed |= is_allowed and port.state() != state

    async def _ask(self, act: Act, where: str) -> None:
        flavour, answer, lasting, *items = act.what
        if flavour in ("form", "input"):
            consent = False if flavour == "input" else None
            message = f"{'It is only input. ' if consent is False else ''}Go on? {answer}"
            if where == "loop":
                await elicit_form(message, FORM, consent=consent)
            else:
                elicit_form_sync(message, FORM, consent=consent)
            return

        def look() -> list[str]:
            at_once(self._acts(act.inside, "main"))
            return items

        def edit(_: list[str]) -> None:
            at_once(self._acts(act.inside, "main"))

        which = look if flavour == "lookup" else items or None
        undoable, message = lasting == "undoable", f"Go on? {answer}"
        if where == "loop":
            grant = await confirm(message, items=which, undoable=undoable)
            if flavour == "apply":
                await grant.apply(edit)
        else:
            grant = confirm_sync(message, items=which, undoable=undoable)
            if flavour == "apply":
                grant.apply_sync(edit)

    async def _nest(self, act: Act, where: str) -> None:
        risk, asks, lasting, how, answer = act.what
        on = "main" if how == "on_main" else where
        fields = {
            "name": "inner",
            "title": f"Inner {answer}",
            "risk": risk,
            "confirms": asks == "confirms",
            "undo": None if lasting == "undoable" else False,
        }
        inner = marked(lambda: at_once(self._acts(act.inside, on)), fields)
        if running_call() is None:  # in a thread of no call: it neither raises nor ends one's right
            await self._run_inner(inner, fields, act, on, where)
            return
        granted, is_outermost = self._granted, not self._is_raised
        needed, alive = granted.needs, list(granted.alive)
        raises = risk == "destructive" and self._plan.risk == "edit"
        if raises:
            self._raise_risk()
        refusals = granted.refusals
        try:
            await self._run_inner(inner, fields, act, on, where)
        except BridgeError:
            if raises and is_outermost and self.call.risk != "destructive":
                # The stretch before it ended with an error, so it was never called.
                granted.needs, granted.alive, self._is_raised = needed, alive, False
            raise
        is_limited = bool(granted.alive) and None not in granted.alive
        if raises and is_outermost and not is_limited and granted.refusals == refusals:
            self._is_raised = False  # it ended well: its caller has its own right back
            granted.alive.clear()
            granted.needs = needed

    async def _run_inner(
        self, inner: Callable[[], None], fields: dict[str, Any], act: Act, on: str, where: str
    ) -> None:
        if on == "main":
            await self._on_main(inner, where)
        elif on == "pool":
            inner()
        else:

            async def inner_on_loop() -> None:
                await self._acts(act.inside, "loop")

            await marked(inner_on_loop, fields)()

    def _raise_risk(self) -> None:
        """It is a call that loses something from now on; what was agreed to was less."""
        if not self._has_threads and not self._is_raised:
            self._granted.withdraw()
        self._is_raised = True

    async def _thread(self, act: Act, where: str) -> None:
        how, when = act.what

        def work() -> None:
            if when == "late":
                self._over.wait(LIMIT)
            with suppress(Exception):
                at_once(self._acts(act.inside, "pool"))
            self._wake.set()

        target = carry(work) if how == "carry" else work
        thread = threading.Timer(0, target) if when == "timer" else threading.Thread(target=target)
        thread.daemon = True
        self._threads.append(thread)
        thread.start()

    async def _task(self, act: Act, where: str) -> None:
        if where != "loop":
            return

        async def work() -> None:
            await asyncio.sleep(0)
            with suppress(Exception):
                await self._acts(act.inside, "loop")

        self._tasks.append(asyncio.create_task(work()))


def marked(fn: Callable[[], Any], fields: dict[str, Any]) -> Callable[[], Any]:
    mark: Callable[[Callable[[], Any]], Callable[[], Any]] = skill(**fields)
    return mark(fn)


def at_once(coroutine: Coroutine[Any, Any, None]) -> None:
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits")
