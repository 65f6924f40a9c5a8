"""Houdini runs this once its window is up. Main thread.

There is a copy for each Python that Houdini comes with: Houdini looks only into its own folder.
"""

from dcc_bridge_houdini import plugin

plugin.start_when_ready()
