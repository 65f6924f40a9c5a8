"""What keeping a skill to what was agreed costs a read, an edit and a destructive call.

``python -m tests.bench.stretches [--prims N] [--beside TREE]``. The runner alone on a USD scene of
2,000 prims, or more: no network, no client, a person who answers at once, and who before the last
of the three edits by hand. With another checkout, which has an environment of its own, the two take
turns, so that the machine's other work is in both.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pxr import Sdf

from dcc_bridge import confirm_sync, skill
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.hosts.standalone import UsdSession
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import describe
from dcc_bridge.testing import ScriptedPresenter

CALLS, ROUNDS = 100, 5
NAMES = ("read after an edit by hand", "read", "edit", "destroy")
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


def _no_loop(coroutine: Any) -> Any:
    raise AssertionError("these skills are sync")


def _measure_in(tree: Path, prims: int) -> dict[str, float]:
    """Measure in a process of another checkout's own, with this very file."""
    command = [str(tree / ".venv/bin/python"), str(Path(__file__)), "--json", "--prims", str(prims)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    medians: dict[str, float] = json.loads(done.stdout)
    return medians


def main() -> None:
    """Print milliseconds, and the ratio to the other tree."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--prims", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.json:
        print(json.dumps(measure(arguments.prims)))
        return
    trees = [Path.cwd(), *([arguments.beside] if arguments.beside else [])]
    rounds: dict[tuple[Path, str], list[float]] = defaultdict(list)
    for _ in range(ROUNDS):
        for tree in trees:
            for name, median in _measure_in(tree, arguments.prims).items():
                rounds[tree, name].append(median)
    for name in NAMES:
        here, *other = (statistics.median(rounds[tree, name]) for tree in trees)
        beside = f"  {other[0]:7.3f} ms beside, ratio {here / other[0]:.2f}" if other else ""
        print(f"{name:26} {here:7.3f} ms{beside}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
