"""Whatever asks, wherever it stands: it ends, and the main thread is never stuck (row 22).

22  `test_every_site_ends_wherever_it_stands`

A *site* is a place in somebody's code from which something is asked, and what becomes of the
question. Sites are drawn at random, a dozen at a time beside one another, on a real bridge; from
time to time the bridge is stopped in the middle of them, and the next one is started. A site that
does not end fails the test. The seed is printed; ``DCC_BRIDGE_SEED`` sets it.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
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
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Question, Reply, Route, Settle, TakeDown, Unable
from dcc_bridge.errors import BridgeClosed, BridgeError, Busy, WrongThread
from dcc_bridge.skills.skill import describe
from tests.live import Live, until
from tests.stand_ins import FakeHost, Person
from tests.threats.loop import StrictLoop

SITES: Final = [
    100,
    pytest.param(10_000, marks=[pytest.mark.long, pytest.mark.timeout(580)]),
]
LIMIT: Final = 60.0
"""Seconds after which a site that has not ended never will."""
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
Ways = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]
"""How a form, a page and a consent are asked."""


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


class Anywhere(Person):
    """Answers at a surface as each site says, on one thread or another."""

    def __init__(self, sites: dict[int, Site], random: Random) -> None:
        super().__init__()
        self._sites, self._random = sites, random
        self.running: Live

    def show(self, question: Question, settle: Settle) -> TakeDown:
        site = self._sites[int(question.message.split()[-1])]
        if site.answer == "raises":
            raise RuntimeError("the window is gone")
        reply = self._reply(site.answer, question)
        if reply is not None:
            self._somewhere(lambda: settle(reply), late=site.answer == "late")
        return lambda why: None

    @staticmethod
    def _reply(answer: str, question: Question) -> Reply | Unable | None:
        filled = {"confirm": True} if question.consent and not question.page else {"word": "x"}
        replies: dict[str, Reply | Unable] = {
            "accept": Reply("accept", filled),
            "late": Reply("accept", filled),
            "decline": Reply("decline"),
            "cancel": Reply("cancel"),
            "unable": Unable(),
        }
        return replies.get(answer)

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


def questions(site: Site, ways: Ways) -> dict[str, Callable[[], Any]]:
    """Make what a site may ask, by its name, in plain code or to be awaited."""
    text, timeout = f"Site {site.number}", site.timeout
    form, url, sure = ways
    return {
        "form": lambda: form(text, _WORD, timeout=timeout),
        "url": lambda: url(text, "https://example.com/", timeout=timeout),
        "confirm": lambda: sure(text, items=lambda: ["a"], timeout=timeout),
        "apply": lambda: sure(text, items=["a"], timeout=timeout),
        "track": lambda: list(track(range(3))),
        "report": lambda: report_progress(1, 2),
    }


def ask_sync(site: Site, host: Scene) -> Any:
    """Ask as a site does, in plain code."""
    answer = questions(site, (elicit_form_sync, elicit_url_sync, confirm_sync))[site.ask]()
    return answer.apply_sync(lambda items: host.edit()) if site.ask == "apply" else answer


async def ask(site: Site, host: Scene) -> Any:
    """Do the same in a coroutine."""
    answer = questions(site, (elicit_form, elicit_url, confirm))[site.ask]()
    if site.ask in ("track", "report"):
        return answer
    grant = await answer
    return await grant.apply(lambda items: host.edit()) if site.ask == "apply" else grant


class SiteTrial:
    """A bridge, and the sites that are tried on it."""

    def __init__(self, folder: Path, random: Random, sites: dict[int, Site]) -> None:
        self._loop, self.host = StrictLoop(), Scene()
        self._person = Anywhere(sites, random)
        self.running = self._person.running = Live(
            folder,
            host=self.host,
            presenter=self._person,
            pump=self._loop,
            dialogs_per_minute=10**6,
            deadline=0.25,
            consent="either",
        )
        self._settings = self.running.bridge._runner.environment.settings

    def begin(self, site: Site) -> None:
        """Let a site ask, where it stands."""
        getattr(self, "_at_" + site.place.replace(" ", "_"))(site)

    def wait_for(self, sites: list[Site]) -> None:
        """Serve the main thread until some sites have ended."""
        self.running.until(lambda: all(site.ended.done() for site in sites), LIMIT)

    # ---- the places

    def _run(self, site: Site, fn: Callable[..., Any], thread: Any = "main") -> Future[Any]:
        """Call a skill that is the site."""
        risk: Any = site.risk if thread == "main" else "edit"
        call = Call("site", "A site", risk, Client(f"c{site.number % 16}"))
        if site.number % 2:
            call.route = Route(self._person, self._person, bool(site.number % 3))
        marked = skill(name="site", risk=risk, confirms=True, thread=thread)(fn)
        runner, usual = self.running.bridge._runner, self._settings
        # What is to be refused has to begin, also where the machine is busy.
        longer = replace(usual, deadline=LIMIT) if site.place in REFUSED else usual
        runner.environment.settings = longer
        outcome = runner.start(describe(marked), {}, call).outcome
        outcome.add_done_callback(lambda _: _note_unbegun(site, outcome))
        return outcome

    def _ask(self, site: Site) -> Any:
        """Ask here, and let whatever comes be the end of the site."""
        return site.end(lambda: ask_sync(site, self.host))

    def _try(self, site: Site) -> None:
        """Do so where nobody takes an error."""
        with suppress(BaseException):
            self._ask(site)

    async def _await(self, site: Site, fn: Callable[[], Awaitable[Any]]) -> None:
        try:
            site.ended.set_result(await fn())
        except BaseException as error:
            site.ended.set_exception(error)
            raise

    def _at_main(self, site: Site, thread: str = "main") -> None:
        def site_() -> None:
            self._ask(site)

        self._run(site, site_, thread)

    def _at_pool(self, site: Site) -> None:
        self._at_main(site, "any")

    def _at_nested(self, site: Site) -> None:
        @skill(risk="destructive", confirms=True)
        def inner() -> Any:
            """Ask, inside of another skill."""
            return ask_sync(site, self.host)

        self._run(site, lambda: site.end(inner))

    def _at_repaint(self, site: Site) -> None:
        def site_() -> None:
            self._loop.paint = lambda: self._ask(site)
            try:
                self._loop.main.repaint()
            finally:
                self._loop.paint = lambda: None

        self._run(site, site_)

    def _at_loop(self, site: Site) -> None:
        async def site_() -> None:
            await self._await(site, lambda: ask(site, self.host))

        self._run(site, site_)

    def _at_loop_sync(self, site: Site) -> None:
        async def site_() -> None:
            self._ask(site)

        self._run(site, site_)

    def _at_on_main(self, site: Site) -> None:
        async def site_() -> None:
            await self._await(site, lambda: on_main(ask_sync, site, self.host))

        self._run(site, site_)

    def _at_on_main_outside(self, site: Site) -> None:
        async def outside() -> None:
            with suppress(BridgeError):
                await self._await(site, lambda: on_main(ask_sync, site, self.host))

        spawned = self.running.bridge._worker.spawn(outside())
        spawned.add_done_callback(lambda _: _note_unreached(site, spawned))

    def _at_button(self, site: Site) -> None:
        self._try(site)

    def _at_button_inside(self, site: Site) -> None:
        posted = self._loop.main.post(lambda: self._try(site))
        posted.add_done_callback(lambda _: _note_unreached(site, posted))

    def _thread(self, site: Site, *, is_carried: bool, is_joined: bool) -> Callable[[], None]:
        """Make a skill that asks on a thread of its own."""

        def site_() -> None:
            work = partial(self._try, site)
            thread = threading.Thread(target=carry(work) if is_carried else work)
            thread.start()
            if is_joined:
                thread.join()

        return site_

    def _at_carried(self, site: Site) -> None:
        self._run(site, self._thread(site, is_carried=True, is_joined=False))

    def _at_bare(self, site: Site) -> None:
        self._run(site, self._thread(site, is_carried=False, is_joined=True), "any")

    def _at_joined(self, site: Site) -> None:
        self._run(site, self._thread(site, is_carried=True, is_joined=True))

    def _at_after(self, site: Site) -> None:
        over = threading.Event()

        def late() -> None:
            over.wait(LIMIT)
            self._try(site)

        def site_() -> None:
            threading.Thread(target=carry(late)).start()

        self._run(site, site_, "any").add_done_callback(lambda _: over.set())


def _note_unbegun(site: Site, outcome: Future[Any]) -> None:
    """End a site whose call never began: it is told so, and never asks."""
    if outcome.result().status == "not_started" and not site.ended.done():
        site.ended.set_exception(BridgeError(outcome.result().error))


def _note_unreached(site: Site, done: Future[Any]) -> None:
    """End a site that the stop came before; it never asks."""
    if not site.ended.done():
        cut = done.cancelled() or isinstance(done.exception(), BridgeClosed)
        site.ended.set_exception(BridgeClosed() if cut else RuntimeError("it did not ask"))


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
    every = [thing for thing in gc.get_objects() if type(thing) is greenlet]
    return sum(1 for running in every if running and running.parent is not None)


@pytest.mark.parametrize("count", SITES)
def test_every_site_ends_wherever_it_stands(count: int, tmp_path: Path) -> None:
    seed = int(os.environ.get("DCC_BRIDGE_SEED", "22"))
    random, sites = Random(seed), dict[int, Site]()
    threads, greenlets = threading.active_count(), suspended()

    print(f"seed {seed}")
    for first in range(0, count, A_BRIDGE):
        numbers = range(first, min(first + A_BRIDGE, count))
        play(tmp_path / str(first), random, sites, numbers)

    ends = Counter(type(site.ended.exception() or site.ended.result()) for site in sites.values())
    print(f"{len(sites)} sites: { ({kind.__name__: number for kind, number in ends.items()}) }")
    assert [why for site in sites.values() if (why := wrong(site))] == []
    assert len(sites) == count
    until(lambda: threading.active_count() <= threads, "a thread was left behind")
    until(lambda: suspended() <= greenlets, "a greenlet was left behind")


def test_a_question_that_nobody_can_wait_for_is_taken_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A button is pressed while the host's own code waits for another answer already."""
    monkeypatch.setattr(f"{__name__}.SHORT", LIMIT)
    first = Site(0, "button", "form", "never", "edit")
    second = Site(1, "button inside", "form", "never", "edit")
    trial = SiteTrial(tmp_path, Random(0), {0: first, 1: second})
    broker, opened = trial.running.bridge.broker, list[int]()

    def look_and_close() -> None:
        opened.append(len(broker.open))
        for question in broker.open:
            broker.dismiss(question)

    trial.begin(second)
    trial.running.bridge.main.post(look_and_close)
    trial.begin(first)
    trial.running.stop()

    assert isinstance(second.ended.exception(), Busy)
    assert opened == [1]


def play(folder: Path, random: Random, sites: dict[int, Site], numbers: range) -> None:
    """Try sites on one bridge, and stop it in the middle of the last of them."""
    trial = SiteTrial(folder, random, sites)
    for start in range(numbers.start, numbers.stop, A_TIME):
        batch = numbers[start - numbers.start :][:A_TIME]
        drawn = [draw(random, number) for number in batch]
        sites |= {site.number: site for site in drawn}
        for site in drawn:
            trial.begin(site)
        if batch.stop < numbers.stop:
            trial.wait_for(drawn)
    trial.running.stop()
    until(lambda: all(site.ended.done() for site in drawn), f"{drawn} was left behind")
    assert trial.host.elsewhere == 0
