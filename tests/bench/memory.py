"""What many clients leave in a host: ``python -m tests.bench.memory [--minutes N] [--clients N]``.

A Qt host with the bridge in a process of its own, and clients that call without a pause; every
minute the host's resident memory and its allocated blocks, once its last call is answered.
"""

from __future__ import annotations

import json
from time import sleep

from tests.bench.figures import options, show
from tests.bench.hosted import process

_ROUND = 60.0


def main() -> None:
    """Measure and print."""
    chosen = options(__doc__, minutes=58, clients=16)
    rows: list[tuple[object, ...]] = []
    with process("host") as host:
        server = json.dumps(host.tell("bridge"))
        host.tell("settle")
        for minute in range(chosen.minutes):
            with process("crowd", str(chosen.clients)) as crowd:
                crowd.tell(server)
                sleep(_ROUND)
                calls = json.loads(crowd.end())["calls"]
            blocks, size = host.tell("size")
            rows.append((minute + 1, calls, size / 1e6, blocks))
    show(f"{chosen.clients} clients", ("minute", "calls", "resident, MB", "blocks"), rows)


if __name__ == "__main__":
    main()
