"""A process that stops in the middle of a trial, to be killed there.

``python -m tests.hosts.dying_trials FOLDER BODY STAGE``; it prints the stage once it is there, and
waits for ever. Its files are in ``scene`` in that folder, its record too.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Final

from dcc_bridge.elicitation.question import Question, Settle
from tests.hosts.bodies.acts import Act, Acts
from tests.hosts.bodies.port import MarkedPort
from tests.hosts.bodies.tried_plans import QUESTIONS, Plan
from tests.hosts.bodies.tried_play import TriedPlay
from tests.hosts.bodies.usd import UsdPort

AT: Final = "/World/a"
BODIES: Final = {
    "loses": (Act("delete", (AT, AT)),),
    "writes": (Act("delete", (AT, AT)), Act("line", ("once",))),
}
STAGES: Final = ("before", "body", "question", "again", "end")
"""Before the body, in its first run, while the question is open, in its second run, at its end."""


class Dying(TriedPlay):
    """A program that stops at a stage."""

    def __init__(self, plan: Plan, port: MarkedPort, folder: Path, stage: str) -> None:
        """Take a program, and where it stops."""
        super().__init__(plan, port, folder)
        self._stage = stage

    def _acts(self, acts: Acts) -> None:
        if self._runs == 1:
            self._stop("before")
        self._act(acts[0])
        if self._runs == 1:
            self._stop("body")
        else:
            self._stop("again")
        for act in acts[1:]:
            self._act(act)
        if self._runs > 1:
            self._stop("end")

    def _line(self, act: Act) -> None:
        self._append(act.what[0])

    def _answer(self, question: Question, settle: Settle) -> None:
        self._stop("question")
        super()._answer(question, settle)

    def _stop(self, stage: str) -> None:
        if stage == self._stage:
            print(stage, flush=True)
            threading.Event().wait()


def main() -> None:
    """Run one program up to a stage."""
    folder, body, stage = sys.argv[1:]
    scene = Path(folder) / "scene"
    scene.mkdir()
    port = UsdPort(scene)
    plan = Plan(("yes",) * QUESTIONS, False, True, BODIES[body])
    Dying(plan, port, scene, stage).run()


if __name__ == "__main__":
    main()
