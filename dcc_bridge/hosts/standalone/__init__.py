"""Our own application: a USD stage as the scene, with undo. Pure pxr, no Qt. Main thread only.

Source of the facts in this folder: measured with usd-core 26.11 on CPython 3.11, Linux; the
modules name theirs.
"""

from dcc_bridge.hosts.standalone.session import UsdSession, install, session

__all__ = ["UsdSession", "install", "session"]
