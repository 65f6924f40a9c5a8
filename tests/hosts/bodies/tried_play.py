"""Runs a tried body, and notes what the person was asked."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.caller import Risk
from dcc_bridge.elicitation.question import Question, Settle
from dcc_bridge.skills.skill import describe
from tests.hosts.bodies.acts import Act, Acts
from tests.hosts.bodies.play import FORM, LIMIT, Play, reply
from tests.hosts.bodies.port import OTHERS, MarkedPort, Scene, files_in
from tests.hosts.bodies.tried_plans import Plan
from tests.one_run import SETTINGS


@dataclass(frozen=True)
class Asked:
    """One question, as the person saw it.

    Attributes:
        message: What was asked.
        items: What was listed.
        marks: What goes with that, of what was there when they were asked.
        lasts: It said that undo does not bring it back.
        is_consent: It asked for consent, and not for input.
        answer: What they answered.
    """

    message: str
    items: tuple[str, ...]
    marks: frozenset[str]
    lasts: bool
    is_consent: bool
    answer: str

    @property
    def is_agreed(self) -> bool:
        """Whether they agreed to lose something."""
        return self.is_consent and self.answer.startswith("yes")


@dataclass(frozen=True)
class Seen:
    """A scene, what is in it and the files at one moment."""

    scene: Scene
    things: frozenset[str]
    files: dict[str, bytes]


@dataclass(frozen=True)
class Result:
    """The outcome of a body.

    Attributes:
        status: How it ended, as the agent is told.
        error: The sentence with which it failed, or None.
        before: The scene before it.
        after: The scene after it.
        asked: The questions.
        theirs: How often somebody edited meanwhile.
        counted: The lines that were appended.
        audit: What is wrong with the record, or "".
    """

    status: str
    error: str | None
    before: Seen
    after: Seen
    asked: list[Asked]
    theirs: int
    counted: list[str]
    audit: str


class TriedPlay(Play):
    """One run of one tried body."""

    def __init__(self, plan: Plan, port: MarkedPort, folder: Path) -> None:
        """Take a body, and a host with a scene for it alone, whose files are in a folder."""
        super().__init__(port, folder)
        self._plan = plan
        self._port = port
        self._folder = folder
        self._answers = list(plan.answers)
        self._asked: list[Asked] = []
        self._runs = 0
        self._theirs = 0

    def run(self) -> Result:
        """Run the body to its end."""
        for name in OTHERS:
            (self._folder / name).write_text(f"{name} is somebody's")
        before = self.look()
        with self._running(SETTINGS) as one:
            one.runner.environment.writers = self._port.writers
            run = one.start(describe(self._skill()))
            self._serve(run.outcome.done)
        outcome = run.outcome.result()
        after = self.look()
        return Result(
            outcome.status,
            outcome.error,
            before,
            after,
            self._asked,
            self._theirs,
            self._counted(),
            self._broken(),
        )

    def look(self) -> Seen:
        """Look at the scene and the files."""
        things = frozenset(self._port.things())
        return Seen(self._port.look(), things, files_in(self._folder))

    def _answer(self, question: Question, settle: Settle) -> None:
        answer = self._answers.pop(0) if self._answers else "no"
        items = question.items or ()
        consent = question.consent
        asked = Asked(
            question.message,
            tuple(items),
            frozenset(self._port.covered(items)),
            not question.undoable,
            consent is not None,
            answer,
        )
        self._asked.append(asked)
        if answer == "yes+edit":
            self._port.work()
            self._theirs += 1
        settle(reply(question, answer))

    # ---- the body

    def _skill(self) -> Callable[..., object]:
        @skill(name="program", title="Program")
        def program() -> None:
            """Do what the plan says."""
            self._runs += 1
            self._acts(self._plan.body)

        return program

    def _acts(self, acts: Acts) -> None:
        for act in acts:
            try:
                self._act(act)
            except Exception:
                if not self._plan.careless:
                    raise

    def _act(self, act: Act) -> None:
        if act.kind in self._port.edits or act.kind in self._port.tried_edits:
            self._port.do(act.kind, *act.what)
        elif act.kind == "raise":
            raise ValueError("on purpose")
        else:
            getattr(self, f"_{act.kind}")(act)

    def _ask(self, act: Act) -> None:
        flavour, lasting, *items = act.what
        if flavour == "confirm":
            confirm_sync("Go on?", items=items or None, undoable=lasting == "undoable", files=[])
            return
        is_consent = None if flavour == "form" else False
        elicit_form_sync("Go on?", FORM, consent=is_consent)

    def _nest(self, act: Act) -> None:
        def inner() -> None:
            self._acts(act.inside)

        (how,) = act.what
        if how == "undecorated":
            skill(inner)()
            return
        risk: Risk = "edit" if how == "edit" else "destructive"
        skill(risk=risk, confirms=how == "confirms", name="inner", title="Inner")(inner)()

    def _drift(self, act: Act) -> None:
        """Delete another item each time that the body runs."""
        at = act.what[(self._runs - 1) % len(act.what)]
        self._port.do("delete", at, at)

    def _thread(self, act: Act) -> None:
        thread = threading.Thread(target=self._append, args=(f"thread {act.what[0]}",))
        thread.start()
        thread.join(LIMIT)

    # ---- files

    def _write_new(self, act: Act) -> None:
        (self._folder / f"new{act.what[0]}.txt").write_text("new")

    def _write_over(self, act: Act) -> None:
        (self._folder / "notes.txt").write_text(act.what[0])

    def _write_temporary(self, act: Act) -> None:
        """Use a file that is gone again at the end, as libraries do."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"for a moment")

    def _remove_file(self, act: Act) -> None:
        (self._folder / "notes.txt").unlink()

    def _rename_file(self, act: Act) -> None:
        (self._folder / "spare.txt").rename(self._folder / "notes.txt")

    def _export_over(self, act: Act) -> None:
        self._port.export()

    def _count(self, act: Act) -> None:
        """Append a line, if the person agrees to that."""
        file = self._folder / "counter"
        confirm_sync("Append a line to counter?", undoable=False, files=[file])
        self._append(act.what[0])

    def _append(self, line: str) -> None:
        with (self._folder / "counter").open("a") as file:
            file.write(f"{line}\n")

    def _counted(self) -> list[str]:
        file = self._folder / "counter"
        return file.read_text().splitlines() if file.exists() else []
