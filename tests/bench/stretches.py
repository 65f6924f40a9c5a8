"""What keeping a skill to what was agreed costs a read, an edit and a destructive call.

``python -m tests.bench.stretches [--prims N] [--group N] [--rounds N]``. The runner alone on a USD
scene of 2,000 prims, or more: no network, no client, a person who answers at once, and who before
the last of the three edits by hand. Then the bundled skill deletes as many prims, in groups of
1,000 or of others, and that is undone, beside what USD's own fastest way for each takes. Unpainted
is the longest without a paint or a turn of the host. Figures of the processor, not of the clock.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from pxr import Sdf, Usd

from dcc_bridge import confirm_sync, skill
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown
from dcc_bridge.hosts import standalone
from dcc_bridge.hosts.standalone import UsdSession
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import describe
from tests.bench.figures import options, over, show
from tests.stand_ins import ScriptedPresenter

CALLS = 100
NAMES = ("read after an edit by hand", "read", "edit", "destroy")
DELETION = (
    *("delete: to the question", "delete: after it", "delete: unpainted", "delete: USD's own"),
    *("undo", "undo: USD's own"),
)
SETTINGS = Settings(dialogs_per_minute=10**6)
YES = Reply("accept", {"confirm": True})


def skills(session: UsdSession) -> list[Callable[..., Any]]:
    """Make a skill of each risk."""
    stage = session.stage

    @skill(risk="read")
    def read() -> str:
        """Look at a prim."""
        return str(stage.GetPrimAtPath("/World/p7").GetTypeName())

    @skill(risk="edit")
    def edit() -> None:
        """Give a camera another lens."""
        _set_lens(session)

    @skill(risk="destructive", confirms=True)
    def destroy() -> None:
        """Delete a prim and make it again."""
        (path,) = confirm_sync("Delete it?", items=["/World/p7"])
        stage.RemovePrim(path)
        stage.DefinePrim(path, "Camera")

    return [read, edit, destroy]


def _set_lens(session: UsdSession) -> None:
    camera = session.stage.GetPrimAtPath("/World/p7")
    camera.GetAttribute("focalLength").Set(time.perf_counter())


def measure(prims: int) -> dict[str, float]:
    """Give the median of each skill's run, in milliseconds."""
    session, calls = UsdSession(), max(3, min(CALLS, 200_000 // prims))
    with Sdf.ChangeBlock():
        world = Sdf.CreatePrimInLayer(session.stage.GetRootLayer(), "/World")
        world.specifier = Sdf.SpecifierDef
        for number in range(prims):
            Sdf.PrimSpec(world, f"p{number}", Sdf.SpecifierDef, "Camera")
    main, person = MainThread(lambda delay: None), ScriptedPresenter(*[YES] * calls)
    broker = Broker(SETTINGS, host=person)
    remove = context.install(broker, main, session)
    runner = Runner(session, main, SETTINGS, _no_loop, lambda seconds, fn: lambda: None)
    medians = {}
    for name, fn in zip(NAMES, [skills(session)[0], *skills(session)], strict=True):
        marked, times = describe(fn), []
        for _ in range(calls):
            if name == NAMES[0]:
                _set_lens(session)
            call = Call(marked.name, marked.title, marked.metadata.risk, Client("bench"))
            began = time.perf_counter()
            run = runner.start(marked, {}, call)
            while not run.outcome.done():
                main.drain()
            times.append(1000 * (time.perf_counter() - began))
            assert run.outcome.result().status == "done", run.outcome.result()
        medians[name] = statistics.median(times)
    remove()
    return medians


def _groups(stage: Usd.Stage, prims: int, size: int) -> list[Any]:
    with Sdf.ChangeBlock():
        groups = [
            Sdf.CreatePrimInLayer(stage.GetRootLayer(), f"/World/g{number}")
            for number in range(-(-prims // size))
        ]
        for group in (stage.GetRootLayer().GetPrimAtPath("/World"), *groups):
            group.specifier = Sdf.SpecifierDef
        for number in range(prims):
            Sdf.PrimSpec(groups[number // size], f"p{number}", Sdf.SpecifierDef, "Camera")
    return groups


def measure_deletion(prims: int, size: int) -> dict[str, float]:
    """Give the milliseconds of each part of one deletion, and the longest without a paint."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "plugins/standalone/skills"))
    deleting = describe(importlib.import_module("delete_prims").delete_prims)
    session, other = UsdSession(), Usd.Stage.CreateInMemory()
    uninstall = standalone.install(session)
    _groups(session.stage, prims, size)
    assert session.undo_labels  # what is edited by hand is a step by now
    paints, asked = list[float](), list[float]()

    def paint(serves_stop: bool) -> bool:
        paints.append(time.process_time())
        return False

    class Person(ScriptedPresenter):
        def show(self, question: Question, settle: Settle) -> TakeDown:
            asked.append(time.process_time())
            return super().show(question, settle)

    main = MainThread(lambda delay: None, repaint=paint)
    broker = Broker(SETTINGS, host=Person(YES))
    remove = context.install(broker, main, session)
    runner = Runner(session, main, SETTINGS, _no_loop, lambda seconds, fn: lambda: None)
    call = Call(deleting.name, deleting.title, deleting.metadata.risk, Client("bench"))
    began = time.process_time()
    run = runner.start(deleting, {"pattern": "p*"}, call)
    while not run.outcome.done():
        main.drain()
    ended = time.process_time()
    remove()
    assert run.outcome.result().value["deleted"] == prims, run.outcome.result()
    session.undo()
    undone = time.process_time()
    uninstall()
    groups, before = _groups(other, prims, size), Sdf.Layer.CreateAnonymous()
    before.TransferContent(other.GetRootLayer())
    cleared = time.process_time()
    with Sdf.ChangeBlock():
        for group in groups:
            group.active = False  # else it takes the square of its children
            group.nameChildren.clear()
            group.ClearActive()
    took = time.process_time() - cleared
    transferred = time.process_time()
    other.GetRootLayer().TransferContent(before)
    own_undo = time.process_time() - transferred
    unpainted = max(then - now for now, then in pairwise(sorted([began, *asked, *paints, ended])))
    parts = (asked[0] - began, ended - asked[0], unpainted, took, undone - ended, own_undo)
    return {name: 1000 * part for name, part in zip(DELETION, parts, strict=True)}


def _no_loop(coroutine: Any) -> Any:
    raise AssertionError("these skills are sync")


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, prims=2000, group=1000, rounds=5)
    rounds: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(chosen.rounds):
        figures = measure(chosen.prims) | measure_deletion(chosen.prims, chosen.group)
        for name, milliseconds in figures.items():
            rounds[name].append([milliseconds])
    title = f"{chosen.prims:,} prims, medians of {chosen.rounds} rounds"
    show(title, ("", "ms"), [(name, over(its, 50)) for name, its in rounds.items()])


if __name__ == "__main__":
    main()
