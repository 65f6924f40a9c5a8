"""A host that is used for a long time: ``python -m tests.threats.soak FOLDER SECONDS [SEED]``.

This process is the host: its main loop has a beat every 16 ms, as a window's has, and its person
answers dialogs. Sixteen clients are a process of their own (`tests.threats.crowd`), and so is a
bare loop with the same beat and nothing else to do. What was asked, heard and done is written to
files in the folder; the figures are printed as JSON. Needs /proc.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import Any, Final

from dcc_bridge import confirm_sync, elicit_form, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.call_history import LIVE
from dcc_bridge.testing import FakeHost
from tests.bench.figures import percentile
from tests.live import Live

CLIENTS: Final = 16
BEAT: Final = 0.016
DEADLINE: Final = 3.0
"""Seconds that a question is open at most."""
IDLE: Final = 15.0
"""Seconds after which a legacy session is closed that nobody uses; else it is half an hour."""
_MOST_UNDO: Final = 100
_ACTS: Final[tuple[Any, ...]] = ("accept", "decline", "cancel", None)
_WORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


class Beats:
    """By how much a 16 ms beat was late, each time."""

    def __init__(self, seconds: float) -> None:
        self._late = array("d", bytes(8 * int(2 * seconds / BEAT + 1000)))  # so it does not grow
        self._count = 0
        self.next = time.perf_counter() + BEAT

    def look(self) -> float:
        """Note a beat if it is time; gives the seconds until the next one."""
        now = time.perf_counter()
        if now >= self.next:
            self._late[self._count] = 1000 * (now - self.next)
            self._count += 1
            self.next = now + BEAT
        return max(0.0, self.next - now)

    def told(self) -> dict[str, float]:
        """Give the figures, in milliseconds."""
        late = self._late[: self._count]
        p50, p99 = percentile(late, 50), percentile(late, 99)
        return {"beats": self._count, "p50": p50, "p99": p99, "max": max(late, default=0.0)}


class Loop:
    """A host's main loop: it serves when it is woken, beats, and does what is due."""

    def __init__(self, seconds: float) -> None:
        self._woken = threading.Event()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._lock = threading.Lock()
        self._number = 0
        self.beats = Beats(seconds)
        self.main = MainThread(self._wake, self._spin)

    def wake(self, delay: float) -> None:
        """Do nothing: the beat looks often enough."""

    def later(self, seconds: float, fn: Callable[[], None]) -> None:
        """Call on the main thread after some seconds. Any thread."""
        with self._lock:
            self._number += 1
            heappush(self._due, (time.perf_counter() + seconds, self._number, fn))

    def run(self, until: Callable[[], bool]) -> None:
        """Beat and serve until a condition holds."""
        while not until():
            if self._woken.wait(self.beats.look()):
                self._woken.clear()
                self.main.drain()
            self._do_what_is_due()

    def run_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Do so for so many seconds at most."""
        end = time.monotonic() + seconds
        self.run(lambda: condition() or time.monotonic() > end)

    def _do_what_is_due(self) -> None:
        while self._due and self._due[0][0] <= time.perf_counter():
            with self._lock:
                fn = heappop(self._due)[2]
            fn()

    def _wake(self, delay: float) -> None:
        self.later(delay, self.main.drain) if delay else self._woken.set()

    def _spin(self, future: Future[Any]) -> None:
        self.run(future.done)


class Ledger:
    """What was heard and done, in a file. Any thread."""

    def __init__(self, file: Path) -> None:
        self._opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, what: str, word: str, more: str = "") -> None:
        """Add a line, in one write."""
        os.write(self._opened, f"{what} {word} {more}\n".encode())

    def close(self) -> None:
        os.close(self._opened)


class Person:
    """Sits at the host: takes a while, agrees or not, and sometimes does not answer at all."""

    def __init__(self, loop: Loop, ledger: Ledger, random: Random) -> None:
        self._loop, self._ledger, self._random = loop, ledger, random

    def show(self, question: Question, settle: Settle) -> TakeDown:
        word = question.message.split()[-1]
        action = self._random.choices(_ACTS, (84, 8, 6, 2))[0]

        filled: dict[str, Any] = {"confirm": True} if question.consent else {"word": f"{word}!"}

        def answer() -> None:
            if action:
                self._ledger.note("person", word, action)
                settle(Reply(action, filled if action == "accept" else None))

        self._loop.later(self._random.uniform(0.0, 0.1), answer)
        return lambda why: None

    def chip(self, *args: Any) -> TakeDown:
        return lambda why: None

    def notice(self, *args: Any) -> None:
        """Let it be."""


class Scene(FakeHost):
    """A scene whose undo stack ends somewhere, as a real one's does."""

    def edit(self, word: str) -> None:
        self.items[:] = [*self.items[-20:], word]
        del self._undo[:-_MOST_UNDO]


def skills(host: Scene, ledger: Ledger) -> list[Callable[..., Any]]:
    """Make what the clients call: half of it asks."""
    return [*_plain(host, ledger), *_asking(ledger), _consenting(host, ledger)]


def _plain(host: Scene, ledger: Ledger) -> list[Callable[..., Any]]:
    @skill(risk="read")
    def look(word: str) -> str:
        """Read."""
        ledger.note("ran", word)
        return f"{word}!"

    @skill(risk="read", thread="any")
    def look_any(word: str) -> str:
        """Read on a pool thread."""
        ledger.note("ran", word)
        return f"{word}!"

    @skill(risk="edit")
    def edit(word: str) -> str:
        """Edit."""
        ledger.note("ran", word)
        host.edit(word)
        return f"{word}!"

    return [look, look_any, edit]


def _asking(ledger: Ledger) -> list[Callable[..., Any]]:
    def heard(word: str, answer: Any) -> str:
        said = str(answer.data.get("word"))
        ledger.note("heard", word, f"{answer.action} {said}")
        return said if answer.accepted else f"{word}: {answer.message}"

    @skill(risk="read")
    def ask(word: str) -> str:
        """Ask on the main thread."""
        ledger.note("ran", word)
        return heard(word, elicit_form_sync(f"Say {word}", _WORD, key="word"))

    @skill(risk="read", thread="any")
    def ask_any(word: str) -> str:
        """Ask on a pool thread."""
        ledger.note("ran", word)
        return heard(word, elicit_form_sync(f"Say {word}", _WORD, key="word"))

    @skill(risk="read")
    async def ask_loop(word: str) -> str:
        """Ask on the loop."""
        ledger.note("ran", word)
        return heard(word, await elicit_form(f"Say {word}", _WORD, key="word"))

    return [ask, ask_any, ask_loop]


def _consenting(host: Scene, ledger: Ledger) -> Callable[..., Any]:
    @skill(risk="destructive", confirms=True)
    def delete(word: str) -> str:
        """Ask for consent at the host."""
        ledger.note("ran", word)
        confirm_sync(f"Delete {word}", items=[word])
        ledger.note("agreed", word)
        host.edit(word)
        return f"{word}!"

    return delete


class Watch:
    """What the process holds, from time to time."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float]] = []

    def look(self) -> dict[str, float]:
        """Collect what is garbage and look."""
        gc.collect()
        return {"rss": rss(), "threads": threading.active_count(), "fds": fds()}

    def sample(self) -> None:
        """Note the memory, without a pause."""
        self.samples.append((time.monotonic(), rss()))

    def slope(self, since: float) -> float:
        """Give the growth in MB an hour, as a straight line through what was seen since then."""
        seen = [one for one in self.samples if one[0] >= since]
        if len(seen) < 3:
            return 0.0
        mean_t = sum(t for t, _ in seen) / len(seen)
        mean = sum(v for _, v in seen) / len(seen)
        over = sum((t - mean_t) ** 2 for t, _ in seen)
        return 3600 * sum((t - mean_t) * (v - mean) for t, v in seen) / over


def rss() -> float:
    """Give the resident memory, in MB."""
    if sys.platform != "linux":
        raise NotImplementedError
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fds() -> int:
    """Count what is open."""
    return len(os.listdir("/proc/self/fd"))


class Soak:
    """A run, from the start to the figures."""

    def __init__(self, folder: Path, seconds: float, seed: int) -> None:
        self._folder, self._seconds, self._seed = folder, seconds, seed
        self._loop = Loop(3 * seconds + 120)
        self._watch = Watch()
        self._server: Any = None

    def run(self) -> dict[str, Any]:
        """Give what was seen."""
        host = Scene(has_ui=True)
        with closing(Ledger(self._folder / "host")) as ledger:
            person = Person(self._loop, ledger, Random(self._seed))
            self._live = running = Live(
                self._folder,
                *skills(host, ledger),
                host=host,
                presenter=person,
                pump=self._loop,
                extend=self._know,
                host_deadline=DEADLINE,
                client_deadline=DEADLINE,
                session_grace=0.5,
                dialogs_per_minute=10**6,
                most_queued=64,
            )
            self._server.session_manager.session_idle_timeout = IDLE
            self._crowd(3.0)  # everything that is imported and made at first use
            self._until_quiet()
            before = self._watch.look()
            self._crowd(max(5.0, self._seconds / 10))
            warm = self._watch.look()
            since = time.monotonic()
            self._loop.beats = Beats(self._seconds)
            bare = self._start("bare")
            counts = self._crowd(self._seconds)
            beats, alone = self._loop.beats.told(), json.loads(bare.communicate(b"\n")[0])
            busy = self._watch.look()
            self._until_quiet()
            after = self._watch.look()
            running.stop()
        moments = {"before": before, "warm": warm, "busy": busy, "after": after}
        slope = self._watch.slope(since + self._seconds / 4)
        return {**counts, **moments, "slope": slope, "beats": beats, "bare": alone}

    def _know(self, server: Any) -> None:
        self._server = server

    def _crowd(self, seconds: float) -> dict[str, Any]:
        """Let the clients work for a while; gives what they counted."""
        crowd = self._start("crowd", str(self._folder / "clients"))
        instance = self._live.bridge.instance
        tokens = [instance.token(f"client{number}") for number in range(CLIENTS)]
        self._seed += 1
        told = {"url": instance.url, "tokens": tokens, "seconds": seconds, "seed": self._seed}
        said: Future[bytes] = Future()

        def talk() -> None:
            said.set_result(crowd.communicate(json.dumps(told).encode())[0])

        thread = threading.Thread(target=talk)
        thread.start()
        end = time.monotonic() + seconds + 90
        while not said.done():
            self._loop.run_until(said.done, 1.0)
            self._watch.sample()
            assert time.monotonic() < end, "the clients do not come to an end"
        thread.join()
        found: dict[str, Any] = json.loads(said.result())
        return found

    def _until_quiet(self) -> None:
        """Wait until nothing is open any more; what was left behind is closed after a while."""
        bridge = self._live.bridge
        manager = self._server.session_manager

        def quiet() -> bool:
            going = any(one.state in LIVE for one in bridge.recent.records())
            return not (going or bridge.broker.open or manager._server_instances)

        self._loop.run_until(quiet, 2 * IDLE + 10)
        assert quiet(), "something did not come to an end"
        self._loop.run_until(lambda: False, 1.0)  # sockets that were let go are closed by then

    @staticmethod
    def _start(what: str, *args: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"tests.threats.{what}", *args]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def main() -> None:
    """Run, and print the figures."""
    folder, seconds, *seed = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    figures = Soak(Path(folder), float(seconds), int(seed[0]) if seed else 0).run()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
