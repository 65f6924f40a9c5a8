"""Who is asked, who answers and what happens to the scene: every cell, by a real client.

A rule stands for every combination of the words in its first four texts, in each of the three eras:
the eras differ in how a question travels, never in who is asked. Together the rules name each
combination once. The quick run plays each client at each surface in one of the eras. They were
written by hand from the promises and not from what the code does, with all settings at their
defaults: consent goes to the host, input to the client first.

What is given:
  question   "confirm"        a destructive skill calls confirm_sync             } consent
             "gate"           a destructive skill asks nothing; the runner does  } consent
             "form"           a destructive skill calls elicit_form_sync         } consent
             "form-fallback"  the same, with the declared fallback "confirm yes" } consent
             "input"          an edit skill asks for a name by elicit_form_sync
             "input-fallback" the same, with a declared name
  client     what the calling client declares, and does:
             "none"    declares no elicitation
             "form"    declares forms only; its person answers
             "url"     declares pages only, so no form can be shown there
             "both"    declares both; its person answers
             "hook"    declares both and accepts everything at once; there is no person
             "silent"  declares both and never answers
             "listed"  declares both, but stands in the setting of those that draw nothing
  surface    "host"      a person sits at the host's own dialogs
             "empty"     the host draws dialogs, and nobody sits there
             "headless"  the host cannot draw anything
  person     what the person says, wherever they are asked; a client's person declines within
             300 ms. "nobody": there is no person at all. Where nobody sits at the host, the
             client's person "agrees".

What is promised:
  asked        the surfaces that were asked, in order
  answered_by  as ElicitationResponse has it
  message      as ElicitationResponse has it; "" for none
  scene        "changed"  the skill did its work
               "kept"     nothing was done
               "undone"   the skill went on without a grant; undone, and told as no_consent
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult

from dcc_bridge.elicitation.question import Reply
from tests.elicitation.matrix_bridge import CAMERAS, MatrixBridge, Scenario, Seen
from tests.live import ERAS, status
from tests.stand_ins import Person
from tests.tiers import every_era

CONSENT = "confirm gate form form-fallback"
INPUT = "input input-fallback"
UNABLE = "none url listed"
ANY = "none form url both hook silent listed"
UNSUPPORTED = "elicitation_not_supported"
FALLBACK = "fallback_values_used"
SURFACES = ("host", "empty", "headless")
HOOKED = 9
"""Calls of a hook of each kind in each era: more than a hundred in all."""


class Rule(NamedTuple):
    """What is given, what is promised then, and why."""

    question: str
    client: str
    surface: str
    person: str
    asked: str
    answered_by: str
    message: str
    scene: str
    why: str


# fmt: off
RULES = [
    # Consent, where the host can ask: the host alone, whatever the client is.
    Rule(CONSENT, ANY, "host", "agrees", "host", "host", "", "changed",
        "Only host UI, or host UI and a capable client: the host's dialog decides."),
    Rule(CONSENT, ANY, "host", "declines", "host", "host", "declined", "kept",
        "A person's no at the host is final: no hook and no fallback stands in."),
    Rule(CONSENT, ANY, "empty", "agrees", "host", "nobody", "timed_out", "kept",
        "An expired question is a cancel: no accept, no fallback, and not the client's."),
    # Consent, headless.
    Rule(CONSENT, "form both", "headless", "agrees", "client", "client", "", "changed",
        "Only a capable client: the client's person decides."),
    Rule(CONSENT, "form both", "headless", "declines", "client", "client", "declined", "kept",
        "A quick no falls through only where there is host UI; here it is a no."),
    Rule(CONSENT, "hook", "headless", "nobody", "client", "client", "", "changed",
        "Without host UI a client's consent counts (recorded as unverified), a hook's too."),
    Rule(CONSENT, "silent", "headless", "nobody", "client", "nobody", "timed_out", "kept",
        "It says that it can ask and never answers: a cancel at the deadline, not the fallback."),
    Rule("confirm gate form", UNABLE, "headless", "nobody", "", "nobody", UNSUPPORTED, "kept",
        "Neither: refused at once, with nothing sent."),
    Rule("form-fallback", UNABLE, "headless", "nobody", "", "fallback", FALLBACK, "undone",
        "Neither, with a declared fallback: the skill gets it, labelled, and it is never a grant."),
    # Input, where the host can ask and the client can too: the client first.
    Rule(INPUT, "form both", "host", "agrees", "client", "client", "", "changed",
        "Host UI and a capable client: the client."),
    Rule(INPUT, "form both", "host", "declines", "client host", "host", "declined", "kept",
        "A client's no in under 300 ms may be nobody's: it falls through to the host."),
    Rule(INPUT, "hook", "host", "agrees declines", "client", "client", "", "changed",
        "Nothing is lost by input: a hook may give it, whatever the person would say."),
    Rule(INPUT, "silent", "host", "agrees declines", "client", "nobody", "timed_out", "kept",
        "The client owns the question until its deadline; only the chip brings it to the host."),
    Rule(INPUT, "form both hook", "empty", "agrees", "client", "client", "", "changed",
        "Nobody is needed at the host where the client answers."),
    Rule(INPUT, "silent", "empty", "agrees", "client", "nobody", "timed_out", "kept",
        "Nobody anywhere: the client's deadline ends it, never with the fallback."),
    # Input, where only the host can ask.
    Rule(INPUT, UNABLE, "host", "agrees", "host", "host", "", "changed",
        "Only host UI: the host."),
    Rule(INPUT, UNABLE, "host", "declines", "host", "host", "declined", "kept",
        "Only host UI, and its person says no."),
    Rule(INPUT, UNABLE, "empty", "agrees", "host", "nobody", "timed_out", "kept",
        "Only host UI, and nobody there: a cancel at the deadline, never the fallback."),
    # Input, headless.
    Rule(INPUT, "form both", "headless", "agrees", "client", "client", "", "changed",
        "Only a capable client: the client."),
    Rule(INPUT, "form both", "headless", "declines", "client", "client", "declined", "kept",
        "Only a capable client, and its person says no: that is final, not the fallback."),
    Rule(INPUT, "hook", "headless", "nobody", "client", "client", "", "changed",
        "Only a capable client, and a hook answers for it."),
    Rule(INPUT, "silent", "headless", "nobody", "client", "nobody", "timed_out", "kept",
        "Only a client that never answers: a cancel at the deadline, not the fallback."),
    Rule("input", UNABLE, "headless", "nobody", "", "nobody", UNSUPPORTED, "kept",
        "Neither, and no fallback: not supported, at once, with nothing sent."),
    Rule("input-fallback", UNABLE, "headless", "nobody", "", "fallback", FALLBACK, "changed",
        "Neither: the declared fallback, labelled."),
]
# fmt: on


def cells(rule: Rule) -> Iterator[Scenario]:
    return (Scenario(*words) for words in product(*map(str.split, rule[:4]), ERAS))


def people(client: str, surface: str) -> tuple[str, ...]:
    if surface == "empty":
        return ("agrees",)
    if surface == "headless" and client not in ("form", "both"):
        return ("nobody",)
    return ("agrees", "declines")


def name(cell: Scenario) -> str:
    return f"{cell.question}-{cell.client}-{cell.surface}-{cell.person}-{cell.era}"


# Sorted, so that a bridge is opened once.
EXPECTED = sorted(
    ((cell, rule) for rule in RULES for cell in cells(rule)), key=lambda one: one[0].bridge
)


def case(cell: Scenario, *more: Rule) -> ParameterSet:
    """Give a test's parameters; the eras that are not the quick run's are marked long."""
    turn = ANY.split().index(cell.client) + SURFACES.index(cell.surface)
    is_quick = cell.era == ERAS[turn % len(ERAS)]
    return pytest.param(cell, *more, id=name(cell), marks=() if is_quick else pytest.mark.long)


every_cell = pytest.mark.parametrize(
    ("cell", "rule"), [case(cell, rule) for cell, rule in EXPECTED]
)
every_consent = pytest.mark.parametrize(
    "cell", [case(cell) for cell, _ in EXPECTED if cell.question in CONSENT.split()]
)


class Bridges:
    """One bridge at a time, and what was seen on them: two tests look at the same call."""

    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        self._seen: dict[Scenario, Seen] = {}
        self._bridge: MatrixBridge | None = None

    def play(self, cell: Scenario) -> Seen:
        """Give what was seen of a call; a client makes all its calls in one go."""
        if cell not in self._seen:
            one = (cell.bridge, cell.client, cell.era)
            calls = [c for c, _ in EXPECTED if (c.bridge, c.client, c.era) == one]
            self._seen |= self.bridge(cell.bridge).play(calls)
        return self._seen[cell]

    def bridge(self, name: str) -> MatrixBridge:
        if self._bridge is None or self._bridge.name != name:
            self.close()
            self._bridge = MatrixBridge(self._runtime, name)
        return self._bridge

    def close(self) -> None:
        if self._bridge is not None:
            self._bridge.live.stop()


@pytest.fixture(scope="module")
def bridges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridges]:
    bridges = Bridges(tmp_path_factory.mktemp("runtime"))
    # On a busy machine a test's decline may come late; that the limit is 300 ms is told elsewhere.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dcc_bridge.elicitation.broker.MIN_READING_TIME_S", 30.0)
        yield bridges
    bridges.close()


@pytest.fixture
def bridge(bridges: Bridges) -> MatrixBridge:
    return bridges.bridge("host, answering clients")


def test_the_table_names_every_cell_once() -> None:
    wanted = {
        Scenario(question, client, surface, person, era)
        for question, client, surface, era in product(
            f"{CONSENT} {INPUT}".split(), ANY.split(), SURFACES, ERAS
        )
        for person in people(client, surface)
    }

    told = [cell for cell, _ in EXPECTED]

    assert len(told) == len(set(told))
    assert set(told) == wanted


@every_cell
def test_a_cell_is_as_the_table_says(bridges: Bridges, cell: Scenario, rule: Rule) -> None:
    seen = bridges.play(cell)

    (answer,) = seen.answers
    assert seen.asked == rule.asked.split(), rule.why
    assert answer.answered_by == rule.answered_by, rule.why
    assert (answer.message or "") == rule.message, rule.why
    assert seen.scene == rule.scene, rule.why
    assert seen.steps == (1 if rule.scene == "changed" else 0), rule.why


@every_consent
def test_nothing_is_lost_without_a_yes_where_it_counts(bridges: Bridges, cell: Scenario) -> None:
    """Told apart from the table: the host decides where it can draw, else the client."""
    seen = bridges.play(cell)

    decides = "client" if cell.surface == "headless" else "host"
    assert not seen.lost or decides in seen.agreed
    assert not seen.lost or seen.answers[-1].answered_by == decides
    assert bool(seen.lost) == (seen.status == "done")


@pytest.mark.parametrize("question", CONSENT.split())
@every_era
def test_a_hook_deletes_nothing_where_a_person_says_no(
    bridge: MatrixBridge, era: str, question: str
) -> None:
    bridge.set(Scenario(question, "hook", "host", "declines", era))
    bridge.chair.sitting = Person(*[Reply("decline")] * HOOKED)

    async def agent() -> list[CallToolResult]:
        async with bridge.live.client(era, bridge.asked, label="hook") as client:
            return [await client.call_tool(question, {}) for _ in range(HOOKED)]

    results = bridge.live.run(agent)

    assert bridge.host.items == CAMERAS
    assert [status(one) for one in results] == ["refused"] * HOOKED
    assert bridge.log.asked == ["host"] * HOOKED


def test_a_question_that_a_client_leaves_lying_is_answered_from_the_chip(
    bridge: MatrixBridge,
) -> None:
    bridge.set(Scenario("input", "both", "host", "agrees", ERAS[-1]))

    async def agent() -> CallToolResult:
        async with bridge.live.client(asked=bridge.asked) as client:
            send = partial(client.session.call_tool, "input", {}, allow_input_required=True)
            asked = await send()
            assert isinstance(asked, InputRequiredResult)
            while not bridge.log.answers:  # the question is out before its future is given
                await asyncio.sleep(0.001)
            await asyncio.wrap_future(bridge.log.answers[-1])
            late = dict.fromkeys(asked.input_requests or {}, ElicitResult(action="decline"))
            result = await send(input_responses=late, request_state=asked.request_state)
            assert isinstance(result, CallToolResult)
            return result

    calling = bridge.live.go(agent)
    bridge.live.until(lambda: bool(bridge.chair.sitting.chips))
    bridge.chair.sitting.chips[0].answer_here()
    bridge.live.until(calling.done)

    assert status(calling.result()) == "done"
    assert bridge.log.answers[-1].result(0).answered_by == "host"
    assert bridge.host.items == [*CAMERAS, "cam_new"]
