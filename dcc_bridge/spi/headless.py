"""For a process without a window: an application's batch interpreter, with a bridge in it.

It brings the whole bridge with it, so it is not for the plug-in of an application in a window,
whose main thread stands still while that is imported.

=================  =================================================================================
``serve``          serves agents until a function says that it is to end
``open_headless``  has an application open, with a bridge that is not started yet
``Headless``       that bridge: its main thread waits for work and does nothing else
=================  =================================================================================
"""

from __future__ import annotations

from dcc_bridge.headless import Headless, open_headless, serve

__all__ = ["Headless", "open_headless", "serve"]
