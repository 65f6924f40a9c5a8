"""What Maya runs at its start, before there is a window. Main thread."""

import dcc_bridge_maya

dcc_bridge_maya.load()
