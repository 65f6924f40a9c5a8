"""How long each verb holds the main thread of a large scene, and how much it answers.

``python -m tests.bench.verbs [--host usd|bpy|freecad] [--items N] [--why] [VERB...]``. Each verb
runs in the runner, as a client's call does: with its undo step, its questions (a person who agrees
at once) and what keeps it to them; no network and no window. Beside it stand the bytes of the
arguments, and of the answer as it is sent, its pictures aside. A stretch is what lies between two
turns that the host gets, in milliseconds of the processor, so that the machine's other work is not
in it. Beside it stands what the host's own API takes for the same job: without undo in USD, which
has none, with Blender's own entry, in a transaction of FreeCAD's. After each call the scene is put
back. ``--why`` names where the longest stretch was spent; its figures are larger.
"""

from __future__ import annotations

import cProfile
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pstats import Stats
from time import process_time
from typing import TYPE_CHECKING, Any, Final, Protocol

from tests.bench import in_hosts
from tests.bench.figures import options, show
from tests.bench.verbs_cases import Case, Terms, cases

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

AIM: Final = 50.0  # milliseconds that a person does not see
ITEMS: Final = {"usd": 100_000, "bpy": 10_000, "freecad": 2_000}
COLUMNS: Final = (
    *("", "in all (ms)", "longest", "turns", "asked (bytes)", "answer", "the host's own", "ms"),
    "ratio",
)


def silence() -> None:
    """Keep what a host prints by itself out of the table; harmless the second time."""
    if sys.stdout.fileno() != 1:
        return
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
        """Return the milliseconds of what the own API does; the scene is as before then."""


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
        outcome = self._call(case)
        asked = len(json.dumps(dict(case.arguments)))
        size = _sent(outcome)
        stretches, why = list(self._turns.stretches), self._turns.why
        for _ in range(0 if case.stands else undo_mark().depth - depth):
            self._scene.host.undo()
        beside = self._beside(case, sum(stretches))
        causes = self._scene.causes
        named = why or causes.get(case.verb, causes[""])
        first = f"{case.verb}({case.shown})"
        return [
            first,
            sum(stretches),
            max(stretches),
            len(stretches),
            f"{asked:,}",
            f"{size:,}",
            *beside,
            named,
        ]

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
        return outcome


def _sent(outcome: Any) -> int:
    """Return how many bytes of text and data a client gets of an outcome, without pictures."""
    from dcc_bridge.config import Settings
    from dcc_bridge.server import protocol

    result = protocol.result(outcome, Settings().answer_bytes)
    texts = [block for block in result.content if block.type == "text"]
    told = result.model_copy(update={"content": texts})
    return len(told.model_dump_json(by_alias=True, exclude_none=True))


def _no_loop(coroutine: Any) -> Any:
    raise AssertionError("the verbs are sync")


def measure(host: str, *, items: int, why: bool, verbs: Sequence[str]) -> None:
    """Measure here: this is an interpreter of that host."""
    items = items or ITEMS[host]
    rows: list[list[object]] = []
    with in_hosts.opened(host, items) as (scene, folder):
        table = Table(scene, is_profiled=why)
        for case in cases(scene.terms, folder):
            if table.knows(case.verb) and case.verb in (verbs or [case.verb]):
                rows.append(table.row(case))
                print(*rows[-1], file=sys.stderr, flush=True)
        table.close()
        title = f"The verbs in {in_hosts.version_of(scene)}, on {items:,} items"
        show(title, COLUMNS, [row[:-1] for row in rows])
        print(f"\nLonger than {AIM:g} ms without a turn:\n")
        named = [f"- {row[0]}: {row[-1]}" for row in rows if _is_long(row)]
        print("\n".join(named))
    in_hosts.leave(host)


def _is_long(row: Sequence[Any]) -> bool:
    return bool(row[2] > AIM)


def main() -> None:
    """Call each verb, and print a table for each host."""
    chosen = options(
        __doc__,
        ("verbs", {"nargs": "*"}),
        ("--host", {"choices": [*ITEMS], "action": "append"}),
        ("--why", {"action": "store_true"}),
        items=0,
    )
    for host in chosen.host or ITEMS:
        given = {"items": chosen.items, "why": chosen.why, "verbs": chosen.verbs}
        in_hosts.run("tests.bench.verbs", host, **given)


if __name__ == "__main__":
    main()
