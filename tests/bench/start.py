"""What a start holds up, what an idle bridge wakes, and what it adds to a host's memory.

``python -m tests.bench.start [--quick]``. Processor time and not the clock, so that it says the
same on a busy machine; needs Linux. Commands are beside an empty interpreter. A Qt window with a
plug-in is beside one with the SDK's bare server and one with neither: the longest stretch for which
its main thread did one thing, or another thread of ours held the interpreter's lock; the first
calls; an idle minute; memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time, thread_time
from typing import Any, Final

from tests.bench.agent import ERAS, Agent, Server
from tests.bench.figures import options, show, timed
from tests.bench.hosted import bytecode

COMMANDS: Final = {
    "an empty interpreter": ("-c", "pass"),
    "import dcc_bridge": ("-c", "import dcc_bridge"),
    "from dcc_bridge import skill": ("-c", "from dcc_bridge import skill"),
    "import dcc_bridge.plugin": ("-c", "import dcc_bridge.plugin"),
    "import dcc_bridge.bridge": ("-c", "import dcc_bridge.bridge"),
    "dcc-bridge --help": ("-m", "dcc_bridge", "--help"),
    "dcc-bridge --version": ("-m", "dcc_bridge", "--version"),
    "dcc-bridge list": ("-m", "dcc_bridge", "list"),
    "dcc-bridge audit show": ("-m", "dcc_bridge", "audit", "show"),
}
_BARE: Final = next(iter(COMMANDS))
_KINDS: Final = ("bridge", "bare", "none")  # of windows
_SETTLED: Final = 9.0  # seconds after which the collector of `freeze` has been here
_CALLS: Final = 40


def commands(rounds: int) -> list[tuple[object, ...]]:
    """Run each command in turn; the first round does not count."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name, words in COMMANDS.items():
            before = _children()
            subprocess.run([sys.executable, *words], capture_output=True, check=False, timeout=60)
            if number:
                taken[name].append(_children() - before)
    bare = taken[_BARE]
    return [
        (name, median(ms), min(ms), f"{median(ms) / median(bare):.2f} x", median(ms) - median(bare))
        for name, ms in taken.items()
    ]


def _children() -> float:
    if sys.platform != "linux":
        raise NotImplementedError
    import resource  # not there on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


# ---- the host, in a process of its own


def host(kind: str, seconds: float) -> dict[str, float]:
    """Be a window, with a plug-in, the SDK's server or neither, and measure this process."""
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    app = QApplication(sys.argv[:1])
    window = QMainWindow()
    window.show()
    stretches = Stretches()
    timer = QTimer()
    timer.timeout.connect(stretches.look)

    def until(condition: Callable[[], bool], every: int = 1) -> None:
        looking = QTimer()
        loop = QEventLoop()
        looking.timeout.connect(lambda: loop.quit() if condition() else None)
        looking.start(every)
        loop.exec()

    timer.start(1)
    measured: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        if kind == "bridge":
            begin = thread_time()
            from dcc_bridge.config import Settings
            from dcc_bridge.plugin import PlugIn

            measured["import of the plug-in"] = (thread_time() - begin) * 1000
            from tests.stand_ins import FakeHost

            class WindowHost(FakeHost):
                """It has turns, as the hosts have."""

                def when_ready(self, start: Callable[[], None]) -> Callable[[], None]:
                    QTimer.singleShot(1, start)  # 0 would have them all in one turn
                    return lambda: None

            settings = Settings(runtime=Path(folder), audit=Path(folder, "audit"))
            plug_in = PlugIn(WindowHost(has_ui=True), [], settings=settings)
            stretches.reset()
            stretches.look()
            plug_in.install()
            until(lambda: plug_in.bridge is not None and bool(plug_in.bridge.address))
            stretches.look()
            measured |= stretches.longest
            bridge = plug_in.bridge
            assert bridge is not None
            server = Server(bridge.url, bridge.instance.token("bench"))
            calling = threading.Thread(target=lambda: measured.update(_first_calls(server)))
            calling.start()
            until(lambda: not calling.is_alive())
        elif kind == "bare":
            stretches.look()
            until(bare_server().done)
            stretches.look()
            measured |= stretches.longest
        timer.stop()
        QTimer.singleShot(int(_SETTLED * 1000), app.quit)
        app.exec()
        measured |= memory()
        before, used = _wakes(), process_time()
        QTimer.singleShot(int(seconds * 1000), app.quit)
        app.exec()
        measured["idle, % of a core"] = (process_time() - used) / seconds * 100
        measured["idle, wakes a second"] = (_wakes() - before) / seconds
        if kind == "bridge":
            plug_in.uninstall()
    return measured


def bare_server() -> Future[Server]:
    """Have the SDK's own server serve; it is imported on a thread, as a bridge imports it."""
    started: Future[Server] = Future()

    def serve() -> None:
        from tests.bench.bare import BareServer

        started.set_result(BareServer().started.result())

    threading.Thread(target=serve, daemon=True).start()
    return started


class Stretches:
    """The longest processor time between two looks: of the main thread, and of any other."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.longest = {"main thread at a stretch": 0.0, "another thread, between two beats": 0.0}
        self._used: dict[int, float] = {}

    def look(self) -> None:
        """Note what each thread has used since the last look."""
        main = threading.main_thread().ident
        for thread in threading.enumerate():
            if thread.ident is None:
                continue
            try:
                used = _used(thread.ident) * 1000
            except OSError:  # it has just ended
                continue
            since = used - self._used.get(thread.ident, 0.0 if thread.ident != main else used)
            self._used[thread.ident] = used
            name = list(self.longest)[thread.ident != main]
            self.longest[name] = max(self.longest[name], since)


def _used(thread: int) -> float:
    """Give the seconds of processor time that a thread has used."""
    if sys.platform != "linux":
        raise NotImplementedError
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


def _first_calls(server: Server) -> dict[str, float]:
    measured = {}
    for era in ERAS:
        agent = Agent(server, era)
        for name, request in (("call", agent.calling("recent_calls")), ("list", agent.listing())):
            first, *others = timed(partial(agent.exchange, request), _CALLS)
            measured[f"first {name} beside the others, {era}"] = first / median(others)
        agent.close()
    return measured


def _wakes() -> int:
    """Count how often any thread of this process has gone to sleep."""
    texts = [file.read_text() for file in Path("/proc/self/task").glob("*/status")]
    return sum(int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for text in texts)


def memory() -> dict[str, float]:
    """Give what this process has in memory, and what of it no other one shares, in MB."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    sizes = {
        name: int(rest.split()[0]) / 1024 for name, _, rest in (it.partition(":") for it in lines)
    }
    return {
        "resident, MB": sizes["Rss"],
        "its own, MB": sizes["Private_Clean"] + sizes["Private_Dirty"],
    }


def hosts(rounds: int, seconds: float) -> list[tuple[object, ...]]:
    """Measure each kind of window in turn; the first round does not count."""
    measured: dict[str, dict[str, list[float]]] = {kind: {} for kind in _KINDS}
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for number in range(rounds + 1):
        for kind, values in measured.items():
            idle = f"--idle={seconds * bool(number) or 0.1}"
            words = [sys.executable, "-m", "tests.bench.start", kind, idle]
            done = subprocess.run(words, env=environment, capture_output=True, check=True)
            reply: dict[str, Any] = json.loads(done.stdout)
            for name, value in reply.items() if number else ():
                values.setdefault(name, []).append(value)
    ours, bare, alone = (
        {name: median(taken) for name, taken in measured[kind].items()} for kind in _KINDS
    )
    return [
        (name, value, bare.get(name, ""), alone.get(name, ""),
         value - alone[name] if name in alone else "")
        for name, value in ours.items()
    ]  # fmt: skip


def main() -> None:
    """Measure and print, or be one of the hosts."""
    kinds = ("kind", {"nargs": "?", "choices": _KINDS})
    quick = {"rounds": 1, "idle": 10.0}
    chosen = options(__doc__, kinds, quick=quick, rounds=5, idle=60.0)
    if chosen.kind is not None:
        print(json.dumps(host(chosen.kind, chosen.idle)))
        return
    with bytecode():
        columns = ("processor's ms", "median", "best", "beside an empty one", "over it")
        show(f"{chosen.rounds} new interpreters each, in turn", columns, commands(chosen.rounds))
        titles = ("a Qt window", "with the bridge", "with the bare SDK", "without", "more")
        show(f"{chosen.rounds} windows each, in turn", titles, hosts(chosen.rounds, chosen.idle))


if __name__ == "__main__":
    main()
