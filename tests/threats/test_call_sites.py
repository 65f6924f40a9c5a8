"""Whatever asks, wherever it stands: it ends, and the main thread is never stuck (row 22).

22  `test_every_site_ends_wherever_it_stands`

A *site* is a place in somebody's code from which something is asked, and what becomes of the
question. Sites are drawn at random, a dozen at a time beside one another, on a real bridge; from
time to time the bridge is stopped in the middle of them, and the next one is started. A watchdog
counts the sites that do not end. The seed is printed; ``DCC_BRIDGE_SEED`` sets it.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from greenlet import greenlet

from dcc_bridge import (
    carry,
    confirm,
    confirm_sync,
    elicit_form,
    elicit_form_sync,
    elicit_url,
    elicit_url_sync,
    on_main,
    report_progress,
    skill,
    track,
)
from dcc_bridge.elicitation.call import Call, Client, Route
from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown, Unable
from dcc_bridge.errors import BridgeClosed, BridgeError, Busy, WrongThread
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.testing import FakeHost
from tests.live import Live

SITES: Final = [
    300,
    pytest.param(10_000, marks=[pytest.mark.long, pytest.mark.timeout(580)]),
]
LIMIT: Final = 10.0
"""Seconds after which a site that has not ended never will; the watchdog counts it."""
A_TIME: Final = 24
A_BRIDGE: Final = 500
SHORT: Final = 0.04
"""Seconds for a question that nobody answers."""
_WORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}
ASKS: Final = ("form", "confirm", "apply", "url", "report", "track")
ANSWERS: Final = ("accept", "decline", "cancel", "late", "never", "unable", "raises")
PLACES: Final = (
    *("main", "main", "pool", "loop", "loop sync", "on_main", "on_main outside", "button"),
    *("button inside", "nested", "repaint", "carried", "bare", "joined", "after"),
)
REFUSED: Final = ("loop sync", "on_main outside")
"""Where nothing can be asked; saying how far it is does no harm anywhere."""


@dataclass
class Site:
    """A place from which something is asked.

    Attributes:
        number: Which one; it stands in the question.
        place: Whose code it is.
        ask: What it asks.
        answer: What becomes of the question.
        risk: What its skill says that it does.
        ended: With what: the answer, or the error.
    """

    number: int
    place: str
    ask: str
    answer: str
    risk: Any
    ended: Future[Any] = field(default_factory=Future)
    began: float = field(default_factory=time.monotonic)

    @property
    def timeout(self) -> float | None:
        return SHORT if self.answer == "never" else None

    def end(self, fn: Callable[[], Any]) -> None:
        """Ask, and keep what comes."""
        try:
            self.ended.set_result(fn())
        except BaseException as error:
            self.ended.set_exception(error)
            raise


class Scene(FakeHost):
    """A scene that is edited on its own thread only."""

    def __init__(self) -> None:
        super().__init__(["a"], has_ui=True)
        self._own = threading.get_ident()
        self.elsewhere = 0

    def edit(self) -> None:
        self.elsewhere += threading.get_ident() != self._own
        self.items = ["a"] if len(self.items) > 1 else ["a", "b"]
        del self._undo[:-20]


class Painted:
    """A main loop that can paint in the middle of a job."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._due: float | None = None
        self.painting: Callable[[], None] = lambda: None
        self.main = MainThread(self.wake, self.spin, repaint=lambda: self.painting())

    def wake(self, delay: float) -> None:
        """Serve soon."""
        if not delay:
            self._event.set()

    def spin(self, future: Future[Any]) -> None:
        """Serve until it is done, from within the host's own code."""
        future.add_done_callback(lambda _: self._event.set())
        self.run(future.done)

    def run(self, until: Callable[[], bool]) -> None:
        """Serve until a condition holds."""
        while not until():
            if self._event.wait(0.005):
                self._event.clear()
                self.main.drain()


class Person:
    """Answers at a surface as each site says, on one thread or another."""

    def __init__(self, sites: dict[int, Site], random: Random) -> None:
        self._sites, self._random = sites, random
        self.running: Live

    def show(self, question: Question, settle: Settle) -> TakeDown:
        site = self._sites[int(question.message.split()[-1])]
        if site.answer == "raises":
            raise RuntimeError("the window is gone")
        said = self._said(site.answer, question)
        if said is not None:
            self._somewhere(lambda: settle(said), late=site.answer == "late")
        return lambda why: None

    def chip(self, *args: Any) -> TakeDown:
        return lambda why: None

    def notice(self, *args: Any) -> None:
        """Let it be."""

    @staticmethod
    def _said(answer: str, question: Question) -> Reply | Unable | None:
        filled = {"confirm": True} if question.consent and not question.page else {"word": "x"}
        match answer:
            case "accept" | "late":
                return Reply("accept", filled)
            case "decline":
                return Reply("decline")
            case "cancel":
                return Reply("cancel")
            case "unable":
                return Unable()
        return None

    def _somewhere(self, fn: Callable[[], None], *, late: bool) -> None:
        bridge = self.running.bridge
        if late:
            bridge._worker.later(0.01, fn)
            return
        ways: list[Callable[[Callable[[], None]], Any]] = [
            lambda fn: fn(),
            bridge._worker.soon,
            bridge.main.post,
            lambda fn: threading.Thread(target=fn).start(),
        ]
        self._random.choice(ways)(fn)


def ask_sync(site: Site, host: Scene) -> Any:
    """Ask as a site does, in plain code."""
    say, timeout = f"Site {site.number}", site.timeout
    match site.ask:
        case "form":
            return elicit_form_sync(say, _WORD, timeout=timeout)
        case "url":
            return elicit_url_sync(say, "https://example.com/", timeout=timeout)
        case "confirm":
            return confirm_sync(say, items=lambda: ["a"], timeout=timeout)
        case "apply":
            grant = confirm_sync(say, items=["a"], timeout=timeout)
            return grant.apply_sync(lambda items: host.edit())
        case "track":
            return list(track(range(3)))
    return report_progress(1, 2)


async def ask(site: Site, host: Scene) -> Any:
    """Do the same in a coroutine."""
    say, timeout = f"Site {site.number}", site.timeout
    match site.ask:
        case "form":
            return await elicit_form(say, _WORD, timeout=timeout)
        case "url":
            return await elicit_url(say, "https://example.com/", timeout=timeout)
        case "confirm":
            return await confirm(say, items=lambda: ["a"], timeout=timeout)
        case "apply":
            grant = await confirm(say, items=["a"], timeout=timeout)
            return await grant.apply(lambda items: host.edit())
        case "track":
            return list(track(range(3)))
    return report_progress(1, 2)


class Stage:
    """A bridge, and the sites that are tried on it."""

    def __init__(self, folder: Path, random: Random, sites: dict[int, Site]) -> None:
        self._random, self._sites = random, sites
        self._pump = Painted()
        self._host = Scene()
        self._person = Person(sites, random)
        self.running = self._person.running = Live(
            folder,
            host=self._host,
            presenter=self._person,
            pump=self._pump,
            dialogs_per_minute=10**6,
            host_deadline=0.25,
            client_deadline=0.25,
            call_deadline=0.25,
            consent="either",
        )

    @property
    def elsewhere(self) -> int:
        """How many edits were made on another thread than the scene's own."""
        return self._host.elsewhere

    def begin(self, site: Site) -> None:
        """Let a site ask, where it stands."""
        place = getattr(self, "_" + site.place.replace(" ", "_"))
        place(site)

    def wait_for(self, some: list[Site], dog: Watchdog) -> None:
        """Serve the main thread until some sites have ended."""
        self.running.until(lambda: all(one.ended.done() for one in some) or bool(dog.stuck), 60)
        assert dog.stuck == []

    def stop(self) -> None:
        """Stop, whatever is open."""
        self.running.stop()

    # ---- the places

    def _run(self, site: Site, fn: Callable[..., Any], thread: Any = "main") -> None:
        risk: Any = site.risk if thread == "main" else "edit"
        made = skill(name="site", risk=risk, confirms=True, thread=thread)(fn)
        self._start(site, describe(made))

    def _start(self, site: Site, one: Skill) -> None:
        call = Call("site", "A site", one.metadata.risk, Client(f"c{site.number % 16}"))
        if site.number % 2:
            call.route = Route(self._person, self._person, bool(site.number % 3))
        run = self.running.bridge._runner.start(one, {}, call)
        run.outcome.add_done_callback(lambda _: _note_unbegun(site, run.outcome))

    def _main(self, site: Site) -> None:
        def site_() -> None:
            site.end(lambda: ask_sync(site, self._host))

        self._run(site, site_)

    def _pool(self, site: Site) -> None:
        def site_() -> None:
            site.end(lambda: ask_sync(site, self._host))

        self._run(site, site_, "any")

    def _nested(self, site: Site) -> None:
        @skill(risk="destructive", confirms=True)
        def inner() -> Any:
            """Ask, inside of another skill."""
            return ask_sync(site, self._host)

        self._run(site, lambda: site.end(inner))

    def _repaint(self, site: Site) -> None:
        def site_() -> None:
            self._pump.painting = lambda: site.end(lambda: ask_sync(site, self._host))
            try:
                self._pump.main.repaint()
            finally:
                self._pump.painting = lambda: None

        self._run(site, site_)

    def _loop(self, site: Site) -> None:
        async def site_() -> None:
            await _end(site, lambda: ask(site, self._host))

        self._run(site, site_)

    def _loop_sync(self, site: Site) -> None:
        async def site_() -> None:
            site.end(lambda: ask_sync(site, self._host))

        self._run(site, site_)

    def _on_main(self, site: Site) -> None:
        async def site_() -> None:
            await _end(site, lambda: on_main(ask_sync, site, self._host))

        self._run(site, site_)

    def _on_main_outside(self, site: Site) -> None:
        spawned = self.running.bridge._worker.spawn(
            _quietly(lambda: _end(site, lambda: on_main(ask_sync, site, self._host)))
        )
        spawned.add_done_callback(lambda _: _note_unreached(site, spawned))

    def _button(self, site: Site) -> None:
        _tried(lambda: site.end(lambda: ask_sync(site, self._host)))

    def _button_inside(self, site: Site) -> None:
        posted = self._pump.main.post(lambda: self._button(site))
        posted.add_done_callback(lambda _: _note_unreached(site, posted))

    def _carried(self, site: Site) -> None:
        def site_() -> None:
            work = carry(lambda: _tried(lambda: site.end(lambda: ask_sync(site, self._host))))
            threading.Thread(target=work).start()

        self._run(site, site_)

    def _bare(self, site: Site) -> None:
        def site_() -> None:
            def work() -> None:
                _tried(lambda: site.end(lambda: ask_sync(site, self._host)))

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        self._run(site, site_, "any")

    def _joined(self, site: Site) -> None:
        def site_() -> None:
            work = carry(lambda: _tried(lambda: site.end(lambda: ask_sync(site, self._host))))
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        self._run(site, site_)

    def _after(self, site: Site) -> None:
        over = threading.Event()

        def late() -> None:
            over.wait(LIMIT)
            _tried(lambda: site.end(lambda: ask_sync(site, self._host)))

        def site_() -> None:
            threading.Thread(target=carry(late)).start()

        made = skill(name="site", risk="edit", thread="any")(site_)
        call = Call("site", "A site", "edit", Client("late"))
        run = self.running.bridge._runner.start(describe(made), {}, call)
        run.outcome.add_done_callback(lambda _: over.set())
        run.outcome.add_done_callback(lambda _: _note_unbegun(site, run.outcome))


async def _end(site: Site, fn: Callable[[], Any]) -> None:
    try:
        site.ended.set_result(await fn())
    except BaseException as error:
        site.ended.set_exception(error)
        raise


async def _quietly(fn: Callable[[], Any]) -> None:
    with suppress(BridgeError):
        await fn()


def _tried(fn: Callable[[], Any]) -> None:
    """Swallow what the site keeps."""
    with suppress(BaseException):
        fn()


def _note_unbegun(site: Site, outcome: Future[Any]) -> None:
    """End a site whose call never began: it is told so, and never asks."""
    if outcome.result().status == "not_started" and not site.ended.done():
        site.ended.set_exception(BridgeError(outcome.result().error))


def _note_unreached(site: Site, done: Future[Any]) -> None:
    """End a site that the stop came before; it never asks."""
    if not site.ended.done():
        cut = done.cancelled() or isinstance(done.exception(), BridgeClosed)
        site.ended.set_exception(BridgeClosed() if cut else RuntimeError("it did not ask"))


class Watchdog:
    """Counts the sites that do not end."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.stuck: list[Site] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.25):
            old = time.monotonic() - LIMIT
            for site in list(self.sites):
                late = not site.ended.done() and site.began < old
                if late and site not in self.stuck:
                    self.stuck.append(site)
                    if len(self.stuck) == 1:
                        faulthandler.dump_traceback()

    def end(self) -> None:
        self._over.set()
        self._thread.join()


@contextmanager
def watched() -> Iterator[Watchdog]:
    """Have a watchdog for as long as the block lasts."""
    dog = Watchdog()
    try:
        yield dog
    finally:
        dog.end()


def draw(random: Random, number: int) -> Site:
    """Draw a site."""
    risk = random.choice(("read", "edit", "edit", "destructive"))
    return Site(number, random.choice(PLACES), random.choice(ASKS), random.choice(ANSWERS), risk)


def wrong(site: Site) -> str | None:
    """Say what is wrong with how a site ended; None if nothing is."""
    error = site.ended.exception()
    if error is not None and not isinstance(error, BridgeError):
        return f"{site}: {error!r}"
    asks = site.ask not in ("report", "track") or site.place == "on_main outside"
    if site.place in REFUSED and asks and not isinstance(error, (WrongThread, BridgeClosed)):
        return f"{site}: it was not refused, but {error!r}"
    return None


def suspended() -> int:
    """Count the greenlets that have begun and not ended, this one aside."""
    gc.collect()
    every = [one for one in gc.get_objects() if type(one) is greenlet]
    return sum(1 for one in every if one and one.parent is not None)


@pytest.mark.parametrize("count", SITES)
def test_every_site_ends_wherever_it_stands(count: int, tmp_path: Path) -> None:
    seed = int(os.environ.get("DCC_BRIDGE_SEED", "22"))
    random, sites = Random(seed), dict[int, Site]()
    threads, greenlets = threading.active_count(), suspended()

    print(f"seed {seed}")
    with watched() as dog:
        for first in range(0, count, A_BRIDGE):
            numbers = range(first, min(first + A_BRIDGE, count))
            assert play(tmp_path / str(first), random, sites, numbers, dog) == 0

    ends = Counter(type(site.ended.exception() or site.ended.result()) for site in sites.values())
    print(f"{len(sites)} sites: { ({kind.__name__: number for kind, number in ends.items()}) }")
    assert dog.stuck == []
    assert [found for site in sites.values() if (found := wrong(site))] == []
    assert len(sites) == count
    _until(lambda: threading.active_count() <= threads)
    _until(lambda: suspended() <= greenlets)


def test_a_question_that_nobody_can_wait_for_is_taken_down(tmp_path: Path) -> None:
    """A button is pressed while the host's own code waits for another answer already."""
    first = Site(0, "button", "form", "never", "edit")
    second = Site(1, "button inside", "form", "never", "edit")
    stage = Stage(tmp_path, Random(0), {0: first, 1: second})
    broker, opened = stage.running.bridge.broker, list[int]()

    stage.begin(second)
    stage.running.bridge.main.post(lambda: opened.append(len(broker.open)))
    stage.begin(first)
    stage.stop()

    assert isinstance(second.ended.exception(), Busy)
    assert opened == [1]


def play(
    folder: Path, random: Random, sites: dict[int, Site], numbers: range, dog: Watchdog
) -> int:
    """Try sites on one bridge, and stop it in the middle of the last of them.

    Returns:
        How many edits were not made on the main thread.
    """
    stage = Stage(folder, random, sites)
    for start in range(numbers.start, numbers.stop, A_TIME):
        of = range(start, min(start + A_TIME, numbers.stop))
        dog.sites = some = [draw(random, number) for number in of]
        sites |= {one.number: one for one in some}
        for one in some:
            stage.begin(one)
        if of.stop < numbers.stop:
            stage.wait_for(some, dog)
    stage.stop()
    _until(lambda: all(one.ended.done() for one in some), some)
    return stage.elsewhere


def _until(condition: Callable[[], bool], left: object = "something") -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"{left} was left behind"
        time.sleep(0.01)
