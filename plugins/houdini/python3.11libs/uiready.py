"""What Houdini runs once its window is up. Main thread.

There is one for each Python that Houdini comes with: it only looks into the folder of its own.
"""

import dcc_bridge_houdini

dcc_bridge_houdini.start_when_ready()
