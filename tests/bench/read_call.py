"""What a bridge adds to a call: a read skill on the Qt main thread beside the SDK's bare server.

``python tests/bench/read_call.py [--quick]``. Both servers run in a Qt process of their own, a raw
client calls them in turn, and what is printed are medians over rounds. Aim: + 0.2 ms.
"""

from __future__ import annotations

import argparse
import faulthandler
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from tests.bench.agent import ERAS, MODERN, Agent, result
from tests.bench.figures import over, paired, show, timed
from tests.bench.hosted import Process, process, served

KINDS: Final = ("bare", "bridge")
_LIMIT: Final = 1800
Rounds = list[list[float]]


@dataclass
class Found:
    """What was measured: milliseconds, by round.

    Attributes:
        calls: By kind of server and era.
        elicitations: By kind of server; from the call to its result, one question in between.
        hops: By kind of server; for the bare one it is the least that Qt can do.
    """

    calls: dict[tuple[str, str], Rounds] = field(default_factory=lambda: defaultdict(list))
    elicitations: dict[str, Rounds] = field(default_factory=lambda: defaultdict(list))
    hops: dict[str, Rounds] = field(default_factory=lambda: defaultdict(list))


class Bench:
    """Two hosts, and a client of each era for each."""

    def __init__(self, stack: ExitStack) -> None:
        """Start everything; the stack ends it."""
        self._hosts: dict[str, Process] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        for kind in KINDS:
            self._hosts[kind] = stack.enter_context(process("host"))
            server = served(self._hosts[kind], kind)
            for era in ERAS:
                self._agents[kind, era] = agent = Agent(server, era)
                stack.callback(agent.close)

    def measure(self, rounds: int, calls: int) -> Found:
        """Go round and round; the first round does not count."""
        self._round(Found(), calls, KINDS)
        found = Found()
        for number in range(rounds):
            self._round(found, calls, KINDS[:: -1 if number % 2 else 1])
        return found

    def _round(self, found: Found, calls: int, kinds: tuple[str, ...]) -> None:
        for era, kind in product(ERAS, kinds):
            found.calls[kind, era].append(self._ping(kind, era, calls))
        for kind in kinds:
            elicit = _eliciting(self._agents[kind, MODERN])
            found.elicitations[kind].append(timed(elicit, calls // 4 + 1))
            found.hops[kind].append(self._hosts[kind].tell(f"hop {calls}"))

    def _ping(self, kind: str, era: str, calls: int) -> list[float]:
        agent = self._agents[kind, era]
        agent.reconnect()
        request = agent.calling("ping")
        said = result(agent.exchange(request))
        assert said["content"][0]["text"] == "pong", said
        return timed(lambda: agent.exchange(request), calls)


def _eliciting(agent: Agent) -> Callable[[], None]:
    agent.reconnect()
    first = agent.calling("ask")
    yes = {"answer": {"action": "accept", "content": {"sure": True}}}

    def elicit() -> None:
        state = result(agent.exchange(first))["requestState"]
        again = agent.calling("ask", inputResponses=yes, requestState=state)
        said = result(agent.exchange(again))
        assert said["content"][0]["text"] == "True", said

    return elicit


def main() -> None:
    """Measure and print."""
    faulthandler.dump_traceback_later(_LIMIT, exit=True)
    told = _arguments()
    with ExitStack() as stack:
        found = Bench(stack).measure(told.rounds, told.calls)
    columns = ("ms", "bare p50", "bare p95", "bridge p50", "bridge p95", "difference", "ratio")
    show(f"{told.rounds} rounds of {told.calls}, medians over rounds", columns, _rows(found))


def _rows(found: Found) -> list[tuple[object, ...]]:
    calls = found.calls
    return [
        *(_row(f"read call, {era}", {kind: calls[kind, era] for kind in KINDS}) for era in ERAS),
        _row("elicitation, modern", found.elicitations),
        _row("hop alone (bare: QEvent)", found.hops),
    ]


def _row(name: str, found: Mapping[str, Rounds]) -> tuple[object, ...]:
    bare, bridge = (found[kind] for kind in KINDS)
    figures = [over(rounds, percent) for rounds in (bare, bridge) for percent in (50, 95)]
    more = paired(bridge, bare, operator.sub)
    return name, *figures, f"{more:+.3f}", f"{paired(bridge, bare, operator.truediv):.2f} x"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=200, help="calls in a round")
    parser.add_argument("--quick", action="store_true", help="three short rounds")
    told = parser.parse_args()
    if told.quick:
        told.rounds, told.calls = 3, 50
    return told


if __name__ == "__main__":
    main()
