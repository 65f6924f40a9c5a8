"""A host that is used for a long time: ``python -m tests.threats.soak FOLDER SECONDS [SEED]``.

This process is the host: its main loop comes round every 5 ms, and its person answers dialogs.
Sixteen clients are a process of their own (`tests.threats.crowd`). What was asked, heard and done
is written to files in the folder; the figures are printed as JSON. Needs /proc.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

from anyio import to_thread

from dcc_bridge import confirm_sync, elicit_form, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Expired, Question, Reply, Settle, TakeDown
from dcc_bridge.host import UndoMark
from dcc_bridge.skills.call_history import LIVE
from tests.bench.figures import memory
from tests.live import Live
from tests.stand_ins import FakeHost, Person
from tests.threats.loop import StrictLoop

CLIENTS: Final = 16
DEADLINE: Final = 3.0
"""Seconds that a question is open at most."""
IDLE: Final = 15.0
"""Seconds after which a legacy session is closed that nobody uses; else it is half an hour."""
_MOST_UNDO: Final = 100
_PAUSE: Final = 0.1
"""Seconds that a client rests after a call at most."""
_ACTS: Final[tuple[Any, ...]] = ("accept", "decline", "cancel", None)
_WORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


class Ledger:
    """What was heard and done, in a file. Any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("ab", buffering=0)  # each line in one write

    def note(self, what: str, word: str, more: str = "") -> None:
        """Add a line."""
        self._file.write(f"{what} {word} {more}\n".encode())

    def ran(self, word: str) -> str:
        """Note that a skill ran; gives what it says."""
        self.note("ran", word)
        return f"{word}!"

    def heard(self, word: str, answer: Any) -> str:
        """Note the answer that a skill was given; gives what it says of it."""
        filled = str(answer.data.get("word"))
        self.note("heard", word, f"{answer.action} {filled}")
        return filled if answer.accepted else f"{word}: {answer.message}"

    def close(self) -> None:
        self._file.close()


class Forgetful(Person):
    """Agrees at once, and keeps nothing, where what is held grows with the number of calls."""

    def show(self, question: Question, settle: Settle) -> TakeDown:
        settle(Reply("accept", {"confirm": True}))
        return lambda why: None

    def chip(self, *args: Any) -> TakeDown:
        return lambda why: None

    def notice(self, *args: Any) -> TakeDown:
        return lambda why: None


class Wavering(Forgetful):
    """Takes a while, agrees or not, and sometimes does not answer at all."""

    def __init__(self, loop: StrictLoop, ledger: Ledger, random: Random) -> None:
        super().__init__()
        self._loop, self._ledger, self._random = loop, ledger, random

    def show(self, question: Question, settle: Settle) -> TakeDown:
        word = question.message.split()[-1]
        action = self._random.choices(_ACTS, (84, 8, 6, 2))[0]
        filled: dict[str, Any] = {"confirm": True} if question.consent else {"word": f"{word}!"}

        def answer() -> None:
            if action:
                self._ledger.note("person", word, action)
                settle(Reply(action, filled if action == "accept" else None))
            else:  # as a dialog ends whose time is over
                self._loop.later(DEADLINE, lambda: settle(Expired()))

        self._loop.later(self._random.uniform(0.0, 0.1), answer)
        return lambda why: None


class Scene(FakeHost):
    """A scene of the last words, whose undo stack ends somewhere, as a real one's does."""

    dropped = 0

    def edit(self, word: str) -> None:
        self.items[:] = [*self.items[-20:], word]
        extra = max(0, len(self._undo) - _MOST_UNDO)
        del self._undo[:extra]
        self.dropped += extra

    def undo_mark(self) -> UndoMark:
        mark = super().undo_mark()
        return mark._replace(depth=mark.depth + self.dropped)

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """A word that is no more among the last is no loss."""
        return []


def skills(host: Scene, ledger: Ledger) -> list[Callable[..., Any]]:
    """Make what the clients call: half of it asks."""

    @skill(risk="read")
    def look(word: str) -> str:
        """Read."""
        return ledger.ran(word)

    @skill(risk="read", thread="any")
    def look_any(word: str) -> str:
        """Read on a pool thread."""
        return ledger.ran(word)

    @skill(risk="edit")
    def edit(word: str) -> str:
        """Edit."""
        host.edit(word)
        return ledger.ran(word)

    @skill(risk="destructive", confirms=True)
    def delete(word: str) -> str:
        """Ask for consent at the host."""
        ledger.ran(word)
        confirm_sync(f"Delete {word}", items=[word])
        ledger.note("agreed", word)
        host.edit(word)
        return f"{word}!"

    return [look, look_any, edit, delete, *_asking(ledger)]


def _asking(ledger: Ledger) -> list[Callable[..., Any]]:
    def ask_for(word: str) -> str:
        ledger.ran(word)
        return ledger.heard(word, elicit_form_sync(f"Say {word}", _WORD, key="word"))

    @skill(risk="read")
    def ask(word: str) -> str:
        """Ask on the main thread."""
        return ask_for(word)

    @skill(risk="read", thread="any")
    def ask_any(word: str) -> str:
        """Ask on a pool thread."""
        return ask_for(word)

    @skill(risk="read")
    async def ask_loop(word: str) -> str:
        """Ask on the loop."""
        ledger.ran(word)
        return ledger.heard(word, await elicit_form(f"Say {word}", _WORD, key="word"))

    return [ask, ask_any, ask_loop]


class Turns:
    """The longest time in seconds between two turns of the main loop."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()

    def look(self) -> float:
        """Note a turn; gives the seconds until the next one."""
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now
        return 0.005


def held() -> dict[str, float]:
    """Give what the process holds once garbage is collected: MB, threads, open files."""
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    return {"rss": memory() / 1e6, "threads": threading.active_count(), "fds": files}


class Soak:
    """A run, from the start to the figures."""

    def __init__(self, folder: Path, seconds: float, seed: int) -> None:
        self._folder, self._seconds, self._seed = folder, seconds, seed
        self._loop = StrictLoop()
        self._server: Any = None

    def run(self) -> dict[str, Any]:
        """Give what was seen."""
        host = Scene(has_ui=True)
        with closing(Ledger(self._folder / "host")) as ledger:
            person = Wavering(self._loop, ledger, Random(self._seed))
            self._live = running = Live(
                self._folder,
                *skills(host, ledger),
                host=host,
                presenter=person,
                pump=self._loop,
                extend=self._know,
                deadline=DEADLINE,
                session_grace=0.5,
                dialogs_per_minute=10**6,
                queued_calls=64,
            )
            self._server.session_manager.session_idle_timeout = IDLE
            self._crowd(3.0)  # everything that is imported and made at first use
            self._until_quiet()
            before = held()
            self._crowd(min(60.0, max(5.0, self._seconds / 10)))
            warm = held()
            turns = Turns()
            self._loop.tick = turns.look
            counts = self._crowd(self._seconds)
            self._until_quiet()
            after = held()
            running.stop()
        moments = {"before": before, "warm": warm, "after": after}
        return {**counts, **moments, "longest_turn": turns.longest}

    def _know(self, server: Any) -> None:
        self._server = server

    def _crowd(self, seconds: float) -> dict[str, Any]:
        """Let the clients work for a while; gives what they counted."""
        crowd = self._start("crowd", str(self._folder / "clients"))
        instance = self._live.bridge.instance
        tokens = [instance.token(f"client{number}") for number in range(CLIENTS)]
        self._seed += 1
        orders = {
            "url": instance.url,
            "tokens": tokens,
            "seconds": seconds,
            "seed": self._seed,
            "pause": _PAUSE,
        }
        working = self._live.go(to_thread.run_sync, crowd.communicate, json.dumps(orders).encode())
        end = time.monotonic() + seconds + 90
        while not working.done():
            self._serve(working.done, 1.0)
            assert time.monotonic() < end, "the clients do not come to an end"
        counts: dict[str, Any] = json.loads(working.result()[0])
        return counts

    def _serve(self, condition: Callable[[], bool], seconds: float) -> None:
        """Serve until a condition holds, or so many seconds have passed."""
        end = time.monotonic() + seconds
        self._loop.run(lambda: condition() or time.monotonic() > end)

    def _until_quiet(self) -> None:
        """Wait until nothing is open any more; what was left behind is closed after a while."""
        bridge = self._live.bridge
        manager = self._server.session_manager

        def quiet() -> bool:
            going = any(record.state in LIVE for record in bridge.recent.records())
            return not (going or bridge.broker.open or manager._server_instances)

        self._serve(quiet, 2 * IDLE + 10)
        assert quiet(), "something did not come to an end"
        self._serve(lambda: False, 1.0)  # sockets that were let go are closed by then

    @staticmethod
    def _start(what: str, *args: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"tests.threats.{what}", *args]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def main() -> None:
    """Run, and print the figures."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(Soak(chosen.folder, chosen.seconds, chosen.seed).run()))


if __name__ == "__main__":
    main()
