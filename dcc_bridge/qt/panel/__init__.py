"""The panel: what agents do in this session, what they ask, and what they did. Main thread."""

from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.panel.state import Port

__all__ = ["Panel", "Port"]
