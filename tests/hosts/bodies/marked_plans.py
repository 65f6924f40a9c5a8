"""Random marked bodies as plain data, made of a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

from dcc_bridge.elicitation.caller import Risk
from tests.hosts.bodies.acts import Act, Acts, shorter
from tests.hosts.bodies.port import Port

RISKS: Final[tuple[Risk, ...]] = ("read", "edit", "edit", "destructive", "destructive")
ANSWERS: Final = ("yes",) * 10 + (
    "no",
    "no",
    "closes",
    "expires",
    "late",
    "unticked",
    "stops",
    "yes+edit",
)


@dataclass(frozen=True)
class Plan:
    """One skill.

    Attributes:
        risk: What it says that it does.
        confirms: It says that it asks by itself.
        undoable: It says that undo brings back what it does.
        thread: "main", "any", or "async".
        gate: What the person answers to the question before its body.
        policy: The setting ``edit``.
        careless: It catches whatever goes wrong in an act, and goes on.
        body: What it does: edits, "ask", "nest", "thread", "task", "raise" and "leave".
    """

    risk: Risk
    confirms: bool
    undoable: bool
    thread: str
    gate: str
    policy: Literal["allow", "ask"]
    careless: bool
    body: Acts


def make(seed: int, port: type[Port]) -> Plan:
    """Return the skill of a seed."""
    random = Random(seed)
    thread = random.choice(("main", "main", "any", "async"))
    return Plan(
        risk=random.choice(RISKS),
        confirms=random.random() < 0.7,
        undoable=random.random() < 0.7,
        thread=thread,
        gate=random.choice(ANSWERS),
        policy="ask" if random.random() < 0.15 else "allow",
        careless=random.random() < 0.7,
        body=_acts(random, port, 3, random.randint(1, 6)),
    )


def _acts(random: Random, port: type[Port], depth: int, count: int) -> Acts:
    acts = [_act(random, port, depth) for _ in range(count)]
    if random.random() < 0.3:  # it was careful once, and goes on
        items = random.sample(port.items, k=random.choice((1, 2)))
        edits = [Act(random.choice(list(port.edits)), (it, port.items[-1])) for it in items]
        acts += [Act("ask", ("confirm", "yes", "undoable", *items)), *edits]
    return tuple(acts)


def _act(random: Random, port: type[Port], depth: int) -> Act:
    kind = random.choices(
        ("edit", "own", "ask", "nest", "thread", "task", "raise", "leave"),
        (30, 12, 25, 10 * (depth > 0), 6 * (depth > 0), 2 * (depth > 0), 2, 2),
    )[0]
    below = max(0, depth - 1)
    if kind in ("edit", "own"):
        edit = random.choice(list(port.own if kind == "own" else port.edits))
        return Act(edit, (random.choice(port.items), random.choice(port.items)))
    if kind == "ask":
        flavour = random.choice(("confirm", "confirm", "apply", "form", "input", "lookup"))
        items = random.sample(port.items, k=random.choice((0, 1, 1, 2)))
        lasting = random.choice(("undoable", "undoable", "lasting"))
        inside = _acts(random, port, below, random.randint(0, 2)) if depth else ()
        return Act("ask", (flavour, random.choice(ANSWERS), lasting, *items), inside)
    if kind == "nest":
        risk = random.choice(("destructive", "destructive", "destructive", "edit", "read"))
        asks = random.choice(("confirms", "gate"))
        lasting = random.choice(("undoable", "undoable", "lasting"))
        how = random.choice(("direct", "direct", "on_main"))
        what = (risk, asks, lasting, how, random.choice(ANSWERS))
        return Act("nest", what, _acts(random, port, below, random.randint(1, 3)))
    if kind == "thread":
        how = random.choice(("carry", "bare"))
        when = random.choice(("soon", "late", "timer"))
        return Act("thread", (how, when), _acts(random, port, below, random.randint(1, 2)))
    if kind == "task":
        return Act("task", (), _acts(random, port, below, random.randint(1, 2)))
    return Act(kind, (random.choice(("end", "kill")), random.choice(("look", "go on"))))


def smaller(plan: Plan) -> Iterator[Plan]:
    """Yield the skills that are a step smaller."""
    for body in shorter(plan.body):
        yield replace(plan, body=body)
    if plan.policy == "ask":
        yield replace(plan, policy="allow")
    if plan.thread != "main":
        yield replace(plan, thread="main")
    if plan.careless:
        yield replace(plan, careless=False)
