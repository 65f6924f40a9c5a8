"""Clients that call without a pause, in a process of their own: ``python -m tests.bench.crowd N``.

The first line of standard input says where, as JSON. It replies once all have been answered, calls
until its input ends, and then says how often and for how long. The token is in no command line.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from contextlib import ExitStack
from selectors import EVENT_READ, DefaultSelector
from time import perf_counter
from typing import Final

from tests.bench.agent import Agent, Server, result

LIMIT: Final = 300


def main() -> None:
    """Call until standard input ends."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    server = Server(**json.loads(sys.stdin.readline()))
    with ExitStack() as stack, DefaultSelector() as selector:
        selector.register(sys.stdin, EVENT_READ)
        for _ in range(int(sys.argv[1])):
            agent = Agent(server)
            stack.callback(agent.close)
            result(agent.exchange(agent.calling("ping")))
            selector.register(agent.socket, EVENT_READ, agent)
        print(json.dumps("calling"), flush=True)
        print(json.dumps(call(selector)))


def call(selector: DefaultSelector) -> dict[str, float]:
    """Let every agent of a selector call, and call again when it was answered.

    Args:
        selector: The agents, and what becomes readable when it is enough.

    Returns:
        How many calls there were, in how many seconds.
    """
    begin, calls = perf_counter(), 0
    for key in selector.get_map().values():
        if key.data is not None:
            key.data.send(key.data.calling("ping"))
    while True:
        for key, _ in selector.select():
            if key.data is None:
                return {"calls": calls, "seconds": perf_counter() - begin}
            if key.data.receive():
                calls += 1
                key.data.send(key.data.calling("ping"))


if __name__ == "__main__":
    main()
