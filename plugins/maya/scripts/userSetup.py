"""Maya runs this at its start, before there is a window. Main thread."""

from dcc_bridge_maya import plugin

plugin.load()
