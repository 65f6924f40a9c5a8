"""The old place of Houdini's adapter, for what still imports it from here. Main thread."""

from __future__ import annotations

from dcc_bridge_houdini.host import HoudiniHost

__all__ = ["HoudiniHost"]
