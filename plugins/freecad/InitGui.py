"""FreeCAD runs this before it has a window. Main thread.

FreeCAD executes this text inside of a function, and without `__file__`: functions defined here
would not see the names at the top.
"""

from dcc_bridge_freecad import plugin

plugin.load()
