"""The keys under which the parts of the server store values in a request's ASGI scope.

==========  ===================  ===============================================================
key         set by               holds
==========  ===================  ===============================================================
`LABEL`     auth                 the label that the request's token proved
`TURN`      admission            a function that ends the request's turn
`ALONE`     admission            whether no other request is being answered
`STARTED`   fast_path            a call that the fast path has started, and the SDK takes over
`GONE`      fast_path            a function that is called when the connection is lost
`WRITTEN`   parked_calls, tasks  a function that is called once all of the response was written
==========  ===================  ===============================================================
"""

from __future__ import annotations

from typing import Final

LABEL: Final = "dcc_bridge.label"
TURN: Final = "dcc_bridge.turn"
ALONE: Final = "dcc_bridge.alone"
STARTED: Final = "dcc_bridge.started"
GONE: Final = "dcc_bridge.gone"
WRITTEN: Final = "dcc_bridge.written"
