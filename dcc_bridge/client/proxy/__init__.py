"""Proxy: joins a client that speaks stdio to the running hosts, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout
``stdio``             the client's end: a line of stdin is a message
``first_words``       the answer to the first message, without the SDK
``host_choice``       which host is meant
``lobby``             an MCP server of our own: what is said while no host is there, and the tools
                      ``list_hosts`` and ``use_host``
``client_state``      the client's state that each host has to know
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
    """Serve a client on stdin and stdout until it closes stdin. Main thread.

    Args:
        running: Returns the hosts that run; called in a thread.
        wanted: The kind of host in which the client works at first.
        label: The name under which the hosts know the client.
    """
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # further lines stay unread
        line = stdin.readline()
    answer = first_answer(line)
    if answer is not None:
        sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    import anyio  # with the SDK it takes 0.6 s, and some clients wait 1 s for the first answer

    from dcc_bridge.client.proxy.stdio import run

    anyio.run(run, HostChoice(wanted), running, label, line, answer)
