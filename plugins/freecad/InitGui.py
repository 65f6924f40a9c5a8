"""FreeCAD runs this before it has a window. Main thread.

FreeCAD executes this text inside of a function and without telling it where it is: what is named
here at the top is not seen by functions that would stand below.
"""

from dcc_bridge_freecad import plugin

plugin.load()
