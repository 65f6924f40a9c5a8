"""A bare loop with a 16 ms beat, beside a busy one: ``python -m tests.threats.bare``.

It beats until a line comes, and prints by how much it was late: that is the machine's own doing.
"""

from __future__ import annotations

import json
import sys
import threading

from tests.threats.soak import Beats


def main() -> None:
    """Beat."""
    beats, over = Beats(7200), threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    while not over.wait(beats.look()):
        pass
    print(json.dumps(beats.told()))


if __name__ == "__main__":
    main()
