"""Proxy: connects a client that speaks stdio with the running hosts.

====================  =======================================================================
`serve`               runs the proxy on this process's stdin and stdout
``stdio``             the client's end: each line of stdin is a message
``first_words``       the answer to the first message, without the SDK
``host_choice``       the host in which the client works
``lobby``             our own MCP server, which answers while no host is there, and has the tools
                      ``list_hosts`` and ``use_host``
``client_state``      the client's state that each host has to know
``upstream``          the connection to one host
``pending``           the questions of hosts that the client has not answered
``messages``          the proxy's own messages, and the HTTP headers of messages
``router``            passes each message to its receiver, and changes it where need be
====================  =======================================================================

Most messages are passed on unchanged, so that a host sees the client itself: its name, its
capabilities, and its era. In the modern era of the protocol (from 2026 on) a question ends the
request, and the client sends a *retry* with the answer. In the legacy era a client opens a session
by a handshake, and a question is a request of the host.

All of it runs on the process's anyio loop, except the answer to the first message.
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
    import anyio  # takes 0.6 s with the SDK, and some clients wait 1 s for the first answer

    from dcc_bridge.client.proxy.stdio import run

    anyio.run(run, HostChoice(wanted), running, label, line, answer)
