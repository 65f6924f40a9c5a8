"""Our own application: an open USD scene, its undo stack, its operations and its window.

Skills take the open scene from here: ``from dcc_bridge_usd import session``. Neither USD nor Qt is
imported with this package.
"""

from __future__ import annotations

from .current import install, session

__all__ = ["install", "session"]
