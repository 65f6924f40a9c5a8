"""The old place of Maya's adapter, for what still imports it from here. Main thread."""

from __future__ import annotations

from dcc_bridge_maya.host import MayaHost

__all__ = ["MayaHost"]
