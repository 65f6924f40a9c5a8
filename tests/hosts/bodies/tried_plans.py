"""Random tried bodies as plain data, made of a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.hosts.bodies.acts import Act, Acts, shorter
from tests.hosts.bodies.port import MarkedPort

ANSWERS: Final = ("yes",) * 7 + ("yes+edit", "yes+edit", "no", "no", "unticked", "expires")
"""Answers of the person; "yes+edit" comes after somebody edited, "expires" never."""
FILE_ACTS: Final = (
    "write_new",
    "write_over",
    "write_temporary",
    "remove_file",
    "rename_file",
    "export_over",
    "count",
)
"""Acts on files; `count` asks first, and appends a line after the yes."""
QUESTIONS: Final = 8
"""How many answers are drawn; the person answers no to any question after those."""


@dataclass(frozen=True)
class Plan:
    """One body, and what the person answers.

    Attributes:
        answers: The answers, in order.
        careless: The body catches every `Exception` of an act, and goes on.
        has_redo: The person has undone something just before, which they can redo.
        body: What it does: edits, `FILE_ACTS`, "ask", "nest", "thread", "raise" and "drift".
    """

    answers: tuple[str, ...]
    careless: bool
    has_redo: bool
    body: Acts


def make(seed: int, port: type[MarkedPort]) -> Plan:
    """Return the body of a seed."""
    random = Random(seed)
    answers = tuple(random.choice(ANSWERS) for _ in range(QUESTIONS))
    careless = random.random() < 0.6
    has_files = random.random() < 0.3
    has_redo = random.random() < 0.5
    body = tuple(_act(random, port, 2, has_files) for _ in range(random.randint(1, 6)))
    return Plan(answers, careless, has_redo, body)


def smaller(plan: Plan) -> Iterator[Plan]:
    """Yield the bodies that are a step smaller."""
    for body in shorter(plan.body):
        yield replace(plan, body=body)
    if plan.careless:
        yield replace(plan, careless=False)
    for place, answer in enumerate(plan.answers):
        if answer != "yes":
            answers = (*plan.answers[:place], "yes", *plan.answers[place + 1 :])
            yield replace(plan, answers=answers)


def _act(random: Random, port: type[MarkedPort], depth: int, has_files: bool) -> Act:
    kinds = ("edit", "file", "ask", "nest", "thread", "raise", "drift")
    weights = (60, 25 * has_files, 8, 9 * (depth > 0), 2 * has_files, 3, 4)
    kind = random.choices(kinds, weights)[0]
    items = random.choice(port.items), random.choice(port.items)
    if kind == "edit":
        return Act(random.choice([*port.edits, *port.tried_edits]), items)
    if kind == "file":
        return Act(random.choice(FILE_ACTS), (str(random.randrange(10**9)),))
    if kind == "ask":
        flavour = random.choice(("confirm", "confirm", "form", "input", "input"))
        asked = random.sample(port.items, k=random.choice((0, 1, 1, 2)))
        return Act("ask", (flavour, random.choice(("undoable", "undoable", "lasting")), *asked))
    if kind == "nest":
        how = random.choice(("undecorated", "destructive", "confirms", "edit"))
        inside = [_act(random, port, depth - 1, has_files) for _ in range(random.randint(1, 3))]
        return Act("nest", (how,), tuple(inside))
    if kind == "drift":
        return Act("drift", tuple(random.sample(port.items, k=3)))
    return Act(kind, (str(random.randrange(10**9)),))
