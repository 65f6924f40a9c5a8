"""Proxy: joins a client that speaks stdio to the running hosts, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout
``stdio``             the client's end: a line of stdin is a message
``first_words``       what is said before the SDK is there: the first answer
``host_choice``       which host is meant
``lobby``             an MCP server of our own: what is said while no host is there, and the tools
                      ``list_hosts`` and ``use_host``
``client_state``      what a client has said once
``upstream``          a connection to one host
``pending``           what hosts have asked, and the client has not answered
``messages``          the messages that we make ourselves, and what HTTP says beside a message
``router``            who is sent which message, and what of it has to be another one there
====================  =======================================================================

Messages are passed on as they are, so that a host sees the client itself: its era, its name, what
it can draw. On the process's own anyio loop, once that runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcc_bridge.client.proxy.first_words import first_answer
from dcc_bridge.client.proxy.host_choice import HostChoice, Wanted

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance


def serve(running: Callable[[], Sequence[Instance]], wanted: Wanted, label: str) -> None:
    """Serve a client on stdin and stdout until it closes stdin. Main thread."""
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # what comes after the line stays
        line = stdin.readline()
    answer = first_answer(line)
    if answer is not None:
        sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    import anyio  # 0.6 s with the SDK, and some clients wait 1 s for the first answer

    from dcc_bridge.client.proxy.stdio import run

    anyio.run(run, HostChoice(wanted), running, label, line, answer)
