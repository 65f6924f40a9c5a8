"""What a bridge adds to a call: a read skill on the Qt main thread beside the SDK's bare servers.

``python tests/bench/read_call.py [--quick]``. Each server runs in a Qt process of its own, a raw
client calls them in turn, and what is printed are medians over rounds. One of the SDK's answers in
JSON, for which it gives up questions and progress, the other in streams. Aim: JSON + 0.2 ms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from itertools import product
from typing import Final

from tests.bench.agent import ERAS, MODERN, Agent, result
from tests.bench.figures import against, options, show, timed
from tests.bench.hosted import Process, process, served

KINDS: Final = ("bare", "bridge")  # what also asks
JSON: Final = "peer sdk_json"
EVERY: Final = (*KINDS, JSON)
Times = dict[tuple[str, str], list[list[float]]]
"""Milliseconds by round, of what was called and by which kind of server."""


class Bench:
    """The hosts, and a client of each era for each."""

    def __init__(self, stack: ExitStack) -> None:
        """Start everything; the stack ends it."""
        self._hosts: dict[str, Process] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        for kind in EVERY:
            self._hosts[kind] = stack.enter_context(process("host"))
            server = served(self._hosts[kind], kind)
            for era in ERAS:
                self._agents[kind, era] = agent = Agent(server, era)
                stack.callback(agent.close)

    def measure(self, rounds: int, calls: int) -> Times:
        """Go round and round; the first round does not count."""
        self._round(defaultdict(list), calls, EVERY)
        times: Times = defaultdict(list)
        for number in range(rounds):
            self._round(times, calls, EVERY[:: -1 if number % 2 else 1])
        return times

    def _round(self, times: Times, calls: int, kinds: tuple[str, ...]) -> None:
        for era, kind in product(ERAS, kinds):
            times[f"read call, {era}", kind].append(self._ping(kind, era, calls))
        for kind in (kind for kind in kinds if kind in KINDS):
            elicit = _eliciting(self._agents[kind, MODERN])
            times["elicitation, modern", kind].append(timed(elicit, calls // 4 + 1))
            # of the bare one it is the least that Qt can do
            hops = self._hosts[kind].tell(f"hop {calls}")
            times["hop alone (bare: QEvent)", kind].append(hops)

    def _ping(self, kind: str, era: str, calls: int) -> list[float]:
        agent = self._agents[kind, era]
        agent.reconnect()
        request = agent.calling("ping")
        answer = result(agent.exchange(request))
        assert answer["content"][0]["text"] == "pong", answer
        return timed(lambda: agent.exchange(request), calls)


def _eliciting(agent: Agent) -> Callable[[], None]:
    agent.reconnect()
    first = agent.calling("ask")
    yes = {"answer": {"action": "accept", "content": {"sure": True}}}

    def elicit() -> None:
        state = result(agent.exchange(first))["requestState"]
        again = agent.calling("ask", inputResponses=yes, requestState=state)
        answer = result(agent.exchange(again))
        assert answer["content"][0]["text"] == "True", answer

    return elicit


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, quick={"rounds": 3, "calls": 50}, rounds=20, calls=200)
    with ExitStack() as stack:
        times = Bench(stack).measure(chosen.rounds, chosen.calls)
    columns = ("ms", "bare p50", "bare p95", "bridge p50", "bridge p95", "difference", "ratio")
    titles = {"bare": "beside streams", JSON: "beside JSON"}
    rows = [
        (f"{name}, {titles[kind]}", *against(times[name, "bridge"], its))
        for (name, kind), its in times.items()
        if kind in titles
    ]
    show(f"{chosen.rounds} rounds of {chosen.calls}, medians over rounds", columns, rows)


if __name__ == "__main__":
    main()
