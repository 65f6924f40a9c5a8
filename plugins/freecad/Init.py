"""FreeCAD runs this first, also in ``freecadcmd``. Without a window there is nothing to do.

A farm's interpreter serves agents only when a command starts it so. Main thread.
"""
