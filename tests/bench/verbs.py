"""How long each verb holds the main thread of a large scene, and how much it answers.

``python -m tests.bench.verbs [--host usd|bpy|freecad] [--items N] [--why] [VERB...]``. Each verb
runs in the runner, as a client's call does: with its undo step, its questions (a person who agrees
at once) and what keeps it to them; no network and no window. A stretch is what lies between two
turns that the host gets, in milliseconds of the processor, so that the machine's other work is not
in it. Beside it stands what the host's own API takes for the same job: without undo in USD, which
has none, with Blender's own entry, in a transaction of FreeCAD's. After each call the scene is put
back. ``--why`` names where the longest stretch was spent; its figures are larger.

USD runs in one thread here (``PXR_WORK_THREAD_LIMIT``), bpy in the first interpreter that
`tests.blender.bpy_module` makes, or in this one where it has ``bpy``, FreeCAD in ``freecadcmd``.
"""

from __future__ import annotations

import cProfile
import importlib
import json
import os
import subprocess
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from pstats import Stats
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any, Final, Protocol

from tests.bench.figures import options, show
from tests.bench.verbs_cases import Case, Terms, cases

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

ROOT: Final = Path(__file__).parents[2]
PATHS: Final = (ROOT, ROOT / "plugins" / "blender")  # where bpy's interpreter finds the adapter
AIM: Final = 50.0  # milliseconds that a person does not see
ITEMS: Final = {"usd": 100_000, "bpy": 10_000, "freecad": 2_000}
COLUMNS: Final = ("", "in all (ms)", "longest", "turns", "bytes", "the host's own", "ms", "ratio")


def silence() -> None:
    """Keep what a host prints by itself out of the table."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


Job = tuple[str, Callable[[Any, int], object]]
"""What the host's own API is called with, and what does it to so many items of a scene."""


class Scene(Protocol):
    """A host with a large scene.

    Attributes:
        host: The adapter.
        causes: What holds the main thread longer than the aim, and cannot be cut; by verb, "" for
            all others.
        jobs: What the host's own API does, by the names in `verbs_cases`.
        terms: What the calls are about.
    """

    host: Any
    causes: Mapping[str, str]
    jobs: Mapping[str, Job]
    terms: Terms

    def operations(self) -> HostOperations:
        """Return what the host does for the verbs."""

    def own(self, run: Callable[[Any], object]) -> float:
        """Give the milliseconds of what the host's own API does; the scene is as before then."""


@dataclass
class Turns:
    """Measures the stretches between the turns of the host."""

    is_profiled: bool = False
    stretches: list[float] = field(default_factory=list)
    why: str = ""
    _last: float = 0.0
    _profile: cProfile.Profile | None = None

    def begin(self) -> None:
        """Begin the first stretch."""
        self.stretches.clear()
        self._resume()

    def note(self, *_: object) -> bool:
        """End a stretch, and begin the next one; a person pressed nothing meanwhile."""
        took = 1000 * (process_time() - self._last)
        if self._profile is not None:
            self._profile.disable()
            if took > max(self.stretches, default=AIM / 2):
                self.why = _slowest(self._profile)
        self.stretches.append(took)
        self._resume()
        return False

    def _resume(self) -> None:
        if self.is_profiled:
            self._profile = cProfile.Profile()
            self._profile.enable()
        self._last = process_time()

    def end(self) -> None:
        """Stop."""
        if self._profile is not None:
            self._profile.disable()
            self._profile = None


def _slowest(profile: cProfile.Profile) -> str:
    """Name the functions that took most of the time by themselves."""
    stats: Any = Stats(profile)
    rows = sorted(stats.stats.items(), key=lambda row: -row[1][2])[:4]
    return ", ".join(f"{Path(file).stem}:{line}:{name} {1000 * row[2]:.0f} ({row[0]})"
                     for (file, line, name), row in rows)  # fmt: skip


def _agree(question: Any) -> Any:
    """Say yes, and leave a form as it is filled in."""
    from dcc_bridge.elicitation.question import Reply

    fields = question.form.fields if question.form else ()
    return Reply("accept", {it.name: it.default for it in fields} | {"confirm": True})


class Table:
    """Calls verbs in a scene as the bridge does."""

    def __init__(self, scene: Scene, *, is_profiled: bool) -> None:
        from dcc_bridge import verbs
        from dcc_bridge.audit.log import nowhere
        from dcc_bridge.config import Settings
        from dcc_bridge.elicitation import context
        from dcc_bridge.elicitation.broker import Broker
        from dcc_bridge.skills import builtin
        from dcc_bridge.skills.runner import Runner
        from dcc_bridge.threads.main_thread import MainThread
        from tests.stand_ins import Person

        self._scene, self._turns = scene, Turns(is_profiled)
        host = scene.host
        settings = Settings(dialogs_per_minute=10**6)
        self._main = MainThread(lambda delay: None, repaint=self._turns.note)
        self.close = context.install(Broker(settings, host=Person(then=_agree)), self._main, host)
        never = lambda seconds, fn: lambda: None  # noqa: E731 - a clock that never rings
        self._runner = Runner(host, self._main, settings, _no_loop, never)
        recent = self._runner.recent
        undoing = builtin.Undoing(host, recent, nowhere, lambda: None)
        operations = scene.operations()
        own = builtin.tools(recent, self._main, host, undoing)
        self._tools = {tool.name: tool for tool in (*verbs.tools(operations), *own)}

    def row(self, case: Case) -> list[object]:
        """Measure a call, and what the host's own API takes; the scene is as before then."""
        undo_mark = self._scene.host.undo_mark
        depth = undo_mark().depth
        value = self._call(case)
        size = sum(
            len(it) if isinstance(it, bytes) else len(json.dumps(it))
            for it in (value if isinstance(value, list) else [value])
        )
        stretches, why = list(self._turns.stretches), self._turns.why
        for _ in range(0 if case.stands else undo_mark().depth - depth):
            self._scene.host.undo()
        beside = self._beside(case, sum(stretches))
        causes = self._scene.causes
        named = why or causes.get(case.verb, causes[""])
        first = f"{case.verb}({case.shown})"
        return [first, sum(stretches), max(stretches), len(stretches), f"{size:,}", *beside, named]

    def _beside(self, case: Case, took: float) -> list[object]:
        """Measure what the host's own API takes for the same, where it does that."""
        if case.job not in self._scene.jobs:
            return ["", "", ""]
        title, work = self._scene.jobs[case.job]
        own = self._scene.own(lambda scene: work(scene, case.count))
        ratio = f"{took / own:.1f} x" if own > 0.05 else ""
        return [title, own, ratio]

    def knows(self, verb: str) -> bool:
        """Return whether the host has a verb."""
        return verb in self._tools

    def _call(self, case: Case) -> Any:
        from dcc_bridge.consent.call import Call
        from dcc_bridge.elicitation.caller import Client

        tool, turns = self._tools[case.verb], self._turns
        turns.why = ""
        call = Call(tool.name, tool.title, tool.metadata.risk, Client("bench"))
        turns.begin()
        run = self._runner.start(tool, dict(case.arguments), call)
        while not run.outcome.done():
            self._main.drain()
            turns.note()
        turns.note()
        turns.end()
        outcome = run.outcome.result()
        assert outcome.status == case.status, outcome
        return outcome.value if outcome.error is None else outcome.error


def _no_loop(coroutine: Any) -> Any:
    raise AssertionError("the verbs are sync")


@contextmanager
def opened(name: str, items: int) -> Iterator[tuple[Scene, Path]]:
    """Have a host with a scene of so many items, whose files are in a folder."""
    with TemporaryDirectory() as folder:
        # Copies of what is written over, and what Qt and Blender keep, are kept in there too.
        os.environ.update(dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), folder))
        host = importlib.import_module(f"tests.bench.verbs_{name}")
        yield host.Large(Path(folder), items), Path(folder)


@contextmanager
def ending(name: str) -> Iterator[None]:
    """End the process at once after bpy 4.5, which may hang as its interpreter ends."""
    code = 1
    try:
        yield
        code = 0
    finally:
        if name == "bpy":
            if code:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def measure(name: str, chosen: Namespace) -> None:
    """Measure here; FreeCAD's own interpreter calls it, too."""
    items = chosen.items or ITEMS[name]
    rows: list[list[object]] = []
    with opened(name, items) as (scene, folder), ending(name):
        table = Table(scene, is_profiled=chosen.why)
        for case in cases(scene.terms, folder):
            if table.knows(case.verb) and case.verb in (chosen.verbs or [case.verb]):
                rows.append(table.row(case))
                print(*rows[-1], file=sys.stderr, flush=True)
        table.close()
        host = f"{scene.host.name} {scene.host.version}"
        show(f"The verbs in {host}, on {items:,} items", COLUMNS, [row[:-1] for row in rows])
        print(f"\nLonger than {AIM:g} ms without a turn:\n")
        named = [f"- {row[0]}: {row[-1]}" for row in rows if _is_long(row)]
        print("\n".join(named))


def _is_long(row: Sequence[Any]) -> bool:
    return bool(row[2] > AIM)


def _start_freecad(chosen: Namespace) -> None:
    from tests.freecad import launch as freecad

    if freecad.CONSOLE is None:
        print("freecadcmd is not installed", file=sys.stderr)
        return
    facts = {name: getattr(chosen, name) for name in ("items", "verbs", "why")}
    work = "from argparse import Namespace; from tests.bench.verbs import measure"
    statement = f"{work}; measure('freecad', Namespace(**{facts!r}))"
    with TemporaryDirectory() as folder:
        script = str(freecad.script(statement, Path(folder)))
        subprocess.run([freecad.CONSOLE, script], stdin=subprocess.DEVNULL, check=True)


def interpreter(name: str) -> str | None:
    """Give the interpreter that has a host, or None for this one."""
    if name == "usd" or importlib.util.find_spec("bpy") is not None:
        return None
    from tests.blender import bpy_module

    return str(bpy_module.python(next(iter(bpy_module.VERSIONS))))


def main() -> None:
    """Call each verb, and print a table for each host."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PXR_WORK_THREAD_LIMIT", "1")
    chosen = options(
        __doc__,
        ("verbs", {"nargs": "*"}),
        ("--host", {"choices": [*ITEMS], "action": "append"}),
        ("--why", {"action": "store_true"}),
        items=0,
    )
    for name in chosen.host or ITEMS:
        if name == "freecad":
            _start_freecad(chosen)
        elif (python := interpreter(name)) is None:
            measure(name, chosen)
        else:
            why = ["--why"] * chosen.why
            command = [python, "-m", __spec__.name, "--host", name, "--items", str(chosen.items)]
            found_by = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
            subprocess.run([*command, *why, *chosen.verbs], cwd=ROOT, env=found_by, check=True)


if __name__ == "__main__":
    main()
