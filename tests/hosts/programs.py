"""Random programs of edits and questions, run by the real runner, with a fault at any step.

The test's own thread is the host's main thread, the artist and the person who is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Literal

from pxr import Sdf, Tf, Usd

from dcc_bridge import check_cancelled, confirm_sync, elicit_form_sync, skill
from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import (
    Expired,
    PresenterEvent,
    Reply,
    Settle,
)
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import describe
from dcc_bridge.threads.main_thread import MainThread
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import remove, rename
from tests.stand_ins import Person

Fault = Literal["none", "exception", "cancel", "killed", "refused", "artist"]
YES: Final = Reply("accept", {"confirm": True})
REFUSALS: Final[tuple[PresenterEvent, ...]] = (Reply("decline"), Reply("cancel"), Expired())
ERRORS: Final = (ValueError, KeyError, RecursionError, SystemExit, Tf.ErrorException)
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"sure": {"type": "boolean"}},
    "required": ["sure"],
}
START: Final = """#usda 1.0
( defaultPrim = "World" )
def Xform "World"
{
    def Camera "a"
    {
        float focalLength = 35
        custom rel sees = [</World/b>, </World/c>]
    }
    def Camera "b"
    {
        float focalLength.timeSamples = { 1: 24, 10: 48 }
    }
    def Xform "c"
    {
        def Sphere "below" {}
    }
    def Xform "d" {}
}
"""
_SETTINGS: Final = Settings(dialogs_per_minute=10**6)
_CONTENT: Final = Sdf.Layer.CreateAnonymous(".usda")
_CONTENT.ImportFromString(START)


class Edits:
    """The six kinds of operations, each anywhere in a scene; what cannot be is not done."""

    def __init__(self, session: UsdSession, random: Random) -> None:
        self._session = session
        self._random = random
        self._made = 0

    def create(self) -> None:
        self._made += 1
        kind = self._random.choice(("Camera", "Xform", ""))
        self._session.stage.DefinePrim(self._prim().AppendChild(f"new{self._made}"), kind)

    def delete(self) -> None:
        remove(self._session.stage, [self._prim()])

    def rename(self) -> None:
        self._made += 1
        stage = self._session.stage
        rename(stage, stage.GetPrimAtPath(self._prim()), f"name{self._made}")

    def reparent(self) -> None:
        stage = self._session.stage
        editor = Usd.NamespaceEditor(stage)
        one, other = stage.GetPrimAtPath(self._prim()), stage.GetPrimAtPath(self._prim())
        editor.ReparentPrim(one, other)
        if editor.CanApplyEdits():
            editor.ApplyEdits()

    def animate(self) -> None:
        prim = self._session.stage.GetPrimAtPath(self._prim())
        attribute = prim.CreateAttribute("size", Sdf.ValueTypeNames.Double)
        for _ in range(self._random.randint(1, 3)):
            attribute.Set(self._random.random(), float(self._random.randint(1, 9)))

    def relate(self) -> None:
        prim = self._session.stage.GetPrimAtPath(self._prim())
        targets = [self._prim() for _ in range(self._random.randint(0, 3))]
        prim.CreateRelationship("sees").SetTargets(targets)

    @property
    def kinds(self) -> list[Callable[[], None]]:
        return [self.create, self.delete, self.rename, self.reparent, self.animate, self.relate]

    def _prim(self) -> Sdf.Path:
        """Take any prim that there is, or make one."""
        prims = [p.GetPath() for p in self._session.stage.TraverseAll()]
        return self._random.choice(prims) if prims else self._again()

    def _again(self) -> Sdf.Path:
        return self._session.stage.DefinePrim("/Again", "Xform").GetPath()


@dataclass(frozen=True)
class Seen:
    """What was there at one moment."""

    digest: str  # of the whole scene
    labels: tuple[str, ...]  # the undo stack


class Program:
    """One program: six kinds of edits and two questions in a random order, a consent the first."""

    def __init__(self, seed: int, session: UsdSession | None = None) -> None:
        """Make it of a seed; the same seed is the same program on the same scene."""
        random = self._random = Random(seed)
        self.session = session or UsdSession()  # its scene
        self.session.stage.GetRootLayer().TransferContent(_CONTENT)
        self.index = 0  # at which one it is
        self.is_over = False  # its body has ended
        self._edits = Edits(self.session, random)
        with self.session.undo_step("The artist began"):
            self._edit()
        body: list[Callable[[], object]] = [*self._edits.kinds]
        body += random.choices(self._edits.kinds, k=random.randint(0, 2))
        random.shuffle(body)
        second = random.choice((self._confirm, self._form))
        body.insert(random.randint(0, len(body)), second)
        self._body = [self._confirm, *body]
        self.steps = len(self._body) + 1  # a fault may come after the last one, too
        self.questions = [0, self._body.index(second)]  # which of them ask
        # The scene after the artist's edit in the middle of it, if there was one.
        self.artist: Seen | None = None

    def run(
        self, fault: Fault = "none", at: int = 0, auditor: Auditor = nowhere
    ) -> tuple[Outcome, Seen, Seen]:
        """Run it with a fault at a step; gives what came of it, and the scene before and after."""
        self._fault, self._at = fault, at
        before = self.seen()
        with self._running(auditor) as (runner, broker):
            self._broker = broker
            self.call = Call("program", "Program", "destructive", Client("test"))
            self._run = runner.start(describe(self._skill()), {}, self.call)
            while not self._run.outcome.done() or not self._main.is_unwound or self._person.settles:
                self._main.drain()
                if self._person.settles:
                    self._meet_question(self._person.settles.pop())
            for _ in range(3):
                self._main.drain()
        return self._run.outcome.result(), before, self.seen()

    def seen(self) -> Seen:
        return Seen(self.session.scene_digest(), tuple(self.session.undo_labels))

    def body(self) -> str:
        """Edit, and ask in between. It is what the skill does."""
        try:
            for self.index, step in enumerate(self._body):  # noqa: B020 - it is to be seen
                self.meet(self.index)
                with suppress(ValueError, Tf.ErrorException):
                    if step() is False:
                        return "The person said no."
            self.index = len(self._body)
            self.meet(self.index)
            return "done"
        finally:
            self.is_over = True

    def yes(self) -> Reply:
        """Give the answer that lets the question go on at which it is."""
        is_consent = self._body[self.index] == self._confirm
        return YES if is_consent else Reply("accept", {"sure": True})

    def meet(self, index: int) -> None:
        """Called at each step: let go wrong what is to go wrong there."""
        if index != self._at:
            return
        if self._fault == "exception":
            raise self._random.choice(ERRORS)("on purpose")
        if self._fault in ("cancel", "killed") and index not in self.questions:
            self._leave()

    # ---- inside

    def _skill(self) -> Any:
        @skill(risk="destructive", confirms=True, undo="Program")
        def program() -> str:
            """Edit, and ask in between."""
            return self.body()

        return program

    def _confirm(self) -> None:
        prims = [str(prim.GetPath()) for prim in self.session.stage.TraverseAll()]
        items = ["/", *self._random.sample(prims, k=min(2, len(prims)))]
        confirm_sync("Go on?", items=self._random.choice((items, None)), verb="Go on")

    def _form(self) -> bool:
        return elicit_form_sync("Sure?", FORM).accepted

    def _meet_question(self, settle: Settle) -> None:
        is_here = self.index == self._at
        if is_here and self._fault in ("cancel", "killed"):
            self._leave()
        elif is_here and self._fault == "refused":
            settle(self._random.choice(REFUSALS))
        else:
            if is_here and self._fault == "artist":
                self._work_as_artist()
            settle(self.yes())

    def _leave(self) -> None:
        """End the call, as its client or its client's end does; the skill may look at that."""
        self._broker.end(self.call)
        if self._fault == "killed":
            self._run.cancel()
        if self._random.random() < 0.3 and self._main.job is not None:
            check_cancelled()

    def _work_as_artist(self) -> None:
        """Edit, in a step or outside of any, once; then the program fails at its end."""
        if self._random.random() < 0.5:
            with self.session.undo_step("The artist went on"):
                self._edit()
        else:
            self._edit()
        self._fault, self._at = "exception", self.steps - 1
        self.artist = self.seen()

    def _edit(self) -> None:
        layer = self.session.stage.GetRootLayer()
        layer.comment = f"artist {self._random.random()}"
        with suppress(ValueError, Tf.ErrorException):
            self._random.choice(self._edits.kinds)()

    @contextmanager
    def _running(self, auditor: Auditor) -> Iterator[tuple[Runner, Broker]]:
        self._main = MainThread(lambda delay: None)
        self._person = Person()
        broker = Broker(_SETTINGS, host=self._person, clock=_no_clock, auditor=auditor)
        remove = context.install(broker, self._main, self.session)
        try:
            runner = Runner(
                self.session, self._main, _SETTINGS, _no_loop, _no_clock, auditor=auditor
            )
            yield runner, broker
        finally:
            broker.close()
            self._main.close()
            remove()


def _no_clock(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
    return lambda: None


def _no_loop(coroutine: Any) -> Future[Any]:
    raise AssertionError("the programs are sync")
