"""Houdini runs this once its window is up. Main thread.

There is one for each Python that Houdini comes with: it only looks into the folder of its own.
"""

from dcc_bridge_houdini import plugin

plugin.start_when_ready()
