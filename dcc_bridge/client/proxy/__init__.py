"""A client that speaks stdio is joined to the hosts that run, as if it spoke to them itself.

====================  =======================================================================
`serve`               the whole, on this process's stdin and stdout
``choice``            which of the running hosts is meant
``lobby``             an MCP server of our own: what is said while no host is there, and the
                      tools ``list_hosts`` and ``use_host``
``upstream``          a connection to one host
``router``            who is sent which message, and what of it has to be another one there
``messages``          messages that we make ourselves
====================  =======================================================================

Messages are passed on as they are, so that a host sees the client itself: its era, its name, what
it can draw. On the process's own anyio loop.
"""

from dcc_bridge.client.proxy.serving import serve

__all__ = ["serve"]
